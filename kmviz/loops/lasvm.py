"""LASVM: an SVM that sees one row at a time (Bordes, Ertekin, Weston and Bottou 2005).

The expansion holds m rows in slots 0 to m - 1, each with its weight beta in [0, C] or [-C, 0] and
its residual g = y - sum_s beta_s K_s. PROCESS brings a row in and takes weight to it, REPROCESS
takes weight between the two worst rows of the expansion and puts out rows without weight that can
no longer get any. A step moves weight from j to i: beta_i += s, beta_j -= s, g -= s (K_i - K_j).

Slots are arrays that a caller makes: see `kmviz.methods.rivals.lasvm`. Kernel rows are computed
when a step needs them: four for each row that is seen, which costs no more than to keep them would.
"""

from __future__ import annotations

import numpy as np

from kmviz.loops.compile import compiled
from kmviz.loops.kernel import RADIAL, kernel_value
from kmviz.loops.rows import kernel_row

TINY = 1e-12
TIE = 1e-10  # residuals that are closer are equal: steps end in ties, which rounding would break


@compiled
def _extremes(m, C, slots):
    """The slot with the largest g among those whose weight may grow, and that with the smallest
    among those whose weight may shrink; -1 where there is none."""
    _, sides, beta, g, _ = slots
    top, bottom, i, j = -np.inf, np.inf, -1, -1
    for s in range(m):
        if g[s] > top + TIE and beta[s] < (C if sides[s] > 0 else 0.0):
            top, i = g[s], s
        if g[s] < bottom - TIE and beta[s] > (0.0 if sides[s] > 0 else -C):
            bottom, j = g[s], s
    return i, j


@compiled
def _row_of(code, s, m, points, out):
    """Kernel values of slot s with all slots."""
    kernel_row(code[0], code[1], code[2], code[3], points, m, points[:, s].copy(), out)


@compiled
def _snapped(value, before, C):
    """A weight next to 0 or C is there: rounding would leave room for steps without end."""
    if abs(value) < TINY * abs(before):
        return 0.0
    if C - abs(value) < TINY * C:
        return C if value > 0.0 else -C
    return value


@compiled
def _step(i, j, m, C, slots, row_i, row_j):
    """Take weight from slot j to slot i, as far as the boxes and the optimum allow."""
    own, sides, beta, g, _ = slots
    step = (g[i] - g[j]) / max(own[i] + own[j] - 2.0 * row_i[j], TINY)
    room_i, room_j = (C if sides[i] > 0 else 0.0) - beta[i], beta[j] - (0.0 if sides[j] > 0 else -C)
    step = min(step, room_i, room_j)
    beta[i] = _snapped(beta[i] + step, beta[i], C)
    beta[j] = _snapped(beta[j] - step, beta[j], C)
    for t in range(m):
        g[t] -= step * (row_i[t] - row_j[t])


@compiled
def _insert(x, side, residual, own_value, at, m, points, slots, slot_of):
    """Put a row into slot m, without weight."""
    own, sides, beta, g, origin = slots
    for f in range(points.shape[0]):
        points[f, m] = x[f]
    own[m], sides[m], beta[m], g[m], origin[m] = own_value, side, 0.0, residual, at
    slot_of[at] = m


@compiled
def _remove(s, m, points, slots, slot_of):
    """Empty slot s: the last slot moves there. Returns the number of slots in use."""
    own, sides, beta, g, origin = slots
    last = m - 1
    slot_of[origin[s]] = -1
    if s != last:
        for f in range(points.shape[0]):
            points[f, s] = points[f, last]
        own[s], sides[s], beta[s] = own[last], sides[last], beta[last]
        g[s], origin[s] = g[last], origin[last]
        slot_of[origin[s]] = s
    return last


@compiled
def put_out(m, C, points, slots, slot_of):
    """Put out the rows without weight that can get none; returns the number of slots."""
    _, sides, beta, g, _ = slots
    i, j = _extremes(m, C, slots)
    if i < 0 or j < 0:
        return m
    top, bottom = g[i], g[j]
    s = 0
    while s < m:
        useless = g[s] <= bottom + TIE if sides[s] > 0 else g[s] >= top - TIE
        if beta[s] == 0.0 and useless and m > 2:
            m = _remove(s, m, points, slots, slot_of)
        else:
            s += 1
    return m


@compiled
def _reprocess(code, m, C, tol, points, slots, scratch, slot_of):
    """REPROCESS: one step between the two worst slots, then put out what is of no more use.

    Returns the number of slots.
    """
    g = slots[3]
    i, j = _extremes(m, C, slots)
    if i < 0 or j < 0 or g[i] - g[j] <= tol:
        return m
    _row_of(code, i, m, points, scratch[0])
    _row_of(code, j, m, points, scratch[1])
    _step(i, j, m, C, slots, scratch[0], scratch[1])
    return put_out(m, C, points, slots, slot_of)


@compiled
def _process(code, at, X, side, C, tol, m, points, slots, scratch, slot_of):
    """PROCESS: bring row `at` in if it violates the margin, and take weight to it.

    As long as no row is there to take weight from, it comes in without any. Returns the number of
    slots.
    """
    beta, g = slots[2], slots[3]
    x, row, other = X[at], scratch[0], scratch[1]
    kernel_row(code[0], code[1], code[2], code[3], points, m, x, row)
    residual = side[at]
    for t in range(m):
        residual -= beta[t] * row[t]
    i, j = _extremes(m, C, slots)
    partner = j if side[at] > 0 else i
    if partner >= 0 and (residual - g[partner]) * side[at] <= tol:
        return m
    own = kernel_value(code[0], code[1], code[2], code[3], x, x)
    _insert(x, side[at], residual, own, at, m, points, slots, slot_of)
    if partner >= 0:
        row[m] = own
        _row_of(code, partner, m + 1, points, other)
        if side[at] > 0:
            _step(m, partner, m + 1, C, slots, row, other)
        else:
            _step(partner, m, m + 1, C, slots, other, row)
    return m + 1


@compiled
def learn(code, X, side, order, start, C, tol, m, points, slots, scratch, slot_of):
    """See the rows of `order` from place `start` on, a PROCESS and a REPROCESS for each.

    Stops where the slots are full. Returns the place reached and the number of slots.
    """
    for place in range(start, order.shape[0]):
        if m == points.shape[1]:
            return place, m
        at = order[place]
        if slot_of[at] >= 0:
            continue
        m = _process(code, at, X, side, C, tol, m, points, slots, scratch, slot_of)
        m = _reprocess(code, m, C, tol, points, slots, scratch, slot_of)
    return order.shape[0], m


@compiled
def middle(m, C, slots):
    """(g_i + g_j) / 2 of the two worst slots: what is added to the sum."""
    g = slots[3]
    i, j = _extremes(m, C, slots)
    if i < 0 or j < 0:
        return 0.0
    return 0.5 * (g[i] + g[j])


def warm() -> None:
    """Compile for the types in use."""
    code = (RADIAL, 1.0, 0.0, 1)
    X, side, order = np.arange(4.0).reshape(4, 1), np.array([1.0, -1.0, 1.0, -1.0]), np.arange(4)
    points, scratch, slot_of = np.empty((1, 8)), np.empty((2, 8)), np.full(4, -1)
    slots = (*(np.empty(8) for _ in range(4)), np.empty(8, dtype=np.int64))
    _, m = learn(code, X, side, order, 0, 1.0, 1e-3, 0, points, slots, scratch, slot_of)
    middle(put_out(m, 1.0, points, slots, slot_of), 1.0, slots)
