"""The parts of the Start page: lessons, cards, the query, ways on."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from kmviz import lessons
from kmviz.charts import Chart, maps
from kmviz.kernels import RBF, Linear, Normalized, Polynomial
from kmviz.ui import lesson
from kmviz.ui.plane import plane
from kmviz.ui.shell.menu import COMPARE, METHOD_PAGES, page_link
from kmviz.views.prepare import literal
from kmviz.views.problem import Problem


def lesson_list() -> None:
    """Draw the lessons behind a button: what each is about, for whom, how long it takes."""
    found = [lessons.load(slug) for slug in lessons.names()]
    with st.popover(f"{len(found)} lessons", icon=":material/school:", type="primary"):
        st.caption("Guess, look, and see why: each opens the page that it is about.")
        for one in found:
            lesson.link(one, 1, f"**{one.title}**", ":material/school:")
            st.caption(f"{one.level.capitalize()} · {one.minutes} minutes")


def metrics(problem: Problem) -> list[tuple[str, str, str]]:
    """Return the figures of data and machine, each with its explanation."""
    data, m, n = problem.data, problem.n_vectors, len(problem.data.y_train)
    return [
        ("Training rows", f"{n:,}", "Rows the machine learned from."),
        ("Test rows", f"{len(data.y_test):,}", "Rows it never saw: the queries."),
        ("Features", f"{data.X_train.shape[1]:,}", "Numbers that describe one row."),
        ("Support vectors", f"{m:,}", "Training rows that every answer is compared with."),
        ("Kept", f"{m / n:.0%}", "Share of the training rows that are support vectors."),
        ("At the bound", f"{problem.at_bound:.0%}", "Support vectors with |β| = C."),
        ("Training error", f"{problem.train_error:.1%}", "Share of training rows got wrong."),
        ("Test error", f"{problem.test_error:.1%}", "Share of test rows answered wrongly."),
    ]


def data_card(problem: Problem) -> None:
    """Draw what the data is and where it is from."""
    data = problem.data
    low, high = problem.names
    with st.container(border=True, height="stretch"):
        st.subheader(f"The data: {literal(data.name.replace('_', ' '))}", anchor=False)
        st.markdown(f"Classes: ● **{low}** and ◆ **{high}**.")
        shown = f" Shown: {'; '.join(problem.notes)}." if problem.notes else ""
        st.caption(literal(data.about) + shown)
        st.caption(f"Source: {literal(data.source)}. Licence: {literal(data.licence)}.")


def machine_card(problem: Problem) -> None:
    """Draw what the machine is made of."""
    with st.container(border=True, height="stretch"):
        st.subheader("The machine", anchor=False)
        st.latex(rf"f(x) = \sum_{{i=1}}^{{{problem.n_vectors}}} \beta_i\, K(x_i, x) - b")
        st.latex(rf"\begin{{gathered}}{kernel_formula(problem.machine.kernel)}\end{{gathered}}")
        st.caption("K says how alike two rows are. The sign of f(x) is the class.")


def map_title(problem: Problem) -> str:
    """Return what the map shows: a line only where there is one."""
    if problem.is_plane:
        return "Where the machine draws the line"
    return "The training rows, seen in two directions"


def map_chart(problem: Problem) -> Chart:
    """Return the SVM on its map."""
    return maps.boundary(plane(problem), problem.query)


def effort_chart(problem: Problem) -> Chart:
    """Return what the exact machine spends on each test row: m kernel values."""
    data, m = problem.data, problem.n_vectors
    low, high = data.class_names
    spent = np.full(len(problem.exact), m)
    return maps.effort(
        problem.exact, spent, data.y_test, (low, high), query=problem.query, n_vectors=m
    )


def query_card(problem: Problem) -> None:
    """Draw the query: what it is, what the machine says, what that cost."""
    names = problem.names
    output = float(problem.exact[problem.query])
    answer, truth = names[int(output > 0)], names[int(problem.label > 0)]
    m, d = problem.n_vectors, problem.data.X_train.shape[1]
    with st.container(border=True):
        text: Any = st
        if problem.image_shape:
            picture, text = st.columns([1, 9], vertical_alignment="center")
            picture.image(problem.x.reshape(problem.image_shape), width=84, clamp=True)
        verdict = "rightly" if answer == truth else f"wrongly: it is **{truth}**"
        text.markdown(
            f"**Query {problem.query}** (★): f(x) = {output:.3g}, so the machine says "
            f"**{answer}**, {verdict}. That took **{m:,} kernel values**, about "
            f"{m * d:,} multiplications. Click another point to follow it instead."
        )


def ways_on() -> None:
    """Draw the links to the methods and what each will do about the price."""
    st.subheader("What can be done about it", anchor=False)
    pages = (*METHOD_PAGES, COMPARE)
    for row in (pages[i : i + 3] for i in range(0, len(pages), 3)):
        for column, page in zip(st.columns(3), row):
            with column.container(border=True, height="stretch"):
                page_link(page, f"**{page.title}**")
                st.caption(page.line)


def kernel_formula(kernel: Any, name: str = "K") -> str:
    r"""Return a kernel as lines of LaTeX, with its numbers; one that is none of ours by its name.

    Examples
    --------
    >>> print(kernel_formula(RBF(2.0)))
    K(x_i, x) = e^{-2\,\|x_i - x\|^2}
    >>> print(kernel_formula(Polynomial(degree=3, gamma=0.5, coef0=1.0)))
    K(x_i, x) = (0.5\,x_i \cdot x + 1)^{3}
    """
    start = f"{name}(x_i, x) = "
    match kernel:
        case RBF():
            return rf"{start}e^{{-{kernel.gamma:.3g}\,\|x_i - x\|^2}}"
        case Polynomial():
            times = "" if kernel.gamma == 1 else rf"{kernel.gamma:.3g}\,"
            return rf"{start}({times}x_i \cdot x + {kernel.coef0:.3g})^{{{kernel.degree}}}"
        case Linear():
            return rf"{start}x_i \cdot x"
        case Normalized():
            whole = r"\frac{P(x_i, x)}{\sqrt{P(x_i, x_i)\,P(x, x)}}"
            return rf"{start}{whole} \\[2ex] {kernel_formula(kernel.kernel, 'P')}"
    return rf"{start}\text{{{type(kernel).__name__}}}(x_i, x)"
