"""One machine, reduced as a classifier's parameters ask: its path, its size, its threshold.

`build_engine` searches the vectors. `resize_engine` reads another size of the path that was found,
or another threshold, and searches nothing. `clf` is the `ReducedSetClassifier` whose parameters
say how.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.kernels import RBF
from kmviz.machines import KernelMachine
from kmviz.methods.base import BinaryProblem
from kmviz.methods.reduced.engine import ReducedEngine
from kmviz.methods.reduced.threshold import bayes_threshold
from kmviz.methods.reduced.tune import FEWEST_ROWS, MarginTuning
from kmviz.methods.reduction.path import ReducedPath, Stage, grow, grow_every
from kmviz.methods.reduction.space import OpaqueSpace, Space, space_of


@dataclass(frozen=True, eq=False)
class HeldProblem(BinaryProblem):
    """A problem with rows, unseen by the machine, that choose, and others that prove."""

    held: NDArray[Any]
    proof: NDArray[Any]


def count_vectors(n_vectors: Any, m: int) -> int:
    """Return how many of m vectors a number or a share stands for."""
    if isinstance(n_vectors, Integral):
        return min(int(n_vectors), m)
    return min(m, max(2, round(float(n_vectors) * m)))


def build_engine(
    clf: Any, problem: BinaryProblem, rows: Any = None, seed: int = 0
) -> ReducedEngine:
    """Search the vectors of one machine and return its engine.

    Parameters
    ----------
    rows : array of shape (n, d), optional
        Rows that tune it.
    seed : int
        Draws the rows that judge a tuned machine.
    """
    machine = problem.machine
    if machine.n_vectors == 0 or not np.any(machine.beta):
        return _unreduced_engine(clf, problem, None)
    space = space_of(machine.kernel, machine.vectors)
    method = search_method(clf.method, space)
    n = count_vectors(clf.n_vectors, machine.n_vectors)
    if clf.every_size:
        path = grow_every(machine, space, n, method)
    else:
        path = grow(machine, space, [n], method)
    tuning = None
    if rows is not None and len(rows) >= FEWEST_ROWS:
        tuning = MarginTuning(path, rows, seed, clf.every_size)
    return _engine_of_size(clf, path, path.n_vectors, problem, tuning)


def resize_engine(clf: Any, engine: ReducedEngine) -> ReducedEngine:
    """Return the engine of another size and threshold of the path that an engine holds."""
    path, n = engine.path, engine.machine.n_vectors
    assert path is not None
    if isinstance(clf.n_vectors, Integral):
        n = min(int(clf.n_vectors), path.n_vectors)
    if engine.machine is engine.original and n >= path.n_vectors:
        return _unreduced_engine(clf, engine.problem, path)
    return _engine_of_size(clf, path, n, engine.problem, engine.tuning)


def _engine_of_size(
    clf: Any, path: ReducedPath, n: int, problem: BinaryProblem, tuning: MarginTuning | None
) -> ReducedEngine:
    if not n:  # the kernel is none of Mercer's
        return _unreduced_engine(clf, problem, path)
    stage: Stage | None = path.stage(n)
    plain = with_threshold(clf.threshold, path.machine(n, stage), problem)
    if tuning and (tuned := _tuned_machine(clf, n, problem, tuning, plain)):
        stage = None  # tuned weights belong together: no nested machines
        engine = ReducedEngine(tuned, problem.machine, tuning.rho(tuned), stage)
        engine.is_tuned = True
    else:
        engine = ReducedEngine(plain, problem.machine, float(path.rho[n]), stage)
    engine.tuning = tuning
    return _with_early_stop(clf, engine, path, stage, problem)


def _tuned_machine(
    clf: Any, n: int, problem: BinaryProblem, tuning: MarginTuning, plain: KernelMachine
) -> KernelMachine | None:
    """Return the tuned machine of n vectors, or None where it judges no better than `plain`."""
    judged = with_threshold(clf.threshold, tuning.machine(n, by_all=False), problem)
    if not tuning.is_better(judged, plain):
        return None
    return with_threshold(clf.threshold, tuning.machine(n), problem)


def _unreduced_engine(clf: Any, problem: BinaryProblem, path: ReducedPath | None) -> ReducedEngine:
    engine = ReducedEngine(problem.machine, problem.machine, 0.0, None)
    return _with_early_stop(clf, engine, path, None, problem)


def _with_early_stop(
    clf: Any,
    engine: ReducedEngine,
    path: ReducedPath | None,
    stage: Stage | None,
    problem: BinaryProblem,
) -> ReducedEngine:
    """Give an engine what other sizes are read from and, if asked for, its early stop."""
    engine.path, engine.problem = path, problem
    if clf.sequential:
        assert isinstance(problem, HeldProblem)
        engine.stop_early(stage, problem.held, problem.proof, clf.max_disagreement)
    return engine


def search_method(method: str, space: Space) -> str:
    """Return how vectors are searched, after checking that the kernel allows it."""
    is_quadratic = space.is_homogeneous and space.degree <= 2
    is_opaque = isinstance(space, OpaqueSpace)
    needs = {
        "fixed_point": ("a radial kernel", isinstance(space.plain, RBF)),
        "eigen": ("a linear kernel or a polynomial one of degree 2", is_quadratic),
        "joint": ("a kernel of kmviz.kernels", not is_opaque),
        "incremental": ("a kernel of kmviz.kernels", not is_opaque),
    }
    kernels, is_allowed = needs.get(method, ("", True))
    if not is_allowed:
        raise ValueError(
            f"method={method!r} needs {kernels}; this machine has {space.kernel!r}. "
            "Use method='auto'."
        )
    if method == "auto":
        return "selection" if is_opaque else "joint"
    return "joint" if method == "eigen" else method


def with_threshold(threshold: str, machine: KernelMachine, problem: BinaryProblem) -> KernelMachine:
    """Return the machine with its own threshold, or with the one that errs least on the rows."""
    if threshold == "machine":
        return machine
    X, y = problem.X, problem.sides
    rows = y != 0
    sums = machine.decision_function(X[rows]) + machine.bias
    return replace(machine, bias=bayes_threshold(sums, y[rows] > 0, machine.bias))
