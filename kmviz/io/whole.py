"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Give a temporary path beside `path`; rename it at the end, remove it if anything fails."""
    check_place(path)
    handle, name = tempfile.mkstemp(
        dir=path.parent, prefix=f".{path.stem}.", suffix=f".part{path.suffix}"
    )
    os.close(handle)
    temporary = Path(name)
    try:
        temporary.chmod(0o666 & ~_umask())
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def check_place(path: Path) -> None:
    """Refuse a path that no file can be written to, before any work is done."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {str(path.parent)!r} to write to.")
    if path.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder; name a file.")


def _umask() -> int:
    """The process's mask; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
