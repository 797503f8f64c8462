"""One fitted machine: its tables, its envelope, and the answers they give together."""

from __future__ import annotations

from copy import copy
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.loops import nsv_walk as loops
from kmviz.loops.nsv_stages import BY_FILTER, Limits, Start
from kmviz.loops.nsv_walk import pack, respond
from kmviz.loops.threads import over_chunks
from kmviz.machines import KernelMachine
from kmviz.machines.soundness import shaped, within
from kmviz.methods.nsv.calibration import Part
from kmviz.methods.nsv.layout import (
    Options,
    of_sizes,
    reduced_costs,
    stage_costs,
    with_linear,
)
from kmviz.methods.nsv.linear_filter import Filter
from kmviz.methods.nsv.reference import approximate_kernel
from kmviz.methods.nsv.stages import Regression, lay_out, reduction_of
from kmviz.methods.nsv.thresholds import Envelope, of_stages
from kmviz.methods.nsv.walker import CHUNK, INTEGER, Answers, Floats, Ints, Walker, Walks
from kmviz.methods.progress import report
from kmviz.traces import NSVTrace


class NSVEngine(Walker):
    """The walker of the machine itself, with an envelope from calibration rows.

    The envelope is measured for every stage that may be; which of them are walked, and within
    what limits, follows from window, margin and filter (`set_limits`), however often they change.

    Parameters
    ----------
    machine : KernelMachine
    linear : Filter or None
    options : Options
    parts : list of Part
        Calibration rows, each with the machine that has to answer them.
    window, margin : int, float
        See `Envelope.limits`.
    filtered : bool
        Whether the filter, if there is one, may decide.
    """

    candidates: loops.Tables
    limits: Limits
    start_candidates: Start
    envelope: Envelope
    stages: NDArray[np.intp]
    filtered: bool
    window: int
    overhead: float
    layout: tuple[Any, ...]

    def __init__(
        self,
        machine: KernelMachine,
        linear: Filter | None,
        options: Options,
        parts: list[Part],
        window: int,
        margin: float,
        filtered: bool = True,
    ) -> None:
        super().__init__(machine, linear, options)
        self.candidates, self.start_candidates = self.tables, self.start
        self.has_filter = linear is not None
        self.envelope = self._calibrated(parts, options, linear)
        self.set_limits(window, margin, filtered)

    def __getstate__(self) -> dict[str, Any]:
        """What is stored: named tuples become dicts; the tables in use follow from the others."""
        left_out = ("tables", "start", "evaluations", "layout")
        state = {name: value for name, value in self.__dict__.items() if name not in left_out}
        return state | {name: getattr(self, name)._asdict() for name in _STORED}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name, kind in _STORED.items():
            setattr(self, name, kind(**_writable(state[name])))
        self._use_stages()

    def check(self) -> None:
        """Refuse arrays that do not fit together (ValueError)."""
        t, limits = self.candidates, self.limits
        (m, d), q = np.shape(t.vectors), len(t.basis)
        for name, shape in {
            "vectors": (self.machine.n_vectors, d), "beta": (m,), "weights": (m,), "lengths": (m,),
            "basis": (q, d), "coordinates": (q, m), "sides": (m,),
        }.items():  # fmt: skip
            shaped(name, getattr(t, name), *shape)
        within("n_first", t.n_first, 0, m + 1)
        if not np.array_equal(np.sort(t.sides), np.arange(m)):
            raise ValueError("sides does not hold every vector once.")
        _check_ends(t.ends, q)
        self._check_start(self.start_candidates, d)
        within("stages", self.stages, 0, self._n_reduced + len(t.ends))
        if len(self.stages) == 0 or (np.diff(self.stages) <= 0).any():
            raise ValueError("stages do not rise.")
        for side in ("low", "high"):
            shaped(side, getattr(limits, side), m + 1, finite=False)
            shaped(
                f"stage_{side}",
                getattr(limits, f"stage_{side}"),
                len(self.stages),
                finite=False,
            )

    def _check_start(self, e: Start, d: int) -> None:
        """Refuse a filter and reduced vectors that do not fit together."""
        n, s = len(e.rows) - 1, len(e.ends)
        width = self.machine.n_features if self.scales else d
        for name, shape in {
            "rows": (n + 1, width), "offsets": (n + 1,), "lengths": (n + 1,), "weights": (s, n),
            "lines": (s, 2),
        }.items():  # fmt: skip
            shaped(name, getattr(e, name), *shape)
        if n:
            shaped("reduced", self.reduced, n, self.machine.n_features)
            _check_ends(e.ends, n)

    def set_limits(self, window: int, margin: float, filtered: bool = True) -> None:
        """Derive limits, stages and overhead from the envelope: the one rule for every reading."""
        t, self.window, self.filtered = self.candidates, int(window), filtered and self.has_filter
        limits = self.envelope.limits(window, margin, t.approximate, self._slack())
        if not self.filtered:
            limits = limits._replace(filter_low=-np.inf, filter_high=np.inf)
        patterns = self.envelope.patterns(limits)
        self.stages = np.arange(len(t.ends))
        if t.approximate:
            self.stages = self._cheapest_stages(patterns)
        self.limits = of_stages(limits, self.stages)
        self._use_stages()
        shares = self.envelope.reaching(patterns, self.stages)
        self.overhead = float(shares @ self._costs(self.stages, counted=False))

    def _use_stages(self) -> None:
        """Lay out the stages in use: those of reduced vectors, then those of the approximation."""
        n, t = self._n_reduced, self.candidates
        first, later = self.stages[self.stages < n], self.stages[self.stages >= n] - n
        self.start = start = of_sizes(self.start_candidates, first)
        asked = int(start.ends[-1]) if len(first) else 0
        self.tables = t._replace(ends=t.ends[later], before=len(first), asked=asked)
        self.evaluations = np.concatenate([start.ends, np.full(len(later), asked)])
        if not (self.filtered or n):  # whose stages read the filter
            start = with_linear(start, None)
        self.layout = pack(start, self.tables, self.limits)

    @property
    def _n_reduced(self) -> int:
        """Stages of reduced vectors, in use or not."""
        return len(self.start_candidates.ends)

    def under(self, window: int, margin: float, filtered: bool) -> NSVEngine:
        """Return an engine with other limits and all else in common."""
        found = copy(self)
        found.set_limits(window, margin, filtered)
        return found

    def answers(self, X: NDArray[Any]) -> Answers:
        """Return output, kernel values computed and what decided of each row."""
        n, found = len(X), Answers.empty(len(X))
        if not self.compiled:
            for r, x in enumerate(X):
                one = self._plain_answer(x, self.limits)
                found.output[r], found.touched[r], found.stage[r] = one
        elif n <= CHUNK:  # a single query should not wait for Python
            self._respond(X, found)
        else:
            over_chunks(lambda i, j: self._respond(X[i:j], found.of(slice(i, j))), n, CHUNK)
        return found

    def _respond(self, X: NDArray[Any], found: tuple[Floats, Ints, Ints]) -> None:
        respond(*self.layout, self.input_rows(X), *found)

    def run(self, X: NDArray[Any]) -> tuple[Floats, Ints]:
        """Return the outputs and the steps: one for the start, one for each kernel value."""
        found = self.answers(X)
        return found.output, found.touched + 1

    def outputs(self, X: NDArray[Any]) -> Floats:
        """Return the outputs alone: a single query waits for nothing else."""
        n = len(X)
        if n > CHUNK or not self.compiled:
            return self.answers(X).output
        output = np.empty(n)
        respond(
            *self.layout, self.input_rows(X), output, np.empty(n, INTEGER), np.empty(n, INTEGER)
        )
        return output

    def record(self, X: NDArray[Any]) -> Walks:
        """Walk rows to the end, with the filter's output whether it may decide or not."""
        t = self.tables
        return self.walks(X, self.candidates._replace(ends=t.ends, before=t.before, asked=t.asked))

    def stop_of(self, found: Answers) -> Ints:
        """Return how many support vectors each row touched: kernel values but for reduced ones."""
        before = np.append(self.evaluations, [0, self.tables.asked])  # by the filter, by the walk
        return found.touched - before[found.stage]

    def read(self, walks: Walks) -> Answers:
        """Return what `answers` would return for recorded rows, bit for bit."""
        return walks.within(self.limits, self.evaluations)

    def trace(self, x: NDArray[Any]) -> NSVTrace:
        """Return the record of one query, with where it would have gone."""
        walks = self.walks(x[None])
        found = self.read(walks) if self.compiled else self.answers(x[None])
        t, limits, outputs = self.tables, self.limits, walks.outputs[0]
        score = approximate_kernel(t, self.embed(x[None])[0], t.ends[-1])
        sizes = np.concatenate([self.evaluations[: t.before], t.ends])
        stages = np.column_stack([sizes, outputs[1:], limits.stage_low, limits.stage_high])
        return NSVTrace(
            exact=float(self.machine.decision_function(x[None])[0]),
            output=float(found.output[0]),
            stop=int(self.stop_of(found)[0]),
            filtered=bool(found.stage[0] == BY_FILTER),
            filter_output=float(outputs[0]) if self.filtered else np.nan,
            filter_low=limits.filter_low if self.filtered else np.nan,
            filter_high=limits.filter_high if self.filtered else np.nan,
            partial=walks.partial[0],
            low=limits.low,
            high=limits.high,
            index=walks.index,
            value=walks.value,
            score=np.concatenate([[0.0], score[walks.index[1:]]]),
            stages=stages if t.approximate else np.empty((0, 4)),
            n_reduced=t.before,
        )

    def _slack(self) -> float:
        """A few rounding errors of the largest sum there can be."""
        largest = float(self.form.diag(self.machine.vectors).max(initial=1.0))
        size = largest * np.abs(self.machine.beta).sum() + abs(self.machine.bias)
        return 16 * np.finfo(np.float64).eps * float(size)

    def _costs(self, stages: Ints, counted: bool = True) -> Floats:
        """What each of these stages costs, then ordering, in kernel values that the walk computes.

        The values of reduced vectors are steps already, and cost nothing beside them unless
        `counted`.
        """
        n, t, start = self._n_reduced, self.candidates, self.start_candidates
        later = stage_costs(t, t.ends[stages[stages >= n] - n])
        sizes = np.diff(start.ends[stages[stages < n]], prepend=0)
        return np.concatenate([reduced_costs(t, sizes) if counted else 0.0 * sizes, later])

    def _cheapest_stages(self, patterns: Any) -> NDArray[np.intp]:
        """The stages at which calibration rows cost least; the last is g_0, and stays."""
        last = self._n_reduced + len(self.candidates.ends) - 1
        kept = (some for n in range(last + 1) for some in combinations(range(last), n))
        reaching = self.envelope.reaching

        def cost(stages: Ints) -> float:
            return float(reaching(patterns, stages) @ self._costs(stages))

        return min((np.array([*some, last]) for some in kept), key=cost)

    def _walker_of(self, part: Part, options: Options) -> Walker:
        """The walker that answers a part; one on the same machine shares its tables."""
        if part.machine is self.machine:
            return Walker(part.machine, part.linear, options, self.tables)
        return Walker(part.machine, part.linear, options, near=self.tables.basis)

    def _regression(self, options: Options) -> Regression | None:
        """The stages of reduced vectors that calibration rows are to fit, where there are any."""
        found = reduction_of(self.machine, self.form) if options.start == "reduced" else None
        if found is None:
            return None
        self.reduced = found.vectors
        own = None if self.compiled else lambda X: self.machine.kernel(X, found.vectors)
        return Regression(self.machine, lay_out(found, self.form, self.tables), own)

    def _calibrated(self, parts: list[Part], options: Options, linear: Filter | None) -> Envelope:
        envelope = Envelope(len(self.tables.ends), self.machine.n_vectors)
        regression = self._regression(options)
        for done, part in enumerate(parts):
            report(done / len(parts), "measuring how far partial outputs mislead")
            walker = self._walker_of(part, options)
            columns, scale = _matching(walker, self)
            for start in range(0, len(part.rows), CHUNK):
                some = slice(start, start + CHUNK)
                X = part.rows[some]
                known = None if part.values is None else part.values[some]
                walks = walker.walks(X, values=known)
                outputs = np.hstack([walks.outputs, walks.partial[:, 1:]])
                exact = scale * outputs[:, -1]
                if regression is not None:
                    regression.collect(part, X, self.input_rows(X), exact, scale)
                envelope.add(scale * outputs[:, columns], exact)
        envelope.close()
        if regression is not None:
            self.start_candidates = regression.fit(linear, envelope)
        return envelope


