"""Kernel values of embedded rows, as the other loops need them.

`kind, gamma, coef0, degree` is a plain kernel's `code` (see `kmviz.kernels`).
"""

from __future__ import annotations

import numpy as np

from kmviz.loops.compile import compiled, part

LINEAR, POLYNOMIAL, RADIAL = 0, 1, 2


@part
def dot(a, b):
    """a.b, summed in the type of a."""
    total = a[0] * b[0]
    for i in range(1, a.shape[0]):
        total += a[i] * b[i]
    return total


@part
def squared_distance(a, b):
    """||a - b||^2"""
    total = (a[0] - b[0]) * (a[0] - b[0])
    for i in range(1, a.shape[0]):
        total += (a[i] - b[i]) * (a[i] - b[i])
    return total


@compiled
def squared_distances(X, Z, out):
    """||x - z||^2 of all pairs by differences, four rows at a time: each z is read for all four."""
    n, i = X.shape[0], 0
    while i + 4 <= n:
        x0, x1, x2, x3 = X[i], X[i + 1], X[i + 2], X[i + 3]
        for j in range(Z.shape[0]):
            z = Z[j]
            s0 = s1 = s2 = s3 = X.dtype.type(0)
            for k in range(X.shape[1]):
                g0, g1, g2, g3 = x0[k] - z[k], x1[k] - z[k], x2[k] - z[k], x3[k] - z[k]
                s0 += g0 * g0
                s1 += g1 * g1
                s2 += g2 * g2
                s3 += g3 * g3
            out[i, j], out[i + 1, j], out[i + 2, j], out[i + 3, j] = s0, s1, s2, s3
        i += 4
    for r in range(i, n):
        for j in range(Z.shape[0]):
            out[r, j] = squared_distance(X[r], Z[j])


@part
def whole_power(base, degree):
    """base^degree by repeated multiplication."""
    result = 1.0
    while degree > 0:
        if degree & 1:
            result *= base
        base *= base
        degree >>= 1
    return result


@compiled
def kernel_value(kind, gamma, coef0, degree, a, b):
    """K(a, b) in float64."""
    if kind == RADIAL:
        return np.exp(-gamma * squared_distance(a, b))
    value = np.float64(dot(a, b))
    if kind == POLYNOMIAL:
        return whole_power(gamma * value + coef0, degree)
    return value


@compiled
def machine_output(kind, gamma, coef0, degree, x, vectors, beta, bias):
    """f(x) = sum_i beta_i K(X_i, x) - b for one embedded query."""
    total = 0.0
    for i in range(vectors.shape[0]):
        total += beta[i] * kernel_value(kind, gamma, coef0, degree, x, vectors[i])
    return total - bias


@compiled
def machine_outputs(kind, gamma, coef0, degree, X, vectors, beta, bias, out):
    """f(x) for a few embedded queries, each exactly as it would come alone."""
    for i in range(X.shape[0]):
        out[i] = machine_output(kind, gamma, coef0, degree, X[i], vectors, beta, bias)


def warm() -> None:
    """Compile for the types in use."""
    for dtype in (np.float32, np.float64):
        rows = np.ones((2, 2), dtype=dtype)
        machine_outputs(RADIAL, 1.0, 0.0, 1, rows, rows, np.ones(2), 0.0, np.empty(2))
        squared_distances(rows, rows, np.empty_like(rows))
