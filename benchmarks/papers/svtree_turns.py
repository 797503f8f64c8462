"""Ukkonen (2010), section 4.2: how often Algorithm 3 goes round, and how even its splits are.

The paper bounds the growth of a tree by T(n) <= 2 T(n/b) + c h(n, m) (m + 1) n. Neither h, the
turns of the loop of Algorithm 3, nor b, how even a split is, is known beforehand: it assumes that
h grows as n^y with 0 < y <= 1, and finds that b decides from 2^(1/3) on, where some 80 percent of
the rows go the same way. Both are counted here, over all splits of published trees on the IDA sets
of `svtree`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from kmviz.papers.svtree_choices import Choice, chosen
from kmviz.papers.svtree_data import PUBLISHED, Split, splits
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kmviz.machines import KernelMachine
from kmviz.methods.svtree.growth import ColumnFit, Growth
from kmviz.methods.svtree.split import alternating_split

#: Splits of each data set; rows from which a node's split counts as even or not; the paper's share.
TREES, ROWS, UNEVEN = 5, 20, 0.8


def splitting(full: bool = False, progress: Any = None) -> pd.DataFrame:
    """Turns of Algorithm 3 and balance of its splits, for each data set."""
    rows = []
    for done, name in enumerate(PUBLISHED):
        if progress is not None:
            progress(done / len(PUBLISHED), name)
        trees = [_counted(*both) for both in zip(splits(name, TREES), chosen(name))]
        rows += _figures(name, pd.concat(trees, ignore_index=True))
    return pd.DataFrame(rows).assign(trees=TREES)


def _counted(split: Split, choice: Choice) -> pd.DataFrame:
    """Grow one tree; return rows, turns and larger side of each split."""
    X = StandardScaler().fit_transform(split[0])
    svc = SVC(C=choice.C, gamma=choice.gamma / X.shape[1]).fit(X, split[1])
    machine, random = KernelMachine.from_estimator(svc), np.random.RandomState(0)
    values = np.asarray(machine.kernel(X, machine.vectors))
    exact = values @ machine.beta - machine.bias
    counted = []

    def search(columns: Any, residual: Any, score: Any, gain: Any, smallest: int) -> Any:
        found = alternating_split(columns, residual, score, gain, random, smallest)
        if found is not None:
            left = float(np.mean(score <= found.threshold))
            counted.append((len(score), found.turns, max(left, 1.0 - left)))
        return found

    fit = ColumnFit(values, machine.beta, exact, machine.bias, True)
    Growth(search, min_rows=5, max_height=None).grow(fit, values, exact)
    return pd.DataFrame(counted, columns=["n", "turns", "larger"])


def _figures(name: str, found: pd.DataFrame) -> list[dict[str, Any]]:
    by_rows = found.groupby("n")["turns"].mean()
    weight = np.sqrt(found["n"].value_counts().loc[by_rows.index].to_numpy())
    slope = np.polyfit(np.log(by_rows.index.to_numpy(float)), np.log(by_rows), 1, w=weight)[0]
    large = found[found["n"] >= ROWS]["larger"]
    figures = {
        "splits": (np.nan, len(found)),
        "h(n, m): turns, mean": (np.nan, found["turns"].mean()),
        "h(n, m): turns, most": (np.nan, found["turns"].max()),
        "h grows as n to the power of": (1.0, slope),
        f"rows on the larger side, mean of splits of {ROWS} rows and more": (UNEVEN, large.mean()),
        f"of these, splits less even than {UNEVEN:.0%}": (np.nan, (large > UNEVEN).mean()),
    }
    return [
        {"data": name, "measure": measure, "paper": paper, "ours": float(ours)}
        for measure, (paper, ours) in figures.items()
    ]
