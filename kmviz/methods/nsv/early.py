"""Stages of reduced vectors, before any support vector is touched: beyond the paper.

Section 5.3 of the paper walks a reduced set in place of the machine. Here a few reduced vectors
decide the easy queries, and the machine itself the others. One path of vectors serves all stages,
so that a later stage uses the kernel values of the earlier ones again. What a stage says is
regressed on all that is known by then, the filter's output and the kernel values: it tells more of
f than the reduced machine of as many vectors does.

Rows that a regression was fitted to flatter it. So thresholds are those of outputs that come from
four fifths of the calibration rows for the other fifth; the stages themselves take all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.kernels import RBF, Linear, Normalized, Polynomial
from kmviz.loops.nsv import Tables
from kmviz.loops.nsv_reduced import Early, decide_early, filter_scaled
from kmviz.machines import KernelMachine
from kmviz.methods.nsv.envelope import Envelope
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


def unit_scale(form: Any) -> tuple[float, float] | None:
    """Return g and c where products are divided by sqrt(g x.x + c): 0 and 1 where they are not.

    None where rows have to be embedded first.
    """
    inner = form.kernel if isinstance(form, Normalized) else None
    if inner is None or isinstance(inner, RBF):
        return 0.0, 1.0
    if isinstance(inner, Polynomial):
        return float(inner.gamma), float(inner.coef0)
    return (1.0, 0.0) if isinstance(inner, Linear) else None


def build_early(reduction: Reduction, form: Any, t: Tables) -> Early:
    """Lay out reduced vectors, without a filter, as the reduced machines of each size."""
    n, sizes = len(reduction.vectors), reduction.sizes
    weights = np.zeros((len(sizes), n))
    for row, found in zip(weights, reduction.weights, strict=True):
        row[: len(found)] = found
    embedded = np.vstack([np.zeros((1, t.vectors.shape[1])), form.embed(reduction.vectors)])
    unit_gamma, unit_coef0 = unit_scale(form) or (0.0, 1.0)
    rows, offsets = input_form(embedded, unit_gamma, unit_coef0, reduction.vectors.shape[1])
    dtype = t.vectors.dtype
    return Early(
        t.kind, t.gamma, t.coef0, t.degree, unit_gamma, unit_coef0, 0.0, 0.0,
        rows=np.ascontiguousarray(rows, dtype=dtype),
        offsets=offsets.astype(dtype),
        lengths=np.einsum("ij,ij->i", embedded, embedded).astype(dtype),
        weights=weights.astype(dtype),
        lines=np.column_stack([np.zeros(len(sizes)), np.full(len(sizes), reduction.bias)]),
        ends=np.array(sizes, dtype=np.int64),
    )  # fmt: skip


def input_form(rows: Floats, gamma: float, coef0: float, d: int) -> tuple[Floats, Floats]:
    """Return what multiplies input rows in place of embedded ones, and what is added.

    [sqrt(g) x, sqrt(c)].v = x.(sqrt(g) v[:d]) + sqrt(c) v[d]
    """
    if gamma == 0.0:
        return rows, np.zeros(len(rows))
    last = np.sqrt(coef0) * rows[:, d] if rows.shape[1] > d else np.zeros(len(rows))
    return np.sqrt(gamma) * rows[:, :d], last


def with_linear(early: Early, linear: Any) -> Early:
    """Return the same with another filter: weights on embedded rows and bias, or None."""
    rows, offset, bias = early.rows.copy(), 0.0, 0.0
    rows[0] = 0.0
    if linear is not None:
        d, (weights, bias) = rows.shape[1], linear
        found, last = input_form(weights[None], early.unit_gamma, early.unit_coef0, d)
        rows[0], offset = found[0], last[0]
    return early._replace(rows=rows, linear_offset=float(offset), linear_bias=float(bias))


def ask_filter(
    e: Early, low: float, high: float, rows: NDArray[Any], found: tuple[Any, Any, Any]
) -> int:
    """Let the filter answer what it can; return how many rows it leaves."""
    return filter_scaled(
        e.rows[0], e.linear_offset, e.linear_bias, e.unit_gamma, e.unit_coef0, low, high, rows,
        *found,
    )  # fmt: skip


def of_sizes(early: Early, stages: NDArray[np.intp]) -> Early:
    """Return the same with these stages and no others, and the vectors that they take."""
    ends = early.ends[stages]
    n = int(ends[-1]) if len(ends) else 0
    return early._replace(
        rows=early.rows[: 1 + n],
        offsets=early.offsets[: 1 + n],
        lengths=early.lengths[: 1 + n],
        weights=np.ascontiguousarray(early.weights[stages, :n]),
        lines=early.lines[stages],
        ends=ends,
    )


def hear(early: Early, rows: NDArray[Any]) -> tuple[Floats, NDArray[Any]]:
    """Return the filter's output and that of every stage, and the kernel values, for each row."""
    n, s = len(rows), len(early.ends)
    heard, kept = np.full((n, 1 + s), np.nan), np.zeros((n, len(early.rows) - 1), rows.dtype)
    answers = np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
    open_end = np.full(s, np.inf)
    ask_filter(early, -np.inf, np.inf, rows, answers)
    heard[:, 0] = answers[0]
    decide_early(early, -open_end, open_end, rows, *answers, heard, kept)
    return heard, kept


