"""What stands around a machine: pipelines, frozen estimators and searches, at every level.

`first_steps` and `last_step` take a fitted estimator apart so that applying the first and asking
the second is the whole estimator's own answer.
"""

from __future__ import annotations

from typing import Any

from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, LinearSVC, NuSVC

#: Methods in which a subclass may answer otherwise than the machine that can be read from it.
ANSWERS = (
    "predict", "decision_function", "_decision_function", "_dense_decision_function",
    "_sparse_decision_function", "_dense_predict", "_sparse_predict", "_validate_for_predict",
)  # fmt: skip


def last_step(estimator: Any) -> Any:
    """Return what decides: inside a FrozenEstimator or a search, at the end of a Pipeline."""
    while (inner := _inside(estimator)) is not None:
        estimator = inner
    return estimator


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
    while (inner := _inside(estimator)) is not None:
        if isinstance(estimator, Pipeline):
            found += [flat for _, step in estimator.steps[:-1] for flat in _flat(step)]
        estimator = inner
    return found + _flat(getattr(estimator, "preprocessing_", None))


def has_first_steps(estimator: Any) -> bool:
    """Whether rows pass a Pipeline on their way, in an estimator that need not be fitted."""
    while isinstance(estimator, FrozenEstimator | GridSearchCV | RandomizedSearchCV):
        estimator = estimator.estimator
    return isinstance(estimator, Pipeline)


def refuse_own_answers(estimator: Any) -> None:
    """Refuse a subclass of an SVM that answers by a rule of its own, which cannot be read."""
    base = next((cls for cls in (SVC, NuSVC, LinearSVC) if isinstance(estimator, cls)), None)
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
    return getattr(estimator, "best_estimator_", None)  # of a fitted search


def _flat(step: Any) -> list[Any]:
    if isinstance(step, FrozenEstimator):
        return _flat(step.estimator)
    if isinstance(step, Pipeline):
        return [flat for _, inner in step.steps for flat in _flat(inner)]
    return [] if step is None or isinstance(step, str) else [step]
