"""One SVM of many rows by sequential minimal optimisation, from any weights within their boxes.

With beta_i = y_i alpha_i in [lower_i, upper_i] the state is the residual g_i = y_i - sum_j beta_j
K_ij. A step takes weight from j to i: beta_i += s, beta_j -= s, g -= s (K_i - K_j), with i the
largest g among those that may grow and j the best second-order partner among those that may shrink
(R.-E. Fan, P.-H. Chen, C.-J. Lin. Working set selection using second order information. JMLR 6,
2005). It ends when max g (may grow) - min g (may shrink) <= tol, LibSVM's own criterion.

Rows that no step can concern leave the arrays that steps pass over, and come back when the others
are done (LibSVM's shrinking). Kernel rows are kept in float32, as many as there is room for; g is
float64.
"""

from __future__ import annotations

import numpy as np

from kmviz.loops.compile import compiled_finite, part_finite
from kmviz.loops.exponential import exp32
from kmviz.loops.kernel import POLYNOMIAL, RADIAL, whole_power
from kmviz.loops.pairs import BIG, TINY, ends, gains, largest, move, noted, partner

OFTEN, LEFT = 1000, 0.9  # every so many steps rows leave, if no more than this share stays
ROUNDS = 50  # looks at all rows before a machine is taken as it is
G, BETA, LOWER, UPPER, GROWS, SHRINKS, OWN, ROWS = range(8)  # of the array that steps pass over


@compiled_finite
def row32(code, points, m, x, out):
    """K(x, points[:, t]) for t < m, to 1e-7 of the largest; `points` has a coordinate a row."""
    kind, gamma, coef0, degree = code
    for t in range(m):
        out[t] = np.float32(0.0)
    if kind == RADIAL:
        width = np.sqrt(gamma)  # in units of which a gap is no number too small, whatever its own
        for f in range(points.shape[0]):
            here, column = x[f], points[f]
            for t in range(m):
                gap = np.float32((column[t] - here) * width)
                out[t] += gap * gap
        for t in range(m):
            out[t] = exp32(-out[t])
        return
    for f in range(points.shape[0]):
        here, column = gamma * x[f] if kind == POLYNOMIAL else x[f], points[f]
        for t in range(m):
            out[t] += np.float32(column[t] * here)
    if kind == POLYNOMIAL:
        for t in range(m):
            out[t] = np.float32(whole_power(out[t] + coef0, degree))


@part_finite
def _line(s, pinned, code, m, points, lines, line_of, owner, hand):
    """The line that holds kernel row s; the oldest but `pinned` makes room where it is new."""
    if line_of[s] >= 0:
        return line_of[s]
    at = hand[0]
    if at == pinned:
        at = (at + 1) % lines.shape[0]
    hand[0] = (at + 1) % lines.shape[0]
    if owner[at] >= 0:
        line_of[owner[at]] = -1
    owner[at], line_of[s] = s, at
    row32(code, points, m, points[:, s].copy(), lines[at])
    return at


@part_finite
def _bounds(t, part):
    """Note whether beta_t may still grow and shrink, as 0 or an unreachable offset."""
    part[GROWS, t] = 0.0 if part[BETA, t] < part[UPPER, t] else -BIG
    part[SHRINKS, t] = 0.0 if part[BETA, t] > part[LOWER, t] else BIG


@part_finite
def _concerned(m, top, bottom, part, kept):
    """List the rows that a step can concern; returns their number."""
    g, grows, shrinks = part[G], part[GROWS], part[SHRINKS]
    count = 0
    for t in range(m):
        if g[t] + grows[t] > bottom or g[t] + shrinks[t] < top:
            kept[count] = t
            count += 1
    return count


@part_finite
def _leave(count, kept, part, origin, points, lines, line_of, owner):
    """Keep `count` rows of the arrays that steps pass over, and of the kernel rows."""
    for at in range(len(owner)):
        owner[at] = -1
    for t in range(count):
        origin[t], line_of[t] = origin[kept[t]], line_of[kept[t]]
        if line_of[t] >= 0:
            owner[line_of[t]] = t
    for r in range(ROWS):
        _take(count, kept, part[r])
    for f in range(points.shape[0]):
        _take(count, kept, points[f])
    for at in range(len(owner)):
        if owner[at] >= 0:
            _take(count, kept, lines[at])


@part_finite
def _take(count, kept, values):
    for t in range(count):
        values[t] = values[kept[t]]


@part_finite
def _step(i, j, curvature, part):
    """Take weight from j to i, as far as their boxes and the optimum allow; returns how much."""
    room_i, room_j = part[UPPER, i] - part[BETA, i], part[BETA, j] - part[LOWER, j]
    step = min((part[G, i] - part[G, j]) / curvature, room_i, room_j)
    part[BETA, i] = part[UPPER, i] if step == room_i else part[BETA, i] + step
    part[BETA, j] = part[LOWER, j] if step == room_j else part[BETA, j] - step
    _bounds(i, part)
    _bounds(j, part)
    return step


