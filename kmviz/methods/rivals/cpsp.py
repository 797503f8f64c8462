"""Cutting-plane subspace pursuit (CPSP): a sparse SVM over vectors of its own.

T. Joachims, C.-N. J. Yu. Sparse kernel SVMs via cutting-plane training. Machine Learning 76, 2009.
The SVM in its structural form has one slack for all rows and a constraint for each subset c of
them,

    min 1/2 ||w||^2 + n C xi   with   w.psi(c) >= delta(c) - xi,
    psi(c) = 1/n sum_i c_i y_i phi(x_i),   delta(c) = 1/n sum_i c_i,

of which a working set of the most violated is enough: c_i = 1 where y_i w.phi(x_i) < 1. Each new
one also gives a basis vector b, as long as there are fewer than `n_vectors`: the one whose phi(b)
is nearest to what psi(c) has outside the basis. w and all constraints are projected on the span of
the basis. With `basis="free"` b may be any point (a pre-image), with `basis="train"` it is a
training row: cpsp(tr).

Departures
----------
A constant feature stands for the bias, penalised as the others are. Pre-images start from the best
of up to 500 training rows drawn at random and are refined by L-BFGS in place of a fixed-point
iteration; cpsp(tr) takes that best row. Constraints without weight for 50 rounds are dropped.
Pre-images are sought for the RBF kernel only, as in SVM-perf.
"""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from kmviz.kernels import RBF, diagonal
from kmviz.loops.balls import shrink
from kmviz.machines import KernelMachine
from kmviz.methods.rivals.base import AMOUNT, POLYNOMIAL, SHARED, RivalClassifier, Rows, count_of

#: Training rows among which a basis vector is sought, or its search started.
CANDIDATES = 500

#: A vector with less than this share of its square outside the basis brings nothing new.
NEW = 1e-8

#: Rounds that a constraint without weight stays; steps of one descent over the working set.
PATIENCE, STEPS = 50, 20_000


