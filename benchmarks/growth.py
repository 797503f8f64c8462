"""How a query's time grows with the number of vectors and with that of columns.

A Parzen machine, the mean of y_i K(x_i, x), keeps all its rows, so that their number can be chosen:
500 to 20,000 rows of a checkerboard among noise, in 20 columns; then 2,000 digits, 3 against 8, in
2 to 128 principal components and in all 784 pixels. Beside `SVC` (the machine as a fitted one)
stand the exact machine in float32, nearest support vectors and, where they are installed,
scikit-learn-intelex and onnxruntime. Ratios are times faster than SVC and than float32, in CPU time
on one thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator

from benchmarks.dimension import board
from kmviz import ExactClassifier, NSVClassifier, datasets
from kmviz.evaluation.cost import timing_table
from kmviz.evaluation.peers import PEERS
from kmviz.evaluation.reference import trained_reference
from kmviz.kernels import RBF
from kmviz.machines import KernelMachine
from kmviz.machines.as_svc import as_svc

VECTORS, COLUMNS = (500, 2_000, 5_000, 20_000), (2, 8, 32, 128, 784)
#: Digits, columns of the checkerboard, queries, and rows that calibrate.
DIGITS, WIDTH, QUERIES, CALIBRATING = 2_000, 20, 300, 600
STARTS = {
    "approximate": "NSV, from the approximation",
    "reduced": "NSV, from reduced vectors",
}


def tables(quick: bool = True) -> dict[str, pd.DataFrame]:
    """Return both tables."""
    repeats = 2 if quick else 5
    boards = [measured(*board(m, WIDTH)[1:4], 5.0, repeats) for m in VECTORS]
    digits = [measured(*components(d), repeats) for d in COLUMNS]
    return {
        "growth_vectors": pd.concat(boards, ignore_index=True),
        "growth_columns": pd.concat(digits, ignore_index=True),
    }


def components(d: int) -> tuple[Any, Any, Any, float]:
    """Digits in d principal components, or all pixels: rows, classes, further rows, and gamma."""
    data = datasets.load("mnist", pair=(3, 8), n=DIGITS).scaled()
    X, more = data.X_train, data.X_test
    if d < X.shape[1]:
        axes = PCA(d, random_state=0).fit(X)
        X, more = axes.transform(X), axes.transform(more)
    return X, np.where(data.y_train == 8, 1, -1), more, 4.0 / (d * X.var())


def measured(X: Any, y: Any, more: Any, gamma: float, repeats: int) -> pd.DataFrame:
    """Answer the same queries in every way."""
    machine = KernelMachine(X, y / len(X), 0.0, RBF(gamma))
    svc = as_svc([machine], np.array([-1, 1]))
    queries, rows = more[:QUERIES], more[QUERIES : QUERIES + CALIBRATING]
    frozen = FrozenEstimator(svc)
    ways = {"exact, float32": ExactClassifier(frozen).fit(rows).predict}
    for start, title in STARTS.items():
        ways[title] = NSVClassifier(frozen, start=start, random_state=0).fit(rows).predict
    for name in ("intelex", "onnx"):
        if PEERS[name].installed:
            peer = PEERS[name].build(trained_reference(svc, svc, X, y))
            ways[PEERS[name].title] = peer.fit(X, y).predict
    table = timing_table({"SVC": svc.predict} | ways, queries, repeats)
    for kind in ("batch", "single"):
        ours = table[f"{kind}_us"]
        table[f"{kind}_vs_float32"] = ours["exact, float32"] / ours
    answers = svc.predict(queries)
    table["differ"] = [0, *(int(np.sum(way(queries) != answers)) for way in ways.values())]
    table.insert(0, "vectors", len(X))
    table.insert(1, "columns", X.shape[1])
    return table.reset_index()