@dataclass(eq=False)
class Regression:
    """What calibration rows make of the stages of one machine.

    Parameters
    ----------
    early : Early
        The stages as reduced machines, without a filter.
    kernel_values : callable, optional
        The kernel values of input rows and the reduced vectors, where compiled code must not stand
        in for the kernel.
    """

    early: Early
    kernel_values: Callable[[NDArray[Any]], NDArray[Any]] | None = None
    said: list[Any] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    exact: list[Any] = field(default_factory=list)
    own: list[Any] = field(default_factory=list)

    def add(self, part: Any, X: NDArray[Any], rows: NDArray[Any], f: Floats, scale: float) -> Any:
        """Take in calibration rows of a part, as they are and as stages read them.

        Its f(x) comes in the machine's scale. Returns what the part's filter says, in its own.
        """
        heard, values = hear(with_linear(self.early, part.linear), rows)
        if self.kernel_values is not None:
            values = np.asarray(self.kernel_values(X))
        self.said.append(scale * heard[:, 0])
        self.values.append(values)
        self.exact.append(f)
        if scale == 1.0 and self.kernel_values is None:  # rows that the machine itself answers
            self.own.append((part.linear, rows, f))
        return heard[:, 0]

    def close(self, linear: Any, envelope: Envelope) -> Early:
        """Fit the stages, and put their rungs into the envelope."""
        said, exact = np.concatenate(self.said), np.concatenate(self.exact)
        values = np.concatenate(self.values).astype(np.float64)
        weights, lines, outputs = fitted_stages(self.early, said, values, exact)
        early = self.early._replace(weights=weights.astype(self.early.rows.dtype), lines=lines)
        sure = [(said[:, None] * lines[:, 0] + values @ weights.T - lines[:, 1], exact)]
        for own, rows, f in self.own:  # as a query is answered, to the last bit
            sure.append((hear(with_linear(early, own), rows)[0][:, 1:], f))
        envelope.begin_with(outputs, exact, sure, CAUTION)
        return with_linear(early, linear)


def fitted_stages(
    early: Early, said: Floats, values: Floats, exact: Floats
) -> tuple[Floats, Floats, Floats]:
    """Regress f on what each stage knows.

    Returns
    -------
    weights : array of shape (s, n)
    lines : array of shape (s, 2)
    outputs : array of shape (rows, s)
        What stages say that have not seen the row: fitted to four fifths of the others.
    """
    A = np.column_stack([np.ones(len(said)), said, values])
    fold = np.arange(len(said)) % FOLDS
    grams = np.array([A[fold == k].T @ A[fold == k] for k in range(FOLDS)])
    sides = np.array([A[fold == k].T @ exact[fold == k] for k in range(FOLDS)])
    weights, lines = np.zeros(early.weights.shape), early.lines.copy()
    outputs = np.empty((len(said), len(early.ends)))
    for s, end in enumerate(early.ends):
        reduced = np.concatenate([[-early.lines[s, 1], 0.0], early.weights[s]]).astype(np.float64)
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
