"""Nearest support vectors: the way of one query, from filter to stop.

The walk is figure 2 of DeCoste and Mazzoni (2003) with what the paper and we put before it: a
linear filter, reduced vectors, then the approximation of all terms at growing numbers of components
(all in `nsv_stages`), then exact terms, the most telling ones first, until a threshold is passed.
Scores are dealt into buckets, and a bucket is sorted when the walk comes to it: most walks stop
long before the end. A walk that was recorded to its end can be read again under other thresholds:
`read` stops where `answer` would. `kmviz.methods.nsv.reference` holds their NumPy twins.

To hand named tuples of many arrays to compiled code takes several times as long as a filter needs
for its answer. So `pack` puts them into a few arrays, once, and `respond` takes those apart.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kmviz.loops.compile import compiled, part
from kmviz.loops.embed import unit_rows
from kmviz.loops.kernel import RADIAL, kernel_value
from kmviz.loops.nsv_stages import (
    BY_FILTER,
    BY_WALK,
    EXACT,
    NEAREST,
    Limits,
    Start,
    approach,
    copy_row,
    decide_start,
    example_start,
    kernels_of_dots,
    passes,
    squared_length,
    undecided,
)
from kmviz.loops.sorting import is_before, sort_falling

#: Queries that go through the stages together.
GROUP = 16

#: Rows that stay in the cache from filter to reduced vectors.
BLOCK = 128

#: Buckets that scores are dealt into.
BUCKETS = 512

#: The numbers, by type; those of `Start` have "start_" before their names there.
INTEGERS = ("kind", "degree", "order", "approximate", "n_first", "unit", "before", "asked")
FLOATS = (
    "gamma", "coef0", "bias", "filter_low", "filter_high", "start_unit_gamma", "start_unit_coef0",
    "start_linear_bias", "start_linear_offset",
)  # fmt: skip

#: The arrays that are laid end to end: of integers, of float64, of the type of the tables.
WHOLE = ("start_ends", "ends", "sides")
WIDE = ("start_lines", "stage_low", "stage_high", "beta", "low", "high")
NARROW = ("start_offsets", "start_lengths", "start_weights", "weights", "lengths")

#: The arrays that stay by themselves.
APART = ("start_rows", "vectors", "basis", "coordinates")

#: One record: the numbers, and where each array begins and ends.
NUMBERS = np.dtype(
    [(name, np.int64) for name in INTEGERS]
    + [(name, np.float64) for name in FLOATS]
    + [(f"at_{name}", np.int64, 2) for name in WHOLE + WIDE + NARROW]
)


class Tables(NamedTuple):
    """What the walk reads of one machine: m vectors, d columns, q components, s stages."""

    kind: int  # the plain kernel's code
    gamma: float
    coef0: float
    degree: int
    order: int  # NEAREST, TUG_OF_WAR or EXACT
    approximate: bool  # start from the approximation of all terms?
    bias: float
    vectors: Any  # (m, d) embedded
    beta: Any  # (m,)
    weights: Any  # (m,) beta in the type of the tables
    basis: Any  # (q, d) principal directions
    coordinates: Any  # (q, m) the vectors along them
    lengths: Any  # (m,) squared lengths, for the approximate distance
    ends: Any  # (s,) components in use after each stage
    sides: Any  # (m,) the vectors; for the tug of war those of positive weight first
    n_first: int  # how many of them make the first side: all, but for the tug of war
    unit: bool  # are the coordinates those of projections brought to length 1?
    before: int  # stages of reduced vectors that come before those of the approximation
    asked: int  # and the kernel values that they take


@part
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
    sort_falling(score, order[start : ends[bucket]])
    return ends[bucket], bucket + 1


@part
def pulls_up(first, second, score, beta, up, down):
    """Tug of war (4.2): does `first`, a positive vector, leave the sums of beta more equal?"""
    after_up = abs(up + beta[first] - down)
    after_down = abs(up - down + beta[second])
    if after_up == after_down:
        return is_before(score, first, second)
    return after_up < after_down


@part
def score_vectors(code, order, approximate, vectors, beta, x, values, scores):
    """How telling each vector promises to be."""
    for i in range(values.shape[0]):
        score = np.float64(values[i])
        if order == EXACT:
            score = kernel_value(code[0], code[1], code[2], code[3], x, vectors[i])
            if approximate:  # the largest corrections
                score = abs(beta[i] * (score - np.float64(values[i])))
        elif approximate:  # the largest terms
            score = abs(beta[i] * score)
        scores[i] = score


@part
def walk(t, limits, x, g, values, known, scratch, partial, index, value):
    """Answer one embedded query from g_0. Return the output and how many vectors it touched.

    `values` are its approximate kernel values, `known` the exact ones, where it has any: else they
    are computed, one by one. `partial[k]`, `index[k]` and `value[k]` take g_k,
    the vector of step k and its kernel value.
    """
    scores, order, ends = scratch
    partial[0] = g
    code = t.kind, t.gamma, t.coef0, t.degree
    score_vectors(code, t.order, t.approximate, t.vectors, t.beta, x, values, scores)
    m = t.beta.shape[0]
    n_ups, n_downs = t.n_first, m - t.n_first
    ups, downs = order[:n_ups], order[n_ups:]
    deal(t.sides[:n_ups], scores, ups, ends[0])
    deal(t.sides[n_ups:], scores, downs, ends[1])
    ready_up, ready_down, bucket_up, bucket_down = 0, 0, 0, 0
    a, b = 0, 0  # taken of each side
    up, down = 0.0, 0.0
    total = -t.bias
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
        if known.shape[0] > 0:
            exact = np.float64(known[i])
        else:
            exact = kernel_value(t.kind, t.gamma, t.coef0, t.degree, x, t.vectors[i])
        value[k] = exact
        index[k] = i
        total += t.beta[i] * exact
        if t.approximate:  # the exact term replaces its approximation
            exact -= np.float64(values[i])
        g += t.beta[i] * exact  # figure 2: g = g + beta_k K(X_k, x)
        if k == m:  # f(x), without what approximations leave when they are taken back
            g = total
        partial[k] = g
        if passes(g, limits.low[k], limits.high[k]):
            return g, k
    return g, m


@part
def embed_rows(e, X, rows, units):
    """Bring some rows to what the vectors of a normalised kernel are compared with."""
    for a in range(rows.shape[0]):
        r = rows[a]
        unit_rows(X[r : r + 1], e.unit_gamma, e.unit_coef0, units[a : a + 1])


@compiled
def answer(e, t, limits, X, known, output, touched, stage, outputs, partial, index, value):
    """Answer rows: by the filter, by reduced vectors, by the walk.

    `known` are the kernel values of each row and all vectors, or an array without columns.
    `touched` takes the kernel values computed, those of reduced vectors among them, `stage` what
    decided. `outputs` and `partial`, where they have rows, take the outputs of the filter and of
    the stages that a row comes to, and g_0 .. g_m: every row is walked then. `index` and `value`,
    where they have room, take the vectors of the last row and their kernel values.
    """
    keeps, nothing, left = partial.shape[0] > 0, np.empty((0, 0), X.dtype), 0
    for first in range(0, X.shape[0], BLOCK):
        some = slice(first, first + BLOCK)
        left += decide_start(
            e, limits, X[some], output[some], touched[some], stage[some], outputs[some], nothing
        )
    if keeps:
        stage[:], left = BY_WALK, X.shape[0]
    if left == 0:
        return
    q, m, n = t.basis.shape[0], t.beta.shape[0], min(left, GROUP)
    along, dots = np.empty((n + 1, q), X.dtype), np.empty((n + 1, m), X.dtype)  # one for company
    values = np.empty(m, X.dtype)
    scratch = np.empty(m), np.empty(m, np.int64), np.empty((2, BUCKETS), np.int64)
    stage_outputs, decided = np.zeros((n, t.ends.shape[0])), np.empty(n, np.int64)
    walked = np.empty(m + 1)
    if index.shape[0] == 0:
        index, value = np.empty(m + 1, np.int64), np.empty(m + 1)
    rows, is_scaled = undecided(stage), e.unit_gamma > 0.0
    units, places = np.empty((n if is_scaled else 0, t.vectors.shape[1]), X.dtype), np.arange(n)
    for first in range(0, left, n):
        group = rows[first : first + n]
        queries, at = X, group
        if is_scaled:
            embed_rows(e, X, group, units)
            queries, at = units, places[: group.shape[0]]
        approach(t, limits, queries, at, (along, dots, values), stage_outputs, decided)
        for a in range(group.shape[0]):
            r, x = group[a], queries[at[a]]
            if keeps:
                copy_row(stage_outputs[a], outputs[r, 1 + t.before :])
            if decided[a] >= 0:
                output[r], touched[r] = stage_outputs[a, decided[a]], t.asked
                stage[r] = t.before + decided[a]
                continue
            length = squared_length(t.kind, t.approximate, x, along[a])
            kernels_of_dots(
                t.kind, t.gamma, t.coef0, t.degree, t.approximate, t.lengths, dots[a], length,
                values,
            )  # fmt: skip
            g = stage_outputs[a, -1] if t.approximate else -t.bias
            kept = partial[r] if keeps else walked
            exact = known[min(r, known.shape[0] - 1)]
            output[r], k = walk(t, limits, x, g, values, exact, scratch, kept, index, value)
            touched[r] = t.asked + k


@compiled
def read(limits, evaluations, outputs, partial, output, touched, stage):
    """Stop recorded walks within `limits`, where `answer` would have stopped them.

    `outputs` holds those of the filter and of each stage, `partial` g_0 .. g_m, `evaluations` the
    kernel values computed by the end of each stage.
    """
    for r in range(outputs.shape[0]):
        if passes(outputs[r, 0], limits.filter_low, limits.filter_high):
            output[r], touched[r], stage[r] = outputs[r, 0], 0, BY_FILTER
            continue
        by = BY_WALK
        for s in range(limits.stage_low.shape[0]):
            if passes(outputs[r, 1 + s], limits.stage_low[s], limits.stage_high[s]):
                by = s
                break
        if by >= 0:
            output[r], touched[r], stage[r] = outputs[r, 1 + by], evaluations[by], by
            continue
        last = partial.shape[1] - 1
        k = min(1, last)
        while k < last and not passes(partial[r, k], limits.low[k], limits.high[k]):
            k += 1
        output[r], touched[r], stage[r] = partial[r, k], evaluations[-1] + k, BY_WALK


def example(dtype: Any) -> tuple[Start, Tables, Limits]:
    """A machine of two vectors and two stages, and limits that nothing passes, to compile for."""
    rows, ones = np.ones((2, 2), dtype=dtype), np.ones(2, dtype=dtype)
    tables = Tables(
        kind=RADIAL, gamma=1.0, coef0=0.0, degree=1, order=NEAREST, approximate=True, bias=0.0,
        vectors=rows, beta=np.ones(2), weights=ones, basis=rows, coordinates=rows, lengths=ones,
        ends=np.array([1, 2]), sides=np.arange(2), n_first=2, unit=False, before=1, asked=1,
    )  # fmt: skip
    start, limits = example_start(dtype)
    return start, tables, limits


def pack(start: Start, tables: Tables, limits: Limits) -> tuple[Any, ...]:
    """Return what `respond` reads: the record, and the arrays."""
    own = {f"start_{name}": value for name, value in start._asdict().items()}
    fields = own | tables._asdict() | limits._asdict()
    numbers, dtype = np.zeros(1, NUMBERS), tables.vectors.dtype
    for name in INTEGERS + FLOATS:
        numbers[name] = fields[name]
    packed = []
    for names, kind in ((WHOLE, np.int64), (WIDE, np.float64), (NARROW, dtype)):
        arrays = [np.ravel(fields[name]) for name in names]
        ends = np.cumsum([len(array) for array in arrays])
        for name, array, end in zip(names, arrays, ends, strict=True):
            numbers[f"at_{name}"] = end - len(array), end
        packed.append(np.concatenate(arrays).astype(kind))
    return numbers, *packed, *(np.require(fields[name], dtype, ["C", "W"]) for name in APART)


@part
def between(array, at):
    """The part of an array that holds one field."""
    return array[at[0] : at[1]]


@part
def unpack_start(n, whole, wide, narrow, rows):
    """The filter and the reduced vectors."""
    ends = between(whole, n.at_start_ends)
    s = ends.shape[0]
    return Start(
        kind=n.kind, gamma=n.gamma, coef0=n.coef0, degree=n.degree,
        unit_gamma=n.start_unit_gamma, unit_coef0=n.start_unit_coef0,
        linear_bias=n.start_linear_bias, linear_offset=n.start_linear_offset,
        rows=rows,
        offsets=between(narrow, n.at_start_offsets),
        lengths=between(narrow, n.at_start_lengths),
        weights=between(narrow, n.at_start_weights).reshape((s, rows.shape[0] - 1)),
        lines=between(wide, n.at_start_lines).reshape((s, 2)),
        ends=ends,
    )  # fmt: skip


@part
def unpack_tables(n, whole, wide, narrow, vectors, basis, coordinates):
    """The machine's tables."""
    return Tables(
        kind=n.kind, gamma=n.gamma, coef0=n.coef0, degree=n.degree, order=n.order,
        approximate=n.approximate != 0, bias=n.bias, vectors=vectors,
        beta=between(wide, n.at_beta), weights=between(narrow, n.at_weights),
        basis=basis, coordinates=coordinates, lengths=between(narrow, n.at_lengths),
        ends=between(whole, n.at_ends), sides=between(whole, n.at_sides),
        n_first=n.n_first, unit=n.unit != 0, before=n.before, asked=n.asked,
    )  # fmt: skip


