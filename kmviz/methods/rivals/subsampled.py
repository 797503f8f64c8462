"""An SVC trained on a random part of the rows.

D. Horn, A. Demircioglu, B. Bischl, T. Glasmachers, C. Weihs. A comparative study on large scale
kernelized support vector machines. Advances in Data Analysis and Classification 12, 2018: LibSVM
on a subsample was hard to beat at equal training time.

Departures
----------
Each pair of classes has a subsample of its own, with at least one row of each class.
"""

from __future__ import annotations

from typing import Any, ClassVar

from numpy.random import RandomState

from kmviz.machines import KernelMachine
from kmviz.methods.rivals.base import (
    AMOUNT,
    POLYNOMIAL,
    SHARED,
    RivalClassifier,
    Rows,
    count_of,
    subsample,
    svc_machine,
)  # fmt: skip


class SubsampledSVC(RivalClassifier):
    """An SVC that is trained on at most `n_samples` rows for each pair of classes.

    Parameters
    ----------
    n_samples : int or float, default=1000
        Rows to train on: a count, or a share of the training rows.
    kernel : {"rbf", "linear", "poly"} or kernel of `kmviz.kernels`, default="rbf"
    C : float, default=1.0
    gamma : {"scale", "auto"} or float, default="scale"
    degree, coef0 : int and float, default=3 and 0.0
        Of "poly", as in `SVC`.
    random_state : int, RandomState or None, default=None
        Draws the rows.

    Attributes
    ----------
    machine_ : KernelMachine
        With two classes; `machines_` holds one for each pair.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kmviz import SubsampledSVC
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> clf = SubsampledSVC(n_samples=50, random_state=0).fit(X, y)
    >>> clf.machine_.n_vectors <= 50, clf.score(X, y) > 0.85
    (True, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED,
        **POLYNOMIAL,
        "n_samples": AMOUNT,
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_samples: float = 1000,
        kernel: Any = "rbf",
        C: float = 1.0,
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        random_state: Any = None,
    ) -> None:
        self.n_samples = n_samples
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.random_state = random_state

    def _machine(self, X: Rows, side: Rows, random: RandomState) -> KernelMachine:
        size = count_of(self.n_samples, len(X), least=2)
        rows = subsample(side, size, False, random)
        return svc_machine(X[rows], side[rows], self.kernel_, self.C)
