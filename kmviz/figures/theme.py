"""One look for every chart: colours, symbols, layout, and the picture to take home.

Colours are named by slots. The app fills them from its theme (`.streamlit/config.toml`), so a
chart follows the switch from light to dark by itself; `standalone` fills them with the colours
below for a picture that leaves the app.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike, NDArray
from plotly.offline import get_plotlyjs

from kmviz.charts.plane import MOST_POINTS as MOST_POINTS, thinned as thinned
from kmviz.figures.chart import Chart

#: Ten categorical slots. The first two are the two classes.
COLORS = tuple(f"#0000{i:02d}" for i in range(1, 11))
SEQUENTIAL = tuple(f"#0000{i:02d}" for i in range(11, 21))
#: From class -1 (first) over the boundary (middle) to class +1 (last).
DIVERGING = tuple(f"#0000{i:02d}" for i in range(21, 31))
#: Text and lines, grid lines, background.
INK, FAINT, PAPER = "#000037", "#000039", "#000038"

#: A symbol for each colour: no chart relies on colour alone.
SYMBOLS = (
    "circle",
    "diamond",
    "square",
    "triangle-up",
    "cross",
    "triangle-down",
    "pentagon",
    "hexagon",
    "star-square",
    "bowtie",
)
QUERY_SYMBOL = "star"

_PRINTED = {
    **dict(
        zip(
            COLORS,
            ("#0072B2", "#D55E00", "#009E73", "#8E2BD9", "#D4A200")
            + ("#3C2DA5", "#E858E0", "#5A1E00", "#9C9CC4", "#3C2D4B"),
        )
    ),
    **dict(
        zip(
            SEQUENTIAL,
            ("#E8F1F8", "#CFE2F0", "#B3D0E6", "#93BCDA", "#72A6CD")
            + ("#508FBF", "#2F78AE", "#1A6299", "#0D4D80", "#063A66"),
        )
    ),
    **dict(
        zip(
            DIVERGING,
            ("#6BAED6", "#94C4E0", "#B8D7EA", "#D6E7F2", "#EEF4F8")
            + ("#FBF2EB", "#F9E1CF", "#F6CBA9", "#F1AF7C", "#E98F4E"),
        )
    ),
    INK: "#1C2430",
    FAINT: "#DDE2E9",
    PAPER: "#FFFFFF",
}

_AT_NIGHT = {
    **dict(
        zip(
            COLORS,
            ("#56B4E9", "#E69F00", "#2DC79B", "#E79BC4", "#F0E442")
            + ("#965AFF", "#FF2E63", "#B4F096", "#A569A5", "#5A78D2"),
        )
    ),
    **dict(
        zip(
            SEQUENTIAL,
            ("#16222E", "#1A3042", "#1E4059", "#225271", "#27668B")
            + ("#327CA5", "#4493BE", "#5FABD3", "#86C3E4", "#B5DCF2"),
        )
    ),
    **dict(
        zip(
            DIVERGING,
            ("#1F6F9F", "#1B5B82", "#194967", "#17384D", "#162834")
            + ("#2D241B", "#47331C", "#64431B", "#835419", "#A56714"),
        )
    ),
    INK: "#E8ECF2",
    FAINT: "#2C343F",
    PAPER: "#12161D",
}

#: What the slots are filled with outside the app.
THEMES = {"light": _PRINTED, "dark": _AT_NIGHT}

#: Kinds of traces that have no entry in the legend unless they ask for one.
_NO_LEGEND = ("contour", "heatmap")

#: Up to this many points a chart is SVG, above it WebGL; above it WebGL.
SVG_POINTS = 2_000
#: Up to so many decades a logarithmic axis has ticks at 2 and 5 of each.
MOST_DECADES = 3
#: So many points on one another look like more.
FEW = 4


Trace = dict[str, Any]


def trace(kind: str, **options: Any) -> Trace:
    """Return a trace of this kind (`scatter`, `contour`, ...) with plotly's options."""
    return {"type": kind, **options}


