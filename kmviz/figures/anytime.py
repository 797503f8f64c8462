"""Bounds that close on f(x): one query's interval, all orders, all queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike, NDArray

from kmviz.figures import theme
from kmviz.figures.effort import effort
from kmviz.traces import AnytimeReading, AnytimeTrace, Closing

DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "solid", "dash")

#: More steps than this are thinned out before they go to the browser.
MOST_STEPS = 600


def bounds(trace: AnytimeTrace, step: int) -> go.Figure:
    """Draw one query's interval as it closes on f(x), and the two residuals that close it.

    Parameters
    ----------
    trace : the query
    step : the step to point at
    """
    last = _last_shown(trace, step)
    k = _thinned(last + 1)
    top = reach(trace, last)
    text = f"sign certain at k = {trace.stop}"
    if not is_certain(trace, trace.stop):
        text = f"exact sum taken after k = {trace.stop}"
    note = {"text": text, "x": trace.stop, "y": 1, "yref": "paper"}
    right = trace.stop > last / 2
    return theme.figure(
        [*_interval(trace, k), *_marks(trace, step, last), *_residuals(trace, k)],
        "kernel values computed, k", "f(x)", height=560,
        yaxis={"domain": [0.37, 1.0], "range": [-top, top]},
        yaxis2={
            "domain": [0.0, 0.3], "type": "log", "title": {"text": "share left"}, "zeroline": False,
        },
        xaxis={"anchor": "y2", "range": [-0.01 * last, 1.01 * last]},
        hovermode="x unified",
        legend={"traceorder": "normal"},
        shapes=[
            {"x0": 0, "x1": 1, "xref": "paper", "y0": 0, "y1": 0, "line": _line(theme.INK, 1)},
            {
                "x0": trace.stop, "x1": trace.stop, "y0": 0, "y1": 1, "yref": "paper",
                "line": _line(theme.INK, 1.5, "dot"),
            },
        ],
        annotations=[
            note | {"xanchor": "right" if right else "left", "showarrow": False, "yanchor": "top"}
        ],
    )  # fmt: skip


def is_certain(trace: AnytimeTrace, step: int) -> bool:
    """Whether the interval after `step` kernel values excludes 0."""
    return bool(trace.lower[step] > 0 or trace.upper[step] < 0)


def _line(color: str, width: float, dash: str = "solid") -> dict[str, Any]:
    return {"color": color, "width": width, "dash": dash}


def _last_shown(trace: AnytimeTrace, step: int) -> int:
    """Up to where k is drawn: past the stop, so that one sees what was saved."""
    return min(len(trace.partial) - 1, max(2 * trace.stop, step + 2, 12))


def reach(trace: AnytimeTrace, last: int) -> float:
    """How far f(x) is drawn so that the closing can be seen: first intervals are far wider."""
    k = min(max(trace.stop // 3, 1), last)
    return 1.05 * max(abs(trace.lower[k]), abs(trace.upper[k]), 1.5 * abs(trace.exact))


def _interval(trace: AnytimeTrace, k: NDArray[np.intp]) -> list[theme.Trace]:
    edge = _line(theme.COLORS[5], 1)
    upper, lower = theme.light(trace.upper[k]), theme.light(trace.lower[k])
    return [
        theme.trace(
            "scatter", x=k, y=upper, mode="lines", name="upper bound", line=edge, showlegend=False,
            hovertemplate="%{y:.4g}",
        ),
        theme.trace(
            "scatter", x=k, y=lower, mode="lines", name="interval that holds f(x)", line=edge,
            fill="tonexty", fillcolor=theme.SEQUENTIAL[1],
            hovertemplate="%{y:.4g}<extra>lower bound</extra>",
        ),
        theme.trace(
            "scatter", x=k, y=theme.light(trace.partial[k]), mode="lines", name="f<sub>k</sub>(x)",
            line=_line(theme.COLORS[2], 2), hovertemplate="%{y:.4g}",
        ),
    ]  # fmt: skip


def _marks(trace: AnytimeTrace, step: int, last: int) -> list[theme.Trace]:
    return [
        theme.trace(
            "scatter",
            x=[0, last], y=theme.light([trace.exact] * 2), mode="lines", name="exact f(x)",
            line=_line(theme.INK, 1.5, "dash"), hoverinfo="skip",
        ),
        theme.trace(
            "scatter", x=[step, step], y=theme.light([trace.lower[step], trace.upper[step]]),
            mode="lines+markers", name=f"known after {step}", hoverinfo="skip",
            marker={"symbol": "line-ew-open", "size": 14, "color": theme.COLORS[4]},
            line=_line(theme.COLORS[4], 4),
        ),
    ]  # fmt: skip


def _residuals(trace: AnytimeTrace, k: NDArray[np.intp]) -> list[theme.Trace]:
    """What is left of machine and query, as a share of their start."""
    drawn = []
    for values, name, slot, dash in (
        (trace.w_rest, "left of the machine W", 7, "solid"),
        (np.sqrt(trace.residual_sq), "left of the query, R<sub>k</sub>(x)", 3, "dash"),
    ):
        share = np.maximum(values[k] / max(float(values[0]), 1e-300), 1e-6)
        drawn.append(
            theme.trace(
                "scatter", x=k, y=theme.light(share), yaxis="y2", mode="lines", name=name,
                line=_line(theme.COLORS[slot], 2, dash), hovertemplate="%{y:.3g} of its start",
            )
        )  # fmt: skip
    return drawn


def orderings(records: Mapping[str, Closing], chosen: str) -> go.Figure:
    """Draw every order's mean interval width and share of decided queries against k."""
    lines = []
    for i, (name, record) in enumerate(records.items()):
        k = _thinned(len(record.width))
        line = _line(theme.COLORS[_slot(i)], 4 if name == chosen else 1.8, DASHES[i % len(DASHES)])
        widths = np.maximum(record.width[k], 1e-6)
        for axis, values, form in (("", widths, ":.3g"), ("2", record.decided[k], ":.1%")):
            lines.append(
                theme.trace(
                    "scatter",
                    x=k, y=theme.light(values), xaxis="x" + axis, yaxis="y" + axis, mode="lines",
                    name=name, line=line, legendgroup=name, showlegend=not axis,
                    hovertemplate="k = %{x}: %{y" + form + "}",
                )
            )  # fmt: skip
    across = "kernel values computed, k"
    return theme.figure(
        lines, across, "mean width, upper - lower",
        xaxis={"domain": [0.0, 0.42]},
        xaxis2={"domain": [0.59, 1.0], "anchor": "y2", "title": {"text": across}},
        yaxis={"type": "log"} if lines else {},  # none are compared yet
        yaxis2={
            "anchor": "x2", "title": {"text": "share of queries decided"}, "tickformat": ".0%",
            "range": [-0.02, 1.02],
        },
    )  # fmt: skip


