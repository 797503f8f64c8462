"""Nearest support vectors: effort, the walk of one query, its neighbours, the trade-off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from kmviz.figures import boundary, theme
from kmviz.traces import NSVReading, NSVTrace

#: Support vectors shown as pictures or marked on a map.
SHOWN = 8


def effort(
    reading: NSVReading, rows: NDArray, query: int | None = None, height: int = 430
) -> go.Figure:
    """Draw each query's g where it stopped against the steps it took, thresholds as lines.

    The paper's figure 3 draws f(x) instead, so that queries seem to stop within the band.

    Parameters
    ----------
    reading : one reading of a machine of two classes
    rows : the row of X_test that each query is
    query : the row that is selected
    """
    k = np.arange(1, len(reading.low) + 1)
    shown = np.unique(np.round(np.geomspace(1, len(k), 600)).astype(np.intp)) - 1
    traces: list[Any] = [
        _threshold(k[shown], _finite(reading.high[shown]), "threshold H", True),
        _threshold(k[shown], _finite(reading.low[shown]), "threshold L", False),
    ]
    agrees = np.flatnonzero(reading.agrees)
    agrees = agrees[theme.uncovered(np.log(reading.steps[agrees]), reading.outputs[agrees])]
    groups = (
        ("same class as the exact machine", agrees, theme.COLORS[2], "circle", 7, 0.5),
        ("disagreement", np.flatnonzero(~reading.agrees), theme.COLORS[6], "x", 12, 1.0),
    )
    for name, drawn, color, symbol, size, opacity in groups:
        traces.append(
            theme.scatter(
                len(rows),
                x=theme.light(reading.steps[drawn]),
                y=theme.light(reading.outputs[drawn]),
                customdata=np.column_stack([rows[drawn], theme.light(reading.exact[drawn])]),
                mode="markers",
                name=name,
                marker={"color": color, "symbol": symbol, "size": size, "opacity": opacity},
                hovertemplate="query %{customdata[0]}<br>g = %{y:.3g} after %{x:,} steps"
                "<br>f(x) = %{customdata[1]:.3g}<extra>click to follow it</extra>",
            )
        )
    if query is not None and query in rows:
        at = int(np.flatnonzero(rows == query)[0])
        traces.append(theme.star(reading.steps[at], reading.outputs[at], "the query"))
    reach = 1.15 * float(np.abs(reading.outputs).max(initial=1e-9))
    return theme.figure(
        traces,
        "steps k (log scale)",
        "g at the stop",
        height=height,
        xaxis={"type": "log", "range": [-0.08, float(np.log10(len(k))) + 0.05]},
        yaxis={"range": [-reach, reach]},
        shapes=[theme.line_at(y=0.0)],
    )


def figure_3(reading: NSVReading, height: int = 430) -> go.Figure:
    """Draw f(x) of each query against its k on linear axes: the paper's figure 3, as published.

    f is not what the thresholds were passed by (that is g_k, which `effort` draws), so that some
    queries stand within the band.

    Parameters
    ----------
    reading : one reading of a machine of two classes; the paper's is without the filter
    """
    k = np.arange(len(reading.low))
    shown = slice(0, int(reading.stop.max(initial=1)) + 1)
    traces: list[Any] = [
        _threshold(k[shown], _finite(reading.high[shown]), "threshold H", True),
        _threshold(k[shown], _finite(reading.low[shown]), "threshold L", False),
    ]
    for name, drawn, slot, symbol in (
        ("same class as the exact machine", reading.agrees, 2, "circle"),
        ("disagreement", ~reading.agrees, 6, "x"),
    ):
        marker = {"color": theme.COLORS[slot], "symbol": symbol, "size": 6, "opacity": 0.6}
        traces.append(
            theme.scatter(
                len(reading.stop), x=theme.light(reading.stop[drawn]),
                y=theme.light(reading.exact[drawn]), mode="markers", name=name, marker=marker,
                hovertemplate="k = %{x:,}<br>f(x) = %{y:.3g}<extra></extra>",
            )
        )  # fmt: skip
    return theme.figure(
        traces, "k: support vectors touched", "exact output f(x)", height=height,
        shapes=[theme.line_at(y=0.0)],
    )  # fmt: skip


def trajectory(
    trace: NSVTrace, class_names: Sequence[str], beta: NDArray, height: int = 430
) -> go.Figure:
    """Draw g_k within L_k and H_k, where it stopped, and where it would have gone."""
    k = np.arange(len(trace.partial))
    shown = slice(0, min(len(k), max(40, 4 * trace.stop) + 1))
    stop = trace.stop
    hover = [
        f"step {step}<br>support vector {i} of {class_names[int(beta[i] > 0)]}"
        f"<br>beta {beta[i]:.3g}, kernel {v:.3g}"
        for step, i, v in zip(k[1:], trace.index[1:], trace.value[1:])
    ][: shown.stop - 1]
    texts = np.array(["start", *hover], dtype=object)
    level = theme.light([trace.exact, trace.exact])
    traces = [
        _threshold(k[shown], _finite(trace.high[shown]), "threshold H", True),
        _threshold(k[shown], _finite(trace.low[shown]), "threshold L", False),
        _line(k[stop : shown.stop], trace.partial[stop : shown.stop], texts[stop : shown.stop],
              "where it would have gone", dash="dot", opacity=0.45),
        _line(k[: stop + 1], trace.partial[: stop + 1], texts[: stop + 1], "partial sum g",
              opacity=1.0),
        theme.trace(
            "scatter", x=theme.light([0, shown.stop - 1]), y=level, mode="lines", name="exact f(x)",
            line={"color": theme.INK, "dash": "dash", "width": 1.5}, hoverinfo="skip",
        ),
        theme.star(stop, trace.partial[stop], "stopped here"),
    ]  # fmt: skip
    return theme.figure(
        traces, "k: support vectors touched", "partial sum g", _verdict(trace), height,
        shapes=[theme.line_at(y=0.0)],
    )  # fmt: skip


def neighbor_images(
    trace: NSVTrace,
    x: NDArray,
    vectors: NDArray,
    beta: NDArray,
    shape: tuple[int, int],
    class_names: Sequence[str],
    height: int = 320,
) -> go.Figure:
    """Draw the query and the first support vectors as images (the paper's figure 1).

    Under each vector: its weight, the approximate kernel value that put it in its place, the exact
    one, and the sum so far.
    """
    first = trace.index[1 : SHOWN + 1]
    tall, wide = shape
    gap = max(2, wide // 8)
    mosaic = np.full((tall, (wide + gap) * (len(first) + 1)), np.nan, dtype=np.float32)
    start = f"f(x) = {trace.exact:.3g}<br>g<sub>0</sub> = {trace.partial[0]:.3g}"
    words = [f"<b>the query</b><br>{start}"]
    for place, picture in enumerate([x, *vectors[first]]):
        left = place * (wide + gap)
        mosaic[:, left : left + wide] = np.reshape(picture, shape)[::-1]
    for k, i in enumerate(first, start=1):
        words.append(
            f"<b>{k}: {class_names[int(beta[i] > 0)]}</b><br>β {beta[i]:.3g}<br>"
            f"K ≈ {trace.score[k]:.3g}<br>K = {trace.value[k]:.3g}<br>"
            f"g<sub>{k}</sub> = {trace.partial[k]:.3g}"
        )
    tiles = theme.trace(
        "heatmap", z=mosaic, colorscale=theme.sequential_scale(), showscale=False, hoverinfo="skip",
        name="images",
    )  # fmt: skip
    touched = min(trace.stop, SHOWN)
    frame = {
        "type": "rect", "x0": -1.5, "x1": (touched + 1) * (wide + gap) - gap + 0.5, "y0": -1.5,
        "y1": tall + 0.5, "line": {"color": theme.COLORS[4], "width": 2},
    }  # fmt: skip
    notes = [
        {"x": place * (wide + gap) + wide / 2, "y": -2, "yanchor": "top", "text": text,
         "showarrow": False, "font": {"size": 12}}
        for place, text in enumerate(words)
    ]  # fmt: skip
    hidden = {"visible": False}
    return theme.figure(
        [tiles], "", "", _touched(trace, touched), height, shapes=[frame], annotations=notes,
        xaxis=hidden, yaxis=hidden | {"range": [-0.9 * tall, tall + 1]}, dragmode=False,
        margin={"l": 10, "b": 10},
    )  # fmt: skip


def neighbor_map(
    trace: NSVTrace, plane: boundary.Plane, query: int, height: int = 460
) -> go.Figure:
    """Mark the support vectors that the query touched on the map, numbered as they came."""
    first = trace.index[1 : max(trace.stop, 1) + 1]
    at = plane.vectors[first]
    numbers = [str(k) if k <= 3 * SHOWN else "" for k in range(1, len(first) + 1)]
    touched = theme.trace(
        "scatter",
        x=theme.light(at[:, 0]), y=theme.light(at[:, 1]), mode="markers+text", text=numbers,
        textposition="top center", name="touched, in order" if trace.stop else "nearest",
        customdata=theme.light(
            np.column_stack([np.arange(len(trace.value)), trace.value, trace.partial])[
                1 : len(at) + 1
            ]
        ),
        hovertemplate="step %{customdata[0]}: kernel %{customdata[1]:.3g}, "
        "g<sub>k</sub> %{customdata[2]:.3g}<extra></extra>",
        marker={"symbol": "circle-open", "size": 14, "color": theme.COLORS[4],
                "line": {"width": 2.5}},
    )  # fmt: skip
    return boundary.boundary(_coarse(plane), query, height, more=[touched], clickable=False)


def _coarse(plane: boundary.Plane) -> boundary.Plane:
    """Half the grid each way: here it is a background, drawn anew with every setting."""
    if plane.x is None or plane.y is None or plane.values is None:
        return plane
    return replace(plane, x=plane.x[::2], y=plane.y[::2], values=plane.values[::2, ::2])


def tradeoff(
    table: pd.DataFrame, present: tuple[float, float], title: str | None = None, height: int = 430
) -> go.Figure:
    """Draw honest speedup against disagreements.

    Parameters
    ----------
    table : DataFrame
        Columns `setting` and `filter` (a line for each pair; without the filter it is dotted),
        `window`, `speedup`, `disagreements` (in percent).
    present : speedup and disagreements of the setting on screen
    title : which queries it rests on, where they are a sample
    """
    traces: list[Any] = []
    slots = {name: slot % 10 for slot, name in enumerate(dict.fromkeys(table["setting"]))}
    for (name, is_filtered), part in table.groupby(["setting", "filter"], sort=False):
        color, symbol = theme.COLORS[slots[name]], theme.SYMBOLS[slots[name]]
        traces.append(
            theme.trace(
                "scatter", x=theme.light(part["speedup"]), y=theme.light(part["disagreements"]),
                customdata=part["window"].to_numpy(np.int32), mode="lines+markers", name=str(name),
                legendgroup=str(name), showlegend=bool(is_filtered),
                line={"color": color, "width": 1, "dash": "solid" if is_filtered else "dot"},
                marker={"color": color, "symbol": symbol + "-open" * (not is_filtered), "size": 9},
                hovertemplate="w = %{customdata}<br>%{x:.3g} times faster<br>%{y:.2f}% disagree",
            )
        )  # fmt: skip
    traces.append(theme.star(*present, "the present setting"))
    return theme.figure(
        traces, "times faster than the exact sum (log scale)", "answers that differ (%)", title,
        height,
        xaxis={"type": "log"}, yaxis={"rangemode": "tozero"},
    )  # fmt: skip


def _threshold(k: NDArray, values: NDArray, name: str, above: bool) -> theme.Trace:
    return theme.trace(
        "scatter",
        x=theme.light(k),
        y=theme.light(values),
        mode="lines",
        name=name,
        line={"color": theme.COLORS[1 if above else 0], "width": 1.5},
        hovertemplate=f"{name}<sub>k</sub> = %{{y:.3g}}<extra></extra>",
    )


def _line(
    k: NDArray, values: NDArray, texts: NDArray, name: str, opacity: float, dash: str = "solid"
) -> theme.Trace:
    return theme.trace(
        "scatter",
        x=theme.light(k),
        y=theme.light(values),
        text=texts.tolist(),
        mode="lines+markers",
        name=name,
        opacity=opacity,
        line={"color": theme.COLORS[2], "dash": dash, "width": 2},
        marker={"size": 4},
        hovertemplate="%{text}<br>g<sub>k</sub> = %{y:.3g}<extra></extra>",
    )


def _finite(values: NDArray) -> NDArray:
    """Thresholds without infinite ends, which no axis can show."""
    return np.where(np.isfinite(values), values, np.nan)


def _verdict(trace: NSVTrace) -> str:
    if trace.filtered:
        return (
            f"The linear filter decided: {trace.filter_output:.3g} is outside "
            f"[{trace.filter_low:.3g}, {trace.filter_high:.3g}]; the walk is what it saved"
        )
    if trace.stop == 0:
        decided = "The approximation"
        if 0 <= trace.deciding < trace.n_reduced:
            decided = f"{trace.stages[trace.deciding, 0]:.0f} reduced vectors"
        return f"{decided} decided; no support vector was touched"
    return f"Stopped after {trace.stop:,} of {trace.n_steps:,} support vectors"


def _touched(trace: NSVTrace, shown: int) -> str:
    if trace.stop == 0:
        return "No support vector was touched; these would have come first"
    if trace.stop <= SHOWN:
        return f"Inside the frame: the {trace.stop} support vectors touched"
    return f"The first {shown} of {trace.stop:,} support vectors touched"
