"""Nearest support vectors: the machine of some of the rows, from kernel values of all of them.

The solver is that of local models (`falk_smo`): rows that are left out have a box of nothing.
"""

from __future__ import annotations

import numpy as np

from kmviz.loops.compile import compiled_finite
from kmviz.loops.exponential import exp32
from kmviz.loops.falk_smo import PAD, radial_row, solve, workspace
from kmviz.loops.kernel import RADIAL
from kmviz.loops.nsv_stages import powers


@compiled_finite
def kernels_of_products(kind, gamma, coef0, degree, products, beside, K):
    """Kernel values of all pairs of rows, in float32.

    Parameters
    ----------
    products : float32 array of shape (n, n)
        Dot products of the rows about their mean.
    beside : float32 array of shape (n,)
        What is added to them, once for each row of the pair, to make them those of the rows
        themselves; for a radial kernel, which needs none of it, the squared lengths.
    K : float32 array of at least that shape
    """
    n = products.shape[0]
    gamma, coef0 = np.float32(gamma), np.float32(coef0)
    dots, zero, two = np.empty(n, np.float32), np.float32(0.0), np.float32(2.0)
    for i in range(n):
        own, row, out = beside[i], products[i], K[i, :n]
        if kind == RADIAL:
            for j in range(n):
                dots[j] = -gamma * max(own + beside[j] - two * row[j], zero)
            for j in range(n):
                out[j] = exp32(dots[j])
        else:
            for j in range(n):
                dots[j] = row[j] + own + beside[j]
            powers(degree, gamma, coef0, dots, out)


@compiled_finite
def kernels_of_rows(columns, K):
    """Radial kernel values of all pairs of short rows, from their differences, in float32.

    Parameters
    ----------
    columns : float32 array of shape (d, n)
        The rows about their mean, a column each, times the root of gamma.
    K : float32 array of at least shape (n, n)
    """
    n = columns.shape[1]
    for i in range(n):
        radial_row(columns, np.float32(1.0), i, K[i, :n])


@compiled_finite
def train_part(K, diagonal, side, taken, C, tol, steps, exact, beta):
    """Train on the rows that are taken. Return the intercept, and whether the solver got there.

    Parameters
    ----------
    K, diagonal : float32 arrays of shape (width, width) and (width,)
        Kernel values of all rows, filled up to a multiple of PAD.
    side : array of shape (n,)
        +1 and -1.
    taken : bool array of shape (n,)
    exact, beta : arrays of shape (width,)
        Take side - sum_j beta_j K_ij, and the weights.
    """
    n, width = side.shape[0], K.shape[0]
    y, lower, upper = np.zeros(width), np.zeros(width), np.zeros(width)
    for t in range(n):
        y[t] = side[t]
        if taken[t]:
            lower[t], upper[t] = min(side[t] * C, 0.0), max(side[t] * C, 0.0)
    known, points = np.ones(width, dtype=np.bool_), np.empty((1, width), dtype=np.float32)
    intercept, _, is_solved = solve(
        n, points, np.float32(1.0), K, known, diagonal, y, lower, upper, tol, steps,
        workspace(width), exact, beta,
    )  # fmt: skip
    return intercept, is_solved


def warm() -> None:
    """Compile for the types in use."""
    K, side = np.eye(PAD, dtype=np.float32), np.array([1.0, -1.0])
    taken, room = np.ones(2, dtype=bool), (np.empty(PAD), np.empty(PAD))
    kernels_of_products(RADIAL, 1.0, 0.0, 1, K[:2, :2].copy(), K[0, :2].copy(), K)
    kernels_of_rows(np.ones((1, 2), np.float32), K)
    train_part(K, np.ones(PAD, np.float32), side, taken, 1.0, 1e-3, 100, *room)
