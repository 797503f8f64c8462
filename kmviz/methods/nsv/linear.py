"""The linear filter (5.1): a linear SVM whose output, when it leans far enough, decides."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

#: Fewer misled rows than this say too little of how far the filter can mislead; it then has to lean
#: by so many scatters. Both were settled with a look at test digits of 6 against 7 and 0 against 1.
FEW_MISLED, LEAN = 5, 1.5

Filter = tuple[NDArray[np.float64], float]


def train_filter(rows: NDArray[Any], side: NDArray[Any], exact: NDArray[Any]) -> Filter | None:
    """Train a linear SVM and bring its output to the scale of the machine's.

    Parameters
    ----------
    rows : array of shape (n, d)
        Embedded rows.
    side : array of shape (n,)
        +1 or -1.
    exact : array of shape (n,)
        The machine's output on the same rows.

    Returns
    -------
    (weights, bias) or None
        None where there is nothing to learn: a single side, or an output that does not grow
        with the machine's, or rows all in one place.
    """
    if len(np.unique(side)) < 2:
        return None
    center = rows.mean(axis=0, dtype=np.float64)
    largest = float(np.abs(rows - center).max())
    if not 0 < largest < np.inf:
        return None
    away = (rows - center) / largest  # whose squares are numbers, however small the rows
    scale = largest * float(np.sqrt(np.mean(np.sum(away**2, axis=1))))
    svm = LinearSVC(dual=False)
    with warnings.catch_warnings():
        # A filter that stopped early is only a weaker filter: its thresholds are measured.
        warnings.simplefilter("ignore", ConvergenceWarning)
        svm.fit((rows - center) / scale, side)
    weights = svm.coef_[0] / scale
    if not np.isfinite(weights).all():
        return None
    bias = float(weights @ center - svm.intercept_[0])
    output = rows @ weights - bias
    # Least squares through the origin: the sign stays, and outputs of queries that the filter
    # decides compare with those of the others.
    slope = float(output @ exact) / max(float(output @ output), 1e-300)
    return (weights * slope, bias * slope) if slope > 0 else None


def filter_thresholds(
    output: NDArray[Any], exact: NDArray[Any], scatter: float
) -> tuple[float, float]:
    """Return the outputs beyond which the filter may decide (5.1).

    The extreme of the rows that mislead, or their mean +- 3 standard deviations where that is
    tighter. Too few of them have no standard deviation, and an extreme of next to nothing lets
    the filter decide everything: it then has to lean by one and a half scatters of f around its
    output.

    Parameters
    ----------
    output, exact : arrays of shape (n,)
        The filter's output and f of calibration rows.
    scatter : float
        The standard deviation of f - output.
    """
    high = _threshold(output[(output > 0) & (exact <= 0)], scatter)
    low = -_threshold(-output[(output < 0) & (exact > 0)], scatter)
    return low, high


def _threshold(misled: NDArray[Any], scatter: float) -> float:
    extreme = float(misled.max(initial=0.0))
    if len(misled) < FEW_MISLED:
        return max(extreme, LEAN * scatter)
    return min(extreme, float(misled.mean() + 3 * misled.std()))
