"""A table with text, gaps and two classes; the command line in this process."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kmviz.cli.main import main


@pytest.fixture(scope="session")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)).round(4)
    colour = rng.choice(["red", "green", "blue"], 400)
    inside = X[:, 0] ** 2 + X[:, 1] ** 2 + (colour == "red") < 1.5
    made = pd.DataFrame(X, columns=["a", "b", "c"]).astype(object)
    made["colour"], made["kind"] = colour, np.where(inside, "in", "=out()")
    made.loc[5, "a"], made.loc[7, "colour"] = "", ""
    return made


@pytest.fixture(scope="session")
def table(frame: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "train.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def model(table: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "fast.skops"
    code = main(["-q", "fit", str(table), "--target", "kind", "--method", "svtree", "--out",
                 str(path)])  # fmt: skip
    assert code == 0
    return path


@pytest.fixture
def new_rows(frame: pd.DataFrame, tmp_path: Path) -> Path:
    path = tmp_path / "new.csv"
    frame.drop(columns="kind").to_csv(path, index=False)
    return path
