"""Answering with a reduced machine, whole or vector by vector.

Sequential evaluation follows Romdhani, Torr, Schoelkopf and Blake (2001), "Computationally
efficient face detection": the machine of the first k vectors, each with weights of its own, is
asked in turn, and a query stops as soon as its output is safe.

Departures: both signs may stop, not one; and what is safe is learnt without labels, from the
full reduced machine's own answers. A threshold set for each stage alone errs a little at each,
and the errors add up over the stages; so `high[k]` is the largest output of a row that ends
negative at stage k *or any later one* (`low` likewise), which makes the corridor narrow only as
stages pass. How much wider than that it has to be, other rows prove: margins are tried from wide
to none, each accepted while the Clopper-Pearson bound on the share of changed answers keeps the
level asked for, and the first failure ends the search. Where not even the widest is proved,
nothing stops early.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.kernels import Code, is_known
from kmviz.loops.reduced import sequential_outputs
from kmviz.loops.threads import over_chunks
from kmviz.machines import KernelMachine
from kmviz.machines.soundness import shaped
from kmviz.methods.promise import Promise, group_rows, smallest_margin
from kmviz.methods.reduced.tune import MarginTuning
from kmviz.methods.reduction.objective import Floats
from kmviz.methods.reduction.path import ReducedPath, Stage
from kmviz.traces import ReducedTrace

CONFIDENCE = 0.95

#: Up to this many vectors a trace shows the nested machines, else the running sum.
NESTED = 512

#: By how much of its width the corridor is widened on either side, in the order of the proof.
MARGINS = (4.0, 2.0, 1.0, 0.5, 0.25, 0.1, 0.0)

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
    proof : Promise or None
        What was proved of early stops, against the whole reduced machine.
    path, problem, tuning : ReducedPath, BinaryProblem and MarginTuning, or None
        What other sizes and thresholds are read from. Not stored with a model.
    is_tuned : bool
        Whether the machine is the tuned one.
    """

    path: ReducedPath | None = None
    problem: Any = None
    tuning: MarginTuning | None = None
    is_tuned: bool = False
    proof: Promise | None = None
    machine: KernelMachine
    original: KernelMachine
    rho: float
    overhead: float
    nested: Any
    low: Any
    high: Any

    def __init__(
        self, machine: KernelMachine, original: KernelMachine, rho: float, stage: Stage | None
    ) -> None:
        self.machine, self.original, self.rho = machine, original, rho
        self.overhead = 0.0
        n = machine.n_vectors
        self.nested = stage.nested(n) if stage is not None and 0 < n <= NESTED else None
        if self.nested is not None:
            self.nested[-1] = machine.beta
        self.low = self.high = None

    def stop_early(
        self, stage: Stage | None, rows: NDArray[Any], proof: NDArray[Any], level: float
    ) -> None:
        """Learn the corridor from rows, and how wide it must be from others.

        Parameters
        ----------
        rows, proof : arrays
            What the corridor encloses, and what proves that few answers change.
        level : float
            The share of answers that may differ from the whole reduced machine's.
        """
        n = self.machine.n_vectors
        if n == 0:
            return
        if self.nested is None:
            self.nested = stage.nested(n) if stage is not None else np.tri(n) * self.machine.beta
        found = corridor(self._partial(rows[:: max(1, len(rows) // CALIBRATION_ROWS)]))
        if found is None:
            return
        partial = self._partial(proof)

        def differ_at(margin: float) -> NDArray[np.bool_]:
            stops = first_safe(partial, *widened(*found, margin))
            stopped = np.take_along_axis(partial, stops[:, None] - 1, axis=1)[:, 0]
            return (stopped > 0) != (partial[:, -1] > 0)

        proved = smallest_margin(MARGINS, differ_at, group_rows(proof), level, CONFIDENCE)
        if proved is None:
            return
        margin, self.proof = proved
        self.low, self.high = widened(*found, margin)
        steps = first_safe(partial, self.low, self.high)
        # stage k sums k products; a kernel value takes one product for each column
        self.overhead = float(np.mean(steps * (steps + 1) / 2) / self.machine.n_features)

    def _partial(self, rows: NDArray[Any]) -> Floats:
        """Return the outputs (rows, n) of the machines of 1, 2, ... vectors."""
        values = np.asarray(self.machine.kernel(rows, self.machine.vectors), dtype=np.float64)
        return values @ self.nested.T - self.machine.bias

    def __getstate__(self) -> dict[str, Any]:
        left_out = ("path", "problem", "tuning")
        return {name: value for name, value in vars(self).items() if name not in left_out}

    def check(self) -> None:
        """Refuse arrays that do not fit together (ValueError)."""
        n = self.machine.n_vectors
        if self.nested is not None:
            shaped("nested", self.nested, n, n)
        for name in ("low", "high"):
            if (limits := getattr(self, name)) is not None:
                shaped(name, limits, n + 1, finite=False)

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


def corridor(partial: Floats) -> tuple[Floats, Floats] | None:
    """Return (low, high) by stage, from the partial outputs (rows, n) of calibration rows.

    None where all rows end on one side: nothing then tells what is safe.
    """
    ends_positive = partial[:, -1] > 0
    if ends_positive.all() or not ends_positive.any():
        return None
    low = partial[ends_positive].min(axis=0)
    high = partial[~ends_positive].max(axis=0)
    low = np.minimum(np.minimum.accumulate(low[::-1])[::-1], 0.0)
    high = np.maximum(np.maximum.accumulate(high[::-1])[::-1], 0.0)
    return low, high


def widened(low: Floats, high: Floats, margin: float) -> tuple[Floats, Floats]:
    """Return the corridor wider by a share of its width on either side; nothing stops at 0."""
    more = margin * (high - low)
    return np.concatenate([[-np.inf], low - more]), np.concatenate([[np.inf], high + more])


def first_safe(partial: Floats, low: Floats, high: Floats) -> NDArray[np.intp]:
    """Return the stage, from 1, at which each row stops."""
    is_safe = (partial < low[1:]) | (partial > high[1:])
    is_safe[:, -1] = True
    return is_safe.argmax(axis=1) + 1
