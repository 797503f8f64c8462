"""Readers: a fitted scikit-learn estimator in, kernel machines out."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import is_outlier_detector, is_regressor
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.utils.validation import check_is_fitted

from kmviz.kernels import Linear
from kmviz.machines.machine import KernelMachine
from kmviz.machines.named import named_kernel
from kmviz.machines.unwrap import last_step

#: Where estimators of estimators keep what they trained.
INSIDE = ("estimators_", "calibrated_classifiers_", "estimator_", "best_estimator_")

READABLE = "SVC, NuSVC, LinearSVC or KernelFisherClassifier (or a Pipeline that ends in one)"


def read_binary(fitted: Any) -> KernelMachine:
    """Read the machine of a fitted binary estimator."""
    estimator = last_step(fitted)
    check_is_fitted(estimator)
    if isinstance(getattr(estimator, "machine_", None), KernelMachine):
        return estimator.machine_  # kernel Fisher, or a method whose result is itself a machine
    _refuse_many_classes(estimator)
    if isinstance(estimator, LinearSVC):
        bias = -float(np.ravel(estimator.intercept_)[0])
        return KernelMachine(estimator.coef_, np.ones(1), bias, Linear())
    if not isinstance(estimator, SVC | NuSVC):
        raise TypeError(unreadable(estimator))
    order = np.argsort(estimator.support_, kind="stable")  # file order
    beta = _weights(estimator).ravel()[order]
    bias = -float(estimator.intercept_[0])
    return KernelMachine(support_vectors(estimator)[order], beta, bias, _kernel(estimator))


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
    vectors, weights, kernel = support_vectors(svc), _weights(svc), _kernel(svc)
    ends = np.cumsum(svc.n_support_)
    members = [np.arange(end - count, end) for end, count in zip(ends, svc.n_support_, strict=True)]
    machines = []
    for p, (i, j) in enumerate(combinations(range(len(svc.classes_)), 2)):
        # libsvm keeps the weights of class i against j in row j - 1 of dual_coef_, and of
        # class j against i in row i.
        taken = np.concatenate([members[i], members[j]])
        beta = np.concatenate([weights[j - 1, members[i]], weights[i, members[j]]])
        order = np.argsort(svc.support_[taken], kind="stable")
        kept = order[beta[order] != 0]
        machines.append(
            KernelMachine(vectors[taken[kept]], beta[kept], -float(svc.intercept_[p]), kernel)
        )
    return machines


def unreadable(estimator: Any) -> str:
    """Say why no machine is read from an estimator."""
    name = type(estimator).__name__
    if is_regressor(estimator):
        return f"{name} predicts numbers, and a fast method here decides between classes."
    if is_outlier_detector(estimator):
        return f"{name} finds outliers, and a fast method here decides between classes."
    inside = [key for key in INSIDE if hasattr(estimator, key)]
    hint = f" What its {inside[0]} holds may be one." if inside else ""
    return f"{name} is not a kernel machine that can be read; give {READABLE}.{hint}"


def refuse_unreadable(estimator: Any) -> None:
    """Refuse a fitted last step that no machine can be read from, before anything is asked of it.

    With several classes an estimator that is none may still train a machine for each pair.
    """
    if not hasattr(estimator, "classes_"):
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
    kernel = getattr(svc, "kernel", None)
    if isinstance(kernel, str) and kernel == "precomputed":
        raise ValueError(
            "An SVC with kernel='precomputed' keeps no support vectors. Fit it on the rows "
            "themselves with a kernel of kmviz.kernels."
        )


def support_vectors(svc: Any) -> NDArray[Any]:
    """Return the support vectors in `support_` order, also where a callable kernel hid them."""
    refuse_precomputed(svc)
    if getattr(svc, "_sparse", False):
        return np.asarray(svc.support_vectors_.toarray())
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
    weights = svc.dual_coef_
    return np.asarray(weights.toarray() if issparse(weights) else weights)


def _kernel(svc: Any) -> Any:
    if callable(svc.kernel):
        return svc.kernel
    return named_kernel(svc.kernel, float(svc._gamma), svc.degree, svc.coef0)
