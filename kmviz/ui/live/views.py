"""Charts, strips of images and trees that a live slider draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.ui.live.layers import Layer, Number, Row, Word, Words, spec
from kmviz.ui.live.ticks import ticks

#: Room left around what is drawn, as a part of its range.
_ROOM = 0.04
#: Steps between ticks across a third of a page; pixels between two upwards, and below the axis.
_ACROSS, _UPWARD, _BELOW = 5.5, 36, 54


@dataclass(frozen=True)
class Axis:
    """An axis: its title with the unit, and its range, of all positions where none is given.

    Parameters
    ----------
    whole : whether it counts: no tick between two whole numbers
    """

    title: str = ""
    range: tuple[float, float] | None = None
    log: bool = False
    hidden: bool = False
    whole: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class Chart:
    """Layers on two axes, drawn in the order given.

    Parameters
    ----------
    key : the chart's name, in the page's contract
    alt : what it shows, for those who cannot see it
    title : one for all positions, or a list with one for each
    equal : whether a unit is as long across as upwards
    """

    key: str
    layers: Sequence[Layer]
    alt: str
    x: Axis = Axis()
    y: Axis = Axis()
    title: Word = ""
    height: int = 300
    equal: bool = False

    def spec(self, positions: int) -> dict[str, Any]:
        """Return the chart as the browser reads it, with the ranges of its axes."""
        layers = [layer.spec(positions) for layer in self.layers]
        fitting = [(sent, layer) for sent, layer in zip(layers, self.layers) if layer.fits]
        for sent in layers:
            if self.equal and sent["kind"] == "line":
                del sent["names"]  # on a map one points at what lies below its lines
            elif sent["kind"] in ("points", "line") and not (
                self.equal or self.x.hidden or sent.get("hover") or "text" in sent
            ):
                sent["hover"] = {self.x.title: sent["x"], self.y.title: sent["y"]}
        return spec(self, positions) | {
            "layers": layers,
            "legend": [entry for layer in self.layers for entry in layer.legend()],
            "x": _axis(self.x, [_data(sent, layer.across) for sent, layer in fitting], _ACROSS),
            "y": _axis(
                self.y,
                [_data(sent, layer.upward) for sent, layer in fitting],
                (self.height - _BELOW) / _UPWARD,
            ),
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class Images:
    """A strip of small images, as many in a row as there is room for.

    Parameters
    ----------
    bank : all images that any position shows, (number, height, width)
    shown : which of the bank a position shows, in order
    captions : one for each image shown; for all positions, or a list of them for each
    groups : colour of the frame of each image shown, an index into the theme's; 255 for none
    faint_after : how many images are drawn in full; those after are faint
    scale : "grey", or "diverging" with nothing in the middle
    id : what a click on an image of the bank reports
    size : pixels of the longer side
    together : a row has this many images, or they fill several rows; default: as many as fit
    """

    key: str
    bank: Any
    shown: Row
    alt: str
    captions: Words = None
    groups: Row = None
    faint_after: Number = None
    title: Word = ""
    scale: str = "grey"
    range: tuple[float, float] | None = None
    id: Row = None
    size: int = 72
    together: int = 0

    def spec(self, positions: int) -> dict[str, Any]:
        """Return the strip as the browser reads it, its images as bytes."""
        bank = np.asarray(self.bank)
        if bank.ndim != 3:
            raise ValueError(f"Images: bank has {bank.ndim} axes, give (number, height, width)")
        coded = _bytes(bank, self.range, self.scale == "diverging")
        found = spec(self, positions)
        return found | {
            "bank": coded,
            "shape": bank.shape[1:],
            "most": int(np.diff(found["shown"]["starts"]).max(initial=0)),
            "names": [""],
            "linked": self.id is not None,
            "reach": 0.6 * self.size,
        }


def _axis(axis: Axis, drawn: list[list[NDArray[Any]]], most: float) -> dict[str, Any]:
    """Return an axis with its range, what was given or all that its layers draw, and its ticks."""
    found = axis.range or _extent([part for parts in drawn for part in parts], axis.log)
    low, high = map(float, found)
    return {
        "title": axis.title,
        "range": [low, high],
        "whole": axis.whole,
        "ticks": [] if axis.hidden else ticks(low, high, most, axis.log, axis.whole),
        "log": axis.log,
        "hidden": axis.hidden,
    }


def _data(spec: dict[str, Any], names: tuple[str, ...]) -> list[NDArray[Any]]:
    return [spec[name]["data"] for name in names if name in spec]


def _extent(parts: list[NDArray[Any]], log: bool) -> tuple[float, float]:
    values = np.concatenate([np.zeros(0), *parts])
    values = values[np.isfinite(values) & ((values > 0) | (not log))]
    if not values.size:
        return (1.0, 10.0) if log else (0.0, 1.0)
    low, high = values.min(), values.max()
    if log:
        room = (high / low) ** _ROOM if high > low else 1.5
        return low / room, high * room
    room = _ROOM * (high - low) or 0.5
    return low - room, high + room


def _bytes(
    bank: NDArray[Any], range: tuple[float, float] | None, diverging: bool
) -> NDArray[np.uint8]:
    low, high = range or (float(bank.min(initial=0)), float(bank.max(initial=0)))
    if diverging:
        high = max(-low, high)
        low = -high
    part = (bank.astype(np.float32) - low) / ((high - low) or 1.0)
    return np.rint(np.clip(part, 0.0, 1.0) * 254).astype(np.uint8).ravel()
