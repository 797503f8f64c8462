"""How much memory something takes, roughly: the arrays, texts and tables that it leads to."""

from __future__ import annotations

from collections.abc import Mapping
from sys import getsizeof
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pandas as pd

#: Objects that are looked at; what has more is mostly arrays by then.
MOST_OBJECTS = 20_000


def size_of(thing: Any) -> int:
    """Return the bytes that a thing keeps in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from kmviz.ui.sizes import size_of
    >>> size_of({"a": np.zeros(1_000), "b": [np.zeros(500)]}) // 1_000
    12
    """
    seen: set[int] = set()
    left, total = [thing], 0
    while left and len(seen) < MOST_OBJECTS:
        found = left.pop()
        if id(found) in seen or isinstance(found, type | FunctionType | ModuleType):
            continue
        seen.add(id(found))
        if isinstance(found, np.ndarray):
            is_view = isinstance(found.base, np.ndarray)
            left += [found.base] if is_view else []
            total += 0 if is_view else found.nbytes
        elif isinstance(found, pd.DataFrame | pd.Series):
            total += int(np.sum(found.memory_usage(deep=True)))
        else:
            total += getsizeof(found, 64)
            left += _inside(found)
    return total


def _inside(thing: Any) -> list[Any]:
    if isinstance(thing, str | bytes | int | float | complex | type(None)):
        return []
    if isinstance(thing, Mapping):
        return [*thing.keys(), *thing.values()]
    if isinstance(thing, list | tuple | set | frozenset):
        return list(set(thing) if set(map(type, thing)) == {str} else thing)
    slots = [getattr(thing, name, None) for name in getattr(type(thing), "__slots__", ())]
    return [*getattr(thing, "__dict__", {}).values(), *slots]