#: What is stored as dicts, and what it is made of again.
_STORED = {"candidates": loops.Tables, "limits": Limits, "start_candidates": Start}


def _check_ends(ends: Any, n: int) -> None:
    shaped("ends", ends, None)
    within("ends", ends, 0, n + 1)
    if len(ends) == 0 or (np.diff(ends) <= 0).any():
        raise ValueError("ends does not rise from stage to stage.")


def _writable(state: dict[str, Any]) -> dict[str, Any]:
    """Copy what a mapped file holds: loops are compiled for arrays that can be written."""
    return {
        name: np.require(value, requirements="W") if isinstance(value, np.ndarray) else value
        for name, value in state.items()
    }


def _matching(part: Walker, whole: Walker) -> tuple[NDArray[np.intp], float]:
    """Return which columns of a fold's outputs stand for those of the machine, and at what scale.

    Steps match by their share of the way, k_j = round(k m_j / m); outputs by the sum of the
    weights.
    """
    m, m_part = whole.machine.n_vectors, part.machine.n_vectors
    n, n_part = len(whole.tables.ends), len(part.tables.ends)
    stages = np.minimum(np.arange(1, n + 1), n_part)
    steps = np.maximum(np.round(np.arange(1, m + 1) * m_part / m), 1).astype(np.intp)
    size, size_part = np.abs(whole.machine.beta).sum(), np.abs(part.machine.beta).sum()
    return np.concatenate([[0], stages, n_part + steps]), float(size / max(size_part, 1e-300))
