"""Answering with a reduced machine, whole or vector by vector.

Sequential evaluation follows Romdhani, Torr, Schoelkopf and Blake (2001), "Computationally
efficient face detection": the machine of the first k vectors, each with weights of its own, is
asked in turn, and a query stops as soon as its output is safe.

Departures: both signs may stop, not one; and what is safe is learnt without labels, from the
full reduced machine's own answers. A threshold set for each stage alone errs a little at each,
and the errors add up over the stages; so `high[k]` is the largest output of a row that ends
negative at stage k *or any later one* (`low` likewise), which makes the corridor narrow only as
stages pass, and the corridor is then widened by a share of its width, for queries unseen.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.kernels import Code, is_known
from kmviz.loops.reduced import sequential_outputs
from kmviz.loops.threads import over_chunks
from kmviz.machines import KernelMachine
from kmviz.methods.reduced.objective import Floats
from kmviz.methods.reduced.path import Stage
from kmviz.traces import ReducedTrace

#: Up to this many vectors a trace shows the nested machines, else the running sum.
NESTED = 512

#: By how much of its width the corridor is widened on either side.
MARGIN = 0.25

#: Rows that calibrate the corridor.
CALIBRATION_ROWS = 20_000


class ReducedEngine:
    """One reduced machine.

    Attributes
    ----------
    machine, original : KernelMachine
    rho : float
    nested : array of shape (n, n) or None
        Row k - 1: the best weights of the first k vectors.
    low, high : arrays of shape (n + 1,) or None
        A partial output outside [low[k], high[k]] is safe; None: no early stop.
    """

    def __init__(
        self, machine: KernelMachine, original: KernelMachine, rho: float, stage: Stage | None
    ) -> None:
        self.machine, self.original, self.rho = machine, original, rho
        self.overhead = 0.0
        n = machine.n_vectors
        self.nested: Any = stage.nested(n) if stage is not None and 0 < n <= NESTED else None
        if self.nested is not None:
            self.nested[-1] = machine.beta
        self.low: Any = None
        self.high: Any = None

    def stop_early(self, stage: Stage | None, X: NDArray[Any]) -> None:
        """Learn the corridor from rows X, and what the nested weights cost beside."""
        machine, n = self.machine, self.machine.n_vectors
        if n == 0:
            return
        if self.nested is None:
            self.nested = stage.nested(n) if stage is not None else np.tri(n) * machine.beta
        rows = X[:: max(1, len(X) // CALIBRATION_ROWS)]
        values = np.asarray(machine.kernel(rows, machine.vectors), dtype=np.float64)
        partial = values @ self.nested.T - machine.bias
        self.low, self.high = corridor(partial)
        is_safe = (partial < self.low[1:]) | (partial > self.high[1:])
        is_safe[:, -1] = True
        steps = is_safe.argmax(axis=1) + 1.0
        # stage k sums k products; a kernel value takes one product a column
        self.overhead = float(np.mean(steps * (steps + 1) / 2) / machine.n_features)

    def run(self, X: NDArray[Any]) -> tuple[Floats, NDArray[np.intp]]:
        machine = self.machine
        if self.low is None:
            output = machine.decision_function(X, dtype=X.dtype).astype(np.float64)
            return output, np.full(len(X), machine.n_vectors, dtype=np.intp)
        if not is_known(machine.kernel):
            answers = [self._one_by_one(x) for x in X]
            return np.array([a[0] for a in answers]), np.array([a[1] for a in answers], np.intp)
        rows = machine.kernel.embed(X)
        vectors, _ = machine.embedded(rows.dtype)
        output, steps = np.empty(len(X)), np.empty(len(X), dtype=np.intp)
        code: Code = machine.kernel.code
        corridor = (self.nested, machine.bias, self.low, self.high)

        def work(i: int, j: int) -> None:
            sequential_outputs(*code, rows[i:j], vectors, *corridor, output[i:j], steps[i:j])

        over_chunks(work, len(X))
        return output, steps

    def _one_by_one(self, x: NDArray[Any]) -> tuple[float, int]:
        """The loop's plain twin, for kernels that only their own code can compute."""
        machine, n = self.machine, self.machine.n_vectors
        values = np.zeros(n)
        partial = -machine.bias
        for k in range(n):
            values[k] = np.asarray(machine.kernel(x[None], machine.vectors[k : k + 1]))[0, 0]
            partial = float(self.nested[k, : k + 1] @ values[: k + 1]) - machine.bias
            if partial < self.low[k + 1] or partial > self.high[k + 1]:
                break
        return partial, k + 1

    def trace(self, x: NDArray[Any]) -> ReducedTrace:
        machine, n = self.machine, self.machine.n_vectors
        output, steps = self.run(x[None])
        values = np.asarray(machine.kernel(x[None], machine.vectors), dtype=np.float64)[0]
        sums = np.cumsum(machine.beta * values) if self.nested is None else self.nested @ values
        open_end = np.full(n + 1, np.inf)
        return ReducedTrace(
            exact=float(self.original.decision_function(x[None])[0]),
            output=float(output[0]),
            stop=int(steps[0]),
            partial=np.concatenate([[0.0], sums]) - machine.bias,
            index=np.arange(-1, n),
            value=np.concatenate([[0.0], values]),
            low=-open_end if self.low is None else self.low,
            high=open_end if self.high is None else self.high,
        )


def corridor(partial: Floats) -> tuple[Floats, Floats]:
    """Return (low, high) by stage, from the partial outputs (rows, n) of calibration rows."""
    ends_positive = partial[:, -1] > 0
    low = partial[ends_positive].min(axis=0, initial=np.inf)
    high = partial[~ends_positive].max(axis=0, initial=-np.inf)
    if np.isinf(low).any() or np.isinf(high).any():  # one side only: nothing tells what is safe
        return np.full(partial.shape[1] + 1, -np.inf), np.full(partial.shape[1] + 1, np.inf)
    low = np.minimum(np.minimum.accumulate(low[::-1])[::-1], 0.0)
    high = np.maximum(np.maximum.accumulate(high[::-1])[::-1], 0.0)
    more = MARGIN * (high - low)
    return np.concatenate([[-np.inf], low - more]), np.concatenate([[np.inf], high + more])
