"""The exact machine of a regressor."""

from __future__ import annotations

from typing import Any, ClassVar

from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import StrOptions

from kmviz.machines import KernelMachine
from kmviz.machines.shared import SharedMachines
from kmviz.methods.exact.classifier import PRECISIONS
from kmviz.methods.regression import MachineRegressor
from kmviz.methods.sums import ExactEngine


class ExactRegressor(MachineRegressor):
    """A kernel regressor that answers by one product over all of its vectors.

    Parameters
    ----------
    estimator : estimator, default=None
        `SVR`, `NuSVR` or `KernelRidge`, which trains the machine; None is `SVR()`. Give
        `FrozenEstimator(svr)` to take a trained one as it is.
    dtype : {"float64", "float32"}
        How values are computed: in full, or to about six digits and faster.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_friedman1
    >>> from kmviz import ExactRegressor
    >>> X, y = make_friedman1(200, random_state=0)
    >>> fast = ExactRegressor().fit(X, y)
    >>> bool(np.allclose(fast.predict(X), fast.estimator_.predict(X), atol=1e-3))
    True
    """

    _takes_sparse = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [BaseEstimator, None],
        "dtype": [StrOptions(set(PRECISIONS))],
    }

    def __init__(self, estimator: Any = None, dtype: str = "float64") -> None:
        self.estimator = estimator
        self.dtype = dtype

    def _engine(self, machine: KernelMachine, X: NDArray[Any]) -> ExactEngine:
        return ExactEngine(SharedMachines([machine]), 0, self.dtype == "float64")
