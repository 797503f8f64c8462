"""The parts of the Start page: lessons, cards, the query, ways on."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from kmviz import lessons
from kmviz.figures.effort import effort
from kmviz.figures.forces import balance as figure
from kmviz.kernels import RBF, Linear, Normalized, Polynomial
from kmviz.machines.forces import forces
from kmviz.ui import lesson
from kmviz.ui.menu import COMPARE, METHOD_PAGES, page_link
from kmviz.ui.parts import chart
from kmviz.ui.prepare import literal
from kmviz.ui.problem import Problem
from kmviz.ui.work import Shelf

_forces = Shelf()


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


def balance(problem: Problem) -> None:
    """Draw the machine's weights as forces on a sheet, which they hold in balance, once asked."""
    place = st.expander(
        "The weights as forces in balance", icon=":material/balance:", key="forces",
        on_change="rerun",
    )  # fmt: skip
    if not place.open:
        return
    found = _forces.get(problem.key, lambda: forces(problem.machine))
    low, high = problem.names
    up = float(found.force[found.force > 0].sum())
    down = float(-found.force[found.force < 0].sum())
    with place:
        chart(
            figure(found.lever, found.force, (low, high)),
            "balance",
            "Each support vector's weight as a push on a stiff sheet, up or down, at its place "
            "along the direction in which the support vectors differ most.",
        )
        st.caption(
            f"Think of the separating surface as a stiff sheet, edge on, with every support vector "
            f"pushing on it: {high} up, {low} down, as hard as its weight. They push {up:,.4g} up "
            f"and {down:,.4g} down, a net force of {abs(found.net_force):.1%} of all; what would "
            f"turn the sheet about its middle nets {abs(found.net_torque):.1%}. An SVM's solution "
            "is one that stays still, whatever the kernel."
        )


def map_title(problem: Problem) -> str:
    """Return what the map shows: a line only where there is one."""
    if problem.is_plane:
        return "Where the machine draws the line"
    return "The training rows, seen in two directions"


def effort_figure(problem: Problem) -> Any:
    """Draw what the exact machine spends on each test row: m kernel values."""
    return effort(
        problem.exact, np.full(len(problem.exact), problem.n_vectors, dtype=np.float32),
        problem.data.y_test, problem.data.class_names, problem.query, problem.n_vectors,
        note="Far from zero the class is plain,<br>and a few values would settle it.",
        height=400, most=600, half=True,
    )  # fmt: skip


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
