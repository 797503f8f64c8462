"""A machine laid out for the walk: rows in, outputs of every step out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kmviz import kernels
from kmviz.loops import nsv_walk as loops
from kmviz.loops.nsv_stages import BY_WALK, Limits, Start
from kmviz.loops.threads import over_chunks
from kmviz.machines import KernelMachine
from kmviz.methods.nsv.layout import (
    Options,
    build_start,
    build_tables,
    ordering_kernel,
    unit_scale,
    with_linear,
)
from kmviz.methods.nsv.linear_filter import Filter
from kmviz.methods.nsv.reference import decide_start, endless, walk, whole_walk

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

#: Rows that go through the compiled walk at once.
CHUNK = 256

#: Where no kernel value is known beforehand.
UNKNOWN = {t: np.empty((1, 0), t) for t in map(np.dtype, ("f4", "f8"))}

INTEGER = np.dtype(np.intp)


class Answers(NamedTuple):
    """What a walk makes of rows: output, kernel values computed, what decided (`nsv_walk`)."""

    output: Floats
    touched: Ints
    stage: Ints

    @classmethod
    def empty(cls, n: int) -> Answers:
        return cls(np.empty(n), np.empty(n, INTEGER), np.empty(n, INTEGER))

    def of(self, rows: slice) -> tuple[Floats, Ints, Ints]:
        return self.output[rows], self.touched[rows], self.stage[rows]


@dataclass(frozen=True, eq=False)
class Walks:
    """Walks recorded to their end.

    Attributes
    ----------
    outputs : array of shape (n, 1 + s)
        The filter's output, then that of each stage.
    partial : array of shape (n, m + 1)
        g_0 .. g_m.
    index, value : arrays of shape (m + 1,)
        The vectors of the last row in their order, and their kernel values.
    """

    outputs: Floats
    partial: Floats
    index: Ints
    value: Floats

    def within(self, limits: Limits, evaluations: Ints) -> Answers:
        """Stop the walks within limits; `evaluations` are the kernel values of each stage and
        those before it."""
        found = Answers.empty(len(self.outputs))
        if len(self.outputs):
            loops.read(limits, evaluations, self.outputs, self.partial, *found)
        return found


class Walker:
    """A machine laid out for the walk, without thresholds yet.

    Filter and stages of reduced vectors (`start`, with the vectors themselves in `reduced`) come
    before the walk.

    Parameters
    ----------
    machine : KernelMachine
    linear : Filter or None
    options : Options
    tables : Tables, optional
        Those of the same machine and options, where they are made already.
    near : array of shape (q, d), optional
        Principal directions of a machine that is nearly the same, in whose place this one is
        walked: its kernel values are then computed all at once, which rounds them differently.
    """

    machine: KernelMachine
    tables: loops.Tables
    start: Start
    compiled: bool
    tells_finite: bool
    plain: bool
    scales: bool
    is_other: bool
    reduced: Any = None

    def __init__(
        self,
        machine: KernelMachine,
        linear: Filter | None,
        options: Options,
        tables: loops.Tables | None = None,
        near: NDArray[Any] | None = None,
    ) -> None:
        self.machine, self.is_other = machine, near is not None
        self.tables = build_tables(machine, options, near) if tables is None else tables
        self.form = ordering_kernel(machine.kernel, options)
        self.compiled = kernels.is_known(machine.kernel)
        self.tells_finite = self.compiled
        self.plain = self.form == self.form.plain
        self.scales = unit_scale(self.form) is not None
        d = machine.n_features if self.scales else self.tables.vectors.shape[1]
        alone = build_start(self.form, self.tables, np.empty((0, d)), np.empty((0, 0)), (), 0.0)
        self.start = with_linear(alone, linear)

    def embed(self, X: NDArray[Any]) -> NDArray[Any]:
        dtype = self.tables.vectors.dtype
        if self.plain and X.dtype == dtype and X.flags.carray:
            return X
        if dtype == np.float64:
            X = X.astype(dtype, copy=False)
        return np.require(self.form.embed(X), dtype, ["C", "W"])

    def input_rows(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return rows as loops read them: embedded only where they cannot do that themselves."""
        dtype = self.tables.vectors.dtype
        if not self.scales:
            return self.embed(X)
        return X if X.dtype == dtype and X.flags.carray else np.require(X, dtype, ["C", "W"])

    def walks(
        self,
        X: NDArray[Any],
        tables: loops.Tables | None = None,
        values: NDArray[Any] | None = None,
    ) -> Walks:
        """Walk rows to the end; `values` are their kernel values, where another machine's walk is
        recorded and they are known."""
        t = tables or self.tables
        if not self.compiled:
            return self._plain_walks(t, X)
        n, m = len(X), self.machine.n_vectors
        found = Walks(
            np.empty((n, 1 + t.before + len(t.ends))), np.empty((n, m + 1)),
            np.full(m + 1, -1), np.zeros(m + 1),
        )  # fmt: skip
        rows, limits, answers = self.input_rows(X), endless(t), Answers.empty(n)
        known = UNKNOWN[rows.dtype]
        if self.is_other:
            values = self.form.plain(self.embed(X), t.vectors) if values is None else values
            known = np.require(values, rows.dtype, ["C", "W"])

        def work(start: int, stop: int) -> None:
            part = slice(start, stop)
            # Scratch of its own for each chunk: threads share nothing they write.
            last = (found.index, found.value)
            if stop < n:
                last = (last[0].copy(), last[1].copy())
            kept = (found.outputs[part], found.partial[part], *last)
            own = known[part] if self.is_other else known
            loops.answer(self.start, t, limits, rows[part], own, *answers.of(part), *kept)

        over_chunks(work, n, 64)
        return found

    def _plain_answer(self, x: NDArray[Any], limits: Limits) -> tuple[float, int, int]:
        """Answer one row by the kernel itself: one that compiled code must not stand in for."""
        row, values = self.input_rows(x[None])[0], self._reduced_values(x)
        found = decide_start(self.start, limits, row, values)[:3]
        if found[2] != BY_WALK:
            return found
        return walk(self.tables, limits, self.embed(x[None])[0], self._values(x))

    def _plain_walks(self, t: loops.Tables, X: NDArray[Any]) -> Walks:
        """Walk by the kernel itself: one that compiled code must not stand in for."""
        K = np.asarray(self.machine.kernel(X, self.machine.vectors), dtype=np.float64)
        walks = [whole_walk(t, x, k.__getitem__) for x, k in zip(self.embed(X), K, strict=True)]
        limits, both = (
            endless(t),
            zip(self.input_rows(X), map(self._reduced_values, X), strict=True),
        )
        first = [decide_start(self.start, limits, row, values)[3] for row, values in both]
        return Walks(
            np.hstack([first, [one[0] for one in walks]]),
            np.array([one[1] for one in walks]),
            np.concatenate([[-1], walks[-1][2]]),
            np.concatenate([[0.0], walks[-1][3]]),
        )

    def _reduced_values(self, x: NDArray[Any]) -> Any:
        """Return the kernel values of x and the reduced vectors from one number up to another."""
        kernel, vectors = self.machine.kernel, self.reduced
        return lambda i, j: np.asarray(kernel(x[None], vectors[i:j]), dtype=np.float64)[0]

    def _values(self, x: NDArray[Any]) -> Any:
        """Return the kernel values of x as a function of which vectors they are with."""
        kernel, vectors = self.machine.kernel, self.machine.vectors
        return lambda which: np.asarray(kernel(x[None], vectors[which]), dtype=np.float64)[0]
