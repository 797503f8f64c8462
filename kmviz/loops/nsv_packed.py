"""Nearest support vectors: all that a query is compared with, in a few arrays.

To hand named tuples of many arrays to compiled code takes several times as long as a filter needs
for its answer. So they are packed into a few arrays, once, and taken apart inside.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kmviz.loops.compile import compiled, part
from kmviz.loops.nsv import Tables, answer, example
from kmviz.loops.nsv_reduced import Limits, Start

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
    for dtype in (np.float32, np.float64):
        start, tables, limits = example(dtype)
        respond(*pack(start, tables, limits), tables.vectors, *answers)
