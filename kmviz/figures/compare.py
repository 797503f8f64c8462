"""Cost against agreement: a point a setting, and the line that nothing beats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from kmviz.figures import theme

#: Families of methods in the order of their colours; the exact machine and the peers come last.
FAMILIES = (
    ("nsv", "nearest support vectors"),
    ("anytime", "anytime bounds"),
    ("reduced", "reduced set"),
    ("svtree", "support vector tree"),
    ("falk", "local models"),
    ("virtual", "virtual support vectors"),
    ("exact", "exact machine"),
    ("peer", "what else one might take"),
)

_TURNS = ("top left", "bottom center", "top right", "bottom right")


def frontier(points: pd.DataFrame, cost: str, height: int = 520) -> go.Figure:
    """Draw cost a query against disagreement with the exact machine, both on log axes.

    Parameters
    ----------
    points : DataFrame
        A row a setting: `title`, `family` (a key of `FAMILIES`), `cost`, `disagreement`,
        `disagreement_high`, `disagreements`, `queries`. The position of a row is the
        `customdata` of its point.
    cost : what the cost is, with its unit

    Notes
    -----
    A logarithmic axis has no zero: settings that changed no answer stand on the lowest line,
    half a changed answer among all queries.
    """
    drawn = points[np.isfinite(points["cost"].astype(float))]
    queries = float(points["queries"].max())
    floor = 0.5 / queries
    heights = np.maximum(drawn["disagreement"].to_numpy(dtype=float), floor)
    costs = drawn["cost"].to_numpy(dtype=float)
    traces = [_frontier_line(costs, heights)]
    sides = _sides(costs, heights)
    for slot, (family, name) in enumerate(FAMILIES):
        rows = np.flatnonzero((drawn["family"] == family).to_numpy())
        if len(rows):
            traces.append(_points(drawn, rows, costs, heights, sides, name, slot))
    return theme.figure(
        traces,
        f"{cost} (log scale)",
        "answers that differ (log scale)",
        height=height,
        shapes=[theme.line_at(y=floor, dash="solid", color=theme.FAINT)],
        **_log_axes(costs, heights, floor),
    )


def on_frontier(costs: NDArray[np.float64], heights: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the points that none beats in both cost and disagreement, cheapest first.

    Examples
    --------
    >>> import numpy as np
    >>> on_frontier(np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.6, 0.1])).tolist()
    [0, 2]
    """
    best, kept = np.inf, []
    for i in np.lexsort((heights, costs)):
        if heights[i] < best:
            best = heights[i]
            kept.append(i)
    return np.array(kept, dtype=np.intp)


def _frontier_line(costs: NDArray[np.float64], heights: NDArray[np.float64]) -> theme.Trace:
    kept = on_frontier(costs, heights)
    return theme.trace(
        "scatter",
        x=theme.light(costs[kept]),
        y=theme.light(heights[kept]),
        mode="lines",
        line={"shape": "hv", "color": theme.INK, "width": 1.5, "dash": "dot"},
        name="nothing cheaper changes less",
        hoverinfo="skip",
    )


def _sides(costs: NDArray[np.float64], heights: NDArray[np.float64]) -> NDArray[Any]:
    """Where each label goes: above its point, or by turns where several share a height."""
    sides = np.full(len(costs), "top center", dtype=object)
    for height in np.unique(heights):
        level = np.flatnonzero(np.abs(np.log10(heights / height)) < 0.05)
        if len(level) > 1:
            for turn, i in enumerate(level[np.argsort(costs[level], kind="stable")]):
                sides[i] = _TURNS[turn % len(_TURNS)]
    return sides


def _points(
    drawn: pd.DataFrame, rows: NDArray[np.intp], costs: NDArray[np.float64],
    heights: NDArray[np.float64], sides: NDArray[Any], name: str, slot: int,
) -> theme.Trace:  # fmt: skip
    part = drawn.iloc[rows]
    hidden = slot == len(FAMILIES) - 1
    return theme.trace(
        "scatter",
        x=theme.light(costs[rows]),
        y=theme.light(heights[rows]),
        customdata=drawn.index.to_numpy()[rows].astype(np.int32),
        text=part["title"].tolist(),
        hovertext=[_told(row) for row in part.itertuples()],
        hovertemplate="<b>%{text}</b><br>%{hovertext}<extra>click to open</extra>",
        mode="markers+text",
        textposition=sides[rows].tolist(),
        textfont={"size": 11},
        name=name,
        cliponaxis=False,
        marker={
            "color": theme.COLORS[9 if hidden else slot],
            "symbol": theme.SYMBOLS[slot],
            "size": 11 if hidden else 14,
            "line": {"width": 1, "color": theme.INK},
            "opacity": 0.85,
        },
    )


def _told(row: Any) -> str:
    return (
        f"cost {row.cost:,.3g}<br>{row.disagreements:,.0f} of {row.queries:,.0f} answers differ"
        f"<br>at most {row.disagreement_high:.2%} (95%)<br>accuracy {row.accuracy:.3f}"
    )


def _log_axes(
    costs: NDArray[np.float64], heights: NDArray[np.float64], floor: float
) -> dict[str, Any]:
    ticks = [10.0**e for e in range(-6, 1) if 10.0**e > 1.5 * floor and 10.0**e <= 1.0]
    low, high = np.log10(costs.min()), np.log10(costs.max())
    return {
        "xaxis": {"type": "log", "dtick": "D2", "range": [low - 0.25, high + 0.25]},
        "yaxis": {
            "type": "log",
            "tickvals": [floor, *ticks],
            "ticktext": ["none", *(f"{100 * tick:g}%" for tick in ticks)],
            "range": [np.log10(floor) - 0.4, np.log10(max(heights.max(), 2 * floor)) + 0.35],
        },
    }
