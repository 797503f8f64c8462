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

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import isfinite
from typing import Any, ClassVar, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, clone, is_outlier_detector
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, NuSVC
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from kmviz.machines import KernelMachine
from kmviz.machines.cut import calibrator_of
from kmviz.machines.votes import by_votes
from kmviz.machines.platt import probabilities, sigmoids
from kmviz.machines.reading import (
    classes_of,
    read_binary,
    read_pairs,
    read_rest,
    reads_rest,
    refuse_precomputed,
    refuse_unreadable,
)
from kmviz.machines.unwrap import has_first_steps, last_step, refuse_own_answers
from kmviz.methods.rows import (
    FLOATS,
    MachineRows,
    as_query,
    dense,
    is_clean,
    is_plain,
    take_columns,
    trained,
)
from kmviz.methods.study import Study
from kmviz.traces import Trace

__all__ = [
    "FLOATS", "BinaryProblem", "Engine", "MachineClassifier", "PairsClassifier", "as_query",
    "dense", "is_clean", "is_plain",
]  # fmt: skip


class Engine(Protocol):
    """What a method makes of one binary machine."""

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

    def winners(self, output: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the place in `classes_` that each row of `decision_function` stands for."""
        if output.ndim == 1:
            return (output > 0).astype(np.intp)
        scores = self._by_class(output)
        return (scores if self._breaks_ties else np.rint(scores)).argmax(axis=1)

    #: With several classes: whether summed outputs decide between classes of as many votes, or
    #: the first of them wins, as in an SVC with `break_ties=False`.
    _breaks_ties: bool = True

    @property
    def winners_break_ties(self) -> bool:
        """With several classes: whether summed outputs decide between classes of as many votes."""
        return self._breaks_ties

    #: With several classes: whether `decision_function` keeps a column for each pair, as in an
    #: SVC with `decision_function_shape="ovo"`.
    _keeps_pairs: bool = False

    def _by_class(self, output: NDArray[np.float64]) -> NDArray[np.float64]:
        return by_votes(output, len(self.classes_)) if self._keeps_pairs else output

    @property
    def pairs_(self) -> list[tuple[Any, Any]]:
        """The pairs of classes, in the order of `machines_`."""
        return list(combinations(self.classes_, 2))

    def _aggregate(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Bring one column for each pair to what `decision_function` returns.

        As scikit-learn's SVC aggregates: positive speaks for a pair's first class.
        """
        if len(self.classes_) == 2:
            return outputs[:, 0]
        return outputs if self._keeps_pairs else by_votes(outputs, len(self.classes_))

    def _pair_index(self, row: ArrayLike, pair: tuple[Any, Any] | None) -> int:
        if pair is None and len(self.classes_) == 2:
            return 0
        if pair is None:
            scores = self._by_class(self.decision_function(row))[0]
            top = np.sort(np.argsort(scores)[-2:])
            pair = (self.classes_[top[0]], self.classes_[top[1]])
        if not np.iterable(pair) or (chosen := tuple(pair)) not in self.pairs_:
            raise ValueError(f"pair must be one of {self.pairs_}; got {pair!r}.")
        return self.pairs_.index(chosen)


def _has_probabilities(clf: Any) -> bool:
    """Whether the fitted estimator of a method was trained with probabilities, or calibrated."""
    if not hasattr(clf, "estimator_"):
        return False
    known = sigmoids(last_step(clf.estimator_)) is not None
    return known or calibrator_of(clf.estimator_) is not None


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

        With more than two classes it is scikit-learn's one-against-one aggregation.

        A score of the method's own: it has the exact machine's sign (as far as the method goes)
        but not its size. Rank or calibrate by `exact_function(X)`.
        """
        found = self._runs(X)
        if len(found) == 1:
            return found[0][0]
        return self._aggregate(np.column_stack([output for output, _ in found]))

    def steps(self, X: ArrayLike) -> NDArray[np.intp]:
        """Return how many kernel values each row takes, over all pairs of classes."""
        return np.sum([steps for _, steps in self._runs(X)], axis=0)

    def exact_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return what the exact machine would put out for each row, in float64."""
        rows = dense(self._rows(X))
        outputs = [machine.decision_function(rows) for machine in self._exact_machines()]
        return self._aggregate(np.column_stack(outputs))

    @available_if(_has_probabilities)
    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each class: that of the fitted model, if it has them.

        They are computed from the exact machines' outputs, whatever the method: sigmoids were
        fitted to these. Elsewhere, calibrate the exact machine's scores on rows of their own:
        `CalibratedClassifierCV(FrozenEstimator(ExactClassifier(FrozenEstimator(svc)).fit(X)))`.
        """
        rows = dense(self._rows(X))
        outputs = np.column_stack([m.decision_function(rows) for m in self._exact_machines()])
        found = calibrator_of(self.estimator_)
        if found is not None:
            second = found.probability(outputs[:, 0])
            return np.column_stack([1.0 - second, second])
        a, b = cast(Any, sigmoids(last_step(self.estimator_)))
        return probabilities(outputs, a, b, len(self.classes_))

    def estimator_labels(self, X: ArrayLike) -> NDArray[Any]:
        """Return what the whole fitted estimator answers: what every promise is about.

        With several classes, an estimator that has no machine for each pair is trained anew for
        each of them; then what those machines answer together.
        """
        if self._reads_model:
            if self.preprocessing_ is None and not hasattr(self.estimator_, "feature_names_in_"):
                X = self._validate(X, reset=False)  # it was trained so
            return self.estimator_.predict(X)
        return self.classes_[self.winners(self.exact_function(X))]

    def _exact_machines(self) -> list[KernelMachine]:
        """The machines that the method stands in for, in pair order."""
        return self.machines_

    def trace(self, x: ArrayLike, pair: tuple[Any, Any] | None = None) -> Trace:
        """Return the record of one query.

        Parameters
        ----------
        x : array of shape (d,) or (1, d), or a row of a frame
        pair : tuple of two classes, optional
            Which machine to watch. None takes the two classes that `decision_function` puts
            first.
        """
        row = as_query(x)
        rows = dense(self._rows(row))
        if len(rows) != 1:
            raise ValueError(f"trace takes one query, got {len(rows)} rows.")
        return self.engines_[self._pair_index(row, pair)].trace(rows[0])

    def _train(self, X: Any, y: Any, sample_weight: Any = None) -> list[BinaryProblem]:
        """Validate, train, and return the binary problems in pair order."""
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
        if sample_weight is not None and len(self.classes_) > 2 and not _has_pairs(last):
            raise ValueError(
                f"{type(last).__name__} holds no machine for each pair of classes, and those that "
                "are trained for it take no sample_weight. Leave it out, or take SVC."
            )
        self._breaks_ties, self._keeps_pairs = _ties(last)
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

    #: Whether the machines are the fitted estimator's own, not trained anew for each pair.
    _reads_model: bool = True

    def _problems(self, X: NDArray[Any], y: Any, given: Any) -> list[BinaryProblem]:
        last = last_step(self.estimator_)
        fresh = None if y is None else _fresh(given)
        y = None if y is None else np.asarray(y)
        if len(self.classes_) == 2:
            sides = None if y is None else np.where(y == self.classes_[1], 1, -1)
            self._reads_model = True
            return [BinaryProblem(read_binary(self.estimator_), X, sides, fresh)]
        machines: list[KernelMachine | None] = [None] * len(self.pairs_)
        if _has_pairs(last):
            machines = list(read_pairs(last))
        elif y is None and reads_rest(last):
            machines = list(read_rest(last))
        elif y is None:
            raise TypeError(
                f"With more than two classes a frozen estimator must hold a machine for each pair, "
                f"as SVC does, or for each class, as LinearSVC does; got {type(last).__name__}."
            )
        self._reads_model = machines[0] is not None
        problems = []
        for machine, (first, second) in zip(machines, self.pairs_, strict=True):
            side = None if y is None else np.where(y == first, 1, np.where(y == second, -1, 0))
            machine = machine or _train_pair(fresh, X, side)
            problems.append(BinaryProblem(machine, X, side, fresh))
        return problems

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

    def _runs(self, X: Any) -> list[tuple[NDArray[np.float64], NDArray[np.intp]]]:
        """Return outputs and steps of every engine.

        Engines that tell by themselves where a row is not finite answer a plain array in less
        time than scikit-learn's checks take: it is checked only if they do tell.
        """
        rows = self._unchecked_rows(X)
        if rows is not None:
            found = [engine.run(rows) for engine in self.engines_]
            if all(isfinite(output.dot(output)) for output, _ in found):
                return found
        rows = self._rows(X)
        return [engine.run(rows) for engine in self.engines_]

    def _unchecked_rows(self, X: Any) -> NDArray[Any] | None:
        """Rows of a plain array, finite or not, for engines that tell by themselves; or None."""
        if self._unchecked and is_plain(self, X) and self._is_folded(X):
            return X if self._affine is None else self._affine(X)
        return None

    #: Whether plain arrays go to the engines unchecked.
    _unchecked: bool = False


def _has_pairs(last: Any) -> bool:
    """Whether a fitted estimator of several classes holds a machine for each pair."""
    return isinstance(last, SVC | NuSVC) or hasattr(last, "machines_")


def _ties(last: Any) -> tuple[bool, bool]:
    """Return whether a fitted machine breaks ties, and whether it keeps pairs in its outputs."""
    if isinstance(last, SVC | NuSVC):
        keeps = last.decision_function_shape == "ovo"
        return bool(last.break_ties) and not keeps, keeps
    return getattr(last, "_breaks_ties", True), getattr(last, "_keeps_pairs", False)


def _fresh(given: Any) -> Any:
    """Return an untrained copy of what decides, without the transformers before it."""
    copy = clone(last_step(given))
    if isinstance(getattr(copy, "estimator", None), Pipeline):
        copy.set_params(estimator=last_step(copy.estimator))
    return copy


def _train_pair(fresh: Any, X: NDArray[Any], side: Any) -> KernelMachine:
    rows = side != 0
    return read_binary(clone(fresh).fit(X[rows], side[rows]))
