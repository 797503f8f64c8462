"""One machine, reduced as a classifier's parameters ask: its path, its size, its threshold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np

from kmviz.kernels import RBF
from kmviz.machines import KernelMachine
from kmviz.methods.base import BinaryProblem
from kmviz.methods.reduced.engine import ReducedEngine
from kmviz.methods.reduced.sizing import HeldProblem, count
from kmviz.methods.reduced.threshold import bayes_threshold
from kmviz.methods.reduced.tune import FEWEST_ROWS, MarginTuning
from kmviz.methods.reduction.path import ReducedPath, grow, grow_every
from kmviz.methods.reduction.space import OpaqueSpace, Space, space_of


@dataclass(frozen=True)
class Making:
    """What `ReducedSetClassifier` was asked for, under its parameters' names.

    `seed` draws the rows that judge a tuned machine.
    """

    n_vectors: Any
    method: str
    threshold: str
    sequential: bool
    max_disagreement: float
    every_size: bool
    seed: int

    def made(self, problem: BinaryProblem, rows: Any) -> ReducedEngine:
        """Return the engine of one machine; `rows` tune it, None: nothing does."""
        machine = problem.machine
        if machine.n_vectors == 0 or not np.any(machine.beta):
            return self._whole(problem, None)
        space = space_of(machine.kernel, machine.vectors)
        method = self.way(space)
        n = count(self.n_vectors, machine.n_vectors)
        if self.every_size:
            path = grow_every(machine, space, n, method)
        else:
            path = grow(machine, space, [n], method)
        return self._sized(path, path.n_vectors, problem, self._tuning(path, rows))

    def _tuning(self, path: ReducedPath, rows: Any) -> MarginTuning | None:
        if rows is None or len(rows) < FEWEST_ROWS:
            return None
        return MarginTuning(path, rows, self.seed, self.every_size)

    def resized(self, engine: ReducedEngine) -> ReducedEngine:
        """Return what another size and threshold make of an engine's path."""
        path, n = engine.path, engine.machine.n_vectors
        assert path is not None
        if isinstance(self.n_vectors, Integral):
            n = min(int(self.n_vectors), path.n_vectors)
        if engine.machine is engine.original and n >= path.n_vectors:
            return self._whole(engine.problem, path)
        return self._sized(path, n, engine.problem, engine.tuning)

    def _sized(
        self,
        path: ReducedPath,
        n: int,
        problem: BinaryProblem,
        tuning: MarginTuning | None,
    ) -> ReducedEngine:
        """Return the engine of one size of a path."""
        if not n:  # the kernel is none of Mercer's
            return self._whole(problem, path)
        found = path.stage(n)
        machine, is_tuned = self._machine(path, n, problem, tuning, found)
        if tuning is not None and is_tuned:  # its weights belong together: no nested machines
            rho, stage = tuning.rho(machine), None
        else:
            rho, stage = float(path.rho[n]), found
        engine = ReducedEngine(machine, problem.machine, rho, stage)
        engine.tuning, engine.is_tuned = tuning, is_tuned
        return self._finished(engine, path, stage, problem)

    def _machine(
        self, path: ReducedPath, n: int, problem: BinaryProblem, tuning: MarginTuning | None,
        stage: Any = None,
    ) -> tuple[KernelMachine, bool]:  # fmt: skip
        """Return the machine of n vectors, and whether it is the tuned one."""
        plain = self.thresholded(path.machine(n, stage), problem)
        if tuning is None:
            return plain, False
        judged = self.thresholded(tuning.machine(n, by_all=False), problem)
        if not tuning.is_better(judged, plain):
            return plain, False
        return self.thresholded(tuning.machine(n), problem), True

    def _whole(self, problem: BinaryProblem, path: ReducedPath | None) -> ReducedEngine:
        """Return the engine of a machine that stays as it is."""
        engine = ReducedEngine(problem.machine, problem.machine, 0.0, None)
        return self._finished(engine, path, None, problem)

    def _finished(
        self, engine: ReducedEngine, path: ReducedPath | None, stage: Any, problem: BinaryProblem
    ) -> ReducedEngine:
        engine.path, engine.problem = path, problem
        if self.sequential:
            assert isinstance(problem, HeldProblem)
            engine.stop_early(stage, problem.held, problem.proof, self.max_disagreement)
        return engine

    def way(self, space: Space) -> str:
        """Return how to grow, after checking that the kernel allows it."""
        is_quadratic = space.is_homogeneous and space.degree <= 2
        is_opaque = isinstance(space, OpaqueSpace)
        needs = {
            "fixed_point": ("a radial kernel", isinstance(space.plain, RBF)),
            "eigen": ("a linear kernel or a polynomial one of degree 2", is_quadratic),
            "joint": ("a kernel of kmviz.kernels", not is_opaque),
            "incremental": ("a kernel of kmviz.kernels", not is_opaque),
        }
        what, given = needs.get(self.method, ("", True))
        if not given:
            raise ValueError(
                f"method={self.method!r} needs {what}; this machine has {space.kernel!r}. "
                "Use method='auto'."
            )
        if self.method == "auto":
            return "selection" if is_opaque else "joint"
        return "joint" if self.method == "eigen" else self.method

    def thresholded(self, machine: KernelMachine, problem: BinaryProblem) -> KernelMachine:
        """Return the machine with the threshold asked for."""
        if self.threshold == "machine":
            return machine
        X, y = problem.X, problem.sides
        rows = y != 0
        sums = machine.decision_function(X[rows]) + machine.bias
        return replace(machine, bias=bayes_threshold(sums, y[rows] > 0, machine.bias))
