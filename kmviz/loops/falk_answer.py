"""Outputs of local models for queries that are grouped by model."""

from __future__ import annotations

import numpy as np

from kmviz.loops.compile import compiled, compiled_finite
from kmviz.loops.exponential import exp64
from kmviz.loops.kernel import POLYNOMIAL, RADIAL, whole_power


@compiled_finite
def gather_vectors(rows, index, vectors):
    """Copy the rows of a model's vectors, a coordinate a row."""
    for t in range(index.shape[0]):
        row = rows[index[t]]
        for f in range(rows.shape[1]):
            vectors[f, t] = row[f]


@compiled
def kernel_values(kind, gamma, coef0, degree, x, vectors, values):
    """K(x, v_t) for all vectors of a model."""
    for t in range(values.shape[0]):
        values[t] = 0.0
    for f in range(vectors.shape[0]):
        here, column = np.float64(x[f]), vectors[f]
        if kind == RADIAL:
            for t in range(values.shape[0]):
                values[t] += (column[t] - here) * (column[t] - here)
        else:
            for t in range(values.shape[0]):
                values[t] += column[t] * here
    if kind == RADIAL:
        for t in range(values.shape[0]):
            values[t] = exp64(-gamma * values[t])
    elif kind == POLYNOMIAL:
        for t in range(values.shape[0]):
            values[t] = whole_power(gamma * values[t] + coef0, degree)


@compiled
def weighted_sum(weight, values):
    total = 0.0
    for t in range(weight.shape[0]):
        total += weight[t] * values[t]
    return total


@compiled
def answers(kind, gammas, coef0, degree, X, model, rows, starts, index, weight, bias, out):
    """f(x) of each query's model, all pairs of classes.

    Parameters
    ----------
    kind, coef0, degree : the kernel's code; its gamma comes from `gammas`, one a model
    X, model : (n, d) and (n,)
        Embedded queries and their models, equal models side by side.
    rows : (N, d)
        Embedded training rows.
    starts, index, weight, bias : (M P + 1,), (S,), (S,), (M, P)
        The flat models.
    out : (n, P)
    """
    n_pairs = bias.shape[1]
    room = 0
    for q in range(X.shape[0]):
        m = model[q]
        room = max(room, starts[(m + 1) * n_pairs] - starts[m * n_pairs])
    vectors, values = np.empty((rows.shape[1], room)), np.empty(room)
    for q in range(X.shape[0]):
        m = model[q]
        start, stop = starts[m * n_pairs], starts[(m + 1) * n_pairs]
        if q == 0 or model[q - 1] != m:
            gather_vectors(rows, index[start:stop], vectors)
        kernel_values(kind, gammas[m], coef0, degree, X[q], vectors, values[: stop - start])
        for p in range(n_pairs):
            low, high = starts[m * n_pairs + p], starts[m * n_pairs + p + 1]
            total = weighted_sum(weight[low:high], values[low - start : high - start])
            out[q, p] = total - bias[m, p]


def warm() -> None:
    """Compile for the types in use."""
    zero = np.zeros(1, dtype=np.int32)
    for dtype in (np.float32, np.float64):
        rows = np.ones((1, 1), dtype=dtype)
        starts = np.array([0, 1])
        answers(
            RADIAL, np.ones(1), 0.0, 1, rows, zero, rows, starts, zero, np.ones(1),
            np.zeros((1, 1)), np.empty((1, 1)),
        )  # fmt: skip
