"""Rows added to FaLK-SVM: what `partial_fit` takes, as a share of the fit that came before.

A hundred rows come to a hundred thousand, from one place (near one row) or from everywhere, or one
row alone. All rows are covered again each time; `trained` is the share of the models that are
trained again. CPU time on one thread, the least of a few rounds. Data: two spirals, and cover type
where `KMVIZ_DATA` has it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
import pandas as pd
from kmviz.papers.falk_data import large_rows

from kmviz import FaLKClassifier

ADDED, ROUNDS = 100, 5


def tables(quick: bool = True) -> dict[str, pd.DataFrame]:
    """Return a row for each data set and place that rows come from."""
    rows = []
    for name in ("2-spirals", "cov-type"):
        found = large_rows(name, 100_000, 1_000)
        if found is None:
            print(f"{name} is left out: KMVIZ_DATA names no folder that has it.")
            continue
        X, y, X_test, y_test = found
        rows += measure(name, X, y, X_test, y_test)
    return {"added": pd.DataFrame(rows)}


def measure(name: str, X: Any, y: Any, X_test: Any, y_test: Any) -> list[dict[str, Any]]:
    """Fit all rows, then add some in three ways, each to the same model."""
    clf = FaLKClassifier(C=10.0, random_state=0, n_jobs=1).fit(X, y)
    fit = least(lambda: copy(clf).fit(X, y), 2)
    near = np.argsort(np.linalg.norm(X - X_test[0], axis=1))[:ADDED]
    jitter = 1e-3 * X.std() * np.random.default_rng(0).normal(size=(ADDED, X.shape[1]))
    ways = {
        "one place": (X[near] + jitter, y[near]),
        "everywhere": (X_test[:ADDED], y_test[:ADDED]),
        "one row": (X_test[:1], y_test[:1]),
    }
    rows = []
    for way, added in ways.items():
        seconds = least(lambda added=added: copy(clf).partial_fit(*added), ROUNDS)
        after = copy(clf).partial_fit(*added)
        members = [after.neighborhood(model) for model in range(len(after.models_))]
        trained = np.any(np.array(members) >= len(X), axis=1)
        rows.append({
            "data": name, "rows": len(X), "added": len(added[1]), "from": way,
            "models": len(clf.models_), "trained": float(np.mean(trained)),
            "fit_cpu_seconds": fit, "share": seconds / fit,
        })  # fmt: skip
    return rows


def least(work: Callable[[], Any], rounds: int) -> float:
    """Return the least CPU seconds that a piece of work took."""
    seconds = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)
