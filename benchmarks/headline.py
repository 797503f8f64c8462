"""ijcnn1 and cover type: FaLK-SVM beside gradient boosting and an SVC on a part of the rows.

What each takes is chosen on training rows alone, a fifth of which judges (FaLK-SVM chooses by
itself, `tune=True`); `choose_s` and `train_s` are CPU seconds on one thread, `test_us` is a query
among 10,000. Neither set comes with the package: `KMVIZ_DATA` names the folder that has them.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import pandas as pd
from kmviz.papers.falk_data import large_rows
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import ParameterGrid, train_test_split

from kmviz import FaLKClassifier, SubsampledSVC
from kmviz.evaluation.cost import cpu_seconds, one_thread

SETS = ("ijcnn1", "cov-type")
QUERIES = 10_000

#: Each way, and the settings that are tried.
WAYS: dict[str, tuple[Any, dict[str, list[float]]]] = {
    "FaLK-SVM": (FaLKClassifier(250, tune=True, random_state=0), {}),
    "SVC on 4,000 of the rows": (
        SubsampledSVC(4_000, random_state=0),
        {"C": [4.0, 16.0, 64.0], "gamma": [4.0, 16.0, 64.0]},
    ),
    "HistGradientBoosting": (
        HistGradientBoostingClassifier(random_state=0),
        {"learning_rate": [0.1, 0.3], "max_leaf_nodes": [31, 127], "max_iter": [100, 500]},
    ),
}


def tables(quick: bool = True) -> dict[str, Any]:
    """Return a table for each set that is at hand."""
    n = 5_000 if quick else 40_000
    return {f"headline_{name}": partial(headline, name, n) for name in SETS}


def headline(name: str, n: int) -> pd.DataFrame | None:
    """Return a row for each way, trained on n rows; None where the data is missing."""
    rows = large_rows(name, n, QUERIES)
    if rows is None:
        print(f"{name} is left out: KMVIZ_DATA names no folder that has it.")
        return None
    X, y, X_test, y_test = rows
    found = []
    for way, (model, grid) in WAYS.items():
        with one_thread():
            start = time.process_time()
            setting = chosen(model, grid, X, y)
            between = time.process_time()
            fitted = clone(model).set_params(**setting).fit(X, y)
            train = time.process_time() - between
            test = cpu_seconds(partial(fitted.predict, X_test), repeats=2) / len(X_test)
        found.append({
            "data": name, "rows": len(X), "way": way, "accuracy": fitted.score(X_test, y_test),
            "choose_s": between - start, "train_s": train, "test_us": 1e6 * test,
            "setting": ", ".join(f"{key} = {value:g}" for key, value in setting.items()),
        })  # fmt: skip
    return pd.DataFrame(found)


def chosen(model: Any, grid: dict[str, list[float]], X: Any, y: Any) -> dict[str, Any]:
    """Return the setting that is right most often on a fifth of the rows."""
    settings = list(ParameterGrid(grid)) if grid else [{}]
    if len(settings) == 1:
        return settings[0]
    some = train_test_split(X, y, test_size=0.2, random_state=0, stratify=y)

    def right(setting: dict[str, Any]) -> float:
        return clone(model).set_params(**setting).fit(some[0], some[2]).score(some[1], some[3])

    return max(settings, key=right)
