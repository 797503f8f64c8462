"""Anytime bounds: time against float32 BLAS and SVC in one run, and what ordering costs."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
from kmviz.papers.anytime import kernel_of, rows_of, trained
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC

from kmviz import AnytimeClassifier, datasets
from kmviz.evaluation.cost import one_thread, timing_table
from kmviz.evaluation.reference import baseline, trained_reference
from kmviz.kernels import RBF
from kmviz.machines import KernelMachine
from kmviz.methods.anytime.basis import OWN, WIDER, candidates, ordered

ORDERS = ("given", "min_wz", "hybrid", "spectral")


def problems(quick: bool) -> dict[str, tuple[SVC, Any, Any]]:
    """Return fitted machine, rows to fit the method on, and queries.

    Digits are float32, as they load, so that nobody's time goes into converting them; 3 against 8
    is there in float64 as well.
    """
    found = {}
    for name in ("sonar", "mnist 3v8", "mnist 0v1"):
        X, _ = rows_of(name)
        queries = X if name == "sonar" else X.astype(np.float32)
        found[name] = (trained(name), queries, queries)
    X, _ = rows_of("mnist 3v8")
    found["mnist 3v8, float64"] = (trained("mnist 3v8"), X, X)
    digits = datasets.load("mnist", pair=(3, 8)).scaled()
    X, y = digits.X_train, digits.y_train
    X, y = (X[:4_000], y[:4_000]) if quick else (X, y)
    svc = SVC(kernel=kernel_of("mnist 3v8"), C=10.0).fit(X, y)
    found[f"mnist 3v8, {len(X):,} rows"] = (svc, X, digits.X_test)
    return found


def speed(quick: bool) -> pd.DataFrame:
    """Time every order beside SVC and beside the exact machine in float32 BLAS."""
    parts = []
    for name, (svc, X, queries) in problems(quick).items():
        reference = trained_reference(svc, svc, X, None)
        machine = reference.exact.machine_
        fitted = {
            order: AnytimeClassifier(FrozenEstimator(svc), order, random_state=0).fit(X)
            for order in ORDERS
        }
        ways: dict[str, Any] = {
            "SVC": baseline(reference),
            "float32 BLAS": lambda X, machine=machine: machine.decision_function(X, np.float32),
        } | {order: clf.decision_function for order, clf in fitted.items()}
        table = timing_table(ways, queries, repeats=3 if quick else 7)
        exact = machine.decision_function(queries) > 0
        table.insert(0, "data", name)
        table.insert(1, "m", machine.n_vectors)
        steps = {order: clf.steps(queries).mean() for order, clf in fitted.items()}
        table.insert(2, "k_mean", [steps.get(way, machine.n_vectors) for way in table.index])
        table["signs_changed"] = [
            int(np.sum((fitted[way].decision_function(queries) > 0) != exact))
            if way in fitted else 0 for way in table.index
        ]  # fmt: skip
        for kind in ("batch", "single"):
            ours = table[f"{kind}_us"]
            table[f"{kind}_vs_blas"] = ours.loc["float32 BLAS"] / ours
        parts.append(table.drop(columns=["batch_us", "single_us"]))
    whole = pd.concat(parts).rename(columns={"batch_ratio": "batch_vs_svc"})
    return whole.rename(columns={"single_ratio": "single_vs_svc"}).reset_index()


def ordering_cost(quick: bool) -> pd.DataFrame:
    """Time the choice of a whole basis of m vectors, m growing.

    `exponent` is that of the growth since the row before: 3 is O(m^2) a step.
    """
    rng, rows = np.random.RandomState(0), []
    orders = ("min_wz", "sgma", "min_wz_n", "hybrid") if quick else (*OWN[1:], *WIDER)
    for order in orders:
        before = None
        for m in (250, 500, 1000, 2000) if order == "min_wz" or not quick else (250, 500):
            machine = KernelMachine(rng.randn(m, 20), rng.randn(m), 0.0, RBF(0.02))
            others, queries = rng.randn(1000, 20), rng.randn(500, 20)
            with one_thread():
                start = time.process_time()
                among = candidates(machine, order, 1e-8, others, rng)
                ordered(machine, order, m, among, queries, rng)
                seconds = time.process_time() - start
            rows.append({
                "order": order, "m": m, "seconds": seconds, "ms_a_step": 1e3 * seconds / m,
                "exponent": np.log2(seconds / before) if before else np.nan,
            })  # fmt: skip
            before = seconds
    return pd.DataFrame(rows)


def tables(quick: bool = True) -> dict[str, pd.DataFrame]:
    """Return the tables by name."""
    return {"anytime_speed": speed(quick), "anytime_ordering": ordering_cost(quick)}
