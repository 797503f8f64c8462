"""Balls around a data set in feature space: core vector machines (Tsang, Kwok and Cheung 2005) and
ball vector machines (Tsang, Kocsor and Kwok 2007).

With y_i y_j (K(x_i, x_j) + 1) + [i = j] / C as their dot products the training rows z_i all have
the same length, and the centre c = sum_i alpha_i z_i (alpha >= 0, sum 1) of the smallest ball
around them is the L2-SVM: w = sum_i alpha_i y_i x_i, b = -sum_i alpha_i y_i. A row lies at
||c - z||^2 = ||z||^2 + ||c||^2 - 2 c.z, so what is farthest has the smallest c.z, its margin.
"""

from __future__ import annotations

import numpy as np

from kmviz.loops.compile import compiled, compiled_finite
from kmviz.loops.kernel import RADIAL
from kmviz.loops.pairs import BIG, TINY, gains, largest, move, noted, partner
from kmviz.loops.rows import kernel_row

DRAWN = 59  # the farthest of so many is with probability .95 among the farthest twentieth
DONE, FULL = 0, 1
ROUNDS = 1000  # descents without a new row before a ball is taken as it is


@compiled
def _draw(state, n):
    """A random number below n; `state` holds one uint64 (a linear congruential generator)."""
    state[0] = state[0] * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    return np.int64((state[0] >> np.uint64(33)) % np.uint64(n))


@compiled
def _margin(code, z, X, side, m, signed, total, points, row):
    """c.z of a row that is not in the core set."""
    kernel_row(code[0], code[1], code[2], code[3], points, m, X[z], row)
    for t in range(m):
        total += signed[t] * row[t]
    return side[z] * total


@compiled
def _outside(code, X, side, limit, m, alpha, core, points, is_core, state, start, room):
    """A row whose margin is below `limit`: the farthest of some drawn at random, else the next one
    in file order from `start`; -1 where there is none."""
    n = X.shape[0]
    signed, row = room[0], room[1]
    total = 0.0
    for t in range(m):
        signed[t] = alpha[t] * side[core[t]]
        total += signed[t]
    lowest, farthest = limit, -1
    for _ in range(DRAWN):
        z = _draw(state, n)
        if not is_core[z]:
            margin = _margin(code, z, X, side, m, signed, total, points, row)
            if margin < lowest:
                lowest, farthest = margin, z
    if farthest >= 0:
        return farthest
    for step in range(n):
        z = (start[0] + step) % n
        if is_core[z]:
            continue
        if _margin(code, z, X, side, m, signed, total, points, row) < limit:
            start[0] = z
            return z
    return -1


@compiled
def _add(code, z, X, side, C, m, alpha, q, core, points, K, is_core, room):
    """Put a row into the core set, without weight."""
    row = room[1]
    for f in range(points.shape[0]):
        points[f, m] = X[z, f]
    core[m], is_core[z], alpha[m] = z, True, 0.0
    kernel_row(code[0], code[1], code[2], code[3], points, m + 1, X[z], row)
    q[m] = 0.0
    for t in range(m + 1):
        value = side[z] * side[core[t]] * (row[t] + 1.0)
        K[m, t] = value
        K[t, m] = value
        q[m] += alpha[t] * value
    K[m, m] += 1.0 / C


@compiled_finite
def shrink(m, alpha, q, K, tol, budget):
    """Minimise alpha'K alpha / 2 on the simplex, q = K alpha, a pair at a time.

    Weight goes from the row with the largest q to the partner that lowers the objective most.
    Returns what is left of the budget of steps; 0 if it did not suffice.
    """
    blocks, diagonal, everyone = noted(m), np.empty(m), np.zeros(m)
    gives = np.empty(m)  # 0, or an unreachable offset where there is no weight to give
    for t in range(m):
        diagonal[t] = K[t, t]
        gives[t] = 0.0 if alpha[t] > 0.0 else -BIG
    top = move(m, 0.0, diagonal, diagonal, q, gives, blocks)
    while budget > 0:
        i = largest(top, q, gives, blocks)
        own, row = diagonal[i], K[i]
        best, worst = gains(m, top, own, row, q, everyone, diagonal, blocks)
        if worst <= tol:
            return budget
        j = partner(m, best, top, own, row, q, everyone, diagonal, blocks)
        step = min((q[i] - q[j]) / max(own + diagonal[j] - 2.0 * row[j], TINY), alpha[i])
        alpha[i] = 0.0 if step == alpha[i] else alpha[i] - step
        alpha[j] += step
        gives[i], gives[j] = 0.0 if alpha[i] > 0.0 else -BIG, 0.0
        top = move(m, step, row, K[j], q, gives, blocks)
        budget -= 1
    return 0


