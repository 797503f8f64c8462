"""Experiment 1 of Segata and Blanzieri (2010): local and global SVMs on small sets, and its tests.

Of the paper's 25 sets nine are at hand: sonar, heart, haberman, liver, breast, australian,
diabetes, tic-tac-toe and splice. Five others that are (breast_cancer, thyroid, german, image,
banana) stand beside them without a published figure. The paper's `numer` is another encoding of
german. All features are scaled to [0, 1] by the training rows of each fold.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from kmviz.papers.published import rows_of_sets
from numpy.typing import NDArray
from scipy.stats import friedmanchisquare, rankdata, studentized_range, wilcoxon
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from kmviz import datasets
from kmviz.kernels import Polynomial
from kmviz.machines.named import string_kernel
from kmviz.methods.falk import FaLKClassifier, KNNSVMClassifier
from kmviz.methods.progress import listening

Progress = Callable[[float, str], None] | None

#: Table 3, accuracy in percent: LibSVM, FkNNSVM, FaLK-SVM, each linear, RBF, polynomial.
TABLE_3 = rows_of_sets("falk_table_3")
#: Sets at hand that the paper has not.
BESIDE = ("breast_cancer", "thyroid", "german", "image", "banana")
METHODS = ("LibSVM", "FkNNSVM", "FaLK-SVM")
KERNELS: dict[str, Any] = {"linear": "linear", "rbf": "rbf", "poly": Polynomial(2, 1.0, 0.0)}
COLUMNS = [(method, kernel) for method in METHODS for kernel in KERNELS]
#: Rows of a set, at most, quick and full: the paper sub-samples splice to 1,000.
ROWS, FULL_ROWS = 300, 400
ALPHA = 0.05
#: What the paper says of its 25 sets, at ALPHA, by the Wilcoxon test: first against second, kernel.
BETTER = {
    ("FkNNSVM", "LibSVM", "linear"), ("FkNNSVM", "LibSVM", "poly"),
    ("FaLK-SVM", "LibSVM", "linear"),
}  # fmt: skip


def small(full: bool = False, progress: Progress = None) -> pd.DataFrame:
    """Experiment 1, table 3: accuracy of local and global SVMs on small sets.

    `full` takes up to 400 rows of a set and 10 outer folds, where the paper has all rows and 10;
    quick: 300 rows and 5. Three inner folds choose among few values of C, width and k (the paper:
    10 folds, many values). The polynomial is homogeneous and quadratic; the paper chooses its
    degree. Sets without a published figure are not among the paper's.
    """
    table = accuracies(full, progress)
    rows = [
        (name, *column, TABLE_3[name][j] if name in TABLE_3 else np.nan, ours)
        for name, found in table.iterrows()
        for j, (column, ours) in enumerate(zip(COLUMNS, found, strict=True))
    ]
    return pd.DataFrame(rows, columns=["data", "method", "kernel", "paper", "ours"])


def ranks(full: bool = False, progress: Progress = None) -> pd.DataFrame:
    """Experiment 1, its tests: mean ranks, Friedman, Nemenyi and Wilcoxon, as the paper has them.

    `paper` is what these tests make of the published accuracies on the nine sets at hand, `ours` of
    ours on the same sets, `ours_on_all` of ours on all fourteen. Ranks: 1 is the most accurate of
    nine. Wilcoxon: the two-sided p of a pair of methods; `note` says which of ours is ahead on all
    sets, `paper_on_25` what the paper found on its 25 at .05. Nemenyi: ranks further apart than
    the critical difference differ; `note` names those of ours on all sets that a rank differs from.
    """
    table = accuracies(full, progress)
    own = table.loc[[name for name in table.index if name in TABLE_3]]
    published = pd.DataFrame({n: TABLE_3[n] for n in own.index}, index=table.columns).T
    frames = [tests(frame) for frame in (published, own, table)]
    result = frames[0][["measure", "method", "kernel"]].copy()
    for column, frame in zip(("paper", "ours", "ours_on_all"), frames, strict=True):
        result[column] = frame["value"]
    said = [_said(*names) for names in result[["method", "kernel"]].itertuples(index=False)]
    return result.assign(note=frames[2]["note"], paper_on_25=said)


def _said(method: str, kernel: str) -> str:
    """Return what the paper says of a pair of methods on its 25 sets; nothing of most."""
    first, _, second = method.partition(" against ")
    if second != "LibSVM":
        return ""
    return f"{first} better" if (first, second, kernel) in BETTER else "no significant difference"


def tests(table: pd.DataFrame) -> pd.DataFrame:
    """Return mean ranks and tests of accuracies, a row for each set and nine columns.

    Columns `measure, method, kernel, value, note`.
    """
    n, k = table.shape
    mean = rankdata(-table.round(6).to_numpy(), axis=1).mean(axis=0)
    # Nemenyi: CD = q_alpha sqrt(k (k + 1) / (6 n)), q of the studentised range over sqrt(2)
    q = studentized_range.ppf(1 - ALPHA, k, np.inf) / np.sqrt(2)
    critical = q * np.sqrt(k * (k + 1) / (6 * n))
    rows: list[tuple[Any, ...]] = []
    for column, rank in zip(COLUMNS, mean, strict=True):
        apart = [" ".join(COLUMNS[j]) for j in np.flatnonzero(np.abs(mean - rank) > critical)]
        rows.append(
            ("mean rank", *column, rank, f"differs from {', '.join(apart)}" if apart else "")
        )
    p = friedmanchisquare(*table.to_numpy().T).pvalue
    rows += [
        ("Friedman p", "all nine", "", p, ""),
        ("critical difference", "all nine", "", critical, ""),
    ]
    for second, first in combinations(METHODS, 2):
        for kernel in KERNELS:
            gaps = table[(first, kernel)] - table[(second, kernel)]
            value = wilcoxon(gaps).pvalue if gaps.any() else 1.0
            ahead = "neither" if gaps.mean() == 0 else first if gaps.mean() > 0 else second
            rows.append(
                ("Wilcoxon p", f"{first} against {second}", kernel, value, f"{ahead} ahead")
            )
    return pd.DataFrame(rows, columns=["measure", "method", "kernel", "value", "note"])


def accuracies(full: bool, progress: Progress) -> pd.DataFrame:
    """Return accuracy in percent by nested cross-validation: sets by method and kernel."""
    names = [*TABLE_3, *BESIDE]
    found = []
    for i, name in enumerate(names):
        found.append(scores(name, full))
        if progress:
            progress((i + 1) / len(names), name)
    return pd.DataFrame(found, index=names, columns=pd.Index(COLUMNS, tupleize_cols=False))


@lru_cache(maxsize=64)
def scores(name: str, full: bool) -> tuple[float, ...]:
    """Return the accuracy of every method and kernel on one set."""
    X, y = whole(name, FULL_ROWS if full else ROWS)
    outer = StratifiedKFold(10 if full else 5, shuffle=True, random_state=0)
    with listening(lambda share, text: None):  # the fits' own progress is not the table's
        searches = [searched(method, KERNELS[kernel], len(X)) for method, kernel in COLUMNS]
        return tuple(100 * cross_val_score(one, X, y, cv=outer).mean() for one in searches)


def whole(name: str, most: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return a set, or so many of its rows at random."""
    data = datasets.load(name, whole=True)
    X, y = data.X_train.astype(np.float64), data.y_train
    rows = np.random.default_rng(0).permutation(len(X))[:most]
    return (X[rows], y[rows]) if len(X) > most else (X, y)


def searched(method: str, kernel: Any, n: int) -> GridSearchCV:
    """Return a scaled classifier with its nested grid (section 5.1.1, thinned)."""
    widths = [2.0**e for e in (-1, 2, 5)]  # the paper's sigma is 1 / gamma: 2^-5 to 2^3
    sizes = [64, n]
    grid: dict[str, list[Any]] = {"C": [1.0, 16.0]}
    if kernel == "rbf":
        grid["gamma"] = widths
    if method == "LibSVM":
        options = string_kernel(kernel) if callable(kernel) else {"kernel": kernel}
        model: Any = SVC(**options, max_iter=1_000_000)
    elif method == "FkNNSVM":
        model, grid["n_neighbors"] = KNNSVMClassifier(kernel=kernel), sizes
    else:
        model, grid["n_neighbors"] = FaLKClassifier(kernel=kernel, random_state=0), sizes
    step = type(model).__name__.lower()
    grid = {f"{step}__{name}": values for name, values in grid.items()}
    # shuffled: rows that stand side by side in these files (sonar's above all) are alike
    inner = StratifiedKFold(3, shuffle=True, random_state=0)
    return GridSearchCV(make_pipeline(MinMaxScaler(), model), grid, cv=inner)
