"""What is done with whole rows at once: kernel values of one point with many, a first check.

Kernel values vectorise: points stand with a coordinate in each row and a point in each column.
"""

from __future__ import annotations

import numpy as np

from kmviz.loops.compile import compiled
from kmviz.loops.exponential import exp64
from kmviz.loops.kernel import POLYNOMIAL, RADIAL, whole_power


@compiled
def kernel_row(kind, gamma, coef0, degree, points, m, x, out):
    """K(x, points[:, t]) for t < m, in float64."""
    for t in range(m):
        out[t] = 0.0
    if kind == RADIAL:
        for f in range(points.shape[0]):
            here, column = x[f], points[f]
            for t in range(m):
                gap = column[t] - here
                out[t] += gap * gap
        for t in range(m):
            out[t] = exp64(-gamma * out[t])
        return
    for f in range(points.shape[0]):
        here, column = x[f], points[f]
        for t in range(m):
            out[t] += column[t] * here
    if kind == POLYNOMIAL:
        for t in range(m):
            out[t] = whole_power(gamma * out[t] + coef0, degree)


@compiled
def squares_below(numbers, limit):
    """Whether the sum of all squares is less; no number is then NaN or infinite."""
    total = 0.0
    for i in range(numbers.shape[0]):
        x = np.float64(numbers[i])
        total += x * x
    return total < limit


def warm() -> None:
    """Compile for the types in use."""
    kernel_row(RADIAL, 1.0, 0.0, 1, np.ones((2, 2)), 2, np.ones(2), np.empty(2))
    for dtype in (np.float32, np.float64):
        squares_below(np.ones(2, dtype), 1.0)
