"""Files larger than the memory that training may take, enforced by the system."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import kmviz
from kmviz.cli.main import main
from kmviz.cli.sample import rows_within

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
        main(["-q", "fit", X, "--target", y, "--method", name, "--memory", "20MB", "--out", out])
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


def test_an_array_several_times_the_limit_trains_and_predicts_under_it(big, tmp_path):
    limit = 60 * MEGABYTE
    rows, memory = big / "X.npy", ("--memory", "60MB", "--out")
    assert rows.stat().st_size > 3.5 * limit
    fit = ("fit", rows, "--target", big / "y.npy", "--method")
    done = _limited(
        limit,
        (*fit, "falk", *memory, tmp_path / "falk.skops"),  # 600 dimensions: too slow to be asked
        (*fit, "svtree", *memory, tmp_path / "tree.skops"),
        ("predict", tmp_path / "tree.skops", rows, *memory, tmp_path / "labels.csv"),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("of 100,000 in the file") == 2
    with (tmp_path / "labels.csv").open() as lines:
        assert sum(1 for _ in lines) == 100_001


def test_a_table_is_sampled_uniformly_and_says_so(tmp_path, capsys):
    rng = np.random.default_rng(0)
    n = 30_000
    X = rng.normal(size=(n, 4))
    frame = pd.DataFrame(X, columns=list("abcd")).round(5)
    frame["colour"] = np.where(np.arange(n) < n // 2, "early", "late")
    frame["y"] = np.where(X[:, 0] + X[:, 1] > 0, "up", "down")
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=5_000)
    out = tmp_path / "m.skops"
    code = main(["-q", "fit", str(tmp_path / "t.parquet"), "--target", "y", "--method", "exact",
                 "--memory", "2MB", "--out", str(out)])  # fmt: skip
    assert code == 0
    said = capsys.readouterr().out
    rows = rows_within(2 * MEGABYTE, 5, local=False)
    assert rows < n
    assert f"{rows - round(0.3 * rows):,} to train on, of 30,000 in the file" in said
    model = kmviz.load(out)
    vectors = model.classifier.machine_.vectors
    early = np.mean(vectors[:, 4] < vectors[:, 4].mean())
    assert 0.3 < early < 0.7, "rows from the whole file, not from its beginning"
    assert (model.predict(frame) == frame["y"]).mean() > 0.9


def test_more_memory_takes_more_rows_up_to_what_an_svm_can_bear():
    assert rows_within(10 * MEGABYTE, 10, False) < rows_within(20 * MEGABYTE, 10, False)
    assert rows_within(100_000 * MEGABYTE, 10, False) == 20_000
    assert rows_within(100_000 * MEGABYTE, 10, True) > 1_000_000
