"""Sequential minimal optimisation of many small SVMs, without a Python object a model.

A model is trained on a neighbourhood of n points. With beta_i = y_i alpha_i in [lower_i, upper_i]
(0 to C for y = +1, -C to 0 for y = -1) the state is the residual F_i = y_i - sum_j beta_j K_ij. A
step takes weight from j to i: beta_i += s, beta_j -= s, F -= s (K_i - K_j), with i the largest F
among those that may grow and j the best second-order partner among those that may shrink (R.-E.
Fan, P.-H. Chen, C.-J. Lin. Working set selection using second order information. JMLR 6, 2005).
It ends when max F (may grow) - min F (may shrink) < tol, LibSVM's own criterion.

What makes it fast: kernel rows in float32 and only when touched; every pass is a plain loop over
arrays whose maximum is taken on integer keys (float maxima do not vectorise); arrays padded to 32
entries that can neither grow nor shrink. A final float64 residual gives the bias and decides
whether float32 rounding left something to do. A point held out has the box [0, 0], and its output
y - F is then a cross-validated one, for free.
"""

from __future__ import annotations

import numpy as np

from kmviz.loops.compile import part_finite
from kmviz.loops.exponential import exp32
from kmviz.loops.pairs import ends

PAD = 32
BIG = np.float32(1e30)
TINY = np.float32(1e-12)
ROUNDS = 20  # float64 refreshes before a model is taken as it is


@part_finite
def _key(value):
    """An integer that is ordered as the float32 it is made of."""
    bits = np.float32(value).view(np.int32)
    return np.int32(bits ^ np.int32(np.int32(bits >> np.int32(31)) & np.int32(0x7FFFFFFF)))


@part_finite
def _value(key):
    return np.int32(key ^ ((key >> np.int32(31)) & np.int32(0x7FFFFFFF))).view(np.float32)


@part_finite
def squares_row(points, i, row):
    """||x_i - x_t||^2 for all t; `points` holds a coordinate a row, float32."""
    width = row.shape[0]
    for t in range(width):
        row[t] = 0.0
    for f in range(points.shape[0]):
        here = points[f, i]
        column = points[f]
        for t in range(width):
            row[t] += (column[t] - here) * (column[t] - here)


@part_finite
def radial_values(gamma, squares, row):
    """exp(-gamma s) for all s."""
    for t in range(row.shape[0]):
        row[t] = exp32(-gamma * squares[t])


@part_finite
def radial_row(points, gamma, i, row):
    """exp(-gamma ||x_i - x_t||^2) for all t."""
    squares_row(points, i, row)
    radial_values(gamma, row, row)


@part_finite
def _first_sum(values, offset, key):
    """The first place where value + offset has this key."""
    nowhere = np.int32(values.shape[0])
    place = nowhere
    for t in range(nowhere):
        place = min(place, np.int32(t) if _key(values[t] + offset[t]) == key else nowhere)
    return place


@part_finite
def _first(values, key):
    """The first place where a value of 0 or more has this key."""
    nowhere = np.int32(values.shape[0])
    place = nowhere
    for t in range(nowhere):
        here = np.float32(values[t]).view(np.int32) == key
        place = min(place, np.int32(t) if here else nowhere)
    return place


@part_finite
def _top(values, offset):
    """Key of the largest value + offset."""
    key = np.int32(-2147483647)
    for t in range(values.shape[0]):
        key = max(key, _key(values[t] + offset[t]))
    return key


@part_finite
def _gains(residual, shrinks, diagonal, row, top, own, gain):
    """Second-order gain of each partner, (F_i - F_t)^2 / (K_ii + K_tt - 2 K_it); returns the keys
    of the largest gain and of the largest violation F_i - F_t."""
    best, worst = np.int32(0), np.int32(0)
    for t in range(residual.shape[0]):
        violation = max(top - (residual[t] + shrinks[t]), np.float32(0.0))
        curvature = max(own + diagonal[t] - np.float32(2.0) * row[t], TINY)
        gain[t] = violation * violation / curvature
        worst = max(worst, np.float32(violation).view(np.int32))
    for t in range(residual.shape[0]):
        best = max(best, np.float32(gain[t]).view(np.int32))
    return best, worst


@part_finite
def _move(residual, step, row_i, row_j):
    """F -= s (K_i - K_j)"""
    for t in range(residual.shape[0]):
        residual[t] -= step * (row_i[t] - row_j[t])


@part_finite
def _bounds(t, beta, lower, upper, grows, shrinks):
    """Note whether beta_t may still grow and shrink, as 0 or an unreachable offset."""
    grows[t] = np.float32(0.0) if beta[t] < upper[t] else -BIG
    shrinks[t] = np.float32(0.0) if beta[t] > lower[t] else BIG


@part_finite
def _row(i, active, K, known, points, gamma, part, part_known):
    """Have kernel row i of the active points ready in `part`, computed or copied once."""
    if part_known[i]:
        return
    whole = active[i]
    if not known[whole]:
        radial_row(points, gamma, whole, K[whole])
        known[whole] = True
    if not part_known[i]:  # when all points are active, `part` is K and the row is there now
        row, source = part[i], K[whole]
        for t in range(row.shape[0]):
            row[t] = source[active[t]]
        part_known[i] = True


