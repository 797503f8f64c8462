"""Sparse SVMs by greedy choice of basis vectors: SpSVM.

S. S. Keerthi, O. Chapelle, D. DeCoste. Building support vector machines with reduced classifier
complexity. Journal of Machine Learning Research 7, 2006. The L2-SVM is minimised in the primal over
f = sum_j beta_j K(x_j, .) - b with few x_j: with lambda = 1 / C

    1/2 beta' K_JJ beta + C/2 sum_i max(0, 1 - y_i f(x_i))^2.

Basis vectors come one at a time from the training rows: of some drawn at random, the one whose own
weight alone lowers the objective most. All weights are fitted again by Newton's method whenever
their number has grown by a factor 2^(1/3).

Departures
----------
A bias stands beside the weights, not penalised. How much a candidate's weight lowers the objective
is judged by one Newton step on that weight.
"""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from scipy.linalg import LinAlgError, solve
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval

from kmviz.kernels import diagonal
from kmviz.machines import KernelMachine
from kmviz.methods.rivals.base import AMOUNT, POLYNOMIAL, SHARED, RivalClassifier, Rows, count_of

#: Added to the diagonal of K_JJ, as a share of its mean.
JITTER = 1e-10

#: All weights are fitted when their number has grown by this factor.
GROWTH = 2.0 ** (1.0 / 3.0)

#: Rows drawn for each choice: the best of 59 is among the best twentieth with probability .95.
CANDIDATES = 59


class SparseSVMClassifier(RivalClassifier):
    """An L2-SVM over few training rows that are chosen greedily.

    Parameters
    ----------
    n_vectors : int or float, default=100
        Basis vectors at most: a count, or a share of the training rows. As many as rows is the
        L2-SVM itself.
    max_iter : int, default=100
        Newton steps for each fit of all weights.
    kernel : {"rbf", "linear", "poly"} or kernel of `kmviz.kernels`, default="rbf"
    C : float, default=1.0
    gamma : {"scale", "auto"} or float, default="scale"
    degree, coef0 : int and float, default=3 and 0.0
        Of "poly", as in `SVC`.
    random_state : int, RandomState or None, default=None
        Draws the candidates.

    Attributes
    ----------
    machine_ : KernelMachine
        With two classes; `machines_` holds one for each pair.
    n_iter_ : int
        Newton steps of one fit, the most of any.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kmviz import SparseSVMClassifier
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> clf = SparseSVMClassifier(n_vectors=10, C=10.0, random_state=0).fit(X, y)
    >>> clf.machine_.n_vectors, clf.score(X, y) > 0.95
    (10, True)
    """

    n_iter_: int

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED,
        **POLYNOMIAL,
        "n_vectors": AMOUNT,
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_vectors: float = 100,
        max_iter: int = 100,
        kernel: Any = "rbf",
        C: float = 1.0,
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        random_state: Any = None,
    ) -> None:
        self.n_vectors = n_vectors
        self.max_iter = max_iter
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.random_state = random_state

    def _start(self, rows: Rows) -> None:
        super()._start(rows)
        self.n_iter_ = 0

    def _machine(self, X: Rows, side: Rows, random: RandomState) -> KernelMachine:
        size = count_of(self.n_vectors, len(X), least=1)
        if size == len(X):
            basis, K = np.arange(size), np.asarray(self.kernel_(X, X), dtype=np.float64)
            theta = self._fitted(K, K, side, np.zeros(size + 1))
        else:
            basis, theta = self._greedy(X, side, size, random)
        order = np.argsort(basis)  # file order
        return KernelMachine(X[basis[order]], theta[order], float(theta[-1]), self.kernel_)

    def _greedy(self, X: Rows, side: Rows, size: int, random: RandomState) -> tuple[Any, Rows]:
        """Choose basis vectors one at a time; returns their rows, weights and bias."""
        K = np.empty((len(X), size))
        own = diagonal(self.kernel_, X).astype(np.float64)
        basis = np.zeros(0, dtype=np.intp)
        theta = self._fitted(K[:, :0], K[:0, :0], side, np.zeros(1))
        next_fit = 1.0
        for k in range(size):
            left = np.setdiff1d(np.arange(len(X)), basis, assume_unique=True)
            drawn = random.choice(left, min(CANDIDATES, len(left)), replace=False)
            values = np.asarray(self.kernel_(X, X[drawn]), dtype=np.float64)
            error = _error(K[:, :k], side, theta)
            slope = values[basis].T @ theta[:-1] + self.C * (values.T @ error)
            bend = own[drawn] + self.C * ((values**2).T @ (error != 0))
            bend = np.maximum(bend, np.finfo(float).tiny)
            best = int(np.argmax(slope**2 / bend))
            K[:, k] = values[:, best]
            basis = np.append(basis, drawn[best])
            theta = np.concatenate([theta[:-1], [-slope[best] / bend[best]], theta[-1:]])
            if k + 1 >= next_fit or k + 1 == size:
                theta = self._fitted(K[:, : k + 1], K[basis, : k + 1], side, theta)
                next_fit = (k + 1) * GROWTH
        return basis, theta

    def _fitted(self, K: Rows, K_jj: Rows, side: Rows, theta: Rows) -> Rows:
        """Fit all weights and the bias (last) by Newton's method."""
        k = K.shape[1]
        penalty = np.zeros((k + 1, k + 1))
        penalty[:k, :k] = K_jj
        penalty[range(k), range(k)] += JITTER * max(np.trace(K_jj) / max(k, 1), 1e-300)
        design = np.column_stack([K, -np.ones(len(K))])
        value = _objective(design, penalty, side, self.C, theta)
        for iteration in range(1, self.max_iter + 1):
            self.n_iter_ = max(self.n_iter_, iteration)
            error = _error(K, side, theta)
            slope = penalty @ theta + self.C * (design.T @ error)
            active = design[error != 0]
            bend = penalty + self.C * (active.T @ active)
            bend[k, k] += JITTER
            try:
                step = -solve(bend, slope, assume_a="pos")
            except LinAlgError as error:
                raise ValueError(
                    f"Values of {self.kernel_!r} up to {np.abs(K).max(initial=0.0):.0e} leave no "
                    "Newton step in float64. Scale the features, or lower the degree or C."
                ) from error
            share = 1.0
            while share > 1e-10:
                found = _objective(design, penalty, side, self.C, theta + share * step)
                if found <= value:
                    break
                share /= 2
            if not found <= value or value - found <= 1e-12 * abs(value):
                return theta if not found <= value else theta + share * step
            theta, value = theta + share * step, found
        warnings.warn(
            f"The weights still change after {self.max_iter} Newton steps. Increase max_iter.",
            ConvergenceWarning,
            stacklevel=2,
        )
        return theta


def _error(K: Rows, side: Rows, theta: Rows) -> Rows:
    """Return f - y where the margin is not kept, else 0."""
    output = K @ theta[:-1] - theta[-1]
    return np.where(side * output < 1.0, output - side, 0.0)


def _objective(design: Rows, penalty: Rows, side: Rows, C: float, theta: Rows) -> float:
    loss = np.maximum(1.0 - side * (design @ theta), 0.0)
    return float(0.5 * theta @ penalty @ theta + 0.5 * C * (loss @ loss))
