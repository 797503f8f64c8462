"""The exact machine in float32: what every speed claim is measured against.

One BLAS product over all support vectors for a batch, a compiled loop for a few queries. It is
usually many times faster than `SVC.decision_function`, with the same labels.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from kmviz.machines import KernelMachine
from kmviz.methods.base import MachineClassifier, Problem
from kmviz.traces import SumTrace


class ExactClassifier(MachineClassifier):
    """A kernel machine that answers exactly, in float32.

    Parameters
    ----------
    estimator : estimator, default=None
        What trains the machine; None is `SVC()`. Give `FrozenEstimator(svc)` to take a trained
        one as it is. `GridSearchCV` over `estimator__C` needs it given.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kmviz import ExactClassifier
    >>> X, y = make_moons(100, noise=0.1, random_state=0)
    >>> clf = ExactClassifier().fit(X, y)
    >>> bool((clf.predict(X) == clf.estimator_.predict(X)).all())
    True
    >>> bool((clf.steps(X) == clf.machine_.n_vectors).all())
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"estimator": [BaseEstimator, None]}

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    def _engine(self, problem: Problem) -> ExactEngine:
        return ExactEngine(problem.machine)


class ExactEngine:
    """Every query touches every vector."""

    def __init__(self, machine: KernelMachine) -> None:
        self.machine = machine
        self.overhead = 0.0

    def run(self, X: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        output = self.machine.decision_function(X, dtype=np.float32).astype(np.float64)
        return output, np.full(len(X), self.machine.n_vectors, dtype=np.intp)

    def trace(self, x: NDArray[Any]) -> SumTrace:
        machine = self.machine
        values = np.asarray(machine.kernel(x[None], machine.vectors), dtype=np.float64)[0]
        partial = np.concatenate([[0.0], np.cumsum(machine.beta * values)]) - machine.bias
        return SumTrace(
            exact=float(machine.decision_function(x[None])[0]),
            output=float(self.run(x[None])[0][0]),
            stop=machine.n_vectors,
            partial=partial,
            index=np.arange(-1, machine.n_vectors),
            value=np.concatenate([[0.0], values]),
        )