@part_finite
def _descend(active, part, part_known, K, known, points, gamma, tol, budget, state, box):
    """Take steps among the active points until the violation is below tol.

    Returns how many of `budget` are left.
    """
    residual, grows, shrinks, diagonal, gain = state
    lower, upper, beta = box
    while budget > 0:
        key = _top(residual, grows)
        top = _value(key)
        i = _first_sum(residual, grows, key)
        if i == residual.shape[0]:  # values beyond float32 have no order: not reached
            return 0
        _row(i, active, K, known, points, gamma, part, part_known)
        best, worst = _gains(residual, shrinks, diagonal, part[i], top, diagonal[i], gain)
        if top < np.float32(-0.5) * BIG or np.int32(worst).view(np.float32) < tol:
            return budget
        j = _first(gain, best)
        if j == residual.shape[0]:
            return 0
        _row(j, active, K, known, points, gamma, part, part_known)
        curvature = max(diagonal[i] + diagonal[j] - np.float32(2.0) * part[i, j], TINY)
        step = np.float64(residual[i] - residual[j]) / curvature
        room_i, room_j = upper[i] - beta[i], beta[j] - lower[j]
        step = min(step, room_i, room_j)
        beta[i] = upper[i] if step == room_i else beta[i] + step
        beta[j] = lower[j] if step == room_j else beta[j] - step
        _bounds(i, beta, lower, upper, grows, shrinks)
        _bounds(j, beta, lower, upper, grows, shrinks)
        _move(residual, np.float32(step), part[i], part[j])
        budget -= 1
    return budget


@part_finite
def refresh(n, y, beta, K, exact):
    """F = y - K beta in float64."""
    for t in range(n):
        exact[t] = y[t]
    for j in range(n):
        if beta[j] != 0.0:
            row, weight = K[j], beta[j]
            for t in range(n):
                exact[t] -= weight * row[t]


@part_finite
def _choose(n, exact, beta, lower, upper, low, high, active):
    """List the points that a step can still concern: all but those at a bound (or held out) whose
    residual lies on the right side of every point they could pair with. Returns their number."""
    count = 0
    for t in range(n):
        grows, shrinks = beta[t] < upper[t], beta[t] > lower[t]
        if (grows and exact[t] > high) or (shrinks and exact[t] < low):
            active[count] = t
            count += 1
    return count


@part_finite
def _descend_part(
    n, count, active, exact, diagonal, lower, upper, beta, K, known, points, gamma, room, tol,
    budget,
):  # fmt: skip
    """Take steps among `count` active points, on arrays of their own, and write beta back."""
    width = (count + PAD - 1) // PAD * PAD
    _, part, state, box = room
    residual, grows, shrinks = state[0, :width], state[1, :width], state[2, :width]
    own, gain = state[3, :width], state[4, :width]
    low, high, weight = box[0, :width], box[1, :width], box[2, :width]
    for t in range(count):
        whole = active[t]
        residual[t], own[t] = exact[whole], diagonal[whole]
        low[t], high[t], weight[t] = lower[whole], upper[whole], beta[whole]
        _bounds(t, weight, low, high, grows, shrinks)
    for t in range(count, width):  # padding can neither grow nor shrink
        active[t] = active[0]
        residual[t], grows[t], shrinks[t], own[t] = 0.0, -BIG, BIG, 1.0
    rows, rows_known = K, known
    if count < n:
        rows = part[: width * width].reshape(width, width)
        rows_known = np.zeros(width, dtype=np.bool_)
    left = _descend(
        active[:width], rows, rows_known, K, known, points, gamma, tol, budget,
        (residual, grows, shrinks, own, gain), (low, high, weight),
    )  # fmt: skip
    for t in range(count):
        beta[active[t]] = weight[t]
    return left


@part_finite
def improve(n, points, gamma, K, known, diagonal, y, lower, upper, tol, budget, room, exact, beta):
    """Solve one SVM from weights that stand in their boxes and add up to 0, and their residual.

    Parameters and results are those of `solve`.
    """
    active = room[0]
    reached, share = 0, n
    while True:
        low, high = ends(n, exact, beta, lower, upper)
        if low - high < 1.2 * tol or budget <= 0 or reached == ROUNDS:
            break
        count = _choose(n, exact, beta, lower, upper, low, high, active)
        stretch = min(budget, share)
        left = _descend_part(
            n, count, active, exact, diagonal, lower, upper, beta, K, known, points, gamma, room,
            tol, stretch,
        )  # fmt: skip
        reached += left > 0
        budget -= stretch - left
        share = 8 * count
        refresh(n, y, beta, K, exact)
    total, free = 0.0, 0
    for t in range(n):
        if lower[t] < beta[t] < upper[t]:
            total += exact[t]
            free += 1
    return (total / free if free else 0.5 * (low + high)), budget, low - high < 10.0 * tol


@part_finite
def solve(n, points, gamma, K, known, diagonal, y, lower, upper, tol, budget, room, exact, beta):
    """Solve one SVM.

    Parameters
    ----------
    n : int
        Points; the arrays are `width` long, a multiple of PAD, of which n count.
    points : float32 (d, width)
        Coordinates for kernel rows that are not known yet; unused if all are.
    K, known : float32 (width, width), bool (width,)
        Kernel rows and which of them are filled; kept for the next call on the same points.
    diagonal : float32 (width,)
    y, lower, upper : float64 (width,)
        Sides and boxes.
    room : tuple of arrays
        Workspaces, see `workspace`.
    exact, beta : float64 (width,)
        The result: the residual F and the weights.

    Returns
    -------
    intercept : float
        F at the free points, their mean; without any, the middle of what the bounds allow.
    left : int
        What is left of the budget of steps.
    is_solved : bool
        Whether the violation is within ten times the tolerance, however it ended.
    """
    for t in range(n):
        beta[t], exact[t] = 0.0, y[t]
    return improve(
        n, points, gamma, K, known, diagonal, y, lower, upper, tol, budget, room, exact, beta
    )


@part_finite
def workspace(width):
    """Arrays that `solve` works in, for up to `width` points."""
    return (
        np.empty(width, dtype=np.int32),
        np.empty(width * width, dtype=np.float32),
        np.empty((5, width), dtype=np.float32),
        np.empty((3, width)),
    )
