"""A machine laid out for the walk: rows in, what they are told on their way out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz import kernels
from kmviz.loops import nsv as loops
from kmviz.loops.threads import over_chunks
from kmviz.machines import KernelMachine
from kmviz.methods.nsv.linear import Filter
from kmviz.methods.nsv.tables import Options, build_tables, ordering_kernel, with_filter
from kmviz.methods.nsv.walk import endless, walk, whole_walk

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

#: Rows that go through the compiled walk at once.
CHUNK = 256

#: Where nothing is to be kept of the walks.
NOTHING = (np.empty((0, 0)), np.empty((0, 0)), np.empty(0, dtype=np.int64), np.empty(0))


@dataclass(frozen=True, eq=False)
class Answers:
    """What a walk makes of rows: output, vectors touched, and what decided (`loops.nsv`)."""

    output: Floats
    touched: Ints
    stage: Ints

    @classmethod
    def empty(cls, n: int) -> Answers:
        return cls(np.empty(n), np.empty(n, dtype=np.intp), np.empty(n, dtype=np.intp))

    def of(self, rows: slice) -> tuple[Floats, Ints, Ints]:
        return self.output[rows], self.touched[rows], self.stage[rows]


@dataclass(frozen=True, eq=False)
class Walks:
    """Walks recorded to their end.

    Attributes
    ----------
    heard : array of shape (n, 1 + s)
        The filter's output, then that of each stage of the approximation.
    partial : array of shape (n, m + 1)
        g_0 .. g_m.
    index, value : arrays of shape (m + 1,)
        The vectors of the last row in their order, and their kernel values.
    """

    heard: Floats
    partial: Floats
    index: Ints
    value: Floats

    def within(self, limits: loops.Limits, filtered: bool) -> Answers:
        """Stop the walks within limits."""
        if not len(self.heard):
            return Answers.empty(0)
        found = Answers.empty(len(self.heard))
        loops.read(limits, filtered, self.heard, self.partial, *found.of(slice(None)))
        return found


class Walker:
    """A machine laid out for the walk, without thresholds yet.

    Parameters
    ----------
    machine : KernelMachine
    linear : Filter or None
    options : Options
    tables : Tables, optional
        Those of the same machine and options, where they are made already.
    """

    def __init__(
        self,
        machine: KernelMachine,
        linear: Filter | None,
        options: Options,
        tables: loops.Tables | None = None,
    ) -> None:
        self.machine = machine
        self.tables = with_filter(tables or build_tables(machine, options), linear)
        self.form = ordering_kernel(machine.kernel, options)
        self.compiled = kernels.is_known(machine.kernel)
        self.tells_finite = self.compiled
        self.plain = self.form == self.form.plain

    def embed(self, X: NDArray[Any]) -> NDArray[Any]:
        dtype = self.tables.vectors.dtype
        if self.plain and X.dtype == dtype and X.flags.carray:
            return X
        if dtype == np.float64:
            X = X.astype(dtype, copy=False)
        return np.require(self.form.embed(X), dtype, ["C", "W"])

    def walks(self, X: NDArray[Any], tables: loops.Tables | None = None) -> Walks:
        """Walk rows to the end."""
        t = tables or self.tables
        if not self.compiled:
            return self._plain_walks(t, X)
        n, m = len(X), self.machine.n_vectors
        found = Walks(
            np.empty((n, 1 + len(t.ends))), np.empty((n, m + 1)), np.full(m + 1, -1),
            np.zeros(m + 1),
        )  # fmt: skip
        rows, limits, answers = self.embed(X), endless(t), Answers.empty(n)

        def work(start: int, stop: int) -> None:
            part = slice(start, stop)
            loops.filter_rows(
                t.linear, t.linear_bias, -np.inf, np.inf, rows[part], *answers.of(part)
            )
            found.heard[part, 0] = answers.output[part]
            answers.stage[part] = loops.BY_WALK
            # Scratch of its own for each chunk: threads share nothing they write.
            last = (found.index, found.value)
            if stop < n:
                last = (last[0].copy(), last[1].copy())
            kept = (found.heard[part], found.partial[part], *last)
            loops.answer(t, limits, rows[part], stop - start, *answers.of(part), *kept)

        over_chunks(work, n, 64)
        return found

    def answers(self, X: NDArray[Any], limits: loops.Limits) -> Answers:
        """Walk rows within limits."""
        found = Answers.empty(len(X))

        def work(start: int, stop: int) -> None:
            part = slice(start, stop)
            self._answer(self.embed(X[part]), limits, found.of(part))

        if self.compiled and len(X) <= CHUNK:  # a query that comes alone should not wait for Python
            self._answer(self.embed(X), limits, found.of(slice(None)))
        elif self.compiled:
            over_chunks(work, len(X), CHUNK)
        else:
            for r, x in enumerate(self.embed(X)):
                found.output[r], found.touched[r], found.stage[r] = walk(
                    self.tables, limits, x, self._values(X[r])
                )
        return found

    def _answer(
        self, rows: NDArray[Any], limits: loops.Limits, found: tuple[Floats, Ints, Ints]
    ) -> None:
        t = self.tables
        low, high = (limits.filter_low, limits.filter_high) if t.filtered else (-np.inf, np.inf)
        left = loops.filter_rows(t.linear, t.linear_bias, low, high, rows, *found)
        if left:
            loops.answer(t, limits, rows, left, *found, *NOTHING)

    def _plain_walks(self, t: loops.Tables, X: NDArray[Any]) -> Walks:
        """Walk by the kernel itself: one that compiled code must not stand in for."""
        K = np.asarray(self.machine.kernel(X, self.machine.vectors), dtype=np.float64)
        walks = [whole_walk(t, x, k.__getitem__) for x, k in zip(self.embed(X), K, strict=True)]
        return Walks(
            np.array([one[0] for one in walks]),
            np.array([one[1] for one in walks]),
            np.concatenate([[-1], walks[-1][2]]),
            np.concatenate([[0.0], walks[-1][3]]),
        )

    def _values(self, x: NDArray[Any]) -> Any:
        """Return the kernel values of x as a function of which vectors are asked for."""
        kernel, vectors = self.machine.kernel, self.machine.vectors
        return lambda which: np.asarray(kernel(x[None], vectors[which]), dtype=np.float64)[0]
