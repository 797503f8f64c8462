"""What every regressor on a trained machine shares: input, training, tolerance.

As in `kmviz.methods.base`, a method supplies an *engine*: `machine`, `overhead`, `run(X)`,
`trace(x)`. There is one machine, and its output is the answer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVR
from sklearn.utils.validation import check_is_fitted, validate_data

from kmviz.machines import KernelMachine
from kmviz.machines.reading import read_value, refuse_precomputed
from kmviz.machines.unwrap import has_first_steps, last_step, refuse_own_answers
from kmviz.methods.rows import MachineRows, as_query, dense, take_columns, trained
from kmviz.traces import Trace


class MachineRegressor(RegressorMixin, MachineRows):
    """Base of the methods that answer in place of a trained kernel regressor.

    A subclass stores its parameters (`estimator` among them) and defines
    `_engine(machine, X) -> Engine`.
    """

    estimator: Any

    def _engine(self, machine: KernelMachine, X: NDArray[Any]) -> Any:
        raise NotImplementedError

    def fit(self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: Any = None) -> Any:
        """Train the estimator (unless it is frozen) and prepare fast answers.

        Parameters
        ----------
        X : array of shape (n, d)
            Training rows. With a `FrozenEstimator`, rows like the queries to come.
        y : array of shape (n,)
            Values; not used with a `FrozenEstimator`.
        sample_weight : array of shape (n,), optional
            For the estimator, as its last step takes it.
        """
        self._validate_params()
        given = SVR() if self.estimator is None else self.estimator
        frozen = isinstance(given, FrozenEstimator)
        refuse_own_answers(last_step(given))
        if frozen:
            check_is_fitted(given.estimator)
        else:
            refuse_precomputed(last_step(given))
        X, y = self._checked_rows(X, y, given)
        self.estimator_ = given.estimator if frozen else trained(clone(given), X, y, sample_weight)
        machine = read_value(self.estimator_)
        self._take_steps(self.estimator_)
        rows = self._transformed(X)
        self._double = not machine.fits_float32
        self.engines_ = [self._engine(machine, rows)]
        self.machine_ = self.engines_[0].machine
        self.overhead_ = float(self.engines_[0].overhead)
        return self

    def _checked_rows(self, X: Any, y: Any, given: Any) -> tuple[Any, Any]:
        as_it_is = has_first_steps(given)  # those may take strings or missing values
        if isinstance(given, FrozenEstimator):
            reset = not take_columns(self, given.estimator)
            if as_it_is:
                return validate_data(self, X, reset=reset, skip_check_array=True), None
            return self._validate(X, reset=reset), None
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y "
                "is None."
            )
        if as_it_is:
            validate_data(self, X, skip_check_array=True)
            return X, np.asarray(y, dtype=np.float64)
        X, y = self._validate(X, y, y_numeric=True)
        return X, y.astype(np.float64, copy=False)

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the value of each row."""
        rows = self._rows(X)
        return self.engines_[0].run(rows)[0]

    def steps(self, X: ArrayLike) -> NDArray[np.intp]:
        """Return how many kernel values each row takes."""
        rows = self._rows(X)
        return self.engines_[0].run(rows)[1]

    def exact_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return what the exact machine would put out for each row, in float64."""
        return self._exact_machine().decision_function(dense(self._rows(X)))

    def estimator_values(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return what the whole fitted estimator answers: what every promise is about."""
        if self.preprocessing_ is None and not hasattr(self.estimator_, "feature_names_in_"):
            X = self._validate(X, reset=False)  # it was trained so
        return np.asarray(self.estimator_.predict(X), dtype=np.float64).ravel()

    def trace(self, x: ArrayLike) -> Trace:
        """Return the record of one query.

        Parameters
        ----------
        x : array of shape (d,) or (1, d), or a row of a frame
        """
        rows = dense(self._rows(as_query(x)))
        if len(rows) != 1:
            raise ValueError(f"trace takes one query, got {len(rows)} rows.")
        return self.engines_[0].trace(rows[0])

    def _exact_machine(self) -> KernelMachine:
        """The machine that the method stands in for."""
        return self.machine_
