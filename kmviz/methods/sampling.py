"""A uniform sample of rows that come in blocks: each draws a key, and the smallest keys stay."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def smallest_keys(rows: Any, keys: NDArray[np.float64], size: int) -> tuple[Any, Any]:
    """Return the rows, of an array or a frame, with the `size` smallest keys, and these keys.

    Rows keep their order. Keys are drawn uniformly, so that the rows are a uniform sample of all
    that went through here, however often and in whatever blocks.
    """
    if len(keys) <= size:
        return rows, keys
    kept = np.sort(np.argpartition(keys, size)[:size])
    return (rows.iloc[kept] if hasattr(rows, "iloc") else rows[kept]), keys[kept]
