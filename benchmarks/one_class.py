"""Bounds over a kd-tree of the vectors: where they pay, and where they do not.

One-class machines have weights of one sign, two-class machines of both: what cancels cannot be
bounded. `by_tree` says which way `fit` chose: where it is not the tree, the sum answers. Columns
are brought to 0 .. 1; gamma is libsvm's own default there, or narrower. Ratios are times faster
than the exact float32 machine (and than scikit-learn's own `predict`), in CPU time on one thread,
in one run.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.frozen import FrozenEstimator
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC, OneClassSVM

from kmviz import ExactClassifier, KernelTreeClassifier, datasets
from kmviz.evaluation.cost import batch_seconds, one_thread, single_seconds
from kmviz.evaluation.papers.falk_data import large_rows

#: Data sets of the package, and those of KMVIZ_DATA where it is set.
EMBEDDED = {"checkerboard": {"n": 4_000}, "thyroid": {}, "banana": {}, "waveform": {"n": 4_000}}
LARGE = ("ijcnn1", "cov-type", "cod-rna")
ROWS, QUERIES = 4_000, 2_000


def tables(quick: bool) -> dict[str, Any]:
    """Return the one table."""
    return {"one_class": lambda: one_class(1 if quick else 5)}


def one_class(repeats: int) -> pd.DataFrame:
    """Return a row for each data set and kind of machine."""
    found = []
    for name, X, y, queries in sets():
        unit = MinMaxScaler().fit(X)
        X, queries = unit.transform(X), unit.transform(queries)
        for width, gamma in (("1 / d", "auto"), ("10 / (d var)", 10.0 / (X.shape[1] * X.var()))):
            for model in (OneClassSVM(nu=0.3, gamma=gamma), SVC(gamma=gamma)):
                found.append(measured(name, width, model.fit(X, y), queries, repeats))
    return pd.DataFrame(found)


def sets() -> Any:
    """Give the name, training rows, classes and queries of each set."""
    for name, options in EMBEDDED.items():
        data = datasets.load(name, **options).scaled()
        yield name, data.X_train, data.y_train, data.X_test[:QUERIES]
    for name in LARGE:
        rows = large_rows(name, ROWS, QUERIES)
        if rows is not None:
            X, y, queries, _ = rows
            yield name, X, y, queries


def measured(
    name: str, width: str, model: Any, queries: Any, repeats: int
) -> dict[str, Any]:  # fmt: skip
    """Answer the same queries in three ways."""
    with one_thread():
        exact = ExactClassifier(FrozenEstimator(model)).fit(queries)
        tree = KernelTreeClassifier(FrozenEstimator(model)).fit(queries)
        times = [
            (batch_seconds(way.predict, queries, repeats), single_seconds(way.predict, queries))
            for way in (model, exact, tree)
        ]
        differ = int(np.sum(tree.predict(queries) != model.predict(queries)))
    own, blas, bounds = times
    return {
        "data": name, "machine": type(model).__name__, "gamma": width, "vectors": exact.n_vectors_,
        "by_tree": tree.uses_tree_, "kernel_values": float(tree.steps(queries).mean()),
        "differ": differ,
        "batch_vs_blas": blas[0] / bounds[0], "single_vs_blas": blas[1] / bounds[1],
        "batch_vs_own": own[0] / bounds[0], "single_vs_own": own[1] / bounds[1],
    }  # fmt: skip


if __name__ == "__main__":
    print(one_class(1))
