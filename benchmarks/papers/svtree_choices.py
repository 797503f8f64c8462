"""The parameters that cross-validation chose on each of the 20 training sets of `svtree`.

Choosing takes half an hour, so the result is stored in `choices/svtree.csv`. A full run of
`python -m kmviz.papers.run --only svtree --full` chooses again on the first split of each set.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import pandas as pd


class Choice(NamedTuple):
    """Parameters of one training set."""

    C: float
    gamma: float  # times the number of features
    linear_C: float
    stem: float
    fading: float


def chosen(name: str) -> list[Choice]:
    """Return the choices for a data set, one for each split."""
    rows = _stored().loc[[name], list(Choice._fields)]
    return [Choice(*row) for row in rows.itertuples(index=False)]


@cache
def _stored() -> pd.DataFrame:
    path = Path(__file__).parent / "choices" / "svtree.csv"
    return pd.read_csv(path, index_col="data").astype({"C": float})
