"""Neighbours in many dimensions: a search among principal components.

This goes beyond the paper, whose neighbourhoods are exact. A kd-tree in more than some fifteen
dimensions visits most of its rows; in the few directions of largest variance it does not. Only the
search is projected: local SVMs are trained on, and answer in, all coordinates.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

#: Rows that the directions are computed from; more do not move them.
SAMPLE = 20_000


def principal_axes(rows: NDArray[Any], n_axes: int, seed: int) -> NDArray[Any]:
    """Return the directions of largest variance as columns, (d, n_axes), largest first."""
    some = rows
    if len(rows) > SAMPLE:
        some = rows[np.random.default_rng(seed).choice(len(rows), SAMPLE, replace=False)]
    centered = some.astype(np.float64) - some.mean(axis=0, dtype=np.float64)
    d = rows.shape[1]
    wanted = [max(0, d - n_axes), d - 1]  # in rising order of variance
    _, directions = eigh(centered.T @ centered, subset_by_index=wanted)
    return np.ascontiguousarray(directions[:, ::-1], dtype=rows.dtype)
