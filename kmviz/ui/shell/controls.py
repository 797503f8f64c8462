"""The widgets that edit a visitor's choices: a page's own, and those in the sidebar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from kmviz import datasets
from kmviz.datasets import Dataset, drawing
from kmviz.methods.register import method
from kmviz.ui import prepare, state
from kmviz.ui.params import Choice, Control, Flag, Number, Words


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
    disabled: bool = False,
) -> Any:
    """Draw a control of this page and return its value.

    Parameters
    ----------
    place : where: a column, or the page
    low, high : what the data allows of a number; a choice beyond is clipped, and the URL kept
    options : what the data allows of a word, the first in place of what it does not allow
    """
    control = state.controls()[name]
    given: dict[str, Any] = {"key": name, "help": control.help, "disabled": disabled}
    param = control.param
    if isinstance(param, Flag):
        return place.toggle(control.label, **given)
    if isinstance(param, Choice):
        known = list(options or param.options)
        if st.session_state[name] not in known:
            state.replace(name, known[0])
        return place.selectbox(control.label, known, format_func=control.spoken, **given)
    if isinstance(param, Words):
        return place.multiselect(
            control.label, param.options, format_func=control.spoken, **given
        )  # fmt: skip
    if control.values:
        known = [v for v in control.values if isinstance(v, str)]
        numbers = {*control.values, st.session_state[name]} - set(known)
        return place.select_slider(
            control.label, [*known, *sorted(numbers)], format_func=control.spoken, **given
        )
    return _number(control, name, place, low, high, given)


def _number(
    control: Control, name: str, place: Any, low: Any, high: Any, given: dict[str, Any]
) -> Any:
    param = control.param
    assert isinstance(param, Number)
    low = param.low if low is None else low
    high = param.high if high is None else high
    if st.session_state[name] is not None:
        state.limit(name, low, max(low, high))
    given["disabled"] = given["disabled"] or high <= low
    if not control.is_typed:
        return place.slider(control.label, low, max(high, low + 1), **given)
    if param.no_number is None:  # may be left empty
        given |= {"value": None, "placeholder": control.spoken(None)}
    return place.number_input(control.label, low, max(high, low + 1), **given)


def parameters(name: str, *only: str, said: Mapping[str, Any] = state.PRESENT) -> dict[str, Any]:
    """Return what this page's controls say, as parameters of a method's estimator.

    Parameters
    ----------
    name : the method's name in the register, which says which URL parameter drives which
    only : these parameters of the estimator alone
    said : the choices, by URL parameter; default: the visitor's
    """
    given = {parameter: said[url] for url, parameter in method(name).url.items() if url in said}
    return {key: value for key, value in given.items() if not only or key in only}


def choose_data() -> None:
    """Draw the choice of the data set."""
    st.subheader("Data", anchor=False)
    st.selectbox(
        "Data set", state.data_names(), key="data", format_func=_data_name, on_change=_new_data
    )
    if st.session_state["data"] != "sketch":
        st.button(
            "Draw your own", icon=":material/draw:", key="draw", width="stretch",
            on_click=state.put_data, args=("sketch",),
            help="Points of two classes by mouse or finger; the machine follows each stroke.",
        )  # fmt: skip
    noise, most = st.session_state["noise"], prepare.MOST_NOISE.get(st.session_state["data"])
    if noise is not None and most is not None:
        state.replace("noise", min(noise, most))


def choose_rows(data: Dataset) -> None:
    """Draw the choice of classes, and of rows, noise and seed where the set has them."""
    if len(data.class_names) > 2:
        state.replace("pair", prepare.pair_text(data, st.session_state["pair"]))
        st.selectbox(
            "Two classes",
            prepare.pairs(data.class_names),
            key="pair",
            format_func=prepare.spoken(data.class_names).__getitem__,
        )
    known = {} if st.session_state["data"] == "upload" else datasets.options(data.name)
    if data.name == "sketch" and not st.session_state["drawn"].startswith(drawing.PAINTED):
        known.pop("noise")  # points stay where they were drawn
    with st.expander("Rows, noise and seed"):
        st.number_input("Training rows", 20, 20_000, None, 100, key="n", placeholder="as it comes")
        if "noise" in known:
            st.number_input(
                "Noise", 0.0, 200.0, None, key="noise", placeholder=f"{known['noise']:g}"
            )
        if "seed" in known:
            st.number_input("Seed", 0, 9_999, key="seed", help="Which sample or split.")


def choose_machine() -> None:
    """Draw the choice of kernel and parameters."""
    st.subheader("Machine", anchor=False)
    kernel = draw("kernel")
    draw("C")
    if kernel in ("rbf", "poly"):
        draw("gamma")
    if kernel in ("poly", "poly_normalized"):
        draw("degree")


def choose_query(n_test: int) -> None:
    """Draw the choice of the query: a click on a chart by other means."""
    if st.session_state["query"] >= n_test:
        state.replace("query", 0)
    st.number_input(
        "Query",
        0,
        n_test - 1,
        key="query",
        help=f"The test row all pages follow, 0 to {n_test - 1:,}. A click on a chart sets it.",
    )


def _data_name(name: str) -> str:
    if name == "upload":
        return f"your data: {st.session_state[state.UPLOAD].data.name}"
    return {"mnist": "MNIST digits", "digits": "small digits", "sketch": "draw your own"}.get(
        name, name.replace("_", " ")
    )


def _new_data() -> None:
    """Forget what was chosen for another data set: this one comes with its own machine."""
    state.put_data(st.session_state["data"])
