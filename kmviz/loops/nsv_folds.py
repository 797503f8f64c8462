"""Nearest support vectors: the machine of some of the rows, from kernel values of all of them.

The solver is that of local models (`falk_smo`): rows that are left out have a box of nothing.
"""

from __future__ import annotations

import numpy as np

from kmviz.loops.compile import compiled_finite
from kmviz.loops.falk_smo import PAD, solve, workspace


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
    train_part(K, np.ones(PAD, np.float32), side, taken, 1.0, 1e-3, 100, *room)