class CPSPClassifier(RivalClassifier):
    """An SVM over a number of vectors that is fixed in advance.

    Parameters
    ----------
    n_vectors : int or float, default=50
        Basis vectors: a count, or a share of the training rows.
    basis : {"free", "train"}, default="free"
        Whether they may lie anywhere or are training rows.
    tol : float, default=1e-3
        No constraint is violated by more at the end (mean hinge loss).
    max_iter : int, default=5000
        Constraints added at most.
    kernel : {"rbf", "linear", "poly"} or kernel of `kmviz.kernels`, default="rbf"
        With `basis="free"` an RBF.
    C : float, default=1.0
    gamma : {"scale", "auto"} or float, default="scale"
    degree, coef0 : int and float, default=3 and 0.0
        Of "poly", as in `SVC`.
    random_state : int, RandomState or None, default=None
        Draws the rows among which basis vectors are sought.

    Attributes
    ----------
    machine_ : KernelMachine
        With two classes; `machines_` holds one for each pair.
    n_iter_ : int
        Constraints added, the most of any pair.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kmviz import CPSPClassifier
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> clf = CPSPClassifier(n_vectors=8, C=10.0, gamma=1.0, random_state=0).fit(X, y)
    >>> clf.machine_.n_vectors, clf.score(X, y) > 0.95
    (8, True)
    """

    n_iter_: int

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED,
        **POLYNOMIAL,
        "n_vectors": AMOUNT,
        "basis": [StrOptions({"free", "train"})],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_vectors: float = 50,
        basis: str = "free",
        tol: float = 1e-3,
        max_iter: int = 5000,
        kernel: Any = "rbf",
        C: float = 1.0,
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        random_state: Any = None,
    ) -> None:
        self.n_vectors = n_vectors
        self.basis = basis
        self.tol = tol
        self.max_iter = max_iter
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.random_state = random_state

    def _start(self, rows: Rows) -> None:
        super()._start(rows)
        if self.basis == "free" and type(self.kernel_) is not RBF:
            raise ValueError(
                f"basis='free' looks for pre-images under the RBF kernel only, not under "
                f"kernel={self.kernel!r}. Use basis='train'."
            )
        self.n_iter_ = 0

    def _machine(self, X: Rows, side: Rows, random: RandomState) -> KernelMachine:
        size = count_of(self.n_vectors, len(X), least=1)
        space = Subspace(X, self.kernel_, size)
        cuts = Cuts(len(X) * self.C, space.features[:, :1])
        weights = np.zeros(1)
        for iteration in range(1, self.max_iter + 1):
            self.n_iter_ = max(self.n_iter_, iteration)
            chosen = side * (space.projected @ weights) < 1.0
            cuts.add(chosen * side / len(X), float(chosen.mean()), space.projected)
            if not space.is_full:
                vector = self._vector(space, cuts.signs[-1], cuts.psi[-1], random)
                if vector is None:  # all that was drawn lies in the span
                    space.is_full = True
                else:
                    space.extend(vector)
                    cuts.extend(space.projected[:, -1], space.is_full)
            elif cuts.violation(weights) <= self.tol:
                return space.machine(weights)
            weights = cuts.solve(0.1 * self.tol)
        warnings.warn(
            f"Constraints are still violated by more than tol={self.tol} after {self.max_iter}. "
            "Increase max_iter or tol, or lower C.", ConvergenceWarning, stacklevel=2,
        )  # fmt: skip
        return space.machine(weights)

    def _vector(
        self, space: Subspace, signs: Rows, psi: Rows, random: RandomState
    ) -> NDArray[np.float64] | None:
        """Return the next basis vector: the one nearest to what psi(c) has outside the basis."""
        X, kernel = space.X, self.kernel_
        concerned = signs != 0
        points = np.concatenate([X[concerned], space.vectors])
        weights = np.concatenate([signs[concerned], -space.coefficients(psi)])
        drawn = random.choice(len(X), min(CANDIDATES, len(X)), replace=False)
        score = weights @ np.asarray(kernel(points, X[drawn]), dtype=np.float64)
        length = np.sqrt(np.maximum(diagonal(kernel, X[drawn]), np.finfo(float).tiny))
        order = np.argsort(-np.abs(score) / length, kind="stable")
        start = next((X[row] for row in drawn[order] if space.is_new(X[row])), None)
        if start is None or self.basis == "train":
            return start
        found = _preimage(points, weights, start, kernel.gamma)
        return found if space.is_new(found) else start


class Subspace:
    """The span of the basis vectors, and the training rows projected on it.

    Parameters
    ----------
    X : array of shape (n, d)
    kernel : callable
    size : int
        Basis vectors there will be.
    """

    def __init__(self, X: Rows, kernel: Any, size: int) -> None:
        self.X, self.kernel, self.size = X, kernel, size
        self.vectors = X[:0]
        self.lower = np.zeros((size, size))  # K_bb = L L'
        self.features = np.ones((len(X), size + 1))  # the constant first
        self.is_full = False

    @property
    def projected(self) -> Rows:
        """Coordinates of the rows: the constant, then one for each basis vector."""
        return self.features[:, : len(self.vectors) + 1]

    def coordinates(self, vector: Rows) -> tuple[Rows, float]:
        """Return L^-1 K(basis, b), and the square of what phi(b) has outside the basis."""
        k = len(self.vectors)
        own = float(np.asarray(self.kernel(vector[None], vector[None]))[0, 0])
        if k == 0:
            return np.zeros(0), own
        values = np.asarray(self.kernel(self.vectors, vector[None]), dtype=np.float64)[:, 0]
        inside = solve_triangular(self.lower[:k, :k], values, lower=True)
        return inside, own - float(inside @ inside)

    def is_new(self, vector: Rows) -> bool:
        """Whether a vector has enough outside the basis."""
        inside, outside = self.coordinates(vector)
        return outside > NEW * (outside + float(inside @ inside))

    def extend(self, vector: Rows) -> None:
        """Add a basis vector, which must be new."""
        inside, outside = self.coordinates(vector)
        k, height = len(self.vectors), np.sqrt(outside)
        values = np.asarray(self.kernel(self.X, vector[None]), dtype=np.float64)[:, 0]
        self.features[:, k + 1] = (values - self.features[:, 1 : k + 1] @ inside) / height
        self.lower[k, :k], self.lower[k, k] = inside, height
        self.vectors = np.concatenate([self.vectors, vector[None]])
        self.is_full = k + 1 == self.size

    def coefficients(self, point: Rows) -> Rows:
        """Return the weights on the basis vectors of a point of the subspace."""
        k = len(self.vectors)
        if k == 0:
            return np.zeros(0)
        return solve_triangular(self.lower[:k, :k], point[1 : k + 1], lower=True, trans="T")

    def machine(self, weights: Rows) -> KernelMachine:
        """Return w as a machine."""
        beta = self.coefficients(weights)
        return KernelMachine(self.vectors, beta, -float(weights[0]), self.kernel)


