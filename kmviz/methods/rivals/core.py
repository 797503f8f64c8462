"""Core vector machines (CVM) and ball vector machines (BVM): an L2-SVM as a ball around the data.

I. W. Tsang, J. T. Kwok, P.-M. Cheung. Core vector machines: fast SVM training on very large data
sets. Journal of Machine Learning Research 6, 2005. I. W. Tsang, A. Kocsor, J. T. Kwok. Simpler core
vector machines with enclosing balls. ICML 2007.

`ball="minimum"` (CVM) grows a core set by the row farthest outside the smallest ball around it,
until the ball, 1 + epsilon times as large, holds all rows: as epsilon falls, the L2-SVM

    min 1/2 ||w||^2 + 1/2 b^2 + C/2 sum_i max(0, 1 - y_i f(x_i))^2.

`ball="enclosing"` (BVM) fixes the radius at the length of a row in feature space and only moves the
centre. It solves no quadratic program, and what it ends in is one of many centres that hold all
rows: every margin is at least half of what ||w|| allows, however small epsilon is.

Departures
----------
Both need K(x, x) to be constant, as in the papers. CVM takes the farthest of 59 rows drawn at
random, as published; where none of them lies outside, all rows are looked at, so that the ball does
hold them. BVM keeps the margins of all rows and always moves towards the farthest. epsilon="auto"
is our rule: it stops where no margin falls short of its goal by more than a tenth. Outputs are
divided by ||c||^2, which brings margins to 1.
"""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from kmviz.kernels import RBF, Linear, Normalized
from kmviz.loops import balls
from kmviz.machines import KernelMachine
from kmviz.methods.rivals.base import SHARED, RivalClassifier, Rows, refuse_unknown

#: Share of a margin that epsilon="auto" leaves.
SLACK = 0.1


