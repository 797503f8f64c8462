"""The passes of a step that takes weight from one row to another, chosen by second order.

Each row has a value g; i is the largest among those that may take part, j the partner with the
largest gain (g_i - g_j)^2 / (K_ii + K_jj - 2 K_ij). Maxima of floats do not vectorise, those of
integers do: they are taken on keys, block by block, and only the best block is looked through.
"""

from __future__ import annotations

import numpy as np

from kmviz.loops.compile import part_finite

BLOCK = 64
BIG = 1e30  # an offset that keeps a row out
TINY = 1e-12  # the least curvature
LEAST = np.int64(-(2**63))
POSITIVE = np.int64(0x7FFFFFFFFFFFFFFF)


@part_finite
def _key(value):
    """An integer that is ordered as the float64 it is made of."""
    bits = np.float64(value).view(np.int64)
    return np.int64(bits ^ (np.int64(bits >> np.int64(63)) & POSITIVE))


@part_finite
def _value(key):
    return np.int64(key ^ (np.int64(key >> np.int64(63)) & POSITIVE)).view(np.float64)


@part_finite
def move(m, step, row_i, row_j, g, offset, blocks):
    """g -= s (K_i - K_j); returns the largest g + offset, and notes its key of each block."""
    for t in range(m):
        g[t] -= step * (row_i[t] - row_j[t])
    best = LEAST
    for b in range((m + BLOCK - 1) // BLOCK):
        most = LEAST
        for t in range(b * BLOCK, min(m, b * BLOCK + BLOCK)):
            most = max(most, _key(g[t] + offset[t]))
        blocks[b] = most
        best = max(best, most)
    return _value(best)


@part_finite
def largest(top, g, offset, blocks):
    """The first place where g + offset is the largest, by what `move` returned and noted."""
    t = _first_of(top, blocks)
    while g[t] + offset[t] != top and t < len(g) - 1:
        t += 1
    return t


@part_finite
def gains(m, top, own, row, g, offset, diagonal, blocks):
    """The largest gain of a partner and the largest violation top - (g + offset), 0 at least.

    Notes the key of the largest gain of each block.
    """
    best, worst = np.int64(0), np.int64(0)
    for b in range((m + BLOCK - 1) // BLOCK):
        most, far = np.int64(0), np.int64(0)
        for t in range(b * BLOCK, min(m, b * BLOCK + BLOCK)):
            violation = max(top - (g[t] + offset[t]), 0.0)
            curvature = max(own + diagonal[t] - 2.0 * row[t], TINY)
            most = max(most, np.float64(violation * violation / curvature).view(np.int64))
            far = max(far, np.float64(violation).view(np.int64))
        blocks[b] = most
        best, worst = max(best, most), max(worst, far)
    return np.int64(best).view(np.float64), np.int64(worst).view(np.float64)


@part_finite
def partner(m, best, top, own, row, g, offset, diagonal, blocks):
    """The place with the largest gain, by what `gains` returned and noted."""
    first = _first_of(best, blocks)
    place, most = first, -1.0
    for t in range(first, min(m, first + BLOCK)):
        violation = max(top - (g[t] + offset[t]), 0.0)
        gain = violation * violation / max(own + diagonal[t] - 2.0 * row[t], TINY)
        if gain > most:
            place, most = t, gain
    return place


@part_finite
def _first_of(best, blocks):
    """The first place of the first block that holds the best of all."""
    key, b = _key(best), 0
    while blocks[b] != key and b < len(blocks) - 1:
        b += 1
    return b * BLOCK


@part_finite
def noted(m):
    """Room for the keys of the blocks of m values."""
    return np.empty((m + BLOCK - 1) // BLOCK, dtype=np.int64)


@part_finite
def ends(n, g, beta, lower, upper):
    """max g among those that may grow, min g among those that may shrink."""
    top, bottom = -BIG, BIG
    for t in range(n):
        if beta[t] < upper[t]:
            top = max(top, g[t])
        if beta[t] > lower[t]:
            bottom = min(bottom, g[t])
    return top, bottom
