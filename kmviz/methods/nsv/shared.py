"""Reduced vectors that all pairs of classes share, and a promise over the prediction.

Beyond the paper, which has two classes. A few reduced vectors of each pair make one basis, on
which every pair's output is regressed: so many kernel values say something of all pairs. What a
row is tested by is no threshold of a pair but the *lead* of a class: the smallest of its outputs
against the others, in scatters of f around them. A stage decides where the lead is larger than
that of every calibration row whose prediction it gets wrong. Leads, as all thresholds, are taken
from stages that have not seen the row. Rows that no stage decides are asked of the exact machines,
each distinct support vector once.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.loops.nsv import Tables
from kmviz.loops.nsv_reduced import Early
from kmviz.loops.nsv_shared import decide_shared
from kmviz.loops.threads import over_chunks
from kmviz.machines import KernelMachine
from kmviz.machines.shared import SharedMachines
from kmviz.machines.soundness import shaped
from kmviz.methods.nsv.early import (
    CAUTION,
    FOLDS,
    RIDGE,
    Reduction,
    build_early,
    hear,
    unit_scale,
)
from kmviz.methods.reduction.path import grow
from kmviz.methods.reduction.space import space_of

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

#: Reduced vectors of each pair after each stage.
LEVELS = (1, 2, 4)

#: Rows that go through the compiled stages at once.
CHUNK = 128


class SharedStages:
    """Stages on reduced vectors that the machines of all pairs share.

    Parameters
    ----------
    machines : list of KernelMachine
        In the order of pairs.
    form : kernel
        The formula of their kernel.
    tables : Tables
        Of one of them.
    X : array of shape (n, d)
        Calibration rows that no machine has seen.
    winners : callable
        The class, by its place, that outputs of all pairs vote for.
    """

    early: Early
    weights: NDArray[np.floating]
    bias: Floats
    scale: Floats
    needed: Floats
    leads: Floats
    margin: float
    n_classes: int
    n_rest: int

    def __init__(
        self,
        machines: list[KernelMachine],
        form: Any,
        tables: Tables,
        X: NDArray[Any],
        winners: Callable[[Floats], Ints],
    ) -> None:
        reduction = _union([_first_vectors(machine, form) for machine in machines])
        self.n_classes = round((1 + (1 + 8 * len(machines)) ** 0.5) / 2)
        self.margin, self.form = 0.0, form
        if all(machine.fits_float32 for machine in machines):
            tables = tables._replace(vectors=tables.vectors.astype(np.float32))
        self.early = early = build_early(reduction, form, tables)
        rows = self._read(X)
        self.rest: SharedMachines | None = SharedMachines(machines)
        self.n_rest = len(self.rest.vectors)
        exact = self.rest.outputs(X)
        values = hear(early, rows)[1].astype(np.float64)
        weights, self.bias, outputs = _regressed(values, exact, early.ends)
        self.weights = weights.astype(early.rows.dtype)
        self.scale = 1.0 / np.maximum(np.std(exact - outputs, axis=1), 1e-300)
        told = [leads(one, scale, self.n_classes) for one, scale in zip(outputs, self.scale)]
        own = self._leads(rows)
        self._set_needed(told, own, winners(exact), self.n_rest)

    def _read(self, X: NDArray[Any]) -> NDArray[Any]:
        """Rows for the stages: embedded only where scaling will not do."""
        dtype = self.early.rows.dtype
        if unit_scale(self.form) is None:
            X = self.form.embed(X)
        return X if X.dtype == dtype and X.flags.carray else np.require(X, dtype, ["C", "W"])

    def _leads(self, rows: NDArray[Any]) -> list[tuple[Ints, Floats]]:
        """Winner and lead at each stage, as a query is answered."""
        found = []
        for s in range(len(self.early.ends)):
            only = copy(self)
            only.needed = np.full(len(self.early.ends), np.inf)
            only.needed[s] = -np.inf  # whoever leads
            heard = np.empty((len(rows), len(self.early.ends)))
            winner = only._decide(rows, heard)[2]
            found.append((winner, heard[:, s]))
        return found

    def _set_needed(self, told: list[Any], own: list[Any], truth: Ints, rest: int) -> None:
        """Find the lead that each stage takes, and which stages pay where `rest` vectors follow."""
        needed = []
        for s in range(len(told)):
            wrong = [lead[winner != truth].max(initial=0.0) for winner, lead in (told[s], own[s])]
            needed.append(max(wrong) + CAUTION)
        passed = np.array(needed) < np.array([lead for _, lead in told]).T
        last, ends = len(needed), self.early.ends
        some = [np.array(kept) for n in range(1, last + 1) for kept in combinations(range(last), n)]
        kept = min(some, key=lambda stages: _cost(passed[:, stages], ends[stages], rest))
        n = int(ends[kept[-1]])
        self.early = self.early._replace(
            rows=self.early.rows[: 1 + n], offsets=self.early.offsets[: 1 + n],
            lengths=self.early.lengths[: 1 + n], ends=ends[kept],
        )  # fmt: skip
        self.weights = np.ascontiguousarray(self.weights[kept, :n])
        self.bias, self.scale = self.bias[kept], self.scale[kept]
        self.needed = np.array(needed)[kept]
        self.leads = np.array([told[s][1] for s in kept]).T

    def under(self, margin: float) -> SharedStages:
        """Return the same with leads that have to be larger by so many scatters."""
        found = copy(self)
        found.margin = float(margin)
        return found

    def run(self, X: NDArray[Any]) -> tuple[Floats, Ints, Ints]:
        """Return outputs of all pairs, the stage that decides (-1: none), and the class."""
        return self._decide(self._read(X), np.empty((0, 0)))

    def answer(self, X: NDArray[Any], machines: list[KernelMachine]) -> tuple[Floats, Ints]:
        """Return outputs of all pairs, and how many kernel values each row took.

        Parameters
        ----------
        machines : list of KernelMachine
            Those of the pairs, to be asked where no stage decides.
        """
        outputs, stage, _ = self.run(X)
        steps = self.early.ends[stage]
        left = np.flatnonzero(stage < 0)
        if len(left):
            outputs[left] = self.exactly(X[left], machines)
            steps[left] += self.n_rest
        return outputs, steps

    def exactly(self, X: NDArray[Any], machines: list[KernelMachine]) -> Floats:
        """Return what the machines of all pairs put out, each distinct vector asked once."""
        if self.rest is None:  # not stored: the machines are
            self.rest = SharedMachines(machines)
        return self.rest.outputs(X)

    def _decide(self, rows: NDArray[Any], heard: Floats) -> tuple[Floats, Ints, Ints]:
        n = len(rows)
        outputs = np.empty((n, self.weights.shape[2]))
        stage, winner = np.empty(n, dtype=np.intp), np.empty(n, dtype=np.intp)
        table = (self.weights, self.bias, self.scale, self.needed + self.margin, self.n_classes)
        if n <= CHUNK:  # a query that comes alone should not wait for Python
            decide_shared(self.early, *table, rows, outputs, stage, winner, heard)
            return outputs, stage, winner

        def work(start: int, stop: int) -> None:
            i = slice(start, stop)
            told = heard[i] if len(heard) else heard
            decide_shared(self.early, *table, rows[i], outputs[i], stage[i], winner[i], told)

        over_chunks(work, n, CHUNK)
        return outputs, stage, winner

    @property
    def overhead(self) -> float:
        """What a calibration row costs beside its steps, in kernel values.

        A weight for each vector and pair takes a multiplication, as a column of a vector does.
        """
        passed = self.leads > self.needed + self.margin
        left = np.logical_and.accumulate(~passed, axis=1).mean(axis=0)
        asked = self.early.ends @ np.append(1.0, left[:-1])
        return float(asked * self.weights.shape[2] / self.early.rows.shape[1])

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"early": self.early._asdict(), "rest": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        writable: dict[str, Any] = {
            name: np.require(value, requirements="W") if isinstance(value, np.ndarray) else value
            for name, value in state["early"].items()
        }
        self.__dict__.update(state, early=Early(**writable))

    def check(self) -> None:
        """Refuse arrays that do not fit together (ValueError)."""
        e, (s, n, p) = self.early, np.shape(self.weights)
        for name, shape in {
            "rows": (n + 1, np.shape(e.rows)[1]), "offsets": (n + 1,), "lengths": (n + 1,),
            "ends": (s,),
        }.items():  # fmt: skip
            shaped(name, getattr(e, name), *shape)
        for name, shape in {"bias": (s, p), "scale": (s, p), "needed": (s,)}.items():
            shaped(name, getattr(self, name), *shape)
        rising = np.diff(e.ends, prepend=0) > 0
        if not s or not rising.all() or e.ends[-1] > n:
            raise ValueError("ends does not rise from stage to stage.")
        if p != self.n_classes * (self.n_classes - 1) // 2:
            raise ValueError("n_classes does not fit the pairs of classes.")


def leads(outputs: Floats, scale: Floats, n_classes: int) -> tuple[Ints, Floats]:
    """Return the class that wins all its pairs, -1 where none does, and its lead: the loop's twin.

    Examples
    --------
    >>> import numpy as np
    >>> from kmviz.methods.nsv.shared import leads
    >>> leads(np.array([[1.0, -2.0, -0.5]]), np.ones(3), 3)
    (array([2]), array([0.5]))
    """
    first, second = np.triu_indices(n_classes, 1)
    least = np.full((len(outputs), n_classes), np.inf)
    lead = outputs * scale
    for p, (i, j) in enumerate(zip(first, second, strict=True)):
        lost = outputs[:, p] < 0
        least[:, i] = np.where(lost, -np.inf, np.minimum(least[:, i], lead[:, p]))
        least[:, j] = np.where(lost, np.minimum(least[:, j], -lead[:, p]), -np.inf)
    winner = np.where((least >= 0).any(axis=1), least.argmax(axis=1), -1)
    return winner, least.max(axis=1)


def _first_vectors(machine: KernelMachine, form: Any) -> Floats:
    plain = KernelMachine(machine.vectors, machine.beta, machine.bias, form)
    path = grow(plain, space_of(form, machine.vectors), LEVELS[-1:], "incremental")
    return path.stages[-1].vectors


def _union(found: list[Floats]) -> Reduction:
    """The first vectors of all pairs, then the second ones, and so on."""
    level = [[v[k] for v in found if len(v) > k] for k in range(LEVELS[-1])]
    counts = np.cumsum([len(one) for one in level])
    sizes = tuple(sorted({int(counts[k - 1]) for k in LEVELS}))
    vectors = np.array([z for one in level for z in one])
    return Reduction(vectors, sizes, tuple(np.zeros(size) for size in sizes), 0.0)


def _regressed(values: Floats, exact: Floats, ends: Any) -> tuple[Floats, Floats, Floats]:
    """Regress the output of every pair on the first kernel values of each stage.

    Returns
    -------
    weights, bias, outputs
        Of shapes (s, n, p), (s, p) and (s, rows, p); the outputs are those of weights that have
        not seen the row.
    """
    A = np.column_stack([np.ones(len(values)), values])
    fold = np.arange(len(A)) % FOLDS
    parts = [fold == k for k in range(FOLDS)]
    grams = np.array([A[part].T @ A[part] for part in parts])
    sides = np.array([A[part].T @ exact[part] for part in parts])
    weights = np.zeros((len(ends), values.shape[1], exact.shape[1]))
    bias, outputs = np.empty((len(ends), exact.shape[1])), np.empty((len(ends), *exact.shape))
    for s, end in enumerate(ends):
        n = 1 + int(end)
        for k, part in enumerate(parts):
            held = _solved(
                (grams.sum(axis=0) - grams[k])[:n, :n], (sides.sum(axis=0) - sides[k])[:n]
            )
            outputs[s, part] = A[part, :n] @ held
        found = _solved(grams.sum(axis=0)[:n, :n], sides.sum(axis=0)[:n])
        weights[s, :end], bias[s] = found[1:], -found[0]
    return weights, bias, outputs


def _solved(gram: Floats, side: Floats) -> Floats:
    size = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    inner = gram / np.outer(size, size)
    inner[1:, 1:] += RIDGE * np.eye(len(gram) - 1)
    return np.linalg.lstsq(inner, side / size[:, None], rcond=1e-10)[0] / size[:, None]


def _cost(passed: NDArray[np.bool_], ends: Any, rest: float) -> float:
    """Kernel values of an average row with these stages, `rest` more where none decides."""
    left = np.logical_and.accumulate(~passed, axis=1).mean(axis=0)
    return float(np.diff(ends, prepend=0) @ np.append(1.0, left[:-1]) + left[-1] * rest)