@part_finite
def _descend(code, m, tol, budget, part, origin, points, lines, beta, residual):
    """Take steps among the m rows of `part` until no pair violates by more than tol.

    `beta` of all rows is kept up to date, and `residual` of those that stay to the end. Returns
    their number and what is left of the budget.
    """
    blocks, kept = noted(m), np.empty(m, dtype=np.int64)
    line_of, owner = np.full(m, -1), np.full(lines.shape[0], -1)
    hand, until = np.zeros(1, dtype=np.int64), min(m, OFTEN)
    g, grows, shrinks, own = part[G], part[GROWS], part[SHRINKS], part[OWN]
    top = move(m, 0.0, own, own, g, grows, blocks)
    while budget > 0:
        i = largest(top, g, grows, blocks)
        line = _line(i, -1, code, m, points, lines, line_of, owner, hand)
        row = lines[line]
        best, worst = gains(m, top, own[i], row, g, shrinks, own, blocks)
        if worst <= tol:
            break
        j = partner(m, best, top, own[i], row, g, shrinks, own, blocks)
        other = lines[_line(j, line, code, m, points, lines, line_of, owner, hand)]
        step = _step(i, j, max(own[i] + own[j] - 2.0 * row[j], TINY), part)
        top = move(m, step, row, other, g, grows, blocks)
        budget -= 1
        until -= 1
        if until == 0:
            until = min(m, OFTEN)
            count = _concerned(m, top, top - worst, part, kept)
            if count < LEFT * m and count > 1:
                _write(m, part[BETA], origin, beta)
                _leave(count, kept, part, origin, points, lines, line_of, owner)
                m = count
                top = move(m, 0.0, own, own, g, grows, blocks)
    _write(m, part[BETA], origin, beta)
    _write(m, part[G], origin, residual)
    return m, budget


@part_finite
def _write(m, values, origin, out):
    for t in range(m):
        out[origin[t]] = values[t]


@part_finite
def _gather(X, own, lower, upper, top, bottom, beta, residual, part, origin, points):
    """Fill the arrays that steps pass over with the rows that one can concern; their number."""
    m = 0
    for t in range(len(beta)):
        grows, shrinks = beta[t] < upper[t], beta[t] > lower[t]
        if (grows and residual[t] > bottom) or (shrinks and residual[t] < top):
            part[G, m], part[BETA, m], part[OWN, m] = residual[t], beta[t], own[t]
            part[LOWER, m], part[UPPER, m], origin[m] = lower[t], upper[t], t
            _bounds(m, part)
            for f in range(X.shape[1]):
                points[f, m] = X[t, f]
            m += 1
    return m


@part_finite
def _catch_up(code, X, change, there, residual, points, row):
    """Bring the residual of all rows but those that are `there` up to date with the weights."""
    is_away, away, m = np.ones(len(change), dtype=np.bool_), np.empty(len(change), np.int64), 0
    for t in there:
        is_away[t] = False
    for t in range(len(change)):
        if is_away[t]:
            for f in range(X.shape[1]):
                points[f, m] = X[t, f]
            away[m] = t
            m += 1
    total = np.zeros(m)
    for s in range(len(change)):
        if change[s] != 0.0:
            row32(code, points, m, X[s], row)
            for t in range(m):
                total[t] += change[s] * row[t]
    for t in range(m):
        residual[away[t]] -= total[t]


@compiled_finite
def shift(code, X, change, residual):
    """Bring the residual of all rows up to date with a change of their weights."""
    nobody = np.empty(0, dtype=np.int64)
    points, row = np.empty((X.shape[1], len(X))), np.empty(len(X), dtype=np.float32)
    _catch_up(code, X, change, nobody, residual, points, row)


@compiled_finite
def solve(code, X, own, lower, upper, tol, budget, room, beta, residual):
    """Move weights until no pair violates by more than tol.

    Parameters
    ----------
    code : kind, gamma, coef0 and degree of a plain kernel
    X : float64 (n, d)
    own : float64 (n,)
        K(x, x)
    lower, upper : float64 (n,)
        Boxes of the weights.
    budget : int
        Steps at most.
    room : int
        Kernel values that may be kept.
    beta, residual : float64 (n,)
        Where to start, within the boxes, and y - K beta there; both are changed.

    Returns
    -------
    middle : float
        Between the largest residual that may grow and the smallest that may shrink.
    left : int
        What is left of the budget; 0 where it did not suffice.
    """
    n, goal = len(beta), 10.0 * tol
    points, row = np.zeros((X.shape[1], n)), np.empty(n, dtype=np.float32)
    part, origin = np.empty((ROWS, n)), np.empty(n, dtype=np.int64)
    for _ in range(ROUNDS):
        top, bottom = ends(n, residual, beta, lower, upper)
        if top - bottom <= tol or budget == 0:
            break
        goal = tol if top - bottom <= goal else goal
        m = _gather(X, own, lower, upper, top, bottom, beta, residual, part, origin, points)
        lines = np.empty((max(2, min(m, room // m)), m), dtype=np.float32)
        before = beta.copy()
        m, budget = _descend(code, m, goal, budget, part, origin, points, lines, beta, residual)
        _catch_up(code, X, beta - before, origin[:m], residual, points, row)
    top, bottom = ends(n, residual, beta, lower, upper)
    return 0.5 * (top + bottom), budget if top - bottom <= tol else 0


def warm() -> None:
    """Compile for the types in use."""
    side, ones = np.array([1.0, -1.0]), np.ones(2)
    code, X, residual = (RADIAL, 1.0, 0.0, 1), side.reshape(2, 1), side.copy()
    least, most = np.minimum(side, 0.0), np.maximum(side, 0.0)
    solve(code, X, ones, least, most, 1e-3, 9, 4, np.zeros(2), residual)
    shift(code, X, ones, residual)
