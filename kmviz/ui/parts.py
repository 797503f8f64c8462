"""Pieces that pages are made of: charts, figures in a row, hints, things to take home."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd
import streamlit as st

from kmviz.charts import Chart, Images, plotly
from kmviz.figures import theme
from kmviz.ui import first, lesson, state
from kmviz.ui.problem import Problem

#: The choices that say which rows a chart is about.
_ROWS = ("data", "pair", "n", "noise", "seed")
_CONFIG = {
    "displaylogo": False,
    "showSendToCloud": False,
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d", "sendDataToCloud"],
}


#: Streamlit fills in a chart's colours when it is new, and runs no page when a visitor turns it
#: light or dark: this asks for a run. And it loads plotly.js, once a live picture says that it is
#: drawn, or at once.
_theme = st.components.v2.component(
    "kmviz.theme",
    js="""export default function ({ data, setTriggerValue }) {
  const beside = document.querySelector('script[type="module"][src]').src;
  globalThis.kmvizDrawn = () => data.library && import(new URL(data.library, beside));
  if (!data.isLive) globalThis.kmvizDrawn();
  const app = document.querySelector('[data-testid="stApp"]');
  const now = () => getComputedStyle(app).colorScheme;
  let drawn = now();
  const watch = new MutationObserver(() => {
    if (now() !== drawn) setTriggerValue("turned", (drawn = now()));
  });
  watch.observe(app, { attributes: true, attributeFilter: ["class"] });
  return () => watch.disconnect();
}""",
)


def begin(is_live: bool) -> None:
    """Have plotly.js loaded in time, and charts drawn anew when the page turns light or dark.

    Parameters
    ----------
    is_live : whether the page begins with a live picture, which needs none of plotly.js
    """
    said = {"library": first.library(), "isLive": is_live}
    _theme(key="theme", data=said, on_turned_change=lambda: None)


def chart(figure: Any, key: str, alt: str, on_select: Callable[[], None] | None = None) -> None:
    """Draw a figure.

    Parameters
    ----------
    alt : what the chart shows, for those who cannot see it. Keep it free of numbers that
        change with a slider: a new text makes the browser build the chart anew.
    on_select : what a click does; `pick(key)` makes the clicked point the query
    """
    options: dict[str, Any] = {}
    if on_select is not None:
        options = {"on_select": on_select, "selection_mode": "points"}
    # What was zoomed or hidden stays so where the browser keeps the chart: Streamlit builds it anew
    # where its figure changes, but not live pictures. A chart that says nothing new keeps its
    # colours: in the other theme each is new.
    rows = " ".join(str(st.session_state.get(name)) for name in _ROWS)
    figure.update_layout(uirevision=rows, meta=st.context.theme.type)
    first.wait()
    st.plotly_chart(figure, width="stretch", key=key, alt=alt, config=_CONFIG, **options)


def pick(key: str) -> Callable[[], None]:
    """Return a callback that makes the clicked point of chart `key` the query."""

    def picked() -> None:
        row = clicked(key)
        if row is not None:
            state.put(query=row)

    return picked


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
    trace: pd.DataFrame | Callable[[], pd.DataFrame] | None = None,
    figure: Any = None,
    picture: Chart | Images | None = None,
    code: str | None = None,
    name: str = "kmviz",
) -> None:
    """Draw the downloads: made when asked for, on this machine.

    Parameters
    ----------
    estimator : makes the bytes of a .skops file
    trace : the table of a query, or a function that makes it
    figure, picture : the chart to save as one HTML file that needs no network
    code : the lines that rebuild what the page shows; default: data and machine
    """
    text = code if code is not None else problem.code
    # A browser draws what is in a popover when it is opened: no page waits for the code's colours.
    with st.popover("Take it home", icon=":material/backpack:", width="stretch"):
        st.code(text, language="python")
        with st.container(horizontal=True):
            _download("Python", lambda: text, f"{name}.py", "text/x-python")
            if trace is not None:
                _download("Trace (CSV)", lambda: _csv(trace), f"{name}_trace.csv", "text/csv")
            page = f"{name}.html"
            if picture is not None:
                _download("Picture (HTML)", lambda: plotly.page(picture), page, "text/html")
            if figure is not None:
                _download("Picture (HTML)", lambda: theme.standalone(figure), page, "text/html")
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


def _csv(trace: Any) -> str:
    frame = trace() if callable(trace) else trace
    return frame.to_csv(index=False)
