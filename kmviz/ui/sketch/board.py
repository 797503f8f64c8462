"""The board on a page: what is sent to the browser, and what comes back after each stroke."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from kmviz.charts import geometry, live
from kmviz.datasets.drawing import CELLS, LAST, MOST, REACH, Drawing, place_rows, write_drawing
from kmviz.ui.shell import url
from kmviz.views.problem import Problem

_HERE = Path(__file__).parent
#: Cells on each side of the picture of f; pixels of the board's side at most.
FIELD, LARGEST = 64, 430
_KEY = "sketch_board"

_board = st.components.v2.component(
    "kmviz.sketch",
    css=(_HERE / "board.css").read_text("utf-8"),
    js=live.source("theme", "canvas") + (_HERE / "board.js").read_text("utf-8"),
)


def draw(drawing: Drawing, problem: Problem | None) -> None:
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
