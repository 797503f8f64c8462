"""A reduced machine asked vector by vector, stopped as soon as its output is safe."""

from __future__ import annotations

import numpy as np

from kmviz.loops.compile import compiled
from kmviz.loops.kernel import RADIAL, kernel_value


@compiled
def sequential_outputs(
    kind, gamma, coef0, degree, X, vectors, nested, bias, low, high, output, steps
):
    """Sum the first 1, 2, ... vectors, each time with their own weights, until one is safe."""
    n = vectors.shape[0]
    values = np.empty(n)
    for i in range(X.shape[0]):
        partial = -bias
        used = 0
        for k in range(n):
            values[k] = kernel_value(kind, gamma, coef0, degree, X[i], vectors[k])
            partial = -bias
            for j in range(k + 1):
                partial += nested[k, j] * values[j]
            used = k + 1
            if partial < low[k + 1] or partial > high[k + 1]:
                break
        output[i] = partial
        steps[i] = used


def warm() -> None:
    """Compile for the types in use."""
    ends = np.full(3, np.inf)
    for dtype in (np.float32, np.float64):
        rows = np.ones((2, 2), dtype=dtype)
        answers = np.empty(2), np.empty(2, dtype=np.intp)
        sequential_outputs(RADIAL, 1.0, 0.0, 1, rows, rows, np.eye(2), 0.0, -ends, ends, *answers)
