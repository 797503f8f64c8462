"""A reduced set fine-tuned towards answers, at the kernel values of a support vector tree.

The eleven IDA sets, splits and SVMs are those of `svtree`. Each SVM is reduced to as many vectors
as the published tree asks its training rows on average, rounded: as it is, and with
`tune="margin"`, which sees the training rows without their labels. In the `paper` column stands
the tree paper's cpsp, a sparse SVM of its own tree's size.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from kmviz.papers.svtree_choices import Choice, chosen
from kmviz.papers.svtree_data import COLUMNS, PUBLISHED, Split, n_splits, splits
from sklearn.frozen import FrozenEstimator
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kmviz.methods.progress import part, report
from kmviz.methods.reduced import ReducedSetClassifier
from kmviz.methods.svtree import SVTreeClassifier


def tuned(full: bool = False, progress: Any = None) -> pd.DataFrame:
    """Accuracy with and without `tune="margin"`, for each data set; quick: on five splits of 20."""
    rows = []
    for done, (name, published) in enumerate(PUBLISHED.items()):
        if progress is not None:
            progress(done / len(PUBLISHED), name)
        with part(done / len(PUBLISHED), (done + 1) / len(PUBLISHED), name):
            figures = [_one(*both) for both in zip(splits(name, n_splits(full)), chosen(name))]
        cpsp = published[COLUMNS.index("cpsp")]
        rows.append({"data": name, "paper": cpsp, **pd.DataFrame(figures).mean()})
    return pd.DataFrame(rows).assign(splits=n_splits(full))


def _one(split: Split, choice: Choice) -> dict[str, float]:
    """Return the figures of one split."""
    X, y, X_test, y_test = split
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    svc = SVC(C=choice.C, gamma=choice.gamma / X.shape[1]).fit(X, y)
    frozen = FrozenEstimator(svc)
    n = round(float(SVTreeClassifier(frozen, random_state=0).fit(X).steps(X).mean()))
    report(0.5, f"{n} vectors")
    made = {
        way: ReducedSetClassifier(frozen, n_vectors=n, tune=way, random_state=0).fit(X)
        for way in (None, "margin")
    }
    same = svc.predict(X_test)
    return {
        "vectors": float(n),
        "plain": made[None].score(X_test, y_test),
        "ours": made["margin"].score(X_test, y_test),
        "tuned_share": float(made["margin"].tuned_),
        "plain_differ": float(np.mean(made[None].predict(X_test) != same)),
        "ours_differ": float(np.mean(made["margin"].predict(X_test) != same)),
        "svm": svc.score(X_test, y_test),
    }
