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

#: Buckets that scores are dealt into, and the size from which one is worth a merge sort.
BUCKETS, LARGE = 512, 64


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
def is_before(score, a, b):
    return score[a] > score[b] or (score[a] == score[b] and a < b)


@compiled
def bucket_of(distance, scale, last):
    """The bucket of a score so far below the best; the first where that is not a number."""
    place = distance * scale
    if not place > 0.0:
        return 0
    return last if place >= last else int(place)


@compiled
def deal(members, score, order, ends):
    """Deal the members into buckets of falling score: a sort that is finished only as needed.

    `order` takes the members bucket by bucket, `ends` where each bucket ends.
    """
    ends[:] = 0
    if members.shape[0] == 0:
        return
    low, high = score[members[0]], score[members[0]]
    for i in members:
        low, high = min(low, score[i]), max(high, score[i])
    last = ends.shape[0] - 1
    scale = last / (high - low) if high > low else 0.0
    for i in members:
        ends[bucket_of(high - score[i], scale, last)] += 1
    start = 0
    for b in range(last + 1):
        start, ends[b] = start + ends[b], start
    for i in members:
        b = bucket_of(high - score[i], scale, last)
        order[ends[b]] = i
        ends[b] += 1


@compiled
def settle(score, order, ends, bucket):
    """Sort the next bucket that is not empty; return where it ends and the bucket after it."""
    start = ends[bucket - 1] if bucket else 0
    while ends[bucket] == start:
        bucket += 1
    part = order[start : ends[bucket]]
    if part.shape[0] > LARGE:
        keys = np.empty(part.shape[0])
        for j in range(part.shape[0]):
            keys[j] = -score[part[j]]
        part[:] = part[np.argsort(keys, kind="mergesort")]
    for j in range(1, part.shape[0]):
        i, slot = part[j], j
        while slot > 0 and is_before(score, i, part[slot - 1]):
            part[slot] = part[slot - 1]
            slot -= 1
        part[slot] = i
    return ends[bucket], bucket + 1


@compiled
def pulls_up(first, second, score, beta, up, down):
    """Tug of war (4.2): does `first`, a positive vector, leave the sums of beta more equal?"""
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
def project(x, basis, coordinates, begin, end, dots):
    """Add what components begin..end tell of the dot products; return their squared length."""
    length = x[0] * x.dtype.type(0.0)
    for j in range(begin, end):
        along = dot(x, basis[j])  # eq. 11
        row = coordinates[j]
        for i in range(row.shape[0]):
            dots[i] += along * row[i]
        length += along * along
    return length


@compiled
def approach(t, limits, x, dots, values, heard):
    """The stages of the approximation. Return the output and whether it decides.

    `heard` takes the output of each stage.
    """
    if t.order == EXACT and not t.approximate:
        return -t.bias, False
    dots[:] = dots.dtype.type(0.0)
    length = dot(x, x) if t.approximate else dots.dtype.type(0.0)
    begin = 0
    output = -t.bias
    for s in range(t.ends.shape[0]):
        seen = project(x, t.basis, t.coordinates, begin, t.ends[s], dots)
        begin = t.ends[s]
        if not t.approximate:
            length += seen
        kernels_of_dots(t, dots, length, values)
        if t.approximate:
            output = 0.0
            for i in range(values.shape[0]):
                output += t.beta[i] * np.float64(values[i])
            output -= t.bias
            heard[s] = output
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
def walk(t, limits, x, scratch, heard, partial, index, value):
    """Answer one embedded query. Return the output and how many vectors it touched.

    `partial[k]`, `index[k]` and `value[k]` take g_k, the vector of step k and its kernel value.
    """
    dots, values, scores, members, order, ends = scratch
    g, decided = approach(t, limits, x, dots, values, heard)
    partial[0] = g
    if decided:
        return g, 0
    score_vectors(t, x, values, scores)
    m = t.beta.shape[0]
    n_ups = t.n_positive if t.order == TUG_OF_WAR else m
    n_downs = m - n_ups
    ups, downs = order[:n_ups], order[n_ups:]
    deal(members[:n_ups], scores, ups, ends[0])
    deal(members[n_ups:], scores, downs, ends[1])
    ready_up, ready_down, bucket_up, bucket_down = 0, 0, 0, 0
    a, b = 0, 0  # taken of each side
    up, down = 0.0, 0.0
    for k in range(1, m + 1):
        if a == ready_up and a < n_ups:
            ready_up, bucket_up = settle(scores, ups, ends[0], bucket_up)
        if b == ready_down and b < n_downs:
            ready_down, bucket_down = settle(scores, downs, ends[1], bucket_down)
        takes_up = b == n_downs
        if a < n_ups and b < n_downs:
            takes_up = pulls_up(ups[a], downs[b], scores, t.beta, up, down)
        if takes_up:
            i = ups[a]
            a += 1
            up += t.beta[i]
        else:
            i = downs[b]
            b += 1
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
def scratch_of(t, X):
    """Room for one query at a time.

    Dot products, approximate kernel values, scores; the vectors as ties are broken (by sides
    for the tug of war), their order, and where its buckets end.
    """
    m = t.beta.shape[0]
    members = t.sides if t.order == TUG_OF_WAR else np.arange(m)
    numbers = np.empty(m, X.dtype), np.empty(m, X.dtype), np.empty(m)
    return numbers + (members, np.empty(m, np.int64), np.empty((2, BUCKETS), np.int64))


@compiled
def answer(t, limits, X, output, touched):
    """Answer rows: the filter first, then the walk of those that it leaves."""
    filtered, linear, bias = t.filtered, t.linear, t.linear_bias
    low, high = limits.filter_low, limits.filter_high
    left = 0
    for r in range(X.shape[0]):
        touched[r] = -1
        if filtered:
            g = np.float64(dot(X[r], linear)) - bias
            if g < low or g > high:
                output[r], touched[r] = g, 0
                continue
        left += 1
    if left == 0:  # no room needed for a walk
        return
    m = t.beta.shape[0]
    scratch, heard = scratch_of(t, X), np.empty(t.ends.shape[0])
    partial, index, value = np.empty(m + 1), np.empty(m + 1, np.int64), np.empty(m + 1)
    for r in range(X.shape[0]):
        if touched[r] < 0:
            output[r], touched[r] = walk(t, limits, X[r], scratch, heard, partial, index, value)


@compiled
def record(t, limits, X, heard, partial, index, value):
    """Walk rows within `limits` and keep each step (of the last row: which vector, its value).

    `heard` takes the filter's output, then that of each stage.
    """
    scratch = scratch_of(t, X)
    for r in range(X.shape[0]):
        heard[r, :] = 0.0
        if t.filtered:
            heard[r, 0] = np.float64(dot(X[r], t.linear)) - t.linear_bias
        stages = heard[r, 1:]
        walk(t, limits, X[r], scratch, stages, partial[r], index, value)


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
