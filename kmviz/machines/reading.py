"""Readers: a fitted scikit-learn estimator in, kernel machines out."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import is_regressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC, NuSVR, OneClassSVM
from sklearn.utils.validation import check_is_fitted

from kmviz.kernels import Linear, Sigmoid
from kmviz.machines.cut import cut_of
from kmviz.machines.machine import KernelMachine
from kmviz.machines.named import named_kernel
from kmviz.machines.shared import SharedMachines
from kmviz.machines.unwrap import last_step

#: Where estimators of estimators keep what they trained.
INSIDE = ("estimators_", "calibrated_classifiers_", "estimator_", "best_estimator_")

READABLE = (
    "SVC, NuSVC, LinearSVC, OneClassSVM or KernelFisherClassifier (or a Pipeline that ends in one)"
)

#: The two answers of a OneClassSVM.
ONE_CLASS = (-1, 1)


def classes_of(fitted: Any) -> NDArray[Any]:
    """Return what a fitted model answers with; -1 and 1 where it tells outliers."""
    last = last_step(fitted)
    if isinstance(last, OneClassSVM):
        return np.array(ONE_CLASS)
    return fitted.classes_ if hasattr(fitted, "classes_") else last.classes_


def read_binary(fitted: Any) -> KernelMachine:
    """Read the machine of a fitted binary estimator."""
    estimator = last_step(fitted)
    check_is_fitted(estimator)
    if isinstance(getattr(estimator, "machine_", None), KernelMachine):
        return estimator.machine_  # kernel Fisher, or a method whose result is itself a machine
    _refuse_many_classes(estimator)
    if isinstance(estimator, LinearSVC):
        machine = _linear(estimator.coef_, float(np.ravel(estimator.intercept_)[0]))
    elif isinstance(estimator, SVC | NuSVC | OneClassSVM):
        machine = _machine(estimator)
    else:
        raise TypeError(unreadable(estimator))
    cut = cut_of(fitted)
    return replace(machine, beta=cut.sign * machine.beta, bias=cut.sign * (machine.bias + cut.at))


def read_value(fitted: Any) -> KernelMachine:
    """Read the machine of a fitted regressor: SVR, NuSVR, or KernelRidge of one target."""
    estimator = last_step(fitted)
    check_is_fitted(estimator)
    if isinstance(getattr(estimator, "machine_", None), KernelMachine):
        return estimator.machine_
    if isinstance(estimator, SVR | NuSVR):
        return _machine(estimator)
    if not isinstance(estimator, KernelRidge):
        raise TypeError(
            f"{type(estimator).__name__} is not a kernel machine that can be read; give SVR, NuSVR "
            "or KernelRidge (or a Pipeline that ends in one)."
        )
    beta = np.asarray(estimator.dual_coef_, dtype=np.float64)
    if beta.ndim == 2 and beta.shape[1] > 1:
        raise ValueError(
            f"This KernelRidge predicts {beta.shape[1]} targets at once; fit one for each."
        )
    if estimator.kernel == "precomputed":
        return _linear(beta.reshape(1, -1), 0.0)
    return KernelMachine(_dense(estimator.X_fit_), beta.ravel(), 0.0, _ridge_kernel(estimator))


def _ridge_kernel(ridge: KernelRidge) -> Any:
    if callable(ridge.kernel):
        raise TypeError(
            "This KernelRidge has a kernel of its own, which takes one pair of rows at a time. "
            "Give it by name: 'linear', 'poly', 'rbf' or 'sigmoid'."
        )
    gamma = 1.0 / ridge.n_features_in_ if ridge.gamma is None else float(ridge.gamma)
    return _by_name(ridge, gamma)


def _machine(svm: Any) -> KernelMachine:
    """The one machine of libsvm's models of two classes, of one class, or of values."""
    if _is_precomputed(svm):
        return _of_columns(svm, _weights(svm)[0], float(svm.intercept_[0]))
    order = np.argsort(svm.support_, kind="stable")  # file order
    beta, bias = _weights(svm).ravel()[order], -float(svm.intercept_[0])
    return KernelMachine(support_vectors(svm)[order], beta, bias, _kernel(svm))


def _linear(slope: Any, intercept: float) -> KernelMachine:
    return KernelMachine(slope, np.ones(1), -intercept, Linear())


def _is_precomputed(svm: Any) -> bool:
    return isinstance(svm.kernel, str) and svm.kernel == "precomputed"


def _of_columns(svm: Any, weights: NDArray[Any], intercept: float) -> KernelMachine:
    """A machine on precomputed values: linear in them, since a query is its own kernel values."""
    slope = np.zeros((1, svm.shape_fit_[1]))
    slope[0, svm.support_] = weights
    return _linear(slope, intercept)


def read_pairs(svc: Any) -> list[KernelMachine]:
    """Read one machine a pair of classes of a fitted SVC or NuSVC (or a method over one)."""
    svc = last_step(svc)
    check_is_fitted(svc)
    if hasattr(svc, "machines_"):
        return list(svc.machines_)
    if not isinstance(svc, SVC | NuSVC):
        raise TypeError(f"Pairs are read from an SVC or NuSVC; got {type(svc).__name__}.")
    if len(svc.classes_) == 2:
        return [read_binary(svc)]
    weights = _weights(svc)
    if not (by_columns := _is_precomputed(svc)):
        vectors, kernel = support_vectors(svc), _kernel(svc)
    ends = np.cumsum(svc.n_support_)
    members = [np.arange(end - count, end) for end, count in zip(ends, svc.n_support_, strict=True)]
    machines = []
    for p, (i, j) in enumerate(combinations(range(len(svc.classes_)), 2)):
        # libsvm keeps the weights of class i against j in row j - 1 of dual_coef_, and of
        # class j against i in row i.
        taken = np.concatenate([members[i], members[j]])
        beta = np.concatenate([weights[j - 1, members[i]], weights[i, members[j]]])
        if by_columns:
            every = np.zeros(len(svc.support_))
            every[taken] = beta
            machines.append(_of_columns(svc, every, float(svc.intercept_[p])))
            continue
        order = np.argsort(svc.support_[taken], kind="stable")
        kept = order[beta[order] != 0]
        machines.append(
            KernelMachine(vectors[taken[kept]], beta[kept], -float(svc.intercept_[p]), kernel)
        )
    return machines


