"""Where compiled loops are kept: on disk, in folders that nobody else can write to.

numba unpickles what it finds in a cache, so a file that another user put there would run. A folder
is used only if it, and every folder above it, belongs to this user or to root and is closed to
others. The first that will do is written to; all that will do are read, so that loops which an
administrator compiled beside the package serve every user.

A cache never stands in the way of an answer: what is damaged is compiled again, and where nothing
can be written the loops are compiled in memory.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, NullCache
from numba.misc.appdirs import AppDirs

PACKAGE = Path(__file__).resolve().parent


@cache
def folders() -> tuple[Path, ...]:
    """Return where compiled loops may be kept, in the order in which they are looked for.

    The folder that NUMBA_CACHE_DIR names, then `__pycache__` beside the loops, then the user's own
    cache; of these, the ones that others cannot write to.
    """
    apart = f"loops-{sha256(str(PACKAGE).encode()).hexdigest()[:16]}"  # one for each installation
    named = [Path(config.CACHE_DIR).absolute() / apart] if config.CACHE_DIR else []
    own = Path(AppDirs("kmviz", appauthor=False).user_cache_dir) / apart
    return tuple(filter(is_private, (*named, PACKAGE / "__pycache__", own)))


def is_private(folder: Path) -> bool:
    """Whether nobody but this user and root can put files there; it need not exist yet."""
    if os.name == "nt":  # what stands in a user's profile is closed to others there
        return True
    if not folder.is_absolute():  # a home that could not be found
        return False
    try:
        while not folder.exists():
            folder = folder.parent
        folder = folder.resolve()
        return all(_is_closed(place, place == folder) for place in (folder, *folder.parents))
    except OSError:  # what we may not even look at is not ours
        return False


def _is_closed(place: Path, is_last: bool) -> bool:
    status = place.stat()
    if status.st_uid not in (0, os.geteuid()):
        return False
    if not is_last and status.st_mode & stat.S_ISVTX:  # as /tmp: others cannot rename what is ours
        return True
    if status.st_mode & stat.S_IWOTH:
        return False
    return not status.st_mode & stat.S_IWGRP or _is_group_of_one(status.st_gid)


def _is_group_of_one(gid: int) -> bool:
    """Whether a group is the one that many systems make for each user."""
    from grp import getgrgid
    from pwd import getpwuid

    try:
        user, group = getpwuid(os.geteuid()).pw_name, getgrgid(gid)
    except KeyError:
        return False
    return group.gr_name == user and set(group.gr_mem) <= {user}


@cache
def source_stamp(module: str) -> str:
    """Return a hash of a module's source and of all loops that are built into its own."""
    text = (PACKAGE / f"{module}.py").read_text(encoding="utf-8")
    parts = sorted(set(re.findall(r"^from kmviz\.loops\.(\w+) import", text, re.MULTILINE)))
    return sha256("".join([text, *map(source_stamp, parts)]).encode()).hexdigest()


class LoopCache(NullCache):
    """The kept forms of one loop: read from every folder, written to the first that takes them."""

    def __init__(self, loop: Any) -> None:
        self._stores = [_Store(loop, folder) for folder in folders()]

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled form for a signature; None where none is kept."""
        found = (store.load_overload(sig, target_context) for store in self._stores)
        return next((form for form in found if form is not None), None)

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Keep a compiled form, if any folder takes it."""
        any(store.keeps(sig, cres) for store in self._stores)


class _Store(FunctionCache):
    """numba's cache of one loop, in one folder."""

    def __init__(self, loop: Any, folder: Path) -> None:
        self._impl_class = partial(_Impl, folder=folder)
        super().__init__(loop)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # cut short or changed, it may raise anything: compile, and keep that
            self._forget()
            return None

    def keeps(self, sig: Any, cres: Any) -> bool:
        try:
            self.save_overload(sig, cres)
        except OSError:  # a full disk, a folder that is not ours to write
            return False
        return self._enabled

    def _forget(self) -> None:
        try:
            self.flush()
        except OSError:
            self.disable()


class _Impl(CompileResultCacheImpl):
    def __init__(self, loop: Any, folder: Path) -> None:
        self._lineno = loop.__code__.co_firstlineno
        self._locator = _Locator(loop, folder)
        name = f"{self._locator.module}.{loop.__qualname__}"
        self._filename_base = self.get_filename_base(name, getattr(sys, "abiflags", ""))


class _Locator:
    """What numba asks about the place of a cache."""

    def __init__(self, loop: Any, folder: Path) -> None:
        self.folder = folder
        self.module = loop.__module__.rpartition(".")[2]
        self._line = loop.__code__.co_firstlineno
        self._py_file = loop.__code__.co_filename

    def get_cache_path(self) -> str:
        return str(self.folder)

    def ensure_cache_path(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def get_source_stamp(self) -> str:
        return source_stamp(self.module)

    def get_disambiguator(self) -> str:
        return str(self._line)
