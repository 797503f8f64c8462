"""Stages of reduced vectors, before any support vector is touched: beyond the paper.

Section 5.3 of the paper walks a reduced set in place of the machine. Here a few reduced vectors
decide the easy queries, and the machine itself the others. One path of vectors serves all stages,
so that a later stage uses the kernel values of the earlier ones again. The output of a stage is
regressed on all that is known by then, the filter's output and the kernel values: it is nearer to
f than that of the reduced machine of as many vectors.

Rows that a regression was fitted to flatter it. So thresholds are those of outputs that come from
four fifths of the calibration rows for the other fifth; the stages themselves take all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.loops.nsv_stages import Limits, Start, decide_start
from kmviz.loops.nsv_walk import Tables
from kmviz.machines import KernelMachine
from kmviz.methods.nsv.layout import build_start, with_linear
from kmviz.methods.nsv.thresholds import Envelope
from kmviz.methods.reduction.path import Stage, grow
from kmviz.methods.reduction.space import space_of

Floats = NDArray[np.float64]

#: Reduced vectors that a stage may end with (multiples of 4, which are multiplied at once), and the
#: share of a machine's vectors they may be.
SIZES, SHARE = (4, 8, 20, 40, 80, 160), 4

#: Parts that rows are dealt into, and how strongly a regression holds on to the reduced machine.
FOLDS, RIDGE = 5, 1e-3

#: Each stage adds a few errors, and reduced vectors make many stages: their thresholds are moved
#: out by this many scatters, whatever the margin. On 16,661 training digits of four pairs that set
#: no threshold 27 answers then differed, without it 39, from the approximation alone 25.
CAUTION = 0.5


@dataclass(frozen=True, eq=False)
class Reduction:
    """Reduced vectors of one machine: as input rows, and the weights of the first 4, 8, ..."""

    vectors: Floats
    sizes: tuple[int, ...]
    weights: tuple[Floats, ...]
    bias: float


def reduction_of(machine: KernelMachine, form: Any) -> Reduction | None:
    """Return the reduced vectors of a machine; None where it has too few vectors to gain by it."""
    most = machine.n_vectors // SHARE
    wanted = [size for size in SIZES if size <= most]
    if not wanted:
        return None
    plain = KernelMachine(machine.vectors, machine.beta, machine.bias, form)
    path = grow(plain, space_of(form, machine.vectors), wanted[-1:], "incremental")
    if path.n_vectors == 0:
        return None
    stage: Stage = path.stages[-1]
    sizes = tuple(size for size in wanted if size < path.n_vectors) + (path.n_vectors,)
    weights = tuple(stage.weights(size) for size in sizes)
    return Reduction(stage.vectors[: sizes[-1]], sizes, weights, machine.bias)


def lay_out(reduction: Reduction, form: Any, t: Tables) -> Start:
    """Lay out the reduced vectors, without a filter."""
    weights = np.zeros((len(reduction.sizes), len(reduction.vectors)))
    for row, found in zip(weights, reduction.weights, strict=True):
        row[: len(found)] = found
    return build_start(form, t, reduction.vectors, weights, reduction.sizes, reduction.bias)


def start_outputs(start: Start, rows: NDArray[Any]) -> tuple[Floats, NDArray[Any]]:
    """Return the outputs of filter and stages, and the kernel values, for each row."""
    n, s = len(rows), len(start.ends)
    outputs, values = np.full((n, 1 + s), np.nan), np.zeros((n, len(start.rows) - 1), rows.dtype)
    answers, most = (np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)), np.full(s, np.inf)
    limits = Limits(-np.inf, np.inf, -most, most, most, most)
    decide_start(start, limits, rows, *answers, outputs, values)
    return outputs, values


@dataclass(eq=False)
class Regression:
    """What calibration rows make of the stages of one machine.

    Parameters
    ----------
    machine : KernelMachine
    start : Start
        The stages as reduced machines, without a filter.
    kernel_values : callable, optional
        The kernel values of input rows and the reduced vectors, where compiled code must not stand
        in for the kernel.
    """

    machine: KernelMachine
    start: Start
    kernel_values: Callable[[NDArray[Any]], NDArray[Any]] | None = None
    filter_outputs: list[Any] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    exact: list[Any] = field(default_factory=list)
    own: list[Any] = field(default_factory=list)

    def collect(
        self, part: Any, X: NDArray[Any], rows: NDArray[Any], f: Floats, scale: float
    ) -> None:
        """Take in calibration rows of a part, embedded or not, and as stages read them.

        Their f(x) comes in the machine's scale; `scale` brings the part's filter to it.
        """
        outputs, values = start_outputs(with_linear(self.start, part.linear), rows)
        if self.kernel_values is not None:
            values = np.asarray(self.kernel_values(X))
        self.filter_outputs.append(scale * outputs[:, 0])
        self.values.append(values)
        self.exact.append(f)
        if part.machine is self.machine and self.kernel_values is None:
            self.own.append((part.linear, rows, f))

    def fit(self, linear: Any, envelope: Envelope) -> Start:
        """Return the fitted stages, and put their thresholds into the envelope."""
        filtered, exact = np.concatenate(self.filter_outputs), np.concatenate(self.exact)
        values = np.concatenate(self.values).astype(np.float64)
        weights, lines, outputs = fitted_stages(self.start, filtered, values, exact)
        start = self.start._replace(weights=weights.astype(self.start.rows.dtype), lines=lines)
        whole = filtered[:, None] * lines[:, 0] + values @ weights.T - lines[:, 1]
        checked = [(whole, exact)]
        for own, rows, f in self.own:  # as a query is answered, to the last bit
            checked.append((start_outputs(with_linear(start, own), rows)[0][:, 1:], f))
        envelope.insert_stages(outputs, exact, checked, CAUTION)
        return with_linear(start, linear)


def fitted_stages(
    start: Start, filtered: Floats, values: Floats, exact: Floats
) -> tuple[Floats, Floats, Floats]:
    """Regress f on what each stage knows.

    Returns
    -------
    weights : array of shape (s, n)
    lines : array of shape (s, 2)
    outputs : array of shape (rows, s)
        What stages say that have not seen the row: fitted to four fifths of the others.
    """
    A = np.column_stack([np.ones(len(filtered)), filtered, values])
    fold = np.arange(len(filtered)) % FOLDS
    grams = np.array([A[fold == k].T @ A[fold == k] for k in range(FOLDS)])
    sides = np.array([A[fold == k].T @ exact[fold == k] for k in range(FOLDS)])
    weights, lines = np.zeros(start.weights.shape), start.lines.copy()
    outputs = np.empty((len(filtered), len(start.ends)))
    for s, end in enumerate(start.ends):
        reduced = np.concatenate([[-start.lines[s, 1], 0.0], start.weights[s]]).astype(np.float64)
        plain = A @ reduced
        for k in range(FOLDS):
            held = _solved(grams.sum(axis=0) - grams[k], sides.sum(axis=0) - sides[k], reduced, end)
            outputs[fold == k, s] = A[fold == k] @ held
        found = _solved(grams.sum(axis=0), sides.sum(axis=0), reduced, end)
        if not np.std(exact - outputs[:, s]) < np.std(exact - plain):
            outputs[:, s], found = plain, reduced
        weights[s], lines[s] = found[2:], (found[1], -found[0])
    return weights, lines, outputs


def _solved(gram: Floats, side: Floats, reduced: Floats, end: int) -> Floats:
    """Coefficients of a constant, the filter and the first `end` kernel values.

    Free are the constant, the filter's share and the reduced machine's; what the single kernel
    values add to these is held small.
    """
    n = 3 + int(end)
    T = np.zeros((len(gram), n))
    T[0, 0] = T[1, 1] = 1.0
    T[2:, 2] = reduced[2:]
    T[2 : 2 + end, 3:] = np.eye(end)
    inner = T.T @ gram @ T
    size = np.sqrt(np.maximum(np.diag(inner), 1e-300))
    inner = inner / np.outer(size, size)
    inner[np.arange(3, n), np.arange(3, n)] += RIDGE
    found = np.linalg.lstsq(inner, T.T @ side / size, rcond=1e-10)[0]
    return T @ (found / size)
