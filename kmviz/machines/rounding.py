"""Rows so near to f(x) = 0 that rounding decides which side they fall on.

libsvm adds m terms up one after the other, each of a sum over d columns. Its sum may lie this far
from f: (m + (p + 1) (d + 4) + 8) u (sum_i |beta_i| |K(X_i, x)| + |b|), with u the unit roundoff and
p the degree of a power (Higham 2002, sections 3.1 and 4.2). Our own sum may lie as far on the other
side. Of a row within both no computation but the model's own has its label.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from kmviz.kernels import Linear, Normalized, Polynomial, is_known
from kmviz.loops.classes import any_within
from kmviz.machines.machine import KernelMachine

#: Twice the unit roundoff of float64: libsvm's error and our own.
BOTH = float(np.finfo(np.float64).eps)

#: The share of sum_i |beta_i| |K(X_i, x)| + |b| by which f may move where scalers and projections
#: before the machine round otherwise than one map for all of them. An allowance, not a proof.
THROUGH_STEPS = 1e-9

NONE = np.empty(0, dtype=np.intp)


class Rounding:
    """How far two computations of f may lie apart, for the machines of one model.

    Parameters
    ----------
    machines : list of KernelMachine
        Of one kernel.
    through_steps : bool
        Whether rows pass transformers first, whose rounding is then allowed for as well.

    Attributes
    ----------
    needs_rows : bool
        Whether the kernel is unbounded, so that `near` reads the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from kmviz.kernels import RBF
    >>> from kmviz.machines import KernelMachine
    >>> from kmviz.machines.rounding import Rounding
    >>> rounding = Rounding([KernelMachine([[0.0], [1.0]], [1.0, -1.0], 0.0, RBF(1.0))])
    >>> rounding.near(np.zeros((2, 1)), np.array([[1e-17], [1e-3]]))
    array([0])
    """

    spread: NDArray[np.float64]
    bias: NDArray[np.float64]
    unit: NDArray[np.float64]
    needs_rows: bool
    largest: tuple[float, ...]
    radius: float
    gamma: float
    coef0: float
    degree: int

    def __init__(self, machines: list[KernelMachine], through_steps: bool = False) -> None:
        kernel, d = machines[0].kernel, machines[0].n_features
        plain = kernel.plain if is_known(kernel) else None
        is_power = isinstance(plain, Linear | Polynomial) and type(kernel) is not Normalized
        self.needs_rows = is_power
        self.degree = int(getattr(plain, "degree", 1))
        self.gamma = float(getattr(plain, "gamma", 1.0)) if is_power else 0.0
        self.coef0 = abs(float(getattr(plain, "coef0", 0.0))) if is_power else 1.0
        self.radius = max(machine.radius for machine in machines) if is_power else 0.0
        self.spread = np.array([float(np.abs(machine.beta).sum()) for machine in machines])
        self.bias = np.array([abs(machine.bias) for machine in machines])
        most = np.array([machine.n_vectors for machine in machines])
        self.unit = BOTH * (most + (self.degree + 1.0) * (d + 4.0) + 8.0)
        if through_steps:
            self.unit = np.maximum(self.unit, THROUGH_STEPS)
        self.largest = tuple(float(a.max()) for a in (self.unit, self.spread, self.bias))

    def near(self, X: Any, outputs: NDArray[Any], rest: bool = False) -> NDArray[np.intp]:
        """Return the rows of which some output is 0 within rounding.

        Parameters
        ----------
        X : array or sparse array of shape (n, d)
        outputs : array of shape (n, p)
            f of each machine.
        rest : bool
            Whether the largest of them decides: then rows of which the two largest are the same.
        """
        if rest:
            top = np.partition(outputs, -2, axis=1)[:, -2:]
            outputs = (top[:, 1:] - top[:, :1]) / 2.0  # each may be off
        limit = self._limit(self._longest(X))
        if not any_within(np.ascontiguousarray(outputs), limit):
            return NONE
        size = np.abs(outputs)
        rows = np.flatnonzero((size <= limit).any(axis=1))
        if not len(rows):
            return rows
        lengths = np.zeros(len(rows))
        if self.needs_rows:
            some = X[rows].toarray() if issparse(X) else X[rows]
            lengths = np.sqrt(np.einsum("ij,ij->i", some, some, dtype=np.float64))
        largest = (self.gamma * lengths * self.radius + self.coef0) ** self.degree
        limits = self.unit * (self.spread * largest[:, None] + self.bias)
        if rest:
            limits = limits.max(axis=1, keepdims=True)
        return rows[(size[rows] <= limits).any(axis=1)]

    def _longest(self, X: Any) -> float:
        """Return at least the length of the longest row; rows matter to unbounded kernels alone."""
        if not self.needs_rows:
            return 0.0
        flat = X.data if issparse(X) else X.ravel()
        return 2.0 * float(flat.dot(flat)) ** 0.5

    def _limit(self, length: float) -> float:
        """Return how far apart two computations may lie at most, for queries of this length."""
        unit, spread, bias = self.largest
        return unit * (
            spread * (self.gamma * length * self.radius + self.coef0) ** self.degree + bias
        )
