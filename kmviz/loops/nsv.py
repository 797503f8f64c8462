"""Nearest support vectors: the walk of one query from filter to stop.

The walk is figure 2 of DeCoste and Mazzoni (2003) with what the paper and we put before it: a
linear filter, then the approximation of all terms at growing numbers of components, then exact
terms, the most telling ones first, until a threshold is passed. `kmviz.methods.nsv.walk` holds
its NumPy twin.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kmviz.loops.compile import compiled
from kmviz.loops.kernel import RADIAL, dot, kernel_value

NEAREST, TUG_OF_WAR, EXACT = 0, 1, 2


class Tables(NamedTuple):
    """What the walk reads of one machine: m vectors, d columns, q components, s stages."""

    kind: int  # the plain kernel's code
    gamma: float
    coef0: float
    degree: int
    order: int  # NEAREST, TUG_OF_WAR or EXACT
    approximate: bool  # start from the approximation of all terms?
    filtered: bool  # try the linear filter first?
    bias: float
    linear_bias: float
    vectors: Any  # (m, d) embedded
    beta: Any  # (m,)
    linear: Any  # (d,) the filter's weights
    basis: Any  # (q, d) principal directions
    coordinates: Any  # (q, m) the vectors along them
    lengths: Any  # (m,) squared lengths, for the approximate distance
    ends: Any  # (s,) components in use after each stage
    sides: Any  # (m,) vectors of positive weight, then the others
    n_positive: int


class Limits(NamedTuple):
    """Where the walk stops: g < low or g > high."""

    filter_low: float
    filter_high: float
    stage_low: Any  # (s,)
    stage_high: Any
    low: Any  # (m + 1,)
    high: Any


@compiled
def sink(heap, score, root, size):
    """Let heap[root] sink below every vector of higher score (of lower index, on a tie)."""
    item = heap[root]
    while True:
        child = 2 * root + 1
        if child >= size:
            break
        if child + 1 < size and is_before(score, heap[child + 1], heap[child]):
            child += 1
        if not is_before(score, heap[child], item):
            break
        heap[root] = heap[child]
        root = child
    heap[root] = item


@compiled
def is_before(score, a, b):
    return score[a] > score[b] or (score[a] == score[b] and a < b)


@compiled
def build(heap, score, size):
    for root in range(size // 2 - 1, -1, -1):
        sink(heap, score, root, size)


@compiled
def pop(heap, score, size):
    """Take the best of a heap of `size`; what remains is a heap of `size - 1`."""
    best = heap[0]
    heap[0] = heap[size - 1]
    sink(heap, score, 0, size - 1)
    return best


@compiled
def pulls_up(heap, split, n_up, n_down, score, beta, up, down):
    """Tug of war (4.2): does the next positive vector leave the sums of beta more equal?"""
    if n_up == 0 or n_down == 0:
        return n_down == 0
    first, second = heap[0], heap[split]
    after_up = abs(up + beta[first] - down)
    after_down = abs(up - down + beta[second])
    if after_up == after_down:
        return is_before(score, first, second)
    return after_up < after_down


@compiled
def kernels_of_dots(t, dots, length, values):
    """Approximate kernel values from approximate dot products; a power is taken in place."""
    gamma, coef0 = dots.dtype.type(t.gamma), dots.dtype.type(t.coef0)
    m = dots.shape[0]
    if t.kind == RADIAL:
        two = dots.dtype.type(2.0)
        for i in range(m):
            values[i] = -gamma * max(length + t.lengths[i] - two * dots[i], dots.dtype.type(0.0))
        if t.approximate:  # the order needs no exponential: it is monotone
            for i in range(m):
                values[i] = np.exp(values[i])
        return
    for i in range(m):
        values[i] = gamma * dots[i] + coef0
    bit = 1
    while 2 * bit <= t.degree:
        bit *= 2
    while bit > 1:
        bit //= 2
        if t.degree & bit:
            for i in range(m):
                values[i] = values[i] * values[i] * (gamma * dots[i] + coef0)
        else:
            for i in range(m):
                values[i] = values[i] * values[i]


@compiled
def approach(t, limits, x, dots, values, heard):
    """Filter and stages. Return the output and whether it decides.

    `heard` takes the filter's output and that of each stage.
    """
    heard[:] = 0.0
    if t.filtered:
        heard[0] = np.float64(dot(x, t.linear)) - t.linear_bias
        if heard[0] < limits.filter_low or heard[0] > limits.filter_high:
            return heard[0], True
    if t.order == EXACT and not t.approximate:
        return -t.bias, False
    zero = dots.dtype.type(0.0)
    dots[:] = zero
    length = dot(x, x) if t.approximate else zero
    begin = 0
    output = -t.bias
    for s in range(t.ends.shape[0]):
        for j in range(begin, t.ends[s]):
            along = dot(x, t.basis[j])  # eq. 11
            if not t.approximate:
                length += along * along
            row = t.coordinates[j]
            for i in range(row.shape[0]):
                dots[i] += along * row[i]
        begin = t.ends[s]
        kernels_of_dots(t, dots, length, values)
        if t.approximate:
            output = 0.0
            for i in range(values.shape[0]):
                output += t.beta[i] * np.float64(values[i])
            output -= t.bias
            heard[1 + s] = output
            if output < limits.stage_low[s] or output > limits.stage_high[s]:
                return output, True
    return output, False


@compiled
def score_vectors(t, x, values, scores):
    """How telling each vector promises to be."""
    for i in range(values.shape[0]):
        score = np.float64(values[i])
        if t.order == EXACT:
            score = kernel_value(t.kind, t.gamma, t.coef0, t.degree, x, t.vectors[i])
            if t.approximate:  # the largest corrections
                score = abs(t.beta[i] * (score - np.float64(values[i])))
        elif t.approximate:  # the largest terms
            score = abs(t.beta[i] * score)
        scores[i] = score


@compiled
def walk(t, limits, x, dots, values, scores, heap, heard, partial, index, value):
    """Answer one embedded query. Return the output and how many vectors it touched.

    `partial[k]`, `index[k]` and `value[k]` take g_k, the vector of step k and its kernel value.
    """
    g, decided = approach(t, limits, x, dots, values, heard)
    partial[0] = g
    if decided:
        return g, 0
    score_vectors(t, x, values, scores)
    m = t.beta.shape[0]
    n_up = t.n_positive if t.order == TUG_OF_WAR else m
    n_down = m - n_up
    split = n_up
    for i in range(m):
        heap[i] = t.sides[i] if t.order == TUG_OF_WAR else i
    build(heap[:split], scores, n_up)
    build(heap[split:], scores, n_down)
    up, down = 0.0, 0.0
    for k in range(1, m + 1):
        if pulls_up(heap, split, n_up, n_down, scores, t.beta, up, down):
            i = pop(heap[:split], scores, n_up)
            n_up -= 1
            up += t.beta[i]
        else:
            i = pop(heap[split:], scores, n_down)
            n_down -= 1
            down -= t.beta[i]
        exact = kernel_value(t.kind, t.gamma, t.coef0, t.degree, x, t.vectors[i])
        value[k] = exact
        index[k] = i
        if t.approximate:  # the exact term replaces its approximation
            exact -= np.float64(values[i])
        g += t.beta[i] * exact  # figure 2: g = g + beta_k K(X_k, x)
        partial[k] = g
        if g < limits.low[k] or g > limits.high[k]:
            return g, k
    return g, m


@compiled
def answer(t, limits, X, output, touched):
    """Answer rows one after the other."""
    m = t.beta.shape[0]
    dots, values = np.empty(m, X.dtype), np.empty(m, X.dtype)
    scores, heap = np.empty(m), np.empty(m, np.int64)
    heard = np.empty(1 + t.ends.shape[0])
    partial, index, value = np.empty(m + 1), np.empty(m + 1, np.int64), np.empty(m + 1)
    for r in range(X.shape[0]):
        output[r], touched[r] = walk(
            t, limits, X[r], dots, values, scores, heap, heard, partial, index, value
        )


@compiled
def record(t, limits, X, heard, partial, index, value):
    """Walk rows within `limits` and keep each step (of the last row: which vector, its value)."""
    m = t.beta.shape[0]
    dots, values = np.empty(m, X.dtype), np.empty(m, X.dtype)
    scores, heap = np.empty(m), np.empty(m, np.int64)
    for r in range(X.shape[0]):
        walk(t, limits, X[r], dots, values, scores, heap, heard[r], partial[r], index, value)


def warm() -> None:
    """Compile for the types in use."""
    for dtype in (np.float32, np.float64):
        rows, ones = np.ones((2, 2), dtype=dtype), np.ones(2, dtype=dtype)
        tables = Tables(
            kind=RADIAL, gamma=1.0, coef0=0.0, degree=1, order=NEAREST, approximate=True,
            filtered=True, bias=0.0, linear_bias=0.0, vectors=rows, beta=np.ones(2),
            linear=ones, basis=rows, coordinates=rows, lengths=ones, ends=np.array([1, 2]),
            sides=np.arange(2), n_positive=2,
        )  # fmt: skip
        limits = Limits(-9.0, 9.0, -np.ones(2), np.ones(2), -np.ones(3), np.ones(3))
        answer(tables, limits, rows, np.empty(2), np.empty(2, np.int64))
        steps = (np.empty((2, 3)), np.empty((2, 3)), np.empty(3, np.int64), np.empty(3))
        record(tables, limits, rows, *steps)
