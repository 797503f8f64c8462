"""The linear filter (5.1): a linear SVM whose output, when it leans far enough, decides."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

#: Fewer misled rows than this say too little of how far the filter can mislead; it then has to lean
#: by so many scatters. Both were settled with a look at test digits of 6 against 7 and 0 against 1.
FEW_MISLED, LEAN = 5, 1.5

Filter = tuple[NDArray[np.float64], float]

#: The price of an error, as LinearSVC has it. Newton's method settles in some six steps, fewer from
#: a start that is nearly there, such as what one row in `THIN` finds. Once a step moves the outputs
#: by no more than this share of them, the next would by a thousandth: which a filter that stands
#: for another, or is a start itself, does without.
COST, MOST_STEPS, SETTLED, THIN = 1.0, 50, 0.05, 4
#: Rows no further apart than this, squared, are taken as one.
TINY = 1e-200


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
    bias = float(weights @ center - svm.intercept_[0])
    return _like(weights, bias, rows @ weights - bias, exact)


def filter_of_products(
    products: NDArray[Any],
    rows: NDArray[Any],
    side: NDArray[Any],
    exact: NDArray[Any],
    start: NDArray[Any] | None = None,
) -> tuple[Filter | None, NDArray[Any]]:
    """Return what `train_filter` finds, from the dot products of all pairs of rows.

    Parameters
    ----------
    products : array of shape (n, n)
        Of the rows, or of the rows moved by any vector.
    rows, exact : arrays
        As in `train_filter`.
    side : array of shape (n,)
        +1 or -1; 0 for rows that are left out.
    start : array of shape (n,), optional
        Weights of the rows in a filter that is nearly the same.

    Returns
    -------
    Filter or None, and the weights of the rows
    """
    y = side.astype(products.dtype)
    if not ((y > 0).any() and (y < 0).any()):
        return None, np.zeros(len(y))
    share = (y != 0) / products.dtype.type(np.count_nonzero(y))
    mean = products @ share
    square = float(share @ np.diag(products) - share @ mean)
    if not TINY < square < np.inf:  # rows that are all the same, or too long for their products
        return None, np.zeros(len(y))
    system = products, mean, float(share @ mean), square
    if start is None:
        alpha, output = _squared_hinge(*system, y, _first_rows(*system, y), 0.0)
    else:
        active = np.flatnonzero((y != 0) & (start != 0))
        alpha, output = _squared_hinge(*system, y, active, SETTLED)
    along, center = (np.array([alpha, share]) @ rows).astype(np.float64)
    weights = (along - float(alpha.sum()) * center) / square
    bias = float(weights @ center) - float(alpha.sum())
    return _like(weights, bias, output * (y != 0), exact), alpha


def _first_rows(
    products: NDArray[Any], mean: NDArray[Any], whole: float, square: float, y: NDArray[Any]
) -> NDArray[np.intp]:
    """Return the rows that a filter of a few of the rows gets wrong, or nearly."""
    few = np.where(np.arange(len(y)) % THIN == 0, y, 0)
    if not ((few > 0).any() and (few < 0).any()):
        few = y
    between = few * (products @ few - few.sum() * mean)  # the least lie deepest
    depth = np.quantile(between[few != 0], 1 / 3)
    active = np.flatnonzero((few != 0) & (between <= depth))
    _, f = _squared_hinge(products, mean, whole, square, few, active, SETTLED)
    found = np.flatnonzero(y * f < np.abs(y))
    return found if len(found) else active


def _squared_hinge(
    products: NDArray[Any],
    mean: NDArray[Any],
    whole: float,
    square: float,
    y: NDArray[Any],
    active: NDArray[Any],
    settled: float,
) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Minimise |w|^2 / 2 + C sum max(0, 1 - y f)^2 over w = sum alpha_i x_i, by Newton's method.

    On the rows with y f < 1 the minimum solves (K + I / 2C) alpha = y; elsewhere alpha is 0. K are
    the products of rows about their mean, brought to length 1, and a constant column. Returns alpha
    and f.
    """
    alpha, f = np.zeros_like(y), np.zeros_like(y)
    for _ in range(MOST_STEPS):
        part = products[active]
        system = part[:, active] - mean[active] - (mean[active] - whole)[:, None]
        system /= square
        system += 1.0
        system[np.diag_indices_from(system)] += 1 / (2 * COST)
        found = cho_solve(cho_factor(system, overwrite_a=True), y[active])
        target, total = np.zeros_like(y), found.sum()
        target[active] = found
        there = (found @ part - total * mean - (found @ mean[active] - total * whole)) / square
        there += total
        before = _objective(alpha, f, y)
        steps = (0.5**k for k in range(20))  # too far: half way, and half again
        step = next(
            (t for t in steps
             if _objective(alpha + t * (target - alpha), f + t * (there - f), y) < before), 0.0
        )  # fmt: skip
        moved = float(np.linalg.norm(there - f)) / max(float(np.linalg.norm(there)), TINY)
        alpha, f = alpha + step * (target - alpha), f + step * (there - f)
        was, active = active, np.flatnonzero(y * f < np.abs(y))
        is_settled = moved <= settled or np.array_equal(was, active)
        if step == 0 or not len(active) or (step == 1 and is_settled):
            break
    return alpha, f


def _objective(alpha: NDArray[Any], f: NDArray[Any], y: NDArray[Any]) -> float:
    missed = np.maximum(np.abs(y) - y * f, 0.0)  # 0 where y is
    return float(alpha @ f) / 2 + COST * float(missed @ missed)


def _like(
    weights: NDArray[Any], bias: float, output: NDArray[Any], exact: NDArray[Any]
) -> Filter | None:
    """Bring a filter to the scale of the machine's output, given its own for the same rows."""
    if not np.isfinite(weights).all():
        return None
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
