"""One description of each picture, drawn as a Plotly figure or on a canvas that follows a slider.

A chart is made in one function from records and arrays::

    frames = study.frames("window", range(0, 101))          # axis 0 of each array: the position
    effort = Chart(
        key="effort",
        alt="Steps of each query against its output.",
        x=Axis("output f(x)"),
        y=Axis("steps k", log=True),
        layers=[
            Points(x=frames.exact, y=frames.steps, group=frames.agrees,
                   names=("differs", "agrees"), id=rows, picked=query),
            Rule(x=0.0),
        ],
    )

`charts.plotly.figure(effort, position)` draws one position; the app's `pictures.show` sends all of
them to the browser once, where `charts/live` draws whichever the slider stands at.
"""

from kmviz.charts.chart import Axis, Band, Chart, Heat, Images, Layer, Line, Points, Regions, Rule

__all__ = [
    "Axis",
    "Band",
    "Chart",
    "Heat",
    "Images",
    "Layer",
    "Line",
    "Points",
    "Regions",
    "Rule",
]
