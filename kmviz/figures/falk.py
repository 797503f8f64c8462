"""Local models on the map: neighbourhoods, regions, local boundaries; and their sweep over k."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from kmviz.charts import geometry
from kmviz.figures import theme
from kmviz.figures.boundary import Plane, click_layer, equal_axes, query_mark, training_points
from kmviz.traces import LocalMap


def local_map(plane: Plane, local: LocalMap, query: int, height: int = 620) -> go.Figure:
    """Draw the paper's figures 1 and 2, live: circles, regions, local and composed boundaries.

    The circles of all models and the boundaries of each are many lines: a click on the legend
    shows them.
    """
    axes: dict[str, Any] = {}
    traces: list[Any] = []
    if local.regions is not None and plane.x is not None and plane.y is not None:
        traces += [_regions(plane, local), *_boundaries(plane, local)]
        axes = {
            "xaxis": {"range": [float(plane.x[0]), float(plane.x[-1])], "constrain": "domain"},
            "yaxis": {
                "range": [float(plane.y[0]), float(plane.y[-1])],
                "scaleanchor": "x",  # circles are round
                "constrain": "domain",
            },
        }
        traces += _circles(local)
    else:
        traces += [_links(local)]
        axes = equal_axes(plane.points, axes)
    traces += training_points(plane)
    if len(local.removed):
        traces.append(_marks(local.removed, "noise it would remove", "x-thin", 11, theme.COLORS[7]))
    traces += [*_answer(plane.queries[query], local), click_layer(plane.queries)]
    traces.append(query_mark(plane.queries[query]))
    return theme.figure(traces, *plane.axes, title=plane.title, height=height, **axes)


def _regions(plane: Plane, local: LocalMap) -> theme.Trace:
    """Part the places that one centre answers for from those of the next."""
    assert local.regions is not None
    assert plane.x is not None
    assert plane.y is not None
    lines = theme.light(geometry.borders(local.regions, plane.x, plane.y))
    return theme.trace(
        "scatter", x=lines[:, 0], y=lines[:, 1], mode="lines", name="borders between models",
        hoverinfo="skip", line={"width": 0.7, "color": theme.INK}, opacity=0.35,
    )  # fmt: skip


def _grid(plane: Plane) -> dict[str, NDArray[np.float32]]:
    return {"x": theme.light(np.asarray(plane.x)), "y": theme.light(np.asarray(plane.y))}


def _boundaries(plane: Plane, local: LocalMap) -> list[Any]:
    """The global SVM's boundary, the composed one, and the pieces that it is composed of."""
    grid, values = _grid(plane), theme.light(np.asarray(plane.values))
    zero = {"type": "constraint", "operation": "=", "value": 0.0}
    return [
        theme.trace(
            "contour", **grid, z=values, contours=zero, hoverinfo="skip",
            line={"width": 2, "color": theme.COLORS[6]}, name="global SVM", showlegend=True,
        ),
        theme.trace(
            "scatter", x=local.lines[:, 0], y=local.lines[:, 1], mode="lines", hoverinfo="skip",
            line={"width": 1.3, "color": theme.COLORS[2]}, opacity=0.75, name="local boundaries",
            visible="legendonly",
        ),
        theme.trace(
            "contour",
            **grid, z=theme.light(np.asarray(local.composed)), contours=zero, hoverinfo="skip",
            line={"width": 2.6, "color": theme.INK, "dash": "dash"}, name="composed boundary",
            showlegend=True,
        ),
    ]  # fmt: skip


def _circles(local: LocalMap) -> list[theme.Trace]:
    """k'-neighbourhoods bold, k-neighbourhoods thin, the answering one's boldest."""
    angle = np.linspace(0, 2 * np.pi, 25)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])

    def rings(rows: NDArray, radii: NDArray) -> NDArray:
        return _broken(local.centers[rows][:, None] + ring * radii[rows][:, None, None])

    every, one = np.arange(len(local.centers)), np.array([local.answering])
    styles = [
        ("k' circles", every, local.inner, 2.0, "dot", 0.6),
        ("k circles", every, local.outer, 0.8, "solid", 0.4),
        ("k' and k of who answers", one, local.inner, 3.0, "solid", 1.0),
        ("k of who answers", one, local.outer, 1.5, "solid", 1.0),
    ]
    traces = []
    for name, rows, radii, width, dash, opacity in styles:
        line = rings(rows, radii)
        traces.append(
            theme.trace(
                "scatter", x=line[:, 0], y=line[:, 1], mode="lines", name=name, hoverinfo="skip",
                line={"width": width, "dash": dash, "color": theme.INK}, opacity=opacity,
                showlegend=name != "k of who answers",
                visible="legendonly" if rows is every else True,
            )
        )  # fmt: skip
    return traces


