"""Rows of numbers that somebody typed or pasted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kmviz.datasets.record import DataError

#: Rows that are read at most.
MOST = 1_000


def read_rows(text: str, n_features: int) -> NDArray[np.float64]:
    """Return the rows of a text: a line for each, numbers parted by commas, tabs or blanks.

    Examples
    --------
    >>> read_rows("1, 2\\n3 4.5", 2).tolist()
    [[1.0, 2.0], [3.0, 4.5]]
    """
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.replace(",", " ").replace(";", " ").split()
        if not words:
            continue
        try:
            row = [float(word) for word in words]
        except ValueError:
            raise DataError(f"Line {number} holds something that is no number.") from None
        if len(row) != n_features:
            raise DataError(
                f"Line {number} has {len(row)} numbers; a query has {n_features} here, in the "
                "order of the data's columns and without a label."
            )
        rows.append(row)
    if not 1 <= len(rows) <= MOST:
        raise DataError(f"{len(rows):,} rows: paste 1 to {MOST:,}, a line for each.")
    if not np.isfinite(rows).all():
        raise DataError("A query holds a number that is not finite.")
    return np.array(rows)
