"""Neighbours in many dimensions: a search among principal components.

This goes beyond the paper, whose neighbourhoods are exact. A kd-tree in more than some fifteen
dimensions visits most of its rows; in the few directions of largest variance it does not. Only the
search is projected: local SVMs are trained on, and answer in, all coordinates.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Rows that the directions are computed from; more do not move them.
SAMPLE = 20_000


def principal_axes(rows: NDArray[Any], n_axes: int, seed: int) -> NDArray[Any]:
    """Return the directions of largest variance as columns, (d, n_axes), largest first."""
    some = rows
    if len(rows) > SAMPLE:
        some = rows[np.random.default_rng(seed).choice(len(rows), SAMPLE, replace=False)]
    centered = some.astype(np.float64) - some.mean(axis=0, dtype=np.float64)
    # All of them: LAPACK's search for a few may return none where eigenvalues repeat.
    _, directions = np.linalg.eigh(centered.T @ centered)  # in rising order of variance
    return np.ascontiguousarray(directions[:, ::-1][:, :n_axes], dtype=rows.dtype)
