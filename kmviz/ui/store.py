"""What took long, kept on disk: the next start of the app finds it ready.

A thing is kept under its name and under all that it rests on: the package's sources, the embedded
data, the versions of what computes, and the computer, whose times some of it tells. Where any of
these changes it is made again. What is a visitor's own is never kept here.

Things are pickled, so the folder must be closed to others, as that of the compiled loops. It is
named by KMVIZ_CACHE (empty: nothing is kept), or is `kmviz/pages` in the user's cache. A store
never stands in the way of an answer: what cannot be read is made again.
"""

from __future__ import annotations

import copyreg
import os
import pickle
import platform
from collections.abc import Hashable
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any

from kmviz.datasets.shipped import FOLDERS
from kmviz.loops.cache import is_private

#: Bytes that all things, and one of them, may take; those not asked for the longest go first.
MOST_BYTES, MOST_EACH = 2**30, 128 * 2**20
#: A thing is kept if making it took so many seconds of CPU, and took them for so few bytes each:
#: else it is made about as soon as it is read.
LONG, BYTES_PER_SECOND = 0.03, 1e8
_PACKAGE = Path(__file__).resolve().parents[1]
_COMPUTE = ("numpy", "scipy", "scikit-learn", "numba", "pandas")


def folder() -> Path | None:
    """Return where things are kept; None where nothing is."""
    named = os.environ.get("KMVIZ_CACHE")
    if named == "":
        return None
    usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kmviz" / "pages"
    place = Path(named).absolute() if named else usual
    return place if is_private(place) else None


@cache
def stamp() -> str:
    """Return a hash of all that every kept thing rests on."""
    found = sha256(f"{platform.node()} {platform.python_version()}".encode())
    for name in _COMPUTE:
        found.update(f"{name} {version(name)}".encode())
    for path in sorted(_PACKAGE.rglob("*.py")):
        found.update(path.read_bytes())
    for path in (path for place in FOLDERS for path in sorted(place.glob("*.npz"))):
        found.update(f"{path.name} {path.stat().st_size}".encode())
    return found.hexdigest()


def _path(name: str, key: Hashable) -> Path | None:
    place, text = folder(), repr(key)
    if place is None or " at 0x" in text:  # a key that means nothing in another process
        return None
    return place / f"{sha256(f'{stamp()} {name} {text}'.encode()).hexdigest()}.pickle"


def load(name: str, key: Hashable) -> tuple[Any] | None:
    """Return the thing that is kept, alone in a tuple; None where there is none."""
    path = _path(name, key)
    if path is None or not path.is_file():
        return None
    try:
        thing = pickle.loads(path.read_bytes())
        path.touch()
    except Exception:  # cut short or damaged it may raise anything: it is made again
        path.unlink(missing_ok=True)
        return None
    return (thing,)


def save(name: str, key: Hashable, thing: Any, seconds: float) -> bool:
    """Keep a thing, and let go of the oldest where it is too much; return whether it is kept.

    Parameters
    ----------
    seconds : CPU time that making it took
    """
    path = _path(name, key) if seconds >= LONG else None
    if path is None:
        return False
    packed = BytesIO()
    _Whole(packed, protocol=5).dump(thing)
    if packed.tell() > min(MOST_EACH, seconds * BYTES_PER_SECOND):
        return False
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}")
        part.write_bytes(packed.getbuffer())
        part.replace(path)
        _trim(path.parent)
    except OSError:  # a full disk, or a folder that is not ours to write
        return False
    return True


class _Whole(pickle.Pickler):
    """Keeps also what a class leaves out of its files and could not make again: a page reads it."""

    def reducer_override(self, thing: Any) -> Any:
        cls = type(thing)
        if "__getstate__" in vars(cls) and not hasattr(cls, "__setstate__"):
            return copyreg.__newobj__, (cls,), vars(thing)  # type: ignore[attr-defined]
        return NotImplemented


def _trim(place: Path) -> None:
    kept = sorted(place.glob("*.pickle"), key=lambda path: path.stat().st_mtime)
    total = sum(path.stat().st_size for path in kept)
    for path in kept:
        if total <= MOST_BYTES:
            return
        total -= path.stat().st_size
        path.unlink(missing_ok=True)