def scatter(n_points: int, **options: Any) -> Trace:
    """Return a scatter trace of the kind that draws `n_points` (of the whole chart) smoothly."""
    return trace("scatter" if n_points <= SVG_POINTS else "scattergl", **options)


def uncovered(x: ArrayLike, y: ArrayLike) -> NDArray[np.intp]:
    """Return the points to draw: all but those under a few others at the same place.

    A place is about as wide as two pixels of a chart; where points stand on one another, a few
    half transparent ones look like all of them, in a fraction of the time.
    """
    cells = np.stack([_places(x, 450), _places(y, 160)])
    order = np.lexsort(cells)
    new = np.append(True, np.any(np.diff(cells[:, order]), axis=0))[: len(order)]
    first = np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))
    return np.sort(order[np.arange(len(order)) - first < FEW])


def _places(values: ArrayLike, count: int) -> NDArray[np.intp]:
    """Which of `count` equal parts of their range values fall into."""
    values = np.asarray(values, dtype=np.float64)
    low, width = values.min(initial=0.0), np.ptp(values) if values.size else 0.0
    return ((values - low) / (width or 1.0) * count).astype(np.intp)


def light(values: ArrayLike) -> NDArray[np.float32]:
    """Return the values as float32, half the bytes on their way to the browser."""
    return np.asarray(values, dtype=np.float32)


def star(x: float, y: float, name: str = "the query") -> Trace:
    """Return the mark of what is selected."""
    return trace(
        "scatter",
        x=light([x]),
        y=light([y]),
        mode="markers",
        name=name,
        hoverinfo="skip",
        marker={
            "symbol": QUERY_SYMBOL,
            "size": 17,
            "color": COLORS[4],
            "line": {"width": 1.5, "color": INK},
        },
    )


def diverging_scale() -> list[list[Any]]:
    """Return the colour scale of a decision function, boundary in the middle."""
    return [[i / (len(DIVERGING) - 1), color] for i, color in enumerate(DIVERGING)]


def sequential_scale() -> list[list[Any]]:
    """Return the colour scale of a quantity that starts at nothing."""
    return [[i / (len(SEQUENTIAL) - 1), color] for i, color in enumerate(SEQUENTIAL)]


def figure(
    traces: Iterable[Trace],
    x: str,
    y: str,
    title: str | None = None,
    height: int = 430,
    half: bool = False,
    **layout: Any,
) -> go.Figure:
    """Return the chart of these traces with its axes named, title and legend placed.

    Parameters
    ----------
    half : whether it gets half the page's width, where a legend takes more rows
    layout : what else stands in it (`xaxis`, `yaxis`, `shapes`, `annotations`, ...)

    Notes
    -----
    Plotly checks each option of each trace, which takes longer than anything else on a page. The
    options here come from our own code, so that tests check them once for all charts instead.
    """
    drawn = [_kept(trace) for trace in traces]
    base = _layout(x, y, title, height)
    base["margin"] |= {"t": (28 if title else 0) + 27 + 19 * _legend_rows(drawn, half)}
    for name, value in layout.items():
        base[name] = base[name] | value if isinstance(base.get(name), dict) else value
    if "annotations" in base:
        base["annotations"] = [a | {"font": {"color": INK} | a.get("font", {})}
                               for a in base["annotations"]]  # fmt: skip
    for name in [name for name in base if name[1:].startswith("axis")]:
        base[name] = axis = _inked(base[name])
        if axis.get("type") == "log" and "tickvals" not in axis:
            base[name] = axis | _log_ticks(name, base, drawn)
    return Chart(data=drawn, layout=base, _validate=False)


def _inked(axis: dict[str, Any]) -> dict[str, Any]:
    """Return an axis whose words are as dark as the page's: the app's own are a pale grey."""
    title, ink = axis.get("title", {}), {"color": INK}
    return axis | {"tickfont": ink, "title": title | {"font": ink}}


