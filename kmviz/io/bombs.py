"""How much a stored file becomes in memory, told before anything of it is built.

A zip archive is small where its content repeats. skops adds ways of its own to grow: many nodes
may name one array, each of which is read anew; a sparse matrix is an archive inside the archive;
nodes that refer to one another are looked at once for each path that leads to them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from zipfile import ZipFile

#: Bytes of memory for each byte of a schema, roughly: text becomes objects.
OBJECTS = 16


class BombError(ValueError):
    """A file that would take more memory or time than it may; the message is a whole sentence."""


def schema_within(archive: ZipFile, most: int) -> dict[str, Any]:
    """Return the schema of a skops file, refused where the file unfolds to more than `most` bytes.

    Raises
    ------
    BombError
    KeyError
        There is no schema.
    """
    entries = {entry.filename: entry.file_size for entry in archive.infolist()}
    _refuse(sum(entries.values()), most)
    _refuse(entries["schema.json"] * OBJECTS, most)
    schema = json.loads(archive.read("schema.json"))
    walk, total = _Walk(), 0
    walk.size(schema)
    for _, name in walk.files:
        total += entries.get(name, 0) + _inner_bytes(archive, name, entries)
        _refuse(total, most)
    return schema


def _refuse(unfolded: int, most: int) -> None:
    if unfolded > most:
        raise BombError(f"unfolds to {_size(unfolded)} or more; at most {_size(most)} are loaded.")


def _size(count: int) -> str:
    return f"{count / 2**30:.1f} GB" if count >= 2**29 else f"{count / 2**20:.1f} MB"


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield every node of a schema, as it is written."""
    left = [schema]
    while left:
        thing = left.pop()
        if isinstance(thing, dict):
            if "__loader__" in thing:
                yield thing
            left += thing.values()
        elif isinstance(thing, list):
            left += thing


def _inner_bytes(archive: ZipFile, name: str, entries: dict[str, int]) -> int:
    """What an archive inside the archive unfolds to; 0 where the entry is none."""
    if name not in entries:
        return 0
    with archive.open(name) as stream:
        if stream.read(4) != b"PK\x03\x04":
            return 0
    with archive.open(name) as stream, ZipFile(stream) as inner:
        return sum(entry.file_size for entry in inner.infolist())


class _Walk:
    """Goes through a schema, as it is written.

    skops reads a node once and takes it again wherever its name stands, but its audit goes down
    it each time. It writes the whole node each time, too: where that is so, an audit is no longer
    than the file.

    Attributes
    ----------
    files : set of tuples
        What names which entry: a node's name, or a number of its own where it has none.
    """

    def __init__(self) -> None:
        self.files: set[tuple[Any, str]] = set()
        self._sizes: dict[int, int] = {}

    def size(self, thing: Any) -> int:
        """Return how many objects of JSON a part of the schema consists of."""
        if isinstance(thing, list):
            return sum(map(self.size, thing))
        if not isinstance(thing, dict):
            return 0
        found = thing.get("__id__")
        identity = found if isinstance(found, int) else 0  # 0 is no name to skops
        if isinstance(file := thing.get("file"), str):
            self.files.add((identity or (len(self.files),), file))
        size = 1 + sum(map(self.size, thing.values()))
        if identity and self._sizes.setdefault(identity, size) != size:
            raise BombError("has two different objects under one name.")
        return size
