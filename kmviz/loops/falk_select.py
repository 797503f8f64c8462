"""k'-internal cross-validation of one neighbourhood (definition 4) for several costs C at once.

The kernel matrix is computed once: a fold that is held out has no room in its boxes, and the
solver's residual gives its outputs.
"""

from __future__ import annotations

import numpy as np

from kmviz.loops.compile import compiled_finite, part_finite
from kmviz.loops.falk_smo import PAD, improve, radial_values, refresh, squares_row, workspace
from kmviz.loops.falk_train import SAMPLED_PAIRS, boxes, gather, local_gamma, one_class_bias


@part_finite
def _hold_out(members, labels, fold, n_folds, n_inner, y, lower, upper):
    """Take the room from every n_folds-th of the inner points; say which sides remain."""
    for t in range(fold, n_inner, n_folds):
        lower[t], upper[t] = 0.0, 0.0
    present = 0
    for t in range(members.shape[0]):
        if upper[t] > 0.0:
            present |= 1
        elif lower[t] < 0.0:
            present |= 2
    return present


@part_finite
def _vote(first, second, fold, n_folds, n_inner, y, exact, intercept, votes):
    """Count each held-out point's vote: its output is y - F + intercept."""
    for t in range(fold, n_inner, n_folds):
        output = y[t] - exact[t] + intercept
        votes[t, first if output > 0.0 else second] += 1


@compiled_finite
def errors_given(
    members, labels, n_classes, K, diagonal, costs, wanted, n_folds, n_inner, tol, steps, wrong
):
    """Count the held-out points that each wanted cost gets wrong; returns the work.

    Costs rise: the solution of one, in boxes that only grow, is where the next begins. Work is
    counted in kernel entries.
    """
    n, width = members.shape[0], K.shape[0]
    work, room = np.zeros((5, width)), workspace(width)
    y, lower, upper, exact, beta = work[0], work[1], work[2], work[3], work[4]
    known, points = np.ones(width, dtype=np.bool_), np.empty((1, width), dtype=np.float32)
    votes = np.zeros((costs.shape[0], n_inner, n_classes), dtype=np.int32)
    spent = 0
    for fold in range(min(n_folds, n_inner)):
        for a in range(n_classes):
            for b in range(a + 1, n_classes):
                first, second = (b, a) if n_classes == 2 else (a, b)
                beta[:] = 0.0
                for c in range(costs.shape[0]):
                    if not wanted[c]:
                        continue
                    boxes(members, labels, first, second, costs[c], y, lower, upper)
                    present = _hold_out(
                        members, labels, fold, n_folds, n_inner, y, lower, upper
                    )  # fmt: skip
                    if present == 0:
                        continue
                    if present == 3:
                        refresh(n, y, beta, K, exact)
                        intercept, left, _ = improve(
                            n, points, np.float32(1.0), K, known, diagonal, y, lower, upper, tol,
                            steps, room, exact, beta,
                        )  # fmt: skip
                        spent += (steps - left) * n
                    else:
                        intercept = -one_class_bias(present)
                        for t in range(n):
                            exact[t] = y[t]
                    _vote(first, second, fold, n_folds, n_inner, y, exact, intercept, votes[c])
    for c in range(costs.shape[0]):
        for t in range(n_inner):
            wrong[c] += wanted[c] and np.argmax(votes[c, t]) != labels[members[t]]
    return spent


@compiled_finite
def errors_radial(
    rows, labels, n_classes, members, percentiles, costs, wanted, n_folds, n_inner, tol, steps,
    wrong,
):  # fmt: skip
    """Fill `wrong` (percentiles, costs) for RBF kernels of local width; returns the work.

    All widths have one matrix of squared distances in common.
    """
    n = members.shape[0]
    width = (n + PAD - 1) // PAD * PAD
    points = np.empty((rows.shape[1], width), dtype=np.float32)
    squares = np.empty((width, width), dtype=np.float32)
    K = np.empty((width, width), dtype=np.float32)  # halves of one array would not vectorise
    diagonal, scratch = np.ones(width, dtype=np.float32), np.empty(SAMPLED_PAIRS)
    gather(rows, members, points)
    for i in range(n):
        squares_row(points, i, squares[i])
    spent = n * n * rows.shape[1] // 4
    for p in range(percentiles.shape[0]):
        if not wanted[p].any():
            continue
        gamma = np.float32(local_gamma(points, n, percentiles[p], scratch))
        for i in range(n):
            radial_values(gamma, squares[i], K[i])
        spent += n * n // 4
        spent += errors_given(
            members, labels, n_classes, K, diagonal, costs, wanted[p], n_folds, n_inner, tol,
            steps, wrong[p],
        )  # fmt: skip
    return spent


def warm() -> None:
    """Compile for the types in use."""
    members, labels = np.arange(4, dtype=np.int32), np.array([0, 1, 0, 1], dtype=np.int32)
    wrong, wanted = np.zeros((1, 1), dtype=np.int64), np.ones((1, 1), dtype=np.bool_)
    rows = np.arange(4.0)[:, None]
    errors_radial(rows, labels, 2, members, np.ones(1), np.ones(1), wanted, 2, 2, 1e-3, 100, wrong)
    K = np.eye(PAD, dtype=np.float32)
    errors_given(
        members, labels, 2, K, K[0].copy(), np.ones(1), wanted[0], 2, 2, 1e-3, 100, wrong[0]
    )  # fmt: skip
