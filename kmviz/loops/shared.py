"""Machines on the same vectors: each kernel value is computed once, for all of them.

Sums are float32 where the vectors are; what that may move f by is bounded as
docs/guides/error_bounds.md proves, so that a row whose sign it might change is computed again.
"""

from __future__ import annotations

import numpy as np

from kmviz.loops.compile import compiled, part, part_finite
from kmviz.loops.exponential import exp32
from kmviz.loops.kernel import POLYNOMIAL, RADIAL, whole_power
from kmviz.loops.rounding import (
    LEAST,
    TINY,
    lost_by_sum,
    lost_in_base,
    lost_in_exponent,
    lost_in_value,
    most_radial,
    width_of,
)


@part
def add_products(x, columns, values):
    """Add x.z for each vector z, four columns at a time: sums are read and written a quarter as
    often, which takes longer than the products once vectors leave a core's cache."""
    d, m = columns.shape
    j = 0
    while j + 4 <= d:
        x0, x1, x2, x3 = x[j], x[j + 1], x[j + 2], x[j + 3]
        c0, c1, c2, c3 = columns[j], columns[j + 1], columns[j + 2], columns[j + 3]
        for i in range(m):
            values[i] += x0 * c0[i] + x1 * c1[i] + x2 * c2[i] + x3 * c3[i]
        j += 4
    while j < d:
        c = columns[j]
        for i in range(m):
            values[i] += x[j] * c[i]
        j += 1


@part
def add_squares(x, columns, values):
    """Add ||x - z||^2 for each vector z, likewise."""
    d, m = columns.shape
    j = 0
    while j + 4 <= d:
        x0, x1, x2, x3 = x[j], x[j + 1], x[j + 2], x[j + 3]
        c0, c1, c2, c3 = columns[j], columns[j + 1], columns[j + 2], columns[j + 3]
        for i in range(m):
            g0, g1, g2, g3 = x0 - c0[i], x1 - c1[i], x2 - c2[i], x3 - c3[i]
            values[i] += g0 * g0 + g1 * g1 + g2 * g2 + g3 * g3
        j += 4
    while j < d:
        c = columns[j]
        for i in range(m):
            gap = x[j] - c[i]
            values[i] += gap * gap
        j += 1


@part_finite
def _exponentials(gamma, values):
    for i in range(values.shape[0]):
        values[i] = exp32(np.float32(-gamma) * values[i])


@part
def _sums(kind, x, columns, values, block):
    """x.z or ||x - z||^2 for each vector z, in blocks of columns (3)."""
    d, width = columns.shape[0], width_of(columns.shape[0])
    values[:] = 0
    for start in range(0, d, width):
        some = slice(start, start + width)
        block[:] = 0
        if kind == RADIAL:
            add_squares(x[some], columns[some], block)
        else:
            add_products(x[some], columns[some], block)
        for i in range(values.shape[0]):
            values[i] += block[i]


@part
def mean_size(degree, terms, weights, spread, summing):
    """The mean kernel value, or base of a power, that weights of this sum give (8, 9)."""
    total = 0.0
    for i in range(terms.shape[0]):
        total += abs(weights[i] * terms[i])
    mean = (1.0 + 2.0 * summing) * total / max(spread, LEAST)
    return mean if degree == 1 else mean ** (1.0 / degree)


@compiled
def linear_outputs(X, slopes, bias, reach, share, out, error):
    """f of linear machines, one row of `slopes` each; returns how many queries it cannot tell (14).

    Parameters
    ----------
    X : array of shape (n, d)
    slopes : array of shape (p, d)
    reach : array of shape (p,)
        The length of sum_i |beta_i| |X_i|.
    share : float
        What f is off by, as a share of its terms.
    out, error : arrays of shape (n, p)
    """
    near = 0
    for r in range(X.shape[0]):
        square, is_sure = 0.0, True
        for j in range(X.shape[1]):
            x = np.float64(X[r, j])
            square += x * x
        length = np.sqrt(square)
        for q in range(bias.shape[0]):
            total = 0.0
            for j in range(X.shape[1]):
                total += slopes[q, j] * X[r, j]
            out[r, q] = total - bias[q]
            error[r, q] = share * (length * reach[q] + abs(bias[q]))
            is_sure = is_sure and np.inf > abs(out[r, q]) > error[r, q]
        near += not is_sure
    return near


@compiled
def shared_outputs(
    kind, gamma, coef0, degree, X, center, columns, radius, weights, spread, bias, summing,
    out, error,
):  # fmt: skip
    """f of every machine for a few embedded queries; returns how many float32 cannot tell.

    Parameters
    ----------
    X : array of shape (n, d)
    center : array of shape (d,)
        What the vectors have been moved by.
    columns : array of shape (d, m), float32
        The vectors, one a column, so that the sums of all grow side by side.
    radius : float
        The length of the longest of them.
    weights : array of shape (p, m)
        A row for each machine.
    spread : array of shape (p,)
        The sums of their absolute values.
    summing : float
        What a sum over the vectors in float64 is off by, as a share of its terms, with what is
        allowed for transformers before the machine.
    out, error : arrays of shape (n, p)
        What f is off by at most, looked at no further than tells the sign.
    """
    d, m = columns.shape
    x, values = np.empty(d, columns.dtype), np.empty(m, columns.dtype)
    block, terms = np.empty_like(values), np.empty(m)
    share, is_radial = lost_by_sum(d), kind == RADIAL
    near = 0
    for r in range(X.shape[0]):
        square, is_sure = 0.0, True
        for j in range(d):
            moved = X[r, j] - center[j]
            x[j] = moved
            square += moved * moved
        _sums(kind, x, columns, values, block)
        length = np.sqrt(square)
        if kind == RADIAL:
            _exponentials(gamma, values)
            lost = lost_in_exponent(share, share, gamma, length, radius)
            most = most_radial(lost)
        else:
            lost = lost_in_base(share, d, gamma, coef0, length, radius)
            most = gamma * length * radius + abs(coef0) + lost
        for i in range(m):
            terms[i] = values[i]
        if kind == POLYNOMIAL:
            for i in range(m):
                terms[i] = whole_power(gamma * terms[i] + coef0, degree)
        most = lost_in_value(is_radial, degree, lost, most, summing)
        for q in range(bias.shape[0]):
            total = 0.0
            for i in range(m):
                total += weights[q, i] * terms[i]
            out[r, q] = total - bias[q]
            tiny = TINY * (spread[q] + m) + summing * abs(bias[q])
            error[r, q] = most * spread[q] + tiny
            if not abs(out[r, q]) > error[r, q]:  # vectors that hardly count hardly move it
                size = mean_size(degree, terms, weights[q], spread[q], summing)
                size = lost_in_value(is_radial, degree, lost, size, summing)
                error[r, q] = size * spread[q] + tiny
                is_sure = is_sure and np.inf > abs(out[r, q]) > error[r, q]
        near += not is_sure
    return near


def warm() -> None:
    """Compile for the types in use."""
    columns = np.ones((2, 2), dtype=np.float32)
    ones, table = np.ones(2), np.ones((2, 2))
    for dtype in (np.float32, np.float64):
        rows = np.ones((2, 2), dtype=dtype)
        out = table, table.copy()
        shared_outputs(RADIAL, 1.0, 0.0, 1, rows, ones, columns, 1.0, table, ones, ones, 0.0, *out)
        linear_outputs(rows, table.copy(), ones, ones, 0.0, *out)
