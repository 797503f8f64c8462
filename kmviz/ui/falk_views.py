"""Local models of every size: what the live slider draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from kmviz.charts import falk as charts
from kmviz.charts.maps import effort_strip
from kmviz.ui import falk, falk_words, maps, pictures
from kmviz.ui.plane import grid, plane
from kmviz.ui.shell import url
from kmviz.views.problem import Problem


def slider(problem: Problem, page: falk.Page) -> None:
    """Draw the slider over k with all that follows it."""
    sizes, table = falk.sizes(problem, page), falk.sweep(problem, page)
    views: list[Any] = [falk.picture(problem, page, sizes)]
    models: list[charts.Models] = []
    if problem.is_plane:
        x, y, _ = grid(problem, maps.CELLS)
        models = [falk.models_of(problem, page, size) for size in sizes]
        views.append(charts.own_effort(plane(problem), problem.x, (x, y), models))
    elif problem.image_shape:
        steps = np.array([falk.read(problem, page, size).steps for size in sizes])
        views.append(effort_strip(maps.test_images(problem), page.shown.rows, steps))
    here = st.session_state["k"]
    centers = {size.k: one.centers for size, one in zip(sizes, models)}

    def clicked(view: str, number: int) -> None:
        if (
            view == "local_map" and models
        ):  # a neighbourhood: its centre's nearest test row becomes the query
            gaps = np.linalg.norm(problem.data.X_test - centers[here][number], axis=1)
            number = int(np.argmin(gaps))
        url.put(query=number)

    pictures.show(
        "k", "Neighbours k", [size.k for size in sizes], here,
        views + charts.local_sweep(table, falk.whole(problem)),
        numbers=_numbers(problem, table),
        columns=3,
        help="Points that each local SVM is trained on. k' is half of it unless you choose one.",
        on_release=falk.put_k,
        on_click=clicked,
    )  # fmt: skip


def _numbers(problem: Problem, table: Any) -> dict[str, Any]:
    """Return the figures in a line, by k."""
    said = falk_words.seconds
    return {
        "k'": [f"{falk.cover_of(k)}" for k in table["n_neighbors"]],
        "Training": [
            f"{said(spent)} (SVM {said(problem.fit_seconds)})" for spent in table["seconds"]
        ],
        "Accuracy": [
            f"{share:.1%} (SVM {1 - problem.test_error:.1%})" for share in table["accuracy"]
        ],
        "Kernel values": [f"{steps:,.1f} (SVM {problem.n_vectors:,})" for steps in table["steps"]],
    }
