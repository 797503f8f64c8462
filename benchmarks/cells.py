"""FaLK-SVM in boxes: rows against time and memory, beside the fit that holds all rows.

Rows come from a Parquet file that is written first, in blocks. Each fit runs in a process of its
own; `peak_mb` is what it adds (Linux tells it). Data: two spirals and a checkerboard.
`python benchmarks/run.py --full cells` goes on to 30 million rows within 2 GB.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.scaling import peak_mb, reset_peak
from kmviz import FaLKClassifier, PartitionedFaLK, datasets

LOCAL = {"n_neighbors": 250, "random_state": 0, "n_jobs": 1}
#: Rows that are generated at a time, and asked for answers.
BLOCK, ASKED = 1_000_000, 20_000
#: Rows, the memory that a box may take in MB, and whether all rows are held at once beside it.
QUICK = [(300_000, 20, True), (1_000_000, 60, True)]
FULL = [(3_000_000, 200, True), (30_000_000, 1_000, False)]


def tables(quick: bool = True) -> dict[str, pd.DataFrame]:
    """Return a row for each data set, number of rows and way to train."""
    rows = []
    for name in ("two_spirals", "checkerboard"):
        for n, memory, beside in QUICK if quick else [*QUICK, *FULL]:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "rows.parquet"
                write(path, name, n)
                ways = ["boxes", "whole"] if beside else ["boxes"]
                rows += [_in_process(path, name, n, memory, way) for way in ways]
    return {"cells": pd.DataFrame(rows)}


def write(path: Path, name: str, n: int) -> None:
    """Write training rows, every block drawn with a seed of its own."""
    schema = pa.schema([("u", pa.float64()), ("v", pa.float64()), ("side", pa.int8())])
    with pq.ParquetWriter(path, schema) as file:
        for seed, start in enumerate(range(0, n, BLOCK)):
            data = datasets.load(name, n=min(BLOCK, n - start), seed=seed)
            columns = [*data.X_train.T, data.y_train.astype(np.int8)]
            file.write_table(pa.table(columns, schema=schema), row_group_size=200_000)


def measure(path: Path, name: str, n: int, memory: int, way: str) -> dict[str, Any]:
    """Train one way; return what it took and how right it is on rows of another seed."""
    warm = datasets.load(name, n=2_000)
    FaLKClassifier(**LOCAL).fit(warm.X_train.astype(np.float32), warm.y_train)
    before = reset_peak()
    cpu, wall = time.process_time(), time.perf_counter()
    if way == "boxes":
        clf: Any = PartitionedFaLK(FaLKClassifier(**LOCAL), memory=memory * 2**20).fit(path, "side")
        made = {"boxes": len(clf.boxes_), "models": clf.n_models_, "halo": clf.halo_ / n}
    else:
        table = pq.read_table(path)
        X = np.column_stack([table["u"].to_numpy(), table["v"].to_numpy()])
        clf = FaLKClassifier(**LOCAL).fit(X, table["side"].to_numpy())
        made = {"boxes": 1, "models": len(clf.models_), "halo": 0.0}
    took = {
        "cpu_seconds": time.process_time() - cpu,
        "wall_seconds": time.perf_counter() - wall,
        "peak_mb": peak_mb() - before,
    }
    asked = datasets.load(name, n=ASKED, seed=10_000)
    right = float(np.mean(clf.predict(asked.X_train.astype(np.float32)) == asked.y_train))
    size = path.stat().st_size / 2**20
    return {"data": name, "rows": n, "file_mb": size, "way": way, **made, **took, "accuracy": right}


def _in_process(path: Path, name: str, n: int, memory: int, way: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.cells", str(path), name, str(n), str(memory), way],
        capture_output=True, text=True, check=False, cwd=Path(__file__).resolve().parents[1],
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{n} rows, {way}: {done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    place, data, rows, limit, how = sys.argv[1:]
    print(json.dumps(measure(Path(place), data, int(rows), int(limit), how)))
