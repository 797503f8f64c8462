"""The k'-neighbourhood cover: greedy acceptance of candidate centres in a given order."""

from __future__ import annotations

import numpy as np

from kmviz.loops.compile import compiled_strict


@compiled_strict
def row_hashes(rows, out):
    """A number a row; equal rows have equal numbers, and hardly any others do."""
    for i in range(rows.shape[0]):
        value = np.uint64(1469598103934665603)
        for j in range(rows.shape[1]):
            bits = np.float64(rows[i, j] + 0.0).view(np.uint64)  # -0.0 becomes 0.0
            value = (value ^ bits) * np.uint64(0x9E3779B97F4A7C15)
            value ^= value >> np.uint64(29)
        out[i] = value


@compiled_strict
def next_uncovered(order, start, group, rank, out):
    """Fill `out` with the next uncovered points of the order.

    Returns how many were found and where to go on.
    """
    found = 0
    while start < order.shape[0] and found < out.shape[0]:
        point = order[start]
        if rank[group[point]] < 0:
            out[found] = point
            found += 1
        start += 1
    return found, start


@compiled_strict
def put_first(members, center):
    """Give the centre rank 1, whatever its duplicates did."""
    n = members.shape[0]
    place = n - 1  # not among them: the farthest goes
    for t in range(n):
        if members[t] == center:
            place = t
            break
    for t in range(place, 0, -1):
        members[t] = members[t - 1]
    members[0] = center


@compiled_strict
def accept(candidates, neighbors, n_cover, group, rank, center_of, n_centers, kept):
    """Make each candidate that is still uncovered a centre and cover its k'-neighbourhood.

    `rank` (-1 while uncovered) and `center_of` keep eq. 11: each point belongs to the centre in
    whose neighbourhood it has the lowest rank, to the earlier one among equals. Returns the new
    number of centres.
    """
    for c in range(candidates.shape[0]):
        kept[c] = rank[group[candidates[c]]] < 0
        if not kept[c]:
            continue
        members = neighbors[c]
        put_first(members, candidates[c])
        for t in range(n_cover):
            point = group[members[t]]
            if rank[point] < 0 or t < rank[point]:
                rank[point] = t
                center_of[point] = n_centers
        n_centers += 1
    return n_centers


def warm() -> None:
    """Compile for the types in use."""
    for dtype in (np.float32, np.float64):
        row_hashes(np.ones((2, 2), dtype=dtype), np.empty(2, dtype=np.uint64))
    order, rank = np.zeros(1, dtype=np.int32), np.full(1, -1, dtype=np.int32)
    for offered in (order, order.astype(np.intp)):
        next_uncovered(offered, 0, order, rank, order.copy())
    accept(order, order.reshape(1, 1), 1, order, rank, order.copy(), 0, np.empty(1, dtype=np.bool_))
