"""One view as one run of bytes: a header in JSON, then its arrays as they lie in memory."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

_ALIGNED = 8


def pack(spec: dict[str, Any]) -> bytes:
    """Return the bytes of a view.

    Four bytes say how long the header is. In the header an array is its kind, where it begins
    after the header, and how many numbers it holds. Equal arrays lie in one place.
    """
    parts: dict[bytes, int] = {}
    header = json.dumps(_placed(spec, parts), allow_nan=False, separators=(",", ":")).encode()
    header += b" " * (-(len(header) + 4) % _ALIGNED)
    return len(header).to_bytes(4, "little") + header + b"".join(parts)


def unpack(blob: bytes) -> dict[str, Any]:
    """Return what `pack` was given: for tests, and for looking at what a page sent."""
    length = int.from_bytes(blob[:4], "little")
    return _found(json.loads(blob[4 : 4 + length]), blob[4 + length :])


def at(column: dict[str, Any], position: int) -> Any:
    """Return what an unpacked column holds for a position: an array, or a list of words."""
    if "words" in column:
        return [column["words"][code] for code in at(column["codes"], position)]
    index = column["index"]
    row = int(index[position if len(index) > 1 else 0])
    return column["data"][column["starts"][row] : column["starts"][row + 1]]


def _placed(value: Any, parts: dict[bytes, int]) -> Any:
    if isinstance(value, dict):
        return {name: _placed(part, parts) for name, part in value.items() if part is not None}
    if isinstance(value, (list, tuple)):
        return [_placed(part, parts) for part in value]
    if isinstance(value, np.ndarray):
        content = value.astype(value.dtype.newbyteorder("<"), copy=False).tobytes()
        content += b"\0" * (-len(content) % _ALIGNED)
        begins = parts.setdefault(content, sum(map(len, parts)))
        return {"array": value.dtype.str[1:], "begins": begins, "size": value.size}
    return value.item() if isinstance(value, np.generic) else value


def _found(value: Any, content: bytes) -> Any:
    if isinstance(value, list):
        return [_found(part, content) for part in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return np.frombuffer(content, "<" + value["array"], value["size"], value["begins"])
    return {name: _found(part, content) for name, part in value.items()}
