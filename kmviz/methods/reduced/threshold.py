"""The threshold that errs least on given rows (section 5 of the paper).

"This can be done easily by finding the maximum of the difference between the two un-normalized
cumulative distributions of the values of the dot products": with s(t) the number of negative
rows up to t minus the number of positive ones, the errors at threshold t are
(positives up to t) + (negatives above t) = n_negative - s(t).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def bayes_threshold(
    outputs: NDArray[np.float64], positive: NDArray[np.bool_], bias: float
) -> float:
    """Return the b that makes sign(output - b) err least.

    Parameters
    ----------
    outputs : array of shape (n,)
        sum_k g_k K(z_k, x), without the bias.
    positive : array of shape (n,)
    bias : float
        The threshold so far; of equally good ones the nearest to it is taken.
    """
    order = np.argsort(outputs, kind="stable")
    values = outputs[order]
    balance = np.concatenate([[0], np.cumsum(np.where(positive[order], -1, 1))])
    ends = np.concatenate([[-np.inf], values, [np.inf]])
    low, high = ends[:-1], ends[1:]  # a threshold in [low, high) leaves k rows below it
    is_gap = high > low
    best = np.flatnonzero(is_gap & (balance == balance[is_gap].max()))
    if np.any((low[best] <= bias) & (bias < high[best])):
        return float(bias)
    at = best[np.argmin(np.maximum(low[best] - bias, bias - high[best]))]
    if np.isinf(low[at]) or np.isinf(high[at]):
        return float(np.nextafter(high[at], -np.inf) if np.isinf(low[at]) else low[at])
    return float((low[at] + high[at]) / 2.0)


def errors_at(outputs: NDArray[np.float64], positive: NDArray[np.bool_], bias: float) -> int:
    """Return how many rows sign(output - b) gets wrong."""
    return int(np.count_nonzero((outputs > bias) != positive))
