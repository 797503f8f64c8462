"""One fitted machine: its tables, its envelope, and the answers they give together."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz import kernels
from kmviz.loops import nsv as loops
from kmviz.loops.threads import over_chunks
from kmviz.machines import KernelMachine
from kmviz.methods.nsv.calibration import Part
from kmviz.methods.nsv.envelope import Envelope
from kmviz.methods.nsv.linear import Filter
from kmviz.methods.nsv.tables import (
    Options,
    build_tables,
    ordering_kernel,
    stage_costs,
    with_filter,
)
from kmviz.methods.nsv.walk import approximate_kernel, endless, walk, whole_walk
from kmviz.methods.progress import report
from kmviz.traces import NSVTrace

Floats = NDArray[np.float64]

#: Rows whose ladders are held at once while calibrating.
CHUNK = 256


class Walker:
    """A machine laid out for the walk, without thresholds yet."""

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

    def ladders(self, X: NDArray[Any]) -> Floats:
        """Return all that each row hears on its way, the whole way: see `envelope`."""
        heard, partial = self.whole(X)[:2]
        return np.hstack([heard, partial[:, 1:]])

    def whole(self, X: NDArray[Any]) -> tuple[Floats, Floats, NDArray[np.intp], Floats]:
        """Walk rows to the end: starts, g_0 .. g_m; order and values of the last row."""
        t, m = self.tables, self.machine.n_vectors
        if self.compiled:
            heard, partial = np.empty((len(X), 1 + len(t.ends))), np.empty((len(X), m + 1))
            index, value = np.full(m + 1, -1), np.zeros(m + 1)
            rows = self.embed(X)

            def work(start: int, stop: int) -> None:
                # Scratch of its own for each chunk: threads share nothing they write.
                last = (index, value) if stop == len(X) else (index.copy(), value.copy())
                part = slice(start, stop)
                loops.record(t, endless(t), rows[part], heard[part], partial[part], *last)

            over_chunks(work, len(X), 64)
            return heard, partial, index, value
        K = np.asarray(self.machine.kernel(X, self.machine.vectors), dtype=np.float64)
        walks = [whole_walk(t, x, k.__getitem__) for x, k in zip(self.embed(X), K, strict=True)]
        index = np.concatenate([[-1], walks[-1][2]])
        value = np.concatenate([[0.0], walks[-1][3]])
        return np.array([w[0] for w in walks]), np.array([w[1] for w in walks]), index, value


class NSVEngine(Walker):
    """The walker of the machine itself, with an envelope from calibration rows.

    Parameters
    ----------
    machine : KernelMachine
    linear : Filter or None
    options : Options
    parts : list of Part
        Calibration rows, each with the machine that has to answer them.
    window, margin : int, float
        See `Envelope.limits`.
    """

    def __init__(
        self,
        machine: KernelMachine,
        linear: Filter | None,
        options: Options,
        parts: list[Part],
        window: int,
        margin: float,
    ) -> None:
        super().__init__(machine, linear, options)
        self.envelope = self._calibrated(parts, options)
        self.set_limits(window, margin)
        if options.approximate:
            self._choose_stages()
            self.set_limits(window, margin)

    def __getstate__(self) -> dict[str, Any]:
        """What is stored: named tuples become dicts."""
        state = dict(self.__dict__)
        return state | {n: state[n]._asdict() for n in ("tables", "limits")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.tables = loops.Tables(**_writable(state["tables"]))
        self.limits = loops.Limits(**_writable(state["limits"]))

    def set_limits(self, window: int, margin: float) -> None:
        """Read the envelope again with another window or margin."""
        t = self.tables
        largest = float(self.form.diag(self.machine.vectors).max(initial=1.0))
        size = largest * np.abs(self.machine.beta).sum() + abs(self.machine.bias)
        slack = 16 * np.finfo(np.float64).eps * float(size)
        self.limits = self.envelope.limits(window, margin, t.approximate, slack)
        self.overhead = self._overhead(np.arange(len(t.ends)))

    def _overhead(self, stages: NDArray[np.intp]) -> float:
        """What an average calibration row costs beside its steps if these are the stages."""
        t = self.tables
        shares = self.envelope.reaching(self.limits, t.filtered, stages)
        return float(shares @ stage_costs(t, t.ends[stages]))

    def _choose_stages(self) -> None:
        """Keep the stages at which calibration rows cost least; the last is g_0, and stays."""
        last = len(self.tables.ends) - 1
        early = (kept for n in range(last + 1) for kept in combinations(range(last), n))
        kept = min((np.array([*some, last]) for some in early), key=self._overhead)
        self.tables = self.tables._replace(ends=self.tables.ends[kept])
        self.envelope.keep(kept)

    def run(self, X: NDArray[Any]) -> tuple[Floats, NDArray[np.intp]]:
        """Return the outputs and the steps: one for the start, one a vector touched."""
        output, touched = np.empty(len(X)), np.empty(len(X), dtype=np.intp)

        def work(start: int, stop: int) -> None:
            part = slice(start, stop)
            self._answer(self.embed(X[part]), output[part], touched[part])

        if self.compiled and len(X) <= CHUNK:  # a query that comes alone should not wait for Python
            self._answer(self.embed(X), output, touched)
        elif self.compiled:
            over_chunks(work, len(X), CHUNK)
        else:
            for r, x in enumerate(self.embed(X)):
                output[r], touched[r], _ = walk(self.tables, self.limits, x, self._values(X[r]))
        return output, touched + 1

    def _answer(self, rows: NDArray[Any], output: Floats, touched: NDArray[np.intp]) -> None:
        t, limits = self.tables, self.limits
        low, high = (limits.filter_low, limits.filter_high) if t.filtered else (-np.inf, np.inf)
        left = loops.filter_rows(t.linear, t.linear_bias, low, high, rows, output, touched)
        if left:
            loops.answer(t, limits, rows, left, output, touched)

    def trace(self, x: NDArray[Any]) -> NSVTrace:
        """Return the record of one query, with where it would have gone."""
        output, steps = self.run(x[None])
        heard, partial, index, value = self.whole(x[None])
        t, limits = self.tables, self.limits
        score = approximate_kernel(t, self.embed(x[None])[0], t.ends[-1])
        stages = [t.ends, heard[0, 1:], limits.stage_low, limits.stage_high]
        return NSVTrace(
            exact=float(self.machine.decision_function(x[None])[0]),
            output=float(output[0]),
            stop=int(steps[0]) - 1,
            filtered=t.filtered and not limits.filter_low <= heard[0, 0] <= limits.filter_high,
            filter_output=float(heard[0, 0]) if t.filtered else np.nan,
            filter_low=limits.filter_low if t.filtered else np.nan,
            filter_high=limits.filter_high if t.filtered else np.nan,
            partial=partial[0],
            low=limits.low,
            high=limits.high,
            index=index,
            value=value,
            score=np.concatenate([[0.0], score[index[1:]]]),
            stages=np.column_stack(stages) if t.approximate else np.empty((0, 4)),
        )

    def _values(self, x: NDArray[Any]) -> Any:
        """Return the kernel values of x as a function of which vectors are asked for."""
        kernel, vectors = self.machine.kernel, self.machine.vectors
        return lambda which: np.asarray(kernel(x[None], vectors[which]), dtype=np.float64)[0]

    def _walker_of(self, part: Part, options: Options) -> Walker:
        """The walker that answers a part; one on the same machine shares its tables."""
        own = part.machine is self.machine
        return Walker(part.machine, part.linear, options, self.tables if own else None)

    def _calibrated(self, parts: list[Part], options: Options) -> Envelope:
        envelope = Envelope(len(self.tables.ends), self.machine.n_vectors)
        for done, part in enumerate(parts):
            report(done / len(parts), "measuring how far partial outputs mislead")
            walker = self._walker_of(part, options)
            rungs, scale = _matching(walker, self)
            for start in range(0, len(part.rows), CHUNK):
                rows = part.rows[start : start + CHUNK]
                ladders = walker.ladders(rows)
                envelope.add(scale * ladders[:, rungs], scale * ladders[:, -1])
        return envelope.close()


def _writable(state: dict[str, Any]) -> dict[str, Any]:
    """Copy what a mapped file holds: loops are compiled for arrays that can be written."""
    return {
        name: np.require(value, requirements="W") if isinstance(value, np.ndarray) else value
        for name, value in state.items()
    }


def _matching(part: Walker, whole: Walker) -> tuple[NDArray[np.intp], float]:
    """Say which rungs of a fold's ladder stand for those of the machine, and at what scale.

    Steps match by their share of the way, k_j = round(k m_j / m); outputs by the sum of the
    weights.
    """
    m, m_part = whole.machine.n_vectors, part.machine.n_vectors
    n, n_part = len(whole.tables.ends), len(part.tables.ends)
    stages = np.minimum(np.arange(1, n + 1), n_part)
    steps = np.maximum(np.round(np.arange(1, m + 1) * m_part / m), 1).astype(np.intp)
    size, size_part = np.abs(whole.machine.beta).sum(), np.abs(part.machine.beta).sum()
    return np.concatenate([[0], stages, n_part + steps]), float(size / max(size_part, 1e-300))
