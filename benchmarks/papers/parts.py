"""Parts of a table that takes hours: a run that was broken off goes on where it stopped.

The environment variable KMVIZ_PARTS names the folder they are kept in; without it none is.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pandas as pd

import kmviz
from kmviz.io.whole import written_whole


def part(name: str, make: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    """Return a part that the same sources made before, or make it and keep it."""
    folder = os.environ.get("KMVIZ_PARTS")
    if not folder:
        return make()
    path = Path(folder) / f"{name}_{_sources()}.csv"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        made = make()
        with written_whole(path) as place:
            place.write_text(made.to_csv(index=False), encoding="utf-8")
    return pd.read_csv(path)


def _sources() -> str:
    """Return a digest of every source file of the package and of the papers' tables."""
    package, tables = Path(kmviz.__file__).parent, Path(__file__).parent
    files = sorted({*package.rglob("*.py"), *tables.glob("*.py")})
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]
