"""A machine laid out for the walk: rows in, what they are told on their way out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kmviz import kernels
from kmviz.loops import nsv as loops, nsv_reduced
from kmviz.loops.nsv_packed import pack, respond
from kmviz.loops.threads import over_chunks
from kmviz.machines import KernelMachine
from kmviz.methods.nsv.early import hear, unit_scale
from kmviz.methods.nsv.linear import Filter
from kmviz.methods.nsv.tables import Options, build_tables, ordering_kernel, with_filter
from kmviz.methods.nsv.walk import decide_early, endless, walk, whole_walk

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

#: Rows that go through the compiled walk at once.
CHUNK = 256

#: Where no kernel value is known before it is asked for.
UNKNOWN = {t: np.empty((1, 0), t) for t in map(np.dtype, ("f4", "f8"))}

#: Where nothing is to be kept of the walks.
NOTHING = (np.empty((0, 0)), np.empty((0, 0)), np.empty(0, dtype=np.int64), np.empty(0))
INTEGER = np.dtype(np.intp)


class Answers(NamedTuple):
    """What a walk makes of rows: output, kernel values computed, what decided (`loops.nsv`)."""

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
    heard : array of shape (n, 1 + s)
        The filter's output, then that of each stage.
    partial : array of shape (n, m + 1)
        g_0 .. g_m.
    index, value : arrays of shape (m + 1,)
        The vectors of the last row in their order, and their kernel values.
    """

    heard: Floats
    partial: Floats
    index: Ints
    value: Floats

    def within(self, limits: loops.Limits, filtered: bool, spent: Ints) -> Answers:
        """Stop the walks within limits; `spent` says what each stage has computed by then."""
        if not len(self.heard):
            return Answers.empty(0)
        found = Answers.empty(len(self.heard))
        loops.read(limits, filtered, spent, self.heard, self.partial, *found.of(slice(None)))
        return found


