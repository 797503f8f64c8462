"""Where to split a node: a threshold t on its score, a column for each side.

Both searches lower the squared error of eq. 6,
c(t, j_l, j_r) = ||c_l X_{L,j_l} - r_L||^2 + ||c_r X_{R,j_r} - r_R||^2,
over cuts of the rows sorted by score. A cut stands between two different scores, so neither side
is empty; the threshold is their midpoint.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.loops.svtree import sweep

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_TINY = 1e-200  # keeps 0 / 0 of an all-zero column at 0


@dataclass(frozen=True)
class Gain:
    """By how much one column lowers the squared error of a residual.

    Attributes
    ----------
    scaled : bool
        Section 4.3: scale the column by the best c; otherwise c = 1.
    centered : bool
        Fit an offset beside the column.
    ridge : float
        Added to the column's squared length, against columns that are nearly 0.
    """

    scaled: bool = True
    centered: bool = False
    ridge: float = _TINY

    def of(self, columns: Floats, residual: Floats) -> Floats:
        """Return the drop of the squared error for each column."""
        n = len(residual)
        P, Q = residual @ columns, np.einsum("ij,ij->j", columns, columns)
        if self.centered:
            S, total = columns.sum(axis=0), residual.sum()
            P, Q = P - S * total / n, np.maximum(Q - S * S / n, 0.0)
            return P * P / (Q + self.ridge) + total * total / n
        return P * P / (Q + self.ridge) if self.scaled else 2.0 * P - Q

    def scale(self, column: Floats, residual: Floats) -> float:
        """Return c of Section 4.3: X'r / X'X, or 1."""
        if not self.scaled:
            return 1.0
        return float(column @ residual / (column @ column + self.ridge))

    def sweep(self, columns: Floats, residual: Floats, order: Ints) -> Floats:
        """Return, for each k, the largest drop over the first k + 1 rows of `order`."""
        gains = np.empty(len(order))
        sweep(columns, residual, order, self.scaled, self.centered, self.ridge, gains)
        return gains


@dataclass(frozen=True)
class Split:
    """A cut of a node's rows and the columns of its two sides.

    `turns` counts how often Algorithm 3 went round its loop: h(n, m) of section 4.2.
    """

    threshold: float
    left_column: int
    right_column: int
    gain: float
    turns: int = 0


def cuts(score: Floats, smallest: int = 1) -> tuple[Ints, Ints]:
    """Return the rows sorted by score and every k such that k rows may go left.

    Both sides keep `smallest` rows, and equal scores stay together.
    """
    order = np.argsort(score, kind="stable")
    ordered = score[order]
    middle = 0.5 * (ordered[:-1] + ordered[1:])
    apart = (ordered[:-1] <= middle) & (middle < ordered[1:])  # rounding may join neighbours
    k = np.flatnonzero(apart) + 1
    return order, k[(k >= smallest) & (k <= len(score) - smallest)]


def threshold_at(score: Floats, order: Ints, k: int) -> float:
    """Return the midpoint between the k-th score and the next."""
    return float(0.5 * (score[order[k - 1]] + score[order[k]]))


def exact_split(
    columns: Floats, residual: Floats, score: Floats, gain: Gain, smallest: int = 1
) -> Split | None:
    """Find the best (t, j_l, j_r) of all O(nm^2) in O(nm), or None where no cut exists.

    Running sums over the sorted rows give the best column of every left side in one sweep and
    of every right side in another, from the other end.
    """
    order, possible = cuts(score, smallest)
    if not len(possible):
        return None
    columns = np.ascontiguousarray(columns)
    left = gain.sweep(columns, residual, order)
    right = gain.sweep(columns, residual, np.ascontiguousarray(order[::-1]))
    total = left[possible - 1] + right[len(order) - possible - 1]
    k = int(possible[np.argmax(total)])
    return _columns_at(columns, residual, score, order, k, gain)


def alternating_split(
    columns: Floats, residual: Floats, score: Floats, gain: Gain, rng: Any, smallest: int = 1
) -> Split | None:
    """Algorithm 3: from a random t, columns and threshold in turn while the cost decreases."""
    order, possible = cuts(score, smallest)
    if not len(possible):
        return None
    k = int(possible[rng.randint(len(possible))])
    best = _columns_at(columns, residual, score, order, k, gain)
    noise, turns = 1e-12 * float(residual @ residual), 0
    while True:
        turns += 1
        k = _best_cut(columns, residual, order, possible, k, best, gain)
        found = _columns_at(columns, residual, score, order, k, gain)
        if found.gain <= best.gain + noise:
            return replace(best, turns=turns)
        best = found


def _columns_at(
    columns: Floats, residual: Floats, score: Floats, order: Ints, k: int, gain: Gain
) -> Split:
    """Algorithm 4, optimize-columns: the best column of each side of the cut after k rows."""
    left, right = order[:k], order[k:]
    gains_l = gain.of(columns[left], residual[left])
    gains_r = gain.of(columns[right], residual[right])
    j_l, j_r = int(gains_l.argmax()), int(gains_r.argmax())
    return Split(threshold_at(score, order, k), j_l, j_r, float(gains_l[j_l] + gains_r[j_r]))


def _best_cut(
    columns: Floats, residual: Floats, order: Ints, possible: Ints, k: int, at: Split, gain: Gain
) -> int:
    """Algorithm 5, optimize-threshold: the best cut for given columns, keeping their c."""
    errors = []
    for side, j in ((order[:k], at.left_column), (order[k:], at.right_column)):
        x = columns[:, j]
        mean, shift = (x[side].mean(), residual[side].mean()) if gain.centered else (0.0, 0.0)
        c = gain.scale(x[side] - mean, residual[side] - shift)
        errors.append((residual - shift - c * (x - mean))[order] ** 2)
    # ||c_l X_{L,j_l} - r_L||^2 + ||c_r X_{R,j_r} - r_R||^2 for every cut at once
    left, right = np.cumsum(errors[0]), np.cumsum(errors[1])
    cost = left[possible - 1] + right[-1] - right[possible - 1]
    return int(possible[np.argmin(cost)])
