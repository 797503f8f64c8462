"""Models that join several machines: a copy of the model whose machines are exact and fast."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_regressor
from sklearn.frozen import FrozenEstimator

from kmviz.evaluation.faithful import NAMED, ReadingError
from kmviz.machines.inside import replaced
from kmviz.methods.exact import ExactClassifier, ExactRegressor

#: Values that differ by no more, as a share of the largest, are the same.
ROUNDING = 1e-9


def quickened(fitted: Any, X: Any) -> tuple[Any, int]:
    """Return a copy of a model with fast machines, checked on every row, and the number of rows.

    The model's own code joins their answers. They are computed in float64: where a mean or a
    maximum decides, no sign alone settles it.

    Raises
    ------
    ReadingError
        Where even one row is answered otherwise.
    """
    fast = replaced(fitted, stand_in)
    fast.original_ = fitted
    answers, wanted = np.asarray(fast.predict(X)), np.asarray(fitted.predict(X))
    if is_regressor(fitted):
        wrong = np.flatnonzero(np.abs(answers - wanted) > ROUNDING * (1.0 + np.abs(wanted).max()))
    else:
        wrong = np.flatnonzero(answers != wanted)
    if len(wrong):
        some = ", ".join(f"{row} ({answers[row]!s} for {wanted[row]!s})" for row in wrong[:NAMED])
        raise ReadingError(
            f"With its machines read, this {type(fitted).__name__} answers {len(wrong):,} of "
            f"{len(wanted):,} rows otherwise than its own predict: rows {some}. Give the machines "
            "inside one by one."
        )
    return fast, len(wanted)


def stand_in(machine: Any) -> Any:
    """Return the exact machine of a fitted SVM or kernel ridge, which answers as it does."""
    row: Any = np.zeros((1, machine.n_features_in_))
    if hasattr(machine, "feature_names_in_"):
        import pandas as pd

        row = pd.DataFrame(row, columns=machine.feature_names_in_)
    cls = ExactRegressor if is_regressor(machine) else ExactClassifier
    return cls(FrozenEstimator(machine), dtype="float64").fit(row)
