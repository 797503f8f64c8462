"""One sentence on what to deploy, with its reason; sometimes it is not to bother."""

from __future__ import annotations

import pandas as pd

from kmviz.evaluation.catalogue import title_of
from kmviz.evaluation.peers import PEERS
from kmviz.methods.register import is_certified

#: Accuracy that a plainer model may lose and still count as good as the exact machine.
AS_GOOD = 0.002

#: Accuracy by which another model must lead to be worth a word.
BETTER, MODELS = 0.01, ("boosting", "nystroem", "fourier", "knn")

#: What a method may change and still be advised: the upper end of its 95% interval. What is proved
#: to change nothing needs no rows to show it.
FEW = 0.01

#: Times faster than the exact float32 machine below which a method is not worth it.
WORTH = 1.1


def advice(table: pd.DataFrame) -> str:
    """Return what a comparison says to deploy, and why.

    Parameters
    ----------
    table : DataFrame
        As `compare` returns it.

    Examples
    --------
    >>> import numpy as np
    >>> from kmviz import compare
    >>> from kmviz.evaluation.advice import advice
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = X[:, 0] > X[:, 1]
    >>> rows = (X[:100], y[:100], X[100:], y[100:])
    >>> table = compare(None, *rows, methods=["linear_svc"], time=False)
    >>> advice(table).split(":")[0]
    'Do not bother with a kernel'
    """
    good = table[table["error"] == ""]
    if "exact" not in good.index:
        return "The exact machine could not be trained, so there is nothing to compare with."
    if best_method(good) == "linear_svc":
        return _linear_svm(good)
    return " ".join(filter(None, [_fast_method(good), _peer_is_better(good)]))


def best_method(table: pd.DataFrame) -> str:
    """Return the row to deploy: a linear SVM as good, the fastest of few changes, or `exact`."""
    if _is_linear_enough(table[table["error"] == ""]):
        return "linear_svc"
    proved = table.index.map(is_certified)
    good = table[(table["error"] == "") & (proved | (table["disagreement_high"] <= FEW))]
    methods = good.drop(index=[name for name in good.index if name in PEERS or name == "exact"])
    gain = gains(methods)
    if methods.empty or not gain.max() >= WORTH:
        return "exact"
    return str(gain.idxmax())


def gains(table: pd.DataFrame) -> pd.Series:
    """Return times faster than the exact float32 machine, in kernel values if none was timed."""
    timed = table[["batch_vs_blas", "single_vs_blas"]].astype(float).max(axis=1)
    return timed if timed.notna().any() else table["honest_speedup"].astype(float)


def _is_linear_enough(table: pd.DataFrame) -> bool:
    """Whether a linear SVM was compared and is as accurate as the exact one."""
    if not {"exact", "linear_svc"} <= set(table.index):
        return False
    accuracy = table["accuracy"]
    return bool(accuracy["linear_svc"] >= accuracy["exact"] - AS_GOOD)


def _linear_svm(table: pd.DataFrame) -> str:
    exact, linear = table.loc["exact"], table.loc["linear_svc"]
    products = f"{linear['steps_mean']:.0f} products" if linear["steps_mean"] > 1 else "one product"
    return (
        f"Do not bother with a kernel: a linear SVM is as good here (accuracy "
        f"{linear['accuracy']:.3f} against {exact['accuracy']:.3f}) and takes {products} a "
        f"query instead of {exact['steps_mean']:,.0f} kernel values."
    )


def _fast_method(table: pd.DataFrame) -> str:
    name = best_method(table)
    row, timed = table.loc[name], pd.notna(table.loc["exact", "batch_ratio"])
    if name == "exact":
        faster = f" ({_times(row['batch_ratio'])} faster than SVC)" if timed else ""
        return (
            f"Take the exact machine in float32{faster}: no method that changes under {FEW:.0%} "
            "of the answers is faster."
        )
    alone = timed and row["single_vs_blas"] > row["batch_vs_blas"]
    times = row["single_ratio" if alone else "batch_ratio"] if timed else row["honest_speedup"]
    unit = "fewer kernel values"
    if timed:
        unit = f"faster than SVC{' one query at a time' if alone else ''}"
    differ = f"{row['disagreements']:.0f} of {row['queries']:,.0f} differ"
    if not is_certified(name):
        differ += f", at most {row['disagreement_high']:.1%} with 95% confidence"
    elif not row["disagreements"]:
        differ += ", and it is proved that none does"
    title = title_of(name)
    return (
        f"{title[:1].upper()}{title[1:]}: {_times(times)} {unit}, {differ}. It is "
        f"{gains(table)[name]:.1f}x {'faster' if timed else 'cheaper'} than the exact float32 "
        f"machine, the most among methods that change under {FEW:.0%} of the answers."
    )


def _times(ratio: float) -> str:
    return f"{ratio:.1f}x" if ratio < 10 else f"{ratio:.0f}x"


def _peer_is_better(table: pd.DataFrame) -> str:
    peers = table.loc[table.index.isin(MODELS), "accuracy"]
    exact = table.loc["exact", "accuracy"]
    if not peers.max() > exact + BETTER:
        return ""
    return (
        f"Consider another model: {PEERS[peers.idxmax()].title} is more accurate here "
        f"({peers.max():.3f} against {exact:.3f})."
    )
