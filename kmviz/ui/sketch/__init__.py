"""`data=sketch`: points drawn with mouse or finger are the data of every page.

The board stands in the sidebar, on Start in the page itself. A stroke that ends becomes the choice
`drawn` and with it a part of the URL; the machine is trained again, and the page follows.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from kmviz.charts import geometry, live
from kmviz.datasets import DataError, Dataset
from kmviz.datasets.drawing import (
    CELLS,
    LAST,
    MOST,
    REACH,
    Drawing,
    place_rows,
    read_drawing,
    write_drawing,
)
from kmviz.ui.runtime import problem
from kmviz.ui.shell import url
from kmviz.views.problem import Problem

_COLUMNS = "kmviz.sketch_columns"
_HERE = Path(__file__).parent
#: Cells on each side of the picture of f; pixels of the board's side at most.
FIELD, LARGEST = 64, 430
_KEY = "sketch_board"

_board = st.components.v2.component(
    "kmviz.sketch",
    css=(_HERE / "board.css").read_text("utf-8"),
    js=live.source("theme", "canvas") + (_HERE / "board.js").read_text("utf-8"),
)


def is_on() -> bool:
    """Return True if the data of the page is drawn by hand."""
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
        _draw_board(read_drawing(st.session_state["drawn"]), current)
        if current is not None:
            st.download_button(
                "Points (CSV)", _csv, "sketch.csv", "text/csv", key="download_sketch.csv",
                on_click="ignore", icon=":material/download:",
            )  # fmt: skip


def _csv() -> str:
    data = problem.load_chosen()
    rows = dict(zip(("x1", "x2", "class"), (*data.X_train.T, data.y_train)))
    return pd.DataFrame(rows).to_csv(index=False)


def _draw_board(drawing: Drawing, problem: Problem | None) -> None:
    """Draw the board, with what a machine has made of the drawing if there is one."""
    told = st.session_state.get(_KEY) or {}
    data: dict[str, Any] = {
        "points": np.column_stack([drawing.places, drawing.labels]).tolist(),
        "cells": None if drawing.cells is None else _cells_text(drawing.cells),
        "heard": (told.get("drawn") or {}).get("move", 0),
        "most": MOST,
        "largest": LARGEST,
        "sample": [],
        "vectors": [],
        "line": [],
        "field": "",
        "star": None,
    }
    _board(key=_KEY, data=data | (learned(problem) if problem else {}), on_drawn_change=_drawn)


def learned(problem: Problem) -> dict[str, Any]:
    """Return the machine on the board: f, its boundary, its vectors, the query, as places."""
    axis = np.linspace(-REACH, REACH, FIELD)
    rows = np.column_stack([part.ravel() for part in np.meshgrid(axis, axis)])
    f = problem.machine.decision_function(_scaled(problem, rows), dtype=np.float32)
    scale = float(np.abs(f).max()) or 1.0
    codes = np.rint(127 + 127 * np.clip(2 * f / scale, -1, 1)).astype(np.uint8)
    steps = np.linspace(0, LAST, FIELD)
    line = geometry.contour(f.reshape(FIELD, FIELD), steps, steps)
    sample = np.column_stack([_places(problem, problem.data.X_train), problem.data.y_train])
    return {
        "field": base64.b64encode(codes.tobytes()).decode(),
        "line": [None if np.isnan(x) else [round(x, 1), round(y, 1)] for x, y in line.tolist()],
        "vectors": _places(problem, problem.machine.vectors).tolist(),
        "sample": sample[:MOST].tolist(),
        "star": _places(problem, problem.x[None])[0].tolist(),
    }


def _drawn() -> None:
    """Callback: a stroke has ended, or the banana is asked for."""
    told = st.session_state[_KEY]["drawn"]
    url.put_drawing("" if told.get("start") else write_drawing(read(told)))


def read(told: dict[str, Any]) -> Drawing:
    """Return the drawing that the browser tells of."""
    rows = np.array(told["points"], dtype=int).reshape(-1, 3)
    cells = told["cells"]
    if cells is None:
        return Drawing(rows[:MOST, :2].clip(0, LAST), np.where(rows[:MOST, 2] > 0, 1, -1))
    painted = np.array([cell == "1" for cell in cells]).reshape(CELLS, CELLS)
    return Drawing(rows[:0, :2], rows[:0, 2], painted)


def _cells_text(cells: NDArray[np.bool_]) -> str:
    return "".join("01"[int(cell)] for cell in cells.ravel())


def _scaled(problem: Problem, rows: NDArray[Any]) -> NDArray[Any]:
    return rows if problem.scaler is None else problem.scaler.transform(rows)


def _places(problem: Problem, rows: NDArray[Any]) -> NDArray[Any]:
    raw = rows if problem.scaler is None else problem.scaler.inverse_transform(rows)
    return place_rows(raw)
