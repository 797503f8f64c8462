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
from kmviz.loops.exponential import exp32, exp64
from kmviz.loops.kernel import RADIAL, dot, kernel_value, whole_power

NEAREST, TUG_OF_WAR, EXACT = 0, 1, 2

#: Buckets that scores are dealt into, and the size from which one is worth a merge sort.
BUCKETS, LARGE = 512, 64

#: Queries that go through the stages together, two by two, so that each number of the tables is
#: read for both.
GROUP = 16

#: Terms that are summed in the type of the tables before float64 takes their sum.
RUN = 256


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
    weights: Any  # (m,) beta in the type of the tables
    linear: Any  # (d,) the filter's weights, 0 without one
    basis: Any  # (q, d) principal directions
    coordinates: Any  # (q, m) the vectors along them
    lengths: Any  # (m,) squared lengths, for the approximate distance
    ends: Any  # (s,) components in use after each stage
    sides: Any  # (m,) the vectors; for the tug of war those of positive weight first
    n_first: int  # how many of them make the first side: all, but for the tug of war


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


@compiled
def kernels_of_dots(t, dots, length, values):
    """Approximate kernel values from approximate dot products."""
    gamma, coef0 = dots.dtype.type(t.gamma), dots.dtype.type(t.coef0)
    if t.kind != RADIAL:
        powers(t.degree, gamma, coef0, dots, values)
        return
    m, two, zero = dots.shape[0], dots.dtype.type(2.0), dots.dtype.type(0.0)
    for i in range(m):
        values[i] = -gamma * max(length + t.lengths[i] - two * dots[i], zero)
    if not t.approximate:  # the order needs no exponential: it is monotone
        return
    if values.itemsize == 4:
        for i in range(m):
            values[i] = exp32(values[i])
    else:
        for i in range(m):
            values[i] = exp64(values[i])


@compiled
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


@compiled
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


@compiled
def weighted_sum(weights, values):
    """Sum the weighted values; float64 takes the sums of runs."""
    total = 0.0
    for start in range(0, values.shape[0], RUN):
        part = values.dtype.type(0.0)
        for i in range(start, min(start + RUN, values.shape[0])):
            part += weights[i] * values[i]
        total += np.float64(part)
    return total


@compiled
def squared_length(t, x, along):
    """What the approximate distance takes for the length of a query."""
    if t.kind != RADIAL:
        return x.dtype.type(0.0)
    return dot(x, x) if t.approximate else dot(along, along)  # eq. 11 knows the projections alone


@compiled
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
    left, n_left = np.arange(n), n  # which of the rows are undecided
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
            kernels_of_dots(t, dots[a], squared_length(t, X[rows[a]], along[a]), values)
            heard[a, s] = weighted_sum(t.weights, values) - t.bias
            if heard[a, s] < limits.stage_low[s] or heard[a, s] > limits.stage_high[s]:
                stage[a] = s
            else:
                left[n_left] = a
                n_left += 1


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
def walk(t, limits, x, g, values, scratch, partial, index, value):
    """Answer one embedded query from g_0. Return the output and how many vectors it touched.

    `values` are its approximate kernel values. `partial[k]`, `index[k]` and `value[k]` take g_k,
    the vector of step k and its kernel value.
    """
    scores, order, ends = scratch
    partial[0] = g
    score_vectors(t, x, values, scores)
    m = t.beta.shape[0]
    n_ups, n_downs = t.n_first, m - t.n_first
    ups, downs = order[:n_ups], order[n_ups:]
    deal(t.sides[:n_ups], scores, ups, ends[0])
    deal(t.sides[n_ups:], scores, downs, ends[1])
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
def filter_rows(linear, bias, low, high, X, output, touched):
    """Answer the rows on which the filter leans far enough; return how many it leaves.

    Those have -1 `touched`. A row that is not finite gets an output that is not finite: without
    a filter, too, for `linear` is 0 then, and 0 times infinity is no number.
    """
    left = 0
    for r in range(X.shape[0]):
        g = np.float64(dot(X[r], linear)) - bias
        output[r], touched[r] = g, 0
        if low <= g <= high and abs(g) < np.inf:
            touched[r] = -1
            left += 1
    return left


