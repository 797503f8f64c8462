"""Rows as normalised kernels read them."""

from __future__ import annotations

import numpy as np

from kmviz.loops.compile import compiled


@compiled
def unit_rows(rows, gamma, coef0, units):
    """[sqrt(gamma) x, sqrt(coef0)] / its length, for each row x.

    `units` has a column more than `rows`, or as many: then the last is left out. A row without
    length stays 0.
    """
    d = rows.shape[1]
    root, last = np.sqrt(gamma), np.sqrt(coef0)
    for r in range(rows.shape[0]):
        x, unit = rows[r], units[r]
        square = 0.0
        for j in range(d):
            square += np.float64(x[j]) * np.float64(x[j])
        length = np.sqrt(gamma * square + coef0)
        scale = 1.0 / length if length > 0.0 else 0.0
        factor = x.dtype.type(root * scale)
        for j in range(d):
            unit[j] = factor * x[j]
        if unit.shape[0] > d:
            unit[d] = last * scale


def warm() -> None:
    """Compile for the types in use."""
    for dtype in (np.float32, np.float64):
        rows = np.ones((1, 1), dtype=dtype)
        unit_rows(rows, 1.0, 0.0, np.empty_like(rows))
