"""What a stranger's file may not bring: arrays that do not fit together, work without end.

Loading runs no code from a file, but libsvm and compiled loops trust the arrays they are given.
Everything that was loaded is looked through before anything is asked of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

from kmviz.io.kinds import parts_of, refuse_other_kinds, refuse_parameters
from kmviz.kernels import RBF, Linear, Normalized, Polynomial
from kmviz.machines.soundness import readable, shaped, within

#: Cells of a sparse matrix, zeros included: it is read as a full one.
MOST_CELLS = 2**28

#: Powers that a polynomial kernel is raised to.
MOST_DEGREE = 1_000

#: Objects of one file that are looked through; no estimator has more.
MOST_OBJECTS = 200_000


#: What scikit-learn's scalers know of each column, and the parameters that let them do without.
OF_COLUMNS = (
    "mean_", "scale_", "var_", "center_", "min_", "data_min_", "data_max_", "data_range_",
    "max_abs_", "statistics_",
)  # fmt: skip
WITHOUT = ("with_mean", "with_std", "with_centering", "with_scaling")


def refuse_unsound(loaded: Any) -> None:
    """Raise ValueError where what was loaded does not fit together."""
    parts = list(_parts(loaded))
    for thing in parts:  # kinds first: what is checked further is then what it seems
        if isinstance(thing, np.ndarray):
            readable("an array", thing)
        elif type(thing).__module__.startswith("kmviz."):
            refuse_other_kinds(thing)
        if isinstance(thing, BaseEstimator):
            refuse_parameters(thing)
            _refuse_columns(thing)
    for thing in parts:
        if isinstance(thing, SVC | NuSVC) and hasattr(thing, "support_"):
            _refuse_svc(thing)
        elif isinstance(thing, SVR | NuSVR | OneClassSVM) and hasattr(thing, "support_"):
            _refuse_one_machine(thing)
        elif isinstance(thing, Pipeline):
            _refuse_pipeline(thing)
        elif issparse(thing):
            _refuse_sparse(thing)
        elif isinstance(thing, Linear | Polynomial | RBF | Normalized):
            _refuse_kernel(thing)
        elif type(thing).__module__.startswith("kmviz."):
            _refuse_classes(thing)
            if hasattr(thing, "check"):
                thing.check()


def _parts(loaded: Any) -> Iterator[Any]:
    """Yield every object inside another, each once."""
    seen: set[int] = set()
    left = [loaded]
    while left:
        thing = left.pop()
        if id(thing) in seen or isinstance(thing, str | bytes | int | float):
            continue
        seen.add(id(thing))
        if len(seen) > MOST_OBJECTS:
            raise ValueError(f"it holds more than {MOST_OBJECTS:,} objects.")
        yield thing
        if isinstance(thing, Mapping):
            left += thing.values()
        elif isinstance(thing, list | tuple | set):
            left += thing
        else:
            left += parts_of(thing).values()


def _refuse_svc(svc: Any) -> None:
    """libsvm reads the counts of vectors, and then as many of them."""
    counts = np.asarray(svc._n_support)
    m, classes = len(svc.support_), len(svc.classes_)
    if classes < 2:
        raise ValueError(f"it knows {classes} classes, and an SVC tells two or more apart.")
    within("_n_support", counts, 0, m + 1)
    shaped("_n_support", counts, 2 if classes == 2 else classes)
    if int(counts.sum()) != m:
        raise ValueError(f"_n_support counts {int(counts.sum())} support vectors, there are {m}.")
    pairs = classes * (classes - 1) // 2
    for name in ("dual_coef_", "_dual_coef_"):
        weights = getattr(svc, name)
        if not issparse(weights):
            shaped(name, weights, classes - 1, m)
    for name in ("intercept_", "_intercept_"):
        shaped(name, getattr(svc, name), pairs)
    for name in ("_probA", "_probB"):
        if len(found := getattr(svc, name)):
            shaped(name, found, pairs)
    _refuse_vectors(svc, m)


def _refuse_one_machine(svm: Any) -> None:
    """One row of weights, one bias."""
    m = len(svm.support_)
    for name in ("dual_coef_", "_dual_coef_"):
        if not issparse(getattr(svm, name)):
            shaped(name, getattr(svm, name), 1, m)
    for name in ("intercept_", "_intercept_"):
        shaped(name, getattr(svm, name), 1)
    shaped("_n_support", svm._n_support, 2)
    within("_n_support", svm._n_support[0], m, m + 1)
    _refuse_vectors(svm, m)


def _refuse_vectors(svc: Any, m: int) -> None:
    vectors = svc.support_vectors_
    if not callable(svc.kernel) and svc.kernel != "precomputed" and not issparse(vectors):
        shaped("support_vectors_", vectors, m, getattr(svc, "n_features_in_", None))
    if len(svc.shape_fit_) != 2 or (m and int(np.max(svc.support_)) >= svc.shape_fit_[0]):
        raise ValueError("support_ names rows that the SVC was not trained on.")
    within("support_", svc.support_, 0, max(int(svc.shape_fit_[0]), 1))
    if not isinstance(svc.degree, Integral) or int(svc.degree) > MOST_DEGREE:
        raise ValueError(f"degree={svc.degree!r} is no whole number up to {MOST_DEGREE}.")
    if not all(isinstance(n, Integral) for n in (*svc.shape_fit_, getattr(svc, "fit_status_", 0))):
        raise ValueError("shape_fit_ and fit_status_ are whole numbers, and here they are not.")
    for name in ("C", "_gamma", "coef0", "degree", "nu", "epsilon", "tol"):
        value = getattr(svc, name, 1.0)
        if not isinstance(value, Real) or not abs(float(value)) <= 1e12:
            raise ValueError(f"{name}={value!r} is out of range.")


def _refuse_classes(thing: Any) -> None:
    """Answers are places among the classes, and come of a machine for each pair, or each class."""
    classes = vars(thing).get("classes_") if hasattr(thing, "__dict__") else None
    if classes is None:
        return
    n = len(np.unique(classes))
    if np.shape(classes) != (n,) or n < 2:
        raise ValueError(f"classes_ has shape {np.shape(classes)} and {n} different values.")
    rest = getattr(vars(thing).get("rule_"), "rest", False)
    for name in ("machines_", "engines_"):
        held = vars(thing).get(name)
        if isinstance(held, list | tuple) and len(held) != (n if rest else n * (n - 1) // 2):
            raise ValueError(f"{name} holds {len(held)}, for {n} classes.")


def _refuse_kernel(kernel: Any) -> None:
    """A kernel was made without the checks that it makes itself."""
    if not isinstance(kernel, Linear):
        kernel.__post_init__()
    if isinstance(kernel, Polynomial) and kernel.degree > MOST_DEGREE:
        raise ValueError(f"degree={kernel.degree} is more than {MOST_DEGREE}.")


def _refuse_columns(step: Any) -> None:
    """A transformer reads one number for each column, and makes columns."""
    if not type(step).__module__.startswith("sklearn.") or not hasattr(step, "n_features_in_"):
        return
    spares = any(getattr(step, name, True) is False for name in WITHOUT)
    for name in OF_COLUMNS:
        found = vars(step).get(name, 0)
        if found is None and not spares:
            raise ValueError(f"{name} of {type(step).__name__} is missing.")
        if not (found is None or (name not in vars(step)) or np.asarray(found).dtype.kind in "OUS"):
            shaped(name, found, int(step.n_features_in_), finite=False)
    for name in ("n_output_features_", "_n_out_full"):  # of PolynomialFeatures
        within(name, vars(step).get(name, 1), 1, 2**31)


def _refuse_sparse(matrix: Any) -> None:
    """SciPy trusts the places that a matrix says its values have."""
    if matrix.format not in ("csr", "csc"):
        raise ValueError(f"it holds a sparse matrix of form {matrix.format!r}; csr is read.")
    if matrix.shape[0] * matrix.shape[1] > MOST_CELLS:
        raise ValueError(f"it holds a sparse matrix of {matrix.shape[0]} x {matrix.shape[1]}.")
    matrix.check_format(full_check=True)


def _refuse_pipeline(pipeline: Pipeline) -> None:
    """A pipeline that caches would write where its file says."""
    if pipeline.memory is not None:
        raise ValueError("a Pipeline with memory= writes folders; store it with memory=None.")
    for name, step in pipeline.steps:
        if isinstance(step, BaseEstimator) and getattr(step, "n_jobs", None) not in (None, 1, -1):
            raise ValueError(f"step {name!r} asks for n_jobs={step.n_jobs}; store it with None.")
