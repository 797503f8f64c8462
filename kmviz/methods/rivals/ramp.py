"""SVMs whose loss stops growing: the ramp loss of UniverSVM (USVM).

R. Collobert, F. Sinz, J. Weston, L. Bottou. Trading convexity for scalability. ICML 2006. With the
hinge H_a(z) = max(0, a - z) and a clip s < 1 the loss of a row with margin z = y f(x) is
R_s(z) = H_1(z) - H_s(z) = min(H_1(z), 1 - s): a row beyond the clip costs the same wherever it
lies, pulls no more, and is no support vector.

Departures
----------
The paper linearises -H_s, which gives rows beyond the clip the box [-C, 0] in place of [0, C]. Here
the concave function min(u, 1 - s) of u = H_1 is linearised: rows beyond the clip are left out and
an SVC is trained on the others. Both bound the same objective from above and touch it at the
current machine, so both descend, and they stop at the same machines: a row beyond the clip that
the paper's last step keeps has weight 0. The first step is the plain SVM, as in the paper.
"""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval

from kmviz.machines import KernelMachine
from kmviz.methods.rivals.base import POLYNOMIAL, SHARED, RivalClassifier, Rows, svc_machine


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
        self.n_iter_ = 0

    def _machine(self, X: Rows, side: Rows, random: RandomState) -> KernelMachine:
        kept = np.ones(len(side), dtype=bool)
        machine = svc_machine(X, side, self.kernel_, self.C)
        for iteration in range(1, self.max_iter + 1):
            self.n_iter_ = max(self.n_iter_, iteration)
            before, kept = kept, side * machine.decision_function(X) >= self.clip
            if (kept == before).all():
                return machine
            if len(np.unique(side[kept])) < 2:
                warnings.warn(
                    f"Every row of a class lies below clip={self.clip}; the SVM before that is "
                    "kept. Lower clip.", ConvergenceWarning, stacklevel=2,
                )  # fmt: skip
                return machine
            if iteration < self.max_iter:
                machine = svc_machine(X[kept], side[kept], self.kernel_, self.C)
        warnings.warn(
            f"The rows beyond the clip still change after {self.max_iter} SVMs. Increase max_iter.",
            ConvergenceWarning,
            stacklevel=2,
        )
        return machine
