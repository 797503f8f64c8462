"""Numbers and words by position: what stays the same is stored once.

A column is static (one row for all positions), stacked (axis 0 is the position) or a list with
one array for each position, of any lengths. Rows that repeat are stored once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Kinds of integers that a browser can read in place, smallest first.
INTEGERS = ("u1", "i1", "u2", "i2", "i4")


def numbers(values: Any, base: int, positions: int, name: str) -> dict[str, NDArray[Any]]:
    """Return the distinct rows of a column one after another, and which row each position reads.

    Parameters
    ----------
    values : an array with `base` axes for all positions, with one more (first) axis for each of
        them, or a list with an array for each
    """
    rows = _rows(values, base, positions, name)
    kind = smallest(rows)
    places: dict[bytes, int] = {}
    index = [places.setdefault(row.astype(kind).tobytes(), len(places)) for row in rows]
    lengths = [len(row) // np.dtype(kind).itemsize for row in places]
    return {
        "data": np.frombuffer(b"".join(places), dtype=kind),
        "starts": np.append(0, np.cumsum(lengths)).astype("u4"),
        "index": np.array(index, dtype="u2"),
    }


def words(values: Any, base: int, positions: int, name: str) -> dict[str, Any]:
    """Return the distinct words of a column, and the column of their numbers."""
    rows = [values] if _is_static_text(values, base) else list(values)
    texts = [[row] if isinstance(row, str) else [str(word) for word in row] for row in rows]
    table: dict[str, int] = {}
    codes = [
        np.array([table.setdefault(word, len(table)) for word in row], dtype=np.int64)
        for row in texts
    ]
    column = codes[0] if len(codes) == 1 and _is_static_text(values, base) else codes
    return {"words": list(table), "codes": numbers(column, 1, positions, name)}


def smallest(rows: Sequence[NDArray[Any]]) -> str:
    """Return the smallest kind that holds these numbers; any broken number makes it float32."""
    if any(row.dtype.kind not in "biu" for row in rows):
        return "f4"
    least = min((int(row.min()) for row in rows if row.size), default=0)
    most = max((int(row.max()) for row in rows if row.size), default=0)
    fitting = (k for k in INTEGERS if np.iinfo(k).min <= least and most <= np.iinfo(k).max)
    return next(fitting, "f4")


def _rows(values: Any, base: int, positions: int, name: str) -> list[NDArray[Any]]:
    if isinstance(values, (list, tuple)) and base and len(values) and np.ndim(values[0]) == base:
        rows = [np.asarray(row) for row in values]
    else:
        array = np.asarray(values)
        if array.ndim == base:
            return [array.ravel()]
        rows = list(array)
        if array.ndim != base + 1:
            raise ValueError(
                f"{name} has {array.ndim} axes: give {base} for all positions of the slider, or "
                f"{base + 1} with the position first"
            )
    if len(rows) != positions:
        raise ValueError(f"{name} has {len(rows)} positions, the slider {positions}")
    return [row.ravel() for row in rows]


def _is_static_text(values: Any, base: int) -> bool:
    if base == 0:
        return isinstance(values, str)
    return len(values) == 0 or isinstance(values[0], str)
