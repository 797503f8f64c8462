"""Centres of the local models: a k'-neighbourhood cover of the training set (section 4.2.1).

Points are visited in random order (algorithm 1) or in falling level of a cover tree (eq. 9). One
that no centre covers yet becomes a centre and covers its k' nearest points. Every point belongs to
the centre in whose neighbourhood it has the lowest rank (eq. 11).

Departures. Algorithm 1 retrieves the neighbours of `x[i]` where it means `x[index]`. Neighbours of
several candidates are fetched at a time; those that an earlier one of the batch covers are dropped,
so that the cover is the one of the paper's loop. Equal rows are covered together, and the centre
has rank 1 among its own duplicates: otherwise many copies of few points become centres each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.loops.falk_cover import accept, next_uncovered, row_hashes
from kmviz.methods.progress import report

#: Candidates fetched at a time: a quarter of what the uncovered points would fill exactly.
BATCH_SHARE = 0.25
SMALLEST_BATCH, LARGEST_BATCH = 16, 4096


class Cover:
    """Centres, their neighbourhoods, and which centre each point belongs to.

    Attributes
    ----------
    centers : array of shape (M,)
        Training rows that are centres, in the order they were chosen.
    neighbors : array of shape (M, k)
        Their neighbourhoods, nearest first; the centre itself comes first.
    center_of : array of shape (N,)
        For each training row, the place in `centers` of its centre: cnt of eq. 11.
    rank : array of shape (N,)
        Its rank there, from 0 (the centre).
    """

    def __init__(
        self, centers: NDArray[Any], neighbors: NDArray[Any], center_of: NDArray[Any],
        rank: NDArray[Any],
    ) -> None:  # fmt: skip
        self.centers, self.neighbors = centers, neighbors
        self.center_of, self.rank = center_of, rank


def find_cover(
    rows: NDArray[Any], index: Any, order: NDArray[np.intp], k: int, n_cover: int, n_jobs: int = 1
) -> Cover:
    """Cover all rows with k'-neighbourhoods, visiting candidates in the given order."""
    n, group = len(rows), equal_rows(rows)
    rank, center_of = np.full(n, -1, dtype=np.int32), np.full(n, -1, dtype=np.int32)
    centers: list[NDArray[Any]] = []
    neighborhoods: list[NDArray[Any]] = []
    n_centers, start = 0, 0
    while start < n:
        room = np.empty(_batch(n - start, n_cover), dtype=np.int32)
        found, start = next_uncovered(order, start, group, rank, room)
        candidates = room[:found]
        if not found:
            break
        neighbors = index.query(rows[candidates], k, n_jobs)
        kept = np.empty(found, dtype=np.bool_)
        n_centers = accept(candidates, neighbors, n_cover, group, rank, center_of, n_centers, kept)
        centers.append(candidates[kept])
        neighborhoods.append(neighbors[kept])
        report(0.5 * start / n, f"{n_centers} centres")
    return Cover(
        np.concatenate(centers), np.concatenate(neighborhoods), center_of[group], rank[group]
    )


def _batch(remaining: int, n_cover: int) -> int:
    return int(np.clip(BATCH_SHARE * remaining / n_cover, SMALLEST_BATCH, LARGEST_BATCH))


def equal_rows(rows: NDArray[Any]) -> NDArray[np.int32]:
    """Return for each row the first row that equals it (mostly itself)."""
    n = len(rows)
    group = np.arange(n, dtype=np.int32)
    hashes = np.empty(n, dtype=np.uint64)
    row_hashes(np.ascontiguousarray(rows), hashes)
    order = np.argsort(hashes)
    suspects = np.flatnonzero(hashes[order[1:]] == hashes[order[:-1]])
    if not len(suspects):
        return group
    some = np.unique(np.concatenate([order[suspects], order[suspects + 1]]))
    _, first, which = np.unique(rows[some], axis=0, return_index=True, return_inverse=True)
    group[some] = some[first[which.ravel()]]
    return group
