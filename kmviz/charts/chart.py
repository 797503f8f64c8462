"""What a chart is: axes, and layers of arrays on them, for one position or all of a slider.

A column of a layer is an array for all positions, an array with one more axis (its first) for the
position, or a list with one array for each position. Each class says in `columns` and `words`
which of its fields are columns, and how many axes each has at one position. Colours are names
(`theme.INK`). Two renderers read the same records: `charts.plotly` one position, `charts.live` all.

Examples
--------
>>> from kmviz.charts import Chart, Line
>>> chart = Chart(key="sum", alt="A sum.", layers=[Line(x=[0, 1], y=[[1, 2], [1, 3]])])
>>> chart.at(1).layers[0].y
[1, 3]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from kmviz.charts import theme

#: Room around what is drawn, as a part of its range.
_ROOM = 0.04


@dataclass(frozen=True, eq=False, kw_only=True)
class Record:
    """Columns by position."""

    columns: ClassVar[Mapping[str, int]] = {}
    words: ClassVar[Mapping[str, int]] = {}

    def at(self, position: int) -> Self:
        """Return the same record with the columns of one position."""
        axes = {**self.columns, **self.words}
        found = {name: _at(getattr(self, name), axes[name], position, name) for name in axes}
        return replace(self, **found)


@dataclass(frozen=True, eq=False, kw_only=True)
class Layer(Record):
    """What all layers have: whether they set the ranges of axes that were not given one."""

    fits: bool = True


@dataclass(frozen=True, eq=False, kw_only=True)
class Points(Layer):
    """Points: one colour and symbol for each group.

    Parameters
    ----------
    group : number of each point's group, an index into `names`, `colors` and `symbols`; a group
        beyond them is not drawn
    names : what the legend says of each group; an empty name stands in no legend
    symbols : of each group; "ring" is a circle that what lies below shows through
    size : pixels across, of all points or of each
    id : what a click on a point reports; without it a click does nothing
    linked : whether ids are queries: one that is pointed at is ringed in the other pictures too
    picked : the id that is marked as the query, -1 for none
    hover : columns of numbers that the pointer shows, by name
    text : words that the pointer shows first
    labels : words that stand beside each point
    sides : where they stand, as Plotly calls it ("bottom left"); the canvas has them above
    """

    columns: ClassVar = {"x": 1, "y": 1, "group": 1, "size": 1, "id": 1, "picked": 0, "hover": 1}
    words: ClassVar = {"text": 1, "labels": 1, "sides": 1}
    x: Any
    y: Any
    group: Any = None
    names: tuple[str, ...] = ("",)
    colors: tuple[str, ...] = theme.COLORS
    symbols: tuple[str, ...] = theme.SYMBOLS
    size: Any = 7.0
    opacity: float = 0.8
    id: Any = None
    linked: bool = True
    picked: Any = None
    hover: Any = None
    text: Any = None
    labels: Any = None
    sides: Any = None

    def look(self, group: int) -> tuple[str, str]:
        """Return colour and symbol of a group."""
        return self.colors[group % len(self.colors)], self.symbols[group % len(self.symbols)]


@dataclass(frozen=True, eq=False, kw_only=True)
class Line(Layer):
    """A line; a value that is no number breaks it.

    Parameters
    ----------
    dim_after : number of the vertex after which the line is faint
    """

    columns: ClassVar = {"x": 1, "y": 1, "dim_after": 0}
    x: Any
    y: Any
    name: str = ""
    color: str = theme.INK
    width: float = 2.0
    dashed: bool = False
    opacity: float = 1.0
    markers: bool = False
    dim_after: Any = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Band(Layer):
    """The area between two lines; it may reach beyond the axes, and sets no range."""

    columns: ClassVar = {"x": 1, "low": 1, "high": 1}
    fits: bool = False
    x: Any
    low: Any
    high: Any
    name: str = ""
    color: str = theme.COLORS[0]
    opacity: float = 0.15


@dataclass(frozen=True, eq=False, kw_only=True)
class Rule(Layer):
    """A line across the chart: upright at `x` or level at `y`, with a word beside it.

    Parameters
    ----------
    at_start : whether the word of a level line stands where the axis begins, not where it ends
    """

    columns: ClassVar = {"x": 0, "y": 0}
    words: ClassVar = {"text": 0}
    x: Any = None
    y: Any = None
    text: Any = None
    color: str = theme.INK
    dashed: bool = True
    at_start: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class Regions(Layer):
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

    columns: ClassVar = {"owner": 2, "x": 1, "y": 1, "at_x": 1, "at_y": 1, "radius": 1}
    words: ClassVar = {"text": 1}
    owner: Any
    x: Any
    y: Any
    at_x: Any = None
    at_y: Any = None
    radius: Any = None
    text: Any = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Heat(Layer):
    """A map of cells: `values` has (rows upwards, columns) as its last two axes.

    Parameters
    ----------
    x, y : the centres of the cells along each axis
    scale : "sequential" or "diverging" (with its middle at nothing)
    range : values at the ends of the colours; default: of all positions
    log : whether colours follow the logarithm
    title : what the colours mean, in the legend
    """

    columns: ClassVar = {"values": 2, "x": 1, "y": 1}
    values: Any
    x: Any
    y: Any
    scale: str = "sequential"
    range: tuple[float, float] | None = None
    log: bool = False
    title: str = ""
    opacity: float = 1.0

    def ends(self) -> tuple[float, float]:
        """Return the values at the two ends of the colours."""
        return _ends(self, _drawable([self.values], self.log))

    def at(self, position: int) -> Self:
        """Return the map of one position, coloured as all positions are."""
        return replace(super().at(position), range=self.ends())


@dataclass(frozen=True)
class Axis:
    """An axis: its title with the unit, and its range, of all positions where none is given.

    Parameters
    ----------
    whole : whether it counts: no tick between two whole numbers
    ticks : values and the words that stand there; default: round values
    """

    title: str = ""
    range: tuple[float, float] | None = None
    log: bool = False
    hidden: bool = False
    whole: bool = False
    ticks: tuple[tuple[float, str], ...] | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Chart(Record):
    """Layers on two axes, drawn in the order given.

    Parameters
    ----------
    key : the chart's name, in the page's contract
    alt : what it shows, for those who cannot see it
    title : one for all positions, or a list with one for each
    equal : whether a unit is as long across as upwards
    """

    words: ClassVar = {"title": 0}
    key: str
    layers: Sequence[Layer]
    alt: str
    x: Axis = Axis()
    y: Axis = Axis()
    title: Any = ""
    height: int = 300
    equal: bool = False

    def at(self, position: int) -> Self:
        """Return the chart at one position, on the axes of all positions."""
        x, y = self.ranged()
        layers = [layer.at(position) for layer in self.layers]
        return replace(super().at(position), layers=layers, x=x, y=y)

    def ranged(self) -> tuple[Axis, Axis]:
        """Return both axes with their ranges: what was given, or all that the layers draw."""
        fitting: list[Any] = [layer for layer in self.layers if layer.fits]
        x, y = [layer.x for layer in fitting], [layer.y for layer in fitting]
        return _ranged(self.x, x), _ranged(self.y, y)


@dataclass(frozen=True, eq=False, kw_only=True)
class Images(Record):
    """A strip of small images, as many in a row as there is room for.

    Parameters
    ----------
    bank : all images that any position shows, (number, height, width)
    shown : which of the bank a position shows, in order; -1 for none
    captions : one for each image shown; for all positions, or a list of them for each
    text : what the pointer says of each image shown; default: its caption
    groups : colour of the frame of each image shown, an index into the theme's; 255 for none
    faint_after : how many images are drawn in full; those after are faint
    scale : "grey", or "diverging" with nothing in the middle
    id : what a click on an image of the bank reports
    size : pixels of the longer side
    together : a row has this many images, or they fill several rows; default: as many as fit
    """

    columns: ClassVar = {"shown": 1, "groups": 1, "faint_after": 0, "id": 1}
    words: ClassVar = {"captions": 1, "text": 1, "title": 0}
    key: str
    bank: Any
    shown: Any
    alt: str
    captions: Any = None
    text: Any = None
    groups: Any = None
    faint_after: Any = None
    title: Any = ""
    scale: str = "grey"
    range: tuple[float, float] | None = None
    id: Any = None
    size: int = 72
    together: int = 0

    def ends(self) -> tuple[float, float]:
        """Return the values at the two ends of the colours."""
        return _ends(self, np.append(np.ravel(self.bank), 0))


def xy(places: NDArray[Any] | Sequence[NDArray[Any]]) -> dict[str, Any]:
    """Return the columns x and y of places, (n, 2), or of those of each position in a list."""
    if isinstance(places, np.ndarray):
        return {"x": places[:, 0], "y": places[:, 1]}
    drawn = [own.astype(np.float32) for own in places]
    return {"x": [own[:, 0] for own in drawn], "y": [own[:, 1] for own in drawn]}


def marks(
    places: Any, name: str = "", color: str = theme.INK, symbol: str = "circle", **more: Any
) -> Points:
    """Return points of one kind at places, (n, 2), or at those of each position in a list."""
    return Points(**xy(places), names=(name,), colors=(color,), symbols=(symbol,), **more)


def clip_to(reach: float, values: Any) -> NDArray[np.float32]:
    """Return values as far as they can be seen: no axis shows an infinite one."""
    return np.clip(values, -2 * reach, 2 * reach).astype(np.float32)


def band_within(reach: float, x: Any, low: Any, high: Any, **look: Any) -> Band:
    """Return the band between two columns, as far as it can be seen.

    Parameters
    ----------
    reach : how far the axis goes on both sides of zero
    x : the steps, or a list of those of each position: which of `low` and `high` are drawn
    """
    low, high = clip_to(reach, low), clip_to(reach, high)
    if isinstance(x, list):
        low, high = [low[k] for k in x], [high[k] for k in x]
    return Band(x=x, low=low, high=high, **look)


def on_one_scale(charts: Sequence[Chart]) -> list[Chart]:
    """Return charts of one kind with the same ranges, wide enough for each of them."""
    axes = list(zip(*(chart.ranged() for chart in charts)))
    ends = [np.array([axis.range for axis in own]) for own in axes]
    wide = [(float(end[:, 0].min()), float(end[:, 1].max())) for end in ends]
    return [
        replace(chart, x=replace(chart.x, range=wide[0]), y=replace(chart.y, range=wide[1]))
        for chart in charts
    ]


def rows_of(values: Any, axes: int, name: str) -> Any:
    """Return the rows of a column: one for each position, or a single one that is for all.

    Parameters
    ----------
    axes : how many axes the column has at one position
    """
    if isinstance(values, list | tuple):  # its rows may have any lengths
        depth = 1 + (np.ndim(values[0]) if len(values) else axes - 1)
    else:
        depth = np.ndim(values)
    if depth == axes + 1:
        return values
    if depth == axes or (depth == 0 and axes == 1):  # a number that is for all points
        return [values]
    raise ValueError(
        f"{name} has {depth} axes: give {axes} for all positions of the slider, or {axes + 1} "
        "with the position first"
    )


def _at(values: Any, axes: int, position: int, name: str) -> Any:
    if values is None:
        return None
    if isinstance(values, Mapping):
        return {key: _at(part, axes, position, f"{name} {key}") for key, part in values.items()}
    rows = rows_of(values, axes, name)
    return rows[position if len(rows) > 1 else 0]


def _drawable(columns: Sequence[Any], log: bool) -> NDArray[np.float64]:
    """Return all numbers of columns that an axis or a scale can show, of all positions."""
    flat = [np.zeros(0)]
    for column in columns:
        rows = column if isinstance(column, list | tuple) else [column]  # of any lengths
        flat += [np.ravel(np.asarray(row, np.float64)) for row in rows if row is not None]
    values = np.concatenate(flat)
    return values[np.isfinite(values) & ((values > 0) | (not log))]


def _ends(record: Heat | Images, values: NDArray[Any]) -> tuple[float, float]:
    """Return the values at the ends of a record's colours: its own range, or that of all values."""
    if record.range is not None:
        return float(record.range[0]), float(record.range[1])
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    if record.scale == "diverging":
        low, high = -max(-low, high), max(-low, high)
    return (low, high) if high > low else (low, low + 1.0)


def _ranged(axis: Axis, columns: Sequence[Any]) -> Axis:
    if axis.range is not None:
        return axis
    return replace(axis, range=_roomy(_drawable(columns, axis.log), axis.log))


def _roomy(values: NDArray[Any], log: bool) -> tuple[float, float]:
    if not values.size:
        return (1.0, 10.0) if log else (0.0, 1.0)
    low, high = float(values.min()), float(values.max())
    if log:
        room = (high / low) ** _ROOM if high > low else 1.5
        return low / room, high * room
    room = _ROOM * (high - low) or 0.5
    return low - room, high + room
