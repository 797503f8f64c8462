"""LASVM: an SVM that learns from one row at a time.

A. Bordes, S. Ertekin, J. Weston, L. Bottou. Fast kernel classifiers with online and active
learning. Journal of Machine Learning Research 6, 2005. Each row goes through PROCESS (it enters the
expansion if it violates the margin) and is followed by one REPROCESS (weight moves between the two
worst rows, rows of no use leave); after the last pass, finishing repeats REPROCESS until no pair
violates by more than `tol`.

Departures
----------
Rows come in random order (the paper's other ways to select them are left out). A row that does not
violate the margin is not kept for the REPROCESS that follows it. The expansion starts empty: rows
enter without weight until both classes are there, where the paper seeds it with some of each.
Finishing takes the partner that gains most by second order, as LibSVM does since 2005, in place of
the most violating pair, and puts rows without weight out once, at its end: it comes to the same
weights in a small part of the steps.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from kmviz.loops import lasvm as loop
from kmviz.machines import KernelMachine
from kmviz.methods.rivals.base import (
    POLYNOMIAL,
    SHARED,
    RivalClassifier,
    Rows,
    boxes_of,
    improved,
    refuse_unknown,
)  # fmt: skip
from kmviz.methods.sums import SumEngine

#: Steps of finishing for each row of the expansion, before it is given up.
FINISHING = 1000


@dataclass(frozen=True, eq=False)
class Expansion:
    """What is learned of one pair of classes.

    Attributes
    ----------
    rows : array of shape (m, d)
    sides : array of shape (m,)
        +1 and -1.
    beta : array of shape (m,)
        Weights; some may be 0.
    residual : array of shape (m,)
        y - sum_s beta_s K_s.
    intercept : float
    """

    rows: Rows
    sides: Rows
    beta: Rows
    residual: Rows
    intercept: float = 0.0


class LaSVMClassifier(RivalClassifier):
    """An SVM trained online, in one pass or several.

    Parameters
    ----------
    epochs : int, default=2
        How often `fit` shows all rows. The paper shows them once, which is enough for many rows
        and may leave out too much of a few hundred. More passes reach the SVM itself.
    tol : float, default=1e-3
        At the end of `fit` and of each `partial_fit` no pair of the expansion violates by more.
    kernel : {"rbf", "linear", "poly"} or kernel of `kmviz.kernels`, default="rbf"
    C : float, default=1.0
    gamma : {"scale", "auto"} or float, default="scale"
        "scale" and "auto" are taken from the rows of `fit`, or of the first `partial_fit`.
    degree, coef0 : int and float, default=3 and 0.0
        Of "poly", as in `SVC`.
    random_state : int, RandomState or None, default=None
        Orders the rows.

    Attributes
    ----------
    machine_ : KernelMachine
        With two classes; `machines_` holds one for each pair.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kmviz import LaSVMClassifier
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> LaSVMClassifier(C=10.0, random_state=0).fit(X, y).score(X, y) > 0.95
    True
    >>> stream = LaSVMClassifier(C=10.0, random_state=0)
    >>> for start in range(0, 400, 100):
    ...     part = slice(start, start + 100)
    ...     stream = stream.partial_fit(X[part], y[part], classes=[0, 1])
    >>> stream.score(X, y) > 0.95
    True
    """

    #: One for each pair of classes: the vectors so far, with their weights and gradients.
    expansions_: list[Any]

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED,
        **POLYNOMIAL,
        "epochs": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        epochs: int = 2,
        tol: float = 1e-3,
        kernel: Any = "rbf",
        C: float = 1.0,
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        random_state: Any = None,
    ) -> None:
        self.epochs = epochs
        self.tol = tol
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.random_state = random_state

    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: Any = None) -> LaSVMClassifier:
        """Learn from further rows, shown once.

        Parameters
        ----------
        X : array of shape (n, d)
        y : array of shape (n,)
        classes : array, optional
            All classes there will be; the first call needs them.
        """
        self._validate_params()
        is_first = not hasattr(self, "expansions_")
        if is_first and classes is None:
            raise ValueError("The first call of partial_fit needs classes=: all there will be.")
        rows, labels = self._labelled(X, y, reset=is_first)
        if is_first:
            self.classes_ = np.unique(classes)
            if len(self.classes_) < 2:
                raise ValueError("classes holds one class only; a classifier needs at least two.")
            self._start(rows)
        if unknown := set(np.unique(labels)) - set(self.classes_):
            raise ValueError(f"y holds classes that are not among classes=: {sorted(unknown)}.")
        before = self.expansions_ or [_empty(rows)] * len(self.pairs_)
        random = check_random_state(self.random_state)
        self.expansions_ = [
            self._learned(old, *pair, random, 1)
            for old, pair in zip(before, self._by_pair(rows, labels), strict=True)
        ]
        return self._adopt([SumEngine(self._read(one)) for one in self.expansions_])

    def _start(self, rows: Rows) -> None:
        super()._start(rows)
        refuse_unknown(self.kernel_, type(self).__name__)
        self.expansions_ = []

    def _trained(self, X: Rows, side: Rows, random: RandomState) -> SumEngine:
        expansion = self._learned(_empty(X), X, side, random, self.epochs)
        self.expansions_.append(expansion)
        return SumEngine(self._read(expansion))

    def _learned(
        self, old: Expansion, X: Rows, side: Rows, random: RandomState, epochs: int
    ) -> Expansion:
        """Return an expansion that has seen further rows."""
        work = Slots(old, X, side, self.kernel_)
        for _ in range(epochs):
            work.learn(random.permutation(len(X)) + len(old.rows), self.C, self.tol)
        if not work.finish(self.C, self.tol):
            warnings.warn(
                "Finishing was given up before every violation was below tol; the machine is that "
                "far. Scale the columns, lower C or raise tol.", ConvergenceWarning, stacklevel=3,
            )  # fmt: skip
        return work.expansion(self.C)

    def _read(self, expansion: Expansion) -> KernelMachine:
        """Return the machine of an expansion; where one class was seen, it alone is answered."""
        if len(seen := np.unique(expansion.sides)) == 1:
            return KernelMachine(expansion.rows[:0], np.zeros(0), -float(seen[0]), self.kernel_)
        held = expansion.beta != 0
        rows, beta = expansion.rows[held], expansion.beta[held]
        return KernelMachine(rows, beta, -expansion.intercept, self.kernel_)


def _empty(rows: Rows) -> Expansion:
    none = np.zeros(0)
    return Expansion(rows[:0], none, none, none)


class Slots:
    """The arrays that the compiled loops of one pair work in.

    Parameters
    ----------
    old : Expansion
        What was learned before.
    X, side : arrays
        Further rows and their sides.
    kernel : kernel of `kmviz.kernels`
    """

    def __init__(self, old: Expansion, X: Rows, side: Rows, kernel: Any) -> None:
        self.rows = np.concatenate([old.rows, X])
        self.side = np.concatenate([old.sides, side])
        self.embedded = np.ascontiguousarray(kernel.embed(self.rows), dtype=np.float64)
        self.kernel, self.m = kernel, len(old.rows)
        self.slot_of = np.full(len(self.rows), -1)
        self.slot_of[: self.m] = np.arange(self.m)
        own = kernel.plain.diag(self.embedded[: self.m])
        origin = np.arange(self.m)
        held = (own, old.sides, old.beta, old.residual, origin)
        capacity = max(256, 2 * self.m)
        self.slots = tuple(_longer(array, capacity) for array in held)
        self.points = np.zeros((self.embedded.shape[1], capacity))
        self.points[:, : self.m] = self.embedded[: self.m].T
        self.scratch = np.zeros((2, capacity))

    def learn(self, order: NDArray[np.intp], C: float, tol: float) -> None:
        """See the rows of `order` once."""
        place = 0
        while place < len(order):
            place, self.m = loop.learn(
                self.kernel.code, self.embedded, self.side, order, place, C, tol, self.m,
                self.points, self.slots, self.scratch, self.slot_of,
            )  # fmt: skip
            if self.m == self.points.shape[1]:
                self._grow(self.m + self.m // 2)

    def finish(self, C: float, tol: float) -> bool:
        """Move weight until no pair violates; tells whether that was reached."""
        _, sides, beta, residual, origin = (array[: self.m] for array in self.slots)
        _, is_done = improved(
            self.kernel, self.embedded[origin], boxes_of(sides, C), tol,
            FINISHING * max(self.m, 100), beta, residual,
        )  # fmt: skip
        self.m = loop.put_out(self.m, C, self.points, self.slots, self.slot_of)
        return is_done

    def expansion(self, C: float) -> Expansion:
        """Return what is learned."""
        _, sides, beta, residual, origin = (array[: self.m] for array in self.slots)
        order = np.argsort(origin)  # file order
        return Expansion(
            self.rows[origin[order]], sides[order], beta[order], residual[order],
            float(loop.middle(self.m, C, self.slots)),
        )  # fmt: skip

    def _grow(self, capacity: int) -> None:
        self.slots = tuple(_longer(array, capacity) for array in self.slots)
        self.points = np.ascontiguousarray(_longer(self.points.T, capacity).T)
        self.scratch = np.zeros((2, capacity))


def _longer(array: NDArray[Any], length: int) -> NDArray[Any]:
    longer = np.zeros((length, *array.shape[1:]), dtype=array.dtype)
    longer[: len(array)] = array
    return longer
