"""What the canvas reads of a chart: all its positions, as one run of bytes.

Rows that repeat are stored once, equal arrays lie in one place, and numbers take as few bytes as
hold them: 2,000 points with output, steps and group over 51 positions are 0.6 MB, a map of 80 x 80
cells over as many 0.3 MB.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.charts import theme
from kmviz.charts.chart import Band, Chart, Heat, Images, Layer, Line, Points, Record, rows_of

#: Kinds of integers that a browser can read in place, smallest first.
INTEGERS = ("u1", "i1", "u2", "i2", "i4")
#: What a legend draws for each symbol.
_GLYPHS = {
    "circle": "●", "diamond": "◆", "square": "■", "triangle-up": "▲", "star": "★", "x": "✕",
    "ring": "○",
}  # fmt: skip
#: The code of a cell without a value.
EMPTY = 255
_NAMED = {*theme.COLORS, *theme.DIVERGING, *theme.SEQUENTIAL, theme.INK, theme.FAINT, theme.PAPER}
_ALIGNED = 8


def spec(view: Chart | Images, positions: int) -> dict[str, Any]:
    """Return a chart or a strip of images as the canvas reads it."""
    if isinstance(view, Images):
        return _strip(view, positions)
    layers = [_layer(layer, positions) for layer in view.layers]
    for sent in layers:
        if view.equal and sent["kind"] == "line":
            del sent["names"]  # on a map one points at what lies below its lines
        elif view.equal and sent["kind"] == "points":  # and below points that say no more
            sent["silent"] = not {"hover", "text", "id"} & sent.keys()
        elif sent["kind"] in ("points", "line") and not (
            view.equal or view.x.hidden or sent.get("hover") or "text" in sent
        ):
            sent["hover"] = {view.x.title: sent["x"], view.y.title: sent["y"]}
    x, y = view.ranged()
    return _fields(view, positions) | {
        "layers": layers,
        "legend": [entry for layer in view.layers for entry in _legend(layer)],
        "x": _without_none(vars(x)),
        "y": _without_none(vars(y)),
    }


def _without_none(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if value is not None}


def _fields(record: Record, positions: int) -> dict[str, Any]:
    """Return the fields of a record, its columns packed by position."""
    kind = type(record).__name__
    found: dict[str, Any] = {"kind": kind.lower()}
    for name, value in _without_none(vars(record)).items():
        found[name] = _field(record, name, value, positions, f"{kind}: {name}")
    return found


def _field(record: Record, name: str, value: Any, positions: int, said: str) -> Any:
    if isinstance(value, Mapping):
        parts = value.items()
        return {k: _field(record, name, v, positions, f"{said} {k}") for k, v in parts}
    if name in record.columns:
        return numbers(value, record.columns[name], positions, said)
    if name in record.words:
        return words(value, record.words[name], positions, said)
    return value


def _layer(layer: Layer, positions: int) -> dict[str, Any]:
    """Return a layer as the canvas reads it."""
    more: dict[str, Any] = {}
    if isinstance(layer, Points):
        looks = [layer.look(group) for group in range(len(layer.names))]
        more = {name: [look[k] for look in looks] for k, name in enumerate(("colors", "symbols"))}
        more["linked"] = layer.linked and layer.id is not None
    elif isinstance(layer, Line):  # it can be pointed at as points of one group can
        more = {"names": [layer.name]}
    elif isinstance(layer, Heat):
        layer, more = _coded_heat(layer)
    found = _fields(layer, positions) | more
    for name in found.get("colors", [found["color"]] if "color" in found else []):
        if name not in _NAMED:
            raise ValueError(f"a colour must be one of {sorted(_NAMED)}; got {name!r}.")
    return found


def _coded_heat(layer: Heat) -> tuple[Heat, dict[str, Any]]:
    """Return a map of codes; what each stands for, and its place on the scale of colours."""
    low, high = layer.ends()
    codes, levels = _coded(np.asarray(layer.values), low, high, layer.log)
    across = np.log if layer.log else np.asarray
    part = (across(np.clip(levels, low, high)) - across(low)) / (across(high) - across(low))
    more = {"levels": levels.astype("f4"), "shades": part.astype("f4"), "range": [low, high]}
    return replace(layer, values=codes), more


def _strip(view: Images, positions: int) -> dict[str, Any]:
    bank = np.asarray(view.bank)
    if bank.ndim != 3:
        raise ValueError(f"Images: bank has {bank.ndim} axes, give (number, height, width)")
    low, high = view.ends()
    part = (bank.astype(np.float32) - low) / (high - low)
    found = _fields(view, positions)
    return found | {
        "bank": np.rint(np.clip(part, 0.0, 1.0) * 254).astype(np.uint8).ravel(),
        "shape": bank.shape[1:],
        "most": int(np.diff(found["shown"]["starts"]).max(initial=0)),
        "names": [""],
        "linked": view.id is not None,
        "reach": 0.6 * view.size,
    }


def _legend(layer: Layer) -> list[dict[str, Any]]:
    """Return what the legend says of a layer: a name, and a glyph in a colour or a scale."""
    entries: list[dict[str, Any]] = []
    if isinstance(layer, Points):
        for group, name in enumerate(layer.names):
            color, symbol = layer.look(group)
            entries.append(_entry(name, _GLYPHS.get(symbol, "●"), color))
    elif isinstance(layer, Line):
        entries = [_entry(layer.name, "╌" if layer.dashed else "━", layer.color)]
    elif isinstance(layer, Band):
        entries = [_entry(layer.name, "■", layer.color, max(0.35, layer.opacity))]
    elif isinstance(layer, Heat):
        entries = [{"name": layer.title, "scale": layer.scale, "ends": layer.ends()}]
    return [entry for entry in entries if entry["name"]]


def _entry(name: str, glyph: str, color: str, opacity: float = 1.0) -> dict[str, Any]:
    return {"name": name, "glyph": glyph, "color": color, "opacity": opacity}


def _coded(
    values: NDArray[Any], low: float, high: float, log: bool
) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """Return the code of each value, and the value that each code stands for.

    Up to 255 distinct whole numbers are sent as they are; others as the nearest of 255.
    """
    if values.dtype.kind in "biu" and len(levels := np.unique(values)) <= EMPTY:
        return levels.searchsorted(values).astype(np.uint8), levels.astype(np.float64)
    across = np.log if log else np.asarray
    start, end = across(low), across(high)
    with np.errstate(invalid="ignore", divide="ignore"):
        part = (across(values.astype(np.float32)) - start) / (end - start)
    nearest = np.rint(np.clip(part, 0.0, 1.0) * (EMPTY - 1))
    levels = np.asarray((np.geomspace if log else np.linspace)(low, high, EMPTY), np.float64)
    return np.where(np.isnan(nearest), EMPTY, nearest).astype(np.uint8), levels


def numbers(values: Any, axes: int, positions: int, name: str) -> dict[str, NDArray[Any]]:
    """Return the distinct rows of a column one after another, and which row each position reads.

    Parameters
    ----------
    values : an array with `axes` axes for all positions, with one more (first) axis for each of
        them, or a list with an array for each
    """
    rows = rows_of(values, axes, name)
    if len(rows) not in (1, positions):
        raise ValueError(f"{name} has {len(rows)} positions, the slider {positions}")
    rows = [np.ravel(np.asarray(row)) for row in rows]
    kind = smallest(rows)
    places: dict[bytes, int] = {}
    index = [places.setdefault(row.astype(kind).tobytes(), len(places)) for row in rows]
    lengths = [len(row) // np.dtype(kind).itemsize for row in places]
    return {
        "data": np.frombuffer(b"".join(places), dtype=kind),
        "starts": np.append(0, np.cumsum(lengths)).astype("u4"),
        "index": np.array(index, dtype="u2"),
    }


def words(values: Any, axes: int, positions: int, name: str) -> dict[str, Any]:
    """Return the distinct words of a column, and the column of their numbers."""
    table: dict[str, int] = {}
    codes = [
        [
            table.setdefault(str(word), len(table))
            for word in ([row] if isinstance(row, str) else row)
        ]
        for row in rows_of(values, axes, name)
    ]
    column = [np.array(row, dtype=np.int64) for row in codes]
    return {"words": list(table), "codes": numbers(column, 1, positions, name)}


def smallest(rows: Sequence[NDArray[Any]]) -> str:
    """Return the smallest kind that holds these numbers; any broken number makes it float32."""
    if any(row.dtype.kind not in "biu" for row in rows):
        return "f4"
    ends = [int(end) for row in rows if row.size for end in (row.min(), row.max())] or [0]
    fitting = (k for k in INTEGERS if np.iinfo(k).min <= min(ends) and max(ends) <= np.iinfo(k).max)
    return next(fitting, "f4")


def pack(spec: dict[str, Any]) -> bytes:
    """Return the bytes of a view.

    Four bytes say how long the header is. In the header an array is its kind, where it begins
    after the header, and how many numbers it holds. Equal arrays lie in one place.
    """
    parts: dict[bytes, int] = {}

    def place(value: Any) -> Any:
        if isinstance(value, np.generic):
            return value.item()
        content = value.astype(value.dtype.newbyteorder("<"), copy=False).tobytes()
        content += b"\0" * (-len(content) % _ALIGNED)
        begins = parts.setdefault(content, sum(map(len, parts)))
        return {"array": value.dtype.str[1:], "begins": begins, "size": value.size}

    compact: Any = {"allow_nan": False, "separators": (",", ":")}
    header = json.dumps(_without_none(spec), default=place, **compact).encode()
    header += b" " * (-(len(header) + 4) % _ALIGNED)
    return len(header).to_bytes(4, "little") + header + b"".join(parts)


def unpack(blob: bytes) -> dict[str, Any]:
    """Return what `pack` was given: for tests, and for looking at what a page sent."""
    start = 4 + int.from_bytes(blob[:4], "little")

    def read(value: dict[str, Any]) -> Any:
        if "array" not in value:
            return value
        return np.frombuffer(blob, "<" + value["array"], value["size"], start + value["begins"])

    return json.loads(blob[4:start], object_hook=read)


def at(column: dict[str, Any], position: int) -> Any:
    """Return what an unpacked column holds for a position: an array, or a list of words."""
    if "words" in column:
        return [column["words"][code] for code in at(column["codes"], position)]
    index = column["index"]
    row = int(index[position if len(index) > 1 else 0])
    return column["data"][column["starts"][row] : column["starts"][row + 1]]
