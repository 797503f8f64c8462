"""Hold what the canvas reads of a chart against what plotly draws of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go

from kmviz.charts import Chart, Images, plotly, wire


def assert_alike(view: Chart | Images, positions: int, shown: Any = None) -> None:
    """Insist that both renderers carry the same arrays, at the positions `shown` (default: all)."""
    sent = wire.unpack(wire.pack(wire.spec(view, positions)))
    for position in range(positions) if shown is None else shown:
        figure = plotly.figure(view, position)
        assert _title(figure) == wire.at(sent["title"], position)[0]
        if isinstance(view, Images):
            _same_images(sent, figure, position)
            continue
        traces = iter(figure.data)
        shapes = iter(zip(figure.layout.shapes, figure.layout.annotations or ()))
        for layer in sent["layers"]:
            _SAME[layer["kind"]](layer, traces, shapes, position)
        assert list(traces) == [], "plotly draws nothing that the canvas does not"
        assert list(shapes) == []
        for name, axis in (("x", figure.layout.xaxis), ("y", figure.layout.yaxis)):
            low, high = sent[name]["range"]
            ends = 10.0 ** np.array(axis.range) if sent[name]["log"] else axis.range
            np.testing.assert_allclose(ends, [low, high], rtol=1e-6)


def _title(figure: go.Figure) -> str:
    return figure.layout.title.text or ""


def _close(drawn: Any, sent: Any) -> None:
    np.testing.assert_allclose(
        np.asarray(drawn, dtype=np.float64), np.asarray(sent, dtype=np.float64), rtol=2e-6,
        atol=1e-30, equal_nan=True,
    )  # fmt: skip


def _points(layer: dict[str, Any], traces: Iterator[Any], shapes: Any, i: int) -> None:
    x, y, size = (wire.at(layer[name], i) for name in ("x", "y", "size"))
    group = wire.at(layer["group"], i) if "group" in layer else np.zeros(len(x), int)
    for g, name in enumerate(layer["names"]):
        trace, rows = next(traces), group == g
        assert trace.name == name
        _close(trace.x, x[rows])
        _close(trace.y, y[rows])
        if "id" in layer:
            np.testing.assert_array_equal(trace.customdata, wire.at(layer["id"], i)[rows])
        if "labels" in layer:
            words = np.array(wire.at(layer["labels"], i), dtype=object)
            assert list(trace.text) == words[rows].tolist()
        _close(np.broadcast_to(trace.marker.size, rows.sum()), np.broadcast_to(size, len(x))[rows])
    picked = wire.at(layer["picked"], i)[0] if "picked" in layer else -1
    if picked >= 0 and picked in wire.at(layer["id"], i):
        assert next(traces).marker.symbol == "star"


def _line(layer: dict[str, Any], traces: Iterator[Any], shapes: Any, i: int) -> None:
    x, y = wire.at(layer["x"], i), wire.at(layer["y"], i)
    stop = int(wire.at(layer["dim_after"], i)[0]) if "dim_after" in layer else len(x)
    parts = [slice(0, stop + 1), slice(stop, None)]
    for rows in parts if len(x[parts[1]]) > 1 else parts[:1]:
        trace = next(traces)
        _close(trace.x, x[rows])
        _close(trace.y, y[rows])


def _band(layer: dict[str, Any], traces: Iterator[Any], shapes: Any, i: int) -> None:
    for name in ("high", "low"):
        trace = next(traces)
        _close(trace.x, wire.at(layer["x"], i))
        _close(trace.y, wire.at(layer[name], i))


def _rule(layer: dict[str, Any], traces: Any, shapes: Iterator[Any], i: int) -> None:
    axis = "x" if "x" in layer else "y"
    (place,) = wire.at(layer[axis], i)
    if np.isfinite(place):
        shape, words = next(shapes)
        _close(shape[f"{axis}0"], place)
        assert words.text == (wire.at(layer["text"], i)[0] if "text" in layer else "")


def _heat(layer: dict[str, Any], traces: Iterator[Any], shapes: Any, i: int) -> None:
    trace, codes = next(traces), wire.at(layer["values"], i)
    values = np.ravel(trace.customdata)
    assert np.array_equal(np.isnan(values), codes == wire.EMPTY)
    low, high = layer["range"]
    known = codes != wire.EMPTY
    across = np.log if layer["log"] else np.asarray
    away = across(np.clip(values[known], low, high)) - across(
        np.clip(layer["levels"][codes[known]].astype(np.float64), low, high)
    )
    assert np.abs(away).max(initial=0) <= (across(high) - across(low)) / 254
    _close(trace.x, wire.at(layer["x"], i))


def _regions(layer: dict[str, Any], traces: Iterator[Any], shapes: Any, i: int) -> None:
    np.testing.assert_array_equal(np.ravel(next(traces).z), wire.at(layer["owner"], i))


_SAME = {
    "points": _points, "line": _line, "band": _band, "rule": _rule, "heat": _heat,
    "regions": _regions,
}  # fmt: skip


def _same_images(sent: dict[str, Any], figure: go.Figure, i: int) -> None:
    shown = wire.at(sent["shown"], i)
    shown = shown[shown >= 0]
    words = [note.text for note in figure.layout.annotations]
    assert words == (wire.at(sent["captions"], i)[: len(shown)] if "captions" in sent else words)
    assert len(words) == len(shown)
    (heat,) = figure.data
    high, wide = sent["shape"]
    bank = sent["bank"].reshape(-1, high, wide)
    part = (np.asarray(heat.z, np.float64) - heat.zmin) / ((heat.zmax - heat.zmin) or 1.0)
    codes = np.rint(np.clip(part, 0, 1) * 254)
    for k, image in enumerate(shown):
        top = (k // plotly.ACROSS) * (high + max(4, high // 3))
        left = (k % plotly.ACROSS) * (wide + 2)
        drawn = codes[top : top + high, left : left + wide]
        assert np.abs(drawn - bank[image]).max() <= 1
