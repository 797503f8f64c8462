"""A fitted model of one's own, with the rows to look at it with: `kmviz app --model`.

Whoever starts the app vouches for the model; pages show it as the data set "yours". Several classes
are shown pair by pair, as the model decides between them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC

from kmviz.datasets import DataError, Dataset, TableEncoder, encode_table
from kmviz.io.storage import StorageError, load
from kmviz.machines import KernelMachine
from kmviz.machines.as_svc import as_svc
from kmviz.machines.unwrap import first_steps, last_step

#: Steps after which training that starts from this model again is stopped.
MOST_ITERATIONS = 2_000_000


#: Names in the environment of the model that the app was started with, and of its rows.
MODEL, ROWS = "KMVIZ_MODEL", "KMVIZ_ROWS"


def environment(model_file: str | None, rows_file: str | None) -> dict[str, str]:
    """Return what tells a server of a model and its rows; DataError where they cannot be shown."""
    if model_file is None:
        if rows_file is not None:
            raise DataError("--data holds the rows of a model: give the model too, with --model.")
        return {}
    return {MODEL: model_file, ROWS: read(model_file, rows_file).file}


@dataclass(frozen=True, eq=False)
class Yours:
    """A model and its rows.

    Attributes
    ----------
    data : Dataset
        The rows as the model's last step takes them; labels count the model's classes.
    machines : list of KernelMachine
        One for each pair of classes, in `itertools.combinations` order; a positive output speaks
        for the second class.
    C : float
        What the model's training paid for an error.
    steps : Pipeline or None
        What the rows passed before the last step.
    encoder : TableEncoder
        How the table became numbers.
    model_file, file : str
        The files of the model and of the rows.
    """

    data: Dataset
    machines: list[KernelMachine]
    C: float
    steps: Pipeline | None
    encoder: TableEncoder
    model_file: str
    file: str

    def svc(self, pair: tuple[int, int]) -> tuple[SVC, KernelMachine]:
        """Return the SVM of a pair of classes as an SVC of -1 and +1, and its machine."""
        pairs = list(combinations(range(len(self.data.class_names)), 2))
        machine = self.machines[pairs.index(pair)]
        svc = as_svc([machine], np.array([-1, 1]), C=self.C, max_iter=MOST_ITERATIONS)
        return svc, machine


def read(model_file: str, rows_file: str | None) -> Yours:
    """Return the model in a file with its rows.

    Raises
    ------
    DataError
        The model cannot be shown, or not with these rows; the message says why.
    """
    name = Path(model_file).name
    if rows_file is None:
        raise DataError(
            f"{name} holds a model and no rows to look at it with: give a table with the model's "
            "columns and the class of each row as well, with --data rows.csv."
        )
    try:
        model = load(model_file)
    except StorageError as error:
        raise DataError(str(error)) from error
    known, model = getattr(model, "encoder", None), getattr(model, "classifier", model)
    machines = _machines(model, name)
    data, encoder = encode_table(rows_file)
    if known is not None and known.feature_names != encoder.feature_names:
        raise DataError(
            f"{name} was trained on the columns {', '.join(known.feature_names[:8])}; "
            f"{Path(rows_file).name} has {', '.join(encoder.feature_names[:8])}."
        )
    data = _as_trained(data, model, name, Path(rows_file).name, known)
    steps = first_steps(model)
    passed = Pipeline([(f"step{k}", step) for k, step in enumerate(steps)]) if steps else None
    if passed is not None:
        data = _passed(data, passed)
    C = float(getattr(last_step(model), "C", 1.0))
    return Yours(data, machines, C, passed, encoder, model_file, rows_file)


def _machines(model: Any, name: str) -> list[KernelMachine]:
    """Return one machine for each pair of classes; DataError where the model has none."""
    if is_regressor(model):
        raise DataError(
            f"{name} holds a {type(model).__name__}, which predicts numbers; the app shows "
            "classifiers: store a fitted SVC, NuSVC, LinearSVC or a pipeline that ends in one."
        )
    try:
        if len(model.classes_) == 2:
            return [KernelMachine.from_estimator(model)]
        found = KernelMachine.pairwise(model)
    except (TypeError, ValueError, AttributeError) as error:
        raise DataError(
            f"{name} holds a {type(model).__name__} that is not a trained kernel classifier: "
            f"{error}"
        ) from error
    # Of several classes, a positive output speaks for the first class of a pair.
    return [KernelMachine(one.vectors, -one.beta, -one.bias, one.kernel) for one in found]


def _as_trained(
    data: Dataset, model: Any, name: str, rows: str, known: TableEncoder | None
) -> Dataset:
    """Return the rows with labels that count the model's classes."""
    width = int(model.n_features_in_)
    if data.X_train.shape[1] != width:
        raise DataError(
            f"{name} takes {width} columns; {rows} has {data.X_train.shape[1]} beside the class: "
            f"{', '.join(data.feature_names[:8])}."
        )
    classes = [str(one) for one in (model.classes_ if known is None else known.classes)]
    if not set(data.class_names) <= set(classes):
        raise DataError(
            f"{name} decides between {', '.join(classes[:8])}; {rows} has the classes "
            f"{', '.join(data.class_names[:8])}."
        )
    places = np.array([classes.index(one) for one in data.class_names])
    labels = np.unique(np.append(data.y_train, data.y_test))
    return replace(
        data,
        y_train=places[np.searchsorted(labels, data.y_train)],
        y_test=places[np.searchsorted(labels, data.y_test)],
        class_names=tuple(classes),
    )


def _passed(data: Dataset, steps: Pipeline) -> Dataset:
    """Return the rows after the model's first steps."""
    train, test = (_dense(steps.transform(X)) for X in (data.X_train, data.X_test))
    names = data.feature_names
    if train.shape[1] != len(names):
        names = tuple(f"feature {k}" for k in range(train.shape[1]))
    about = f"{data.about} Rows are shown as the model's first steps leave them."
    return replace(data, X_train=train, X_test=test, feature_names=names, about=about)


def _dense(X: Any) -> NDArray[Any]:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
