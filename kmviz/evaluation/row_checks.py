"""Rows that look wrong: constant, copied, or far from the support vectors.

A promise is about queries like the rows that it rests on. On rows in other units than the model's,
or on copies of a few rows, every method agrees with the model, and a promise would say nothing
about the queries to come.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.kernels import Linear
from kmviz.machines import KernelMachine
from kmviz.machines.unwrap import last_step
from kmviz.methods.rows import dense

Floats = NDArray[np.float64]

#: Rows that are looked at together.
BLOCK = 512

#: Fewer distinct rows, each ten times or more on average, are few.
FEW_DISTINCT, COPIES = 100, 10

#: Of fewer support vectors the range says little: those of two blobs lie between them.
ENOUGH_VECTORS = 20

#: The share of rows outside from which on the rows are in other units than the model's.
OUTSIDE_SHARE = 0.25

#: Rows that vary by less than this share of what the support vectors vary by, in every column, are
#: constant to the machine.
CONSTANT = 0.01


@dataclass(frozen=True)
class Range:
    """The support vectors of a model, column by column.

    Attributes
    ----------
    low, high, middle : arrays of shape (d,)
        The least and the largest value, and the median of the largest machine's.
    """

    low: Floats
    high: Floats
    middle: Floats

    @property
    def width(self) -> Floats:
        return self.high - self.low

    def count_outside(self, rows: Any) -> int:
        """Return how many rows are further out than the whole width, in most of their columns.

        Columns in which a row has the usual value say nothing: the border of a picture, words
        that a text does not hold.
        """
        low, high = self.low - self.width, self.high + self.width
        count = 0
        for block in _blocks(rows):
            beyond = np.count_nonzero((block < low) | (block > high), axis=1)
            count += int(np.sum(2 * beyond > np.count_nonzero(block != self.middle, axis=1)))
        return count

    def is_constant(self, rows: Any) -> bool:
        """Tell whether rows hardly vary in any column, beside the support vectors."""
        low = np.min([block.min(axis=0) for block in _blocks(rows)], axis=0)
        high = np.max([block.max(axis=0) for block in _blocks(rows)], axis=0)
        return bool(np.all(high - low <= CONSTANT * self.width))


def doubt_about(
    rows: Any, group: NDArray[np.intp], fitted: Any, machines: Sequence[KernelMachine]
) -> str:
    """Return what looks wrong about rows, as the start of a sentence; empty where nothing does.

    Parameters
    ----------
    rows : array or sparse matrix of shape (n, d)
        As the machines read them: past scalers, projections and other steps.
    group : array of shape (n,)
        The same number for equal rows.
    fitted : estimator
    machines : sequence of KernelMachine
        The machines of the estimator.
    """
    if doubt := doubt_about_copies(group):
        return doubt
    n, vectors = len(group), range_of(fitted, machines)
    if vectors is None or n == 1:
        return ""
    if vectors.is_constant(rows):
        return "X is nearly constant: every column varies by less than 1% of the support vectors'"
    outside = vectors.count_outside(rows)
    if outside > OUTSIDE_SHARE * n:
        return f"{outside:,} of {n:,} rows of X lie far outside the support vectors' range"
    return ""


def doubt_about_copies(group: NDArray[np.intp]) -> str:
    """Return what looks wrong about how few rows are distinct; empty where nothing does."""
    n, distinct = len(group), len(np.unique(group))
    if distinct == 1 < n:
        return f"All {n:,} rows of X are equal"
    if distinct < FEW_DISTINCT and COPIES * distinct <= n:
        return f"X has {distinct} distinct rows among {n:,}"
    return ""


def range_of(fitted: Any, machines: Sequence[KernelMachine]) -> Range | None:
    """Return the range of a model's support vectors; None where it keeps none, or few.

    `LinearSVC` keeps weights in their place, and a model of precomputed values has no columns.
    """
    kernel = getattr(last_step(fitted), "kernel", "precomputed")
    if isinstance(machines[0].kernel, Linear) and isinstance(kernel, str) and kernel != "linear":
        return None
    tables = [dense(machine.vectors) for machine in machines if machine.n_vectors]
    if sum(map(len, tables)) < ENOUGH_VECTORS:
        return None
    low = np.min([table.min(axis=0) for table in tables], axis=0).astype(np.float64)
    high = np.max([table.max(axis=0) for table in tables], axis=0).astype(np.float64)
    return Range(low, high, np.median(max(tables, key=len), axis=0))


def _blocks(rows: Any) -> Iterator[Floats]:
    return (dense(rows[top : top + BLOCK]) for top in range(0, rows.shape[0], BLOCK))
