"""ReducedSetRegressor: a kernel regressor on far fewer vectors."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, RealNotInt

from kmviz.machines import KernelMachine
from kmviz.methods.reduced.engine import ReducedEngine
from kmviz.methods.reduced.fitting import count_vectors, search_method
from kmviz.methods.reduction.path import grow
from kmviz.methods.reduction.space import space_of
from kmviz.methods.regression import MachineRegressor


class ReducedSetRegressor(MachineRegressor):
    """A kernel regressor approximated by one of far fewer vectors.

    Beyond the paper, which reduces classifiers: the weight vector is approximated in the same way,
    and its value answers in place of its sign. How close it is, rows show: `kmviz.accelerate`
    promises it.

    Parameters
    ----------
    estimator : estimator, default=None
        `SVR`, `NuSVR` or `KernelRidge`, which trains the machine; None is `SVR()`. Give
        `FrozenEstimator(svr)` to take a trained one as it is.
    n_vectors : float or int, default=0.1
        The share of the machine's vectors, or their number.

    Attributes
    ----------
    original_ : KernelMachine
        The exact machine; `machine_` is the reduced one.
    rho_ : float
        The distance that is left, as a share of the length of the machine's weight vector.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from kmviz import ReducedSetRegressor
    >>> X, y = make_friedman1(300, random_state=0)
    >>> clf = ReducedSetRegressor(n_vectors=30).fit(X[:200], y[:200])
    >>> clf.machine_.n_vectors, clf.rho_ < 0.5
    (30, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [BaseEstimator, None],
        "n_vectors": [
            Interval(RealNotInt, 0, 1, closed="right"),
            Interval(Integral, 1, None, closed="left"),
        ],
    }

    def __init__(self, estimator: Any = None, n_vectors: Any = 0.1) -> None:
        self.estimator = estimator
        self.n_vectors = n_vectors

    def _engine(self, machine: KernelMachine, X: NDArray[Any]) -> ReducedEngine:
        self.original_, self.rho_ = machine, 0.0
        if not machine.n_vectors or not np.any(machine.beta):
            return ReducedEngine(machine, machine, 0.0, None)
        space = space_of(machine.kernel, machine.vectors)
        n = count_vectors(self.n_vectors, machine.n_vectors)
        path = grow(machine, space, [n], search_method("auto", space))
        n = path.n_vectors
        if not n:  # the kernel is none of Mercer's
            return ReducedEngine(machine, machine, 0.0, None)
        self.rho_ = float(path.rho[n])
        return ReducedEngine(path.machine(n), machine, self.rho_, path.stage(n))

    def _exact_machine(self) -> KernelMachine:
        return self.original_
