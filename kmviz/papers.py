"""The papers' tables, ours beside theirs: a function for each table.

Each function takes `full=False` (quick settings, which say so) and `progress=None`, and returns
a frame with `paper` and `ours` columns. A paper's module lists its own in `TABLES`; they are
all reached here under the paper's short name, as in `kmviz.papers.svtree_accuracy()`.

The modules are in `benchmarks/papers` of a checkout; an installed package carries a copy.
`python -m kmviz.papers.run` makes the stored tables.

Examples
--------
>>> from kmviz import papers
>>> all(callable(getattr(papers, name)) for name in papers.names())
True
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import pandas as pd

from kmviz.io.places import tables_folder

Table = Callable[..., pd.DataFrame]

#: `import kmviz.papers.nsv` finds `nsv.py` in this folder, in worker processes as well.
__path__ = [str(tables_folder())]

#: The papers' modules, in the order of the app's pages.
PAPERS = ("nsv", "anytime", "reduced", "falk", "svtree")


@cache
def by_paper() -> dict[str, dict[str, Table]]:
    """Return paper -> table name -> function, from `TABLES` of each paper's module."""
    return {
        paper: {
            name if name.startswith(paper) else f"{paper}_{name}": table
            for name, table in import_module(f"{__name__}.{paper}").TABLES.items()
        }
        for paper in PAPERS
    }


def names() -> list[str]:
    """Return the names of all tables."""
    return list(_functions())


def table(name: str, full: bool = False, progress: Any = None) -> pd.DataFrame:
    """Make one table.

    Parameters
    ----------
    name : str
        One of `names()`.
    full : bool
        True takes the paper's own sizes, however long that lasts.
    progress : callable, optional
        Called with a share and a text.
    """
    functions = _functions()
    if name not in functions:
        raise ValueError(f"No table is called {name!r}; choose one of {', '.join(functions)}.")
    return functions[name](full=full, progress=progress)


def _functions() -> dict[str, Table]:
    return {name: table for tables in by_paper().values() for name, table in tables.items()}


def __getattr__(name: str) -> Table:
    """Find a table by attribute; the papers' modules are read when first asked for."""
    if not name.startswith("_") and name in _functions():
        return _functions()[name]
    raise AttributeError(f"kmviz.papers has no table {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_functions()])