def steps(
    reading: AnytimeReading, rows: ArrayLike, labels: ArrayLike, class_names: tuple[str, str],
    star: tuple[float, float], n_vectors: int,
) -> go.Figure:  # fmt: skip
    """Draw f(x) of each query against its kernel values, and how these are distributed.

    Parameters
    ----------
    rows : what each query of the reading is called, the `customdata` of its point
    labels : their true labels, -1 or +1
    star : f(x) and kernel values of the selected query
    """
    histogram = theme.trace(
        "histogram",
        y=theme.light(reading.steps), xaxis="x2", nbinsy=40, name="queries", showlegend=False,
        marker={"color": theme.COLORS[9]}, hovertemplate="%{x} queries<extra>%{y}</extra>",
    )  # fmt: skip
    return effort(
        reading.exact, reading.steps, labels, class_names, n_vectors=n_vectors, ids=rows,
        star=star, height=460, more=[histogram],
        xaxis={"domain": [0.0, 0.8]},
        xaxis2={"domain": [0.83, 1.0], "title": {"text": "queries"}, "zeroline": False},
        bargap=0.05,
    )  # fmt: skip


def _slot(i: int) -> int:
    """A colour slot; the yellow of the query stays the query's."""
    return i if i < 4 else i + 1


def _thinned(n: int) -> NDArray[np.intp]:
    """All steps, or a spread of them that is dense at the start."""
    if n <= MOST_STEPS:
        return np.arange(n)
    return np.unique(np.geomspace(1, n, MOST_STEPS).astype(np.intp) - 1)
