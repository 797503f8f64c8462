"""Pieces that pages are made of: charts, figures in a row, hints, things to take home."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd
import streamlit as st

from kmviz.charts import Chart, Images, plotly
from kmviz.ui import lesson
from kmviz.views.problem import Problem


def clicked(key: str) -> int | None:
    """Return the customdata of the point clicked in chart `key`, None where there is none."""
    points = st.session_state[key].selection.points
    for point in points:
        data = point.get("customdata")
        if isinstance(data, (list, tuple)):
            data = data[0] if data else None
        if isinstance(data, dict):
            data = data.get("0")
        if data is not None:
            return int(data)
    return None


def metrics(items: Iterable[tuple[str, Any, str | None]]) -> None:
    """Draw figures in a row, each with its label and a word of help; a narrow page takes more."""
    with st.container(horizontal=True):
        for label, value, help in items:
            st.metric(label, value, help=help)
            lesson.note(label, value)
    lesson.tell()


def look_for(text: str) -> None:
    """Say what to notice in the chart beside it."""
    st.info(text, icon=":material/visibility:")


def take_home(
    problem: Problem,
    estimator: Callable[[], bytes] | None = None,
    trace: Callable[[], pd.DataFrame] | None = None,
    picture: Chart | Images | None = None,
    code: str | None = None,
    name: str = "kmviz",
) -> None:
    """Draw the downloads: made when asked for, on this machine.

    Parameters
    ----------
    estimator : makes the bytes of a .skops file
    trace : makes the table of a query
    picture : the chart to save as one HTML file that needs no network
    code : the lines that rebuild what the page shows; default: data and machine
    """
    text = code if code is not None else problem.code
    # A browser draws what is in a popover when it is opened: no page waits for the code's colours.
    with st.popover("Take it home", icon=":material/backpack:", width="stretch"):
        st.code(text, language="python")
        with st.container(horizontal=True):
            _download("Python", lambda: text, f"{name}.py", "text/x-python")
            if trace is not None:
                table = f"{name}_trace.csv"
                _download("Trace (CSV)", lambda: trace().to_csv(index=False), table, "text/csv")
            if picture is not None:
                page = f"{name}.html"
                _download("Picture (HTML)", lambda: plotly.page(picture), page, "text/html")
            if estimator is not None:
                kind = "application/octet-stream"
                _download("Estimator (.skops)", estimator, f"{name}.skops", kind)
        if estimator is not None:
            st.caption(_how_to_ask(problem, f"{name}.skops"))


def _how_to_ask(problem: Problem, file: str) -> str:
    """Say what a stored estimator takes and what it answers."""
    if problem.encoder is not None:
        return (
            f"The estimator reads tables like yours and answers with your class names: "
            f"`python -m kmviz predict {file} new.csv`, or "
            f'`kmviz.load("{file}").predict(frame)` with a pandas frame.'
        )
    low, high = problem.names
    return (
        f'The estimator takes rows as they are loaded: `kmviz.load("{file}").predict(data.X_test)` '
        f"answers -1 for {low} and +1 for {high}."
    )


def _download(label: str, make: Callable[[], Any], file_name: str, mime: str) -> None:
    key = f"download_{file_name}"
    st.download_button(
        label, make, file_name, mime, key=key, on_click="ignore", icon=":material/download:"
    )