def _links(local: LocalMap) -> theme.Trace:
    """In a projection circles mean nothing: link the centre to the points it answers for."""
    inner = local.members[: local.n_cover]
    ends = np.stack([np.broadcast_to(local.centers[local.answering], inner.shape), inner], axis=1)
    lines = _broken(ends)
    return theme.trace(
        "scatter", x=lines[:, 0], y=lines[:, 1], mode="lines", name="centre to its k' points",
        hoverinfo="skip", line={"width": 0.7, "color": theme.INK}, opacity=0.5,
    )  # fmt: skip


def _answer(point: NDArray, local: LocalMap) -> list[theme.Trace]:
    """From the query to its nearest training point to the centre; members and vectors there."""
    path = theme.light(np.stack([point, local.nearest, local.centers[local.answering]]))
    return [
        _marks(local.members, "its neighbourhood", "circle-open", 8, theme.INK, 0.45),
        _marks(local.vectors, "its support vectors", "circle-open", 12, theme.COLORS[3]),
        theme.trace(
            "scatter", x=path[:, 0], y=path[:, 1], mode="lines+markers", hoverinfo="skip",
            name="query, nearest point, centre", line={"width": 2, "color": theme.COLORS[4]},
            marker={
                "size": [1, 9, 15], "symbol": ["circle", "circle-open-dot", "cross"],
                "color": theme.COLORS[4], "line": {"width": 1.5, "color": theme.INK},
            },
        ),
    ]  # fmt: skip


def _marks(
    rows: NDArray, name: str, symbol: str, size: float, color: str, opacity: float = 1.0
) -> theme.Trace:
    rows = theme.light(rows).reshape(-1, 2)
    return theme.trace(
        "scatter", x=rows[:, 0], y=rows[:, 1], mode="markers", name=name, hoverinfo="skip",
        marker={
            "symbol": symbol, "size": size, "color": color, "opacity": opacity,
            "line": {"width": 1.6, "color": color},
        },
    )  # fmt: skip


def _broken(lines: NDArray) -> NDArray[np.float32]:
    """Join lines (n, points, 2) into one with gaps between them."""
    gaps = np.full((len(lines), 1, 2), np.nan)
    return theme.light(np.concatenate([lines, gaps], axis=1)).reshape(-1, 2)


def local_sweep(sweep: pd.DataFrame, whole: Mapping[str, float], k: int) -> go.Figure:
    """Draw accuracy, cost of a query and training time against k, the global SVM's as lines.

    Parameters
    ----------
    sweep : frame
        One row for each k: `n_neighbors, accuracy, steps, seconds, models`.
    whole : mapping
        `accuracy`, `steps` and `seconds` of the global SVM.
    k : the neighbourhood size chosen
    """
    x = theme.light(sweep["n_neighbors"])
    sweep = sweep.assign(accuracy=100 * sweep["accuracy"])
    whole = {**whole, "accuracy": 100 * whole["accuracy"]}
    panels = [
        ("accuracy", "accuracy", "y"),
        ("kernel values per query", "steps", "y2"),
        ("training time", "seconds", "y3"),
    ]
    traces = []
    for i, (name, column, axis) in enumerate(panels):
        color, symbol = theme.COLORS[i + 2], theme.SYMBOLS[i]
        traces += [
            theme.trace(
                "scatter",
                x=x, y=theme.light(sweep[column]), yaxis=axis, mode="lines+markers", name=name,
                line={"color": color}, marker={"symbol": symbol, "size": 8, "color": color},
                customdata=sweep["models"].to_numpy(dtype=np.int32),
                hovertemplate=f"k = %{{x:.0f}}, %{{customdata}} models<br>{name} %{{y:.4g}}"
                "<extra></extra>",
            ),
            theme.trace(
                "scatter",
                x=x[[0, -1]], y=theme.light([whole[column]] * 2), yaxis=axis, mode="lines",
                name="global SVM", line={"color": theme.COLORS[6], "dash": "dash"},
                showlegend=i == 0,
            ),
        ]  # fmt: skip
    log = {"type": "log", "automargin": True}
    return theme.figure(
        traces, "neighbourhood size k (points)", "test accuracy in %", height=520,
        shapes=[theme.line_at(x=float(k))],
        xaxis={"type": "log", "anchor": "y3"},
        yaxis={"domain": [0.68, 1.0]},
        yaxis2={"title": {"text": "kernel values"}, "domain": [0.35, 0.62], **log},
        yaxis3={"title": {"text": "seconds"}, "domain": [0.0, 0.28], **log},
    )  # fmt: skip
