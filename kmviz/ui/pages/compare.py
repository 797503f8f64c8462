"""The Compare page: what each method costs and changes on this data, and which to deploy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from kmviz.charts.maps import effort_map, effort_strip
from kmviz.evaluation.advice import advice
from kmviz.evaluation.catalogue import title_of
from kmviz.evaluation.compare import as_table
from kmviz.methods.register import COMPARE, method_offering, offered
from kmviz.ui import lesson, maps, pictures
from kmviz.ui.plane import grid, plane
from kmviz.ui.runtime.jobs import Cache
from kmviz.ui.shell import controls, parts, url, words
from kmviz.ui.shell.frame import finish, frame
from kmviz.views import compare as views
from kmviz.views.compare import Measurements
from kmviz.views.problem import Problem

OWN = ("methods", "cost")
SENTENCE = (
    "Each point is a method under one setting: what a query costs, and how often it is right."
)
TERMS = ("query", "exact machine", "kernel value", "disagreement", "certified")
_OPEN = "kmviz.open"
_measurements, _measured = Cache("compare measurements"), Cache("measured")


def draw() -> None:
    """Draw the page."""
    problem = frame("Compare", own=OWN, heading="Which method suits this data?")
    follow(problem.n_vectors)
    words.intro(SENTENCE, *TERMS)
    known, cost = measurements(problem), st.session_state["cost"]
    table = measured(known, st.session_state["methods"], cost)
    for name, value in views.figures(table).items():
        lesson.note(name, value)
    is_open = not lesson.is_asking()
    if is_open:
        st.success(advice(table), icon=":material/recommend:")
    picture = views.picture(table, cost, advised=is_open)
    pictures.plotted(picture, on_select=lambda: open_clicked(table, parts.clicked("frontier")))
    controls.draw("cost")
    parts.look_for(views.look_for(table, cost))
    st.dataframe(
        views.first_columns(table), key="compare_table", hide_index=True, height="content",
        column_config=columns(),
    )  # fmt: skip
    st.caption(views.conditions(table))
    efforts(problem, known, table)
    all_figures(table)
    with st.form("compare_form"):
        controls.draw("methods")
        st.form_submit_button("Compare", icon=":material/balance:", type="primary")
    parts.take_home(
        problem, estimator=views.best_estimator(problem, known, table), picture=picture,
        code=views.code(problem, table), name="compare",
    )  # fmt: skip
    finish()


def all_figures(table: pd.DataFrame) -> None:
    """Draw the whole table, and the way to have it."""
    with st.expander("All figures", icon=":material/table:"):
        st.dataframe(
            views.all_columns(table), key="compare_all", hide_index=True, column_config=columns()
        )
        st.download_button(
            "Table (CSV)", table.to_csv, "compare.csv", "text/csv", on_click="ignore",
            icon=":material/download:",
        )  # fmt: skip


def measurements(problem: Problem) -> Measurements:
    """Return what was measured on the problem at hand, by anybody."""
    text = "Measuring: exact machine"
    return _measurements.get(
        problem.key,
        lambda: Measurements(problem.key, views.make_bench(problem), _drawn_rows(problem)),
        text,
    )


def _drawn_rows(problem: Problem) -> NDArray[Any] | None:
    """Return the rows whose effort is drawn, where there can be a picture."""
    if problem.is_plane:
        return grid(problem, maps.CELLS)[2]
    return problem.data.X_test if problem.image_shape else None


def measured(known: Measurements, names: list[str], cost: str) -> pd.DataFrame:
    """Return a row for each setting, measuring what is missing; an interrupted run goes on.

    What is there already is drawn meanwhile, without advice: that waits for all of it.
    """
    place, every = st.empty(), ["exact", *names]
    for done, name in enumerate(every):
        if name not in known.rows:
            if known.rows:
                so_far = views.picture(as_table(known.rows), cost, advised=False)
                with place:
                    pictures.plotted(so_far, f"so_far_{done}")
            _measure(known, name)
    place.empty()
    return as_table({name: known.rows[name] for name in every})


def _measure(known: Measurements, name: str) -> None:
    text = f"Measuring: {title_of(name)}:"
    row, steps = _measured.get((known.key, name), lambda: known.measure(name), text)
    if steps is not None:
        known.efforts[name] = steps
    known.rows[name] = row


def columns() -> dict[str, Any]:
    """Return titles, formats and explanations of the table's columns."""
    number = st.column_config.NumberColumn
    return {
        "method": None,
        "name": st.column_config.TextColumn("method", pinned=True, width=256),
        "accuracy": number(format="percent", help="Share of test rows answered rightly."),
        "disagreements": number(
            "differ, count", format="localized", help="Answers that differ from the exact SVM's."
        ),
        "queries": number("of", format="localized", help="Test rows asked about."),
        "disagreement": number(
            "differ", format="percent", help="Share of answers that differ from the exact SVM's."
        ),
        "disagreement_high": number(
            "at most", format="percent", help="Upper end of the exact 95% interval of that share."
        ),
        "steps_mean": number("values", format="%.1f", help="Kernel values per query, mean."),
        "steps_median": number("median", format="%.0f", help="Kernel values per query, median."),
        "speedup": number("m / k", format="%.1f", help="Fewer kernel values than the exact sum."),
        "honest_speedup": number(
            "honest speedup", format="%.2fx",
            help="Times fewer kernel values than the exact sum, where ordering, projection and "
            "search count as so many kernel values as their time would pay for.",
        ),
        "batch_ratio": number(
            "than SVC", format="%.1fx", help="Times faster than SVC, many at once."
        ),
        "single_ratio": number("single, x SVC", format="%.1f", help="One query at a time."),
        "batch_vs_blas": number(
            "x exact", format="%.2f", help="Times faster than the exact float32 SVM."
        ),
        "single_vs_blas": number("single, x exact", format="%.2f", help="One query at a time."),
        "batch_us": number("µs a query", format="%.2f", help="CPU time, many at once."),
        "single_us": number("single, µs", format="%.1f", help="The same, one at a time."),
        "fit_seconds": number("fit, s", format="%.2f", help="CPU seconds, training included."),
        "size_bytes": number("file", format="bytes", help="Size of the stored estimator."),
        "note": st.column_config.TextColumn("note", help="What was cut down for a large machine."),
        "error": st.column_config.TextColumn("error", help="Why a method has no figures."),
    }  # fmt: skip


