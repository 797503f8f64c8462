"""How FaLK-SVM grows: points against CPU time, wall time and memory, threads beside Dask.

Each size runs in a process of its own. Threads and a Dask cluster of as many workers on this
machine train the same model in turn, and the best of a few rounds counts. `cover_share` is the wall
time before local SVMs are trained; `peak_mb` is what a fit adds, of Dask in the largest worker
(Linux tells it). Data: two spirals; `heavy` takes larger neighbourhoods and a larger C, where local
SVMs take most of the time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd

from kmviz import FaLKClassifier, datasets
from kmviz.methods.progress import listening

LIGHT = {"n_neighbors": 250}
HEAVY = {"n_neighbors": 1000, "n_cover": 100, "C": 64.0}
QUICK = [(10_000, "light"), (30_000, "light"), (100_000, "light"), (300_000, "light"),
         (100_000, "heavy")]  # fmt: skip
FULL = [*QUICK, (1_000_000, "light"), (3_000_000, "light")]
#: Smaller fits are mostly their fixed costs: exponents are fitted from here on.
GROWN = 30_000
JOBS = 2


def tables(quick: bool = True) -> dict[str, pd.DataFrame]:
    """Return the sizes, the exponents fitted to them, and Dask beside threads."""
    rows = [row for n, kind in (QUICK if quick else FULL) for row in _in_process(n, kind)]
    sizes = pd.DataFrame(rows)
    fitted = sizes[(sizes["setting"] == "light") & (sizes["points"] >= GROWN)]
    return {"scaling": sizes, "scaling_growth": growth(fitted)}


def growth(sizes: pd.DataFrame) -> pd.DataFrame:
    """Return, for each engine, the exponent a in `seconds ~ points^a`: least squares of logs."""
    rows = []
    for engine, table in sizes.groupby("engine", sort=False):
        points = np.log(table["points"])
        slopes = {
            f"exponent_{name}": float(np.polyfit(points, np.log(table[name]), 1)[0])
            for name in ("cpu_seconds", "wall_seconds", "peak_mb", "models")
        }
        rows.append({"engine": engine, "from": table["points"].min(), "to": table["points"].max()})
        rows[-1].update(slopes)
    return pd.DataFrame(rows)


def _in_process(n: int, kind: str) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, str(Path(__file__).resolve()), str(n), kind],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{n} points, {kind}: {done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def measure(n: int, kind: str) -> list[dict[str, Any]]:
    """Train both ways in turn; return the best round of each."""
    from distributed import Client, LocalCluster

    data = datasets.load("two_spirals", n=n)
    X, y = data.X_train, data.y_train
    options = (LIGHT if kind == "light" else HEAVY) | {"random_state": 0}
    with (
        LocalCluster(
            n_workers=JOBS, threads_per_worker=1, host="127.0.0.1", dashboard_address=None,
            worker_dashboard_address=None,
        ) as cluster,
        Client(cluster) as client,
        joblib.parallel_config("dask"),
    ):  # fmt: skip
        FaLKClassifier(random_state=0).fit(X[:2000], y[:2000])
        client.run(_load, X[:2000], y[:2000])
        before, others = reset_peak(), client.run(reset_peak)
        locally, elsewhere = [], []
        for _ in range(3 if n < 10**6 else 2):
            with joblib.parallel_config("threading"):
                locally.append(_train(X, y, {**options, "n_jobs": JOBS}, lambda: 0.0))
            if len(locally) == 1:
                local_mb = peak_mb() - before
            elsewhere.append(_train(X, y, options, lambda: sum(client.run(_cpu).values())))
        worker_mb = max(mb - others[worker] for worker, mb in client.run(peak_mb).items())
    head = {"setting": kind, "points": n}
    ratio = min(t["wall_seconds"] for t in elsewhere) / min(t["wall_seconds"] for t in locally)
    return [
        {**head, "engine": "threads", **_best(locally), "peak_mb": local_mb, "wall_ratio": 1.0},
        {**head, "engine": "Dask", **_best(elsewhere), "peak_mb": worker_mb, "wall_ratio": ratio},
    ]


def _load(X: Any, y: Any) -> None:
    """Have a worker import kmviz and its loops before it is timed."""
    with joblib.parallel_config("sequential"):
        FaLKClassifier(random_state=0).fit(X, y)


def _best(rounds: list[dict[str, float]]) -> dict[str, float]:
    quickest = min(rounds, key=lambda one: one["wall_seconds"])
    return quickest | {"cpu_seconds": min(one["cpu_seconds"] for one in rounds)}


def _train(X: Any, y: Any, options: dict[str, Any], others: Any) -> dict[str, float]:
    """Return what one fit takes; `others` tells the CPU time of processes beside this one."""
    ends = [0.0]

    def listener(share: float, _: str) -> None:
        if share <= 0.5:  # the first half is the cover
            ends.append(time.perf_counter())

    cpu, start = _cpu() + others(), time.perf_counter()
    with listening(listener):
        clf = FaLKClassifier(**options).fit(X, y)
    wall = time.perf_counter() - start
    return {
        "models": len(clf.models_),
        "cpu_seconds": _cpu() + others() - cpu,
        "wall_seconds": wall,
        "cover_share": (ends[-1] - start) / wall,
    }


def _cpu() -> float:
    return time.process_time()


def reset_peak() -> float:
    """Forget how much memory this process has held at most; return what it holds, in MB."""
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def peak_mb() -> float:
    """Return the most memory this process has held since `reset_peak`, in MB."""
    return _status("VmHWM")


def _status(name: str) -> float:
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 2**10


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    print(json.dumps(measure(int(sys.argv[1]), sys.argv[2])))
