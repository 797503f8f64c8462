"""Support vector trees: time of a query against SVC and float32 BLAS, and time to grow."""

from __future__ import annotations

import time

import pandas as pd
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC

from kmviz import ExactClassifier, SVTreeClassifier, datasets
from kmviz.evaluation.cost import one_thread, timing_table

IMPROVED = {"split": "exact", "refit": "path", "stem": 0.5, "max_height": 10}


def tables(quick: bool) -> dict[str, pd.DataFrame]:
    """Return the tables of this benchmark."""
    return {"svtree_speed": speed(quick), "svtree_growth": growth(quick)}


def speed(quick: bool) -> pd.DataFrame:
    """Time a query in a batch and alone: SVC, all vectors in float32, and the trees.

    Each through `decision_function`, which checks what it is given.
    """
    parts = []
    for name, (X, y, X_test, y_test, svc) in problems(quick).items():
        with one_thread():
            svc.fit(X, y)
            frozen = FrozenEstimator(svc)
            exact = ExactClassifier(frozen).fit(X)
            trees = {
                "as published": SVTreeClassifier(frozen, random_state=0).fit(X),
                "improved": SVTreeClassifier(frozen, **IMPROVED).fit(X),
            }
        ways = {"SVC": svc.decision_function, "float32, all vectors": exact.decision_function}
        for kind, tree in trees.items():
            ways[f"tree, {kind}"] = tree.decision_function
        table = timing_table(ways, X_test, repeats=3 if quick else 7)
        for kind in ("batch", "single"):
            of_blas = table.loc["float32, all vectors", f"{kind}_us"]
            table[f"{kind}_vs_blas"] = of_blas / table[f"{kind}_us"]
        table["kernel_values"] = float(exact.machine_.n_vectors)
        table["accuracy"] = svc.score(X_test, y_test)
        for kind, tree in trees.items():
            table.loc[f"tree, {kind}", "kernel_values"] = float(tree.steps(X_test).mean())
            table.loc[f"tree, {kind}", "accuracy"] = tree.score(X_test, y_test)
        parts.append(table.reset_index().assign(data=name, vectors=exact.machine_.n_vectors))
    found = pd.concat(parts, ignore_index=True)
    return found[["data", "vectors", *[c for c in found if c not in ("data", "vectors")]]]


def problems(quick: bool) -> dict[str, tuple]:
    """Return data and an untrained SVC for each problem."""
    banana = datasets.load("banana", n=2600)
    digits = datasets.load("mnist", pair=(3, 8)).scaled()
    n = 4000 if quick else len(digits.X_train)
    return {
        "banana": (banana.X_train, banana.y_train, banana.X_test, banana.y_test,
                   SVC(C=1.0, gamma=1.0)),
        "mnist 3v8": (digits.X_train[:n], digits.y_train[:n], digits.X_test, digits.y_test,
                      SVC(C=10.0, gamma=0.02)),
    }  # fmt: skip


def growth(quick: bool) -> pd.DataFrame:
    """Return the CPU seconds to grow a tree on n rows of banana, and how they grow with n m."""
    rows = []
    for n in (250, 500, 1000, 2000) if quick else (250, 500, 1000, 2000, 4000):
        data = datasets.load("banana", n=n)
        svc = SVC(C=1.0, gamma=1.0).fit(data.X_train, data.y_train)
        for name, options in (
            ("alternating", {"random_state": 0}),
            ("exact", {"split": "exact"}),
            ("exact, path, stem", IMPROVED),
        ):
            clf = SVTreeClassifier(FrozenEstimator(svc), **options)
            with one_thread():
                start = time.process_time()
                clf.fit(data.X_train)
                seconds = time.process_time() - start
            m, tree = clf.machine_.n_vectors, clf.tree_
            rows.append({
                "tree": name, "n": n, "m": m, "nodes": tree.n_nodes, "height": tree.height,
                "seconds": seconds, "ns_per_value": 1e9 * seconds / (n * m),
            })  # fmt: skip
    return pd.DataFrame(rows).sort_values(["tree", "n"], ignore_index=True)
