"""The linear filter (5.1): a linear SVM whose output, when it leans far enough, decides."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

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
        with the machine's.
    """
    if len(np.unique(side)) < 2:
        return None
    center = rows.mean(axis=0, dtype=np.float64)
    scale = np.sqrt(np.mean(np.sum((rows - center) ** 2, axis=1))) or 1.0
    svm = LinearSVC(dual=False)
    with warnings.catch_warnings():
        # A filter that stopped early is only a weaker filter: its thresholds are measured.
        warnings.simplefilter("ignore", ConvergenceWarning)
        svm.fit((rows - center) / scale, side)
    weights = svm.coef_[0] / scale
    bias = float(weights @ center - svm.intercept_[0])
    output = rows @ weights - bias
    # Least squares through the origin: the sign stays, and outputs of queries that the filter
    # decides compare with those of the others.
    slope = float(output @ exact) / max(float(output @ output), 1e-300)
    return (weights * slope, bias * slope) if slope > 0 else None


def tightened(
    low: float, high: float, output: NDArray[Any], exact: NDArray[Any]
) -> tuple[float, float]:
    """Draw the filter's thresholds in to mean +- 3 sd of the misled rows, where tighter (5.1)."""
    fooled_up = output[(output > 0) & (exact <= 0)]
    fooled_down = output[(output < 0) & (exact > 0)]
    if len(fooled_up):
        high = min(high, float(fooled_up.mean() + 3 * fooled_up.std()))
    if len(fooled_down):
        low = max(low, float(fooled_down.mean() - 3 * fooled_down.std()))
    return low, high
