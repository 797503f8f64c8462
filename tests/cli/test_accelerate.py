"""A stored model in, a fast one out, from a shell; training that a signal ends."""

import gzip
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

import kmviz
from kmviz.cli.console import Console
from kmviz.cli.fit import _warn_of_many
from kmviz.cli.main import main, parser

ROOT = Path(__file__).resolve().parents[2]
X, Y = make_moons(500, noise=0.3, random_state=0)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stored")
    frame = pd.DataFrame(X, columns=["a", "b"])
    kmviz.save(SVC().fit(frame[:100], Y[:100]), folder / "svc.skops")
    frame.assign(c=1)[["c", "b", "a"]][100:].to_csv(folder / "rows.csv", index=False)
    np.save(folder / "rows.npy", X)
    return folder


def run(*arguments):
    return main(["-q", *map(str, arguments)])


def test_a_stored_model_becomes_fast_and_is_audited(stored, capsys):
    out = stored / "fast.skops"
    assert run("accelerate", stored / "svc.skops", stored / "rows.csv", "--max-disagreement",
               "0.05", "--out", out) == 0  # fmt: skip
    assert "promise     " in capsys.readouterr().out
    fast = kmviz.load(out)
    assert fast.feature_names_in_.tolist() == ["a", "b"]
    assert run("audit", out, stored / "rows.csv") == 0
    said = capsys.readouterr().out
    assert "of 400 audited answers differ" in said
    assert "promised" in said


def test_a_broken_promise_is_code_1(stored, capsys):
    rows = pd.DataFrame(X[100:], columns=["a", "b"])
    fast = kmviz.accelerate(kmviz.load(stored / "svc.skops"), rows, method="exact")
    fast.estimator_ = SVC(gamma=50.0).fit(pd.DataFrame(X, columns=["a", "b"]), Y)
    kmviz.save(fast, stored / "other.skops")
    assert run("audit", stored / "other.skops", stored / "rows.csv") == 1


def test_a_slim_file_answers_and_is_not_audited(stored, capsys):
    for slim in ([], ["--slim"]):
        assert run("accelerate", stored / "svc.skops", stored / "rows.csv", "--method",
                   "reduced", "--max-disagreement", "0.2", *slim, "--out",
                   stored / f"fast{len(slim)}.skops") == 0  # fmt: skip
    whole, slim = (kmviz.load(stored / f"fast{i}.skops") for i in (0, 1))
    frame = pd.DataFrame(X, columns=["a", "b"])
    np.testing.assert_array_equal(whole.predict(frame), slim.predict(frame))
    sizes = [(stored / f"fast{i}.skops").stat().st_size for i in (0, 1)]
    assert sizes[1] < 0.9 * sizes[0]
    with pytest.raises(AttributeError, match="estimator_"):
        kmviz.audit(slim, frame)


def test_what_is_no_machine_is_one_line(stored, capsys):
    kmviz.save(LogisticRegression().fit(X, Y), stored / "plain.skops")
    code = run("accelerate", stored / "plain.skops", stored / "rows.npy", "--out",
               stored / "no.skops")  # fmt: skip
    assert code == 2
    assert "LogisticRegression is not a kernel machine" in capsys.readouterr().err
    assert not (stored / "no.skops").exists()
    assert run("audit", stored / "plain.skops", stored / "rows.npy") == 2


def test_columns_that_are_missing_are_named(stored, tmp_path, capsys):
    pd.DataFrame(X, columns=["a", "z"]).to_csv(tmp_path / "z.csv", index=False)
    assert run("accelerate", stored / "svc.skops", tmp_path / "z.csv", "--out",
               tmp_path / "m.skops") == 2  # fmt: skip
    assert "has no column 'b'" in capsys.readouterr().err


def test_fit_without_rows_held_out_takes_the_exact_machine(tmp_path, capsys):
    path = tmp_path / "rows.csv.gz"
    frame = pd.DataFrame(X[:120], columns=["a", "b"]).assign(kind=Y[:120])
    path.write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
    assert run("fit", path, "--test-share", "0", "--out", tmp_path / "m.skops") == 0
    said = capsys.readouterr().out
    assert "120 to train on" in said
    assert "certified" in said
    assert "accuracy" not in said


def test_many_rows_are_warned_of(capsys):
    for method, words in (("auto", "falk"), ("falk", "")):
        given = ["fit", "x.csv", "--method", method, "--out", "m.skops"]
        options = parser(given).parse_args(given)
        _warn_of_many(options, 20_001, Console())
        said = capsys.readouterr().err
        assert bool(words) == bool(said)
        assert words in said
    _warn_of_many(options, 20_000, Console())
    assert not capsys.readouterr().err


def test_progress_never_falls(capsys):
    console = Console()
    console._terminal = True
    for share in (0.2, 0.6, 0.1, 0.7):
        console.progress(share, "")
    shown = [part.strip() for part in capsys.readouterr().err.split("\r\033[K") if part]
    assert shown == ["20%", "60%", "60%", "70%"]


TRAINING = """
import sys
import numpy as np
from sklearn.svm import SVC
from kmviz.cli import fit
from kmviz.cli.main import main
rng = np.random.default_rng(0)
rows = rng.normal(size=(6000, 50))
print("ready", flush=True)
fit._trained = lambda *_: SVC(C=1e6, gamma=1e-4).fit(rows, rng.integers(0, 2, 6000))
sys.exit(main(["-q", "fit", "two_moons", "--n", "50", "--out", sys.argv[1]]))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_training_ends_at_once(number, tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", TRAINING, tmp_path / "m.skops"], cwd=ROOT,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    process.stdout.readline()
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob(".m*")) and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.5)
    assert process.poll() is None, "it should still be training"
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert process.returncode == -number  # 143 or 130 to a shell
    assert "nothing half-written" in said
    assert not list(tmp_path.iterdir())