def _log_ticks(name: str, layout: dict[str, Any], traces: list[Trace]) -> dict[str, Any]:
    """Ticks at 1, 2 and 5 of few decades, at powers of ten alone where there are many.

    plotly.js chooses by decades a tick: above 0.7 it takes powers, above 0.3 also 2 and 5, below
    all nine digits. It chooses again where a visitor looks closer, so that it gets a number of
    ticks, not their places. Less than a decade has ticks as on a linear axis.
    """
    axis, margin = layout[name], layout["margin"]
    low, high = axis.get("range") or _log_range(name, traces)
    decades = high - low
    few, most = float(MOST_DECADES), 12
    if name.startswith("y"):
        bottom, top = axis.get("domain", (0.0, 1.0))
        pixels = (top - bottom) * (layout["height"] - margin["t"] - margin["b"])
        few, most = min(few, pixels / 50), max(2, int(pixels / 20))  # 2 is 0.3 decades above 1
    found: dict[str, Any] = {"range": [low, high], "exponentformat": "power"}
    if low >= -4 and high < 6:
        found["tickformat"] = ",~g"
    elif decades <= few:
        found["tickformat"] = "~e"
    if decades > few:
        return found | {"nticks": min(math.floor(decades) + 1, most)}
    return found | {"nticks": 4 if decades < 1 else round(decades / 0.45)}


def _log_range(name: str, traces: list[Trace]) -> tuple[float, float]:
    """The decades from the least to the greatest value drawn on an axis, and a little more."""
    letter = name[0]
    own = letter + name.removeprefix(f"{letter}axis")
    values = [
        np.asarray(t[letter], dtype=np.float64)
        for t in traces
        if t.get(f"{letter}axis", letter) == own and letter in t
    ]
    drawn = np.concatenate([v[np.isfinite(v) & (v > 0)] for v in values])
    if not len(drawn):
        return 0.0, 1.0
    low, high = np.log10([drawn.min(), drawn.max()])
    room = 0.05 * (high - low) or 0.1
    return float(low - room), float(high + room)


def _legend_rows(traces: list[Trace], half: bool) -> int:
    """How many rows the legend takes, about: a margin too small draws the chart twice."""
    shown = [t["name"] for t in traces if t.get("showlegend", t["type"] not in _NO_LEGEND)]
    if len(shown) < 2:
        return 0
    return math.ceil(sum(36 + 6.5 * len(name) for name in shown) / (370 if half else 900))


def _kept(trace: Trace) -> Trace:
    """Let a click mark nothing by itself: points not clicked stay as they are."""
    if trace["type"] not in ("scatter", "scattergl") or "markers" not in trace.get("mode", ""):
        return trace
    opacity = trace.get("marker", {}).get("opacity", 1.0)
    return {**trace, "unselected": {"marker": {"opacity": opacity}}}


def on_one_scale(figures: list[go.Figure]) -> list[go.Figure]:
    """Return charts of one kind with the same ranges, wide enough for each of them."""
    names = [name for name in ("xaxis", "yaxis") if all(name in f.layout for f in figures)]
    for name in names:
        ends = [end for end in (_range(figure, name) for figure in figures) if end is not None]
        if len(ends) == len(figures):
            low, high = np.min(ends, axis=0)[0], np.max(ends, axis=0)[1]
            for figure in figures:
                figure.layout[name].range = [float(low), float(high)]
    return figures


def _range(figure: go.Figure, name: str) -> tuple[float, float] | None:
    """Return the range of an axis, of what is drawn along it where none was set."""
    given = figure.layout[name].range
    if given is not None:
        return given
    drawn = [
        np.asarray(trace[name[0]], dtype=np.float64)
        for trace in figure.data
        if trace.type.startswith("scatter") and (trace[name] or name[0]) == name[0]
    ]
    values = np.concatenate([np.zeros(0), *drawn])
    values = values[np.isfinite(values)]
    if not values.size:
        return None
    room = 0.05 * float(np.ptp(values)) or 0.5
    return float(values.min()) - room, float(values.max()) + room


