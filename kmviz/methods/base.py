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
from itertools import combinations
from math import isfinite
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, NuSVC
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from kmviz.machines import KernelMachine
from kmviz.machines.pairs import by_votes
from kmviz.machines.reading import last_step, read_binary, read_pairs, refuse_precomputed
from kmviz.methods.study import Study
from kmviz.traces import Trace

FLOATS = [np.float64, np.float32]

#: Up to this many numbers a query goes past scikit-learn's input checks when plainly fine.
SMALL = 100_000


class Engine(Protocol):
    """What a method makes of one binary machine."""

    machine: KernelMachine
    overhead: float

    def run(self, X: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Return the output and the kernel values computed for each row."""

    def trace(self, x: NDArray[Any]) -> Trace:
        """Return the record of one row (1-d)."""


@dataclass(frozen=True, eq=False)
class Problem:
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


class PairsClassifier(ClassifierMixin, BaseEstimator):
    """What every classifier here makes of one column for each pair of classes.

    A subclass defines `decision_function`, `steps`, `trace` and `exact_function`.
    """

    classes_: NDArray[Any]

    #: What `study` returns.
    study_class: ClassVar[type[Study]] = Study

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of each row."""
        winners = self.winners(self.decision_function(X))  # which checks that it is fitted
        return self.classes_[winners]

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
        return (output > 0).astype(np.intp) if output.ndim == 1 else output.argmax(axis=1)

    @property
    def pairs_(self) -> list[tuple[Any, Any]]:
        """The pairs of classes, in the order of `machines_`."""
        return list(combinations(self.classes_, 2))

    def _aggregate(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Bring a column a pair to what `decision_function` returns.

        As scikit-learn's SVC aggregates: positive speaks for a pair's first class.
        """
        if len(self.classes_) == 2:
            return outputs[:, 0]
        return by_votes(outputs, len(self.classes_))

    def _pair_index(self, row: ArrayLike, pair: tuple[Any, Any] | None) -> int:
        if pair is None and len(self.classes_) == 2:
            return 0
        if pair is None:
            top = np.sort(np.argsort(self.decision_function(row)[0])[-2:])
            pair = (self.classes_[top[0]], self.classes_[top[1]])
        if tuple(pair) not in self.pairs_:
            raise ValueError(f"pair must be one of {self.pairs_}; got {pair!r}.")
        return self.pairs_.index(tuple(pair))


class MachineClassifier(PairsClassifier):
    """Base of the methods that answer in place of a trained kernel machine.

    A subclass stores its parameters (`estimator` among them) and defines
    `_engine(problem) -> Engine`.
    """

    estimator: Any

    def _engine(self, problem: Problem) -> Engine:
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
        rows = self._rows(X)
        outputs = [machine.decision_function(rows) for machine in self._exact_machines()]
        return self._aggregate(np.column_stack(outputs))

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
        rows = self._rows(row)
        if len(rows) != 1:
            raise ValueError(f"trace takes one query, got {len(rows)} rows.")
        return self.engines_[self._pair_index(row, pair)].trace(rows[0])

    def _train(self, X: Any, y: Any) -> list[Problem]:
        """Validate, train, and return the binary problems in pair order."""
        given = SVC() if self.estimator is None else self.estimator
        refuse_precomputed(last_step(given))
        frozen = isinstance(given, FrozenEstimator)
        through_pipeline = isinstance(given.estimator if frozen else given, Pipeline)
        X, y = self._validated(X, y, needs_y=not frozen, as_it_is=through_pipeline)
        if frozen:
            check_is_fitted(given.estimator)
            self.estimator_ = given.estimator
        else:
            self.estimator_ = clone(given).fit(X, y)
        self.classes_ = last_step(self.estimator_).classes_
        self.preprocessing_ = _first_steps(self.estimator_)
        return self._problems(self._transformed(X), None if frozen else y, given)

    def _validated(self, X: Any, y: Any, needs_y: bool, as_it_is: bool) -> tuple[Any, Any]:
        if as_it_is:  # a pipeline's first steps may take strings or missing values
            validate_data(self, X, skip_check_array=True)
            if needs_y and y is None:
                raise ValueError("This estimator requires y to be passed, but y is None.")
        elif needs_y:
            X, y = validate_data(self, X, y, dtype=FLOATS)
        else:
            X = validate_data(self, X, dtype=FLOATS)
        if needs_y:
            check_classification_targets(y)
            if len(np.unique(np.asarray(y))) < 2:
                raise ValueError("y holds one class only; a classifier needs at least two classes.")
        return X, y

    def _problems(self, X: NDArray[Any], y: Any, given: Any) -> list[Problem]:
        last = last_step(self.estimator_)
        fresh = None if y is None else _fresh(given)
        y = None if y is None else np.asarray(y)
        if len(self.classes_) == 2:
            sides = None if y is None else np.where(y == self.classes_[1], 1, -1)
            return [Problem(read_binary(last), X, sides, fresh)]
        machines: list[KernelMachine | None] = [None] * len(self.pairs_)
        if isinstance(last, SVC | NuSVC) or hasattr(last, "machines_"):
            machines = list(read_pairs(last))
        elif y is None:
            raise TypeError(
                f"With more than two classes a frozen estimator must be an SVC or NuSVC, which "
                f"holds a machine a pair; got {type(last).__name__}."
            )
        problems = []
        for machine, (first, second) in zip(machines, self.pairs_, strict=True):
            side = None if y is None else np.where(y == first, 1, np.where(y == second, -1, 0))
            machine = machine or _train_pair(fresh, X, side)
            problems.append(Problem(machine, X, side, fresh))
        return problems

    def _prepare(self, problems: list[Problem]) -> Any:
        """Build the engines; the last step of every fit."""
        return self._adopt([self._engine(problem) for problem in problems])

    def _adopt(self, engines: list[Any]) -> Any:
        """Take engines for one's own, with what is read from them."""
        self.engines_ = engines
        self.machines_ = [engine.machine for engine in self.engines_]
        self._double = not all(machine.fits_float32 for machine in self.machines_)
        tell = all(getattr(engine, "tells_finite", False) for engine in engines)
        self._unchecked = tell and self.preprocessing_ is None and not self._double
        if len(self.classes_) == 2:
            self.machine_ = self.machines_[0]
        self.overhead_ = float(sum(engine.overhead for engine in self.engines_))
        return self

    def _runs(self, X: Any) -> list[tuple[NDArray[np.float64], NDArray[np.intp]]]:
        """Return outputs and steps of every engine.

        Engines that tell by themselves where a row is not finite answer a plain array in less
        time than scikit-learn's checks take: it is checked only if they do tell.
        """
        if self._unchecked and is_plain(self, X):
            found = [engine.run(X) for engine in self.engines_]
            if all(isfinite(output.dot(output)) for output, _ in found):
                return found
        rows = self._rows(X)
        return [engine.run(rows) for engine in self.engines_]

    #: Whether plain arrays go to the engines unchecked.
    _unchecked = False

    #: Whether float32 cannot hold what the machines compute: queries are then made float64.
    _double = False

    def _rows(self, X: Any) -> NDArray[Any]:
        """Check queries and bring them to what the machines read."""
        if not hasattr(self, "engines_"):
            check_is_fitted(self, "engines_")  # raises scikit-learn's own error, and takes its time
        rows = self._checked(X)
        return rows.astype(np.float64, copy=False) if self._double else rows

    def _checked(self, X: Any) -> NDArray[Any]:
        if self.preprocessing_ is None and is_clean(self, X):
            return X
        if self.preprocessing_ is None:
            return validate_data(self, X, reset=False, dtype=FLOATS)
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
        if self.preprocessing_ is not None:
            X = self.preprocessing_.transform(X)
        return check_array(X, dtype=FLOATS)


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


def is_clean(estimator: Any, X: Any) -> bool:
    """Tell at once what scikit-learn's checks would find out in a hundred microseconds.

    They would dominate a query that comes alone; whatever is not plainly fine goes through them.
    """
    return is_plain(estimator, X) and X.size <= SMALL and bool(np.isfinite(X).all())


def _first_steps(estimator: Any) -> Any:
    """Return the transformers before the machine, or None where there are none.

    A method over a pipeline has transformers inside, which its machine expects.
    """
    is_pipeline = isinstance(estimator, Pipeline) and len(estimator) > 1
    outer = estimator[:-1] if is_pipeline else None
    inner = getattr(last_step(estimator), "preprocessing_", None)
    if outer is None or inner is None:
        return inner if outer is None else outer
    return Pipeline([("outer", outer), ("inner", inner)])


def _fresh(given: Any) -> Any:
    """Return an untrained copy of what decides, without the transformers before it."""
    copy = clone(last_step(given))
    if isinstance(getattr(copy, "estimator", None), Pipeline):
        copy.set_params(estimator=last_step(copy.estimator))
    return copy


def _train_pair(fresh: Any, X: NDArray[Any], side: Any) -> KernelMachine:
    rows = side != 0
    return read_binary(clone(fresh).fit(X[rows], side[rows]))
