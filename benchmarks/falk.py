"""Local models: training and testing time against SVC in one run, variants side by side, growth.

`falk_choice` chooses what the others take, on training rows alone and by one rule for SVC and for
FaLK-SVM. `falk_scaling` runs each size in a process of its own, so that its peak memory is its own;
with dask and distributed installed a second set of rows trains on a local cluster of two
worker processes. Each table can be made alone: `python benchmarks/run.py --full falk --table NAME`.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from kmviz.papers.falk import large_rows
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import ParameterGrid, train_test_split
from sklearn.svm import SVC

from kmviz import FaLKClassifier, KNNSVMClassifier
from kmviz.evaluation.cost import cpu_seconds, one_thread
from kmviz.machines import KernelMachine

#: Rows of each speed table; cov-type has fewer in a quick run.
SPEED_ROWS = {"2-spirals": 20_000, "checker-b": 20_000, "cov-type": 40_000}
QUERIES = 2_000
#: What `choice` tries: 27 settings each.
SVC_GRID = {"C": [1.0, 4.0, 16.0], "gamma": [4.0**e for e in range(9)]}
LOCAL_GRID = {
    "n_neighbors": [250, 500, 1000], "C": [1.0, 4.0, 16.0], "percentile": [1.0, 10.0, 50.0]
}  # fmt: skip
RESULTS = Path(__file__).resolve().parent / "results"
FIRST_ROUND, KEPT = 4_000, 5
#: Training rows that `choice` takes; fewer of cov-type, where an SVC of more takes minutes.
CHOICE_ROWS = {"cov-type": 10_000, "2-spirals": 20_000, "checker-b": 20_000}


def choice(name: str) -> pd.DataFrame | None:
    """Choose the parameters of SVC and of FaLK-SVM on training rows.

    Of the first `CHOICE_ROWS` training rows a fifth is held out to judge. All settings are fitted
    to 4,000 of the others, the best five to all of the others, and then the best with half and
    double its gamma or percentile. `held_out` is the accuracy on the fifth.
    """
    rows = large_rows(name, SPEED_ROWS[name])
    if rows is None:
        return None
    X, y = rows[0][: CHOICE_ROWS[name]], rows[1][: CHOICE_ROWS[name]]
    learn, judge = train_test_split(np.arange(len(X)), test_size=0.2, random_state=0, stratify=y)
    found = []
    ways = {
        "SVC": (SVC(cache_size=1000), SVC_GRID),
        "FaLK-SVM": (FaLKClassifier(gamma="local", random_state=0), LOCAL_GRID),
    }
    for way, (model, grid) in ways.items():

        def held_out(setting: dict[str, Any], part: Any, model: Any = model) -> float:
            fitted = clone(model).set_params(**setting).fit(X[part], y[part])
            return fitted.score(X[judge], y[judge])

        first = [
            (held_out(setting, learn[:FIRST_ROUND]), setting) for setting in ParameterGrid(grid)
        ]
        kept = [setting for _, setting in _best_first(first)[:KEPT]]
        scores = [(held_out(setting, learn), setting) for setting in kept]
        best = _best_first(scores)[0][1]
        width = "gamma" if "gamma" in best else "percentile"
        for other in (best[width] / 2, best[width] * 2):
            setting = best | {width: other}
            scores.append((held_out(setting, learn), setting))
        for score, setting in _best_first(scores):
            found.append({"data": name, "way": way, "held_out": score, **setting})
    columns = ["data", "way", "held_out", "C", "gamma", "n_neighbors", "percentile"]
    return pd.DataFrame(found, columns=columns)


def chosen(name: str, way: str) -> dict[str, Any]:
    """Return what `choice` found for SVC or FaLK-SVM: the first row of its stored table."""
    grid = SVC_GRID if way == "SVC" else LOCAL_GRID
    table = pd.read_csv(RESULTS / f"falk_choice_{name}.csv", comment="#")
    best = table[table["way"] == way].iloc[0]
    return {key: type(values[0])(best[key]) for key, values in grid.items()}


def _best_first(scores: list[tuple[float, dict[str, Any]]]) -> list[tuple[float, dict[str, Any]]]:
    return sorted(scores, key=lambda pair: -pair[0])


def splits(quick: bool) -> pd.DataFrame | None:
    """Cov-type, 100,000 rows (10,000 in a quick run): its own split and random ones.

    100,000 test rows each; k, C and percentile are FaLK-SVMl's choice on the training rows.
    """
    found = []
    for seed in (None, *range(1 if quick else 5)):
        rows = large_rows("cov-type", 10_000 if quick else 100_000, 100_000, seed)
        if rows is None:
            return None
        tuned = FaLKClassifier(250, tune=True, random_state=seed or 0).fit(*rows[:2])
        found.append({
            "split": "the file's own" if seed is None else f"random {seed}",
            "rows": len(rows[0]), "n_neighbors": tuned.n_neighbors_, "C": tuned.C_,
            "percentile": tuned.percentile_, "queries": len(rows[2]),
            "accuracy": tuned.score(*rows[2:]),
            "select_center": tuned.selecting("center").score(*rows[2:]),
        })  # fmt: skip
    return pd.DataFrame(found)


def speed(name: str, quick: bool) -> pd.DataFrame | None:
    """Train and test SVC, FaLK-SVM and its variants, the lazy one, and gradient boosting.

    `train_ratio` and `test_ratio`: times faster than SVC; `test_vs_blas`: than all of SVC's
    vectors in one float32 BLAS product. Test queries come in one batch.
    """
    rows = large_rows(name, 10_000 if quick and name == "cov-type" else SPEED_ROWS[name])
    if rows is None:
        return None
    with one_thread():
        return _side_by_side(name, *rows)


def _side_by_side(name: str, X: Any, y: Any, X_test: Any, y_test: Any) -> pd.DataFrame:
    local = FaLKClassifier(gamma="local", random_state=0, **chosen(name, "FaLK-SVM"))
    lazy = KNNSVMClassifier(local.n_neighbors, gamma="local", C=local.C)
    ways: dict[str, Any] = {
        "SVC": SVC(cache_size=1000, **chosen(name, "SVC")), "FaLK-SVM": local, "FaLK-SVMc": None,
        "FaLK-SVMl": FaLKClassifier(250, tune=True, random_state=0), "kNNSVM (lazy)": lazy,
        "HistGradientBoosting": HistGradientBoostingClassifier(random_state=0),
    }  # fmt: skip
    found = []
    for way, model in ways.items():
        if model is None:  # the models of the row before, selected by the nearest centre
            model, train = ways["FaLK-SVM"].selecting("center"), found[-1]["train_s"]
        else:
            start = time.process_time()
            model.fit(X, y)
            train = time.process_time() - start
            if way == "FaLK-SVM":  # short: the least of three
                train = min(train, cpu_seconds(lambda m=model: m.fit(X, y), repeats=2))
        many = 200 if way.startswith("kNNSVM") else QUERIES
        asked = X_test[:many]
        test = cpu_seconds(lambda m=model, q=asked: m.predict(q), repeats=2) / many
        accuracy = float(np.mean(model.predict(X_test[:QUERIES]) == y_test[:QUERIES]))
        found.append({"way": way, "train_s": train, "test_us": 1e6 * test, "accuracy": accuracy})
    machine = KernelMachine.from_estimator(ways["SVC"])
    blas = cpu_seconds(lambda: machine.decision_function(X_test[:QUERIES], np.float32), 2)
    table = pd.DataFrame(found)
    table.insert(0, "data", name)
    table.insert(1, "rows", len(X))
    table["train_ratio"] = table["train_s"].iloc[0] / table["train_s"]
    table["test_ratio"] = table["test_us"].iloc[0] / table["test_us"]
    table["test_vs_blas"] = 1e6 * blas / QUERIES / table["test_us"]
    return table


def scaling(quick: bool) -> pd.DataFrame:
    """Points against CPU and wall seconds, peak memory and models; local threads and Dask.

    `exponent` is the growth of CPU seconds fitted over all sizes of a set.
    """
    sizes = [10_000, 100_000] if quick else [10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000]
    engines = ["threads"] + (["dask"] if find_spec("distributed") else [])
    rows = []
    for engine in engines:
        for name in ("2-spirals", "checker-b"):
            some = sizes if engine == "threads" else sizes[-2 if quick else -3 :][:2]
            rows += [_measured(name, n, engine) for n in some]
    table = pd.DataFrame(rows)
    for _, part in table.groupby(["data", "engine"]):
        slope = np.polyfit(np.log(part["points"]), np.log(part["cpu_s"]), 1)[0]
        table.loc[part.index, "exponent"] = slope
    return table


def _measured(name: str, n: int, engine: str) -> dict[str, Any]:
    command = [sys.executable, __file__, name, str(n), engine]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def measure(name: str, n: int, engine: str) -> dict[str, Any]:
    """Train once in this process and say what it took."""
    rows = large_rows(name, n, 20_000)
    assert rows is not None
    options = {"n_neighbors": 250, "gamma": "local", "random_state": 0, "n_jobs": 2}
    FaLKClassifier(**options).fit(rows[0][:2000], rows[1][:2000])  # loads the compiled loops
    cpu, wall, local = _trained(options, rows, engine)
    return {
        "data": name, "points": n, "engine": engine, "cpu_s": cpu, "wall_s": wall,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "models": len(local.models_), "accuracy": local.score(*rows[2:]),
    }  # fmt: skip


def _trained(options: dict[str, Any], rows: Any, engine: str) -> tuple[float, float, Any]:
    def fit() -> tuple[float, float, Any]:
        cpu, wall = time.process_time(), time.perf_counter()
        local = FaLKClassifier(**options).fit(*rows[:2])
        return time.process_time() - cpu, time.perf_counter() - wall, local

    if engine == "threads":
        return fit()
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
        joblib.parallel_config(backend="dask"),
    ):
        FaLKClassifier(**options).fit(rows[0][:2000], rows[1][:2000])  # the workers' loops too
        before = sum(client.run(time.process_time).values())
        cpu, wall, local = fit()
        return cpu + sum(client.run(time.process_time).values()) - before, wall, local


def tables(quick: bool) -> dict[str, Callable[[], pd.DataFrame | None]]:
    """The tables of this file, each made when it is called."""
    made: dict[str, Callable[[], pd.DataFrame | None]] = {}
    if not quick:  # minutes a set
        made |= {f"falk_choice_{name}": partial(choice, name) for name in CHOICE_ROWS}
    made |= {f"falk_speed_{name}": partial(speed, name, quick) for name in SPEED_ROWS}
    return made | {
        "falk_splits": partial(splits, quick),
        "falk_scaling": partial(scaling, quick),
    }


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]), sys.argv[3])))
