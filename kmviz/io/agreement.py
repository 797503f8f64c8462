"""Whether an exported file answers as its classifier does: asked before the file gets its name."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.impute import SimpleImputer

from kmviz.io.c_source import answers_of_tables

#: Rows drawn where none are given, and how far from a line between two vectors they lie.
ROWS, SCATTER = 500, 0.1

#: C compilers, after the one that the environment variable CC names.
COMPILERS = ("cc", "gcc", "clang")

#: What makes a program of a written file: it prints the place of the class of each row.
MAIN = """
#include <stdio.h>

int main(int count, char **names)
{
    KMVIZ_REAL x[KMVIZ_COLUMNS];
    FILE *rows = count > 1 ? fopen(names[1], "rb") : NULL;
    while (rows && fread(x, sizeof x, 1, rows) == 1)
        printf("%d\\n", kmviz_predict(x));
    return rows ? 0 : 1;
}
"""


class ExportError(ValueError):
    """A classifier that cannot be written in the form asked for; the message says why."""


@dataclass(frozen=True)
class Agreement:
    """The rows on which an exported file answers as its classifier.

    Attributes
    ----------
    rows : int
    source : str
        Where they come from.
    way : str
        What evaluated the file.
    """

    rows: int
    source: str
    way: str

    def __str__(self) -> str:
        return f"the same answers on {self.rows:,} rows {self.source}; {self.way}"


def require_agreement(clf: Any, file: Path, suffix: str, X: Any = None) -> Agreement:
    """Return on which rows a file and its classifier agree.

    Raises
    ------
    ExportError
        Answers differ, or none can be compared.
    """
    X, source = (rows_around(clf), "drawn around its vectors") if X is None else (X, "given")
    expected = _answers(clf, X)
    rows = _float32(X)
    found, way = _of_c(clf, file, rows) if suffix == ".c" else _of_onnx(file, rows)
    differ = int(np.sum(found != expected))
    if differ:
        raise ExportError(
            f"The {suffix} file was not written, because it would answer {differ:,} of "
            f"{len(expected):,} rows {source} otherwise than {type(clf).__name__} does ({way}): "
            f"{_remedy(clf, suffix)}."
        )
    return Agreement(len(expected), source, way)


def _remedy(clf: Any, suffix: str) -> str:
    """Return why answers differ, and what to do."""
    if suffix == ".onnx" and len(clf.classes_) > 2 and clf.rule_.breaks_ties:
        return "ONNX breaks no ties between classes; write a .c file, which does"
    return (
        "it computes in float32; bring columns to one scale by a StandardScaler before the machine"
    )


def rows_around(clf: Any) -> NDArray[np.float64]:
    """Return rows near lines between vectors of a classifier, as its first step takes them.

    Lines between vectors of both sides cross the boundary, where a wrong digit matters most.
    """
    vectors = np.concatenate([machine.vectors for machine in clf.machines_]).astype(np.float64)
    if len(vectors) == 1:  # the slope of a linear machine
        vectors = np.vstack([vectors, -vectors])
    random = np.random.default_rng(0)
    first, second = vectors[random.integers(len(vectors), size=(2, ROWS))]
    rows = first + random.random((ROWS, 1)) * (second - first)
    rows += SCATTER * vectors.std(axis=0) * random.normal(size=rows.shape)
    steps = [] if clf.preprocessing_ is None else [step for _, step in clf.preprocessing_.steps]
    for step in reversed(steps):
        if isinstance(step, SimpleImputer):  # full rows pass it as they are
            continue
        try:
            rows = step.inverse_transform(rows)
        except (AttributeError, ValueError) as error:
            raise ExportError(
                "No rows to compare answers on can be drawn, because "
                f"{type(step).__name__} before the machine has no inverse: give some as X."
            ) from error
    return rows


def _answers(clf: Any, X: Any) -> NDArray[Any]:
    with warnings.catch_warnings():  # drawn rows have no names of columns
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        return clf.predict(X)


def _float32(X: Any) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):  # an infinity is answered otherwise, and counted
        return np.ascontiguousarray(X.toarray() if issparse(X) else X, dtype=np.float32)


def _of_onnx(file: Path, rows: NDArray[np.float32]) -> tuple[NDArray[Any], str]:
    """Return what an .onnx file answers, and what evaluated it."""
    try:
        from onnxruntime import InferenceSession
    except ImportError:
        return _of_graph(file, rows), "evaluated in NumPy, because onnxruntime is not installed"
    session = InferenceSession(str(file), providers=["CPUExecutionProvider"])
    return np.asarray(session.run(None, {"X": rows})[0]), "evaluated by onnxruntime"


def _of_graph(file: Path, rows: NDArray[np.float32]) -> NDArray[Any]:
    """Return what onnx's own evaluator, which is NumPy, makes of a file."""
    from onnx import helper, load
    from onnx.reference import ReferenceEvaluator

    model = load(file)
    for node in model.graph.node:  # it finds classes that are words only behind whole numbers
        held = {attribute.name: attribute for attribute in node.attribute}
        if (words := held.get("classlabels_strings")) is not None:
            places = list(range(len(words.strings)))
            node.attribute.append(helper.make_attribute("classlabels_ints", places))
    labels, *_ = ReferenceEvaluator(model).run(None, {"X": rows})
    return np.asarray(labels)


def _of_c(clf: Any, file: Path, rows: NDArray[np.float32]) -> tuple[NDArray[Any], str]:
    """Return what a .c file answers, and what evaluated it."""
    named = [os.environ.get("CC", ""), *COMPILERS]
    compiler = next((path for name in named if (path := shutil.which(name))), None)
    if compiler is None:
        way = "its tables evaluated in NumPy, because no C compiler was found"
        return answers_of_tables(clf, rows), way
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "model.c").write_text(file.read_text() + MAIN)
        rows.tofile(folder / "rows")
        _run(compiler, "-std=c99", "-O1", "-o", "model", "model.c", "-lm", folder=folder)
        printed = _run(str(folder / "model"), "rows", folder=folder)
    places = np.array(printed.split(), dtype=np.intp)
    return clf.classes_[places], f"compiled by {Path(compiler).name}"


def _run(*command: str, folder: Path) -> str:
    """Return what a program prints."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        failed = done.returncode and (done.stderr.strip() or f"exit code {done.returncode}")
    except OSError as error:
        failed = str(error)
    if failed:
        raise ExportError(
            f"The C file could not be tried, and was not written: {Path(command[0]).name} says "
            f"{failed.splitlines()[0]!r}; set CC to a compiler that works, and TMPDIR to a folder "
            "where programs may run."
        )
    return done.stdout
