"""The widgets that edit a visitor's choices: a page's own, and those in the sidebar."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from kmviz import datasets
from kmviz.datasets import Dataset, drawing
from kmviz.ui.shell import url
from kmviz.views import prepare
from kmviz.views.controls import CONTROLS, Control
from kmviz.views.yours import MODEL

_DATA_NAMES = {"mnist": "MNIST digits", "digits": "small digits", "sketch": "draw your own"}


def row(*widths: int) -> list[Any]:
    """Return the places of a page's controls, side by side: one for each that has an effect."""
    return st.container(key="controls").columns(widths, vertical_alignment="bottom")


def draw(
    name: str,
    place: Any = st,
    *,
    low: int | None = None,
    high: int | None = None,
    options: Sequence[str] | None = None,
    words: Mapping[str, str] | None = None,
    **more: Any,
) -> Any:
    """Draw a control and return its value.

    Parameters
    ----------
    place : where: a column, or the page
    low, high : what the data allows of a number; a choice beyond is clipped
    options : what the data allows of a word, the first in place of what it does not allow
    words : how its options are read out, where the table does not say so
    **more : what else its widget takes: `disabled`, `help`, `on_change`
    """
    control = CONTROLS[name]
    given = {"key": name, "help": control.help, "persist_state": "session"} | more
    if isinstance(control.default, bool):
        return place.toggle(control.label, **given)
    if control.steps:
        return _steps(control, name, place, given)
    if control.is_number:
        return _number(control, name, place, (low, high), given)
    given["format_func"] = words.__getitem__ if words else control.spoken
    if isinstance(control.default, list):
        return place.multiselect(control.label, control.options, **given)
    known = list(options or control.options)
    if st.session_state[name] not in known:
        url.replace(name, known[0])
    return place.selectbox(control.label, known, **given)


def _steps(control: Control, name: str, place: Any, given: dict[str, Any]) -> Any:
    """Draw a slider of the control's steps, with the present value among them."""
    words = [step for step in control.steps if isinstance(step, str)]
    numbers = {*control.steps, st.session_state[name]} - set(words)
    options = [*words, *sorted(numbers)]
    return place.select_slider(control.label, options, format_func=control.spoken, **given)


def _number(
    control: Control, name: str, place: Any, limits: tuple[Any, Any], given: dict[str, Any]
) -> Any:
    low, high = (b if a is None else a for a, b in zip(limits, (control.low, control.high)))
    if st.session_state[name] is not None:
        url.limit(name, low, max(low, high))
    given["disabled"] = given.get("disabled", False) or high <= low
    if not control.is_typed:
        return place.slider(control.label, low, max(high, low + 1), **given)
    if control.empty is None:  # may be left empty
        given = {"value": None, "placeholder": control.spoken(None)} | given
    return place.number_input(control.label, low, max(high, low + 1), **given)


def choose_data() -> None:
    """Draw the choice of the data set."""
    session = st.session_state
    st.subheader("Data", anchor=False)
    known = url.data_names()
    words = {name: _data_name(name) for name in known}
    draw("data", options=known, words=words, on_change=_new_data)
    if session["data"] != "sketch":
        st.button(
            "Draw your own", icon=":material/draw:", key="draw", width="stretch",
            on_click=url.put_data, args=("sketch",),
            help="Points of two classes by mouse or finger; the machine follows each stroke.",
        )  # fmt: skip
    noise, most = session["noise"], prepare.MOST_NOISE.get(session["data"])
    if noise is not None and most is not None:
        url.replace("noise", min(noise, most))


def choose_rows(data: Dataset) -> None:
    """Draw the choice of classes, and of rows, noise and seed where the set has them."""
    session = st.session_state
    if len(data.class_names) > 2:
        url.replace("pair", prepare.pair_text(data, session["pair"]))
        words = prepare.spoken(data.class_names)
        draw("pair", options=prepare.pairs(data.class_names), words=words)
    is_own = session["data"] in ("upload", "yours")
    known = {} if is_own else datasets.options(data.name)
    if data.name == "sketch" and not session["drawn"].startswith(drawing.PAINTED):
        known.pop("noise")  # points stay where they were drawn
    with st.expander("Rows, noise and seed"):
        draw("n", step=100, placeholder="as it comes")
        if "noise" in known:
            draw("noise", placeholder=f"{known['noise']:g}")
        if "seed" in known:
            draw("seed")


def choose_machine() -> None:
    """Draw the choice of kernel and parameters, of an SVM that is trained here."""
    st.subheader("Machine", anchor=False)
    if st.session_state["data"] == "yours":
        st.caption(f"The model in {prepare.literal(Path(os.environ[MODEL]).name)}, as it is.")
        return
    kernel = draw("kernel")
    draw("C")
    if kernel in ("rbf", "poly"):
        draw("gamma")
    if kernel in ("poly", "poly_normalized"):
        draw("degree")


def choose_query(n_test: int) -> None:
    """Draw the choice of the query: a click on a chart by other means."""
    if st.session_state["query"] >= n_test:
        url.replace("query", 0)
    about = f"The test row all pages follow, 0 to {n_test - 1:,}. A click on a chart sets it."
    draw("query", high=n_test - 1, help=about)


def _data_name(name: str) -> str:
    if name == "upload":
        return f"your data: {st.session_state[url.UPLOAD].data.name}"
    if name == "yours":
        return f"your model: {Path(os.environ[MODEL]).name}"
    return _DATA_NAMES.get(name, name.replace("_", " "))


def _new_data() -> None:
    """Forget what was chosen for another data set: this one comes with its own machine."""
    url.put_data(st.session_state["data"])
