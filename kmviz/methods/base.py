"""What every method on a trained machine shares: input, training, one-against-one.

A method supplies one *engine* a binary machine. An engine answers rows and records a query:

- `engine.machine`: the machine the method offers as its own,
- `engine.overhead`: what a query costs beside its steps, in kernel values,
- `engine.run(X)`: outputs and steps of each row,
- `engine.trace(x)`: the record of one row,
- `engine.tells_finite`, if it has one and it is true: `run` takes rows that nobody has checked, and
  the output of a row that is not finite is not finite.

Everything else (validation, pipelines, frozen estimators, pairs of classes) is here, once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import isfinite
from typing import Any, ClassVar, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, clone, is_outlier_detector
from sklearn.frozen import FrozenEstimator
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, NuSVC
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from kmviz.machines import KernelMachine
from kmviz.machines.certified import THROUGH_STEPS
from kmviz.machines.reading import (
    classes_of,
    read_binary,
    read_pairs,
    read_rest,
    refuse_precomputed,
    refuse_unreadable,
)
from kmviz.machines.unwrap import has_first_steps, last_step, refuse_own_answers
from kmviz.machines.votes import Rule, by_votes, rule_of
from kmviz.methods.rows import (
    FLOATS,
    MachineRows,
    as_query,
    dense,
    is_clean,
    is_plain,
    refuse_huge,
    take_columns,
    trained,
)
from kmviz.methods.study import Study
from kmviz.traces import Trace

__all__ = [
    "FLOATS", "BinaryProblem", "Engine", "MachineClassifier", "PairsClassifier", "as_query",
    "dense", "is_clean", "is_plain",
]  # fmt: skip


#: Outputs and steps of the rows that an engine answered.
Run = tuple[NDArray[np.float64], NDArray[np.intp]]


class Engine(Protocol):
    """What a method makes of one binary machine.

    An engine may have `tells_finite = True`: NaN in, NaN out, so that the checks of its rows can
    wait until an output is not finite.
    """

    machine: KernelMachine

    @property
    def overhead(self) -> float:
        """What a query costs beside its steps, in kernel values."""

    def run(self, X: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Return the output and the kernel values computed for each row."""

    def trace(self, x: NDArray[Any]) -> Trace:
        """Return the record of one row (1-d)."""


@dataclass(frozen=True, eq=False)
class BinaryProblem:
    """One binary problem as a method sees it when it is fitted.

    Attributes
    ----------
    machine : KernelMachine
        The exact machine.
    X : array of shape (n, d)
        Rows to learn from, as the machine reads them (past a pipeline's first steps). With
        several classes all rows are here: each pair's machine is asked about every query.
    y : array of shape (n,) or None
        +1 and -1 for the machine's two sides, 0 for rows of other classes; None when the
        estimator came frozen.
    estimator : estimator or None
        An unfitted copy of what trained the machine, to train on parts; None when frozen.
    """

    machine: KernelMachine
    X: NDArray[Any]
    y: NDArray[np.intp] | None
    estimator: Any

    @cached_property
    def sides(self) -> NDArray[np.intp]:
        """y, or the machine's own answers where the estimator came frozen."""
        if self.y is not None:
            return self.y
        return np.where(self.machine.decision_function(self.X) > 0, 1, -1)