@compiled
def room_of(t, X, n):
    """Components and dot products of n queries and one more; approximate kernel values of one."""
    q, m = t.basis.shape[0], t.beta.shape[0]
    return np.empty((n + 1, q), X.dtype), np.empty((n + 1, m), X.dtype), np.empty(m, X.dtype)


@compiled
def scratch_of(t):
    """Room to order the vectors: scores, the order, where its buckets end."""
    m = t.beta.shape[0]
    return np.empty(m), np.empty(m, np.int64), np.empty((2, BUCKETS), np.int64)


@compiled
def start(t, x, along, dots, heard, values):
    """Return g_0 of a query that no stage decided, and put its approximate values in `values`."""
    kernels_of_dots(t, dots, squared_length(t, x, along), values)
    return heard[-1] if t.approximate else -t.bias


@compiled
def answer(t, limits, X, left, output, touched):
    """Answer the rows that the filter left: `left` of them, with -1 `touched`."""
    m, n = t.beta.shape[0], min(left, GROUP)
    room, scratch = room_of(t, X, n), scratch_of(t)
    along, dots, values = room
    heard, stage = np.empty((n, t.ends.shape[0])), np.empty(n, np.int64)
    partial, index, value = np.empty(m + 1), np.empty(m + 1, np.int64), np.empty(m + 1)
    rows = np.flatnonzero(touched < 0)
    for first in range(0, left, n):
        group = rows[first : first + n]
        approach(t, limits, X, group, room, heard, stage)
        for a in range(group.shape[0]):
            r = group[a]
            if stage[a] >= 0:
                output[r], touched[r] = heard[a, stage[a]], 0
                continue
            g = start(t, X[r], along[a], dots[a], heard[a], values)
            output[r], touched[r] = walk(t, limits, X[r], g, values, scratch, partial, index, value)


@compiled
def record(t, limits, X, heard, partial, index, value):
    """Walk rows within `limits` and keep each step (of the last row: which vector, its value).

    `heard` takes the filter's output, then that of each stage.
    """
    room, scratch, stage = room_of(t, X, GROUP), scratch_of(t), np.empty(GROUP, np.int64)
    along, dots, values = room
    heard[:] = 0.0
    for first in range(0, X.shape[0], GROUP):
        group = np.arange(first, min(first + GROUP, X.shape[0]))
        approach(t, limits, X, group, room, heard[first:, 1:], stage)
        for a in range(group.shape[0]):
            r = group[a]
            heard[r, 0] = np.float64(dot(X[r], t.linear)) - t.linear_bias
            g = start(t, X[r], along[a], dots[a], heard[r], values)
            walk(t, limits, X[r], g, values, scratch, partial[r], index, value)


def warm() -> None:
    """Compile for the types in use."""
    for dtype in (np.float32, np.float64):
        rows, ones = np.ones((2, 2), dtype=dtype), np.ones(2, dtype=dtype)
        tables = Tables(
            kind=RADIAL, gamma=1.0, coef0=0.0, degree=1, order=NEAREST, approximate=True,
            filtered=True, bias=0.0, linear_bias=0.0, vectors=rows, beta=np.ones(2),
            weights=ones, linear=ones, basis=rows, coordinates=rows, lengths=ones,
            ends=np.array([1, 2]), sides=np.arange(2), n_first=2,
        )  # fmt: skip
        limits = Limits(-9.0, 9.0, -np.ones(2), np.ones(2), -np.ones(3), np.ones(3))
        output, touched = np.empty(2), np.empty(2, np.int64)
        left = filter_rows(ones, 0.0, -9.0, 9.0, rows, output, touched)
        answer(tables, limits, rows, left, output, touched)
        steps = (np.empty((2, 3)), np.empty((2, 3)), np.empty(3, np.int64), np.empty(3))
        record(tables, limits, rows, *steps)
