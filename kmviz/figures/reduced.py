"""Reduced sets: the vectors, how near they come, and the boundary they draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from kmviz.figures import theme
from kmviz.figures.boundary import Plane, click_layer, field, query_mark, support_vectors
from kmviz.traces import Reading

#: Images in one mosaic, and in one row of it.
MOST_IMAGES, ACROSS = 24, 6


def reduced_images(vectors: NDArray[Any], weights: NDArray[Any]) -> go.Figure:
    """Draw reduced vectors (n, height, width) as images, the heaviest first.

    They are no real digits: pixels may be negative, so colours diverge from zero.
    """
    order = np.argsort(-np.abs(weights), kind="stable")[:MOST_IMAGES]
    captions = [f"{weights[i]:+.3g}" for i in order]
    scaled = vectors[order] / np.abs(vectors[order]).max(axis=(1, 2), keepdims=True).clip(1e-12)
    title = "Reduced vectors and their weights"
    if len(order) < len(weights):
        title = f"The {len(order)} heaviest of {len(weights)} reduced vectors"
    return _mosaic(scaled, captions, title, theme.diverging_scale(), (-1.0, 1.0), ACROSS)


def virtual_strip(images: NDArray[Any], captions: Sequence[str]) -> go.Figure:
    """Draw one support vector and its virtual copies (n, height, width)."""
    title = "One support vector and its virtual copies"
    top = float(np.max(images, initial=1e-12))
    return _mosaic(images, captions, title, theme.sequential_scale(), (0.0, top), len(images))


def reduced_map(
    plane: Plane,
    vectors: NDArray[Any],
    weights: NDArray[Any],
    query: int,
    values: NDArray[Any] | None = None,
) -> go.Figure:
    """Draw reduced vectors (n, 2) as points beside the support vectors they replace.

    Parameters
    ----------
    values : the reduced decision function over the plane's grid, to be drawn in their place
    """
    traces: list[Any] = [*support_vectors(plane)]
    if values is not None and plane.x is not None and plane.y is not None:
        traces = field(plane.x, plane.y, values)
    strength = np.sqrt(np.abs(weights) / max(float(np.abs(weights).max(initial=0.0)), 1e-300))
    for i, name in enumerate(plane.class_names):
        taken = (weights > 0) == bool(i)
        traces.append(
            theme.trace(
                "scatter", x=theme.light(vectors[taken, 0]), y=theme.light(vectors[taken, 1]),
                mode="markers", name=f"reduced vector, {name}",
                text=[f"z{k + 1}, weight {w:+.3g}" for k, w in enumerate(weights) if taken[k]],
                hovertemplate="%{text}<extra></extra>",
                marker={
                    "color": theme.COLORS[i], "symbol": ("square", "star-diamond")[i],
                    "size": theme.light(9 + 13 * strength[taken]),
                    "line": {"width": 2, "color": theme.INK},
                },
            )
        )  # fmt: skip
    traces += [click_layer(plane.queries), query_mark(plane.queries[query])]
    return theme.figure(traces, *plane.axes, title=plane.title, height=460, half=True)


def reduced_error(curves: pd.DataFrame, machine_error: float, n: int) -> go.Figure:
    """Draw rho and test errors against the number of vectors, n marked.

    Parameters
    ----------
    curves : frame
        For each size, which is its index: `rho`, ||Psi - Psi'|| / ||Psi||, and the test errors in
        percent with the machine's threshold, `error`, and with the one found anew, `bayes_error`.
    machine_error : float
        That of the machine which is reduced.
    n : int
        The size chosen.
    """
    sizes = curves.index.to_numpy()
    lines = (
        ("ρ, distance left (left axis)", "rho", 4, "solid", "y"),
        ("error, machine's threshold", "error", 2, "dash", "y2"),
        ("error, Bayes threshold", "bayes_error", 3, "dot", "y2"),
    )
    traces: list[Any] = [
        theme.trace(
            "scatter",
            x=sizes, y=theme.light(curves[column]), mode="lines+markers", name=name, yaxis=axis,
            line={"color": theme.COLORS[slot], "width": 2.5, "dash": dash},
            marker={"symbol": theme.SYMBOLS[slot], "size": 6},
            hovertemplate="%{x} vectors: %{y:.3g}<extra>" + name + "</extra>",
        )
        for name, column, slot, dash, axis in lines
    ]  # fmt: skip
    traces.append(
        theme.trace(
            "scatter",
            x=[1, int(sizes[-1])], y=theme.light([machine_error] * 2), mode="lines",
            name="error of the machine itself", yaxis="y2", hoverinfo="skip",
            line={"color": theme.INK, "width": 1.5, "dash": "longdash"},
        )
    )  # fmt: skip
    top = max(2.2 * machine_error, float(curves["error"].median()), 0.5)
    return theme.figure(
        traces, "number of vectors n (log scale)", "ρ = ‖Ψ − Ψ′‖ / ‖Ψ‖ (log scale)", height=460,
        half=True, shapes=[theme.line_at(x=n)],
        xaxis={"type": "log"}, yaxis={"type": "log"},
        yaxis2={
            "title": {"text": "test error in %"}, "overlaying": "y", "side": "right",
            "showgrid": False, "range": [0, 1.3 * top], "automargin": True, "tickmode": "auto",
        },
    )  # fmt: skip


def two_boundaries(
    plane: Plane, reduced: NDArray[Any], names: tuple[str, str], query: int
) -> go.Figure:
    """Draw the exact and the reduced decision function side by side, on one colour scale."""
    assert plane.x is not None
    assert plane.y is not None
    assert plane.values is not None
    reach = float(f"{np.percentile(np.abs(plane.values), 95):.1g}") or 1.0
    traces: list[Any] = []
    for values, axes in ((plane.values, "xy"), (reduced, "x2y2")):
        grid = {"x": theme.light(plane.x), "y": theme.light(plane.y), "z": theme.light(values),
                "xaxis": axes[: len(axes) // 2], "yaxis": axes[len(axes) // 2 :]}  # fmt: skip
        is_first = axes == "xy"
        traces += [_bands(grid, reach, is_first), _zero(grid, is_first)]
        for trace in (click_layer(plane.queries), query_mark(plane.queries[query])):
            traces.append(
                {**trace, "xaxis": grid["xaxis"], "yaxis": grid["yaxis"], "showlegend": False}
            )
    spans = {"range": [float(plane.y[0]), float(plane.y[-1])], "title": {"text": plane.axes[1]}}
    across = {"range": [float(plane.x[0]), float(plane.x[-1])], "title": {"text": plane.axes[0]}}
    return theme.figure(
        traces, *plane.axes, height=460, margin={"t": 52},
        xaxis={**across, "domain": [0.0, 0.47]}, yaxis=spans,
        xaxis2={**across, "domain": [0.53, 1.0], "anchor": "y2"},
        yaxis2={"range": spans["range"], "anchor": "x2", "matches": "y", "showticklabels": False},
        annotations=[_caption(name, x) for name, x in zip(names, (0.235, 0.765), strict=True)],
    )  # fmt: skip


def two_outputs(
    reading: Reading, ids: NDArray[Any], labels: NDArray[Any], class_names: tuple[str, str],
    query: tuple[float, float],
) -> go.Figure:  # fmt: skip
    """Draw the reduced output of each query against the exact one, both on one scale.

    Parameters
    ----------
    ids, labels : arrays over the rows of the reading
        What a click on a row stands for, and its class, -1 or +1.
    query : (exact, reduced) output of the query
    """
    exact, reduced = reading.exact, reading.outputs
    rows, changed = theme.thinned(len(exact)), ~reading.agrees
    groups = [
        (name, rows[(labels[rows] == label) & ~changed[rows]], i, theme.SYMBOLS[i])
        for i, (label, name) in enumerate(zip((-1, 1), class_names, strict=True))
    ]
    groups.append(("sign changed", rows[changed[rows]], 6, "x"))
    traces: list[Any] = [
        theme.scatter(
            len(rows), x=theme.light(exact[taken]), y=theme.light(reduced[taken]),
            customdata=ids[taken].astype(np.int32), mode="markers", name=name,
            hovertemplate="query %{customdata}<br>exact %{x:.3g}, reduced %{y:.3g}"
            "<extra>click to follow it</extra>",
            marker={"color": theme.COLORS[slot], "symbol": symbol, "size": 7, "opacity": 0.6},
        )
        for name, taken, slot, symbol in groups
    ]  # fmt: skip
    traces.append(query_mark(np.array(query)))
    ends = [float(min(exact.min(), reduced.min())), float(max(exact.max(), reduced.max()))]
    diagonal = theme.trace(
        "scatter", x=ends, y=ends, mode="lines", name="equal outputs", hoverinfo="skip",
        line={"color": theme.INK, "width": 1, "dash": "dash"},
    )  # fmt: skip
    return theme.figure(
        [diagonal, *traces], "f(x) of the machine", "output of the reduced machine", height=460,
        shapes=[theme.line_at(x=0.0), theme.line_at(y=0.0)],
    )  # fmt: skip


def _bands(grid: dict[str, Any], reach: float, is_first: bool) -> theme.Trace:
    return theme.trace(
        "contour", **grid, colorscale=theme.diverging_scale(), zmin=-reach, zmax=reach, zmid=0,
        contours={"start": -reach, "end": reach, "size": reach / 6}, line={"width": 0},
        showscale=is_first, colorbar=_colorbar("f(x)") | {"tickvals": [-reach, 0, reach]},
        hoverinfo="skip", name="f(x)", showlegend=False,
    )  # fmt: skip


def _colorbar(title: str) -> dict[str, Any]:
    """A scale in words as dark as the page's: the app's own are a pale grey."""
    ink = {"color": theme.INK}
    return {"title": {"text": title, "font": ink}, "tickfont": ink, "thickness": 12}


def _zero(grid: dict[str, Any], is_first: bool) -> theme.Trace:
    return theme.trace(
        "contour", **grid, contours={"type": "constraint", "operation": "=", "value": 0.0},
        line={"width": 2.5, "color": theme.INK}, hoverinfo="skip", name="boundary",
        showlegend=is_first,
    )  # fmt: skip


def _caption(text: str, x: float) -> dict[str, Any]:
    return {"text": text, "x": x, "y": 1.0, "xref": "paper", "yref": "paper", "xanchor": "center",
            "yanchor": "bottom", "showarrow": False, "font": {"size": 14}}  # fmt: skip


def _mosaic(
    images: NDArray[Any], captions: Sequence[str], title: str, colors: Any,
    span: tuple[float, float], across: int,
) -> go.Figure:  # fmt: skip
    """Lay images out in rows, a caption under each."""
    count, height, width = images.shape
    down = -(-count // across)
    tall, wide = height + max(4, height // 3), width + 2
    sheet = np.full((down * tall, min(count, across) * wide), np.nan, dtype=np.float32)
    notes = []
    for i, image in enumerate(images):
        top, left = (i // across) * tall, (i % across) * wide
        sheet[top : top + height, left : left + width] = image
        notes.append(
            {"x": left + width / 2 - 0.5, "y": top + height, "text": captions[i],
             "showarrow": False, "yanchor": "top", "font": {"size": 11}}
        )  # fmt: skip
    heat = theme.trace(
        "heatmap",
        z=sheet, colorscale=colors, zmin=span[0], zmax=span[1], hoverinfo="skip", name="pixels",
        colorbar=_colorbar("pixel"), showlegend=False,
    )  # fmt: skip
    bare = {"showticklabels": False, "showgrid": False, "ticks": "", "title": {"text": ""}}
    return theme.figure(
        [heat], "", "", title=title, height=110 + 92 * down, annotations=notes,
        margin={"l": 10, "b": 10},
        xaxis=bare, yaxis={**bare, "autorange": "reversed", "scaleanchor": "x"},
    )  # fmt: skip