class CoreVectorClassifier(RivalClassifier):
    """An L2-SVM found as a ball around the training rows in feature space.

    Parameters
    ----------
    ball : {"minimum", "enclosing"}, default="minimum"
        The smallest ball (CVM), or one of a fixed radius (BVM).
    epsilon : float or "auto", default="auto"
        Rows may lie outside by this share of the radius.
    max_vectors : int, default=5000
        The core set of CVM grows no larger.
    max_iter : int, default=100000
        Moves of the centre of BVM.
    kernel : {"rbf"} or kernel of `kmviz.kernels` with constant K(x, x), default="rbf"
        An RBF or a `Normalized` kernel.
    C : float, default=1.0
        1 / C is added to the diagonal of the kernel matrix.
    gamma : {"scale", "auto"} or float, default="scale"
    random_state : int, RandomState or None, default=None
        Draws rows.

    Attributes
    ----------
    machine_ : KernelMachine
        With two classes; `machines_` holds one for each pair.
    n_iter_ : int
        Core vectors added, or moves made; the most of any pair.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kmviz import CoreVectorClassifier
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> clf = CoreVectorClassifier(C=100.0, random_state=0).fit(X, y)
    >>> clf.machine_.n_vectors < 100, clf.score(X, y) > 0.95
    (True, True)
    """

    n_iter_: int

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED,
        "ball": [StrOptions({"minimum", "enclosing"})],
        "epsilon": [StrOptions({"auto"}), Interval(Real, 0.0, None, closed="neither")],
        "max_vectors": [Interval(Integral, 2, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        ball: str = "minimum",
        epsilon: float | str = "auto",
        max_vectors: int = 5000,
        max_iter: int = 100_000,
        kernel: Any = "rbf",
        C: float = 1.0,
        gamma: Any = "scale",
        random_state: Any = None,
    ) -> None:
        self.ball = ball
        self.epsilon = epsilon
        self.max_vectors = max_vectors
        self.max_iter = max_iter
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.random_state = random_state

    def _start(self, rows: Rows) -> None:
        super()._start(rows)
        refuse_unknown(self.kernel_, type(self).__name__)
        if not isinstance(self.kernel_, RBF | Normalized):
            name = "Linear()" if isinstance(self.kernel_, Linear) else "Polynomial(...)"
            raise ValueError(
                f"A ball needs K(x, x) to be the same for all rows, which kernel={self.kernel!r} "
                f"does not give. Use 'rbf' or kmviz.kernels.Normalized({name})."
            )
        self.n_iter_ = 0

    def _machine(self, X: Rows, side: Rows, random: RandomState) -> KernelMachine:
        rows = np.ascontiguousarray(self.kernel_.embed(X), dtype=np.float64)
        solve = self._minimum if self.ball == "minimum" else self._enclosing
        index, alpha, square = solve(rows, side, random)
        held = np.flatnonzero(alpha)
        held = held[np.argsort(index[held])]  # file order
        beta = alpha[held] * side[index[held]] / square
        return KernelMachine(X[index[held]], beta, -float(beta.sum()), self.kernel_)

    @property
    def _stop(self) -> tuple[float, float]:
        """epsilon, and the share of a margin in its place."""
        return (0.0, SLACK) if self.epsilon == "auto" else (float(self.epsilon), 0.0)

    def _length(self, rows: Rows) -> float:
        """||z||^2: K(x, x) + 1 + 1 / C; a row without a direction counts as the others."""
        return float(self.kernel_.plain.diag(rows).max()) + 1.0 + 1.0 / self.C

    def _minimum(self, rows: Rows, side: Rows, random: RandomState) -> tuple[Any, Rows, float]:
        """Grow the core set from one row of each class; returns its rows, alpha and ||c||^2."""
        first = [int(random.choice(np.flatnonzero(side == own))) for own in (1.0, -1.0)]
        most = min(self.max_vectors, len(rows))
        core = CoreSet(rows, side, first, self.kernel_, self.C, min(256, most))
        state = np.array([random.randint(2**31)], dtype=np.uint64)
        start = np.array([random.randint(len(rows))])
        while True:
            core.m, end, settled = balls.minimum_ball(
                self.kernel_.code, rows, side, self.C, self._length(rows), *self._stop, core.m,
                core.alpha, core.q, core.index, core.points, core.K, core.is_core, state, start,
                core.room,
            )  # fmt: skip
            if end == balls.DONE or core.m == most:
                break
            core.grow(min(2 * core.m, most))
        self.n_iter_ = max(self.n_iter_, core.m)
        if end == balls.FULL:
            _warn(f"Rows lie outside the ball of {core.m} core vectors. Increase max_vectors.")
        elif not settled:
            _warn("A descent within the core set was given up. Increase epsilon or lower C.")
        m = core.m
        return core.index[:m], core.alpha[:m], float(core.alpha[:m] @ core.q[:m])

    def _enclosing(self, rows: Rows, side: Rows, random: RandomState) -> tuple[Any, Rows, float]:
        """Move the centre from a random row; returns all rows, alpha and ||c||^2."""
        length, n = self._length(rows), len(rows)
        first = int(random.randint(n))
        alpha = np.zeros(n)
        alpha[first] = 1.0
        near = np.asarray(self.kernel_.plain(rows[first : first + 1], rows))[0]
        margins = side[first] * side * (near + 1.0)
        margins[first] = length
        left = balls.enclosing_ball(
            self.kernel_.code, rows, np.ascontiguousarray(rows.T), side, self.C, length,
            *self._stop, self.max_iter, alpha, margins, np.empty(n),
        )  # fmt: skip
        self.n_iter_ = max(self.n_iter_, self.max_iter - left)
        if not left:
            _warn(f"Rows lie outside the ball after {self.max_iter} moves. Increase max_iter.")
        return np.arange(n), alpha, float(alpha @ margins)


class CoreSet:
    """The arrays that the compiled loop of CVM works in."""

    def __init__(
        self, rows: Rows, side: Rows, first: list[int], kernel: Any, C: float, capacity: int
    ) -> None:
        self.m, self.n = len(first), len(rows)
        there = rows[first]
        K = np.outer(side[first], side[first]) * (kernel.plain(there, there) + 1.0)
        K += np.eye(self.m) / C
        self.alpha, self.index = np.full(self.m, 1.0 / self.m), np.array(first)
        self.q, self.K, self.points = K @ self.alpha, K.astype(np.float32), there.T
        self.is_core = np.zeros(len(rows), dtype=bool)
        self.is_core[first] = True
        self.grow(capacity)

    def grow(self, capacity: int) -> None:
        """Make room for more."""
        more = capacity - len(self.alpha)
        self.alpha, self.q = np.pad(self.alpha, (0, more)), np.pad(self.q, (0, more))
        self.index = np.pad(self.index, (0, more))
        self.points = np.ascontiguousarray(np.pad(self.points, ((0, 0), (0, more))))
        self.K = np.pad(self.K, ((0, more), (0, more)))
        self.room = np.zeros((2, capacity))


def _warn(message: str) -> None:
    warnings.warn(message, ConvergenceWarning, stacklevel=4)
