"""Ten classes: predictions per second against SVC, and how many differ.

Digits of 8 x 8 pixels (the first 1,198 train, cross-fitted; the other 599 are asked) and MNIST (the
first 10,000 digits train, normalised (u.v + 1)^9, C = 10; the next 4,000 calibrate; the first test
digits are asked). SVC is timed with its own `poly` kernel on embedded rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC

from kmviz import ExactClassifier, NSVClassifier, datasets
from kmviz.evaluation.cost import timing_table
from kmviz.kernels import Normalized, Polynomial

STARTS = {"NSV, from the approximation": "approximate", "NSV, from reduced vectors": "reduced"}


def digits(quick: bool) -> tuple[SVC, Any, dict[str, Any], Any]:
    """A machine, what it was trained on, how NSV is fitted to it, and queries."""
    X, y = load_digits(return_X_y=True)
    X = X / 16.0
    n = 600 if quick else 1_198
    svc = SVC(gamma=0.25, C=10.0).fit(X[:n], y[:n])
    return svc, svc, {"X": X[:n], "y": y[:n]}, X[1_198:]


def mnist(quick: bool) -> tuple[SVC, Any, dict[str, Any], Any]:
    """The same of MNIST; the machine is taken as it is, and other digits calibrate."""
    data = datasets.load("mnist").scaled()
    kernel, n, m = Normalized(Polynomial(9)), 2_000 if quick else 10_000, 4_000
    X = kernel.embed(data.X_train[: n + m].astype(np.float32))
    svc = SVC(kernel="poly", gamma=1.0, coef0=0.0, degree=9, C=10.0)
    svc.fit(X[:n], data.y_train[:n])
    queries = kernel.embed(data.X_test[:1_000].astype(np.float32))
    return svc, FrozenEstimator(svc), {"X": X[:n], "X_calibration": X[n:]}, queries


def speed(made: tuple[SVC, Any, dict[str, Any], Any], repeats: int) -> pd.DataFrame:
    """Time every way of predicting the queries, in one run."""
    svc, estimator, rows, queries = made
    queries = np.ascontiguousarray(queries, dtype=np.float32)
    exact = ExactClassifier(FrozenEstimator(svc)).fit(rows["X"])
    fitted: dict[str, Any] = {"exact, float32": exact}
    for name, start in STARTS.items():
        fitted[name] = NSVClassifier(estimator, start=start, random_state=0).fit(**rows)
    ways = {"SVC": svc.predict} | {name: clf.predict for name, clf in fitted.items()}
    table = timing_table(ways, queries, repeats=repeats)
    answers = svc.predict(queries)
    for name, clf in fitted.items():
        table.loc[name, "disagreements"] = np.sum(clf.predict(queries) != answers)
        table.loc[name, "steps_of_all_pairs"] = clf.steps(queries).mean()
    return table.assign(m=len(svc.support_), queries=len(queries))


def tables(quick: bool = True) -> dict[str, pd.DataFrame]:
    """Return the tables of ten classes."""
    repeats = 3 if quick else 7
    return {
        "classes_digits": speed(digits(quick), repeats),
        "classes_mnist": speed(mnist(quick), repeats),
    }
