"""The large sets of Segata and Blanzieri (2010), table 4, and LibSVM's parameters for them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from kmviz.papers.published import read_published
from numpy.typing import NDArray
from sklearn.preprocessing import MinMaxScaler

from kmviz import datasets

Rows = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]

#: Training rows of table 4, and what a quick run takes.
SIZES = {
    "ijcnn1": 49_990, "cov-type": 100_000, "cod-rna": 59_535, "2-spirals": 100_000,
    "ndcc": 100_000, "checker-b": 300_000,
}  # fmt: skip
QUICK, TEST_ROWS = 10_000, 20_000
#: Table 5, test accuracy in percent.
TABLE_5: dict[str, dict[str, float]] = read_published("falk_table_5").to_dict("index")
#: C and gamma of LibSVM. Those of cov-type, 2-spirals and checker-b were chosen on training rows
#: (`benchmarks/results/falk_choice_*`); the others were not searched, so ratios to LibSVM are rough
#: there.
SVC_PARAMETERS = {
    "ijcnn1": (16.0, 16.0), "cov-type": (16.0, 4.0), "cod-rna": (16.0, 16.0),
    "2-spirals": (4.0, 32_768.0), "ndcc": (1.0, 16.0), "checker-b": (4.0, 1_024.0),
}  # fmt: skip


def large_rows(
    name: str, n: int | None = None, n_test: int = TEST_ROWS, seed: int | None = 0
) -> Rows | None:
    """Return scaled training and test rows of experiment 2, or None where the data is missing.

    A `seed` of None takes rows in the order that the file names as its own (cov-type's does).
    """
    n = n or SIZES[name]
    generators: dict[str, Callable[..., Any]] = {
        "2-spirals": datasets.generators.two_spirals, "ndcc": datasets.generators.ndcc,
        "checker-b": datasets.generators.checkerboard,
    }  # fmt: skip
    if name in generators:
        data = generators[name](n=n, n_test=n_test, seed=seed)
        return _scaled(data.X_train, data.y_train, data.X_test, data.y_test)
    file = {"ijcnn1": "ijcnn1", "cov-type": "covtype", "cod-rna": "codrna59535"}[name]
    path = Path(os.environ.get("KMVIZ_DATA", "")) / f"{file}.npz"
    if not os.environ.get("KMVIZ_DATA") or not path.is_file():
        return None
    with np.load(path, allow_pickle=False) as stored:
        X, y = stored["X"].astype(np.float64), stored["y"]
        order = stored["own_perm"] if seed is None else _shuffled(len(X), seed)
        if "Xte" in stored:
            train = order[:n]
            test = _shuffled(len(stored["yte"]), 0)[:n_test]  # the file is ordered
            return _scaled(X[train], y[train], stored["Xte"][test], stored["yte"][test])
    n = min(n, len(X) - n_test)
    train, test = order[:n], order[n : n + n_test]
    return _scaled(X[train], y[train], X[test], y[test])


def _shuffled(n: int, seed: int) -> Any:
    return np.random.default_rng(seed).permutation(n)


def _scaled(X: Any, y: Any, X_test: Any, y_test: Any) -> Rows:
    scaler = MinMaxScaler().fit(X)
    return scaler.transform(X), y, scaler.transform(X_test.astype(np.float64)), y_test
