"""The benchmark runner: finds, runs, stores, and goes on after a failure."""

import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_moons

from benchmarks import growth, headline
from kmviz import SubsampledSVC

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def runner(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("bench_run", ROOT / "benchmarks" / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "good.py").write_text(
        "import pandas as pd\n"
        "def tables(quick):\n"
        "    return {'good_table': pd.DataFrame({'x': [1.0 if quick else 2.0]})}\n"
    )
    (tmp_path / "bad.py").write_text("def tables(quick):\n    raise RuntimeError('no data')\n")
    (tmp_path / "helper.py").write_text("value = 1\n")
    monkeypatch.setattr(module, "HERE", tmp_path)
    monkeypatch.setattr(module, "RESULTS", tmp_path / "results")
    return module


def test_tables_are_stored_with_machine_and_command(runner, capsys):
    assert runner.run(["good"]) == 0
    stored = (runner.RESULTS / "good_table.csv").read_text()
    assert stored.startswith("# python benchmarks/run.py good\n# ")
    assert "scikit-learn" in stored
    assert pd.read_csv(runner.RESULTS / "good_table.csv", comment="#")["x"].tolist() == [1.0]
    assert "| x |" in (runner.RESULTS / "good_table.md").read_text()
    assert "good_table" in capsys.readouterr().out


def test_one_failure_does_not_stop_the_others(runner, capsys):
    assert runner.run(full=True) == 1
    assert "bad failed: RuntimeError: no data" in capsys.readouterr().err
    stored = pd.read_csv(runner.RESULTS / "good_table.csv", comment="#")
    assert stored["x"].tolist() == [2.0]


def test_a_smaller_table_does_not_replace_a_full_one(runner, capsys):
    assert runner.run(["good"], full=True) == 0
    assert runner.run(["good"]) == 0
    stored = runner.RESULTS / "good_table.csv"
    assert pd.read_csv(stored, comment="#")["x"].tolist() == [2.0]
    assert "stays as `python benchmarks/run.py --full good`" in capsys.readouterr().err
    alone = "# python benchmarks/run.py --full good --table good_table\nx\n3.0\n"
    stored.write_text(alone)  # as a full run stores a table that was made by itself
    assert runner.run(["good"]) == 0
    assert stored.read_text() == alone
    good = runner.HERE / "good.py"
    good.write_text(good.read_text() + "ONE_SIZE = True\n")
    assert runner.run(["good"]) == 0
    assert stored.read_text().startswith("# python benchmarks/run.py good\n")


def test_one_that_cannot_be_imported_fails_alone(runner, capsys):
    (runner.HERE / "absent.py").write_text("import no_such_module\ndef tables(quick): ...\n")
    assert runner.run(["good"]) == 0
    assert runner.run(["absent", "good"]) == 1
    assert "absent failed: ModuleNotFoundError" in capsys.readouterr().err


def test_a_table_can_be_made_alone(runner):
    (runner.HERE / "parts.py").write_text(
        "import pandas as pd\n"
        "def tables(quick):\n"
        "    one = lambda: pd.DataFrame({'x': [1]})\n"
        "    return {'one': one, 'two': lambda: 1 / 0, 'gone': lambda: None}\n"
    )
    assert runner.run(["parts"], table="one") == 0
    assert runner.run(["parts"], table="gone") == 0
    assert [path.name for path in runner.RESULTS.glob("*.csv")] == ["one.csv"]
    stored = (runner.RESULTS / "one.csv").read_text()
    assert stored.startswith("# python benchmarks/run.py parts --table one\n# ")
    assert runner.run(["parts"]) == 1


def test_an_unknown_benchmark_is_named(runner):
    with pytest.raises(ValueError, match="No benchmark other; known: bad, good"):
        runner.run(["other"])


def test_markdown_shows_three_digits_and_no_nan(runner):
    text = runner.markdown(pd.DataFrame({"a": [0.123456, np.nan, 12345.6], "b": ["x|y", "z", 3]}))
    assert text.splitlines()[2:] == ["| 0.123 | x\\|y |", "|  | z |", "| 12,346 | 3 |"]


def test_growth_times_every_way_on_the_same_queries():
    X, y = make_moons(700, noise=0.2, random_state=0)
    table = growth.measured(X[:200], 2 * y[:200] - 1, X[200:], 2.0, repeats=1).set_index("way")
    assert list(table.index[:4]) == ["SVC", "exact, float32", *growth.STARTS.values()]
    assert (table["vectors"] == 200).all()
    assert table.loc["exact, float32", "differ"] == 0
    assert table.loc["SVC", "batch_ratio"] == table.loc["exact, float32", "batch_vs_float32"] == 1.0
    assert (table[["batch_us", "single_us"]] > 0).all().all()


def test_a_headline_setting_is_chosen_on_training_rows():
    X, y = make_moons(400, noise=0.2, random_state=0)
    grid = {"gamma": [1e-6, 2.0], "C": [1.0]}
    assert headline.chosen(SubsampledSVC(100, random_state=0), grid, X, y)["gamma"] == 2.0
    assert headline.chosen(SubsampledSVC(100), {}, X, y) == {}