@part
def unpack_limits(n, wide):
    """Where a query stops."""
    return Limits(
        n.filter_low, n.filter_high, between(wide, n.at_stage_low), between(wide, n.at_stage_high),
        between(wide, n.at_low), between(wide, n.at_high),
    )  # fmt: skip


@compiled
def respond(
    numbers, whole, wide, narrow, rows, vectors, basis, coordinates, X, output, touched, stage
):
    """Answer rows as `answer` does, from what `pack` made."""
    n = numbers[0]
    start = unpack_start(n, whole, wide, narrow, rows)
    tables = unpack_tables(n, whole, wide, narrow, vectors, basis, coordinates)
    known, kept = np.empty((1, 0), X.dtype), np.empty((0, 0))
    index, value = np.empty(0, np.int64), np.empty(0)
    answer(
        start, tables, unpack_limits(n, wide), X, known, output, touched, stage, kept, kept, index,
        value,
    )  # fmt: skip


def warm() -> None:
    """Compile for the types in use."""
    answers = np.empty(2), np.empty(2, np.int64), np.empty(2, np.int64)
    kept = np.zeros((2, 4)), np.empty((2, 3)), np.empty(3, np.int64), np.empty(3)
    for dtype in (np.float32, np.float64):
        start, t, limits = example(dtype)
        answer(start, t, limits, t.vectors, np.empty((1, 0), dtype), *answers, *kept)
        respond(*pack(start, t, limits), t.vectors, *answers)
    read(limits, np.zeros(3, np.int64), *kept[:2], *answers)
