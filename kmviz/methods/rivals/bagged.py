"""Bags of small SVMs that vote: SVM-B and SVM-Bs of Segata and Blanzieri (2010), section 5.3.

L. Breiman. Bagging predictors. Machine Learning 24, 1996. There 101 SVMs are trained, each on a
twentieth of the rows (a fixed count for SVM-B, a fixed share for SVM-Bs), and the majority
decides.

Departures
----------
A bag that would hold one class only gets one row of the other in place of its first. Vectors that
several bags share are asked once: `steps` counts distinct vectors. scikit-learn's
`BaggingClassifier` draws bags that may hold one class, on which `SVC` fails, and knows no kernel
values that bags share; hence the few lines of our own.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from kmviz.machines import KernelMachine
from kmviz.machines.soundness import shaped
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
from kmviz.traces import VoteTrace

#: Kernel values computed at a time.
BLOCK = 2**21

#: An output below this share of what was summed is 0.
ROUNDING = 1e-13


class BaggedSVMClassifier(RivalClassifier):
    """The majority vote of SVMs that are trained on small bags of rows.

    Parameters
    ----------
    n_estimators : int, default=101
        SVMs for each pair of classes; an odd number has no ties.
    max_samples : int or float, default=0.05
        Rows of a bag, drawn with replacement: a count (SVM-B) or a share of the training rows
        (SVM-Bs).
    kernel : {"rbf", "linear", "poly"} or kernel of `kmviz.kernels`, default="rbf"
    C : float, default=1.0
    gamma : {"scale", "auto"} or float, default="scale"
    degree, coef0 : int and float, default=3 and 0.0
        Of "poly", as in `SVC`.
    random_state : int, RandomState or None, default=None
        Draws the bags.

    Attributes
    ----------
    machine_ : KernelMachine
        The mean of the bags' machines, with two classes; `machines_` holds one for each pair. It
        is no part of the vote, which can fall otherwise.

    Notes
    -----
    `decision_function` is the votes for the positive class minus those against it, as a share of
    all.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kmviz import BaggedSVMClassifier
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> clf = BaggedSVMClassifier(random_state=0).fit(X, y)
    >>> clf.score(X, y) > 0.85
    True
    >>> trace = clf.trace(X[0])
    >>> trace.stop, bool(trace.output == trace.partial[-1])
    (101, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED,
        **POLYNOMIAL,
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "max_samples": AMOUNT,
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_estimators: int = 101,
        max_samples: float = 0.05,
        kernel: Any = "rbf",
        C: float = 1.0,
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.random_state = random_state

    def _trained(self, X: Rows, side: Rows, random: RandomState) -> VoteEngine:
        size = count_of(self.max_samples, len(X), least=2)
        bags = []
        for _ in range(self.n_estimators):
            rows = subsample(side, size, True, random)
            bags.append(svc_machine(X[rows], side[rows], self.kernel_, self.C))
        return VoteEngine(bags, self.kernel_)


class VoteEngine:
    """Machines that vote, over the distinct vectors of all of them.

    Parameters
    ----------
    bags : list of KernelMachine
    kernel : callable
        That of every bag.
    """

    machine: KernelMachine
    weights: NDArray[np.float64]
    biases: NDArray[np.float64]
    overhead: float

    def __init__(self, bags: list[KernelMachine], kernel: Any) -> None:
        vectors, place = np.unique(
            np.concatenate([bag.vectors for bag in bags]), axis=0, return_inverse=True
        )
        which = np.repeat(np.arange(len(bags)), [bag.n_vectors for bag in bags])
        self.weights = np.zeros((len(vectors), len(bags)))
        np.add.at(self.weights, (place.ravel(), which), np.concatenate([bag.beta for bag in bags]))
        self.biases = np.array([bag.bias for bag in bags])
        beta = self.weights.mean(axis=1)
        self.machine = KernelMachine(vectors, beta, float(self.biases.mean()), kernel)
        self.overhead = 0.0

    def check(self) -> None:
        """Refuse arrays that do not fit together (ValueError)."""
        shaped("biases", self.biases, None)
        shaped("weights", self.weights, self.machine.n_vectors, len(self.biases))

    def run(self, X: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        output = np.empty(len(X))
        height = max(1, BLOCK // self.machine.n_vectors)
        for top in range(0, len(X), height):
            part = slice(top, top + height)
            output[part] = _votes(self._outputs(X[part])).mean(axis=1)
        return output, np.full(len(X), self.machine.n_vectors, dtype=np.intp)

    def trace(self, x: NDArray[Any]) -> VoteTrace:
        outputs = self._outputs(x[None])[0]
        votes = _votes(outputs)
        return VoteTrace(
            exact=float(self.machine.decision_function(x[None])[0]),
            output=float(self.run(x[None])[0][0]),
            stop=len(votes),
            partial=np.concatenate([[0.0], np.cumsum(votes)]) / len(votes),
            value=np.concatenate([[0.0], outputs]),
            vote=np.concatenate([[0.0], votes]),
        )

    def _outputs(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Return the output of every machine for each row."""
        rows = X.astype(np.float64, copy=False)
        values = np.asarray(self.machine.kernel(rows, self.machine.vectors), dtype=np.float64)
        outputs = values @ self.weights - self.biases
        largest = np.abs(values).max(axis=1, initial=0.0, keepdims=True)
        summed = largest * np.abs(self.weights).sum(axis=0) + np.abs(self.biases)
        outputs[np.abs(outputs) < ROUNDING * summed] = 0.0  # how rows are blocked decides no vote
        return outputs


def _votes(outputs: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(outputs > 0, 1.0, -1.0)