class Cuts:
    """The working set of constraints, and the w that is best under them.

    Parameters
    ----------
    budget : float
        n C: what the weights of all constraints sum to.
    constant : array of shape (n, 1)
        The one feature there is at the start.
    """

    def __init__(self, budget: float, constant: Rows) -> None:
        self.budget = budget
        # w.0 >= 0 - xi, always there, takes what the others leave of the budget
        self.signs = np.zeros((1, len(constant)))
        self.psi, self.delta = np.zeros((1, 1)), np.zeros(1)
        self.alpha, self.idle = np.ones(1), np.zeros(1)

    def add(self, signs: Rows, delta: float, features: Rows) -> None:
        """Add a constraint, and drop those that have long had no weight."""
        self.idle = np.where(self.alpha > 0, 0, self.idle + 1)
        self.idle[0] = 0
        kept = self.idle <= PATIENCE
        width = self.signs.shape[1]
        self.signs = np.concatenate([self.signs[kept], signs[None, :width]])
        self.psi = np.concatenate([self.psi[kept], (signs @ features)[None]])
        self.delta = np.append(self.delta[kept], delta)
        self.alpha, self.idle = np.append(self.alpha[kept], 0.0), np.append(self.idle[kept], 0)

    def extend(self, feature: Rows, is_last: bool) -> None:
        """Project every constraint on one more coordinate."""
        self.psi = np.column_stack([self.psi, self.signs @ feature])
        if is_last:
            self.signs = self.signs[:, :0].copy()  # no more needed

    def violation(self, weights: Rows) -> float:
        """Return how much the newest constraint is violated beyond the slack of the others."""
        short = self.delta - self.psi @ weights
        return float(short[-1] - short[:-1].max())

    def solve(self, tol: float) -> Rows:
        """Return the best w: max delta.a - 1/2 ||sum_j a_j psi_j||^2 with a >= 0, sum a = n C.

        On the simplex a = n C alpha the linear part goes into the matrix, and what is left is the
        descent that core vector machines use.
        """
        linear = self.budget * np.add.outer(self.delta, self.delta)
        matrix = self.budget**2 * (self.psi @ self.psi.T) - linear
        gradient = matrix @ self.alpha
        shrink(len(matrix), self.alpha, gradient, matrix, self.budget * tol, STEPS)
        return self.budget * (self.alpha @ self.psi)


def _preimage(points: Rows, weights: Rows, start: Rows, gamma: float) -> Rows:
    """Return b where |sum_i weights_i K(points_i, b)| is largest, from a start."""
    root = np.sqrt(2.0 * gamma)
    rows = (points - start) * root  # K(u, v) = exp(-||u - v||^2 / 2)
    side = np.sign(weights @ np.exp(-0.5 * np.einsum("ij,ij->i", rows, rows))) or 1.0

    def descent(b: Rows) -> tuple[float, Rows]:
        gaps = rows - b
        terms = side * weights * np.exp(-0.5 * np.einsum("ij,ij->i", gaps, gaps))
        return -float(terms.sum()) / scale, -(terms @ gaps) / scale

    scale = 1.0
    scale = abs(descent(np.zeros(rows.shape[1]))[0]) or 1.0
    found = minimize(
        descent, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 100}
    )
    return start + found.x / root
