"""A slow, fitted model in, a fast classifier with a measured promise out.

Everything is measured against the model as it was handed in: its own `predict`, through all of
its steps, is what answers are compared with and what times are ratios of.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any, Literal, cast

import numpy as np
from sklearn.base import is_regressor
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.utils import _safe_indexing

from kmviz.evaluation.cost import TIMED_ROWS, seconds_per_query
from kmviz.evaluation.faithful import known_vectors, refuse_rows
from kmviz.evaluation.row_checks import doubt_about_copies
from kmviz.evaluation.trial import Request, Trial, warn_of_rows
from kmviz.evaluation.value_trial import ValueTrial
from kmviz.machines.inside import joins_several, replaced
from kmviz.machines.unwrap import chain, last_step
from kmviz.methods import progress
from kmviz.methods.exact import ExactClassifier, ExactRegressor
from kmviz.methods.promise import Promise, group_rows, warn_of_promise

#: Times faster than the model's own `predict` below which the model itself is returned.
WORTH = 1.05

#: Models whose class does not change where the score of the machine inside is 0.
OWN_THRESHOLD = (FixedThresholdClassifier, TunedThresholdClassifierCV)

#: Values of joined machines that differ by no more, as a share of the largest, are the same.
ROUNDING = 1e-9

#: Share of the support vectors among X from which on X counts as rows of the training.
TRAINING_SHARE = 0.05


def accelerate(
    fitted: Any,
    X: Any,
    method: str = "auto",
    max_disagreement: float = 0.001,
    *,
    confidence: float = 0.95,
    queries: Literal["batch", "single"] = "batch",
    target: Literal["label", "score"] = "label",
    tolerance: float | None = None,
    threshold: float | None = None,
    random_state: int | None = 0,
) -> Any:
    """Make a fitted kernel machine fast, and say what that may change.

    The model is read as a kernel machine. Where the reading answers even one row of X otherwise
    than the model's own `predict`, through all of its steps, it is refused. Part of the rows then
    calibrates the candidates; the others, which no candidate has seen, decide. The model's own
    answers are the target, so no labels are needed. The fastest candidate (in CPU time on one
    thread) that keeps the promise is returned; where none is faster than `fitted.predict`, the
    model itself is.

    Parameters
    ----------
    fitted : estimator
        A fitted `SVC`, `NuSVC`, `LinearSVC`, `OneClassSVM` or `KernelFisherClassifier`, a
        regressor (`SVR`, `NuSVR`, `KernelRidge`), or a `Pipeline`, a `FrozenEstimator`, a fitted
        search, `OneVsRestClassifier`, `FixedThresholdClassifier` or `CalibratedClassifierCV`
        around one, nested as they may be. A model that joins several machines (`Bagging...`,
        `Voting...`, calibrated folds) comes back as a copy of its own class with fast machines.
    X : array or frame of shape (n, d)
        Rows like those that will be asked about, not the ones the machine was trained on.
    method : str, default="auto"
        "auto" tries several. Or one by name, which is returned if it keeps the promise, be it
        the fastest or not: "exact", or a setting of `kmviz.methods.register` that answers in
        place of a trained machine: "nsv", "nsv_approximate", "nsv_reduced", "anytime",
        "anytime_spectral", "reduced", "reduced_5", "svtree", "svtree_path" and others.
    max_disagreement : float, default=0.001
        The share of queries that may be answered otherwise than by `fitted.predict`.
    confidence : float, default=0.95
        Of the promise as a whole, however many candidates were tried.
    queries : {"batch", "single"}
        How queries will come: many at once, or one at a time; times are taken so.
    target : {"label", "score"}
        "score" promises the model's `decision_function`, not its labels alone: for ranking,
        calibration or a cut to be chosen later. Regressors have nothing else to promise.
    tolerance : float, optional
        How far a score or a regressor's value may be off; None is a hundredth of the standard
        deviation of the model's own values. Two queries further apart than twice that keep their
        order.
    threshold : float, optional
        Answers the second of two classes where the score is above this, in place of 0; the
        promise is about these labels.
    random_state : int or None
        Which rows calibrate and which decide.

    Returns
    -------
    classifier
        Fitted, with `promise_`: what is promised, its confidence, the rows it rests on (0 rows
        where it is proved: certified methods and the exact float32 machine, which computes again
        in float64 what float32 cannot tell) and how many times faster than `fitted.predict` it
        was in this run. Where nothing was faster, a shallow copy of `fitted`, of its own class,
        whose `promise_` says so.

    Raises
    ------
    ReadingError
        A ValueError: the machine inside the model does not answer as the model does.

    Warns
    -----
    PromiseWarning
        When there are too few distinct rows for the promise (the message says how many it takes),
        or no candidate kept it, or the rows look wrong: nearly constant, copies of a few, or, for
        a quarter of them, far outside the range of the support vectors in most columns. The
        answer is then a certified method or the exact machine. And when X holds support vectors
        of the machine: rows it was trained on make every method look better than it is.

    Notes
    -----
    The promise is about labels. `decision_function` of a fast method is a score of its own, with
    the machine's sign but not its size: `exact_function` of the result gives the exact machine's
    scores of a few rows, `target="score"` scores of all rows.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> import kmviz
    >>> data = kmviz.datasets.load("banana")
    >>> svc = SVC().fit(data.X_train, data.y_train)
    >>> fast = kmviz.accelerate(svc, data.X_test, max_disagreement=0.02)
    >>> fast.promise_.rate <= 0.02, fast.promise_.faster > 1
    (True, True)
    """
    if not 0 < max_disagreement < 1:
        raise ValueError(f"max_disagreement is a share between 0 and 1; got {max_disagreement!r}.")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is a share between 0 and 1; got {confidence!r}.")
    if queries not in ("batch", "single"):
        raise ValueError(f"queries must be 'batch' or 'single'; got {queries!r}.")
    _refuse_targets(fitted, target, tolerance, threshold)
    progress.report(0.0, "reading the machine")
    if threshold is not None:
        fitted = with_threshold(fitted, X, threshold)
    if joins_several(fitted):
        return _of_several(fitted, X, method, queries)
    has_values = is_regressor(last_step(fitted)) or target == "score"
    request = Request(max_disagreement, confidence, queries, random_state, tolerance)
    return _of_one(fitted, X, method, request, ValueTrial if has_values else Trial)


def _refuse_targets(
    fitted: Any, target: str, tolerance: float | None, threshold: float | None
) -> None:
    """Refuse what does not go together."""
    if target not in ("label", "score"):
        raise ValueError(f"target must be 'label' or 'score'; got {target!r}.")
    if tolerance is not None and not tolerance > 0:
        raise ValueError(f"tolerance must be a number above 0; got {tolerance!r}.")
    values = is_regressor(last_step(fitted))
    if tolerance is not None and target == "label" and not values:
        raise ValueError("tolerance is for scores: give target='score' with it.")
    if threshold is not None and (target == "score" or values):
        raise ValueError("threshold is for labels: leave target='label'.")
    if target == "score" and not values:
        _refuse_without_score(fitted)


def _refuse_without_score(fitted: Any) -> None:
    """Refuse a classifier of which no single number for each row says what it answers."""
    if not hasattr(fitted, "decision_function"):
        reason = "has none"
    elif len(getattr(fitted, "classes_", ())) > 2:
        reason = f"has one for each of {len(fitted.classes_)} classes"
    elif any(isinstance(one, OWN_THRESHOLD) for one in chain(fitted)):
        reason = "is cut at a threshold of its own"
    elif joins_several(fitted):
        reason = "joins several machines"
    else:
        return
    raise ValueError(
        "target='score' takes a classifier of two classes whose decision_function is that of one "
        f"machine, cut at 0; this {type(fitted).__name__} {reason}: leave target='label', or give "
        "the machine inside."
    )


def with_threshold(fitted: Any, X: Any, threshold: float) -> Any:
    """Return a fitted model of two classes that is cut at another score than 0.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.svm import SVC
    >>> from kmviz.evaluation.accelerate import with_threshold
    >>> X, y = make_moons(80, noise=0.2, random_state=0)
    >>> svc = SVC().fit(X, y)
    >>> moved = with_threshold(svc, X, 0.5)
    >>> bool((moved.predict(X) == (svc.decision_function(X) > 0.5)).all())
    True
    """
    if len(getattr(fitted, "classes_", ())) != 2:
        raise ValueError("threshold is for models of two classes.")
    moved = FixedThresholdClassifier(
        FrozenEstimator(fitted), threshold=float(threshold), response_method="decision_function"
    )
    return moved.fit(X, fitted.predict(X))


def _of_several(fitted: Any, X: Any, method: str, queries: str) -> Any:
    """A model that joins machines: a copy with fast ones, if that is faster.

    The model's own code joins their answers. They are computed in float64: where a mean or a
    maximum decides, no sign alone settles it.
    """
    if method not in ("auto", "exact"):
        raise ValueError(
            f"{type(fitted).__name__} joins the answers of several machines, and these must be "
            f"exact: method must be 'auto' or 'exact'; got {method!r}."
        )
    group = group_rows(X)
    if doubt := doubt_about_copies(group):
        warn_of_rows(doubt)
    progress.report(0.1, "reading its machines")
    fast = replaced(fitted, exact_machine)
    fast.original_ = fitted
    own = np.asarray(fitted.predict(X))
    rounding = ROUNDING * (1.0 + float(np.abs(own).max())) if is_regressor(fitted) else 0.0
    refuse_rows(fitted, fast.predict(X), own, rounding)
    rows = _safe_indexing(X, slice(TIMED_ROWS[queries]))
    given, seconds = (seconds_per_query(way.predict, rows, queries) for way in (fitted, fast))
    faster = given / seconds
    if method == "auto" and faster < WORTH:
        return _as_it_is(fitted, "exact machines inside", faster, queries)
    distinct = len(np.unique(group))
    fast.promise_ = Promise(0.0, 1.0, 0, checked=len(own), distinct=distinct, faster=faster)
    return fast


def exact_machine(machine: Any) -> Any:
    """Return the exact machine of a fitted SVM or kernel ridge, which answers as it does."""
    row: Any = np.zeros((1, machine.n_features_in_))
    if hasattr(machine, "feature_names_in_"):
        import pandas as pd

        row = pd.DataFrame(row, columns=machine.feature_names_in_)
    cls = ExactRegressor if is_regressor(machine) else ExactClassifier
    return cls(FrozenEstimator(machine), dtype="float64").fit(row)


def _of_one(fitted: Any, X: Any, method: str, request: Request, trial_class: type[Trial]) -> Any:
    """A model of one machine, or of one for each pair: the fastest candidate that keeps it."""
    if method not in ("auto", *(known := trial_class.known(fitted))):
        raise ValueError(f"method must be 'auto' or one of {', '.join(known)}; got {method!r}.")
    trial = trial_class(fitted, X, request)
    if trial.doubt:
        warn_of_rows(trial.doubt)
    elif trial_class is Trial:
        _warn_of_training_rows(trial.exact, X)
    best = trial.best(method)
    faster = trial.own_seconds / best.seconds
    if method == "auto" and faster < WORTH:
        return _as_it_is(fitted, best.name, faster, request.queries)
    best.classifier.promise_ = replace(cast(Promise, best.promise), faster=faster)
    return best.classifier


def _as_it_is(fitted: Any, name: str, faster: float, queries: str) -> Any:
    """Return a shallow copy of the model itself, whose `promise_` says why it comes back."""
    how = "in batch" if queries == "batch" else "one query at a time"
    note = (
        f"the model as it was handed in: nothing is faster {how} (the best, {name}, took "
        f"{1.0 / faster:.2f} times as long)"
    )
    same = copy(fitted)
    same.promise_ = Promise(0.0, 1.0, 0, note=note)
    return same


def _warn_of_training_rows(exact: ExactClassifier, X: Any) -> None:
    share = known_vectors(exact, X)
    if share >= TRAINING_SHARE:
        warn_of_promise(
            f"X holds {share:.0%} of the machine's own support vectors. If these are rows that the "
            "machine was trained on, give rows that it has not seen: training rows are answered "
            "more surely than new ones, and the promise would be too good. If equal rows are "
            "natural, as among few categories, the promise holds."
        )
