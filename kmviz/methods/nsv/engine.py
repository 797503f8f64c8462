"""One fitted machine: its tables, its envelope, and the answers they give together."""

from __future__ import annotations

from copy import copy
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.loops import nsv as loops
from kmviz.machines import KernelMachine
from kmviz.machines.soundness import shaped, within
from kmviz.methods.nsv.calibration import Part
from kmviz.methods.nsv.envelope import Envelope, of_stages
from kmviz.methods.nsv.linear import Filter
from kmviz.methods.nsv.tables import Options, stage_costs, with_filter
from kmviz.methods.nsv.walk import approximate_kernel
from kmviz.methods.nsv.walker import CHUNK, Answers, Floats, Ints, Walker, Walks
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
        self.candidates = self.tables
        self.envelope = self._calibrated(parts, options)
        self.set_limits(window, margin, filtered)

    def __getstate__(self) -> dict[str, Any]:
        """What is stored: named tuples become dicts; the tables in use follow from the others."""
        state = {name: value for name, value in self.__dict__.items() if name != "tables"}
        state["candidates"], state["limits"] = self.candidates._asdict(), self.limits._asdict()
        return state | {"ends": self.tables.ends, "filtered": self.tables.filtered}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({n: v for n, v in state.items() if n not in ("ends", "filtered")})
        self.candidates = loops.Tables(**_writable(state["candidates"]))
        self.limits = loops.Limits(**_writable(state["limits"]))
        self.tables = self._tables(bool(state["filtered"]))._replace(ends=state["ends"])

    def check(self) -> None:
        """Refuse arrays that do not fit together (ValueError)."""
        t, limits = self.candidates, self.limits
        (m, d), q = np.shape(t.vectors), len(t.basis)
        for name, shape in {
            "vectors": (self.machine.n_vectors, d), "beta": (m,), "weights": (m,), "lengths": (m,),
            "linear": (d,), "basis": (q, d), "coordinates": (q, m), "sides": (m,),
        }.items():  # fmt: skip
            shaped(name, getattr(t, name), *shape)
        within("n_first", t.n_first, 0, m + 1)
        if not np.array_equal(np.sort(t.sides), np.arange(m)):
            raise ValueError("sides does not hold every vector once.")
        for ends in (t.ends, self.tables.ends):
            within("ends", ends, 0, q + 1)
            if len(ends) == 0 or (np.diff(ends) <= 0).any():
                raise ValueError("ends does not rise from stage to stage.")
        for side in ("low", "high"):
            shaped(side, getattr(limits, side), m + 1, finite=False)
            shaped(
                f"stage_{side}",
                getattr(limits, f"stage_{side}"),
                len(self.tables.ends),
                finite=False,
            )

    def set_limits(self, window: int, margin: float, filtered: bool = True) -> None:
        """Derive limits, stages and overhead from the envelope: the one rule for every reading."""
        t = self._tables(filtered)
        limits = self.envelope.limits(window, margin, t.approximate, self._slack())
        stages = np.arange(len(t.ends))
        if t.approximate:
            stages = self._cheapest_stages(t, limits)
        self.tables = t._replace(ends=t.ends[stages])
        self.limits = of_stages(limits, stages)
        self.overhead = self._overhead(t, limits, stages)

    def under(self, window: int, margin: float, filtered: bool) -> NSVEngine:
        """Return an engine with other limits and all else in common."""
        found = copy(self)
        found.set_limits(window, margin, filtered)
        return found

    def run(self, X: NDArray[Any]) -> tuple[Floats, Ints]:
        """Return the outputs and the steps: one for the start, one a vector touched."""
        found = self.answers(X, self.limits)
        return found.output, found.touched + 1

    def record(self, X: NDArray[Any]) -> Walks:
        """Walk rows to the end, with the filter's output whether it may decide or not."""
        return self.walks(X, self.candidates._replace(ends=self.tables.ends))

    def read(self, walks: Walks) -> Answers:
        """Return what `answers` would say of recorded rows, bit for bit."""
        return walks.within(self.limits, self.tables.filtered)

    def trace(self, x: NDArray[Any]) -> NSVTrace:
        """Return the record of one query, with where it would have gone."""
        walks = self.walks(x[None])
        found = self.read(walks) if self.compiled else self.answers(x[None], self.limits)
        t, limits, heard = self.tables, self.limits, walks.heard[0]
        score = approximate_kernel(t, self.embed(x[None])[0], t.ends[-1])
        stages = [t.ends, heard[1:], limits.stage_low, limits.stage_high]
        return NSVTrace(
            exact=float(self.machine.decision_function(x[None])[0]),
            output=float(found.output[0]),
            stop=int(found.touched[0]),
            filtered=bool(found.stage[0] == loops.BY_FILTER),
            filter_output=float(heard[0]) if t.filtered else np.nan,
            filter_low=limits.filter_low if t.filtered else np.nan,
            filter_high=limits.filter_high if t.filtered else np.nan,
            partial=walks.partial[0],
            low=limits.low,
            high=limits.high,
            index=walks.index,
            value=walks.value,
            score=np.concatenate([[0.0], score[walks.index[1:]]]),
            stages=np.column_stack(stages) if t.approximate else np.empty((0, 4)),
        )

    def _tables(self, filtered: bool) -> loops.Tables:
        return self.candidates if filtered else with_filter(self.candidates, None)

    def _slack(self) -> float:
        """A few rounding errors of the largest sum there can be."""
        largest = float(self.form.diag(self.machine.vectors).max(initial=1.0))
        size = largest * np.abs(self.machine.beta).sum() + abs(self.machine.bias)
        return 16 * np.finfo(np.float64).eps * float(size)

    def _overhead(self, t: loops.Tables, limits: loops.Limits, stages: NDArray[np.intp]) -> float:
        """What an average calibration row costs beside its steps if these are the stages."""
        shares = self.envelope.reaching(limits, t.filtered, stages)
        return float(shares @ stage_costs(t, t.ends[stages]))

    def _cheapest_stages(self, t: loops.Tables, limits: loops.Limits) -> NDArray[np.intp]:
        """The stages at which calibration rows cost least; the last is g_0, and stays."""
        last = len(t.ends) - 1
        early = (kept for n in range(last + 1) for kept in combinations(range(last), n))
        some = (np.array([*kept, last]) for kept in early)
        return min(some, key=lambda stages: self._overhead(t, limits, stages))

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
                walks = walker.walks(part.rows[start : start + CHUNK])
                ladders = np.hstack([walks.heard, walks.partial[:, 1:]])
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
