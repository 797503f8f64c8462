"""The live component on a page: what is sent, and what comes back.

Three kinds of messages go to the browser. The component itself, with its JavaScript, never
changes. Each view is a part of its own, so that a change of one is no reason to send the others
again; Streamlit keeps what it has sent and does not repeat it. Where the slider stands is a few
hundred bytes. The browser draws when it holds every part that the slider names.

A move comes back with its number. What Python says about the slider carries the number of the last
move it has heard, so that a late answer never pulls back a slider that has moved on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
import streamlit as st

from kmviz.charts import Chart, Images, live, plotly
from kmviz.charts.wire import pack, spec, words
from kmviz.ui import lesson
from kmviz.ui.shell import url
from kmviz.ui.shell.words import meaning

View = Chart | Images

#: What a figure of plotly's offers above it.
_CONFIG = {
    "displaylogo": False,
    "showSendToCloud": False,
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d", "sendDataToCloud"],
}
_live = st.components.v2.component("kmviz.live", css=live.style(), js=live.source(*live.FILES))
_part = st.components.v2.component("kmviz.live_part", js=live.source("part", "part_mount"))


def show(
    key: str,
    label: str,
    values: Sequence[Any],
    value: Any,
    views: Sequence[View],
    *,
    numbers: Mapping[str, str | Sequence[str]] | None = None,
    note: str | Sequence[str] | None = None,
    columns: int = 2,
    front: str = "",
    help: str = "",
    on_release: Callable[[Any], None] | None = None,
    on_click: Callable[[str, int], None] | None = None,
) -> Any:
    """Draw a slider with the views that follow it, and return the value it stands at.

    Parameters
    ----------
    key : the URL parameter that the slider edits
    values : what the slider may take, in order: numbers or words
    value : where it stands; a number that is not among them is drawn at the nearest
    views : what is drawn, each sent once with the arrays of all positions
    numbers : figures in a line, by name: one text for all positions or one for each
    note : a sentence on what to notice, likewise
    columns : how many views stand side by side where there is room
    front : the view that a class sees first, where not the first of them
    on_release : called with the value once the slider comes to rest; default: it becomes the
        choice `key` of the page, and so of the URL
    on_click : called with the key of a view and the id clicked; `pick` makes it the query
    """
    mount = f"live_{key}"
    options = list(values)
    position = _position(options, value)

    def moved() -> None:
        told = _told(mount)["moved"]
        (on_release or (lambda chosen: url.put(**{key: chosen})))(options[told["position"]])

    def clicked() -> None:
        told = _told(mount)["clicked"]
        if on_click is not None:
            on_click(told["view"], int(told["id"]))

    for name, texts in (numbers or {}).items():
        lesson.note(name, texts if isinstance(texts, str) else texts[position])
    lesson.tell()
    count = len(options)
    is_presented = bool(st.session_state.get("present"))  # before a class: one picture at a time
    if is_presented and front:
        views = sorted(views, key=lambda view: view.key != front)
    specs = {view.key: spec(view, count) for view in views}
    bar = {
        "param": key,
        "label": label,
        "help": help,
        "texts": words([_text(option) for option in options], 1, 1, "values"),
        "numbers": [
            [name, words(t, 0, count, name), meaning(name)] for name, t in (numbers or {}).items()
        ],
        "note": None if note is None else words(note, 0, count, "note"),
        "columns": 1 if is_presented else columns,
        "present": is_presented,
        "clicks": on_click is not None,
        "picked": {name: _picked(sent) for name, sent in specs.items()},
    }
    blobs = {name: pack(sent) for name, sent in ({"bar": bar} | specs).items()}
    with st.container(gap=None):
        said = _live(
            key=mount, data={"name": mount}, on_moved_change=moved, on_clicked_change=clicked,
            on_expanded_change=lambda: None, on_turned_change=lambda: None,
        )  # fmt: skip
        for name, blob in blobs.items():
            _part(key=f"{mount}_{name}", data=_named(blob))
        stand = {
            "name": mount,
            "position": position,
            "heard": max((part["move"] for part in _told(mount).values() if part), default=0),
            "parts": [_digest(blob) for blob in blobs.values()],
        }
        _part(key=f"{mount}_stand", data=stand)
    if said.expanded:
        by_key = {view.key: view for view in views}
        _expand(by_key[said.expanded["view"]], int(said.expanded["position"]))
    return options[position]


def _expand(view: View, position: int) -> None:
    """Draw a picture large, in a dialog: to look closer, and to save."""
    colors = st.context.theme.type or "light"

    def large() -> None:
        st.plotly_chart(
            plotly.figure(view, position, colors), theme=None, key="large", alt=view.alt,
            config=_CONFIG,
        )  # fmt: skip
        st.download_button(
            "Picture (HTML)", lambda: plotly.page(view, position, colors), f"{view.key}.html",
            "text/html", on_click="ignore", icon=":material/download:",
        )  # fmt: skip

    st.dialog(str(view.at(position).title) or "Large", width="large")(large)()


def pick(view: str, row: int) -> None:
    """Make the clicked row the query: what `on_click` is on most pages."""
    url.put(query=row)


def still(
    *views: View,
    columns: int = 1,
    key: str = "",
    on_click: Callable[[str, int], None] | None = pick,
) -> None:
    """Draw pictures that follow no slider, beside one another."""
    show(key or views[0].key, "", [0], 0, views, columns=columns, on_click=on_click)


def plotted(chart: Chart, key: str = "", on_select: Callable[[], None] | None = None) -> None:
    """Draw a chart that follows no slider as a Plotly figure.

    Parameters
    ----------
    on_select : what a click does
    """
    options: dict[str, Any] = {}
    if on_select is not None:
        options = {"on_select": on_select, "selection_mode": "points"}
    figure = plotly.figure(chart, 0, st.context.theme.type or "light")
    st.plotly_chart(
        figure, theme=None, key=key or chart.key, alt=chart.alt, config=_CONFIG, **options
    )


def _picked(sent: dict[str, Any]) -> dict[str, Any]:
    """Take out who wears the star: a click changes it, and that is no reason to send all points."""
    found = {str(k): layer.pop("picked", None) for k, layer in enumerate(sent.get("layers", ()))}
    return {k: column for k, column in found.items() if column is not None}


def _told(mount: str) -> dict[str, Any]:
    """Return what the browser last said."""
    found = st.session_state.get(mount) or {}
    return {name: found.get(name) for name in ("moved", "clicked")}


def _position(options: list[Any], value: Any) -> int:
    if value in options:
        return options.index(value)
    try:
        return int(np.argmin(np.abs(np.asarray(options, float) - float(value))))
    except (TypeError, ValueError):
        raise ValueError(f"{value!r} is none of the slider's values {options}") from None


def _text(option: Any) -> str:
    return option if isinstance(option, str) else f"{option:g}" if option % 1 else f"{option:.0f}"


def _digest(blob: bytes) -> str:
    return blake2b(blob, digest_size=8).hexdigest()


def _named(blob: bytes) -> bytes:
    """The blob with its digest before it: 16 bytes by which the browser finds it."""
    return _digest(blob).encode() + blob
