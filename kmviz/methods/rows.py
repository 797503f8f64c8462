"""Rows on their way to a machine: checked, and past the transformers before it.

Shared by classifiers and regressors. A query that is plainly fine goes past scikit-learn's checks,
and a chain of scalers and projections is one map.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from kmviz.loops.rows import squares_below
from kmviz.machines import KernelMachine
from kmviz.machines.affine import Affine, affine
from kmviz.machines.unwrap import first_steps

FLOATS = [np.float64, np.float32]

#: Numbers beyond this are refused: their distances and kernel values have no room in float64.
LARGEST = 1e50

#: Up to this many rows of a frame, too.
FEW_ROWS = 64


class MachineRows(BaseEstimator):
    """What turns queries into rows that machines read.

    A subclass has `engines_` once it is fitted.
    """

    n_features_in_: int
    preprocessing_: Any
    engines_: list[Any]
    machines_: list[KernelMachine]
    machine_: KernelMachine
    estimator: Any

    #: Whether sparse rows are answered as they are.
    _takes_sparse = False

    #: Whether float32 cannot hold what the machines compute: queries are then made float64.
    _double: bool = False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse
        return tags

    @property
    def affine_map(self) -> Affine | None:
        """What the steps before the machine come to, where they are scalers and projections."""
        return self._affine

    def machine_rows(self, X: Any) -> NDArray[Any]:
        """Return rows as the machines read them: checked, and past the steps before."""
        return self._rows(X)

    def slim(self) -> Any:
        """Return a copy without the model that trained the machine: it answers, and no more.

        What asks that model (an audit, its probabilities) is not to be had of the copy. Local
        machines replace no model.
        """
        check_is_fitted(self)
        same = copy(self)
        if not hasattr(self, "engines_"):
            return same
        same.__dict__.pop("estimator_", None)
        same.estimator = None
        if hasattr(same, "original_"):
            same.__dict__.pop("original_")
            same.engines_ = [copy(engine) for engine in self.engines_]
            for engine in same.engines_:
                engine.original = engine.machine
        return same

    def _take_steps(self, fitted: Any) -> None:
        """Take over the transformers of a fitted estimator."""
        steps = first_steps(fitted)
        self.preprocessing_ = _chained(steps)
        self._affine = affine(steps)

    def _rows(self, X: Any) -> NDArray[Any]:
        """Check queries and bring them to what the machines read."""
        if not hasattr(self, "engines_"):
            check_is_fitted(self, "engines_")  # raises scikit-learn's own error, and takes its time
        rows = self._checked(X)
        return rows.astype(np.float64, copy=False) if self._double else rows

    #: What the transformers before the machine come to for finite rows, where it is one map.
    _affine: Affine | None = None

    def _is_folded(self, rows: NDArray[Any]) -> bool:
        """Whether these rows reach the machine without the transformers.

        Those would keep float32 as it is: the map is for float64.
        """
        return self.preprocessing_ is None or (self._affine is not None and rows.dtype.char == "d")

    def _checked(self, X: Any) -> NDArray[Any]:
        rows = as_plain(self, X)
        if rows is not None and self._is_folded(rows) and is_finite(rows):
            return rows if self._affine is None else refuse_huge(self._affine(rows))
        if self.preprocessing_ is None:
            return self._validate(X, reset=False)
        validate_data(self, X, reset=False, skip_check_array=True)
        return self._transformed(X)

    def _refuse_width(self, name: str, X: Any) -> None:
        """Name further rows whose columns are not those of X."""
        shape = np.shape(X)
        if len(shape) == 2 and shape[1] != self.n_features_in_:
            raise ValueError(
                f"{name} has {shape[1]} features, but X has {self.n_features_in_}: give the same "
                "columns."
            )

    def _transformed(self, X: Any) -> NDArray[Any]:
        for _, step in self.preprocessing_.steps if self.preprocessing_ is not None else ():
            X = step.transform(X)
        self._refuse_sparse(X)
        sparse = "csr" if self._takes_sparse else False
        return refuse_huge(check_array(X, accept_sparse=sparse, dtype=FLOATS))

    def _validate(self, X: Any, *y: Any, reset: bool = True, **options: Any) -> Any:
        """scikit-learn's checks of rows that nothing transforms."""
        self._refuse_sparse(X)
        sparse = "csr" if self._takes_sparse else False
        checked = validate_data(
            self, X, *y, reset=reset, accept_sparse=sparse, dtype=FLOATS, **options
        )
        refuse_huge(checked[0] if isinstance(checked, tuple) else checked)
        return checked

    def _refuse_sparse(self, X: Any) -> None:
        if issparse(X) and not self._takes_sparse:
            raise TypeError(
                f"{type(self).__name__} needs dense rows, and sparse data came. Give X.toarray() "
                "if it fits in memory, or take ExactClassifier, which answers sparse rows as they "
                "are (accelerate(fitted, X, method='exact'))."
            )