class Walker:
    """A machine laid out for the walk, without thresholds yet.

    Stages of reduced vectors (`early`, with the vectors themselves in `reduced`) come before the
    walk, where there are any.

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
    compiled: bool
    tells_finite: bool
    plain: bool
    scales: bool
    is_other: bool
    early: nsv_reduced.Early | None = None
    reduced: Any = None
    packed: tuple[loops.Limits, tuple[Any, ...]] | None = None  # for the limits last used

    def __init__(
        self,
        machine: KernelMachine,
        linear: Filter | None,
        options: Options,
        tables: loops.Tables | None = None,
        near: NDArray[Any] | None = None,
    ) -> None:
        self.machine, self.is_other = machine, near is not None
        self.tables = with_filter(tables or build_tables(machine, options, near), linear)
        self.form = ordering_kernel(machine.kernel, options)
        self.compiled = kernels.is_known(machine.kernel)
        self.tells_finite = self.compiled
        self.plain = self.form == self.form.plain
        self.scales = unit_scale(self.form) is not None

    def embed(self, X: NDArray[Any]) -> NDArray[Any]:
        dtype = self.tables.vectors.dtype
        if self.plain and X.dtype == dtype and X.flags.carray:
            return X
        if dtype == np.float64:
            X = X.astype(dtype, copy=False)
        return np.require(self.form.embed(X), dtype, ["C", "W"])

    def as_they_come(self, X: NDArray[Any]) -> NDArray[Any]:
        """Rows for the stages of reduced vectors: embedded only where scaling will not do."""
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
        rows, limits, answers = self.embed(X), endless(t), Answers.empty(n)
        known = UNKNOWN[rows.dtype]
        if self.is_other:
            values = self.form.plain(rows, t.vectors) if values is None else values
            known = np.require(values, rows.dtype, ["C", "W"])

        def work(start: int, stop: int) -> None:
            part = slice(start, stop)
            if self.early is not None:
                found.heard[part, : 1 + t.before] = hear(self.early, self.as_they_come(X[part]))[0]
            else:
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
            own = known[part] if self.is_other else known
            loops.answer(t, limits, rows[part], own, stop - start, *answers.of(part), *kept)

        over_chunks(work, n, 64)
        return found

    def answers(self, X: NDArray[Any], limits: loops.Limits) -> Answers:
        """Walk rows within limits."""
        found = Answers.empty(len(X))
        if not self.compiled:
            for r, x in enumerate(X):
                found.output[r], found.touched[r], found.stage[r] = self._one(x, limits)
        elif len(X) <= CHUNK:  # a query that comes alone should not wait for Python
            self._answer(X, limits, found)
        else:
            self._answer_chunks(X, limits, found)
        return found

    def _answer_chunks(self, X: NDArray[Any], limits: loops.Limits, found: Answers) -> None:
        def work(start: int, stop: int) -> None:
            self._answer(X[start:stop], limits, found.of(slice(start, stop)))

        over_chunks(work, len(X), CHUNK)

    def _answer(
        self, X: NDArray[Any], limits: loops.Limits, found: tuple[Floats, Ints, Ints]
    ) -> None:
        if self.packed is None or self.packed[0] is not limits:
            walks = self.early is None or self.plain or not self.scales
            self.packed = limits, pack(self.early, self.tables, limits, walks)
        rows = self.embed(X) if self.early is None else self.as_they_come(X)
        if not respond(*self.packed[1], rows, *found):
            return
        index = np.flatnonzero(found[2] == loops.BY_WALK)  # only what is left is embedded
        some = [one[index] for one in found]
        rows = self.embed(X[index])
        known = UNKNOWN[rows.dtype]
        loops.answer(self.tables, limits, rows, known, len(index), *some, *NOTHING)
        for whole, part in zip(found, some, strict=True):
            whole[index] = part

    def _one(self, x: NDArray[Any], limits: loops.Limits) -> tuple[float, int, int]:
        """Answer one row by the kernel itself: one that compiled code must not stand in for."""
        t = self.tables
        if self.early is not None:
            if not t.filtered:
                limits = limits._replace(filter_low=-np.inf, filter_high=np.inf)
            row = self.as_they_come(x[None])[0]
            found = decide_early(self.early, limits, row, self._reduced_values(x))[:3]
            if found[2] != loops.BY_WALK:
                return found
            t = t._replace(filtered=False)
        return walk(t, limits, self.embed(x[None])[0], self._values(x))

    def _plain_walks(self, t: loops.Tables, X: NDArray[Any]) -> Walks:
        """Walk by the kernel itself: one that compiled code must not stand in for."""
        K = np.asarray(self.machine.kernel(X, self.machine.vectors), dtype=np.float64)
        walks = [whole_walk(t, x, k.__getitem__) for x, k in zip(self.embed(X), K, strict=True)]
        heard = np.array([one[0] for one in walks])
        if self.early is not None:
            rows, limits = self.as_they_come(X), endless(t)
            asked = [self._reduced_values(x) for x in X]
            both = zip(rows, asked, strict=True)
            early = [decide_early(self.early, limits, row, values)[3] for row, values in both]
            heard = np.hstack([early, heard[:, 1:]])
        return Walks(
            heard,
            np.array([one[1] for one in walks]),
            np.concatenate([[-1], walks[-1][2]]),
            np.concatenate([[0.0], walks[-1][3]]),
        )

    def _reduced_values(self, x: NDArray[Any]) -> Any:
        """Return the kernel values of x and the reduced vectors from one number up to another."""
        kernel, vectors = self.machine.kernel, self.reduced
        return lambda i, j: np.asarray(kernel(x[None], vectors[i:j]), dtype=np.float64)[0]

    def _values(self, x: NDArray[Any]) -> Any:
        """Return the kernel values of x as a function of which vectors are asked for."""
        kernel, vectors = self.machine.kernel, self.machine.vectors
        return lambda which: np.asarray(kernel(x[None], vectors[which]), dtype=np.float64)[0]
