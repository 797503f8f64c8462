"""What is done to one block of rows before there are cells: survey it, and write it to them.

Plain functions of a block, so that any worker can do them where the block is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from kmviz.methods.falk.boxes import Boxes
from kmviz.methods.falk.cells import Scratch
from kmviz.methods.sampling import smallest_keys

#: Rows of the sample that the boxes are cut from.
SAMPLE = 100_000


class Survey:
    """What is known of some rows: how many, their classes, spread and width, and a sample."""

    def __init__(self) -> None:
        self.n, self.sums, self.squares = 0, 0.0, 0.0
        self.low: Any = np.inf
        self.high: Any = -np.inf
        self.classes: Any = None
        self.sample: Any = None
        self.keys = np.empty(0)

    def add(self, other: Survey) -> None:
        """Take in what is known of others."""
        first = self.sample is None
        self.low, self.high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        self.n, self.sums = self.n + other.n, self.sums + other.sums
        self.squares += other.squares
        self.classes = other.classes if first else np.union1d(self.classes, other.classes)
        self.sample = other.sample if first else np.concatenate([self.sample, other.sample])
        self.keys = np.concatenate([self.keys, other.keys])
        self.sample, self.keys = smallest_keys(self.sample, self.keys, SAMPLE)


def surveyed(X: NDArray[Any], y: NDArray[Any], seed: int, start: int, most: float) -> Survey:
    """Survey the rows from number `start` on; those with keys over `most` are not in the sample."""
    check_classification_targets(y)
    found = Survey()
    found.n, found.low, found.high = len(X), X.min(axis=0), X.max(axis=0)
    found.sums = X.sum(dtype=np.float64)
    found.squares = np.square(X, dtype=np.float64).sum()
    found.classes = np.unique(y)
    # the keys that one generator would give all rows in turn
    keys = np.random.Generator(np.random.PCG64(seed).advance(start)).random(len(X))
    found.sample, found.keys = X[keys <= most], keys[keys <= most]
    return found


def scattered(
    X: NDArray[Any], y: NDArray[Any], ranks: NDArray[np.int32], boxes: Boxes, classes: NDArray[Any],
    scratch: Scratch, number: int | None,
) -> NDArray[np.intp]:  # fmt: skip
    """Write rows to their cells; returns how many went to each.

    With the number of their block they have files of their own, which may be written twice.
    """
    labels, box = np.searchsorted(classes, y).astype(np.int32), boxes.of(X)
    for cell in np.unique(box):
        there = box == cell
        for name, values in (("rows", X), ("labels", labels), ("order", ranks)):
            if number is None:
                scratch.append(cell, name, values[there])
            else:
                scratch.put(cell, f"{name}.{number}", values[there])
    return np.bincount(box, minlength=len(boxes))


def largest_key(n: int) -> float:
    """Return a key that the sample of n rows stays below, all but certainly."""
    return min(1.0, 1.5 * SAMPLE / max(1, n))
