"""Nearest support vectors: the whole way of a query, from filter to walk, in one call.

To hand named tuples of many arrays to compiled code takes several times as long as a filter needs
for its answer. So what is read is packed into a few arrays, once, and taken apart inside.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kmviz.loops.compile import compiled, part
from kmviz.loops.nsv import Limits, Tables, answer, example, filter_rows
from kmviz.loops.nsv_reduced import Early, decide_early, filter_scaled

#: Rows that stay in the cache from filter to reduced vectors.
BLOCK = 128


def pack(e: Early | None, t: Tables, limits: Limits, walks: bool) -> tuple[Any, ...]:
    """Return what `respond` reads.

    Parameters
    ----------
    e : Early or None
    t : Tables
    limits : Limits
    walks : bool
        Whether rows that reduced vectors leave are walked as they are, without embedding.
    """
    between = (limits.filter_low, limits.filter_high) if t.filtered else (-np.inf, np.inf)
    has_early, dtype = e is not None, t.vectors.dtype
    e = e or empty_early(t)
    whole = [
        [
            has_early, walks, len(e.rows) - 1, len(e.ends), len(t.beta), len(t.linear),
            len(t.ends), len(limits.stage_low), t.kind, t.degree, t.order, t.approximate,
            t.n_first, t.unit, t.before, t.asked,
        ],
        e.ends, t.ends, t.sides,
    ]  # fmt: skip
    wide = [
        [
            e.unit_gamma, e.unit_coef0, e.linear_bias, e.linear_offset, t.gamma, t.coef0, t.bias,
            t.linear_bias, *between,
        ],
        e.lines.ravel(), limits.stage_low, limits.stage_high, t.beta, limits.low, limits.high,
    ]  # fmt: skip
    narrow = [e.offsets, e.lengths, e.weights.ravel(), t.weights, t.linear, t.lengths]
    tables = (e.rows, t.vectors, t.basis, t.coordinates)
    return (
        np.concatenate(whole).astype(np.int64),
        np.concatenate(wide).astype(np.float64),
        np.concatenate(narrow).astype(dtype),
        *(np.require(table, dtype, ["C", "W"]) for table in tables),
    )


def empty_early(t: Tables) -> Early:
    """No reduced vectors."""
    none = np.zeros((1, t.vectors.shape[1]), t.vectors.dtype)
    return Early(
        t.kind, t.gamma, t.coef0, t.degree, 0.0, 1.0, 0.0, 0.0, none, none[0, :1], none[0, :1],
        none[:0, :0], np.zeros((0, 2)), np.zeros(0, np.int64),
    )  # fmt: skip


@part
def taken(array, at, size):
    """The next `size` numbers, and where those after them begin."""
    return array[at : at + size], at + size


@part
def unpack_early(whole, wide, narrow, rows):
    """The reduced vectors, and where those parts of the arrays end that are theirs."""
    n, s = whole[2], whole[3]
    ends, i = taken(whole, 16, s)
    lines, j = taken(wide, 10, 2 * s)
    offsets, k = taken(narrow, 0, 1 + n)
    lengths, k = taken(narrow, k, 1 + n)
    weights, k = taken(narrow, k, s * n)
    early = Early(
        whole[8], wide[4], wide[5], whole[9], wide[0], wide[1], wide[2], wide[3], rows, offsets,
        lengths, weights.reshape((s, n)), lines.reshape((s, 2)), ends,
    )  # fmt: skip
    return early, i, j, k


@part
def unpack_tables(whole, wide, narrow, vectors, basis, coordinates, i, j, k):
    """The machine's tables and limits, from where those of the reduced vectors end."""
    m, d, n_ends, n_stages = whole[4], whole[5], whole[6], whole[7]
    ends, i = taken(whole, i, n_ends)
    sides, i = taken(whole, i, m)
    stage_low, j = taken(wide, j, n_stages)
    stage_high, j = taken(wide, j, n_stages)
    beta, j = taken(wide, j, m)
    low, j = taken(wide, j, m + 1)
    high, j = taken(wide, j, m + 1)
    weights, k = taken(narrow, k, m)
    linear, k = taken(narrow, k, d)
    lengths, k = taken(narrow, k, m)
    t = Tables(
        whole[8], wide[4], wide[5], whole[9], whole[10], whole[11] != 0, True, wide[6], wide[7],
        vectors, beta, weights, linear, basis, coordinates, lengths, ends, sides, whole[12],
        whole[13] != 0, whole[14], whole[15],
    )  # fmt: skip
    return t, Limits(wide[8], wide[9], stage_low, stage_high, low, high)


@compiled
def respond(
    whole, wide, narrow, rows, vectors, basis, coordinates, X, output, touched, stage
):  # fmt: skip
    """Answer rows: by the filter, by reduced vectors, by the walk. Return how many are left.

    Some are only where rows must be embedded before they are walked; `stage` says which. What else
    `output`, `touched` and `stage` take is what `kmviz.loops.nsv.answer` says.
    """
    e, i, j, k = unpack_early(whole, wide, narrow, rows)
    t, limits = unpack_tables(whole, wide, narrow, vectors, basis, coordinates, i, j, k)
    low, high, left = limits.filter_low, limits.filter_high, np.int64(0)
    for first in range(0, X.shape[0], BLOCK):
        part = slice(first, first + BLOCK)
        x, g, n, by = X[part], output[part], touched[part], stage[part]
        if whole[0] == 0:
            left += filter_rows(t.linear, t.linear_bias, low, high, x, g, n, by)
            continue
        here = filter_scaled(
            e.rows[0], e.linear_offset, e.linear_bias, e.unit_gamma, e.unit_coef0, low, high, x,
            g, n, by,
        )  # fmt: skip
        if here > 0 and t.before > 0:
            nothing = np.empty((0, 0)), np.empty((0, 0), X.dtype)
            here = decide_early(
                e, limits.stage_low, limits.stage_high, x, g, n, by, nothing[0], nothing[1]
            )
        left += here
    if left == 0 or whole[1] == 0:
        return left
    known, kept, none = np.empty((1, 0), X.dtype), np.empty((0, 0)), np.empty(0)
    answer(
        t, limits, X, known, left, output, touched, stage, kept, kept, np.empty(0, np.int64), none
    )
    return 0


def warm() -> None:
    """Compile for the types in use."""
    output, touched, stage = np.empty(2), np.empty(2, np.int64), np.empty(2, np.int64)
    for dtype in (np.float32, np.float64):
        tables, limits = example(dtype)
        respond(*pack(None, tables, limits, True), tables.vectors, output, touched, stage)
