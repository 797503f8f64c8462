"""What stands around a machine: pipelines, frozen estimators and searches, at every level.

`first_steps` and `last_step` take a fitted estimator apart so that applying the first and asking
the second is the whole estimator's own answer, up to where it is cut (`kmviz.machines.cut`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC, NuSVR, OneClassSVM

#: Methods in which a subclass may answer otherwise than the machine that can be read from it.
ANSWERS = (
    "predict", "decision_function", "_decision_function", "_dense_decision_function",
    "_sparse_decision_function", "_dense_predict", "_sparse_predict", "_validate_for_predict",
)  # fmt: skip

#: Estimators around one other, whose rows are its rows.
AROUND = (
    FrozenEstimator, GridSearchCV, RandomizedSearchCV, FixedThresholdClassifier,
    TunedThresholdClassifierCV, CalibratedClassifierCV, OneVsRestClassifier,
)  # fmt: skip

SVMS = (SVC, NuSVC, LinearSVC, SVR, NuSVR, OneClassSVM)


def last_step(estimator: Any) -> Any:
    """Return what decides: inside a FrozenEstimator or a search, at the end of a Pipeline."""
    *_, last = chain(estimator)
    return last


def chain(estimator: Any) -> Iterator[Any]:
    """Give an estimator, what is inside it, and so on to what decides."""
    yield estimator
    while (estimator := _inside(estimator)) is not None:
        yield estimator


def first_steps(estimator: Any) -> list[Any]:
    """Return the fitted transformers that a query passes before the last step, one by one.

    A method over a pipeline keeps transformers of its own (`preprocessing_`), which come last.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler, StandardScaler
    >>> from sklearn.svm import SVC
    >>> from kmviz.machines.unwrap import first_steps
    >>> nested = make_pipeline(StandardScaler(), make_pipeline(MinMaxScaler(), SVC()))
    >>> [type(step).__name__ for step in first_steps(nested)]
    ['StandardScaler', 'MinMaxScaler']
    """
    found: list[Any] = []
    for one in chain(estimator):
        if isinstance(one, Pipeline):
            found += [flat for _, step in one.steps[:-1] for flat in _flat(step)]
    return found + _flat(getattr(one, "preprocessing_", None))


def has_first_steps(estimator: Any) -> bool:
    """Whether rows pass a Pipeline on their way, in an estimator that need not be fitted."""
    while isinstance(estimator, AROUND):
        estimator = estimator.estimator
    return isinstance(estimator, Pipeline)


def refuse_own_answers(estimator: Any) -> None:
    """Refuse a subclass of an SVM that answers by a rule of its own, which cannot be read."""
    base = next((cls for cls in SVMS if isinstance(estimator, cls)), None)
    if base is None:
        return
    own = [
        name
        for name in ANSWERS
        if name in vars(estimator)
        or getattr(type(estimator), name, None) is not getattr(base, name, None)
    ]
    if own:
        raise TypeError(
            f"{type(estimator).__name__} has a {own[0]} of its own, and only {base.__name__}'s "
            f"rule can be read from the machine. Give the plain {base.__name__} and apply your "
            "own rule to its answers."
        )


def _inside(estimator: Any) -> Any:
    """The next estimator towards the machine; None where this one decides itself."""
    if isinstance(estimator, Pipeline):
        return estimator.steps[-1][1]
    if isinstance(estimator, FrozenEstimator):
        return estimator.estimator
    if isinstance(estimator, FixedThresholdClassifier | TunedThresholdClassifierCV):
        return getattr(estimator, "estimator_", estimator.estimator)
    if isinstance(estimator, CalibratedClassifierCV):
        return _alone(estimator, "calibrated_classifiers_", "estimator")
    if isinstance(estimator, OneVsRestClassifier):
        return _alone(estimator, "estimators_")
    return getattr(estimator, "best_estimator_", None)  # of a fitted search


def _alone(estimator: Any, inside: str, of: str = "") -> Any:
    """The one machine of a fitted model of two classes; None where it joins several."""
    held: Any = getattr(estimator, inside, [])
    if len(held) != 1 or len(estimator.classes_) != 2:
        return None
    return getattr(held[0], of) if of else held[0]


def _flat(step: Any) -> list[Any]:
    if isinstance(step, FrozenEstimator):
        return _flat(step.estimator)
    if isinstance(step, Pipeline):
        return [flat for _, inner in step.steps for flat in _flat(inner)]
    return [] if step is None or isinstance(step, str) else [step]