def efforts(problem: Problem, known: Measurements, table: pd.DataFrame) -> None:
    """Draw the effort of every compared method on one colour scale, from 1 evaluation to all m.

    Methods that compute no kernel have no effort to draw; nor have rows that are neither points
    of a plane nor images.
    """
    found = {name: known.efforts[name] for name in map(str, table.index) if name in known.efforts}
    if not found:
        return
    st.subheader("Which queries are hard?", anchor=False)
    text = views.ON_PLANE if problem.is_plane else views.ON_IMAGES
    st.caption(text.format(m=problem.n_vectors))
    titles = {name: f"{title_of(name)}: {steps.mean():,.1f}" for name, steps in found.items()}
    charts = (_maps if problem.is_plane else _strips)(problem, found, titles)
    pictures.still(*charts, columns=4 if problem.is_plane else 1, key="effort_map")


def _maps(problem: Problem, found: dict[str, NDArray[Any]], titles: dict[str, str]) -> list[Any]:
    x, y, _ = grid(problem, maps.CELLS)
    return [
        effort_map(
            plane(problem), problem.x, x, y, steps.reshape(len(y), len(x)), name, titles[name]
        )
        for name, steps in found.items()
    ]


def _strips(problem: Problem, found: dict[str, NDArray[Any]], titles: dict[str, str]) -> list[Any]:
    rows, images = np.arange(len(problem.data.X_test)), maps.test_images(problem)
    return [
        replace(
            effort_strip(images, rows, steps[None]), key=f"effort_map_{name}", title=titles[name]
        )
        for name, steps in found.items()
    ]


def open_clicked(table: pd.DataFrame, row: int | None) -> None:
    """Callback: remember which setting was clicked; `follow` goes there if it has a page."""
    method = None if row is None else method_offering(str(table.index[row]))
    if method is not None and method.page != COMPARE:
        st.session_state[_OPEN] = str(table.index[row])


def follow(n_vectors: int) -> None:
    """Go to the page of the clicked setting, with that setting in the URL."""
    name = st.session_state.pop(_OPEN, None)
    if name is None:
        return
    method, texts = offered(name)[0], views.link_to(name, n_vectors)
    st.switch_page(method.page, query_params=url.link(method.page_title) | texts)
