"""Labelling files: order, bad rows, formats, memory, and nothing half-written."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.svm import SVC

import kmviz
from kmviz.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
ENV = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def _predict(*arguments):
    return main(["-q", "predict", *map(str, arguments)])


def _read(path):
    return pd.read_csv(path, keep_default_na=False)


def test_labels_keep_the_order_of_the_rows(model, new_rows, frame, tmp_path):
    out = tmp_path / "labels.csv"
    assert _predict(model, new_rows, "--out", out, "--chunk", 37) == 0
    labels = _read(out)
    assert labels["row"].tolist() == list(range(2, 402)), "as a spreadsheet counts"
    expected = kmviz.load(model).predict(frame)
    assert labels["label"].tolist() == ["'=out()" if e == "=out()" else e for e in expected]


def test_outputs_can_be_written_too(model, new_rows, frame, tmp_path):
    out = tmp_path / "labels.parquet"
    assert _predict(model, new_rows, "--out", out, "--decision", "--chunk", 100) == 0
    labels = pd.read_parquet(out)
    expected = kmviz.load(model)
    np.testing.assert_allclose(labels["output"], expected.decision_function(frame))
    assert labels["label"].tolist() == expected.predict(frame).tolist()


def test_without_out_the_labels_go_to_stdout(model, new_rows, capsys):
    assert _predict(model, new_rows) == 0
    assert capsys.readouterr().out.startswith("row,label\n2,")


@pytest.mark.parametrize("content", ["", "a,b,c\n1,2,3\n", "a,b,c,colour\nx,1,2,red\n"])
def test_what_is_refused_at_once_leaves_stdout_empty(model, content, tmp_path, capsys):
    path = tmp_path / "rows.csv"
    path.write_text(content)
    assert _predict(model, path) == 2
    assert capsys.readouterr().out == ""


def test_no_rows_are_a_header(model, tmp_path, capsys):
    path = tmp_path / "rows.csv"
    path.write_text("a,b,c,colour\n")
    assert _predict(model, path, "--decision") == 0
    assert capsys.readouterr().out == "row,label,output\n"


@pytest.fixture
def bad_rows(new_rows):
    lines = new_rows.read_text().splitlines()
    lines[10], lines[20], lines[30], lines[40] = "1,2", "x,1,2,red", "=1+1,1,2,red", "1,2,3,red,9"
    lines.append("1")
    new_rows.write_text("\n".join(lines) + "\n")
    return new_rows


@pytest.mark.parametrize("chunk", [7, 1000])
def test_bad_rows_are_named_and_skipped(model, bad_rows, tmp_path, capsys, chunk):
    out = tmp_path / "labels.csv"
    assert _predict(model, bad_rows, "--out", out, "--on-error", "skip", "--chunk", chunk) == 0
    labels = _read(out)
    assert labels["row"].tolist() == list(range(2, 403))
    assert labels.loc[labels["label"] == "", "row"].tolist() == [11, 21, 31, 41, 402]
    said = capsys.readouterr().err
    for row in (11, 21, 31, 41, 402):
        assert f"row {row} skipped" in said


def test_bad_rows_stop_the_run_and_leave_nothing(model, bad_rows, tmp_path, capsys):
    before = set(tmp_path.iterdir())
    assert _predict(model, bad_rows, "--out", tmp_path / "labels.csv", "--chunk", 7) == 2
    assert "Row 11 of" in capsys.readouterr().err
    assert set(tmp_path.iterdir()) == before


def test_a_missing_column_is_nobodys_row(model, tmp_path, capsys):
    (tmp_path / "other.csv").write_text("a,b\n1,2\n3,4\n")
    out = tmp_path / "l.csv"
    assert _predict(model, tmp_path / "other.csv", "--on-error", "skip", "--out", out) == 2
    assert "no column 'c'" in capsys.readouterr().err


def test_parquet_and_arrays_are_read(model, frame, tmp_path):
    frame.drop(columns="kind").astype({"a": str}).to_parquet(tmp_path / "new.parquet")
    assert _predict(model, tmp_path / "new.parquet", "--out", tmp_path / "l.csv") == 0
    assert len(_read(tmp_path / "l.csv")) == 400
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    svc = SVC().fit(X, y)
    kmviz.save(svc, tmp_path / "svc.skops")
    np.save(tmp_path / "X.npy", X)
    assert _predict(tmp_path / "svc.skops", tmp_path / "X.npy", "--out", tmp_path / "l.csv") == 0
    assert _read(tmp_path / "l.csv")["label"].tolist() == svc.predict(X).tolist()
    np.save(tmp_path / "bad.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    assert _predict(tmp_path / "svc.skops", tmp_path / "bad.npy") == 2


def test_a_plain_estimator_reads_a_table_of_numbers(tmp_path, capsys):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    kmviz.save(SVC().fit(X, X[:, 0] > 0), tmp_path / "svc.skops")
    pd.DataFrame(X, columns=["a", "b"]).to_csv(tmp_path / "x.csv", index=False)
    assert _predict(tmp_path / "svc.skops", tmp_path / "x.csv", "--out", tmp_path / "l.csv") == 0
    (tmp_path / "x.csv").write_text("a,b\n1,2\n1,oops\n")
    assert _predict(tmp_path / "svc.skops", tmp_path / "x.csv", "--out", tmp_path / "l.csv") == 2
    assert "Row 3 of column 'b' is not a number" in capsys.readouterr().err


@pytest.fixture
def long_file(frame, tmp_path):
    path = tmp_path / "long.csv"
    rows = frame.drop(columns="kind").to_csv(index=False).split("\n", 1)
    with path.open("w") as stream:
        stream.write(rows[0] + "\n")
        for _ in range(1_500):
            stream.write(rows[1])
    return path


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_stopped_half_way_it_leaves_nothing_behind(model, long_file, tmp_path, number, code):
    out = tmp_path / "labels.csv"
    process = subprocess.Popen(
        [sys.executable, "-m", "kmviz", "predict", model, long_file, "--out", out],
        cwd=ROOT, env=ENV, stderr=subprocess.PIPE, text=True,
        # A shell lets what it runs in the background ignore Ctrl-C, and so all that that starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob(".labels*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    assert process.poll() is None, "it should still be at work"
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert process.returncode == code
    assert "nothing half-written" in said
    assert sorted(p.name for p in tmp_path.iterdir()) == ["long.csv"]
