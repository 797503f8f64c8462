"""Models that join several machines, and copies of them whose machines are others.

What joins the answers (votes, a mean of calibrated probabilities, the largest of scores) stays the
model's own code, so that a copy answers as the model does wherever its parts do.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

from sklearn.frozen import FrozenEstimator
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC, NuSVR, OneClassSVM

from kmviz.machines.reading import reads_rest
from kmviz.machines.unwrap import last_step, refuse_own_answers

#: What has machines of its own.
MACHINES = (SVC, NuSVC, OneClassSVM, SVR, NuSVR, KernelRidge)

#: Where estimators of estimators keep the one, or the several, that they ask.
ONE = ("best_estimator_", "estimator_", "regressor_", "final_estimator_")
SEVERAL = ("estimators_", "calibrated_classifiers_")

Replace = Callable[[Any], Any]


def joins_several(fitted: Any) -> bool:
    """Whether a fitted model asks machines whose answers it joins by a rule of its own."""
    last = last_step(fitted)
    if isinstance(last, (*MACHINES, LinearSVC)) or hasattr(last, "machines_") or reads_rest(last):
        return False
    return bool(machines_inside(fitted))


def machines_inside(fitted: Any) -> list[Any]:
    """Return the fitted scikit-learn machines that a model asks, at every depth.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.multiclass import OneVsRestClassifier
    >>> from sklearn.svm import SVC
    >>> from kmviz.machines.inside import machines_inside
    >>> len(machines_inside(OneVsRestClassifier(SVC()).fit(*load_iris(return_X_y=True))))
    3
    """
    found: list[Any] = []

    def note(machine: Any) -> Any:
        found.append(machine)
        return machine

    replaced(fitted, note)
    return found


def replaced(fitted: Any, by: Replace) -> Any:
    """Return a copy of a fitted model in which `by(machine)` stands for each machine."""
    if isinstance(fitted, MACHINES):
        refuse_own_answers(fitted)
        return by(fitted) if hasattr(fitted, "dual_coef_") else fitted  # a pattern for others
    same = copy(fitted)
    if isinstance(fitted, FrozenEstimator):
        same.estimator = replaced(fitted.estimator, by)
    elif isinstance(fitted, Pipeline):
        name, last = fitted.steps[-1]
        same.steps = [*fitted.steps[:-1], (name, replaced(last, by))]
    else:
        for name in ONE:
            if hasattr(vars(fitted).get(name), "predict"):
                setattr(same, name, replaced(vars(fitted)[name], by))
        for name in SEVERAL:
            if name in vars(fitted):
                setattr(same, name, [_part(one, by) for one in vars(fitted)[name]])
    return same


def _part(one: Any, by: Replace) -> Any:
    """One of several: an estimator, or a calibrated one, which holds an estimator."""
    if not type(one).__name__.startswith("_Calibrated"):
        return replaced(one, by) if hasattr(one, "predict") else one
    same = copy(one)
    same.estimator = replaced(one.estimator, by)
    return same
