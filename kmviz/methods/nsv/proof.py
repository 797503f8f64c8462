"""A promise about disagreement, proved on rows that set nothing.

Margins are tried from exact downwards. Each is accepted while the one-sided Clopper-Pearson
bound on the share of changed answers keeps the promise, and the first failure ends the search:
testing in a fixed order spends the confidence once, however many margins are tried.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing, check_random_state

from kmviz.methods.progress import report
from kmviz.methods.promise import (
    Promise,
    deal_groups,
    distinct_misses,
    group_rows,
    rows_needed,
    upper_bound,
)

#: From thresholds that nothing passes down to the bare envelope.
MARGINS = (np.inf, 8.0, 6.0, 5.0, 4.0, 3.5, 3.0, 2.5, 2.0, 1.75, 1.5, 1.25, 1.0, 0.75, 0.5,
           0.375, 0.25, 0.125, 0.0)  # fmt: skip


class NotProvedError(ValueError):
    """The rows do not bear a promise out, whatever the thresholds."""


def split_rows(rows: Any, seed: int) -> tuple[Any, Any]:
    """Deal the rows into two halves: one to set the thresholds, one to prove the promise.

    Equal rows go to the same half.
    """
    group = group_rows(rows)
    n = len(np.unique(group))
    if n < 2:
        raise ValueError(
            "max_disagreement needs rows to set the thresholds and others to prove the promise; "
            f"X_calibration has {n} distinct row(s)."
        )
    setting, proving = deal_groups(group, n // 2, check_random_state(seed))
    return _safe_indexing(rows, setting), _safe_indexing(rows, proving)


def refuse_few(clf: Any, n_rows: int) -> None:
    """Say how many rows the promise takes, where there are fewer to prove it."""
    rate, confidence = clf.max_disagreement, clf.confidence
    if upper_bound(0, n_rows, confidence) > rate:
        needed = rows_needed(rate, confidence)
        raise ValueError(
            f"max_disagreement={rate:g} with confidence={confidence:g} takes at least {needed} "
            f"rows that set nothing, and there are {n_rows}. Give {2 * needed} rows of "
            "X_calibration, a larger max_disagreement or a lower confidence."
        )


def widen_until_proved(clf: Any, proof: NDArray[Any], labels: NDArray[Any]) -> None:
    """Give `clf` the smallest margin that `proof` allows, and its `promise_`.

    Parameters
    ----------
    clf : NSVClassifier
    proof : array of shape (n, d)
        Rows as its machines read them.
    labels : array of shape (n,)
        What the model itself answers to them.
    """
    rate, confidence = clf.max_disagreement, clf.confidence
    group = group_rows(proof)
    refuse_few(clf, len(np.unique(group)))
    best = None
    for tried, margin in enumerate(MARGINS):
        report(tried / len(MARGINS), "proving the promise")
        misses, rows = distinct_misses(_differing(clf, proof, labels, margin), group)
        bound = upper_bound(misses, rows, confidence)
        if bound > rate:
            break
        best = margin, Promise(rate, confidence, rows, misses, bound)
    if best is None:  # all vectors were touched, and only rounding can have changed a sign
        raise NotProvedError(
            f"max_disagreement={rate:g} cannot be proved: for {misses} of {rows} rows f(x) "
            "is so near 0 that rounding decides its sign. Give other or more rows of "
            "X_calibration, or a larger max_disagreement."
        )
    clf.margin_, clf.promise_ = float(best[0]), best[1]
    _set_margin(clf, best[0])
    clf.count_overhead()


def _differing(
    clf: Any, proof: NDArray[Any], labels: NDArray[Any], margin: float
) -> NDArray[np.bool_]:
    _set_margin(clf, margin)
    outputs, _ = clf.answer_pairs(proof)
    return clf.classes_[clf.rule_.winners(outputs)] != labels


def _set_margin(clf: Any, margin: float) -> None:
    for engine in clf.engines_:
        engine.set_limits(clf.window, margin, clf.linear_filter)
    if clf.shared_ is not None:
        clf.shared_ = clf.shared_.under(margin)