class PairsClassifier(ClassifierMixin, MachineRows):
    """What every classifier here makes of one column for each pair of classes.

    A subclass defines `decision_function`, `steps`, `trace` and `exact_function`.
    """

    classes_: NDArray[Any]

    #: What `study` returns.
    study_class: ClassVar[type[Study]] = Study

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of each row."""
        output = self.decision_function(X)  # which says so where nothing is fitted
        return self.classes_[self.winners(output)]

    def study(self, X: ArrayLike) -> Study:
        """Return what can be read again for the rows X without fitting: see `kmviz.methods.study`.

        Parameters
        ----------
        X : array of shape (n, d)
        """
        check_is_fitted(self)
        return self.study_class(self, X)

    def exact_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return what the exact machine would put out for each row, in float64."""
        raise NotImplementedError

    #: How outputs become classes; a method over a model takes that model's own.
    rule_: Rule = Rule()

    def winners(self, output: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the place in `classes_` that each row of `decision_function` stands for."""
        return self.rule_.winners_of_scores(output)

    @property
    def pairs_(self) -> list[tuple[Any, Any]]:
        """The pairs of classes, in the order of `machines_`."""
        return list(combinations(self.classes_, 2))

    def _pair_index(self, row: ArrayLike, pair: Any) -> int:
        """Return which machine a trace shows."""
        if pair is None and len(self.classes_) == 2:
            return 0
        if self.rule_.rest:
            return self._class_index(row, pair)
        if pair is None:
            scores = self.decision_function(row)
            if self.rule_.keeps_pairs:
                scores = by_votes(scores, len(self.classes_))
            top = np.sort(np.argsort(scores[0])[-2:])
            pair = (self.classes_[top[0]], self.classes_[top[1]])
        if not np.iterable(pair) or (chosen := tuple(pair)) not in self.pairs_:
            raise ValueError(f"pair must be one of {self.pairs_}; got {pair!r}.")
        return self.pairs_.index(chosen)

    def _class_index(self, row: ArrayLike, own: Any) -> int:
        if own is None:
            return int(self.winners(self.decision_function(row))[0])
        known = self.classes_.tolist()
        if own not in known:
            raise ValueError(
                f"pair must be one of the classes {known}, each of which has a machine against "
                f"the rest; got {own!r}."
            )
        return known.index(own)


def _has_probabilities(clf: Any) -> bool:
    """Return True if the model that the method replaces gives probabilities."""
    return hasattr(getattr(clf, "estimator_", None), "predict_proba")


class MachineClassifier(PairsClassifier):
    """Base of the methods that answer in place of a trained kernel machine.

    A subclass stores its parameters (`estimator` among them) and defines
    `_engine(problem) -> Engine`.
    """

    estimator: Any
    overhead_: float

    def _engine(self, problem: BinaryProblem) -> Engine:
        raise NotImplementedError

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Any:
        """Train the estimator (unless it is frozen) and prepare fast answers.

        Parameters
        ----------
        X : array of shape (n, d)
            Training rows. With a `FrozenEstimator`, rows to calibrate on.
        y : array of shape (n,)
            Classes; not used with a `FrozenEstimator`.
        """
        self._validate_params()
        return self._prepare(self._train(X, y))

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the output of each row, (n,) for two classes and (n, n_classes) for more.

        With more than two classes it is scikit-learn's one-against-one aggregation, or the output
        of each class's own machine against the rest.

        A score of the method's own: it has the exact machine's sign (as far as the method goes)
        but not its size. Rank or calibrate by `exact_function(X)`.
        """
        return self.rule_.scores(self._outputs(X))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of each row."""
        outputs = self._outputs(X)  # which says so where nothing is fitted
        return self.classes_[self.rule_.winners(outputs)]

    def _labels(self, X: Any, outputs: NDArray[np.float64], near: NDArray[np.intp]) -> NDArray[Any]:
        """Return the classes that exact outputs stand for.

        Of the rows `near`, where rounding decides some output, the model's own sum decides, and is
        asked. A slim copy keeps no model: there the sign of our sum decides, and the rule at 0.
        """
        winner = self.rule_.winners(outputs)
        if len(near) and hasattr(self, "estimator_"):
            labels = self.estimator_labels(_safe_indexing(X, near))
            winner[near] = np.searchsorted(classes_of(self.estimator_), labels)
        return self.classes_[winner]  # which may have other names, behind a table's encoder

    @property
    def _allowed(self) -> float:
        """What transformers before the machine may do to f, as a share of its terms."""
        return 0.0 if self.preprocessing_ is None else THROUGH_STEPS

    def _outputs(self, X: Any) -> NDArray[np.float64]:
        """Return the output of each machine, a column each."""
        found = self._runs(X)
        if len(found) == 1:
            return found[0][0][:, None]
        return np.column_stack([output for output, _ in found])

    def steps(self, X: ArrayLike) -> NDArray[np.intp]:
        """Return how many kernel values each row takes, over all pairs of classes."""
        return np.sum([steps for _, steps in self._runs(X)], axis=0)

    def exact_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return what the exact machine would put out for each row, in float64."""
        rows = dense(self._rows(X))
        outputs = [machine.decision_function(rows) for machine in self._exact_machines()]
        return self.rule_.scores(np.column_stack(outputs))

    @available_if(_has_probabilities)
    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each class: the fitted model's own, where it has them.

        Elsewhere, calibrate the exact machine's scores on rows of their own:
        `CalibratedClassifierCV(FrozenEstimator(ExactClassifier(FrozenEstimator(svc)).fit(X)))`.
        """
        return self.estimator_.predict_proba(self._model_rows(X))

    def estimator_labels(self, X: ArrayLike) -> NDArray[Any]:
        """Return what the whole fitted estimator answers: what every promise is about."""
        return self.estimator_.predict(self._model_rows(X))

    def _model_rows(self, X: ArrayLike) -> Any:
        """Return rows as the fitted estimator was trained on them."""
        if self.preprocessing_ is None and not hasattr(self.estimator_, "feature_names_in_"):
            return self._validate(X, reset=False)
        return X

    def _exact_machines(self) -> list[KernelMachine]:
        """The machines that the method stands in for, in pair order."""
        return self.machines_

    def trace(self, x: ArrayLike, pair: Any = None) -> Trace:
        """Return the record of one query.

        Parameters
        ----------
        x : array of shape (d,) or (1, d), or a row of a frame
        pair : tuple of two classes, or one class, optional
            Which machine to watch; one class where each has a machine against the rest. None takes
            the classes, or the class, that `decision_function` puts first.
        """
        row = as_query(x)
        rows = dense(self._rows(row))
        if len(rows) != 1:
            raise ValueError(f"trace takes one query, got {len(rows)} rows.")
        place = self._pair_index(row, pair)
        record = self.engines_[place].trace(rows[0])
        if not (self.rule_.rest and self._stops_early):
            return record
        output = float(self.decision_function(row)[0, place])  # the whole sum, where it was needed
        return record if output == record.output else replace(cast(Any, record), output=output)

    def _train(self, X: Any, y: Any, sample_weight: Any = None) -> list[BinaryProblem]:
        """Validate, train, and return a binary problem for each machine."""
        given = SVC() if self.estimator is None else self.estimator
        refuse_own_answers(last_step(given))
        frozen = isinstance(given, FrozenEstimator)
        if frozen:
            check_is_fitted(given.estimator)
            refuse_unreadable(last_step(given))
        else:
            refuse_precomputed(last_step(given))
        X, y = self._validated(X, y, None if not frozen else given.estimator, given)
        if not frozen:
            self.estimator_ = trained(clone(given), X, y, sample_weight)
        else:
            self.estimator_ = given.estimator
        last = last_step(self.estimator_)
        refuse_unreadable(last)
        self.classes_ = classes_of(self.estimator_)
        self.rule_ = rule_of(self.estimator_)
        self._take_steps(self.estimator_)
        return self._problems(self._transformed(X), None if frozen else y, given)

    def _validated(self, X: Any, y: Any, fitted: Any, given: Any) -> tuple[Any, Any]:
        """Check rows and classes; of a fitted estimator X must have the columns, and names."""
        as_it_is = has_first_steps(given)  # those may take strings or missing values
        if fitted is not None:
            reset = not take_columns(self, fitted)
            if as_it_is:
                return validate_data(self, X, reset=reset, skip_check_array=True), None
            return self._validate(X, reset=reset), None
        if is_outlier_detector(last_step(given)):  # one class: its rows need no names
            return self._validate(X) if not as_it_is else X, None
        if as_it_is:
            validate_data(self, X, skip_check_array=True)
            if y is None:
                raise ValueError("This estimator requires y to be passed, but y is None.")
        else:
            X, y = self._validate(X, y)
        check_classification_targets(y)
        if len(np.unique(np.asarray(y))) < 2:
            raise ValueError("y holds one class only; a classifier needs at least two classes.")
        return X, y

    def _problems(self, X: NDArray[Any], y: Any, given: Any) -> list[BinaryProblem]:
        fresh = None if y is None else _fresh(given)
        machines = self._read_machines()
        sides = [None] * len(machines) if y is None else self._sides(np.asarray(y))
        return [
            BinaryProblem(machine, X, side, fresh)
            for machine, side in zip(machines, sides, strict=True)
        ]

    def _read_machines(self) -> list[KernelMachine]:
        """Read the fitted estimator: one machine for each pair of classes, or for each class."""
        last = last_step(self.estimator_)
        if len(self.classes_) == 2:
            return [read_binary(self.estimator_)]
        if isinstance(last, SVC | NuSVC) or hasattr(last, "machines_"):
            return list(read_pairs(last))
        if self.rule_.rest:
            return read_rest(last)
        raise TypeError(
            "With more than two classes an estimator must hold a machine for each pair, as SVC "
            "does, or for each class, as LinearSVC does and OneVsRestClassifier around SVMs of one "
            f"kernel (a pipeline goes around it, not inside); got {type(last).__name__}."
        )

    def _sides(self, y: NDArray[Any]) -> list[NDArray[np.intp]]:
        """Return +1 and -1 for the two sides of each machine, 0 for rows of other classes."""
        if len(self.classes_) == 2:
            return [np.where(y == self.classes_[1], 1, -1)]
        if self.rule_.rest:
            return [np.where(y == own, 1, -1) for own in self.classes_]
        return [
            np.where(y == first, 1, np.where(y == second, -1, 0)) for first, second in self.pairs_
        ]

    def _prepare(self, problems: list[BinaryProblem]) -> Any:
        """Build the engines; the last step of every fit."""
        return self._adopt([self._engine(problem) for problem in problems])

    def _adopt(self, engines: list[Any]) -> Any:
        """Take engines for one's own, with what is read from them."""
        self.engines_ = engines
        self.machines_ = [engine.machine for engine in self.engines_]
        self._double = not all(machine.fits_float32 for machine in self.machines_)
        tell = all(getattr(engine, "tells_finite", False) for engine in engines)
        as_they_come = self.preprocessing_ is None or self._affine is not None
        self._unchecked = tell and as_they_come and not self._double
        if len(self.classes_) == 2:
            self.machine_ = self.machines_[0]
        self.overhead_ = float(sum(engine.overhead for engine in self.engines_))
        return self

    def _runs(self, X: Any) -> list[Run]:
        """Return outputs and steps of every engine.

        scikit-learn's checks take longer than a single answer. NaN in, NaN out: engines that
        promise it (`tells_finite`) answer a plain array first, and it is checked only if an output
        is not finite.
        """
        rows = self._unchecked_rows(X)
        if rows is not None:
            found = [engine.run(rows) for engine in self.engines_]
            if all(isfinite(output.dot(output)) for output, _ in found):
                return self._compared(rows, found)
        rows = self._rows(X)
        return self._compared(rows, [engine.run(rows) for engine in self.engines_])

    #: Whether an output may be a partial sum, which has the sign of f(x) but not its size.
    _stops_early: bool = False

    def _compared(self, rows: NDArray[Any], found: list[Run]) -> list[Run]:
        """Make the outputs of one class against the rest comparable, where engines stop early.

        A class that alone claims a row, by a positive output, has won it. Of several that claim
        it, or of all where none does, the whole sums decide; `found` takes them.
        """
        if not (self.rule_.rest and self._stops_early):
            return found
        claims = np.column_stack([output > 0 for output, _ in found])
        asks = claims | ~claims.any(axis=1, keepdims=True)
        asks[claims.sum(axis=1) == 1] = False
        for engine, (output, steps), which in zip(self.engines_, found, asks.T, strict=True):
            if which.any():
                output[which] = engine.machine.decision_function(rows[which])
                steps[which] += engine.machine.n_vectors
        return found

    def _unchecked_rows(self, X: Any) -> NDArray[Any] | None:
        """Return rows of a plain array, finite or not; None where they must be checked first."""
        if self._unchecked and is_plain(self, X) and self._is_folded(X):
            return refuse_huge(X if self._affine is None else self._affine(X))
        return None

    #: Whether plain arrays go to the engines unchecked.
    _unchecked: bool = False


def _fresh(given: Any) -> Any:
    """Return an untrained copy of what decides, without the transformers before it."""
    copy = clone(last_step(given))
    if isinstance(copy, OneVsRestClassifier):  # each of its machines has two sides
        copy = copy.estimator
    if isinstance(getattr(copy, "estimator", None), Pipeline):
        copy.set_params(estimator=last_step(copy.estimator))
    return copy
