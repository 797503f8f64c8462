"""The FaLK-SVM paper's tables: what is cheap enough to check here."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kmviz.evaluation.papers import falk

ROOT = Path(__file__).resolve().parents[2]


def test_growth_is_close_to_linear():
    table = falk.growth(progress=None)
    assert {"paper", "ours", "exponent", "accuracy"} <= set(table.columns)
    assert (table.groupby("data")["rows"].apply(list).map(len) == 3).all()
    slopes = [
        np.polyfit(np.log(part["rows"]), np.log(part["ours"]), 1)[0]
        for _, part in table.groupby("data")
    ]
    assert max(slopes) < 1.5  # 1.07 measured on a quiet machine
    spirals = table[(table["data"] == "2-spirals") & (table["rows"] == 100_000)].iloc[0]
    assert spirals["accuracy"] == pytest.approx(0.8847, abs=0.01)  # table 5
    assert spirals["paper"] == 188.0


def test_published_figures_are_those_of_the_tables():
    assert falk.TABLE_5["cov-type"][2] == 92.89
    assert falk.TABLE_3["sonar"][7] == 87.88
    assert all(len(row) == 9 for row in falk.TABLE_3.values())
    assert set(falk.SPEEDUPS) == set(falk.TABLE_5) == set(falk.SIZES) == set(falk.SVC_PARAMETERS)


def test_parameters_of_svc_are_those_chosen_on_training_rows():
    stored = sorted((ROOT / "benchmarks" / "results").glob("falk_choice_*.csv"))
    assert stored
    for file in stored:
        table = pd.read_csv(file, comment="#")
        best = table[table["way"] == "SVC"].iloc[0]
        assert falk.SVC_PARAMETERS[best["data"]] == (best["C"], best["gamma"])


def test_large_sets_run_side_by_side():
    result = falk.large("checker-b", 3000)
    assert set(result.index) == set(falk.LARGE_METHODS)
    assert (result["accuracy"] > 0.85).all()
    assert result.loc["FaLK-SVM", "train"] < result.loc["FaLK-SVMl", "train"]


def test_data_that_is_not_there_is_left_out(monkeypatch):
    monkeypatch.delenv("KMVIZ_DATA", raising=False)
    assert falk.large_rows("cov-type") is None


def test_small_sets_have_every_method_and_kernel(monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.where(X[:, 0] > 0, 1, -1)
    monkeypatch.setattr(falk, "TABLE_3", {"heart": falk.TABLE_3["heart"]})
    monkeypatch.setattr(falk, "_whole", lambda name: (X, y))
    monkeypatch.setattr(falk, "_search", _one_candidate(falk._search))
    heard = []
    table = falk.small(full=True, progress=lambda share, text: heard.append(share))
    assert isinstance(table, pd.DataFrame)
    assert len(table) == 9
    assert (table["ours"] > 70).all()
    assert heard[-1] == 1.0


def _one_candidate(search):
    def narrowed(*args):
        made = search(*args)
        made.param_grid = {name: values[-1:] for name, values in made.param_grid.items()}
        made.cv = 2
        return made

    return narrowed
