"""`data=sketch`: points drawn with mouse or finger are the data of every page.

The board stands in the sidebar, on Start in the page itself. A stroke that ends becomes the choice
`drawn` and with it a part of the URL; the machine is trained again, and the page follows.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from kmviz.datasets import DataError, Dataset
from kmviz.datasets.drawing import read_drawing
from kmviz.ui.runtime import problem
from kmviz.ui.shell import url
from kmviz.ui.sketch import board
from kmviz.views.problem import Problem

_COLUMNS = "kmviz.sketch_columns"


def is_on() -> bool:
    """Whether the data of the page is drawn by hand."""
    return st.session_state["data"] == "sketch"


def place(title: str) -> Any:
    """Return where the board of a page goes; on Start it takes the first of two columns."""
    st.session_state.pop(_COLUMNS, None)
    if title != "Start" or not is_on():
        return st.sidebar.container(key="side_board")
    st.session_state[_COLUMNS] = tuple(st.columns(2))
    return st.session_state[_COLUMNS][0]


def columns() -> Any:
    """Return the two columns of Start: those in which the board stands, or new ones."""
    return st.session_state.get(_COLUMNS) or st.columns(2)


def load(place: Any) -> Dataset:
    """Return the data set chosen; a drawing too small to learn from is said, and the page ends."""
    try:
        return problem.load_chosen()
    except DataError as error:
        show(place, None)
        st.info(
            f"{error} Draw on the board; the page follows after each stroke.",
            icon=":material/draw:",
        )
        url.end()
        st.stop()


def show(place: Any, current: Problem | None) -> None:
    """Draw the board, if the data is drawn by hand, and the points to take home."""
    if not is_on():
        return
    with place:
        board.draw(read_drawing(st.session_state["drawn"]), current)
        if current is not None:
            st.download_button(
                "Points (CSV)", _csv, "sketch.csv", "text/csv", key="download_sketch.csv",
                on_click="ignore", icon=":material/download:",
            )  # fmt: skip


def _csv() -> str:
    data = problem.load_chosen()
    rows = dict(zip(("x1", "x2", "class"), (*data.X_train.T, data.y_train)))
    return pd.DataFrame(rows).to_csv(index=False)
