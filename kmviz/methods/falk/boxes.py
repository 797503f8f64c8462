"""Boxes that divide space so that each holds about as many rows as the others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.machines.soundness import shaped, within

#: A halo holds the whole neighbourhood of this share of the rows whose neighbourhoods leave a box.
REACHED = 0.95


class Boxes:
    """Boxes with sides along the axes, made by halving the fullest one until there are enough.

    A cut goes through the median of the sample's rows in the box, across the side along which
    they vary most: boxes follow the density, so that crowded places get small ones.

    Parameters
    ----------
    sample : array of shape (n, d)
        Rows that stand for all of them.
    n_boxes : int
        How many boxes; fewer where the sample's rows are too much alike to be told apart.

    Attributes
    ----------
    axis, cut : arrays of shape (n_cuts,)
        A row goes to the second side of a cut where its coordinate reaches `cut`.
    child : array of shape (n_cuts, 2)
        The cut that comes next on either side, or -1 - the number of a box.
    low, high : arrays of shape (n_boxes, d)
        The corners of the boxes; the outer ones are open.
    """

    axis: NDArray[np.intp]
    cut: NDArray[np.float64]
    child: NDArray[np.intp]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    def __init__(self, sample: NDArray[Any], n_boxes: int) -> None:
        d = sample.shape[1]
        axes: list[int] = []
        cuts: list[float] = []
        children: list[list[int]] = []
        boxes = [(sample, np.full(d, -np.inf), np.full(d, np.inf), (-1, 0))]
        done: list[Any] = []
        while boxes and len(boxes) + len(done) < n_boxes:
            fullest = max(range(len(boxes)), key=lambda i: len(boxes[i][0]))
            rows, low, high, above = boxes.pop(fullest)
            found = _median_cut(rows)
            if found is None:
                done.append((rows, low, high, above))
                continue
            axis, cut = found
            if above[0] >= 0:
                children[above[0]][above[1]] = len(axes)
            right = rows[:, axis] >= cut
            inner_high, inner_low = high.copy(), low.copy()
            inner_high[axis] = inner_low[axis] = cut
            boxes.append((rows[~right], low, inner_high, (len(axes), 0)))
            boxes.append((rows[right], inner_low, high, (len(axes), 1)))
            axes.append(axis)
            cuts.append(cut)
            children.append([-1, -1])
        for number, (_, _, _, above) in enumerate(boxes + done):
            if above[0] >= 0:
                children[above[0]][above[1]] = -1 - number
        self.axis, self.cut = np.array(axes, dtype=np.intp), np.array(cuts)
        self.child = np.array(children, dtype=np.intp).reshape(-1, 2)
        self.low = np.array([low for _, low, _, _ in boxes + done])
        self.high = np.array([high for _, _, high, _ in boxes + done])

    def __len__(self) -> int:
        return len(self.low)

    def of(self, X: NDArray[Any]) -> NDArray[np.intp]:
        """Return the box that each row stands in."""
        at = np.full(len(X), 0 if len(self.axis) else -1)
        while len(going := np.flatnonzero(at >= 0)):
            cut = at[going]
            side = X[going, self.axis[cut]] >= self.cut[cut]
            at[going] = self.child[cut, side.astype(np.intp)]
        return -1 - at

    def distance(self, X: NDArray[Any], box: int) -> NDArray[np.float64]:
        """Return how far each row is from a box; 0 inside."""
        beyond = np.maximum(np.maximum(self.low[box] - X, X - self.high[box]), 0.0)
        return np.sqrt(np.einsum("ij,ij->i", beyond, beyond))

    def inside(self, X: NDArray[Any], box: Any) -> NDArray[np.float64]:
        """Return how far rows of a box, or each of its own one, are from its nearest side."""
        return np.minimum(X - self.low[box], self.high[box] - X).min(axis=1)

    def gap(self, first: int, second: int) -> float:
        """Return how far two boxes are from one another."""
        between = np.maximum(
            self.low[first] - self.high[second], self.low[second] - self.high[first]
        )
        return float(np.linalg.norm(np.maximum(between, 0.0)))

    def part(self, box: int, sample: NDArray[Any], n_boxes: int) -> Boxes:
        """Return boxes that divide one of these, made from rows that stand in it."""
        within_it = Boxes(sample, n_boxes)
        within_it.low = np.maximum(within_it.low, self.low[box])
        within_it.high = np.minimum(within_it.high, self.high[box])
        return within_it

    def check(self) -> None:
        """Refuse arrays that do not fit together (ValueError)."""
        n, d = np.shape(self.low)
        shaped("axis", self.axis, n - 1)
        within("axis", self.axis, 0, d)
        shaped("cut", self.cut, n - 1)
        shaped("child", self.child, n - 1, 2)
        shaped("high", self.high, n, d, finite=False)
        shaped("low", self.low, n, d, finite=False)
        if n == 1:
            return
        # every cut but the first and every box follows one cut, an earlier one: no circle
        if not np.array_equal(np.sort(self.child.ravel()), [*range(-n, 0), *range(1, n - 1)]):
            raise ValueError("child does not lead to every box once.")
        at, _ = np.nonzero(self.child >= 0)
        if not (self.child[self.child >= 0] > at).all():
            raise ValueError("child leads back.")


class Reach:
    """How far out of the pieces of a box the neighbourhoods reach that leave the box.

    Parameters
    ----------
    pieces : Boxes
        Those that divide the box; one alone is the box.
    rows : array of shape (n, d)
        Rows of the box whose neighbourhoods leave it.
    radius : array of shape (n,)
        How far these reach around their row.
    """

    def __init__(self, pieces: Boxes, rows: NDArray[Any], radius: NDArray[np.float64]) -> None:
        self.pieces, self.reach = pieces, np.zeros(len(pieces))
        piece, beyond = pieces.of(rows), radius - self._inside(rows)
        for own in np.unique(piece):
            self.reach[own] = np.quantile(beyond[piece == own], REACHED)

    def _inside(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Return how far each row of the box is from the nearest side of its piece."""
        return self.pieces.inside(X, self.pieces.of(X))

    def holds(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        """Tell which rows outside the box they reach."""
        found = np.zeros(len(X), dtype=bool)
        for piece in np.flatnonzero(self.reach).tolist():
            reach = self.reach[piece]
            low, high = self.pieces.low[piece] - reach, self.pieces.high[piece] + reach
            near = ~found
            for column, least, most in zip(X.T, low, high):  # most rows are far from most pieces
                near &= (column >= least) & (column <= most)
            there = np.flatnonzero(near)
            found[there] = self.pieces.distance(X[there], piece) <= reach
        return found

    def around(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Return how far around each row of the box all rows are known."""
        return self._inside(X) + self.reach[self.pieces.of(X)]


def _median_cut(rows: NDArray[Any]) -> tuple[int, float] | None:
    """Return the axis along which rows vary most, and where it halves them."""
    for axis in np.argsort(-np.var(rows, axis=0), kind="stable") if len(rows) > 1 else ():
        column = rows[:, axis]
        cut = float(np.median(column))
        if column.min() < cut:
            return int(axis), cut
        above = column[column > cut]  # half of them or more are equal
        if len(above):
            return int(axis), float(above.min())
    return None
