"""Local models of every size: what the live slider draws, and what the page says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from kmviz.charts import falk as charts
from kmviz.charts.maps import effort_strip
from kmviz.methods.falk.theory import LocalityGap
from kmviz.ui import falk, maps, pictures
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
        if view == "local_map" and models:  # the test row nearest its centre becomes the query
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
    said = seconds
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


def metrics(problem: Problem, page: falk.Page) -> list[tuple[str, str, str]]:
    """The page's figures."""
    clf, model, mean = page.classifier, page.model, page.reading.steps.mean()
    return [
        ("Accuracy", f"{page.accuracy:.1%}",
         f"On the test rows. Global SVM: {1 - problem.test_error:.1%}."),
        ("Training", seconds(page.shown.fit_seconds),
         f"Of all local models together, on one core. The global SVM took "
         f"{seconds(problem.fit_seconds)}."),
        ("Local models", f"{len(clf.models_):,}", f"SVMs of {clf.n_neighbors_} points each."),
        ("Kernel values per query", f"{mean:.1f}",
         f"Support vectors of the model that answers, on average; the global SVM takes "
         f"{problem.n_vectors:,}. The search for it looks at about {clf.overhead_:,.0f} rows."),
        ("Own points wrong", f"{model.error:.1%}",
         "Of the points that the answering model was trained on, those it puts into the wrong "
         "class (nu of the paper's eq. 13)."),
    ]  # fmt: skip


def seconds(value: float) -> str:
    """Say a time."""
    return f"{1000 * value:.0f} ms" if value < 1 else f"{value:.1f} s"


def share(value: float) -> str:
    """Say a share of many rows: 99.95% is not yet 100%.

    Examples
    --------
    >>> [share(value) for value in (0.9995, 0.985, 1.0)]
    ['99.95%', '98.5%', '100%']
    """
    return f"{100 * value:.4g}%"


def sentence(problem: Problem, page: falk.Page) -> str:
    """Say what happened to the query."""
    names, record = problem.names, page.trace
    answered, exact = names[int(record.output > 0)], names[int(problem.exact[problem.query] > 0)]
    agrees = "as the global SVM does" if answered == exact else f"the global SVM says {exact}"
    how = (
        f"its nearest training point is row {record.nearest}, which belongs to the centre at row "
        f"{record.center}"
        if page.select == "point"
        else f"the nearest centre is row {record.center}"
    )
    many = "vectors" if record.stop != 1 else "vector"
    model = (
        f"whose SVM has {record.stop} support {many} and says {record.output:.3g}"
        if record.stop
        else "whose neighbourhood holds one class only"
    )
    return f"**Query {problem.query}** (★): {how}, {model}: **{answered}**, {agrees}."


def locality(gap: LocalityGap) -> str:
    """Say what a model around each query itself would have answered."""
    asked = f"Beside an SVM trained around each query itself (kNNSVM, asked {gap.n} test rows): "
    if not gap.differ:
        return f"{asked}no answer differs (the paper's λ of eq. 14 is 0)."
    return (
        f"{asked}{gap.differ:.1%} of the answers differ, which changes the error by "
        f"{gap.mean:+.1%} ± {gap.error:.1%} (the paper's λ of eq. 14; E[λ] of eq. 15 at least "
        f"{gap.expected:+.1%})."
    )


def look_at_map(problem: Problem, page: falk.Page) -> str:
    """Say what to notice on the map."""
    clf = page.classifier
    empty = float(np.mean(clf.models_.sizes() == 0))
    told = f"{empty:.0%} of the neighbourhoods hold one class and need no SVM"
    if not problem.is_plane:
        return (
            f"The centre that answers is linked to the {clf.n_cover_} points that it answers for; "
            f"{told}."
            " With many features, finding the nearest point can take longer than the answer of "
            "its SVM; the option `projection` shortens the search."
        )
    return (
        f"Within thin lines one centre answers; {told}. Where the composed boundary jumps, two "
        f"neighbouring models disagree: a smaller k' makes the jumps smaller. Of the {falk.DRAWN} "
        "models nearest to the query you see the boundary of each. Click a place to make the test "
        "row there the query."
    )


def look_at_sweep(problem: Problem, page: falk.Page, table: pd.DataFrame) -> str:
    """Say where the sweep is best, and whether that means anything."""
    best, svm = table.loc[table["accuracy"].idxmax()], 1 - problem.test_error
    gap = best["accuracy"] - svm
    noise = 2.0 * np.sqrt(svm * (1 - svm) / len(page.shown.rows))
    side = (
        "no different from the global SVM beyond chance"
        if abs(gap) <= noise
        else f"{100 * abs(gap):.1f} points {'above' if gap > 0 else 'below'} the global SVM"
    )
    return (
        f"On these test rows k = {int(best['n_neighbors'])} is best, {share(best['accuracy'])}: "
        f"{side}, with {best['steps']:,.1f} kernel values per query instead of "
        f"{problem.n_vectors:,}, trained in {seconds(best['seconds'])} instead of "
        f"{seconds(problem.fit_seconds)}. A larger k takes fewer models and more kernel values "
        "each. To choose k, use training rows: `tune=True`."
    )
