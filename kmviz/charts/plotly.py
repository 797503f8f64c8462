"""Draw one position of a chart as a Plotly figure with real colours.

For notebooks, documents, downloads, and a picture that a visitor expands.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.offline import get_plotlyjs

from kmviz.charts import theme
from kmviz.charts.chart import Axis, Band, Chart, Heat, Images, Layer, Line, Points, Regions, Rule

#: How much is seen of what comes after a stop; images in a row of a strip.
FAINT, ACROSS = 0.25, 6
#: More points than this are drawn by the graphics card, without a symbol's edge.
_MANY = 2_000
#: Pixels that a legend's row has at least.
_NARROW = 380


def figure(
    chart: Chart | Images, position: int = 0, colors: str = "light", height: int | None = None
) -> go.Figure:
    """Return one position of a chart as a Plotly figure.

    Parameters
    ----------
    position : where the slider stands
    colors : {"light", "dark"}
    height : of the figure in pixels; default: the chart's own, 460 at least
    """
    palette, now = theme.PALETTES[colors], chart.at(position)
    if isinstance(now, Images):
        return _mosaic(now, palette)
    drawn = go.Figure()
    for layer in now.layers:
        _draw(layer, drawn, palette)
    if any(isinstance(layer, Points) and layer.id is not None for layer in now.layers):
        # lines take no click from the points that they join
        drawn.update_traces(hoverinfo="skip", selector={"mode": "lines"})
    names = [trace.name for trace in drawn.data if trace.name and trace.showlegend is not False]
    legend = {"orientation": "h", "y": 1.0, "yanchor": "bottom", "itemsizing": "constant"}
    drawn.update_layout(legend=legend, showlegend=bool(names), clickmode="event+select")
    drawn.update_layout(_look(now.title, palette, names), height=height or max(460, now.height))
    drawn.update_xaxes(**_axis(now.x, palette)).update_yaxes(**_axis(now.y, palette))
    if now.equal:
        drawn.update_yaxes(scaleanchor="x", constrain="domain").update_xaxes(constrain="domain")
    return drawn


def page(chart: Chart | Images, position: int = 0, colors: str = "light") -> str:
    """Return one position of a chart as an HTML file that needs neither the app nor a network."""
    return figure(chart, position, colors).to_html(
        include_plotlyjs=True, config={"displaylogo": False, "responsive": True}
    )


def printed(chart: Chart | Images, width: int, height: int) -> str:
    """Return a still picture on white, as a part of a page that holds `script()`."""
    beside = {"orientation": "v", "x": 1.02, "y": 1, "yanchor": "top", "font": {"size": 11}}
    still = figure(chart).update_layout(
        width=width, height=height, legend=beside, margin={"t": 40, "b": 50, "l": 60, "r": 10}
    )
    return still.to_html(full_html=False, include_plotlyjs=False, config={"staticPlot": True})


def script() -> str:
    """Return the script that draws the pictures of a page: megabytes, once for all of them."""
    return f"<script>{get_plotlyjs()}</script>"


def _look(title: str, palette: dict[str, Any], names: Sequence[str] = ()) -> dict[str, Any]:
    """Return letters, colours, and room above for the title and the legend's rows."""
    rows = -(-sum(40 + 7 * len(name) for name in names) // _NARROW)
    paper, ink = palette[theme.PAPER], palette[theme.INK]
    return {
        "template": "none",  # no look but the palette's: whoever draws may have set another
        "hovermode": "closest",
        "title": {"text": title, "x": 0, "y": 0.99, "yanchor": "top", "font": {"size": 15}},
        "paper_bgcolor": paper,
        "plot_bgcolor": paper,
        "font": {"color": ink, "family": "Source Sans, sans-serif"},
        "margin": {"l": 70, "r": 12, "b": 60, "t": (32 if title else 10) + 20 * rows},
    }


def _axis(axis: Axis, palette: dict[str, Any]) -> dict[str, Any]:
    assert axis.range is not None, "a chart at a position has ranges"
    said = _log_ticks(axis.range) if axis.log else {}
    if axis.ticks is not None:
        said = dict(zip(("tickvals", "ticktext"), zip(*axis.ticks)))
    return said | {
        "title": {"text": axis.title},
        "type": "log" if axis.log else "linear",
        "range": list(np.log10(axis.range) if axis.log else axis.range),
        "visible": not axis.hidden,
        "gridcolor": palette[theme.FAINT],
        "zeroline": False,
        "automargin": True,
    }


def _log_ticks(ends: tuple[float, float]) -> dict[str, Any]:
    """Ticks at 2 and 5 of few decades, at powers of ten of many, few of less than one."""
    decades = abs(float(np.log10(ends[1] / ends[0])))
    if decades < 1:
        return {"nticks": 4}
    return {"dtick": "D2" if decades <= 3 else 1, "exponentformat": "power"}


@singledispatch
def _draw(layer: Layer, drawn: go.Figure, palette: dict[str, Any]) -> None:
    """Add the traces of a layer."""
    raise TypeError(f"there is no way to draw a layer of type {type(layer).__name__}")


@_draw.register
def _(layer: Points, drawn: go.Figure, palette: dict[str, Any]) -> None:
    x, y = np.asarray(layer.x), np.asarray(layer.y)
    group = np.zeros(len(x), int) if layer.group is None else np.asarray(layer.group)
    kind = go.Scatter if len(x) <= _MANY else go.Scattergl
    for i, name in enumerate(layer.names):
        rows = np.flatnonzero(group == i)
        color, symbol = layer.look(i)
        look = {"color": palette[color], "opacity": layer.opacity}
        look["symbol"] = "circle-open" if symbol == "ring" else symbol
        trace = kind(x=x[rows], y=y[rows], name=name, mode="markers", showlegend=bool(name))
        same = {"marker": {"opacity": layer.opacity}, "textfont": {"color": palette[theme.INK]}}
        trace.update(marker=look, unselected=same)  # a click fades no other point
        trace.update(_pointed_at(layer, rows), marker_size=_part(layer.size, rows))
        if layer.labels is not None:
            sides = "top center" if layer.sides is None else _part(layer.sides, rows)
            trace.update(mode="markers+text", text=_part(layer.labels, rows), textposition=sides)
        drawn.add_trace(trace)
    _add_star(layer, x, y, drawn, palette)


def _part(values: Any, rows: NDArray[np.intp]) -> Any:
    """Return some rows of a column; a plain number stands for all."""
    if np.ndim(values) == 0:
        return values
    return [values[i] for i in rows] if isinstance(values, list) else np.asarray(values)[rows]


def _pointed_at(layer: Points, rows: NDArray[np.intp]) -> dict[str, Any]:
    """Return what the pointer says of points, and what a click reports."""
    found: dict[str, Any] = {} if layer.id is None else {"customdata": _part(layer.id, rows)}
    if layer.opacity == 0.0:
        return found | {"hoverinfo": "none"}
    if layer.id is None and layer.text is None and not layer.hover:
        return {"hoverinfo": "skip"}  # a mark around others takes no click from them
    words = []
    if layer.text is not None:
        words = [[str(layer.text[i]).replace("\n", "<br>") for i in rows]]
    for name, values in (layer.hover or {}).items():
        words.append([f"{name} {value:.4g}" for value in np.asarray(values)[rows]])
    lines = ["<br>".join(parts) for parts in zip(*words)]
    return found | ({"hovertext": lines, "hoverinfo": "text"} if words else {})


def _add_star(layer: Points, x: Any, y: Any, drawn: go.Figure, palette: dict[str, Any]) -> None:
    """Mark the query, where a layer knows who it is."""
    known = layer.id is not None and layer.picked is not None
    place = np.flatnonzero(known and np.asarray(layer.id) == layer.picked)
    if not len(place):
        return
    star = {"symbol": "star", "size": 17, "color": palette[theme.QUERY]}
    star["line"] = {"width": 1.5, "color": palette[theme.INK]}
    look = {"mode": "markers", "name": "the query", "hoverinfo": "skip", "marker": star}
    drawn.add_scatter(x=x[place], y=y[place], **look)


@_draw.register
def _(layer: Line, drawn: go.Figure, palette: dict[str, Any]) -> None:
    x, y = np.asarray(layer.x), np.asarray(layer.y)
    stop = len(x) if layer.dim_after is None else int(layer.dim_after)
    dash = "dash" if layer.dashed else "solid"
    look = {
        "line": {"color": palette[layer.color], "width": layer.width, "dash": dash},
        "mode": "lines+markers" if layer.markers else "lines",
        "name": layer.name,
        "legendgroup": layer.name,
    }
    for rows, opacity in ((slice(0, stop + 1), layer.opacity), (slice(stop, None), FAINT)):
        if rows.stop or len(x[rows]) > 1:
            is_first = bool(layer.name) and bool(rows.stop)
            drawn.add_scatter(x=x[rows], y=y[rows], opacity=opacity, showlegend=is_first, **look)


@_draw.register
def _(layer: Band, drawn: go.Figure, palette: dict[str, Any]) -> None:
    color = palette[layer.color]
    look = {"mode": "lines", "line": {"color": color, "width": 0.5}, "hoverinfo": "skip"}
    drawn.add_scatter(x=layer.x, y=layer.high, showlegend=False, **look)
    look |= {"fill": "tonexty", "fillcolor": theme.translucent(color, layer.opacity)}
    drawn.add_scatter(x=layer.x, y=layer.low, name=layer.name, showlegend=bool(layer.name), **look)


@_draw.register
def _(layer: Rule, drawn: go.Figure, palette: dict[str, Any]) -> None:
    color = palette[layer.color]
    line = {"color": color, "width": 1.5, "dash": "dot" if layer.dashed else "solid"}
    words = {"annotation_text": layer.text or "", "annotation_font_color": color, "line": line}
    if not np.isfinite(layer.y if layer.x is None else layer.x):
        return
    if layer.x is None:
        place = "top left" if layer.at_start else "top right"
        drawn.add_hline(y=float(layer.y), annotation_position=place, **words)
    else:
        drawn.add_vline(x=float(layer.x), **words)


@_draw.register
def _(layer: Heat, drawn: go.Figure, palette: dict[str, Any]) -> None:
    values = np.asarray(layer.values, dtype=np.float64)
    across = np.log10 if layer.log else np.asarray
    low, high = across(layer.ends())
    look = {"colorscale": palette[layer.scale], "opacity": layer.opacity, "showscale": False}
    said = f"{layer.title} %{{customdata:.4g}}<extra></extra>"
    drawn.add_heatmap(
        x=layer.x, y=layer.y, z=across(values), zmin=low, zmax=high, customdata=values,
        name=layer.title, hovertemplate=said, **look,
    )  # fmt: skip


@_draw.register
def _(layer: Regions, drawn: go.Figure, palette: dict[str, Any]) -> None:
    """Cells answer the pointer with the words of their owner; nothing is drawn."""
    owner = np.asarray(layer.owner)
    words = np.append(np.asarray([] if layer.text is None else layer.text, dtype=object), "")
    look = {"hoverinfo": "text", "opacity": 0.0, "showscale": False}
    text = words[np.clip(owner, -1, len(words) - 1)]
    drawn.add_heatmap(x=layer.x, y=layer.y, z=owner, text=text, **look)


def _mosaic(strip: Images, palette: dict[str, Any]) -> go.Figure:
    """Lay images out in rows, a caption under each."""
    shown = np.asarray(strip.shown)
    shown = shown[shown >= 0]
    bank = np.asarray(strip.bank, dtype=np.float32)
    tall, wide = bank.shape[1] + max(4, bank.shape[1] // 3), bank.shape[2] + 2
    down, across = -(-len(shown) // ACROSS), min(len(shown), ACROSS)
    sheet = np.full((max(down, 1) * tall, max(across, 1) * wide), np.nan, dtype=np.float32)
    drawn, (low, high) = go.Figure(), strip.ends()
    for i, image in enumerate(shown):
        top, left = (i // ACROSS) * tall, (i % ACROSS) * wide
        sheet[top : top + bank.shape[1], left : left + bank.shape[2]] = bank[image]
        words = {} if strip.captions is None else {"text": strip.captions[i]}
        if strip.text is not None:
            words["hovertext"] = strip.text[i].replace("\n", "<br>")
        place = {"x": left + bank.shape[2] / 2 - 0.5, "y": top + bank.shape[1], "yanchor": "top"}
        drawn.add_annotation({"text": ""} | words | place, showarrow=False, font_size=11)
    look = {"colorscale": palette[strip.scale], "showscale": False, "hoverinfo": "skip"}
    drawn.add_heatmap(z=sheet, zmin=low, zmax=high, **look)
    drawn.update_layout(_look(strip.title, palette), height=120 + 110 * down)
    drawn.update_xaxes(visible=False)
    return drawn.update_yaxes(visible=False, autorange="reversed", scaleanchor="x")
