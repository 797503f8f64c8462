"""The figures that the papers print, from `published/*.csv`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

FOLDER = Path(__file__).parent / "published"


def read_published(name: str) -> pd.DataFrame:
    """Return a printed table, a row for each data set; empty cells are NaN."""
    return pd.read_csv(FOLDER / f"{name}.csv", comment="#", index_col="data")


def rows_of_sets(name: str) -> dict[str, tuple[Any, ...]]:
    """Return data set -> its row of a printed table."""
    return {row[0]: tuple(row[1:]) for row in read_published(name).itertuples()}
