"""A slow, fitted regressor in, or a classifier whose scores matter, and a fast one out.

As `kmviz.evaluation.accelerate`, with another measure: a value counts as changed where it is
further than a tolerance from what the model itself says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.frozen import FrozenEstimator
from sklearn.utils import _safe_indexing, check_random_state

from kmviz.evaluation.cost import TIMED_ROWS, one_thread, seconds_per_query
from kmviz.evaluation.faithful import ReadingError
from kmviz.evaluation.row_checks import doubt_about
from kmviz.methods import progress
from kmviz.methods.anytime import AnytimeRegressor
from kmviz.methods.anytime.basis import NotMercerError
from kmviz.methods.exact import ExactClassifier, ExactRegressor
from kmviz.methods.promise import (
    Promise,
    deal_groups,
    distinct_misses,
    group_rows,
    rows_needed,
    upper_bound,
)
from kmviz.methods.reduced import ReducedSetClassifier, ReducedSetRegressor

Values = NDArray[np.float64]

#: The tolerance where none is given, as a share of the spread of the model's own values.
SHARE = 0.01

#: What is tried. Those that `Way.is_sure` says nothing can move further than the tolerance.
NAMES = ("exact", "exact_float32", "anytime", "reduced_5", "reduced")
SURE = ("exact", "anytime")


@dataclass(frozen=True)
class Asked:
    """What was asked of `accelerate`."""

    rate: float
    confidence: float
    tolerance: float | None
    queries: str
    random_state: int | None


@dataclass(frozen=True)
class Found:
    """The fastest that keeps the promise."""

    name: str
    fast: Any
    seconds: float
    given_seconds: float
    is_few: bool
    doubt: str
    distinct: int


def fastest_values(fitted: Any, X: Any, method: str, asked: Asked) -> Found:
    """Return the fastest of the methods that keeps the model's values to the tolerance.

    Parameters
    ----------
    fitted : estimator
        A regressor, or a classifier with a `decision_function`.
    method : str
        "auto", or one of `NAMES`.
    """
    says = told_by(fitted)
    values = says(fitted, X)
    tolerance = SHARE * float(values.std()) if asked.tolerance is None else asked.tolerance
    trial = ValueTrial(fitted, X, values, replace(asked, tolerance=tolerance))
    if method not in ("auto", *trial.offered()):
        raise ValueError(
            f"method must be 'auto' or one of {', '.join(trial.offered())} where values are "
            f"promised; got {method!r}."
        )
    trial.refuse_unlike()
    return trial.fastest([method] if method != "auto" else trial.offered())


def told_by(model: Any) -> Callable[[Any, Any], Values]:
    """Return how to ask a model, or what stands in for it, for values."""
    name = "predict" if is_regressor(model) else "decision_function"
    return lambda one, X: np.asarray(getattr(one, name)(X), dtype=np.float64)


class ValueTrial:
    """Rows that decide, and the candidates that they decide on."""

    def __init__(self, fitted: Any, X: Any, values: Values, asked: Asked) -> None:
        self.fitted, self.X, self.values, self.asked = fitted, X, values, asked
        self.tolerance = float(asked.tolerance or 0.0)
        self.says, self.frozen = told_by(fitted), FrozenEstimator(fitted)
        reader = ExactRegressor if is_regressor(fitted) else ExactClassifier
        self.exact = reader(self.frozen, dtype="float64").fit(X)
        rows = self.exact.machine_rows(X)
        self.group = group_rows(rows)
        machines = [engine.machine for engine in self.exact.engines_]
        self.doubt = doubt_about(rows, self.group, fitted, machines)
        self.distinct = len(np.unique(self.group))
        random = check_random_state(asked.random_state)
        self.deciding, self.calibrating = deal_groups(self.group, self.distinct // 2, random)
        if not len(self.deciding):
            self.deciding = self.calibrating

    def offered(self) -> list[str]:
        """The candidates for this kind of model."""
        return [name for name in NAMES if name != "anytime" or is_regressor(self.fitted)]

    def made(self, name: str) -> Any:
        """A candidate, fitted."""
        values = is_regressor(self.fitted)
        if name == "anytime":
            made: Any = AnytimeRegressor(self.frozen, tolerance=self.tolerance)
        elif name.startswith("exact"):
            dtype = "float64" if name == "exact" else "float32"
            made = (ExactRegressor if values else ExactClassifier)(self.frozen, dtype=dtype)
        else:
            share = 0.05 if name == "reduced_5" else 0.1
            cls = ReducedSetRegressor if values else ReducedSetClassifier
            made = cls(self.frozen, n_vectors=share)
        with one_thread():
            return made.fit(_safe_indexing(self.X, self.calibrating))

    def refuse_unlike(self) -> None:
        """Refuse a model whose machine, as it was read, says something else."""
        read = self.says(self.exact, self.X)
        if read.shape != self.values.shape:
            raise ReadingError(
                f"{type(self.fitted).__name__} gives values of shape {self.values.shape}, and the "
                f"machine inside of shape {read.shape}: it is another model's."
            )
        size = 1.0 + float(np.abs(self.values).max())
        wrong = np.flatnonzero(self._off(read) > max(self.tolerance, 1e-6 * size))
        if len(wrong):
            raise ReadingError(
                f"Read as a kernel machine, this {type(self.fitted).__name__} says something else "
                f"for {len(wrong):,} of {len(read):,} rows (row {wrong[0]}: {read[wrong[0]]} for "
                f"{self.values[wrong[0]]}): it has a step or a rule that the machine does not hold."
            )

    def fastest(self, names: list[str]) -> Found:
        """The fastest candidate that keeps the promise; the exact machine in float64 always does.

        Each try of a candidate that only rows can speak for costs confidence.
        """
        tested = [name for name in names if name not in SURE]
        rows = len(np.unique(self.group[self.deciding]))
        level = 1.0 - (1.0 - self.asked.confidence) / max(len(tested), 1)
        is_few = bool(tested) and rows_needed(self.asked.rate, level) > rows
        kept = []
        for done, name in enumerate([*names, *(["exact"] if "exact" not in names else [])]):
            progress.report(0.1 + 0.8 * done / (len(names) + 1), name)
            if name in tested and (is_few or self.doubt):
                continue
            try:
                fast = self.made(name)
            except (NotMercerError, TypeError):  # not for this kernel, or not for sparse rows
                continue
            promise = self._promise(name, fast, level)
            if promise is not None:
                fast.promise_ = promise
                kept.append((self._seconds(fast), name, fast))
        asked_for = [one for one in kept if one[1] in names]
        seconds, name, fast = min(asked_for or kept, key=lambda one: one[0])
        given = self._seconds(self.fitted)
        fast.promise_ = replace(fast.promise_, faster=given / seconds)
        return Found(name, fast, seconds, given, is_few, self.doubt, self.distinct)

    def _promise(self, name: str, fast: Any, level: float) -> Promise | None:
        checked = len(self.values)
        if name in SURE:
            return Promise(
                0.0, 1.0, 0, checked=checked, distinct=self.distinct, tolerance=self.tolerance
            )
        rows = _safe_indexing(self.X, self.deciding)
        off = self._off(self.says(fast, rows), self.deciding)
        misses, n_rows = distinct_misses(off > self.tolerance, self.group[self.deciding])
        bound = upper_bound(misses, n_rows, level)
        if bound > self.asked.rate:
            return None
        return Promise(
            self.asked.rate, self.asked.confidence, n_rows, misses, bound, checked, self.distinct,
            tolerance=self.tolerance,
        )  # fmt: skip

    def _off(self, values: Values, rows: Any = slice(None)) -> Values:
        """Return how far each row's value is off."""
        return np.abs(values - self.values[rows])

    def _seconds(self, model: Any) -> float:
        queries = self.asked.queries
        rows = _safe_indexing(self.X, self.calibrating[: TIMED_ROWS[queries]])
        return seconds_per_query(lambda X: self.says(model, X), rows, queries)
