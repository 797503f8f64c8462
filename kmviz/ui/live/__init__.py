"""A slider that answers while it moves: every position is sent once and drawn in the browser.

A page adds one in three steps: read all positions from a study, say how they are drawn, show::

    frames = study.frames("window", range(0, 101))          # axis 0 of each array: the position
    effort = live.Chart(
        key="effort",
        alt="Steps of each query against its output.",
        x=live.Axis("output f(x)"),
        y=live.Axis("steps k", log=True),
        layers=[
            live.Points(x=frames.exact, y=frames.steps, group=frames.agrees,
                        names=("differs", "agrees"), id=rows, picked=problem.query),
            live.Rule(x=0.0),
        ],
    )
    live.show("w", "Window w", range(0, 101), st.session_state["w"], [effort],
              numbers={"Mean k": [f"{k:.1f}" for k in frames.steps.mean(axis=1)]},
              on_click=live.pick)

An array is for all positions, or has one more axis, its first, for the position; where lengths
differ it is a list with one array for each, or filled up with nan (numbers) or -1 (groups, images).
A number takes 4 bytes, a whole one 1 or 2: 2,000 points with output, steps and group over 51
positions are 0.6 MB, a map of 80 x 80 cells over as many 0.3 MB. `figures.outlines` has the lines
of a map. Nothing is computed in the browser but places on the
screen. While the slider moves no message is sent; once it rests the choice and with it the URL
follow. In a browser test the element with `data-kmviz-live` has `kmviz.drawn(key)`, the arrays
that the view shows now; in Python `unpack` and `at` read what was sent.
"""

from kmviz.ui.live.component import pick, show, source
from kmviz.ui.live.layers import Band, Heat, Line, Points, Reach, Rule
from kmviz.ui.live.pack import at, pack, unpack
from kmviz.ui.live.tree import tree
from kmviz.ui.live.views import Axis, Chart, Images

__all__ = [
    "Axis",
    "Band",
    "Chart",
    "Heat",
    "Images",
    "Line",
    "Points",
    "Reach",
    "Rule",
    "at",
    "pack",
    "pick",
    "show",
    "source",
    "tree",
    "unpack",
]
