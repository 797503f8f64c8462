"""Training rows a block at a time: arrays, mapped files, Parquet files and Arrow data sets.

Arrow is imported where it is used: nobody else waits for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

#: Rows in a block.
BLOCK = 200_000

Block = tuple[NDArray[np.float32], NDArray[Any]]


class Source(Protocol):
    """Rows and their classes, in the same order however often they are asked for."""

    def blocks(self) -> Iterator[Block]:
        """Yield blocks of rows, (n, d), and their classes, (n,)."""


def source_of(X: Any, y: Any) -> Source:
    """Return training data as blocks.

    Parameters
    ----------
    X : array of shape (n, d), path of a Parquet file or folder, pyarrow Dataset, or Source
        An array may be a mapped file (`np.load(..., mmap_mode="r")`).
    y : array of shape (n,), or the name of a column of the file or Dataset
    """
    if hasattr(X, "blocks"):
        return X
    if isinstance(X, str | PathLike):
        from pyarrow.dataset import dataset

        X = dataset(X, format="parquet")
    return ArrowSource(X, y) if hasattr(X, "to_batches") else ArraySource(X, y)


class ArraySource:
    """Blocks of an array."""

    def __init__(self, X: Any, y: Any) -> None:
        self.X, self.y = X, np.asanyarray(y)
        if np.ndim(X) != 2 or np.shape(X)[0] != len(self.y):
            raise ValueError(
                f"X has shape {np.shape(X)} and y {self.y.shape}: a row of X and a class for each "
                "training row are needed."
            )

    def blocks(self) -> Iterator[Block]:
        """Yield blocks of rows and their classes."""
        for start in range(0, len(self.y), BLOCK):
            there = slice(start, start + BLOCK)
            yield check_array(self.X[there], dtype=np.float32), np.asarray(self.y[there])


class ArrowSource:
    """Blocks of an Arrow data set: every column but the target, all of them numbers."""

    def __init__(self, dataset: Any, target: Any) -> None:
        from pyarrow.types import is_floating, is_integer

        names = dataset.schema.names
        if target not in names:
            raise ValueError(f"y names the column of the classes, one of {names}; got {target!r}.")
        self.dataset, self.target = dataset, target
        self.columns = [name for name in names if name != target]
        for name in self.columns:
            kind = dataset.schema.field(name).type
            if not (is_floating(kind) or is_integer(kind)):
                raise ValueError(
                    f"Column {name!r} holds {kind}, no numbers: leave it out or encode it."
                )

    def blocks(self) -> Iterator[Block]:
        """Yield blocks of rows and their classes."""
        names = [*self.columns, self.target]
        for batch in self.dataset.to_batches(columns=names, batch_size=BLOCK):
            if batch.num_rows:
                X = np.column_stack([
                    batch.column(name).to_numpy(zero_copy_only=False) for name in self.columns
                ])  # fmt: skip
                yield check_array(X, dtype=np.float32), self._classes(batch.column(self.target))

    def _classes(self, column: Any) -> NDArray[Any]:
        if column.null_count:
            raise ValueError(f"Column {self.target!r} has rows without a class: leave them out.")
        y = column.to_numpy(zero_copy_only=False)
        return y.astype(str) if y.dtype == object else y
