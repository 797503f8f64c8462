"""Fitted classifiers for where there is no Python, or no kmviz: C99 and ONNX."""

from __future__ import annotations

import os
import warnings
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kmviz.io.c_source import c_source
from kmviz.io.table import TableClassifier
from kmviz.io.whole import written_whole
from kmviz.kernels import is_known
from kmviz.methods.exact import ExactClassifier
from kmviz.methods.reduced import ReducedSetClassifier
from kmviz.methods.svtree import SVTreeClassifier

#: What can be written in each form.
FORMS = {
    ".c": (ExactClassifier, ReducedSetClassifier, SVTreeClassifier),
    ".onnx": (ExactClassifier, ReducedSetClassifier),
}


class ExportError(ValueError):
    """A classifier that cannot be written in the form asked for; the message says why."""


def export(clf: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier for use without kmviz.

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

    Raises
    ------
    ExportError
        A ValueError that says what cannot be written.
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
    ...     kmviz.export(clf, path)
    ...     "int kmviz_predict(const KMVIZ_REAL *x)" in path.read_text()
    True
    """
    place = Path(path)
    if place.suffix not in FORMS:
        raise ExportError(f"{place.name} must end in .c or .onnx; save() writes .skops.")
    if isinstance(clf, TableClassifier):
        clf = _named(clf)
    check_is_fitted(clf)
    if not isinstance(clf, FORMS[place.suffix]):
        known = ", ".join(cls.__name__ for cls in FORMS[place.suffix])
        raise ExportError(
            f"{type(clf).__name__} cannot be written as {place.suffix}; {known} can. Of an SVC, "
            "ExactClassifier(FrozenEstimator(svc)).fit(X) is the machine itself."
        )
    content = _c(clf) if place.suffix == ".c" else _onnx(clf)
    with written_whole(place) as temporary:
        temporary.write_bytes(content)


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
    if getattr(clf, "sequential", False):
        raise ExportError("sequential=True stops early; export a fit with sequential=False.")
    return c_source(clf).encode()


def _onnx(clf: Any) -> bytes:
    try:
        from skl2onnx import to_onnx
    except ImportError as error:
        raise ImportError(
            "Writing .onnx takes skl2onnx: pip install skl2onnx. A .c file takes nothing."
        ) from error
    model = clf.to_svc() if isinstance(clf, ReducedSetClassifier) else clf.estimator_
    row = np.zeros((1, clf.n_features_in_), dtype=np.float32)
    try:
        with warnings.catch_warnings():  # it asks an SVC for what scikit-learn means to drop
            warnings.simplefilter("ignore", FutureWarning)
            return to_onnx(model, row, options={"zipmap": False}).SerializeToString()
    except Exception as error:
        raise ExportError(f"skl2onnx cannot write {type(model).__name__}: {error}") from error
