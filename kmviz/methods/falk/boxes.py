"""Boxes that halve space again and again, and which rows near a box its training needs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.methods.falk.neighbors import EuclideanIndex

#: How far neighbourhoods reach is estimated in parts of a box: it is halved so often, as long as a
#: part holds so many rows of the sample. Around so many rows of the sample it is measured.
FINER, IN_PART, MEASURED = 6, 32, 20_000
#: Of the neighbourhoods in a part, the share that a halo holds whole.
HELD = 0.95
#: Shares of their reach, tried until halos hold no more rows than boxes do.
SHARES = (1.0, 0.7, 0.5, 0.35, 0.25, 0.15, 0.1, 0.0)


class Boxes:
    """2^depth boxes with sides along the axes: a tree of cuts.

    Below cut i are cuts 2 i + 1 and 2 i + 2, and below the last cuts the boxes.

    Parameters
    ----------
    axis, cut : arrays of shape (2^depth - 1,)
        A row goes to the second side of a cut where its coordinate reaches `cut`.
    """

    def __init__(self, axis: Any, cut: Any) -> None:
        self.axis, self.cut = np.array(axis, dtype=np.intp), np.array(cut, dtype=np.float64)
        self.depth = len(self.axis).bit_length()

    @classmethod
    def halving(cls, sample: NDArray[Any], depth: int) -> Boxes:
        """Return boxes that hold about as many rows of a sample each."""
        axis, cut, parts = [], [], [sample]
        for number in range(2**depth - 1):
            rows, parts[number] = parts[number], sample[:0]
            column, median = median_cut(rows)
            is_second = rows[:, column] >= median
            parts += [rows[~is_second], rows[is_second]]
            axis.append(column)
            cut.append(median)
        return cls(axis, cut)

    def __len__(self) -> int:
        return 2**self.depth

    def of(self, X: NDArray[Any]) -> NDArray[np.intp]:
        """Return the box that each row stands in."""
        rows, node = np.arange(len(X)), np.zeros(len(X), dtype=np.intp)
        for _ in range(self.depth):
            node = 2 * node + 1 + (X[rows, self.axis[node]] >= self.cut[node])
        return node - (len(self) - 1)

    def near(
        self, X: NDArray[Any], radius: NDArray[np.float64]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return pairs of a row and a box: its own, and those that no cut parts by its radius."""
        rows, node = np.arange(len(X)), np.zeros(len(X), dtype=np.intp)
        for _ in range(self.depth):
            beyond = X[rows, self.axis[node]] - self.cut[node]
            is_first, is_second = beyond < radius[rows], beyond >= -radius[rows]
            rows = np.concatenate([rows[is_first], rows[is_second]])
            node = np.concatenate([2 * node[is_first] + 1, 2 * node[is_second] + 2])
        return rows, node - (len(self) - 1)


class Halos:
    """Which boxes need a row: its own, and those that the neighbourhoods around it reach.

    Parameters
    ----------
    sample : array of shape (n, d)
    depth : int
        Of the boxes.
    k : float
        Rows of the sample in a neighbourhood; it may be less than one.

    Attributes
    ----------
    boxes, parts : Boxes
        Boxes, and the parts that they are halved into.
    radius : array of shape (len(parts),)
        How far neighbourhoods reach, which follows the density.
    share : float
        1, or the share of their reach at which halos hold no more rows than boxes do.
    """

    def __init__(self, sample: NDArray[Any], depth: int, k: float) -> None:
        finer = int(np.log2(max(len(sample) / IN_PART / 2**depth, 1)))
        self.parts = Boxes.halving(sample, depth + min(FINER, finer))
        n_cuts = 2**depth - 1
        self.boxes = Boxes(self.parts.axis[:n_cuts], self.parts.cut[:n_cuts])
        reach, in_box = self._reach(sample, k), np.bincount(self.boxes.of(sample))
        for self.share in SHARES:
            self.radius = self.share * reach
            needed = np.bincount(self.needing(sample)[1], minlength=len(in_box))
            if (needed <= 2 * in_box).all():
                break

    def _reach(self, sample: NDArray[Any], k: float) -> NDArray[np.float64]:
        """Return how far the neighbourhoods in each part reach."""
        some = sample[:: -(-len(sample) // MEASURED)]
        width = min(max(2, int(np.ceil(k))) + 1, len(sample))  # a row is its own neighbour
        farthest = EuclideanIndex(sample).query(some, width)[:, -1]
        reach = np.linalg.norm(sample[farthest] - some, axis=1)
        part, found = self.parts.of(some), np.zeros(len(self.parts))
        for number in np.unique(part):
            found[number] = np.quantile(reach[part == number], HELD)
        return found

    def needing(self, X: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return pairs of a row and a box that needs it."""
        return self.boxes.near(X, self.radius[self.parts.of(X)])


def median_cut(rows: NDArray[Any]) -> tuple[int, float]:
    """Return the axis along which rows vary most, and where it halves them.

    Rows that are all equal stay on the first side.
    """
    for axis in np.argsort(-np.var(rows, axis=0), kind="stable") if len(rows) > 1 else ():
        column = rows[:, axis]
        cut = float(np.median(column))
        if column.min() < cut:
            return int(axis), cut
        above = column[column > cut]  # half of them or more are equal
        if len(above):
            return int(axis), float(above.min())
    return 0, np.inf
