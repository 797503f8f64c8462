"""The Start page: the data, the SVM, and what one answer costs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from kmviz import lessons
from kmviz.charts import Chart, Images, maps, start as charts
from kmviz.kernels import RBF, Linear, Normalized, Polynomial
from kmviz.ui import lesson, pictures, sketch, upload
from kmviz.ui.maps import CELLS
from kmviz.ui.plane import grid, plane
from kmviz.ui.runtime.fitted import show, study_of
from kmviz.ui.shell import parts, words
from kmviz.ui.shell.frame import finish, frame
from kmviz.ui.shell.menu import COMPARE, METHOD_PAGES, page_link
from kmviz.views.prepare import literal
from kmviz.views.problem import Problem

#: Positions of the slider at most.
POSITIONS = 60
#: Training rows up to which a fast answer stands beside the full one.
MOST_ROWS = 3_000
#: That answer: as the page of nearest support vectors opens, and read as it opens.
FAST = {"n_components": 20, "order": "nearest", "start": "empty", "random_state": 0}
READ = {"window": 10, "linear_filter": False}

SENTENCE = "An SVM answers for a new point (★) by comparing it with its support vectors."
TERMS = ("query", "support vector", "kernel value", "f(x)", "β")
FULL = (
    "Each support vector pulls the sum towards its own class: the sum turns back and forth, and "
    "only the last value is f(x)."
)
VARIES = (
    "Click a point deep inside a class, then one near the boundary: with all support vectors, both "
    "cost the same. Nearest first, effort follows difficulty."
)
ALIKE = (
    "Effort hardly follows difficulty with this SVM: nearest first, most spots take {low:,.0f} to "
    "{high:,.0f} of {m:,} kernel evaluations, near the boundary or not."
)
RIGHT = "**Query {query}** (★): f(x) = {output:.3g}, so the SVM answers **{answer}**, rightly."
WRONG = (
    "**Query {query}** (★): f(x) = {output:.3g}, so the SVM answers **{answer}**, wrongly: it is "
    "**{truth}**."
)
COST = (
    " That took **{m:,} kernel evaluations**, about {products:,} multiplications. Click another "
    "point to follow it instead."
)


def draw() -> None:
    """Draw the page."""
    problem = frame("Start", heading="What does one answer cost?", beside=lesson_list)
    words.intro(SENTENCE, *TERMS)
    is_drawn = sketch.is_on()  # then the sheet to draw on comes first
    if not is_drawn:
        payment(problem)
    parts.metrics(metrics(problem))
    left, right = sketch.columns()
    with left:
        st.subheader(map_title(problem), anchor=False)
        pictures.still(map_chart(problem))
    with right:
        st.subheader("Every query costs the same", anchor=False)
        pictures.still(effort_chart(problem))
        st.caption("Far from zero the class is plain: a few kernel evaluations would settle it.")
    query_card(problem)
    if is_drawn:
        payment(problem)
    left, right = st.columns(2)
    with left:
        data_card(problem)
    with right:
        svm_card(problem)
    ways_on()
    upload.section()
    parts.take_home(problem, picture=map_chart(problem), name="start")
    finish()


def lesson_list() -> None:
    """Draw the lessons behind a button: what each is about, for whom, how long it takes."""
    found = [lessons.load(slug) for slug in lessons.names()]
    with st.popover(f"{len(found)} lessons", icon=":material/school:", type="primary"):
        st.caption("Guess, look, and see why: each opens the page that it is about.")
        for one in found:
            lesson.link(one, 1, f"**{one.title}**", ":material/school:")
            st.caption(f"{one.level.capitalize()} · {one.minutes} minutes")


def payment(problem: Problem) -> None:
    """Draw whom the query asks, one after another: all support vectors, and the nearest first."""
    m, sums = problem.n_vectors, partial_sums(problem)
    counts = np.unique(np.linspace(0, m, min(m, POSITIONS) + 1).round().astype(int))
    views: list[Any]
    numbers: dict[str, Any] = {"In file order": [f"{k:,} of {m:,}" for k in counts]}
    title = f"In full: all {m:,} are asked"
    whole = charts.rays(plane(problem), problem.query, counts, np.arange(m), "payment", title)
    if is_small(problem):
        st.subheader("Press play: the same question, asked in two ways", anchor=False)
        views, stop, said_of = _fast(problem, counts)
        said = [f"{min(int(k), stop):,}{', answered' * int(k >= stop)}" for k in counts]
        numbers["Nearest first"] = said
        note = None if st.session_state["lesson"] else said_of  # a lesson asks first
    else:
        st.subheader("Press play: one answer, paid in full", anchor=False)
        views = [*_latest(problem, counts), charts.partial_sums(counts, sums)]
        note = None if st.session_state["lesson"] else FULL
        numbers["Sum so far"] = [f"{sums[k]:+.3g}" for k in counts]
    pictures.show(
        "asked", "Support vectors asked", counts.tolist(), m, [whole, *views],
        numbers=numbers | {"f(x)": f"{sums[-1]:+.3g}"},
        note=note,
        columns=1 + len(views),
        help="A query is compared with every support vector, in file order, before it is answered.",
        on_release=lambda _: None,  # the page shows nothing else by it
        on_click=pictures.pick,
    )  # fmt: skip


def is_small(problem: Problem) -> bool:
    """Return True if a fast answer is soon there to be shown beside the full one: data on a map."""
    is_drawn = problem.data.name == "sketch"  # where the SVM follows each stroke
    return problem.is_plane and not is_drawn and len(problem.data.X_train) <= MOST_ROWS


def _fast(problem: Problem, counts: NDArray[Any]) -> tuple[list[Chart], int, str]:
    """Return the nearest support vectors asked and what an answer takes everywhere, stop, note."""
    now = show(problem, "nsv", FAST)
    record = now.study.classifier(**READ).trace(problem.x)
    title = f"Nearest first: {record.stop:,} of them settle{'s' * (record.stop == 1)} it"
    order = record.index[1 : record.stop + 1]
    asked = charts.rays(plane(problem), problem.query, counts, order, "payment_fast", title)
    x, y, rows = grid(problem, CELLS)
    steps = study_of(now, rows, "map").read(**READ).steps.reshape(CELLS, CELLS)
    effort = maps.effort_map(plane(problem), problem.x, x, y, steps)
    views = [asked, replace(effort, title="Nearest first: what each spot takes")]
    return views, record.stop, what_to_do(steps, problem.n_vectors)


def what_to_do(steps: NDArray[Any], m: int) -> str:
    """Say what to try; where most spots cost about the same, that they do."""
    low, high = np.percentile(steps, [10, 90])
    return VARIES if high > 2 * low else ALIKE.format(low=low, high=high, m=m)


def partial_sums(problem: Problem) -> NDArray[np.float64]:
    """Return -b and the sum after each support vector, in file order: (m + 1,)."""
    machine = problem.machine
    terms = machine.beta * np.asarray(machine.kernel(machine.vectors, problem.x[None]))[:, 0]
    return np.cumsum(np.append(-machine.bias, terms))


def _latest(problem: Problem, counts: NDArray[Any]) -> list[Images]:
    """Return the images that the query was compared with last, where there are any."""
    if not problem.image_shape:
        return []
    machine = problem.machine
    rows = np.vstack([problem.x[None], machine.vectors]).reshape(-1, *problem.image_shape)
    low, high = problem.data.class_names
    return [charts.latest(rows, machine.beta, counts, (low, high))]


def metrics(problem: Problem) -> list[tuple[str, str, str]]:
    """Return the figures of data and SVM, each with its explanation."""
    data, m, n = problem.data, problem.n_vectors, len(problem.data.y_train)
    return [
        ("Training rows", f"{n:,}", "Rows the SVM was trained on."),
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


def svm_card(problem: Problem) -> None:
    """Draw what the SVM is made of."""
    with st.container(border=True, height="stretch"):
        st.subheader("The SVM", anchor=False)
        st.latex(rf"f(x) = \sum_{{i=1}}^{{{problem.n_vectors}}} \beta_i\, K(x_i, x) - b")
        st.latex(rf"\begin{{gathered}}{kernel_formula(problem.machine.kernel)}\end{{gathered}}")
        st.caption("K says how alike two rows are. The sign of f(x) is the class.")


def map_title(problem: Problem) -> str:
    """Return what the map shows: a line only where there is one."""
    if problem.is_plane:
        return "Where the SVM draws its boundary"
    return "The training rows, seen in two directions"


def map_chart(problem: Problem) -> Chart:
    """Return the SVM on its map."""
    return maps.boundary(plane(problem), problem.query)


def effort_chart(problem: Problem) -> Chart:
    """Return what the exact SVM spends on each test row: m kernel evaluations."""
    data, m = problem.data, problem.n_vectors
    low, high = data.class_names
    spent = np.full(len(problem.exact), m)
    return maps.effort(
        problem.exact, spent, data.y_test, (low, high), query=problem.query, n_vectors=m
    )


def query_card(problem: Problem) -> None:
    """Draw the query: what it is, what the SVM answers, what that cost."""
    names = problem.names
    output = float(problem.exact[problem.query])
    answer, truth = names[int(output > 0)], names[int(problem.label > 0)]
    m, d = problem.n_vectors, problem.data.X_train.shape[1]
    with st.container(border=True):
        text: Any = st
        if problem.image_shape:
            picture, text = st.columns([1, 9], vertical_alignment="center")
            picture.image(problem.x.reshape(problem.image_shape), width=84, clamp=True)
        verdict = (RIGHT if answer == truth else WRONG) + COST
        text.markdown(
            verdict.format(
                query=problem.query, output=output, answer=answer, truth=truth, m=m, products=m * d
            )
        )


def ways_on() -> None:
    """Draw the links to the methods and what each does about the cost."""
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
