"""A promise about disagreement, proved on rows that set nothing.

`kmviz.methods.promise.smallest_margin` tries margins, from one that nothing passes down to the
bare envelope.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.methods.progress import report
from kmviz.methods.promise import (
    NotProvedError,
    distinct_misses,
    group_rows,
    rows_needed,
    smallest_margin,
    upper_bound,
)

#: From thresholds that nothing passes down to the bare envelope.
MARGINS = (np.inf, 8.0, 6.0, 5.0, 4.0, 3.5, 3.0, 2.5, 2.0, 1.75, 1.5, 1.25, 1.0, 0.75, 0.5,
           0.375, 0.25, 0.125, 0.0)  # fmt: skip


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

    def differ_at(margin: float) -> NDArray[np.bool_]:
        report(MARGINS.index(margin) / len(MARGINS), "proving the promise")
        return _differing(clf, proof, labels, margin)

    proved = smallest_margin(MARGINS, differ_at, group, rate, confidence)
    if proved is None:  # all vectors were touched, and only rounding can have changed a sign
        misses, rows = distinct_misses(_differing(clf, proof, labels, MARGINS[0]), group)
        raise NotProvedError(
            f"max_disagreement={rate:g} cannot be proved: for {misses} of {rows} rows f(x) "
            "is so near 0 that rounding decides its sign. Give other or more rows of "
            "X_calibration, or a larger max_disagreement."
        )
    margin, clf.promise_ = proved
    clf.margin_ = float(margin)
    _set_margin(clf, margin)
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
