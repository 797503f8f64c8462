"""Nearest support vectors: filter and stages of reduced vectors, before any support vector.

A stage is a linear function of what is known by then: the filter's output and the kernel values
of the first reduced vectors. Later stages use the values of earlier ones again. Queries are read
as input rows: for a normalised kernel their products are scaled, not their columns.
`kmviz.methods.nsv.reference` holds the NumPy twin.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kmviz.loops.compile import compiled, part
from kmviz.loops.exponential import exp32, exp64
from kmviz.loops.kernel import RADIAL, dot
from kmviz.loops.nsv_stages import copy_row, passes, powers, project, weighted_sum

#: Queries that go through the stages together.
GROUP = 32

#: What decided a query, where it was not a stage (counted from 0).
BY_FILTER, BY_WALK = -2, -1


class Start(NamedTuple):
    """What is read before the walk: filter, n reduced vectors, d columns of a query, s stages."""

    kind: int  # the plain kernel's code
    gamma: float
    coef0: float
    degree: int
    unit_gamma: float  # products are divided by sqrt(unit_gamma x.x + unit_coef0)
    unit_coef0: float
    linear_bias: float
    linear_offset: float
    rows: Any  # (1 + n, d) the filter's weights (0 without one), then the reduced vectors
    offsets: Any  # (1 + n,) what is added to their products with a query
    lengths: Any  # (1 + n,) their squared lengths
    weights: Any  # (s, n) of the kernel values in each stage
    lines: Any  # (s, 2) of the filter's output in each stage, and what is subtracted
    ends: Any  # (s,) reduced vectors in use after each stage


class Limits(NamedTuple):
    """Where a query stops: at outputs beyond low or high."""

    filter_low: float
    filter_high: float
    stage_low: Any  # of the stages: those of reduced vectors, then those of the approximation
    stage_high: Any
    low: Any  # (m + 1,)
    high: Any


@part
def undecided(stage):
    """The rows that nothing has decided yet."""
    rows, found = np.empty(stage.shape[0], np.int64), 0
    for r in range(stage.shape[0]):
        if stage[r] == BY_WALK:
            rows[found] = r
            found += 1
    return rows[:found]


@part
def values_of_products(e, products, begin, end, length, values):
    """Kernel values of reduced vectors begin..end from their products with a query."""
    gamma, coef0 = products.dtype.type(e.gamma), products.dtype.type(e.coef0)
    if e.kind != RADIAL:
        powers(e.degree, gamma, coef0, products[begin:end], values[begin:end])
        return
    two, zero = products.dtype.type(2.0), products.dtype.type(0.0)
    for j in range(begin, end):
        values[j] = -gamma * max(length + e.lengths[1 + j] - two * products[j], zero)
    if values.itemsize == 4:
        for j in range(begin, end):
            values[j] = exp32(values[j])
    else:
        for j in range(begin, end):
            values[j] = exp64(values[j])


@part
def unit_factor(unit_gamma, unit_coef0, x):
    """What a normalised kernel multiplies the products of a query by; 1 where it does not."""
    if unit_gamma == 0.0:
        return 1.0
    square = unit_gamma * np.float64(dot(x, x)) + unit_coef0
    return 1.0 / np.sqrt(square) if square > 0.0 else 0.0


@part
def filter_rows(e, limits, X, output, touched, stage):
    """Answer the rows that the filter decides; return how many it leaves.

    `stage` says which is which. A row that is not finite gets an output that is not finite, and
    is not left: without a filter, too, for its weights are 0 then, and 0 times infinity is no
    number.
    """
    left = 0
    for r in range(X.shape[0]):
        factor = unit_factor(e.unit_gamma, e.unit_coef0, X[r])
        g = (np.float64(dot(X[r], e.rows[0])) + e.linear_offset) * factor - e.linear_bias
        output[r], touched[r], stage[r] = g, 0, BY_FILTER
        if not passes(g, limits.filter_low, limits.filter_high) and abs(g) < np.inf:
            stage[r] = BY_WALK
            left += 1
    return left


@part
def multiply(e, X, rows, left, n_left, begin, end, products):
    """Products of the rows that are left with reduced vectors begin..end, two rows at a time."""
    spare = products.shape[0] - 1
    for i in range(0, n_left, 2):
        a, b = left[i], spare  # a row without a second goes with itself
        if i + 1 < n_left:
            b = left[i + 1]
        x, y = X[rows[a]], X[rows[b if b < spare else a]]
        project(x, y, e.rows[1:], begin, end, products[a], products[b])


@part
def reduce_rows(e, limits, X, output, touched, stage, outputs, kept):
    """Answer the rows, of those that the filter left, that a stage decides; return how many it
    leaves. See `decide_start`."""
    everyone = undecided(stage)
    size = min(GROUP, everyone.shape[0])
    products = np.empty((size + 1, e.rows.shape[0] - 1), X.dtype)
    values, left = np.empty_like(products), np.empty(size, np.int64)
    n_all = 0
    for first in range(0, everyone.shape[0], GROUP):
        rows = everyone[first : first + GROUP]
        n_left, begin = rows.shape[0], 0
        for i in range(n_left):
            left[i] = i
        for s in range(e.ends.shape[0]):
            end = e.ends[s]
            multiply(e, X, rows, left, n_left, begin, end, products)
            before, n_left = n_left, 0
            for i in range(before):
                a, r = left[i], rows[left[i]]
                factor = X.dtype.type(unit_factor(e.unit_gamma, e.unit_coef0, X[r]))
                for j in range(begin, end):
                    products[a, j] = (products[a, j] + e.offsets[1 + j]) * factor
                length = dot(X[r], X[r]) if e.kind == RADIAL else factor
                values_of_products(e, products[a], begin, end, length, values[a])
                g = weighted_sum(e.weights[s, :end], values[a, :end])
                g += e.lines[s, 0] * output[r] - e.lines[s, 1]
                touched[r] = end
                if outputs.shape[0] > 0:
                    outputs[r, 1 + s] = g
                    copy_row(values[a], kept[r])
                if passes(g, limits.stage_low[s], limits.stage_high[s]):
                    output[r], stage[r] = g, s
                else:
                    left[n_left] = a
                    n_left += 1
            begin = end
        n_all += n_left
    return n_all


@compiled
def decide_start(e, limits, X, output, touched, stage, outputs, kept):
    """Answer the rows that the filter or a stage of reduced vectors decides; return how many are
    left.

    `output` takes what the last of them said, `touched` the kernel values computed, `stage` what
    decided. `outputs`, where it has rows, takes the outputs of the filter and of the stages that a
    row comes to, `kept` the kernel values.
    """
    left = filter_rows(e, limits, X, output, touched, stage)
    if outputs.shape[0] > 0:
        for r in range(X.shape[0]):
            outputs[r, 0] = output[r]
    if left == 0 or e.ends.shape[0] == 0:
        return left
    return reduce_rows(e, limits, X, output, touched, stage, outputs, kept)


def example(dtype: Any) -> tuple[Start, Limits]:
    """A filter, one reduced vector, and limits that nothing passes, to compile for."""
    rows, ones = np.ones((2, 2), dtype=dtype), np.ones(2, dtype=dtype)
    start = Start(
        kind=RADIAL, gamma=1.0, coef0=0.0, degree=1, unit_gamma=0.0, unit_coef0=1.0,
        linear_bias=0.0, linear_offset=0.0,
        rows=rows, offsets=ones, lengths=ones, weights=rows[:1, :1].copy(),
        lines=np.zeros((1, 2)), ends=np.ones(1, np.int64),
    )  # fmt: skip
    return start, Limits(-9.0, 9.0, -np.ones(3), np.ones(3), -np.ones(3), np.ones(3))


def warm() -> None:
    """Compile for the types in use."""
    answers = np.empty(2), np.empty(2, np.int64), np.empty(2, np.int64)
    for dtype in (np.float32, np.float64):
        start, limits = example(dtype)
        decide_start(start, limits, start.rows, *answers, np.empty((0, 0)), np.empty((0, 0), dtype))
