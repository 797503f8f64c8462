"""Engines that sum over all vectors of their machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.machines import KernelMachine
from kmviz.machines.shared import SharedMachines
from kmviz.machines.soundness import within
from kmviz.traces import SumTrace


class SumEngine:
    """Every query touches every vector.

    Parameters
    ----------
    machine : KernelMachine
    dtype : str, optional
        The precision of the answers; None is that of the query.
    """

    machine: KernelMachine
    dtype: str | None
    overhead: float

    def __init__(self, machine: KernelMachine, dtype: str | None = None) -> None:
        self.machine = machine
        self.dtype = dtype
        self.overhead = 0.0

    def run(self, X: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        output = self.machine.decision_function(X, dtype=self.dtype or X.dtype).astype(np.float64)
        return output, np.full(len(X), self.machine.n_vectors, dtype=np.intp)

    def trace(self, x: NDArray[Any]) -> SumTrace:
        machine = self.machine
        values = np.asarray(machine.kernel(x[None], machine.vectors), dtype=np.float64)[0]
        return SumTrace(
            exact=float(machine.decision_function(x[None])[0]),
            output=float(self.run(x[None])[0][0]),
            stop=machine.n_vectors,
            partial=np.concatenate([[0.0], np.cumsum(machine.beta * values)]) - machine.bias,
            index=np.arange(-1, machine.n_vectors),
            value=np.concatenate([[0.0], values]),
        )


class ExactEngine(SumEngine):
    """One machine among those that share their vectors: in float32, with the signs of float64.

    Parameters
    ----------
    shared : SharedMachines
    place : int
        Which of them.
    wide : bool
        Whether all is computed in float64.
    """

    shared: SharedMachines
    place: int
    wide: bool

    def __init__(self, shared: SharedMachines, place: int = 0, wide: bool = False) -> None:
        super().__init__(shared.machines[place], dtype="float64" if wide else "float32")
        self.shared, self.place, self.wide = shared, place, wide

    def check(self) -> None:
        """Refuse a place where no machine is (ValueError)."""
        within("place", self.place, 0, len(self.shared.machines))

    def run(self, X: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        output = self.shared.outputs(X, self.wide)[:, self.place]
        return output, np.full(X.shape[0], self.machine.n_vectors, dtype=np.intp)
