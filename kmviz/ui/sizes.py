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
    return sum(pieces_of(thing).values())


def pieces_of(thing: Any) -> dict[int, int]:
    """Return the bytes of each array and table that a thing leads to, by its identity.

    All that is smaller stands together, under the identity of the thing.
    """
    seen: set[int] = set()
    left, found, rest = [thing], dict[int, int](), 0
    while left and len(seen) < MOST_OBJECTS:
        one = left.pop()
        if id(one) in seen or isinstance(one, type | FunctionType | ModuleType):
            continue
        seen.add(id(one))
        if isinstance(one, np.ndarray):
            if isinstance(one.base, np.ndarray):
                left.append(one.base)
            else:
                found[id(one)] = one.nbytes
        elif isinstance(one, pd.DataFrame | pd.Series):
            found[id(one)] = int(np.sum(one.memory_usage(deep=True)))
        else:
            rest += getsizeof(one, 64)
            left += _inside(one)
    return {**found, id(thing): found.get(id(thing), 0) + rest}


def _inside(thing: Any) -> list[Any]:
    if isinstance(thing, str | bytes | int | float | complex | type(None)):
        return []
    if isinstance(thing, Mapping):
        return [*thing.keys(), *thing.values()]
    if isinstance(thing, list | tuple | set | frozenset):
        return list(set(thing) if set(map(type, thing)) == {str} else thing)
    slots = [getattr(thing, name, None) for name in getattr(type(thing), "__slots__", ())]
    return [*getattr(thing, "__dict__", {}).values(), *slots]
