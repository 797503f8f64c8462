"""Files larger than the memory that training may take, enforced by the system."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kmviz.cli.fit import rows_within
from kmviz.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
#: How much a process maps beside its data, for threads, differs from run to run: asked once more.
pytestmark = pytest.mark.flaky(reruns=2)

MEGABYTE = 2**20

#: Imports everything and trains once on few rows, so that threads have their stacks and libraries
#: their buffers, then lets the process's own data grow by so much and no more.
LIMITED = """
import contextlib, io, json, pathlib, resource, sys, tempfile
from kmviz.cli.main import main
import kmviz.loops, pyarrow.parquet, numpy as np
with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
    X, y, out = (str(pathlib.Path(folder) / name) for name in ("X.npy", "y.npy", "m.skops"))
    rows = np.random.default_rng(0).standard_normal((600, 600), dtype=np.float32)
    np.save(X, rows), np.save(y, rows[:, 0] > 0)
    for name in ("svtree", "falk"):
        main(["-q", "fit", X, "--target", y, "--method", name, "--memory", "40MB", "--out", out])
used = next(int(l.split()[1]) for l in open("/proc/self/status") if l.startswith("VmData")) * 1024
limit = used + int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
for command in json.loads(sys.argv[2]):
    if code := main(["-q", *command]):
        sys.exit(code)
"""


def _limited(extra, *commands):
    """Run commands one after the other in one process."""
    env = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    given = json.dumps([list(map(str, command)) for command in commands])
    return subprocess.run(
        [sys.executable, "-c", LIMITED, str(extra), given],
        cwd=ROOT, env=env, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    """240 MB of rows as an array, with their classes beside it."""
    folder = tmp_path_factory.mktemp("big")
    n, d = 100_000, 600
    X = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float32, (n, d))
    rng = np.random.default_rng(0)
    y = np.empty(n, dtype=np.int8)
    for start in range(0, n, 5_000):
        block = rng.standard_normal((5_000, d), dtype=np.float32)
        X[start : start + 5_000] = block
        y[start : start + 5_000] = block[:, 0] + block[:, 1] ** 2 > 1
    X.flush()
    np.save(folder / "y.npy", y)
    return folder


def test_an_array_that_fits_trains_and_a_larger_one_is_labelled_within_the_limit(big, tmp_path):
    limit, rows = 60 * MEGABYTE, big / "X.npy"
    assert rows.stat().st_size > 3.5 * limit
    few, their_classes = tmp_path / "few.npy", tmp_path / "their_classes.npy"
    np.save(few, np.load(rows, mmap_mode="r")[:900])
    np.save(their_classes, np.load(big / "y.npy")[:900])
    memory = ("--memory", "60MB", "--out")
    fit = ("fit", few, "--target", their_classes, "--method")
    done = _limited(
        limit,
        (*fit, "falk", *memory, tmp_path / "falk.skops"),  # 600 dimensions: too slow to be asked
        (*fit, "svtree", *memory, tmp_path / "tree.skops"),
        ("predict", tmp_path / "tree.skops", rows, *memory, tmp_path / "labels.csv"),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("630 to train on") == 2
    with (tmp_path / "labels.csv").open() as lines:
        assert sum(1 for _ in lines) == 100_001


def test_a_file_that_does_not_fit_is_refused_with_what_uses_every_row(big, tmp_path, capsys):
    n = 30_000
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(n, 4)), columns=list("abcd"))
    frame["y"] = np.where(frame["a"] + frame["b"] > 0, "up", "down")
    frame.to_parquet(tmp_path / "t.parquet")
    for data, target, memory, message in (
        (tmp_path / "t.parquet", "y", "2MB", "t.parquet is larger than"),
        (tmp_path / "t.parquet", "y", "40MB", "has 21,000 rows to train on; --memory 40MB holds"),
        (big / "X.npy", big / "y.npy", "500MB", "X.npy is larger than 62.5 MB"),
        (big / "X.npy", big / "y.npy", None, "X.npy is larger than 50 MB"),
    ):
        limit = ["--memory", memory] if memory else []
        arguments = [str(data), "--target", str(target), "--method", "exact", *limit]
        assert main(["-q", "fit", *arguments, "--out", str(tmp_path / "m.skops")]) == 2
        said = capsys.readouterr().err
        assert message in said
        assert "--method falk --out model.falk uses every row" in said
    assert not (tmp_path / "m.skops").exists()


def test_more_memory_takes_more_rows():
    assert rows_within(10 * MEGABYTE, 10, False) < rows_within(20 * MEGABYTE, 10, False)
    assert rows_within(100_000 * MEGABYTE, 10, False) < rows_within(100_000 * MEGABYTE, 10, True)
