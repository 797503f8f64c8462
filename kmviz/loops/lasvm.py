"""LASVM: an SVM that sees one row at a time (Bordes, Ertekin, Weston and Bottou 2005).

The expansion holds m rows in slots 0 to m - 1, each with its weight beta in [0, C] or [-C, 0] and
its residual g = y - sum_s beta_s K_s. PROCESS brings a row in and takes weight to it, REPROCESS
takes weight between the two worst rows of the expansion and puts out rows without weight that can
no longer get any. A step moves weight from j to i: beta_i += s, beta_j -= s, g -= s (K_i - K_j).

Slots are arrays that a caller makes: see `kmviz.methods.rivals.lasvm`. Kernel values of the
expansion are kept in `K` where it has room for them, and computed when needed where it has none.
"""

from __future__ import annotations

import numpy as np

from kmviz.loops.compile import compiled
from kmviz.loops.kernel import RADIAL, kernel_value
from kmviz.loops.rows import kernel_row

TINY = 1e-12
TIE = 1e-10  # residuals that are closer are equal: steps end in ties, which rounding would break


@compiled
def _largest(m, C, slots):
    """The slot with the largest g among those whose weight may grow; -1 where there is none."""
    _, sides, beta, g, _ = slots
    best, place = -np.inf, -1
    for s in range(m):
        if g[s] > best + TIE and beta[s] < (C if sides[s] > 0 else 0.0):
            best, place = g[s], s
    return place


@compiled
def _smallest(m, C, slots):
    """The slot with the smallest g among those whose weight may shrink; -1 where there is none."""
    _, sides, beta, g, _ = slots
    best, place = np.inf, -1
    for s in range(m):
        if g[s] < best - TIE and beta[s] > (0.0 if sides[s] > 0 else -C):
            best, place = g[s], s
    return place


@compiled
def _row_of(code, s, m, points, K, out):
    """Kernel values of slot s with all slots."""
    if K.shape[0]:
        row = K[s]
        for t in range(m):
            out[t] = row[t]
    else:
        kernel_row(code[0], code[1], code[2], code[3], points, m, points[:, s].copy(), out)


@compiled
def _snapped(value, low, C):
    """A weight next to a bound is there: rounding would leave room for steps without end."""
    if value - low < TINY * C:
        return low
    return low + C if low + C - value < TINY * C else value


@compiled
def _step(code, i, j, m, C, points, K, slots, scratch):
    """Take weight from slot j to slot i, as far as the boxes and the optimum allow."""
    own, sides, beta, g, _ = slots
    row_i, row_j = scratch[0], scratch[1]
    _row_of(code, i, m, points, K, row_i)
    _row_of(code, j, m, points, K, row_j)
    step = (g[i] - g[j]) / max(own[i] + own[j] - 2.0 * row_i[j], TINY)
    low_i, low_j = (0.0 if sides[i] > 0 else -C), (0.0 if sides[j] > 0 else -C)
    step = min(step, low_i + C - beta[i], beta[j] - low_j)
    beta[i] = _snapped(beta[i] + step, low_i, C)
    beta[j] = _snapped(beta[j] - step, low_j, C)
    for t in range(m):
        g[t] -= step * (row_i[t] - row_j[t])


@compiled
def _insert(x, side, residual, own_value, row, at, m, points, K, slots, slot_of):
    """Put a row into slot m, without weight; `row` holds its kernel values."""
    own, sides, beta, g, origin = slots
    for f in range(points.shape[0]):
        points[f, m] = x[f]
    own[m], sides[m], beta[m], g[m], origin[m] = own_value, side, 0.0, residual, at
    slot_of[at] = m
    if K.shape[0]:
        for t in range(m):
            K[m, t] = row[t]
            K[t, m] = row[t]
        K[m, m] = own_value


@compiled
def _remove(s, m, points, K, slots, slot_of):
    """Empty slot s: the last slot moves there. Returns the number of slots in use."""
    own, sides, beta, g, origin = slots
    last = m - 1
    if origin[s] >= 0:
        slot_of[origin[s]] = -1
    if s != last:
        for f in range(points.shape[0]):
            points[f, s] = points[f, last]
        own[s], sides[s], beta[s] = own[last], sides[last], beta[last]
        g[s], origin[s] = g[last], origin[last]
        if origin[s] >= 0:
            slot_of[origin[s]] = s
        if K.shape[0]:
            for t in range(last):
                K[s, t] = K[last, t]
            for t in range(last):
                K[t, s] = K[s, t]
            K[s, s] = own[s]
    return last


