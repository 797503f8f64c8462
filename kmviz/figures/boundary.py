"""The machine in the plane: decision function, training points, support vectors, the query."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from kmviz.charts.plane import Plane
from kmviz.figures import theme

#: Spans of the two axes up to this ratio are drawn to one scale.
MOST_UNEVEN = 2.5


def boundary(
    plane: Plane,
    query: int | None = None,
    height: int = 520,
    more: Iterable[theme.Trace] = (),
    half: bool = False,
    clickable: bool = True,
) -> go.Figure:
    """Draw the plane and `more` upon it; `query` is the row of `plane.queries` to mark."""
    axes: dict[str, Any] = {}
    traces: list[Any] = []
    if plane.x is not None and plane.y is not None and plane.values is not None:
        traces += field(plane.x, plane.y, plane.values)
        axes["xaxis"] = {"range": [float(plane.x[0]), float(plane.x[-1])]}
        axes["yaxis"] = {"range": [float(plane.y[0]), float(plane.y[-1])]}
    axes = equal_axes(plane.points, axes)
    traces += [*training_points(plane), *support_vectors(plane)]
    if clickable:
        traces.append(click_layer(plane.queries))
    if query is not None:
        traces.append(query_mark(plane.queries[query]))
    traces += more
    return theme.figure(traces, *plane.axes, title=plane.title, height=height, half=half, **axes)


def equal_axes(points: NDArray, axes: dict[str, Any]) -> dict[str, Any]:
    """Return the axes with one scale for both, so that what looks near is near.

    Where one span is many times the other the map would be a strip: they keep their own.
    """
    low, high = sorted(np.ptp(points, axis=0))
    if not 0 < high <= MOST_UNEVEN * low:
        return axes
    square = {"scaleanchor": "x", "scaleratio": 1, "constrain": "domain"}
    return {
        "xaxis": axes.get("xaxis", {}) | {"constrain": "domain"},
        "yaxis": axes.get("yaxis", {}) | square,
    }


def field(x: NDArray, y: NDArray, values: NDArray) -> list[theme.Trace]:
    """Return the decision function as bands of colour, and the line where it is zero."""
    reach = float(np.percentile(np.abs(values), 95)) or 1.0
    grid = {"x": theme.light(x), "y": theme.light(y), "z": theme.light(values)}
    bands = theme.trace(
        "contour",
        **grid,
        colorscale=theme.diverging_scale(),
        zmin=-reach,
        zmax=reach,
        zmid=0,
        contours={"start": -reach, "end": reach, "size": reach / 6},
        line={"width": 0},
        showscale=False,
        hoverinfo="skip",
        name="f(x)",
        showlegend=False,
    )
    line = theme.trace(
        "contour",
        **grid,
        contours={"type": "constraint", "operation": "=", "value": 0.0},
        line={"width": 2.5, "color": theme.INK},
        hoverinfo="skip",
        name="boundary",
        showlegend=True,
    )
    return [bands, line]


def training_points(plane: Plane, most: int = 1000) -> list[theme.Trace]:
    """Return the training rows of each class, by colour and symbol."""
    shown = theme.thinned(len(plane.points), most)
    points, labels = plane.points[shown], plane.labels[shown]
    traces = []
    for i, (label, name) in enumerate(zip((-1, 1), plane.class_names)):
        rows = theme.light(points[labels == label])
        traces.append(
            theme.trace(
                "scatter",
                x=rows[:, 0],
                y=rows[:, 1],
                mode="markers",
                name=name,
                hoverinfo="skip",
                marker={"color": theme.COLORS[i], "symbol": theme.SYMBOLS[i], "size": 5},
            )
        )
    return traces


def support_vectors(plane: Plane) -> list[theme.Trace]:
    """Return the support vectors as rings, the area in proportion to |beta|."""
    strength = np.abs(plane.weights)
    crowded = len(strength) > 300
    sizes = 6 + (5 if crowded else 10) * np.sqrt(
        strength / max(float(strength.max(initial=0.0)), 1e-300)
    )
    rows = theme.light(plane.vectors)
    return [
        theme.scatter(
            len(rows),
            x=rows[:, 0],
            y=rows[:, 1],
            mode="markers",
            name="support vector",
            text=[f"{w:.3g}" for w in plane.weights],
            hovertemplate="support vector<br>β = %{text} (the ring's size)<extra></extra>",
            marker={
                "color": "rgba(0,0,0,0)",
                "symbol": "circle",
                "size": theme.light(sizes),
                "opacity": 0.35 if crowded else 0.6,  # the classes show through
                "line": {"width": 1.3, "color": theme.INK},
            },
        )
    ]


def click_layer(queries: NDArray, cells: int = 18) -> theme.Trace:
    """Return invisible markers that make the map answer a click with a query near it.

    Of many queries one for each of `cells` x `cells` fields of the map will do: as near as a
    finger points, and quicker to draw.
    """
    rows = np.arange(len(queries))
    if len(queries) > cells * cells:
        low, high = queries.min(axis=0), queries.max(axis=0)
        field = (queries - low) / np.maximum(high - low, 1e-300) * (cells - 1e-9)
        _, first = np.unique(field.astype(np.intp) @ [cells, 1], return_index=True)
        rows = np.sort(first)
    return theme.trace(
        "scatter",
        x=theme.light(queries[rows, 0]),
        y=theme.light(queries[rows, 1]),
        customdata=rows.astype(np.int32),
        mode="markers",
        name="queries",
        showlegend=False,
        hoverinfo="none",
        marker={"size": 12, "opacity": 0, "color": theme.INK},
    )


def query_mark(point: NDArray) -> theme.Trace:
    """Return the mark of the selected query."""
    return theme.star(point[0], point[1])
