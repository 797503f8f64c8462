"""Neighbours in many dimensions: a search among principal components.

This goes beyond the paper, whose neighbourhoods are exact. A kd-tree in more than some fifteen
dimensions visits most of its rows; in the few directions of largest variance it does not. Only the
search is projected: local SVMs are trained on, and answer in, all coordinates.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.methods.falk.neighbors import EuclideanIndex

#: Rows that the directions are computed from; more do not move them.
SAMPLE = 20_000
#: Rows that a search is tried among, at most and at least.
PROBED, FEWEST = 5_000, 512
#: Shares of the rows: a search that looks at more is projected, until it looks at no more.
MOST, ENOUGH = 0.5, 0.1
#: Components that are tried, the most first.
AXES = (16, 12, 10, 8, 6, 5, 4, 3, 2)


def principal_axes(rows: NDArray[Any], n_axes: int, seed: int) -> NDArray[Any]:
    """Return the directions of largest variance as columns, (d, n_axes), largest first."""
    some = rows
    if len(rows) > SAMPLE:
        some = rows[np.random.default_rng(seed).choice(len(rows), SAMPLE, replace=False)]
    centered = some.astype(np.float64) - some.mean(axis=0, dtype=np.float64)
    # All of them: LAPACK's search for a few may return none where eigenvalues repeat.
    _, directions = np.linalg.eigh(centered.T @ centered)  # in rising order of variance
    return np.ascontiguousarray(directions[:, ::-1][:, :n_axes], dtype=rows.dtype)


def axes_that_pay(rows: NDArray[Any], seed: int) -> NDArray[Any] | None:
    """Return the axes to search among where a search in all coordinates visits most rows.

    Probe queries are asked among a sample of the rows: as many components as leave a search with
    a tenth of them. None where the plain search visits no more than half, or the rows are few.
    """
    if len(rows) < FEWEST:
        return None
    some = np.random.default_rng(seed).permutation(len(rows))[:PROBED]
    probed = rows[some]
    if EuclideanIndex(probed).overhead <= MOST * len(probed):
        return None
    axes = principal_axes(rows, AXES[0], seed)
    for n_axes in AXES:
        if EuclideanIndex(probed @ axes[:, :n_axes]).overhead <= ENOUGH * len(probed):
            break
    return np.ascontiguousarray(axes[:, :n_axes])
