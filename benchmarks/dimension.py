"""Where locality stops paying: FaLK-SVM in rising dimension, exact and projected neighbours.

A checkerboard among noise, MNIST 3 against 8 (its first principal components, then all pixels) and
twonorm in d dimensions, beside one SVC with the same kernel and C on the same rows. `search_us` is
one nearest-neighbour query in the kd-tree; times are CPU time on one thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.decomposition import PCA
from sklearn.svm import SVC

from kmviz import FaLKClassifier, datasets

#: Neighbours are searched among this many principal components in the projected column.
PROJECTION = 8
Problem = tuple[str, Any, Any, Any, Any]


def tables(quick: bool = True) -> dict[str, pd.DataFrame]:
    """Return one row a data set and dimension."""
    rows = [measure(problem) for problem in problems(quick)]
    return {"dimension": pd.DataFrame(rows)}


def problems(quick: bool) -> Iterator[Problem]:
    """Yield data in rising dimension: a checkerboard among noise, digits, twonorm."""
    n = 3_000 if quick else 6_000
    for d in (2, 5, 10, 20, 40):
        yield board(n, d)
    digits = datasets.load("mnist", pair=(3, 8), n=n).scaled()
    for d in (5, 10, 20, 40, 80, 784):
        axes = PCA(min(d, 100), random_state=0).fit(digits.X_train)
        turn: Callable[[Any], Any] = axes.transform if d < 100 else np.asarray
        yield "mnist 3v8", turn(digits.X_train), digits.y_train, turn(digits.X_test), digits.y_test
    for d in (2, 5, 10, 20, 40):
        yield twonorm(n, d)


def board(n: int, d: int) -> Problem:
    """A checkerboard in the first two of d coordinates, small noise in the others."""
    data, rng = datasets.load("checkerboard", n=n), np.random.default_rng(0)

    def widen(X: Any) -> Any:
        return np.hstack([X, 0.1 * rng.standard_normal((len(X), d - 2))])

    return "checkerboard", widen(data.X_train), data.y_train, widen(data.X_test), data.y_test


def twonorm(n: int, d: int) -> Problem:
    """Two Gaussians in d dimensions, as far apart in all of them as twonorm's are in 20."""
    rng = np.random.default_rng(0)
    y = rng.choice([-1, 1], size=n + 2_000)
    X = rng.standard_normal((len(y), d)) + y[:, None] * 2 / np.sqrt(d)
    return "twonorm", X[:n], y[:n], X[n:], y[n:]


def measure(problem: Problem) -> dict[str, Any]:
    """Train SVC and FaLK-SVM, with exact and projected neighbours."""
    name, X, y, X_test, y_test = problem
    row: dict[str, Any] = {"data": name, "dimension": X.shape[1], "points": len(X)}
    same: dict[str, Any] = {"C": 10, "gamma": 5.0 if name == "checkerboard" else "scale"}
    models = {
        "svc": SVC(**same),
        "falk": FaLKClassifier(250, random_state=0, **same),
        "projected": FaLKClassifier(250, random_state=0, projection=PROJECTION, **same),
    }
    for title, model in models.items():
        start = time.process_time()
        model.fit(X, y)
        fitted = time.process_time()
        row[f"{title}_accuracy"] = model.score(X_test, y_test)
        row[f"{title}_fit"], row[f"{title}_test"] = fitted - start, time.process_time() - fitted
    for title in ("falk", "projected"):
        row[f"{title}_models"] = len(models[title].models_)
        row[f"{title}_search_us"] = _search_us(models[title], X_test[:500])
    return row


def _search_us(model: FaLKClassifier, X: Any) -> float:
    rows = X if model.axes_ is None else X @ model.axes_
    start = time.process_time()
    model.index_.query(rows, 1)
    return (time.process_time() - start) / len(X) * 1e6
