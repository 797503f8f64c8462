"""Table 1 of the tree paper, and the splits of the IDA sets that its machines are trained on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz import datasets
from kmviz.datasets.split import split_rows

COLUMNS = (
    "dummy", "linear SVM", "SVM", "SVM: vectors", "tree", "tree: kernel values", "cpsp",
    "cpsp(tr)", "cpsp: vectors",
)  # fmt: skip

#: Table 1, one row for each data set.
PUBLISHED = {
    "heart": (0.56, 0.82, 0.82, 60, 0.75, 8.2, 0.84, 0.84, 9),
    "thyroid": (0.71, 0.89, 0.96, 13, 0.92, 9.3, 0.92, 0.90, 10),
    "breast_cancer": (0.70, 0.70, 0.71, 120, 0.70, 9.1, 0.73, 0.73, 10),
    "waveform": (0.67, 0.87, 0.90, 229, 0.86, 9.5, 0.90, 0.88, 10),
    "german": (0.70, 0.76, 0.75, 373, 0.70, 10.9, 0.76, 0.76, 11),
    "image": (0.57, 0.85, 0.97, 213, 0.89, 11.9, 0.89, 0.87, 12),
    "diabetis": (0.65, 0.77, 0.77, 249, 0.73, 10.0, 0.77, 0.77, 11),
    "ringnorm": (0.50, 0.75, 0.98, 152, 0.95, 10.5, 0.84, 0.74, 11),
    "splice": (0.51, 0.83, 0.89, 588, 0.68, 11.4, 0.86, 0.77, 12),
    "twonorm": (0.50, 0.97, 0.98, 263, 0.91, 9.5, 0.98, 0.97, 10),
    "banana": (0.54, 0.55, 0.89, 151, 0.88, 9.2, 0.86, 0.88, 10),
}

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
