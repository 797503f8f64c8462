"""Cost against accuracy: a point for each setting, and the line that nothing cheaper beats."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kmviz.charts import theme
from kmviz.charts.chart import Axis, Chart, Line, Points, marks
from kmviz.evaluation.catalogue import OTHERS
from kmviz.methods.register import families

#: Sides a label may take, the best first: its left end in its own widths from the point, and
#: its foot in pixels above it.
_SIDES = (
    ("top center", -0.5, 8), ("bottom center", -0.5, -22), ("top right", 0.0, 8),
    ("top left", -1.0, 8), ("bottom right", 0.0, -22), ("bottom left", -1.0, -22),
    ("middle right", 0.0, -7), ("middle left", -1.0, -7),
)  # fmt: skip
Floats = NDArray[np.float64]
#: The colour of the peers.
_LAST = len(theme.COLORS) - 1
#: The chart in pixels, about, in a window of usual width.
_WIDE, _TALL = 700, 270


def frontier(points: pd.DataFrame, cost: str) -> Chart:
    """Return the cost of a query against accuracy; a point is larger where more answers differ.

    Parameters
    ----------
    points : DataFrame
        A row for each setting: `title`, `family` (of the register, or the peers'), `cost`,
        `accuracy`, `disagreement`, `disagreement_high`, `disagreements`, `queries`, `is_best`.
        The position of a row is the id of its point. Rows without a cost are not drawn: whoever
        draws the chart says so.
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
    x, y = _axes(costs, errors, cost)
    best = np.flatnonzero(drawn["is_best"].to_numpy(dtype=bool))
    places = _shares(costs, x), _shares(errors, y)
    kept = on_frontier(costs, errors)
    labels = _labels(drawn["title"].tolist(), *places, best, kept)
    look: dict[str, Any] = {"symbol": "ring", "size": 26, "opacity": 1.0}
    look |= {"labels": ["advised"] * len(best), "sides": ["bottom left"] * len(best)}
    ring = marks(np.column_stack([costs, errors])[best], "advised", **look)
    return Chart(
        key="frontier",
        alt="Cost of a query against accuracy, a point for each setting, larger where more answers "
        "differ from the exact SVM's, with the line of settings that nothing cheaper beats.",
        x=x,
        y=y,
        layers=[
            _frontier_line(costs, errors, kept),
            _settings(drawn, costs, errors, labels),
            *[ring] * bool(len(best)),
        ],
        height=440,
    )


def on_frontier(costs: Floats, errors: Floats) -> NDArray[np.intp]:
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


def slots(present: Iterable[str]) -> dict[str, int]:
    """Return the colour slot of each family at hand, in the register's order, peers last."""
    present = set(present)
    known = {family: slot for slot, family in enumerate(families())} | {OTHERS: _LAST}
    unknown = sorted(present - set(known))
    if unknown:
        raise ValueError(f"No method of the register is of the family {unknown[0]!r}.")
    return {family: slot for family, slot in known.items() if family in present}


def _frontier_line(costs: Floats, errors: Floats, kept: NDArray[np.intp]) -> Line:
    """Return the line that goes right, then up, from each point of the frontier to the next."""
    return Line(
        x=np.repeat(costs[kept], 2)[1:], y=np.repeat(errors[kept], 2)[:-1], width=1.5, dashed=True,
        name="nothing cheaper is as accurate",
    )  # fmt: skip


def _shares(values: Floats, axis: Axis) -> Floats:
    """Return where values stand along a logarithmic axis, from 0 to 1."""
    low, high = np.log10(axis.range or (1.0, 10.0))
    return (np.log10(values) - low) / (high - low)


def _labels(
    titles: list[str],
    x: Floats,
    y: Floats,
    best: NDArray[np.intp],
    kept: NDArray[np.intp],
) -> tuple[list[str], list[str]]:
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
    texts, sides = [""] * len(px), [_SIDES[0][0]] * len(px)
    for i in np.lexsort((px, py)):
        wide = 6.6 * len(titles[i])
        for side, across, up in _SIDES:
            left, low = px[i] + across * wide + np.sign(across + 0.5) * 8, py[i] + up
            box = (left, low, left + wide, low + 14)
            others = taken[:i] + taken[i + 1 :]
            if left >= -20 and box[2] <= _WIDE + 10 and not any(_overlaps(box, o) for o in others):
                texts[i], sides[i] = titles[i], side
                taken.append(box)
                break
    return texts, sides


def _overlaps(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _settings(
    drawn: pd.DataFrame, costs: Floats, errors: Floats, labels: tuple[list[str], list[str]]
) -> Points:
    """Return a point for each setting, in the colour of its family."""
    families = slots(drawn["family"])
    names, differ = tuple(families), drawn["disagreement"].to_numpy(float).clip(0.0, 1.0)
    return Points(
        x=costs, y=errors, names=names, id=drawn.index.to_numpy(), opacity=0.85,
        group=np.array([names.index(family) for family in drawn["family"]], dtype=np.intp),
        colors=tuple(theme.COLORS[slot] for slot in families.values()),
        symbols=tuple(theme.ALL_SYMBOLS[slot] for slot in families.values()),
        size=10.0 + 30.0 * np.sqrt(differ),  # by area, and never too small to click
        text=[_describe(row) for row in drawn.itertuples()],
        labels=labels[0], sides=labels[1],
    )  # fmt: skip


def _describe(row: Any) -> str:
    return (
        f"{row.title}\ncost {row.cost:,.3g}\n"
        f"{row.disagreements:,.0f} of {row.queries:,.0f} answers differ\n"
        f"at most {row.disagreement_high:.2%} (95%)\naccuracy {row.accuracy:.3f}\nclick to open"
    )


def _axes(costs: Floats, errors: Floats, cost: str) -> tuple[Axis, Axis]:
    low, high = np.log10(costs.min()), np.log10(costs.max())
    best, worst = np.log10(errors.min()), np.log10(errors.max())
    room = max(0.15 * (worst - best), 0.05)
    ticks = [digit * 10.0**e for e in range(-6, 0) for digit in (1, 2, 3, 5, 7)]
    ticks = [t for t in ticks if best - room <= np.log10(t) <= worst + room]
    across, up = (10.0 ** (low - 0.25), 10.0 ** (high + 0.25)), (worst + room, best - room)
    return (
        Axis(f"{cost} (log scale)", across, log=True),
        Axis(
            "accuracy (log scale of the errors)", (10.0 ** up[0], 10.0 ** up[1]), log=True,
            ticks=tuple((tick, f"{100 * (1 - tick):.6g}%") for tick in ticks),
        ),
    )  # fmt: skip
