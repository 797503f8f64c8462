"""What every method is compared with: the trained estimator, its exact machine, its own speed.

Its own `predict` is what production calls, so that is what is timed and what answers are compared
with. An SVC is timed with a string kernel, since a callable one makes SVC itself several times
slower and would flatter every method.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC, NuSVC
from sklearn.utils.validation import check_is_fitted

from kmviz.evaluation.cost import Decide, run_timed
from kmviz.evaluation.faithful import refuse_unlike
from kmviz.kernels import is_known
from kmviz.machines.named import string_kernel
from kmviz.machines.reading import support_vectors
from kmviz.machines.unwrap import first_steps, last_step
from kmviz.methods.exact import ExactClassifier


@dataclass(frozen=True, eq=False)
class Reference:
    """A trained estimator and its exact float32 machine.

    Attributes
    ----------
    given : estimator
        What was asked for: unfitted, or frozen where it came fitted.
    fitted : estimator
        The same, trained.
    exact : ExactClassifier
        Its machine, evaluated over all support vectors by float32 BLAS.
    seconds : float
        CPU seconds that training took; 0 for one that came fitted.
    """

    given: Any
    fitted: Any
    exact: ExactClassifier
    seconds: float
    X_train: Any = field(repr=False)
    y_train: Any = field(repr=False)

    @property
    def kernel(self) -> Any:
        """The kernel of the exact machine."""
        return self.exact.machines_[0].kernel

    @property
    def cost(self) -> float:
        """C of the machine; 1 where it is no parameter (NuSVC has a C of 0 that means nothing)."""
        return float(last_step(self.given).get_params(deep=False).get("C", 1.0))

    @property
    def n_vectors(self) -> int:
        """m: kernel values of an exact answer; pairs of classes share their vectors."""
        return self.exact.n_vectors_

    @property
    def largest(self) -> int:
        """The vectors of the largest machine among the pairs of classes."""
        return largest(self.exact)

    def labels(self, X: Any) -> NDArray[Any]:
        """Return the estimator's own answers, after a check that its machine gives the same."""
        labels = np.asarray(self.exact.estimator_labels(X))
        refuse_unlike(self.exact, X, labels)
        return labels


def reference(estimator: Any, X_train: Any, y_train: Any) -> Reference:
    """Train `estimator` (None is `SVC()`) and read it; one that is fitted stays as it is."""
    given = SVC() if estimator is None else estimator
    if isinstance(given, FrozenEstimator):
        check_is_fitted(given.estimator)
        return trained_reference(given, given.estimator, X_train, y_train)
    if is_fitted(given):
        return trained_reference(FrozenEstimator(given), given, X_train, y_train)
    fitted, seconds = run_timed(lambda: clone(given).fit(X_train, y_train))
    return trained_reference(given, fitted, X_train, y_train, seconds)


def is_fitted(estimator: Any) -> bool:
    """Whether an estimator has been trained."""
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True


def trained_reference(
    given: Any, fitted: Any, X_train: Any, y_train: Any, seconds: float = 0.0
) -> Reference:
    """Read an estimator that `given` describes and that is trained already."""
    exact = ExactClassifier(FrozenEstimator(fitted)).fit(X_train)
    return Reference(given, fitted, exact, seconds, X_train, y_train)


def largest(exact: Any) -> int:
    """Return the vectors of the largest machine among the pairs of classes."""
    return max(machine.n_vectors for machine in exact.machines_)


def baseline(ref: Reference) -> Decide:
    """Return the `predict` that ratios are measured against.

    The estimator's own; where it is an SVC with a kmviz kernel, that of the same SVC with the
    equal string kernel on embedded rows.
    """
    svc = last_step(ref.fitted)
    if not isinstance(svc, SVC | NuSVC) or not callable(svc.kernel) or not is_known(svc.kernel):
        return ref.fitted.predict
    kernel, twin, first = svc.kernel, with_string_kernel(svc), first_steps(ref.fitted)

    def predict(X: Any) -> NDArray[Any]:
        for step in first:
            X = step.transform(X)
        return twin.predict(kernel.embed(X))

    return predict


def with_string_kernel(svc: Any) -> Any:
    """Return a copy of a fitted SVC with a kmviz kernel that takes embedded rows instead.

    Its support vectors, embedded, and its weights are the same; its kernel is libsvm's own.
    """
    twin = copy(svc)
    twin.set_params(**string_kernel(svc.kernel.plain))
    vectors = svc.kernel.embed(support_vectors(svc)).astype(np.float64)
    twin.support_vectors_ = np.ascontiguousarray(vectors)
    twin._gamma = float(getattr(svc.kernel.plain, "gamma", 1.0))
    twin.n_features_in_ = vectors.shape[1]
    twin.shape_fit_ = (svc.shape_fit_[0], vectors.shape[1])
    return twin