def reads_rest(estimator: Any) -> bool:
    """Whether a fitted model of several classes takes the largest of one output for each class.

    So do LinearSVC and OneVsRestClassifier; the latter's machines must be of one kernel, and no
    pipelines.
    """
    if isinstance(estimator, LinearSVC):
        return len(estimator.classes_) > 2
    if not isinstance(estimator, OneVsRestClassifier) or len(estimator.classes_) < 3:
        return False
    if estimator.multilabel_ or not all(_is_machine(one) for one in estimator.estimators_):
        return False
    return len({read_binary(one).kernel for one in estimator.estimators_}) == 1


def _is_machine(estimator: Any) -> bool:
    """Whether an estimator of two classes is a kernel machine itself, with no steps before it."""
    own = isinstance(getattr(estimator, "machine_", None), KernelMachine)
    plain = isinstance(estimator, SVC | NuSVC | LinearSVC)
    return plain or (own and getattr(estimator, "preprocessing_", None) is None)


def read_rest(fitted: Any) -> list[KernelMachine]:
    """Read the machine of each class of a model for which `reads_rest` holds."""
    estimator = last_step(fitted)
    if isinstance(estimator, LinearSVC):
        ends = zip(estimator.coef_, np.broadcast_to(estimator.intercept_, len(estimator.coef_)))
        return [_linear(slope[None], float(intercept)) for slope, intercept in ends]
    return [read_binary(one) for one in estimator.estimators_]


def differences(machines: list[KernelMachine]) -> list[KernelMachine]:
    """Return f_i - f_j for each pair of machines of one kernel, on the vectors of all.

    The largest of f_1 .. f_c wins every f_i - f_j, so that votes over these choose it.
    """
    shared = SharedMachines(machines)
    vectors, weights, bias = shared.vectors, shared.weights, shared.bias
    return [
        KernelMachine(vectors, weights[:, i] - weights[:, j], bias[i] - bias[j], shared.kernel)
        for i, j in combinations(range(len(machines)), 2)
    ]


def unreadable(estimator: Any) -> str:
    """Say why no machine is read from an estimator."""
    name = type(estimator).__name__
    if is_regressor(estimator):
        return (
            f"{name} predicts numbers, and this method decides between classes: take "
            "kmviz.ExactRegressor, AnytimeRegressor or ReducedSetRegressor."
        )
    inside = [key for key in INSIDE if hasattr(estimator, key)]
    hint = f" What its {inside[0]} holds may be one." if inside else ""
    return f"{name} is not a kernel machine that can be read; give {READABLE}.{hint}"


def refuse_unreadable(estimator: Any) -> None:
    """Refuse a fitted last step that no machine can be read from, before anything is asked of it.

    With several classes an estimator that is none may still train a machine for each pair.
    """
    if not hasattr(estimator, "classes_") and not isinstance(estimator, OneClassSVM):
        raise TypeError(unreadable(estimator))


def _refuse_many_classes(estimator: Any) -> None:
    classes = getattr(estimator, "classes_", ())
    if len(classes) > 2:
        raise ValueError(
            f"A single machine separates two classes; this {type(estimator).__name__} knows "
            f"{len(classes)}. Use KernelMachine.pairwise for one machine a pair."
        )


def refuse_precomputed(svc: Any) -> None:
    """Refuse an SVC that knows a matrix and no rows."""
    if hasattr(svc, "kernel") and _is_precomputed(svc):
        raise ValueError(
            f"{type(svc).__name__} with kernel='precomputed' keeps no support vectors: fit it on "
            "the rows themselves with a kernel of kmviz.kernels. One that is fitted already is "
            "taken as FrozenEstimator(svc), with the same columns of kernel values as queries."
        )


def support_vectors(svc: Any) -> NDArray[Any]:
    """Return the support vectors in `support_` order, also where a callable kernel hid them."""
    refuse_precomputed(svc)
    if getattr(svc, "_sparse", False):
        return _dense(svc.support_vectors_)
    if not callable(svc.kernel):
        return np.asarray(svc.support_vectors_)
    rows = getattr(svc, "_BaseLibSVM__Xfit", None)
    if rows is None:
        raise ValueError(
            "This SVC has a callable kernel and no longer holds its training rows, so its "
            "support vectors are lost. Fit it again in this process."
        )
    return np.asarray(rows)[svc.support_]


def _weights(svc: Any) -> NDArray[Any]:
    """Return `dual_coef_` as an array; it is sparse where the training rows were."""
    return _dense(svc.dual_coef_)


def _dense(array: Any) -> NDArray[Any]:
    return np.asarray(array.toarray() if issparse(array) else array)


def _kernel(svc: Any) -> Any:
    if callable(svc.kernel):
        return svc.kernel
    return _by_name(svc, float(svc._gamma))


def _by_name(estimator: Any, gamma: float) -> Any:
    if estimator.kernel == "sigmoid":
        return Sigmoid(gamma, float(estimator.coef0))
    return named_kernel(estimator.kernel, gamma, estimator.degree, estimator.coef0)
