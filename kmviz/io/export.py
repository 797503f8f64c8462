"""Fitted classifiers for where there is no Python, or no kmviz: C99 and ONNX."""

from __future__ import annotations

import os
import warnings
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, NuSVC
from sklearn.utils.validation import check_is_fitted

from kmviz.io.agreement import Agreement, ExportError, require_agreement
from kmviz.io.c_source import c_source
from kmviz.io.table import TableClassifier
from kmviz.io.whole import written_whole
from kmviz.kernels import is_known
from kmviz.machines.as_svc import as_svc
from kmviz.machines.cut import Cut, cut_of
from kmviz.machines.unwrap import last_step
from kmviz.methods.exact import ExactClassifier
from kmviz.methods.reduced import ReducedSetClassifier
from kmviz.methods.svtree import SVTreeClassifier

#: What can be written in each form.
FORMS = {
    ".c": (ExactClassifier, ReducedSetClassifier, SVTreeClassifier),
    ".onnx": (ExactClassifier, ReducedSetClassifier),
}


def export(clf: Any, path: str | os.PathLike[str], X: Any = None) -> Agreement:
    """Write a fitted classifier for use without kmviz, once its file has answered as it does.

    The file is compiled by the C compiler there is, or run by onnxruntime. Without them its
    numbers, rounded as they are written, are evaluated in NumPy.

    Parameters
    ----------
    clf : ExactClassifier, ReducedSetClassifier or SVTreeClassifier
        Fitted. Of an SVC, the exact machine: `ExactClassifier(FrozenEstimator(svc)).fit(X)`. Of
        what reads a table, what is behind its encoder: rows are those that the encoder makes.
    path : path
        `.c` writes one C99 file that needs the C library alone: float32 tables, `kmviz_predict`
        and `kmviz_decision`. Scalers and projections before the machine are in it; other steps
        are refused. `.onnx` writes an ONNX graph through skl2onnx (`pip install skl2onnx`);
        not for a tree.
    X : array of shape (n, d), optional
        Rows that the file is likely to be asked about, or a table for what reads one: file and
        classifier answer them before the file gets its name. None draws rows around the
        classifier's vectors.

    Returns
    -------
    Agreement
        How many rows were compared, where they come from, and what evaluated the file.

    Raises
    ------
    ExportError
        A ValueError that says what cannot be written, or on how many rows the file would answer
        otherwise than the classifier; no file is written then.
    ImportError
        `.onnx` without skl2onnx.

    Examples
    --------
    >>> import tempfile, pathlib, kmviz
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(100, noise=0.1, random_state=0)
    >>> clf = kmviz.ReducedSetClassifier(n_vectors=8).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "moons.c"
    ...     found = kmviz.export(clf, path, X)
    ...     "int kmviz_predict(const KMVIZ_REAL *x)" in path.read_text()
    True
    >>> found.rows, found.source
    (100, 'given')
    """
    place = Path(path)
    if place.suffix not in FORMS:
        raise ExportError(f"{place.name} must end in .c or .onnx; save() writes .skops.")
    if isinstance(clf, TableClassifier):
        X = clf.encoder.transform(X) if hasattr(X, "columns") else X
        clf = _named(clf)
    check_is_fitted(clf)
    if not isinstance(clf, FORMS[place.suffix]):
        known = ", ".join(cls.__name__ for cls in FORMS[place.suffix])
        raise ExportError(
            f"{type(clf).__name__} cannot be written as {place.suffix}; {known} can. Of an SVC, "
            "ExactClassifier(FrozenEstimator(svc)).fit(X) is the machine itself."
        )
    if getattr(clf, "sequential", False):
        raise ExportError("sequential=True stops early; export a fit with sequential=False.")
    content = _c(clf) if place.suffix == ".c" else _onnx(clf)
    with written_whole(place) as temporary:
        temporary.write_bytes(content)
        return require_agreement(clf, temporary, place.suffix, X)


def _named(table: TableClassifier) -> Any:
    """Return what is behind a table's encoder, with the classes as the table names them."""
    same = copy(table.classifier)
    if hasattr(same, "engines_"):
        same.classes_ = table.classes_
    return same


def _c(clf: Any) -> bytes:
    kernel = clf.machines_[0].kernel
    if not is_known(kernel):
        raise ExportError(
            f"{kernel!r} is Python, and a C file knows the kernels of kmviz.kernels alone."
        )
    if clf.preprocessing_ is not None and clf.affine_map is None:
        names = [type(step).__name__ for _, step in clf.preprocessing_.steps]
        raise ExportError(
            f"The steps before the machine ({', '.join(names)}) are no scaling or projection. "
            "Export the machine alone, fitted on rows that have passed them."
        )
    return c_source(clf).encode()


def _onnx(clf: Any) -> bytes:
    try:
        from skl2onnx import to_onnx
    except ImportError as error:
        raise ImportError(
            "Writing .onnx takes skl2onnx: pip install skl2onnx. A .c file takes nothing."
        ) from error
    svc = _as_svc(clf)
    if callable(svc.kernel):
        raise ExportError(
            f"{svc.kernel!r} is no kernel that ONNX knows: write a .c file, which holds the "
            "normalised ones as well, or fit with a linear, polynomial or radial kernel."
        )
    steps = [] if clf.preprocessing_ is None else [step for _, step in clf.preprocessing_.steps]
    if not hasattr(clf, "n_features_in_"):
        raise ExportError(
            f"{type(steps[0]).__name__} before the machine reads no rows of numbers: export the "
            "machine alone, fitted on rows that have passed it."
        )
    row = np.zeros((1, clf.n_features_in_), dtype=np.float32)
    try:
        with warnings.catch_warnings():  # it asks an SVC for what scikit-learn means to drop
            warnings.simplefilter("ignore", FutureWarning)
            written = to_onnx(make_pipeline(*steps, svc), row, options={"zipmap": False})
    except Exception as error:
        reason = str(error).split(". ")[0]
        raise ExportError(f"skl2onnx cannot write {type(clf).__name__}: {reason}.") from error
    return written.SerializeToString()


def _as_svc(clf: Any) -> Any:
    """Return the SVC that answers as a classifier, its threshold in its intercept."""
    fitted = getattr(clf, "estimator_", None)  # a slim copy has none
    last = last_step(fitted)
    is_own = isinstance(clf, ExactClassifier) and isinstance(last, SVC | NuSVC)
    if not is_own or cut_of(fitted) != Cut():
        rule = clf.rule_
        return as_svc(clf.machines_, clf.classes_, rule.rest, break_ties=rule.breaks_ties)
    same = copy(last)  # it holds each vector once, where the machines of several classes repeat it
    same.classes_, same.decision_function_shape = clf.classes_, "ovr"
    return same
