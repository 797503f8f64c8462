"""A fast classifier at work, checked against the model it replaces on a sample of its queries."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from kmviz.evaluation.cost import disagreement
from kmviz.io.table import TableClassifier


class AuditWarning(UserWarning):
    """More answers differ than was promised."""


@dataclass(frozen=True)
class Audit:
    """What a sample of queries says about a fast classifier.

    Attributes
    ----------
    rows : int
        Queries that the model itself answered as well.
    disagreements : int
        How many of them differed.
    rate : float
        Their share.
    low, high : float
        The two-sided confidence interval of the true rate, which holds at every sample size.
    confidence : float
    promised : float or None
        The rate that was promised, None if nothing was.
    exceeded : bool
        Whether even `low` is above what was promised.
    """

    rows: int
    disagreements: int
    rate: float
    low: float
    high: float
    confidence: float
    promised: float | None

    @property
    def exceeded(self) -> bool:
        return self.promised is not None and self.low > self.promised

    def __str__(self) -> str:
        return (
            f"{self.disagreements} of {self.rows} audited answers differ: {self.rate:.3%}, "
            f"between {self.low:.3%} and {self.high:.3%} with {self.confidence:.0%} confidence"
        )


def audit(
    clf: Any,
    X: Any,
    share: float = 0.01,
    random_state: Any = None,
    *,
    confidence: float = 0.95,
) -> Audit:
    """Ask the model that a fast classifier replaces about a sample of queries.

    That is `clf.estimator_`, whole: the fitted estimator that was handed in or trained, with the
    steps before its machine.

    Parameters
    ----------
    clf : fitted classifier or regressor
        A method on a trained machine (not FaLK-SVM, which has none), what `accelerate` returned,
        or a `Pipeline` that ends in one. A regressor's value differs where it is off by more than
        the tolerance that was promised.
    X : array or frame of shape (n, d)
        Queries as they come.
    share : float, default=0.01
        The share of the rows to audit; at least one row is.
    random_state : int, RandomState or None
        Which rows those are.
    confidence : float, default=0.95

    Returns
    -------
    Audit

    Warns
    -----
    AuditWarning
        When the sample shows, with that confidence, more disagreement than was promised
        (`promise_`).

    Examples
    --------
    >>> import kmviz
    >>> data = kmviz.datasets.load("banana")
    >>> clf = kmviz.ExactClassifier().fit(data.X_train, data.y_train)
    >>> result = kmviz.audit(clf, data.X_test, share=0.1, random_state=0)
    >>> result.rows, result.disagreements
    (490, 0)
    """
    if not 0 < share <= 1:
        raise ValueError(f"share must be above 0 and at most 1; got {share!r}.")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is a share between 0 and 1; got {confidence!r}.")
    clf, X = _unwrapped(clf, X)
    check_is_fitted(clf)
    rng, size = check_random_state(random_state), ceil(share * _num_samples(X))
    rows = _safe_indexing(X, np.sort(rng.choice(_num_samples(X), size=size, replace=False)))
    result = _counted(clf, rows, confidence)
    if result.exceeded:
        warnings.warn(
            f"{result}, above the {result.promised:.3%} that was promised. The queries may have "
            "drifted: calibrate again on recent rows.",
            AuditWarning,
            stacklevel=2,
        )
    return result


def _counted(clf: Any, rows: Any, confidence: float) -> Audit:
    """Count the differing answers of a simple random sample."""
    found = disagreement(*_both(clf, rows), confidence)
    return Audit(
        rows=int(found["queries"]),
        disagreements=int(found["disagreements"]),
        rate=found["disagreement"],
        low=found["disagreement_low"],
        high=found["disagreement_high"],
        confidence=confidence,
        promised=_promised(clf),
    )


def _promised(clf: Any) -> float | None:
    promise = getattr(clf, "promise_", None)
    return None if promise is None else promise.rate


def _both(clf: Any, rows: Any) -> tuple[Any, Any]:
    """The answers of a fast method and of the model that it replaces, comparable as they are."""
    if hasattr(clf, "estimator_labels"):
        return clf.predict(rows), clf.estimator_labels(rows)
    if hasattr(clf, "estimator_values"):
        off = np.abs(clf.predict(rows) - clf.estimator_values(rows))
        allowed = getattr(getattr(clf, "promise_", None), "tolerance", None) or getattr(
            clf, "tolerance", 0.0
        )
        return off > allowed, np.zeros(len(off), dtype=bool)
    if hasattr(getattr(clf, "original_", None), "predict"):  # machines replaced inside
        return clf.predict(rows), clf.original_.predict(rows)
    if hasattr(clf, "promise_"):  # the model itself: nothing was faster
        return (answers := clf.predict(rows)), answers
    raise TypeError(
        f"{type(clf).__name__} has no exact machine to be audited against; give a method "
        "that answers in place of a trained one."
    )


def _unwrapped(clf: Any, X: Any) -> tuple[Any, Any]:
    """The classifier behind an encoder or at the end of a Pipeline, and the rows it sees."""
    if isinstance(clf, TableClassifier):
        return _unwrapped(clf.classifier, clf.encoder.transform(X))
    if isinstance(clf, Pipeline) and not (hasattr(clf, "original_") or hasattr(clf, "promise_")):
        return _unwrapped(clf[-1], clf[:-1].transform(X) if len(clf) > 1 else X)
    return clf, X
