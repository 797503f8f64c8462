"""Table 1 of the tree paper, and the splits of the IDA sets that its machines are trained on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from kmviz.papers.published import read_published, rows_of_sets
from numpy.typing import NDArray

from kmviz import datasets
from kmviz.datasets.record import split_rows

#: Table 1, one row for each data set, and its columns.
PUBLISHED = rows_of_sets("svtree_table_1")
COLUMNS = tuple(read_published("svtree_table_1").columns)

#: Splits of a quick run, and of a full one, as in the paper.
QUICK_SPLITS, SPLITS = 5, 20

Split = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]


def n_splits(full: bool) -> int:
    """Return how many splits of each set a table is made of."""
    return SPLITS if full else QUICK_SPLITS


def splits(name: str, count: int) -> Iterator[Split]:
    """Yield training and test rows: official splits first, then seeded ones of their sizes."""
    folder = os.environ.get("KMVIZ_DATA")
    path = Path(folder or ".") / f"ida_{name}.npz"
    if not folder or not path.is_file():
        for s in range(count):
            data = datasets.load(name, seed=s)
            yield data.X_train, data.y_train, data.X_test, data.y_test
        return
    with np.load(path, allow_pickle=False) as stored:
        X, y = stored["X"].astype(np.float64), stored["y"]
        official = "train_idx" in stored.files
        pairs = list(zip(stored["train_idx"], stored["test_idx"])) if official else []
    size = len(pairs[0][0]) if pairs else len(datasets.load(name).y_train)
    pairs += [split_rows(y, size, seed) for seed in range(count - len(pairs))]
    for train, test in pairs[:count]:
        yield X[train], y[train], X[test], y[test]
