"""AnytimeRegressor: stop as soon as the value of f(x) is known closely enough."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from kmviz.machines import KernelMachine
from kmviz.methods.anytime.basis import OWN, candidates, ordered
from kmviz.methods.anytime.bounds import Floats
from kmviz.methods.anytime.cholesky import CholeskyEngine
from kmviz.methods.regression import MachineRegressor

#: Rows on which the cost of solving the triangular system is estimated.
OVERHEAD_ROWS = 100


class AnytimeRegressor(MachineRegressor):
    """A kernel regressor's value to a tolerance, from as few kernel values as prove it.

    Beyond the paper, which bounds classifiers: the same interval that holds f(x) narrows with each
    kernel value, and its middle is the answer once it is no wider than twice the tolerance. No
    value is further off than that, whatever the query.

    Parameters
    ----------
    estimator : estimator, default=None
        `SVR`, `NuSVR` or `KernelRidge`, which trains the machine; None is `SVR()`. Give
        `FrozenEstimator(svr)` to take a trained one as it is.
    tolerance : float, default=0.1
        How far a value may be off, in units of y. 0.1 is what SVR's own `epsilon` lets pass.
    order : {"min_wz", "given", "sgma"}
        Which vectors are asked first; see `AnytimeClassifier`.
    max_steps : int, default=None
        After so many steps the exact sum is taken; it asks only for the values still missing.
    jitter : float, default=1e-8
        Added to the diagonal of the basis's kernel matrix, as a share of it.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_friedman1
    >>> from kmviz import AnytimeRegressor
    >>> X, y = make_friedman1(300, random_state=0)
    >>> clf = AnytimeRegressor(tolerance=0.2).fit(X[:200], y[:200])
    >>> off = np.abs(clf.predict(X[200:]) - clf.estimator_.predict(X[200:]))
    >>> bool(off.max() <= 0.2), bool(clf.steps(X[200:]).mean() < clf.machine_.n_vectors)
    (True, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [BaseEstimator, None],
        "tolerance": [Interval(Real, 0, None, closed="left")],
        "order": [StrOptions(set(OWN))],
        "max_steps": [Interval(Integral, 1, None, closed="left"), None],
        "jitter": [Interval(Real, 0, 1e-2, closed="left")],
    }

    def __init__(
        self, estimator: Any = None, tolerance: float = 0.1, order: str = "min_wz",
        max_steps: int | None = None, jitter: float = 1e-8,
    ) -> None:  # fmt: skip
        self.estimator = estimator
        self.tolerance = tolerance
        self.order = order
        self.max_steps = max_steps
        self.jitter = jitter

    def bounds(self, X: ArrayLike) -> tuple[Floats, Floats]:
        """Return the interval that holds f(x) after each step, as two arrays (n, K + 1)."""
        rows = self._rows(X)
        return self.engines_[0].bounds(rows)

    def _engine(self, machine: KernelMachine, X: NDArray[Any]) -> CholeskyEngine:
        rng = check_random_state(0)  # these orders draw nothing
        among = candidates(machine, self.order, self.jitter, X, rng)
        n_steps = min(self.max_steps or machine.n_vectors, machine.n_vectors)
        basis = ordered(machine, self.order, n_steps, among, X, rng)
        engine = CholeskyEngine(machine, basis, self.jitter, share=np.inf)
        engine.tolerance = float(self.tolerance)
        return engine.usual(X[:: -(-len(X) // OVERHEAD_ROWS)])