@compiled
def _reprocess(code, m, C, tol, points, K, slots, scratch, slot_of):
    """REPROCESS: one step between the two worst slots, then put out what is of no more use.

    Returns the number of slots and whether a step was taken.
    """
    _, sides, beta, g, _ = slots
    i, j = _largest(m, C, slots), _smallest(m, C, slots)
    if i < 0 or j < 0 or g[i] - g[j] <= tol:
        return m, False
    _step(code, i, j, m, C, points, K, slots, scratch)
    i, j = _largest(m, C, slots), _smallest(m, C, slots)
    if i < 0 or j < 0:
        return m, True
    top, bottom = g[i], g[j]
    s = 0
    while s < m:
        useless = g[s] <= bottom + TIE if sides[s] > 0 else g[s] >= top - TIE
        if beta[s] == 0.0 and useless and m > 2:
            m = _remove(s, m, points, K, slots, slot_of)
        else:
            s += 1
    return m, True


@compiled
def _process(code, at, X, side, C, tol, m, points, K, slots, scratch, slot_of):
    """PROCESS: bring row `at` in if it violates the margin, and take weight to it.

    As long as no row is there to take weight from, it comes in without any. Returns the number of
    slots.
    """
    beta, g = slots[2], slots[3]
    x, row = X[at], scratch[2]
    kernel_row(code[0], code[1], code[2], code[3], points, m, x, row)
    residual = side[at]
    for t in range(m):
        residual -= beta[t] * row[t]
    partner = _smallest(m, C, slots) if side[at] > 0 else _largest(m, C, slots)
    if partner >= 0 and (residual - g[partner]) * side[at] <= tol:
        return m
    own = kernel_value(code[0], code[1], code[2], code[3], x, x)
    _insert(x, side[at], residual, own, row, at, m, points, K, slots, slot_of)
    if partner >= 0:
        i, j = (m, partner) if side[at] > 0 else (partner, m)
        _step(code, i, j, m + 1, C, points, K, slots, scratch)
    return m + 1


@compiled
def learn(code, X, side, order, start, C, tol, m, points, K, slots, scratch, slot_of):
    """See the rows of `order` from place `start` on, a PROCESS and a REPROCESS for each.

    Stops where the slots are full. Returns the place reached and the number of slots.
    """
    for place in range(start, order.shape[0]):
        if m == points.shape[1]:
            return place, m
        at = order[place]
        if slot_of[at] >= 0:
            continue
        m = _process(code, at, X, side, C, tol, m, points, K, slots, scratch, slot_of)
        m, _ = _reprocess(code, m, C, tol, points, K, slots, scratch, slot_of)
    return order.shape[0], m


@compiled
def finish(code, C, tol, budget, m, points, K, slots, scratch, slot_of):
    """REPROCESS until no pair violates by more than tol; returns slots, and steps left."""
    while budget > 0:
        m, moved = _reprocess(code, m, C, tol, points, K, slots, scratch, slot_of)
        if not moved:
            return m, budget
        budget -= 1
    return m, 0


@compiled
def middle(m, C, slots):
    """(g_i + g_j) / 2 of the two worst slots: what is added to the sum."""
    g = slots[3]
    i, j = _largest(m, C, slots), _smallest(m, C, slots)
    if i < 0 or j < 0:
        return 0.0
    return 0.5 * (g[i] + g[j])


def warm() -> None:
    """Compile for the types in use."""
    code = (RADIAL, 1.0, 0.0, 1)
    X, side, order = np.arange(4.0).reshape(4, 1), np.array([1.0, -1.0, 1.0, -1.0]), np.arange(4)
    points, K = np.empty((1, 8)), np.empty((8, 8))
    slots = (*(np.empty(8) for _ in range(4)), np.empty(8, dtype=np.int64))
    scratch, slot_of = np.empty((3, 8)), np.full(4, -1)
    _, m = learn(code, X, side, order, 0, 1.0, 1e-3, 0, points, K, slots, scratch, slot_of)
    finish(code, 1.0, 1e-3, 10, m, points, K, slots, scratch, slot_of)
    middle(m, 1.0, slots)
