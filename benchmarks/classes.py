"""Ten classes: predictions per second against SVC, and how many differ.

Digits of 8 x 8 pixels (the first 699 train, the next 499 calibrate, the other 599 are asked) and
MNIST (the first 10,000 digits train, normalised (u.v + 1)^9, C = 10; the next 4,000 calibrate; the
first 1,000 test digits are asked). SVC is timed with its own `poly` kernel on embedded rows.
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

#: Full and quick runs differ in repeats alone, and store the same tables.
ONE_SIZE = True

Made = tuple[SVC, dict[str, Any], Any]


def digits() -> Made:
    """A machine, rows that NSV is fitted with, and queries."""
    X, y = load_digits(return_X_y=True)
    X = X / 16.0
    svc = SVC(gamma=0.25, C=10.0).fit(X[:699], y[:699])
    return svc, {"X": X[:699], "X_calibration": X[699:1_198]}, X[1_198:]


def mnist() -> Made:
    """The same of MNIST."""
    data = datasets.load("mnist").scaled()
    kernel, n, m = Normalized(Polynomial(9)), 10_000, 4_000
    X = kernel.embed(data.X_train[: n + m].astype(np.float32))
    svc = trained(X[:n], data.y_train[:n], kernel.plain)
    queries = kernel.embed(data.X_test[:1_000].astype(np.float32))
    return svc, {"X": X[:n], "X_calibration": X[n:]}, queries


def trained(X: Any, y: Any, kernel: Polynomial) -> SVC:
    """Return `SVC(kernel="poly")` of these rows: kernel values come from one matrix product.

    libsvm would compute each by itself, which takes several times as long.
    """
    svc = SVC(kernel="precomputed", C=10.0).fit(kernel(X, X), y)
    svc.set_params(kernel="poly", degree=kernel.degree, gamma=kernel.gamma, coef0=kernel.coef0)
    svc.support_vectors_ = X[svc.support_].astype(np.float64)
    svc.shape_fit_, svc.n_features_in_, svc._gamma = X.shape, X.shape[1], kernel.gamma
    return svc


def speed(made: Made, repeats: int) -> pd.DataFrame:
    """Time every way of predicting the queries, in one run."""
    svc, rows, queries = made
    frozen = FrozenEstimator(svc)
    queries = np.ascontiguousarray(queries, dtype=np.float32)
    nsv = NSVClassifier(frozen, start="reduced", linear_filter=False, random_state=0).fit(**rows)
    fitted: dict[str, Any] = {
        "exact, float32": ExactClassifier(frozen).fit(rows["X"]),
        "NSV, from reduced vectors that all pairs share": nsv,
    }
    ways = {"SVC": svc.predict} | {name: clf.predict for name, clf in fitted.items()}
    table = timing_table(ways, queries, repeats=repeats)
    answers = svc.predict(queries)
    for name, clf in fitted.items():
        table.loc[name, "disagreements"] = np.sum(clf.predict(queries) != answers)
        table.loc[name, "steps_mean"] = clf.steps(queries).mean()
    return table.assign(m=len(svc.support_), queries=len(queries))


def tables(quick: bool = True) -> dict[str, pd.DataFrame]:
    """Return the tables of ten classes."""
    repeats = 3 if quick else 7
    return {
        "classes_digits": speed(digits(), repeats),
        "classes_mnist": speed(mnist(), repeats),
    }
