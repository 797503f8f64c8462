"""Machines on the same vectors: each kernel value is computed once, for all of them.

Sums are float32 where the vectors are; `blur` bounds what that may move f by, so that a row
whose sign it might change is known and can be computed again.
"""

from __future__ import annotations

import numpy as np

from kmviz.loops.compile import compiled, part, part_finite, part_strict
from kmviz.loops.exponential import exp32
from kmviz.loops.kernel import POLYNOMIAL, RADIAL, whole_power

#: A unit in the last place of float32, and how many of them a kernel value may lose: so many at
#: least, and for sums over d columns so many times the root of d.
UNIT, LOST, LOST_BY_COLUMN = 2.0**-23, 4.0, 0.5

#: A radial value is moved by a share of itself, so many times what its exponent is moved by; one
#: whose exponent is moved by more than this says nothing.
SHARE, MOST_LOST = 1.25, 0.25


@part_strict
def blur(kind, gamma, coef0, degree, d, length, radius):
    """What float32 may move a kernel value by, for a query and vectors of these lengths."""
    lost = UNIT * (LOST + LOST_BY_COLUMN * np.sqrt(d))
    if kind == RADIAL:
        return lost * (1.0 + gamma * (length + radius) * (length + radius))
    largest = length * radius
    if kind == POLYNOMIAL:
        largest = whole_power(gamma * largest + abs(coef0), degree)
    return lost * (degree + 1.0) * largest


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
def is_told(kind, gamma, coef0, degree, output, lost, step, values, weights):
    """Whether float32 tells the sign of a sum, which vectors that hardly count hardly move.

    `lost` is what a radial exponent may be moved by, `step` the base of a power.
    """
    size = 0.0
    if kind == RADIAL and lost < MOST_LOST:
        for i in range(values.shape[0]):
            size += abs(weights[i]) * np.float64(values[i])
        return abs(output) > SHARE * lost * size
    if kind == POLYNOMIAL:  # (v + s)^p - v^p <= p s (|v| + s)^(p - 1)
        for i in range(values.shape[0]):
            base = abs(gamma * np.float64(values[i]) + coef0) + step
            size += abs(weights[i]) * whole_power(base, degree - 1)
        return abs(output) > (degree + 1.0) * step * size
    return False


@compiled
def shared_outputs(
    kind, gamma, coef0, degree, X, center, columns, radius, weights, spread, bias, out
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
    weights : array of shape (m, p)
        A column for each machine.
    spread : array of shape (p,)
        The sums of their absolute values.
    out : array of shape (n, p)
    """
    d, p = center.shape[0], bias.shape[0]
    x, values = np.empty(d, columns.dtype), np.empty(columns.shape[1], columns.dtype)
    near = 0
    for r in range(X.shape[0]):
        square = 0.0
        for j in range(d):
            moved = X[r, j] - center[j]
            x[j] = moved
            square += moved * moved
        values[:] = 0
        if kind == RADIAL:
            add_squares(x, columns, values)
            _exponentials(gamma, values)
        else:
            add_products(x, columns, values)
        for q in range(p):
            out[r, q] = -bias[q]
        for i in range(values.shape[0]):
            value = np.float64(values[i])
            if kind == POLYNOMIAL:
                value = whole_power(gamma * value + coef0, degree)
            for q in range(p):
                out[r, q] += weights[i, q] * value
        length = np.sqrt(square)
        lost = blur(kind, gamma, coef0, degree, d, length, radius)
        step = UNIT * (LOST + LOST_BY_COLUMN * np.sqrt(d)) * (gamma * length * radius + abs(coef0))
        unsure = False
        for q in range(p):
            if not abs(out[r, q]) > lost * spread[q]:
                unsure = unsure or not is_told(
                    kind, gamma, coef0, degree, out[r, q], lost, step, values, weights[:, q]
                )
        near += unsure
    return near


def warm() -> None:
    """Compile for the types in use."""
    columns = np.ones((2, 2), dtype=np.float32)
    ones, table = np.ones(2), np.ones((2, 2))
    for dtype in (np.float32, np.float64):
        rows = np.ones((2, 2), dtype=dtype)
        shared_outputs(RADIAL, 1.0, 0.0, 1, rows, ones, columns, 1.0, table, ones, ones, table)
