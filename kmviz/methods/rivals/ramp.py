"""SVMs whose loss stops growing: the ramp loss of UniverSVM (USVM).

R. Collobert, F. Sinz, J. Weston, L. Bottou. Trading convexity for scalability. ICML 2006. With the
hinge H_a(z) = max(0, a - z) and a clip s < 1 the loss of a row with margin z = y f(x) is
R_s(z) = H_1(z) - H_s(z) = min(H_1(z), 1 - s): a row beyond the clip costs the same wherever it
lies, pulls no more, and is no support vector.

Departures
----------
The paper linearises -H_s, which gives rows beyond the clip the box [-C, 0] in place of [0, C]. Here
the concave function min(u, 1 - s) of u = H_1 is linearised: rows beyond the clip are left out and
an SVM is trained on the others. Both bound the same objective from above and touch it at the
current machine, so both descend, and they stop at the same machines: a row beyond the clip that
the paper's last step keeps has weight 0. The first step is the plain SVM, as in the paper; each
later one starts from the weights of the one before.
"""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval

from kmviz.loops.smo import shift
from kmviz.machines import KernelMachine
from kmviz.methods.rivals.base import (
    MOST_STEPS,
    POLYNOMIAL,
    SHARED,
    RivalClassifier,
    Rows,
    boxes_of,
    improved,
    refuse_unknown,
)  # fmt: skip

#: Violations that are left, as by LibSVM.
TOL = 1e-3


class RampSVMClassifier(RivalClassifier):
    """An SVM with the ramp loss, by the concave-convex procedure.

    Parameters
    ----------
    clip : float, default=-1.0
        s: a row whose margin y f(x) is below it pulls no more. Far below, it is the SVM.
    max_iter : int, default=50
        SVMs trained at most.
    kernel : {"rbf", "linear", "poly"} or kernel of `kmviz.kernels`, default="rbf"
    C : float, default=1.0
    gamma : {"scale", "auto"} or float, default="scale"
    degree, coef0 : int and float, default=3 and 0.0
        Of "poly", as in `SVC`.

    Attributes
    ----------
    machine_ : KernelMachine
        With two classes; `machines_` holds one for each pair.
    n_iter_ : int
        SVMs trained, the most of any pair.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kmviz import ExactClassifier, RampSVMClassifier
    >>> X, y = make_moons(400, noise=0.4, random_state=0)
    >>> clf, exact = RampSVMClassifier(clip=0.0).fit(X, y), ExactClassifier().fit(X, y)
    >>> clf.machine_.n_vectors < exact.machine_.n_vectors
    True
    """

    n_iter_: int

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED,
        **POLYNOMIAL,
        "clip": [Interval(Real, None, 1.0, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        clip: float = -1.0,
        max_iter: int = 50,
        kernel: Any = "rbf",
        C: float = 1.0,
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
    ) -> None:
        self.clip = clip
        self.max_iter = max_iter
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def _start(self, rows: Rows) -> None:
        super()._start(rows)
        refuse_unknown(self.kernel_, type(self).__name__)
        self.n_iter_ = 0

    def _machine(self, X: Rows, side: Rows, random: RandomState) -> KernelMachine:
        rows = np.ascontiguousarray(self.kernel_.embed(X), dtype=np.float64)
        kept, beta, residual = np.ones(len(side), dtype=bool), np.zeros(len(side)), side.copy()
        for iteration in range(1, self.max_iter + 1):
            self.n_iter_ = max(self.n_iter_, iteration)
            intercept = self._trained_on(kept, rows, side, beta, residual)
            is_vector = beta != 0.0
            machine = KernelMachine(X[is_vector], beta[is_vector], -intercept, self.kernel_)
            # f = y - residual + intercept
            before, kept = kept, 1.0 - side * (residual - intercept) >= self.clip
            if (kept == before).all():
                return machine
            if len(np.unique(side[kept])) < 2:
                _warn(
                    f"Every row of a class lies below clip={self.clip}; the SVM before that is "
                    "kept. Lower clip."
                )
                return machine
        _warn(
            f"The rows beyond the clip still change after {self.max_iter} SVMs. Increase max_iter."
        )
        return machine

    def _trained_on(
        self, kept: NDArray[np.bool_], rows: Rows, side: Rows, beta: Rows, residual: Rows
    ) -> float:
        """Train the SVM of the rows that are kept, from the weights before; return its intercept.

        `beta` and `residual` of all rows are brought up to date.
        """
        change = _released(beta, kept, residual) - beta
        beta += change
        shift(self.kernel_.code, rows, change, residual)
        least, most = boxes_of(side, self.C)
        steps = max(MOST_STEPS, 100 * len(rows))
        intercept, is_done = improved(
            self.kernel_, rows, (least * kept, most * kept), TOL, steps, beta, residual
        )
        if not is_done:
            _warn(f"An SVM was given up after {steps} steps. Scale the columns or lower C.")
        return intercept


def _released(beta: Rows, kept: NDArray[np.bool_], residual: Rows) -> Rows:
    """Return weights without those of the rows that are not kept, with sum 0 again.

    The side that has more now gives it back, first where its rows are farthest on their own side
    of the margin.
    """
    beta = np.where(kept, beta, 0.0)
    more = beta.sum()
    there = np.flatnonzero(beta * more > 0.0)
    there = there[np.argsort(residual[there] * np.sign(more), kind="stable")]
    weight = np.abs(beta[there])
    given = np.clip(abs(more) - (np.cumsum(weight) - weight), 0.0, weight)
    beta[there] -= np.sign(more) * given
    return beta


def _warn(message: str) -> None:
    warnings.warn(message, ConvergenceWarning, stacklevel=4)
