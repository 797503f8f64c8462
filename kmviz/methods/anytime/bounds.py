"""What both engines make of the bounds they read: all steps, or what a deadline leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.machines import KernelMachine

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

#: Rounding of one float64 operation.
ULP = float(np.finfo(np.float64).eps)

#: Rows whose bounds over all steps are computed at once.
BLOCK = 1024


class Bounds:
    """Base of the engines. A subclass defines `n_steps` and `_read`."""

    machine: KernelMachine

    #: Kernel values that a query takes before its first step.
    self_cost = 0

    @property
    def n_steps(self) -> int:
        """K, the most steps a query can take."""
        raise NotImplementedError

    def _read(self, X: NDArray[Any], count: int) -> dict[str, Floats]:
        """Every quantity over k = 0 .. count, a row a query; `lower` and `upper` among them."""
        raise NotImplementedError

    def bounds(self, X: NDArray[Any], n_steps: int | None = None) -> tuple[Floats, Floats]:
        """Return the bounds after 0 .. n_steps (None: all) steps."""
        count = self.n_steps if n_steps is None else min(n_steps, self.n_steps)
        lower, upper = np.empty((2, len(X), count + 1))
        for top in range(0, len(X), BLOCK):
            part = slice(top, top + BLOCK)
            read = self._read(X[part], count)
            lower[part], upper[part] = read["lower"], read["upper"]
        return lower, upper

    def interval(self, X: NDArray[Any], steps: int) -> tuple[Floats, Floats]:
        """Return what is known of f(x) after `steps` kernel values."""
        steps -= self.self_cost
        if steps >= self.n_steps + self.machine.n_vectors:
            exact = self.machine.decision_function(X)
            return exact, exact.copy()
        lower, upper = self.bounds(X, max(steps, 0))
        return lower[:, -1], upper[:, -1]