def refuse_huge(rows: Any) -> Any:
    """Return rows of a machine; refuse numbers too large for kernel values of theirs to exist."""
    flat = rows.data if issparse(rows) else rows
    if is_finite(flat):
        return rows
    most = float(np.fmax.reduce(np.abs(flat), axis=None, initial=0.0))  # first steps may take NaN
    if not LARGEST <= most < np.inf:  # scikit-learn names what is infinite
        return rows
    column = int(np.argmax(np.abs(rows).max(axis=0)))
    raise ValueError(
        f"X holds {most:.2g} in column {column}; kernel values need numbers below {LARGEST:g}. "
        "Scale the features, for instance by StandardScaler in a pipeline, or drop the row."
    )


def dense(rows: Any) -> NDArray[Any]:
    """Return rows as an array, whether they are sparse or not."""
    return rows.toarray() if issparse(rows) else rows


def as_query(x: Any) -> Any:
    """Return one query as a table of one row; a row taken from a frame keeps its names."""
    if np.ndim(x) == 2:
        return x
    return x.to_frame().T.infer_objects() if hasattr(x, "to_frame") else np.asarray(x)[None]


def is_plain(estimator: Any, X: Any) -> bool:
    """Tell whether X is an array of floats with the columns that `estimator` knows."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.size > 0
        and X.shape[1] == estimator.n_features_in_
        and X.dtype.char in "df"
        and X.dtype.isnative
        and not hasattr(estimator, "feature_names_in_")
    )


def is_finite(rows: NDArray[Any]) -> bool:
    """Tell in one pass whether all numbers are finite, and none is huge; False where unclear."""
    flat = rows.ravel("K")
    return flat.flags.carray and flat.dtype.isnative and squares_below(flat, LARGEST**2)


def is_clean(estimator: Any, X: Any) -> bool:
    """Tell at once what scikit-learn's checks would find out in a hundred microseconds.

    They would dominate a query that comes alone; whatever is not plainly fine goes through them.
    """
    return is_plain(estimator, X) and is_finite(X)


def as_plain(estimator: Any, X: Any) -> NDArray[Any] | None:
    """Return X as an array of floats where it has, plainly, the columns that `estimator` knows.

    That is such an array, or a small frame whose names are those of the frame it was fitted on.
    """
    if is_plain(estimator, X):
        return X
    names, columns = getattr(estimator, "feature_names_in_", None), getattr(X, "columns", None)
    if names is None or columns is None or not 0 < len(X) <= FEW_ROWS:
        return None
    if list(columns) != names.tolist():
        return None
    values = X.to_numpy()
    if values.dtype.kind not in "iuf" or not values.dtype.isnative:
        return None
    return np.ascontiguousarray(values, dtype=None if values.dtype.char in "df" else np.float64)


def _chained(steps: list[Any]) -> Any:
    """Return fitted transformers as one, or None where there are none."""
    return Pipeline([(f"step{i}", step) for i, step in enumerate(steps)]) if steps else None


def take_columns(clf: Any, fitted: Any) -> bool:
    """Take over which columns a fitted estimator knows; False where it knows none."""
    for name in ("n_features_in_", "feature_names_in_"):
        vars(clf).pop(name, None)
        if hasattr(fitted, name):
            setattr(clf, name, getattr(fitted, name))
    return hasattr(clf, "n_features_in_")


def trained(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """Fit an estimator, with weights of the rows where some are given."""
    if sample_weight is None:
        return estimator.fit(X, y)
    return estimator.fit(X, y, **weights_for(estimator, sample_weight))


def weights_for(estimator: Any, sample_weight: Any) -> dict[str, Any]:
    """Return weights of rows as the `fit` of an estimator, or of a pipeline, takes them."""
    last, path = estimator, ""
    while hasattr(last, "steps"):
        name, last = last.steps[-1]
        path += f"{name}__"
    if not has_fit_parameter(last, "sample_weight"):
        raise TypeError(
            f"{type(last).__name__} takes no sample_weight, so there is nothing to weigh rows "
            "with. Leave it out, or give an estimator that does."
        )
    return {f"{path}sample_weight": sample_weight}
