"""The stored table of fitted models: complete, none of them wrong, nearly all taken."""

from pathlib import Path

import pandas as pd
import pytest

from benchmarks.models import MODELS, tried

ROOT = Path(__file__).resolve().parents[2]
TABLE = pd.read_csv(ROOT / "benchmarks" / "results" / "models.csv", comment="#", index_col="model")

#: No machine holds their rule.
REFUSED = ["subclass with its own predict"]


def test_every_model_is_in_the_table():
    assert TABLE.index.tolist() == list(MODELS)


def test_none_is_wrong_and_nearly_all_are_taken():
    refused = TABLE[TABLE["taken"] == "no"]
    assert refused.index.tolist() == REFUSED
    assert refused["why"].str.len().gt(20).all()
    assert (TABLE["taken"] == "yes").sum() >= 45
    answered = TABLE.drop(REFUSED)
    assert answered["right"].astype(bool).all()
    assert (answered["differ"] <= answered["promised"] * answered["queries"]).all()


@pytest.mark.parametrize("name", [*REFUSED, "BaggingClassifier", "KernelRidge"])
def test_a_row_can_be_made_again(name):
    row = tried(name, 1)
    assert (row["taken"] == "no") == (name in REFUSED)
    assert row.get("right", True)
