"""What a user would pick instead: accuracy and time beside SVC and its float32 BLAS form."""

from __future__ import annotations

import pandas as pd
from sklearn.svm import SVC

from kmviz import datasets
from kmviz.evaluation.catalogue import title_of
from kmviz.evaluation.compare import compare
from kmviz.evaluation.peers import installed

METHODS = ("nsv_approximate", "anytime", "reduced", "svtree_path", "falk")
COLUMNS = ("accuracy", "disagreements", "queries", "batch_ratio", "single_ratio", "batch_vs_blas",
           "single_vs_blas", "steps_mean", "fit_seconds", "size_bytes", "error")  # fmt: skip


def problems(quick: bool) -> dict[str, tuple[datasets.Dataset, SVC]]:
    """Return the data sets with the machine that is trained on each."""
    digits = datasets.load("mnist", pair=(3, 8), n=2_000 if quick else 4_000).scaled()
    board = datasets.load("checkerboard", n=4_000 if quick else 20_000)
    return {
        "mnist_3v8": (digits, SVC(C=10, gamma="scale")),
        "banana": (datasets.load("banana"), SVC(C=10, gamma=0.5)),
        "checkerboard": (board, SVC(C=10, gamma=5.0)),
    }


def tables(quick: bool = True) -> dict[str, pd.DataFrame]:
    """Return a table a data set: every peer that is installed, and a setting of each method."""
    found = {}
    for name, (data, svc) in problems(quick).items():
        queries = slice(0, 1_000 if quick else None)
        table = compare(
            svc, data.X_train, data.y_train, data.X_test[queries], data.y_test[queries],
            [*installed(), *METHODS], repeats=1 if quick else 5,
        )  # fmt: skip
        table = table[list(COLUMNS)].rename(index=title_of)
        found[f"peers_{name}"] = table
    return found
