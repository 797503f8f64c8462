"""Full disks, killed processes and folders that cannot be written: one clear line, nothing half."""

import resource
import subprocess
import sys
import time
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_moons
from sklearn.svm import SVC

import kmviz
from kmviz.cli.main import main
from kmviz.io import storage

X, y = make_moons(80, noise=0.2, random_state=0)


@contextmanager
def files_up_to(size):
    """No file may grow past so many bytes, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def stored(tmp_path):
    path = tmp_path / "m.skops"
    kmviz.save(SVC(C=1.0).fit(X, y), path)
    return path


def test_a_full_disk_leaves_the_old_file_and_nothing_beside_it(stored):
    before = stored.read_bytes()
    with files_up_to(1_000), pytest.raises(OSError, match=r"too large|space"):
        kmviz.save(SVC(C=5.0).fit(X, y), stored)
    assert stored.read_bytes() == before
    assert [path.name for path in stored.parent.iterdir()] == ["m.skops"]


@pytest.mark.parametrize("out", ["labels.csv", "labels.parquet"])
def test_a_command_on_a_full_disk_ends_in_one_line(stored, tmp_path, capsys, out):
    table, out = tmp_path / "rows.csv", tmp_path / out
    frame = pd.DataFrame(np.tile(X, (50, 1)), columns=["a", "b"])
    frame.to_csv(table, index=False)
    with files_up_to(1_000):
        code = main(["predict", str(stored), str(table), "--out", str(out)])
    said = capsys.readouterr().err.strip().splitlines()
    assert code != 0
    assert any(word in said[-1] for word in ("too large", "space")), said
    assert not any("Traceback" in line for line in said)
    assert {path.name for path in tmp_path.iterdir()} == {"m.skops", "rows.csv"}


def test_a_folder_that_cannot_be_written_is_named(stored, monkeypatch, capsys):
    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied", str(stored.parent))

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    before = stored.read_bytes()
    with pytest.raises(PermissionError, match="Permission denied"):
        kmviz.save(SVC().fit(X, y), stored)
    assert stored.read_bytes() == before


SAVES = """
import sys, kmviz
model = kmviz.load(sys.argv[1])
print("ready", flush=True)
while True:
    kmviz.save(model, sys.argv[1])
"""


def test_a_process_that_is_killed_while_it_saves_loses_no_file(stored):
    command = [sys.executable, "-c", SAVES, str(stored)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        process.kill()
    again = kmviz.load(stored)
    assert (again.predict(X) == SVC(C=1.0).fit(X, y).predict(X)).all()
    assert storage.untrusted_types(stored.read_bytes()) == set()
