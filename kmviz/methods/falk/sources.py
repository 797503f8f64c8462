"""Training rows a block at a time: arrays, mapped files, Parquet files, Arrow data sets and Dask
collections, whose blocks are worked on where they are.

Arrow and Dask are imported where they are used: nobody else waits for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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


def is_dask(X: Any) -> bool:
    """Tell whether X is a Dask collection."""
    return hasattr(X, "__dask_graph__")


def is_elsewhere(X: Any) -> bool:
    """Tell whether rows do not stand in memory: a path, a pyarrow Dataset, a Dask collection."""
    return isinstance(X, str | PathLike) or hasattr(X, "get_fragments") or is_dask(X)


def source_of(X: Any, y: Any) -> Any:
    """Return training data as blocks: a `Source`, or a `DaskSource`.

    Parameters
    ----------
    X : array of shape (n, d), path of a Parquet file or folder, pyarrow Dataset, Dask array or
        DataFrame, or Source
        An array may be a mapped file (`np.load(..., mmap_mode="r")`).
    y : array of shape (n,), or the name of a column of the file, Dataset or DataFrame
    """
    if is_dask(X):
        return DaskSource(X, y)
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


class DaskSource:
    """Blocks of a Dask collection: tasks of its own workers, or threads without a cluster.

    Attributes
    ----------
    parts : list of pairs of delayed rows and classes
    lengths : list of int
        Rows of each block.
    """

    def __init__(self, X: Any, y: Any) -> None:
        from dask import compute, delayed

        if hasattr(X, "to_dask_array"):  # a DataFrame
            if not isinstance(y, str) or y not in X.columns:
                raise ValueError(
                    f"y names the column of the classes, one of {list(X.columns)}; got {y!r}."
                )
            columns = [name for name in X.columns if name != y]
            self.parts = [(part[columns], part[y]) for part in X.to_delayed()]
        else:
            rows, classes = _aligned(X, y)
            self.parts = list(zip(rows, classes, strict=True))
        lengths = compute(*[delayed(len)(classes) for _, classes in self.parts])
        self.parts = [part for part, n in zip(self.parts, lengths) if n]
        self.lengths = [n for n in lengths if n]

    def each(self, work: Callable[..., Any], arguments: list[tuple[Any, ...]]) -> tuple[Any, ...]:
        """Return what some work makes of every block, each with its own further arguments."""
        from dask import compute, delayed

        calls = [
            delayed(with_block)(work, X, y, given)
            for (X, y), given in zip(self.parts, arguments, strict=True)
        ]
        return compute(*calls)


def over_blocks(
    source: Source | DaskSource, work: Callable[..., Any],
    given: Callable[[int, int, int | None], tuple[Any, ...]],
) -> Iterator[Any]:  # fmt: skip
    """Yield what some work makes of every block, here one after the other, or where Dask has them.

    Parameters
    ----------
    work : function of a block's rows and classes, and of what is `given` with them
    given : function of the block's first row, the row after its last, and its number
        The number is None where blocks come one after the other.
    """
    if isinstance(source, DaskSource):
        ends = np.cumsum([0, *source.lengths]).tolist()
        own = [given(ends[i], ends[i + 1], i) for i in range(len(source.lengths))]
        yield from source.each(work, own)
        return
    start = 0
    for X, y in source.blocks():
        yield work(X, y, *given(start, start + len(X), None))
        start += len(X)


def _aligned(X: Any, y: Any) -> tuple[list[Any], list[Any]]:
    """Return the blocks of a Dask array, all columns in one, and those of the classes."""
    import dask.array as da

    if X.ndim != 2 or not is_dask(y) or y.ndim != 1:
        raise ValueError("X and y of Dask must be arrays with two and one dimensions.")
    X = X.rechunk({1: -1})
    if any(np.isnan(X.chunks[0])) or any(np.isnan(y.chunks[0])):
        X, y = X.compute_chunk_sizes(), y.compute_chunk_sizes()
    if len(X) != len(y):
        raise ValueError(f"X has {len(X)} rows and y {len(y)} classes.")
    y = da.rechunk(y, (X.chunks[0],))
    return X.to_delayed().ravel().tolist(), y.to_delayed().ravel().tolist()


def with_block(work: Callable[..., Any], X: Any, y: Any, given: tuple[Any, ...]) -> Any:
    """Do some work on one block: a plain function that any worker can import."""
    y = np.asarray(y)
    y = y.astype(str) if y.dtype == object else y
    return work(check_array(np.asarray(X), dtype=np.float32), y, *given)