@compiled
def _square(m, alpha, q):
    """||c||^2"""
    total = 0.0
    for t in range(m):
        total += alpha[t] * q[t]
    return total


@compiled
def _gap(length, square, epsilon, slack):
    """||c - z||^2 > (1 + epsilon)^2 (||z||^2 - ||c||^2) is c.z < ||c||^2 - gap."""
    return 0.5 * ((1.0 + epsilon) ** 2 - 1.0) * (length - square) + slack * square


@compiled
def minimum_ball(
    code, X, side, C, length, epsilon, slack, m, alpha, q, core, points, K, is_core, state, start,
    room,
):  # fmt: skip
    """The smallest ball around all rows, up to 1 + epsilon, or up to a share `slack` of a margin.

    `length` is ||z||^2. Goes on from a core set of m rows until no row lies outside (DONE) or the
    arrays are full (FULL). Returns the size of the core set, which of the two, and whether the last
    descent came to its end.
    """
    rounds = 0
    while True:
        square = _square(m, alpha, q)
        gap = _gap(length, square, epsilon, slack)
        settled = shrink(m, alpha, q, K, 0.5 * gap, 200 + m) > 0
        if m == alpha.shape[0] and m < X.shape[0]:
            return m, FULL, settled
        square = _square(m, alpha, q)
        gap = _gap(length, square, epsilon, slack)
        z = -1
        if m < X.shape[0]:
            z = _outside(
                code, X, side, square - gap, m, alpha, core, points, is_core, state, start, room
            )
        if z >= 0:
            _add(code, z, X, side, C, m, alpha, q, core, points, K, is_core, room)
            m += 1
            continue
        rounds += 1
        if settled or rounds == ROUNDS:
            return m, DONE, settled


@compiled
def enclosing_ball(code, X, points, side, C, length, epsilon, slack, budget, alpha, margins, row):
    """A ball of radius ||z|| whose (1 + epsilon)-fold holds all rows.

    As long as a row lies outside, the centre moves towards the farthest, no further than until the
    ball touches it. `margins` are c.z of all rows. Returns what is left of the budget of moves.
    """
    n = side.shape[0]
    square = _square(n, alpha, margins)
    while budget > 0:
        z = 0
        for t in range(1, n):
            if margins[t] < margins[z]:
                z = t
        distance = length + square - 2.0 * margins[z]
        # (1 + epsilon)^2 ||z||^2, or the share `slack` of half a margin
        if distance <= (1.0 + epsilon) ** 2 * length + slack * square:
            return budget
        share = 1.0 - np.sqrt(length / distance)  # c + share (z - c) lies at the radius from z
        kernel_row(code[0], code[1], code[2], code[3], points, n, X[z], row)
        square = (
            (1.0 - share) ** 2 * square
            + 2.0 * share * (1.0 - share) * margins[z]
            + share**2 * length
        )
        for t in range(n):
            value = side[z] * side[t] * (row[t] + 1.0)
            margins[t] += share * (value - margins[t])
            alpha[t] *= 1.0 - share
        margins[z] += share / C
        alpha[z] += share
        budget -= 1
    return 0


def warm() -> None:
    """Compile for the types in use."""
    code, rows, side = (RADIAL, 1.0, 0.0, 1), np.arange(4.0).reshape(4, 1), np.ones(4)
    alpha, q = np.full(4, 0.25), np.ones(4)
    points, K, core = np.zeros((1, 4)), np.eye(4, dtype=np.float32), np.arange(4)
    is_core, state = np.zeros(4, dtype=np.bool_), np.zeros(1, dtype=np.uint64)
    minimum_ball(
        code, rows, side, 1.0, 3.0, 0.1, 0.0, 1, alpha, q, core, points, K, is_core, state,
        np.zeros(1, dtype=np.int64), np.zeros((2, 4)),
    )  # fmt: skip
    shrink(4, alpha, q, np.eye(4), 1.0, 1)  # cutting planes need float64
    enclosing_ball(
        code, rows, rows.T.copy(), side, 1.0, 3.0, 0.1, 0.0, 1, alpha, np.ones(4), np.zeros(4)
    )
