"""What the rivals share: they train a kernel machine of their own for each pair of classes."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.svm import SVC
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from kmviz.kernels import is_known
from kmviz.loops import smo
from kmviz.machines import KernelMachine
from kmviz.machines.named import gamma_for, named_kernel, string_kernel
from kmviz.methods.base import FLOATS, Engine, MachineClassifier
from kmviz.methods.rows import refuse_huge
from kmviz.methods.sums import SumEngine

Rows = NDArray[np.float64]

#: Steps of training that LibSVM allows itself, where it is not told.
MOST_STEPS = 10_000_000

#: Kernel values that one SVM keeps while it is trained (100 MB).
KEPT = 25_000_000

#: Kernel values up to which, and from which on, float32 has no room for sums of them.
SMALLEST, LARGEST = 1e-30, 1e30

#: Constraints of the parameters that every rival has.
SHARED: dict[str, list[Any]] = {
    "kernel": [StrOptions({"rbf", "linear", "poly"}), callable],
    "C": [Interval(Real, 0.0, None, closed="neither")],
    "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="neither")],
}

#: Constraints of the parameters of "poly", where a rival takes it.
POLYNOMIAL: dict[str, list[Any]] = {
    "degree": [Interval(Integral, 1, None, closed="left")],
    "coef0": [Interval(Real, None, None, closed="neither")],
}

#: A number of rows or vectors: a count, or a share of the training rows.
AMOUNT = [
    Interval(Integral, 1, None, closed="left"),
    Interval(Real, 0.0, 1.0, closed="right"),
]


class RivalClassifier(MachineClassifier):
    """Base of the rivals. A subclass trains one pair of classes: `_machine`."""

    kernel: Any
    gamma: Any
    degree: int = 3
    coef0: float = 0.0
    random_state: Any = None

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Any:
        """Train one machine for each pair of classes.

        Parameters
        ----------
        X : array of shape (n, d)
        y : array of shape (n,)
        """
        self._validate_params()
        rows, labels = self._labelled(X, y)
        self.classes_ = np.unique(labels)
        if len(self.classes_) < 2:
            raise ValueError("y holds one class only; a classifier needs at least two classes.")
        self._start(rows)
        random = check_random_state(self.random_state)
        return self._adopt([self._trained(*pair, random) for pair in self._by_pair(rows, labels)])

    def _by_pair(self, rows: Rows, labels: NDArray[Any]) -> Iterator[tuple[Rows, Rows]]:
        """Yield the rows and the sides, +1 and -1, of each pair of classes."""
        for first, second in self.pairs_:
            here = (labels == first) | (labels == second)
            positive = second if len(self.classes_) == 2 else first
            yield rows[here], np.where(labels[here] == positive, 1.0, -1.0)

    def _labelled(self, X: Any, y: Any, reset: bool = True) -> tuple[Rows, NDArray[Any]]:
        """Check training rows and their classes."""
        X, y = validate_data(self, X, y, dtype=FLOATS, reset=reset)
        refuse_huge(X)
        check_classification_targets(y)
        return X.astype(np.float64, copy=False), y

    def _start(self, rows: Rows) -> None:
        """Resolve what depends on all training rows."""
        self.preprocessing_ = None
        self.kernel_ = self.kernel
        if not callable(self.kernel):
            gamma = gamma_for(self.gamma, rows)
            self.kernel_ = named_kernel(self.kernel, gamma, self.degree, self.coef0)

    def _trained(self, X: Rows, side: Rows, random: RandomState) -> Engine:
        """Return what answers for one pair of classes."""
        return SumEngine(self._machine(X, side, random))

    def _machine(self, X: Rows, side: Rows, random: RandomState) -> KernelMachine:
        """Train the machine of one pair; `side` holds +1 and -1."""
        raise NotImplementedError


def svc_machine(X: Rows, side: Rows, kernel: Any, C: float) -> KernelMachine:
    """Train an SVC and return its machine, vectors in file order.

    A kernel that has a string form is trained by it, on embedded rows: LibSVM then computes only
    the kernel values it needs. It takes no more steps than LibSVM allows itself; SVC then warns.
    """
    steps = max(MOST_STEPS, 100 * len(X))
    if is_known(kernel):
        svc = SVC(C=C, max_iter=steps, **string_kernel(kernel.plain)).fit(kernel.embed(X), side)
    else:
        svc = SVC(C=C, max_iter=steps, kernel=kernel).fit(X, side)
    order = np.argsort(svc.support_)
    beta = svc.dual_coef_.ravel()[order]
    return KernelMachine(X[svc.support_[order]], beta, -float(svc.intercept_[0]), kernel)


def improved(
    kernel: Any, X: Rows, boxes: tuple[Rows, Rows], tol: float, steps: int, beta: Rows,
    residual: Rows,
) -> tuple[float, bool]:  # fmt: skip
    """Move the weights of one SVM until no pair of rows violates by more than `tol`.

    Parameters
    ----------
    kernel : kernel of `kmviz.kernels`
    X : array of shape (n, d)
        Embedded rows.
    boxes : two arrays of shape (n,)
        The least and the largest weight of each row.
    steps : int
        Steps at most.
    beta, residual : arrays of shape (n,)
        Weights to start from, with sum 0, and y - sum_j beta_j K_j; both are changed.

    Returns
    -------
    The intercept, and whether the steps were enough.
    """
    own = kernel.plain.diag(X).astype(np.float64)
    if not (own.max() == 0 or SMALLEST < own.max() < LARGEST):
        raise ValueError(
            f"Values of {kernel!r} up to {own.max():.0e} leave no step in float32. "
            "Scale the features or lower the degree."
        )
    intercept, left = smo.solve(kernel.code, X, own, *boxes, tol, steps, KEPT, beta, residual)
    return float(intercept), left > 0


def boxes_of(side: Rows, C: float) -> tuple[Rows, Rows]:
    """Return the least and the largest weight of each row: 0 and C, or -C and 0."""
    return np.minimum(C * side, 0.0), np.maximum(C * side, 0.0)


def refuse_unknown(kernel: Any, name: str) -> None:
    """Refuse a kernel that no compiled loop knows."""
    if not is_known(kernel):
        raise ValueError(
            f"{name} computes kernel values in a compiled loop and does not know "
            f"kernel={kernel!r}. Use 'rbf', 'linear', 'poly' or a kernel of kmviz.kernels."
        )


def count_of(amount: float, n: int, least: int) -> int:
    """Return how many of n a count or a share is, between `least` and n."""
    wanted = int(amount) if isinstance(amount, Integral) else round(float(amount) * n)
    return min(max(wanted, least), n)


def subsample(side: Rows, size: int, replace: bool, random: RandomState) -> NDArray[np.intp]:
    """Return `size` rows drawn at random, of each side at least one."""
    rows = random.choice(len(side), size, replace=replace)
    for own in (1.0, -1.0):
        if not (side[rows] == own).any():
            rows[0] = random.choice(np.flatnonzero(side == own))
    return np.sort(rows)
