"""The choices in the sidebar that all pages share."""

from __future__ import annotations

import streamlit as st

from kmviz import datasets
from kmviz.datasets import Dataset
from kmviz.machines.named import NAMES
from kmviz.ui import prepare, state

KERNEL_NAMES = {
    "linear": "linear",
    "poly": "polynomial",
    "rbf": "RBF (Gaussian)",
    "poly_normalized": "polynomial, normalised",
}
COSTS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
GAMMAS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 100.0)


def choose_data() -> None:
    """Draw the choice of the data set."""
    st.subheader("Data", anchor=False)
    st.selectbox(
        "Data set", state.data_names(), key="data", format_func=_data_name, on_change=_new_data
    )
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
    with st.expander("Rows, noise and seed"):
        st.number_input(
            "Training rows", 20, 20_000, None, 100, key="n", placeholder="the set's own number"
        )
        if "noise" in known:
            st.number_input(
                "Noise", 0.0, 200.0, None, key="noise", placeholder=f"{known['noise']:g}"
            )
        if "seed" in known:
            st.number_input("Seed", 0, 9_999, key="seed", help="Which sample or split.")


def choose_machine() -> None:
    """Draw the choice of kernel and parameters."""
    session = st.session_state
    st.subheader("Machine", anchor=False)
    st.selectbox("Kernel", NAMES, key="kernel", format_func=KERNEL_NAMES.__getitem__)
    st.select_slider(
        "C",
        sorted({*COSTS, session["C"]}),
        key="C",
        format_func="{:g}".format,
        help="The price of a training error: small gives a smooth boundary, large a detailed one.",
    )
    if session["kernel"] in ("rbf", "poly"):
        numbers = sorted({*GAMMAS, session["gamma"]} - {"scale"})
        st.select_slider(
            "gamma",
            ["scale", *numbers],
            key="gamma",
            format_func=lambda g: g if g == "scale" else f"{g:g}",
            help="How fast similarity fades with distance. `scale` is 1 / (features x variance).",
        )
    if session["kernel"] in ("poly", "poly_normalized"):
        st.slider("Degree", 1, 12, key="degree")


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
    return {"mnist": "MNIST digits", "digits": "small digits"}.get(name, name.replace("_", " "))


def _new_data() -> None:
    """Forget what was chosen for another data set."""
    state.put(pair="", n=None, noise=None, query=0)
