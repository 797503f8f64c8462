"""Nearest support vectors: what comes before the walk, and what the walk is ordered by.

The filter comes first, then stages of reduced vectors: a stage is a linear function of what is
known by then, the filter's output and the kernel values of the first reduced vectors. Later stages
use the values of earlier ones again. Queries are read as input rows: for a normalised kernel their
products are scaled, not their columns. Last come the stages of the approximation of all terms by
principal components (eq. 11).

Queries go through them in groups, two by two, so that each number of the tables is read for both;
what a query gets does not depend on its company. `kmviz.methods.nsv.reference` holds the NumPy
twins.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kmviz.loops.compile import compiled, part
from kmviz.loops.exponential import exp32, exp64
from kmviz.loops.kernel import RADIAL, dot, whole_power

NEAREST, TUG_OF_WAR, EXACT = 0, 1, 2  # orders

#: Queries that go through the stages together.
GROUP = 32

#: What decided a query, where it was not a stage (counted from 0).
BY_FILTER, BY_WALK = -2, -1

#: Terms that are summed in the type of the tables before float64 takes their sum.
RUN = 256


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
def copy_row(one, other):
    """Write one into the other, as far as that reaches."""
    for j in range(other.shape[0]):
        other[j] = one[j]


@part
def passes(g, low, high):
    """The stopping rule (figure 2): does an output lie beyond its thresholds?"""
    return g < low or g > high


@part
def powers(degree, gamma, coef0, dots, values):
    """(gamma v + coef0)^degree of each dot product v, by repeated multiplication."""
    if degree > 15:
        for i in range(dots.shape[0]):
            values[i] = whole_power(gamma * dots[i] + coef0, degree)
        return
    one = dots.dtype.type(1.0)
    for i in range(dots.shape[0]):  # no loop inside, so that it vectorises
        first = gamma * dots[i] + coef0
        second = first * first
        fourth = second * second
        low = (first if degree & 1 else one) * (second if degree & 2 else one)
        high = (fourth if degree & 4 else one) * (fourth * fourth if degree & 8 else one)
        values[i] = low * high


@part
def kernels_of_dots(kind, gamma, coef0, degree, approximate, lengths, dots, length, values):
    """Approximate kernel values from approximate dot products."""
    gamma, coef0 = dots.dtype.type(gamma), dots.dtype.type(coef0)
    if kind != RADIAL:
        powers(degree, gamma, coef0, dots, values)
        return
    m, two, zero = dots.shape[0], dots.dtype.type(2.0), dots.dtype.type(0.0)
    for i in range(m):
        values[i] = -gamma * max(length + lengths[i] - two * dots[i], zero)
    if not approximate:  # the order needs no exponential: it is monotone
        return
    if values.itemsize == 4:
        for i in range(m):
            values[i] = exp32(values[i])
    else:
        for i in range(m):
            values[i] = exp64(values[i])


@part
def project(x, y, basis, begin, end, along_x, along_y):
    """Find components begin..end of two queries (eq. 11), four in one reading of them."""
    zero = x.dtype.type(0.0)
    j = begin
    while j + 4 <= end:
        b0, b1, b2, b3 = basis[j], basis[j + 1], basis[j + 2], basis[j + 3]
        x0, x1, x2, x3 = zero, zero, zero, zero
        y0, y1, y2, y3 = zero, zero, zero, zero
        for i in range(x.shape[0]):
            x0 += x[i] * b0[i]
            x1 += x[i] * b1[i]
            x2 += x[i] * b2[i]
            x3 += x[i] * b3[i]
            y0 += y[i] * b0[i]
            y1 += y[i] * b1[i]
            y2 += y[i] * b2[i]
            y3 += y[i] * b3[i]
        along_x[j], along_x[j + 1], along_x[j + 2], along_x[j + 3] = x0, x1, x2, x3
        along_y[j], along_y[j + 1], along_y[j + 2], along_y[j + 3] = y0, y1, y2, y3
        j += 4
    while j < end:
        along_x[j], along_y[j] = dot(x, basis[j]), dot(y, basis[j])
        j += 1


@part
def add_products(along_x, along_y, coordinates, begin, end, dots_x, dots_y):
    """Add what components begin..end tell of the dot products of two queries."""
    j = begin
    while j + 4 <= end:
        x0, x1, x2, x3 = along_x[j], along_x[j + 1], along_x[j + 2], along_x[j + 3]
        y0, y1, y2, y3 = along_y[j], along_y[j + 1], along_y[j + 2], along_y[j + 3]
        c0, c1, c2, c3 = coordinates[j], coordinates[j + 1], coordinates[j + 2], coordinates[j + 3]
        for i in range(dots_x.shape[0]):
            dots_x[i] += x0 * c0[i] + x1 * c1[i] + x2 * c2[i] + x3 * c3[i]
            dots_y[i] += y0 * c0[i] + y1 * c1[i] + y2 * c2[i] + y3 * c3[i]
        j += 4
    while j < end:
        c = coordinates[j]
        for i in range(dots_x.shape[0]):
            dots_x[i] += along_x[j] * c[i]
            dots_y[i] += along_y[j] * c[i]
        j += 1


@part
def weighted_sum(weights, values):
    """Sum the weighted values; float64 takes the sums of runs."""
    total = 0.0
    for start in range(0, values.shape[0], RUN):
        part = values.dtype.type(0.0)
        for i in range(start, min(start + RUN, values.shape[0])):
            part += weights[i] * values[i]
        total += np.float64(part)
    return total


@part
def squared_length(kind, approximate, x, along):
    """What the approximate distance takes for the length of a query."""
    if kind != RADIAL:
        return x.dtype.type(0.0)
    return dot(x, x) if approximate else dot(along, along)  # eq. 11 knows the projections alone


@part
def approach(t, limits, X, rows, room, heard, stage):
    """The stages of the approximation for a group of rows.

    `heard` takes the output of each stage that a row comes to, `stage` the one that decides it,
    or -1.
    """
    along, dots, values = room
    stage[:] = -1
    if t.order == EXACT and not t.approximate:
        return
    dots[:] = dots.dtype.type(0.0)
    n = rows.shape[0]
    left, n_left = np.empty(n, np.int64), n  # which of the rows are undecided
    for a in range(n):
        left[a] = a
    begin = 0
    for s in range(t.ends.shape[0]):
        end = t.ends[s]
        for i in range(0, n_left, 2):
            a, b = left[i], n  # a row without a second goes with itself
            if i + 1 < n_left:
                b = left[i + 1]
            x, y = X[rows[a]], X[rows[b if b < n else a]]
            project(x, y, t.basis, begin, end, along[a], along[b])
            add_products(along[a], along[b], t.coordinates, begin, end, dots[a], dots[b])
        begin = end
        if not t.approximate:
            continue
        before, n_left = n_left, 0
        for i in range(before):
            a = left[i]
            length = squared_length(t.kind, t.approximate, X[rows[a]], along[a])
            kernels_of_dots(
                t.kind, t.gamma, t.coef0, t.degree, True, t.lengths, dots[a], length, values
            )
            heard[a, s] = weighted_sum(t.weights, values) - t.bias
            place = t.before + s
            if passes(heard[a, s], limits.stage_low[place], limits.stage_high[place]):
                stage[a] = s
            else:
                left[n_left] = a
                n_left += 1


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


def example_start(dtype: Any) -> tuple[Start, Limits]:
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
        start, limits = example_start(dtype)
        decide_start(start, limits, start.rows, *answers, np.empty((0, 0)), np.empty((0, 0), dtype))
