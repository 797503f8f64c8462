"""Cost against accuracy: a point for each setting, and the line that nothing cheaper beats."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
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
_WIDE, _TALL = 700, 270


def frontier(points: pd.DataFrame, cost: str, height: int = 440) -> go.Figure:
    """Draw the cost of a query against accuracy; a point is larger where more answers differ.

    Parameters
    ----------
    points : DataFrame
        A row for each setting: `title`, `family` (of the register, or the peers'), `cost`,
        `accuracy`, `disagreement`, `disagreement_high`, `disagreements`, `queries`, `is_best`.
        The position of a row is the `customdata` of its point. Rows without a cost are not
        drawn: whoever draws the chart says so.
    cost : what the cost is, with its unit

    Notes
    -----
    Up is better. The scale is logarithmic in the error, so that 99% and 99.5% stand as far apart
    as 98% and 99%. No error at all stands where half a wrong answer among all queries would.
    """
    drawn = points[np.isfinite(points["cost"].astype(float))]
    costs = drawn["cost"].to_numpy(dtype=float)
    wrong = 1.0 - drawn["accuracy"].to_numpy(dtype=float)
    errors = np.maximum(wrong, 0.5 / drawn["queries"].to_numpy(dtype=float))
    axes = _axes(costs, errors)
    across, up = (
        (np.log10(values) - axis["range"][0]) / (axis["range"][1] - axis["range"][0])
        for values, axis in ((costs, axes["xaxis"]), (errors, axes["yaxis"]))
    )
    best = np.flatnonzero(drawn["is_best"].to_numpy(dtype=bool))
    labels = _labels(drawn["title"].tolist(), across, up, best, on_frontier(costs, errors))
    traces = [_frontier_line(costs, errors)]
    for family, slot in slots(drawn["family"]).items():
        rows = np.flatnonzero((drawn["family"] == family).to_numpy())
        traces.append(_points(drawn, rows, costs, errors, labels, family, slot))
    return theme.figure(
        traces,
        f"{cost} (log scale)",
        "accuracy (log scale of the errors)",
        height=height,
        legend={"itemsizing": "constant"},  # a size means something, a family has none
        annotations=[_prize(costs[i], errors[i]) for i in best],
        **axes,
    )


def on_frontier(costs: NDArray[np.float64], errors: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the points that nothing cheaper equals in accuracy, cheapest first.

    Examples
    --------
    >>> import numpy as np
    >>> on_frontier(np.array([1.0, 2.0, 3.0]), np.array([0.4, 0.5, 0.1])).tolist()
    [0, 2]
    """
    best, kept = np.inf, []
    for i in np.lexsort((errors, costs)):
        if errors[i] < best:
            best = errors[i]
            kept.append(i)
    return np.array(kept, dtype=np.intp)


def _prize(cost: float, error: float) -> dict[str, Any]:
    """The words at what is advised."""
    return {
        "x": float(np.log10(cost)),
        "y": float(np.log10(error)),
        "text": "<b>advised</b>",
        "font": {"color": theme.INK},
        "showarrow": True,
        "arrowhead": 2,
        "arrowcolor": theme.INK,
        "ax": -46,
        "ay": 46,
        "standoff": 12,
    }


def slots(present: Iterable[str]) -> dict[str, int]:
    """Return the colour slot of each family at hand, in the register's order, peers last."""
    present = set(present)
    known = {family: slot for slot, family in enumerate(families())} | {OTHERS: _LAST}
    unknown = sorted(present - set(known))
    if unknown:
        raise ValueError(f"No method of the register is of the family {unknown[0]!r}.")
    return {family: slot for family, slot in known.items() if family in present}


def _frontier_line(costs: NDArray[np.float64], errors: NDArray[np.float64]) -> theme.Trace:
    kept = on_frontier(costs, errors)
    return theme.trace(
        "scatter",
        x=theme.light(costs[kept]),
        y=theme.light(errors[kept]),
        mode="lines",
        line={"shape": "hv", "color": theme.INK, "width": 1.5, "dash": "dot"},
        name="nothing cheaper is as accurate",
        showlegend=False,
        hoverinfo="skip",
    )


def _labels(
    titles: list[str],
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    best: NDArray[np.intp],
    kept: NDArray[np.intp],
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return each point's label and its side; no label where every side is taken.

    Parameters
    ----------
    x, y : where the points stand, from 0 to 1 across the chart
    best : those that the word "advised" stands below, to the left
    kept : those that the dotted line joins, first across and then upwards
    """
    px, py = x * _WIDE, y * _TALL
    taken = [(a - 8, b - 8, a + 8, b + 8) for a, b in zip(px, py)]
    taken += [(a - 75, b - 54, a - 10, b - 10) for a, b in zip(px[best], py[best])]
    for i, j in pairwise(kept):
        taken += [(px[i], py[i], px[j], py[i]), (px[j], py[i], px[j], py[j])]
    texts, sides = np.full(len(px), "", dtype=object), np.full(len(px), _SIDES[0][0], dtype=object)
    for i in np.lexsort((px, py)):
        wide = 6.6 * len(titles[i])
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
    errors: NDArray[np.float64], labels: tuple[NDArray[Any], NDArray[Any]], name: str, slot: int,
) -> theme.Trace:  # fmt: skip
    part = drawn.iloc[rows]
    return theme.trace(
        "scatter",
        x=theme.light(costs[rows]),
        y=theme.light(errors[rows]),
        customdata=drawn.index.to_numpy()[rows].astype(np.int32),
        text=labels[0][rows].tolist(),
        hovertext=[_told(row) for row in part.itertuples()],
        hovertemplate="%{hovertext}<extra>click to open</extra>",
        mode="markers+text",
        textposition=labels[1][rows].tolist(),
        textfont={"size": 12, "color": theme.INK},
        name=name,
        cliponaxis=False,
        marker={
            "color": theme.COLORS[slot],
            "symbol": theme.SYMBOLS[slot],
            "size": theme.light(_sizes(part["disagreement"])),
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


def _sizes(disagreement: pd.Series) -> NDArray[np.float64]:
    """Points that are larger where more answers differ: by area, and never too small to click."""
    return 10.0 + 30.0 * np.sqrt(disagreement.to_numpy(dtype=float).clip(0.0, 1.0))


def _axes(costs: NDArray[np.float64], errors: NDArray[np.float64]) -> dict[str, Any]:
    low, high = np.log10(costs.min()), np.log10(costs.max())
    best, worst = np.log10(errors.min()), np.log10(errors.max())
    room = max(0.15 * (worst - best), 0.05)
    ticks = [digit * 10.0**e for e in range(-6, 0) for digit in (1, 2, 3, 5, 7)]
    ticks = [t for t in ticks if best - room <= np.log10(t) <= worst + room]
    return {
        "xaxis": {"type": "log", "range": [low - 0.25, high + 0.25]},
        "yaxis": {
            "type": "log",
            "range": [worst + room, best - room],
            "tickvals": ticks,
            "ticktext": [f"{100 * (1 - tick):.6g}%" for tick in ticks],
        },
    }
