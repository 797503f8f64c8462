"""What all engines make of the bounds they read: all steps, or what a deadline leaves."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.machines import KernelMachine
from kmviz.traces import AnytimeTrace

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]

#: Rounding of one float64 operation.
ULP = float(np.finfo(np.float64).eps)

#: Rows whose bounds over all steps are computed at once.
BLOCK = 1024

#: No room for records: a loop then stops where the sign is certain.
NONE = np.empty((0, 0))


@dataclass(frozen=True, eq=False)
class Steps:
    """What queries would come to after every number of steps.

    Attributes
    ----------
    lower, upper : arrays of shape (n, K + 1)
        The interval around f, up to the step that decides at least.
    stop : array of shape (n,)
        The first step that decides; K where none does.
    decided : array of shape (n,)
    output : array of shape (n,)
        f_k at the step that decides, where one does.
    exact : array of shape (n,)
        The exact sum that answers where none does.
    asked : array of shape (n, K + 1)
        Kernel values computed after k steps.
    missing : array of shape (n, K + 1)
        Kernel values that the exact sum wants beside those.
    """

    lower: Floats
    upper: Floats
    stop: Ints
    decided: Bools
    output: Floats
    exact: Floats
    asked: Ints
    missing: Ints


class Bounds:
    """Base of the engines. A subclass defines `n_steps`, `run`, `records` and `_read`.

    Attributes
    ----------
    share : float
        A query is decided once |f_k| exceeds this share of the gap; 1 is certain.
    tolerance : float
        Or once the gap is no larger than this; negative: never.
    stops : array of shape (n,)
        Where some rows stop that stand for queries.
    """

    machine: KernelMachine
    share: float = 1.0
    tolerance: float = -1.0
    stops: Ints = np.empty(0, dtype=np.intp)

    #: Kernel values that a query takes before its first step.
    self_cost: int = 0

    @property
    def n_steps(self) -> int:
        """K, the most steps a query can take."""
        raise NotImplementedError

    @property
    def missing(self) -> Ints:
        """Kernel values, by step, that the exact sum wants beside those known."""
        return np.full(self.n_steps + 1, self.machine.n_vectors)

    @property
    def overhead(self) -> float:
        """What a query costs beside its steps, in kernel values."""
        raise NotImplementedError

    def run(self, X: NDArray[Any]) -> tuple[Floats, Ints]:
        """Answer each row: f_k where the sign is certain, else the exact sum."""
        raise NotImplementedError

    def records(self, X: NDArray[Any]) -> Steps:
        """Return what each row would come to after every number of steps."""
        raise NotImplementedError

    def _read(self, X: NDArray[Any], count: int) -> dict[str, Floats]:
        """Every quantity over k = 0 .. count for each query; `lower` and `upper` among them."""
        raise NotImplementedError

    def _trace_of(self, x: NDArray[Any], w_rest: Floats, index: Ints) -> AnytimeTrace:
        output, steps = self.run(x[None])
        read = {name: a[0] for name, a in self._read(x[None], self.n_steps).items()}
        return AnytimeTrace(
            exact=float(self.machine.decision_function(x[None])[0]),
            output=float(output[0]),
            stop=min(int(steps[0]) - self.self_cost, self.n_steps),
            **read,
            w_rest=w_rest,
            index=np.append(-1, index),
        )

    def usual(self, X: NDArray[Any]) -> Any:
        """Return a copy that knows where the rows X, which stand for queries, stop."""
        known = copy(self)
        known.stops = np.minimum(self.run(X)[1], self.n_steps)
        return known

    def bounds(self, X: NDArray[Any], n_steps: int | None = None) -> tuple[Floats, Floats]:
        """Return the bounds after 0 .. n_steps (None: all) steps."""
        count = self.n_steps if n_steps is None else min(n_steps, self.n_steps)
        lower, upper = np.empty((2, len(X), count + 1))
        for top in range(0, len(X), BLOCK):
            part = slice(top, top + BLOCK)
            with np.errstate(over="ignore", invalid="ignore"):  # said by infinite bounds
                read = self._read(X[part], count)
            lower[part], upper[part] = read["lower"], read["upper"]
        return np.nan_to_num(lower, nan=-np.inf, posinf=np.inf, neginf=-np.inf), np.nan_to_num(
            upper, nan=np.inf, posinf=np.inf, neginf=-np.inf
        )

    def interval(self, X: NDArray[Any], steps: int) -> tuple[Floats, Floats]:
        """Return what is known of f(x) after `steps` kernel values."""
        steps -= self.self_cost
        if steps >= self.n_steps + self.missing[-1]:
            exact = self.machine.decision_function(X)
            return exact, exact.copy()
        lower, upper = self.bounds(X, max(steps, 0))
        return lower[:, -1], upper[:, -1]
