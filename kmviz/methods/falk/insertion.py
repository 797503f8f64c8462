"""Rows added to a trained FaLK-SVM: the cover that a fit of all rows would find, found locally.

Beyond the paper, whose training set is fixed. Rows that come later are offered as centres after
all others. A new row changes the neighbourhoods that it falls into, and a row that it pushes out of
a k'-neighbourhood may be left uncovered: such rows become centres in their turn, which may cover
centres that come after them, and so on. Every change stays near where it began: around each centre
that changes, all whose k'-neighbourhoods can meet its own are covered again in their order, until
no more of them change.

The result is the cover of algorithm 1 on all rows in that order. Where rows stand at equal
distances from a centre, which of them are its neighbours may differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from kmviz.loops.falk_cover import accept
from kmviz.methods.falk.cover import Cover, equal_rows, find_cover

#: Distances that differ by less than this share may be the same, computed otherwise.
SLACK = 1e-9
#: Rows that were left uncovered, tried as centres at a time.
TRIED = 16
#: Where more than this share of the centres change, covering all rows again takes less time.
MOST = 0.1


class Grown:
    """The cover of all rows, and which centres keep their models.

    Attributes
    ----------
    cover : Cover
        `neighbors` are those of the centres that must be trained alone.
    reused : array of shape (M,)
        The number of each centre's model before; -1 where it must be trained.
    """

    def __init__(self, cover: Cover, reused: NDArray[np.intp]) -> None:
        self.cover, self.reused = cover, reused


def insert(
    index: Any, turn: NDArray[np.int32], before: Cover, reach: NDArray[np.float64], k: int,
    n_cover: int, n_jobs: int,
) -> Grown:  # fmt: skip
    """Cover all rows, of which those that `before` does not know are new.

    Parameters
    ----------
    index : EuclideanIndex
        Of all rows, the new ones last.
    turn : array of shape (N,)
        The place of each row in the order in which rows are offered as centres.
    before : Cover
        Its neighbourhoods are not read.
    reach : array of shape (M, 2)
        Distances of the k'-th and the k-th neighbour of each of its centres.
    """
    made = Insertion(index, turn, before, reach, k, n_cover)
    if len(made.changed) <= MOST * len(before.centers):
        return made.run()
    return cover_again(index, turn, before, k, n_cover, n_jobs)


def cover_again(
    index: Any, turn: NDArray[np.int32], before: Cover, k: int, n_cover: int, n_jobs: int
) -> Grown:
    """Cover all rows as a fit does; centres near to which no row came keep their models."""
    cover = find_cover(index.rows, index, np.argsort(turn), k, n_cover, n_jobs)
    number = np.full(len(turn), -1)
    number[before.centers] = np.arange(len(before.centers))
    is_same = (cover.neighbors < len(before.rank)).all(axis=1)
    reused = np.where(is_same, number[cover.centers], -1)
    cover.neighbors = cover.neighbors[reused < 0]
    return Grown(cover, reused)


class Insertion:
    """A cover that is mended around new rows; parameters as of `insert`.

    Attributes
    ----------
    changed : array
        Centres of before whose k-neighbourhood new rows fall into.
    near : dict
        The k'-neighbourhoods that are covered again, by the row in their middle.
    full : dict
        The k-neighbourhoods of centres that must be trained, if they stay.
    touched : array of shape (N,)
        Rows whose centre may be another one than before; `asked`: all that cover them were found.
    group, rank, center_of, first : arrays of shape (N,)
        Of rows that are covered again: the first equal one, rank and centre (eq. 11), and the turn
        of the first centre that covers them.
    """

    def __init__(
        self, index: Any, turn: NDArray[np.int32], before: Cover, reach: NDArray[np.float64],
        k: int, n_cover: int,
    ) -> None:  # fmt: skip
        self.index, self.turn, self.before, self.reach = index, turn, before, reach
        self.k, self.n_cover, self.n_before = k, n_cover, len(before.rank)
        self.near: dict[int, NDArray[np.int32]] = {}
        self.full: dict[int, NDArray[np.int32]] = {}
        self.looked_at = np.zeros(len(before.centers), dtype=bool)
        self.touched, self.asked = np.zeros((2, len(turn)), dtype=bool)
        self.touched[self.n_before :] = True
        self.group = np.arange(len(turn), dtype=np.int32)
        self.rank, self.center_of = np.full((2, len(turn)), -1, dtype=np.int32)
        self.first = np.empty(len(turn), dtype=np.int32)
        self.points = index.rows[before.centers]
        inside = cdist(index.rows[self.n_before :], self.points) <= reach[:, 1] * (1 + SLACK)
        self.changed = np.flatnonzero(inside.any(axis=0))
        self.n_added = int(inside.sum(axis=0).max(initial=0))

    def run(self) -> Grown:
        """Mend the cover."""
        self._insert()
        known: set[int] = set()  # centres that came or went, whose surroundings were looked at
        while True:
            rows, lists, kept = self._covered()
            standing = dict(zip(rows.tolist(), kept.tolist()))
            old = set(self.before.centers[self.looked_at].tolist())
            moved = [row for row, is_kept in standing.items() if is_kept != (row in old)]
            fresh = [row for row in moved if row not in known]
            known.update(fresh)
            self._look_around(np.array(fresh, dtype=np.int32))
            left = self._left(rows[kept], lists[kept])
            self._try(left[np.argsort(self.turn[left])][:TRIED])
            if not fresh and not len(left):
                return self._settled(rows[kept])

    def _insert(self) -> None:
        """Find the neighbourhoods that hold new rows, and what these pushed out of them."""
        centers = self.before.centers[self.changed]
        width = min(self.k + self.n_added, len(self.turn))
        found = self.index.query(self.points[self.changed], width)
        is_old = found < self.n_before
        was_inside = is_old & (np.cumsum(is_old, axis=1) <= self.n_cover)
        self.full = dict(zip(centers.tolist(), put_first(found[:, : self.k], centers)))
        moved = ~is_old[:, : self.n_cover].all(axis=1)
        self.touched[found[moved][was_inside[moved]]] = True
        owned = np.zeros(len(self.looked_at), dtype=bool)
        owned[self.changed[moved]] = True
        self.touched[: self.n_before] |= owned[self.before.center_of]
        new = self.index.rows[self.n_before :]
        radius = np.concatenate([self.reach[self.changed[moved], 0], np.zeros(len(new))])
        self._look(np.concatenate([self.points[self.changed[moved]], new]), radius)

    def _look(self, points: NDArray[Any], radius: NDArray[np.float64]) -> None:
        """Have the centres covered again that cover a touched row, all within radii of points."""
        bound = (self.reach[:, 0] + radius[:, None]) * (1 + SLACK)
        some = np.flatnonzero((cdist(points, self.points) <= bound).any(axis=0) & ~self.looked_at)
        rows = np.flatnonzero(self.touched & ~self.asked)
        self.asked |= self.touched
        gaps = cdist(self.index.rows[rows], self.points[some])
        some = some[(gaps <= self.reach[some, 0] * (1 + SLACK)).any(axis=0)]
        self.looked_at[some] = True
        if len(some):
            centers = self.before.centers[some]
            found = self.index.query(self.points[some], self.n_cover)
            self.near.update(zip(centers.tolist(), put_first(found, centers)))

    def _try(self, rows: NDArray[np.int32]) -> None:
        """Offer rows as centres."""
        if len(rows):
            found = put_first(self.index.query(self.index.rows[rows], self.k), rows)
            self.full.update(zip(rows.tolist(), found))
            self.near.update(zip(rows.tolist(), found[:, : self.n_cover]))

    def _look_around(self, rows: NDArray[np.int32]) -> None:
        """Look at what a centre that came or went may change."""
        if not len(rows):
            return
        lists = _stack(self.near, rows, self.n_cover)
        self.touched[lists] = True
        gone = np.isin(self.before.centers, rows)
        self.touched[: self.n_before] |= gone[self.before.center_of]
        points = self.index.rows[rows]
        self._look(points, np.linalg.norm(self.index.rows[lists[:, -1]] - points, axis=1))

    def _covered(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.bool_]]:
        """Cover what was looked at; returns rows in their turn, their lists, which are centres."""
        rows = np.array(list(self.near), dtype=np.int32)
        rows = rows[np.argsort(self.turn[rows])]
        lists = _stack(self.near, rows, self.n_cover)
        kept = np.empty(len(rows), np.bool_)
        some = np.unique(np.concatenate([lists.ravel(), np.flatnonzero(self.touched)]))
        self.group[some] = some[equal_rows(self.index.rows[some])]
        self.rank[some], self.first[some] = -1, len(self.turn)
        accept(rows, lists, self.n_cover, self.group, self.rank, self.center_of, 0, kept)
        return rows, lists, kept

    def _left(self, rows: NDArray[np.int32], lists: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the rows that no centre covers whose turn comes before their own."""
        # of several centres the first stays: it is written last
        self.first[self.group[lists[::-1]]] = self.turn[rows[::-1]][:, None]
        some = np.flatnonzero(self.touched)
        return some[self.first[self.group[some]] > self.turn[some]].astype(np.int32)

    def _settled(self, rows: NDArray[np.int32]) -> Grown:
        """Put together what was covered again and what was not (eq. 11)."""
        before = self.before
        centers = np.concatenate([before.centers[~self.looked_at], rows])
        centers = centers[np.argsort(self.turn[centers])].astype(before.centers.dtype)
        number = np.full(len(self.turn), -1, dtype=np.int32)
        number[centers] = np.arange(len(centers))
        moved = np.full(len(self.turn) - self.n_before, -1, dtype=np.int32)
        center_of = np.concatenate([number[before.centers][before.center_of], moved])
        rank = np.concatenate([before.rank, moved])
        some = np.flatnonzero(self.touched)
        center_of[some] = number[rows[self.center_of[self.group[some]]]]
        rank[some] = self.rank[self.group[some]]
        number[:] = -1
        number[before.centers] = np.arange(len(before.centers))
        reused = np.array([-1 if row in self.full else number[row] for row in centers.tolist()])
        neighbors = _stack(self.full, centers[reused < 0], self.k)
        return Grown(Cover(centers, neighbors, center_of, rank), reused)


def _stack(
    lists: dict[int, NDArray[np.int32]], rows: NDArray[np.int32], width: int
) -> NDArray[np.int32]:
    return np.array([lists[row] for row in rows.tolist()], dtype=np.int32).reshape(-1, width)


def put_first(lists: NDArray[np.int32], centers: NDArray[np.int32]) -> NDArray[np.int32]:
    """Give each centre rank 1 in its list, whatever its duplicates did."""
    lists = np.ascontiguousarray(lists)
    for members, center in zip(lists, centers):
        if members[0] != center:
            there = np.flatnonzero(members == center)
            end = there[0] if len(there) else len(members) - 1
            members[1 : end + 1] = members[:end].copy()
            members[0] = center
    return lists
