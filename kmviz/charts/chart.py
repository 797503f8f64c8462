"""What a chart is made of: records of arrays, static or by position.

Numbers in a layer are arrays for all positions, arrays with the position as their first axis, or
lists with one array for each position. Colours are the theme's slots (`theme.COLORS[0]`,
`theme.INK`), symbols the theme's names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from itertools import cycle
from typing import Annotated, Any, ClassVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

from kmviz.figures import theme
from kmviz.ui.live import columns
from kmviz.ui.live.ticks import written

#: What the browser calls the theme's colours.
_NAMES = {slot: f"categorical {i}" for i, slot in enumerate(theme.COLORS)} | {
    theme.INK: "ink",
    theme.FAINT: "faint",
    theme.PAPER: "paper",
}
#: What a legend draws for each symbol.
_GLYPHS = {"circle": "●", "diamond": "◆", "square": "■", "triangle-up": "▲", "star": "★", "x": "✕"}
#: The code of a cell without a value.
EMPTY = 255
#: Whole numbers that lie no further apart are looked up in a table.
_MOST_WHOLE = 1 << 20


class _Numbers(int):
    """So many axes a column of numbers has for one position."""


class _Words(int):
    """So many axes a column of words has for one position."""


Number = Annotated[Any, _Numbers(0)]
Row = Annotated[Any, _Numbers(1)]
Grid = Annotated[Any, _Numbers(2)]
Word = Annotated[Any, _Words(0)]
Words = Annotated[Any, _Words(1)]
Color = Annotated[str, "color"]
Colors = Annotated[tuple[str, ...], "color"]


def spec(record: Any, positions: int) -> dict[str, Any]:
    """Return a layer or view as the browser reads it, columns by what its fields are said to be."""
    kind: Any = type(record)
    found: dict[str, Any] = {"kind": kind.__name__.lower()}
    for name, mark in _marks(kind).items():
        value = getattr(record, name)
        if value is not None:
            found[name] = _sent(value, mark, positions, f"{kind.__name__}: {name}")
    return found


@cache
def _marks(kind: type) -> dict[str, Any]:
    """What each field of a record is said to be; None for one that is sent as it is."""
    hints = get_type_hints(kind, include_extras=True)
    names = (entry.name for entry in fields(kind))
    return {name: getattr(hints[name], "__metadata__", (None,))[0] for name in names}


def _sent(value: Any, mark: Any, positions: int, name: str) -> Any:
    if isinstance(value, Mapping):
        return {key: _sent(part, mark, positions, f"{name} {key}") for key, part in value.items()}
    if isinstance(mark, _Numbers):
        return columns.numbers(value, mark, positions, name)
    if isinstance(mark, _Words):
        return columns.words(value, mark, positions, name)
    if mark == "color":
        return _NAMES[value] if isinstance(value, str) else [_NAMES[color] for color in value]
    return value


@dataclass(frozen=True, eq=False, kw_only=True)
class Layer:
    """What all layers have: whether they set the ranges of axes that were not given one."""

    across: ClassVar[tuple[str, ...]] = ("x",)
    upward: ClassVar[tuple[str, ...]] = ("y",)
    fits: bool = True

    def spec(self, positions: int) -> dict[str, Any]:
        """Return the layer as the browser reads it."""
        return spec(self, positions)

    def legend(self) -> list[dict[str, Any]]:
        """Return what the legend says of it: a name, and a glyph in a colour or a scale."""
        return []


@dataclass(frozen=True, eq=False, kw_only=True)
class Points(Layer):
    """Points: one colour and symbol for each group.

    Parameters
    ----------
    group : number of each point's group, an index into `names`, `colors` and `symbols`; a group
        beyond them is not drawn
    names : what the legend says of each group; an empty name stands in no legend
    id : what a click on a point reports; without it a click does nothing
    linked : whether ids are queries: one that is pointed at is ringed in the other pictures too
    picked : the id that wears the star, -1 for none
    hover : columns of numbers that the pointer shows, by name
    text : words that the pointer shows first
    """

    x: Row
    y: Row
    group: Row = None
    names: tuple[str, ...] = ("",)
    colors: Colors = theme.COLORS
    symbols: tuple[str, ...] = theme.SYMBOLS[:4]
    size: float = 7.0
    opacity: float = 0.8
    id: Row = None
    linked: bool = True
    picked: Number = None
    hover: Row = None
    text: Words = None

    def spec(self, positions: int) -> dict[str, Any]:
        """Return the layer with a colour and a symbol for each group."""
        found = spec(self, positions)
        for name in ("colors", "symbols"):
            found[name] = [part for part, _ in zip(cycle(found[name]), self.names)]
        return found | {"linked": self.linked and self.id is not None}

    def legend(self) -> list[dict[str, Any]]:
        """Return a glyph for each group that has a name."""
        looks = zip(self.names, cycle(self.symbols), cycle(self.colors))
        return [_entry(name, _GLYPHS[symbol], color) for name, symbol, color in looks if name]


@dataclass(frozen=True, eq=False, kw_only=True)
class Line(Layer):
    """A line; a value that is no number breaks it.

    Parameters
    ----------
    dim_after : number of the vertex after which the line is faint
    """

    x: Row
    y: Row
    name: str = ""
    color: Color = theme.INK
    width: float = 2.0
    dashed: bool = False
    markers: bool = False
    dim_after: Number = None

    def spec(self, positions: int) -> dict[str, Any]:
        """Return the layer, which can be pointed at as points of one group can."""
        return spec(self, positions) | {"names": [self.name]}

    def legend(self) -> list[dict[str, Any]]:
        """Return a stroke, where the line has a name."""
        return [_entry(self.name, "╌" if self.dashed else "━", self.color)][: bool(self.name)]


@dataclass(frozen=True, eq=False, kw_only=True)
class Band(Layer):
    """The area between two lines."""

    upward: ClassVar[tuple[str, ...]] = ("low", "high")
    x: Row
    low: Row
    high: Row
    name: str = ""
    color: Color = theme.COLORS[0]
    opacity: float = 0.15

    def legend(self) -> list[dict[str, Any]]:
        """Return a square, about as strong as the area, where it has a name."""
        entry = _entry(self.name, "■", self.color, max(0.35, self.opacity))
        return [entry][: bool(self.name)]


@dataclass(frozen=True, eq=False, kw_only=True)
class Rule(Layer):
    """A line across the chart: upright at `x` or level at `y`, with a word beside it.

    Parameters
    ----------
    at_start : whether the word of a level line stands where the axis begins, not where it ends
    """

    x: Number = None
    y: Number = None
    text: Word = None
    color: Color = theme.INK
    dashed: bool = True
    at_start: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class Reach(Layer):
    """Who answers where: the pointer over a cell shows the spot that owns it.

    It shows the circle of the spot, and a click reports the number of the spot; where no circles
    are given it shows all cells of the spot, and a click does nothing.

    Parameters
    ----------
    x, y : the centres of the cells along each axis
    owner : the number of the spot that answers in each cell, -1 for none, (rows upwards, columns)
    at_x, at_y, radius : the circle of each spot
    text : what the pointer says of each spot
    """

    owner: Grid
    x: Row
    y: Row
    at_x: Row = None
    at_y: Row = None
    radius: Row = None
    text: Words = None
    color: Color = theme.INK


@dataclass(frozen=True, eq=False, kw_only=True)
class Heat(Layer):
    """A map of cells: `values` has (rows upwards, columns) as its last two axes.

    Up to 255 distinct whole numbers are sent as they are; others as the nearest of 255 levels.

    Parameters
    ----------
    x, y : the centres of the cells along each axis
    scale : "sequential" or "diverging" (with its middle at nothing)
    range : values at the ends of the colours; default: of all positions
    log : whether colours follow the logarithm
    title : what the colours mean, in the legend
    """

    values: Grid
    x: Row
    y: Row
    scale: str = "sequential"
    range: tuple[float, float] | None = None
    log: bool = False
    title: str = ""
    opacity: float = 1.0

    def spec(self, positions: int) -> dict[str, Any]:
        """Return the layer with codes for values, and for each code its value and shade."""
        values = np.asarray(self.values)
        low, high = self._ends()
        codes, levels = _coded(values, low, high, self.log)
        found = spec(self, positions)
        found["values"] = columns.numbers(codes, 2, positions, "Heat: values")
        across = np.log if self.log else np.asarray
        part = (across(np.clip(levels, low, high)) - across(low)) / (across(high) - across(low))
        return found | {
            "levels": levels.astype("f4"),
            "shades": part.astype("f4"),
            "range": [float(low), float(high)],
            "text": columns.words([f"{self.title} {written(n)}" for n in levels], 1, 1, "levels"),
        }

    def legend(self) -> list[dict[str, Any]]:
        """Return the scale with its ends, where it has a title."""
        low, high = map(written, self._ends())
        entry = {"name": f"{self.title} {low}", "scale": self.scale, "most": high}
        return [entry | {"most": f"{high} (log)"} if self.log else entry][: bool(self.title)]

    def _ends(self) -> tuple[float, float]:
        """Return the values at the ends of the colours."""
        return self.range or _ends(np.asarray(self.values), self.scale == "diverging")


def _entry(name: str, glyph: str, color: str, opacity: float = 1.0) -> dict[str, Any]:
    return {"name": name, "glyph": glyph, "color": _NAMES[color], "opacity": opacity}


def _ends(values: NDArray[Any], diverging: bool) -> tuple[float, float]:
    drawn = values[np.isfinite(values)]
    low, high = (float(drawn.min()), float(drawn.max())) if drawn.size else (0.0, 1.0)
    if diverging:
        high = max(-low, high)
        low = -high
    return (low, high) if high > low else (low, low + 1.0)


def _coded(
    values: NDArray[Any], low: float, high: float, log: bool
) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """Return the code of each value, and the value that each code stands for."""
    if values.dtype.kind in "biu" and values.size:
        places = values.astype(np.int64) - int(values.min())
        present = np.zeros(min(int(places.max()), _MOST_WHOLE) + 1, bool)
        present[np.minimum(places, _MOST_WHOLE)] = True
        if len(present) <= _MOST_WHOLE and present.sum() <= EMPTY:
            codes = (np.cumsum(present) - 1).astype(np.uint8)
            return codes[places], (np.flatnonzero(present) + int(values.min())).astype(np.float64)
    across = np.log if log else np.asarray
    start, end = across(low), across(high)
    with np.errstate(invalid="ignore", divide="ignore"):
        part = (across(values.astype(np.float32)) - start) / (end - start)
    nearest = np.rint(np.clip(part, 0.0, 1.0) * (EMPTY - 1))
    levels = np.asarray((np.geomspace if log else np.linspace)(low, high, EMPTY), np.float64)
    return np.where(np.isnan(nearest), EMPTY, nearest).astype(np.uint8), levels