def line_at(
    x: float | None = None, y: float | None = None, dash: str = "dot", color: str = INK
) -> dict[str, Any]:
    """Return the shape of a line across the chart, upright at `x` or level at `y`."""
    place = (
        {"xref": "x", "x0": x, "x1": x, "yref": "paper", "y0": 0, "y1": 1}
        if x is not None
        else {"yref": "y", "y0": y, "y1": y, "xref": "paper", "x0": 0, "x1": 1}
    )
    return {"type": "line", "line": {"color": color, "width": 1, "dash": dash}, **place}


def _layout(x: str, y: str, title: str | None, height: int) -> dict[str, Any]:
    axis = {"automargin": True, "zeroline": False}
    layout: dict[str, Any] = {
        "height": height,
        "margin": {"l": 76, "r": 12, "b": 76},  # room for ticks and title: see _legend_rows
        "legend": {
            "orientation": "h",
            "entrywidth": 0,
            "x": 0,
            "xref": "container",  # on a phone every pixel counts
            "xanchor": "left",
            **_below(title, height),
        },
        "hovermode": "closest",
        "clickmode": "event+select",
        "dragmode": "zoom",
        "xaxis": {"title": {"text": x}, **axis},
        "yaxis": {"title": {"text": y}, **axis},
    }
    if title:
        font = {"size": 15}
        layout["title"] = {"text": title, "font": font, "x": 0, "xanchor": "left", "y": 0.98}
    return layout


def _below(title: str | None, height: int) -> dict[str, Any]:
    """Where the legend begins: under the title, so that more rows push the chart, not the title."""
    return {"yref": "container", "y": 1 - (32 if title else 4) / height, "yanchor": "top"}


def coloured(figure: Chart, theme: str = "light") -> go.Figure:
    """Return the chart with its slots filled: a plotly figure that needs no app.

    Parameters
    ----------
    figure : Chart
    theme : {"light", "dark"}
    """
    colors = THEMES[theme]
    paper = {"paper_bgcolor": colors[PAPER], "plot_bgcolor": colors[PAPER]}
    filled = _filled(figure.parts(), colors)
    made = go.Figure(filled).update_layout(**paper, font={"color": colors[INK]})
    lines = {"gridcolor": colors[FAINT], "zeroline": False}
    return made.update_xaxes(**lines).update_yaxes(**lines)


def _filled(part: Any, colors: dict[str, str]) -> Any:
    """Return a part of a figure with its slots replaced by colours."""
    if isinstance(part, dict):
        return {name: _filled(value, colors) for name, value in part.items()}
    if isinstance(part, list | tuple):
        return [_filled(value, colors) for value in part]
    return colors.get(part, part) if isinstance(part, str) else part


def script() -> str:
    """Return the script that draws the charts of a page: megabytes, once for all of them."""
    return f"<script>{get_plotlyjs()}</script>"


def printed(figure: Chart, width: int, height: int) -> str:
    """Return the chart as a part of a page that holds `script()`: a still picture, on white."""
    beside = {"orientation": "v", "x": 1.02, "y": 1, "font": {"size": 11}}
    beside |= {"xref": "paper", "yref": "paper"}
    margin = {"t": 30 if figure.layout.title.text else 10, "b": 50, "l": 60, "r": 10}
    still = coloured(figure).update_layout(
        width=width, height=height, legend=beside, margin=margin, paper_bgcolor="white"
    )
    return still.to_html(full_html=False, include_plotlyjs=False, config={"staticPlot": True})


def standalone(figure: go.Figure) -> str:
    """Return the chart as one HTML file that needs neither the app nor a network."""
    page = figure.to_html(
        include_plotlyjs=True, full_html=True, config={"displaylogo": False, "responsive": True}
    )
    head, found, chart = page.rpartition("Plotly.newPlot(")
    for slot, color in _PRINTED.items():  # in the chart only: the library is megabytes long
        chart = chart.replace(slot, color)
    return head + found + chart
