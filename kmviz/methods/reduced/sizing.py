"""How many vectors, and the rows that sequential answers hold out."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.utils import check_consistent_length
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite

from kmviz.methods.base import BinaryProblem


@dataclass(frozen=True, eq=False)
class HeldProblem(BinaryProblem):
    """A problem with rows, unseen by the machine, that choose, and others that prove."""

    held: NDArray[Any]
    proof: NDArray[Any]


def hold_out(X: Any, y: Any, frozen: bool, random: Any) -> tuple[Any, Any, Any, Any]:
    """Split off rows that choose and rows that prove: a quarter of X, all of it when frozen.

    Return the rows left to learn from, their classes, and the two parts. A frozen machine has
    nothing to learn but what the choosing rows may say: no other row proves anything.
    """
    held = X
    if not frozen:
        if y is None:
            raise ValueError("This estimator requires y to be passed, but the target y is None.")
        check_consistent_length(X, y)
        if np.asarray(y).dtype.kind == "f":
            assert_all_finite(y, input_name="y")
        check_classification_targets(y)
    try:
        if not frozen:
            X, held, y, _ = train_test_split(X, y, stratify=y, random_state=random)
        choosing, proving = train_test_split(held, test_size=0.5, random_state=random)
    except ValueError as error:
        raise ValueError(
            f"sequential=True holds out rows, of every class: {error} Give more rows."
        ) from error
    return (choosing if frozen else X), y, choosing, proving


def count(n_vectors: Any, m: int) -> int:
    """Return how many of m vectors a number or a share stands for."""
    if isinstance(n_vectors, Integral):
        return min(int(n_vectors), m)
    return min(m, max(2, round(float(n_vectors) * m)))
