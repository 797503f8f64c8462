"""A Parquet file larger than the memory limit: local models trained and asked under it."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kmviz

#: How much a process maps beside its data, for threads, differs from run to run: asked once more.
pytestmark = pytest.mark.flaky(reruns=2)

MEGABYTE = 2**20
LIMIT = 40 * MEGABYTE

#: Imports and compiles everything, then lets the process's own data grow by LIMIT and no more.
LIMITED = """
import io, resource, sys
import numpy as np, pyarrow as pa, pyarrow.parquet as pq
from kmviz import FaLKClassifier, PartitionedFaLK
from kmviz.cli.main import main
clf = FaLKClassifier(2, projection=1).fit(np.eye(8, dtype=np.float32), [0, 1] * 4)
clf.predict(np.eye(8, dtype=np.float32))
rows = np.random.default_rng(0).random((3000, 2), dtype=np.float32)
PartitionedFaLK(FaLKClassifier(20), memory=200_000).fit(rows, rows[:, 0] > 0.5).predict(rows)
small = io.BytesIO()
pq.write_table(pa.table({"x": np.arange(9.0), "y": ["a", "b", "c"] * 3}), small)
list(pq.ParquetFile(small).iter_batches(2))  # starts the threads that reading takes
used = next(int(l.split()[1]) for l in open("/proc/self/status") if l.startswith("VmData")) * 1024
resource.setrlimit(resource.RLIMIT_DATA, (used + int(sys.argv[1]),) * 2)
sys.exit(main(["-q", *sys.argv[2:]]))
"""


def limited(*arguments, beside=0):
    return subprocess.run(
        [sys.executable, "-c", LIMITED, str(LIMIT + beside), *map(str, arguments)],
        cwd=Path(__file__).resolve().parents[2], capture_output=True, text=True, timeout=300,
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}, check=False,
    )  # fmt: skip


def written(path, columns, groups):
    """Columns of numbers, the class in the two that vary most, in groups of 8,000 rows."""
    rng, names = np.random.default_rng(0), [f"x{i}" for i in range(columns)]
    schema = pa.schema([*((name, pa.float32()) for name in names), ("side", pa.string())])
    with pq.ParquetWriter(path, schema, use_dictionary=["side"]) as file:
        for _ in range(groups):
            X = rng.standard_normal((8_000, columns), dtype=np.float32)
            X[:, :2] *= 5
            side = np.where(np.sin(X[:, 0]) + X[:, 1] > 0, "above", "below")
            file.write_table(pa.table([*X.T, side], schema=schema))
    return path


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="measured through /proc")
@pytest.mark.parametrize(("columns", "groups"), [(100, 40), (400, 4)])
def test_a_parquet_file_larger_than_the_limit_is_labelled_within_it(columns, groups, tmp_path):
    rows = written(tmp_path / "rows.parquet", columns, groups)
    few = tmp_path / "few.parquet"
    pq.write_table(pq.read_table(rows).slice(0, 160_000 // columns), few)
    model, labels = tmp_path / "falk.skops", tmp_path / "labels.parquet"
    done = limited(
        "fit", few, "--target", "side", "--method", "falk", "--no-scale", "--memory", LIMIT,
        "--set", "projection=2", "--set", "n_neighbors=100", "--out", model,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    done = limited("predict", model, rows, "--memory", LIMIT, "--out", labels)
    assert done.returncode == 0, done.stderr
    ours = pq.read_table(labels, columns=["label"])["label"].to_numpy(zero_copy_only=False)
    truth = pq.read_table(rows, columns=["side"])["side"].to_numpy(zero_copy_only=False)
    assert len(ours) == groups * 8_000
    assert np.mean(ours == truth) > 0.8


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="measured through /proc")
def test_every_row_is_used_within_the_limit(tmp_path):
    rng, names = np.random.default_rng(0), ["u", "v"]
    path, model = tmp_path / "rows.parquet", tmp_path / "all.falk"
    X = rng.random((500_000, 2), dtype=np.float32)
    side = np.where((np.floor(X * 8).sum(axis=1) % 2).astype(bool), "black", "white")
    pq.write_table(pa.table([*X.T, side], names=[*names, "side"]), path, row_group_size=20_000)
    done = limited(
        "fit", path, "--target", "side", "--method", "falk", "--memory", LIMIT, "--C", 10,
        "--gamma", 30, "--set", "n_neighbors=50", "--test-share", 0.01, "--out", model,
        beside=24 * MEGABYTE,  # stacks and arenas of threads that read Parquet
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "495,000 to train on" in done.stdout
    some = pd.DataFrame(X[:20_000], columns=names)
    assert np.mean(kmviz.load(model).predict(some) == side[:20_000]) > 0.98
