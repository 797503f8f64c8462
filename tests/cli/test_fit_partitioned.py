"""`kmviz fit --out model.falk`: every row of a file or a folder, and on after a kill."""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kmviz
from kmviz.cli.main import main
from kmviz.methods.falk import partitioned

COMMAND = ["--target", "side", "--method", "falk", "--C", "10", "--gamma", "30",
           "--set", "n_neighbors=50", "--test-share", "0.02", "--memory", "4MB"]  # fmt: skip


def board(rows, seed):
    """Rows of a checkerboard, its fields named, behind a column of text."""
    rng = np.random.default_rng(seed)
    X = rng.random((rows, 2), dtype=np.float32)
    black = (np.floor(X * 4).sum(axis=1) % 2).astype(bool)
    return pa.table({
        "u": X[:, 0], "side": np.where(black, "black", "white"), "v": X[:, 1],
        "day": rng.choice(["monday", "sunday"], rows),
    })  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows")
    for number in range(3):
        pq.write_table(board(20_000, number), path / f"{number}.parquet", row_group_size=5_000)
    return path


def test_a_folder_of_parquet_files_is_used_whole_and_labelled(folder, tmp_path, capsys):
    model, labels = tmp_path / "all.falk", tmp_path / "labels.parquet"
    assert main(["-q", "fit", str(folder), *COMMAND, "--out", str(model)]) == 0
    printed = capsys.readouterr().out
    assert "58,800 to train on" in printed
    assert "of k = 50, C = 10" in printed
    assert main(["-q", "predict", str(model), str(folder), "--out", str(labels)]) == 0
    found = pd.read_parquet(labels)
    truth = pq.read_table(folder)["side"].to_numpy()
    assert found["row"].tolist() == list(range(1, 60_001))
    assert np.mean(found["label"] == truth) > 0.98
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.falk", "labels.parquet"]


def test_a_killed_fit_continues_with_the_same_command(folder, tmp_path, monkeypatch, capsys):
    model, parts = tmp_path / "all.falk", tmp_path / "all.falk.parts"
    command = ["-q", "fit", str(folder), *COMMAND, "--out", str(model)]
    process = subprocess.Popen(
        [sys.executable, "-m", "kmviz", *command], cwd=Path(__file__).resolve().parents[2]
    )
    end = time.monotonic() + 120
    while len(list(parts.glob("*.skops"))) < 2 and time.monotonic() < end:
        time.sleep(0.01)
    process.kill()
    process.wait()
    done = len(list(parts.glob("*.skops")))
    assert done >= 2
    assert not model.exists()
    trained, train = [], partitioned.train_box

    def counted(shard, *rest):
        trained.append(not shard.with_suffix(".skops").exists())
        train(shard, *rest)

    monkeypatch.setattr(partitioned, "train_box", counted)
    assert main(command) == 0
    assert "58,800 to train on" in capsys.readouterr().out
    assert len(trained) - sum(trained) == done < len(trained), "boxes that were done stay"
    assert not parts.exists()
    rows = board(2_000, 9)
    answers = kmviz.load(model).predict(rows.to_pandas())
    assert np.mean(answers == rows["side"].to_numpy()) > 0.98


def test_an_interrupted_fit_tells_where_its_work_is(folder, tmp_path, monkeypatch, capsys):
    model = tmp_path / "all.falk"
    command = ["-q", "fit", str(folder), *COMMAND, "--out", str(model)]

    def interrupted(*call):
        raise KeyboardInterrupt

    monkeypatch.setattr(partitioned, "train_box", interrupted)
    assert main(command) == 130
    assert "all.falk.parts: the same command continues" in capsys.readouterr().err


def test_an_array_and_its_classes(tmp_path, capsys):
    rows = board(20_000, 0)
    X, model = np.column_stack([rows["u"], rows["v"]]), tmp_path / "all.falk"
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", np.where(rows["side"].to_numpy() == "black", 1, 0))
    command = [*COMMAND, "--target", str(tmp_path / "y.npy"), "--out", str(model)]
    assert main(["-q", "fit", str(tmp_path / "X.npy"), *command]) == 0
    assert "19,600 to train on" in capsys.readouterr().out
    assert kmviz.load(model).score(X, np.load(tmp_path / "y.npy")) > 0.98


def test_an_empty_folder_is_refused(tmp_path, capsys):
    command = ["-q", "fit", str(tmp_path), *COMMAND, "--out", str(tmp_path / "all.falk")]
    assert main(command) == 2
    assert "holds no Parquet files" in capsys.readouterr().err
