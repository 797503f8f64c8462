"""Cost against agreement: a point a setting, and the line that nothing beats."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from kmviz.evaluation.catalogue import OTHERS
from kmviz.figures import theme
from kmviz.methods.register import families

#: Sides a label may take, the best first: its left end in its own widths from the point, and
#: its foot in pixels above it.
_SIDES = (
    ("top center", -0.5, 8), ("bottom center", -0.5, -22), ("top right", 0.0, 8),
    ("top left", -1.0, 8), ("bottom right", 0.0, -22), ("bottom left", -1.0, -22),
    ("middle right", 0.0, -7), ("middle left", -1.0, -7),
)  # fmt: skip
#: The colour of the peers.
_LAST = len(theme.COLORS) - 1
#: The chart in pixels, about, in a window of usual width.
_WIDE, _TALL = 700, 360


def frontier(points: pd.DataFrame, cost: str, height: int = 520) -> go.Figure:
    """Draw cost a query against disagreement with the exact machine, both on log axes.

    Parameters
    ----------
    points : DataFrame
        A row a setting: `title`, `family` (of the register, or the peers'), `cost`, `disagreement`,
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
    axes = _log_axes(costs, heights, floor)
    across, up = (
        (np.log10(values) - axis["range"][0]) / (axis["range"][1] - axis["range"][0])
        for values, axis in ((costs, axes["xaxis"]), (heights, axes["yaxis"]))
    )
    labels = _labels(drawn["title"].tolist(), across, up)
    for family, slot in slots(drawn["family"]).items():
        rows = np.flatnonzero((drawn["family"] == family).to_numpy())
        traces.append(_points(drawn, rows, costs, heights, labels, family, slot))
    return theme.figure(
        traces,
        f"{cost} (log scale)",
        "answers that differ (log scale)",
        height=height,
        shapes=[theme.line_at(y=floor, dash="solid", color=theme.FAINT)],
        **axes,
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


def slots(present: Iterable[str]) -> dict[str, int]:
    """Return the colour slot of each family at hand, in the register's order, peers last."""
    present = set(present)
    known = {family: slot for slot, family in enumerate(families())} | {OTHERS: _LAST}
    unknown = sorted(present - set(known))
    if unknown:
        raise ValueError(f"No method of the register is of the family {unknown[0]!r}.")
    return {family: slot for family, slot in known.items() if family in present}


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


def _labels(
    titles: list[str], x: NDArray[np.float64], y: NDArray[np.float64]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return each point's label and its side; no label where every side is taken.

    Parameters
    ----------
    x, y : where the points stand, from 0 to 1 across the chart
    """
    px, py = x * _WIDE, y * _TALL
    taken = [(a - 8, b - 8, a + 8, b + 8) for a, b in zip(px, py)]
    texts, sides = np.full(len(px), "", dtype=object), np.full(len(px), _SIDES[0][0], dtype=object)
    for i in np.lexsort((px, py)):
        wide = 6.2 * len(titles[i])
        for side, across, up in _SIDES:
            left, low = px[i] + across * wide + np.sign(across + 0.5) * 8, py[i] + up
            box = (left, low, left + wide, low + 14)
            others = taken[:i] + taken[i + 1 :]
            if left >= -20 and box[2] <= _WIDE + 10 and not any(_meet(box, o) for o in others):
                texts[i], sides[i] = titles[i], side
                taken.append(box)
                break
    return texts, sides


def _meet(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _points(
    drawn: pd.DataFrame, rows: NDArray[np.intp], costs: NDArray[np.float64],
    heights: NDArray[np.float64], labels: tuple[NDArray[Any], NDArray[Any]], name: str, slot: int,
) -> theme.Trace:  # fmt: skip
    part = drawn.iloc[rows]
    hidden = slot == _LAST
    return theme.trace(
        "scatter",
        x=theme.light(costs[rows]),
        y=theme.light(heights[rows]),
        customdata=drawn.index.to_numpy()[rows].astype(np.int32),
        text=labels[0][rows].tolist(),
        hovertext=[_told(row) for row in part.itertuples()],
        hovertemplate="%{hovertext}<extra>click to open</extra>",
        mode="markers+text",
        textposition=labels[1][rows].tolist(),
        textfont={"size": 11},
        name=name,
        cliponaxis=False,
        marker={
            "color": theme.COLORS[slot],
            "symbol": theme.SYMBOLS[slot],
            "size": 11 if hidden else 14,
            "line": {"width": 1, "color": theme.INK},
            "opacity": 0.85,
        },
    )


def _told(row: Any) -> str:
    return (
        f"<b>{row.title}</b><br>cost {row.cost:,.3g}<br>"
        f"{row.disagreements:,.0f} of {row.queries:,.0f} answers differ"
        f"<br>at most {row.disagreement_high:.2%} (95%)<br>accuracy {row.accuracy:.3f}"
    )


def _log_axes(
    costs: NDArray[np.float64], heights: NDArray[np.float64], floor: float
) -> dict[str, Any]:
    ticks = [10.0**e for e in range(-6, 1) if 10.0**e > 1.5 * floor and 10.0**e <= 1.0]
    low, high = np.log10(costs.min()), np.log10(costs.max())
    return {
        "xaxis": {"type": "log", "range": [low - 0.25, high + 0.25]},
        "yaxis": {
            "type": "log",
            "tickvals": [floor, *ticks],
            "ticktext": ["none", *(f"{100 * tick:g}%" for tick in ticks)],
            "range": [np.log10(floor) - 0.4, np.log10(max(heights.max(), 2 * floor)) + 0.35],
        },
    }
