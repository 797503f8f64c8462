"""What one answer costs: the query asks every support vector, or the nearest until it is sure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from kmviz.charts import Chart, Images, start as charts
from kmviz.charts.maps import effort_map
from kmviz.ui import pictures
from kmviz.ui.maps import CELLS
from kmviz.ui.plane import grid, plane
from kmviz.ui.runtime.fitted import show, study_of
from kmviz.views.problem import Problem

#: Positions of the slider at most.
POSITIONS = 60
#: Training rows up to which a fast answer stands beside the full one.
MOST_ROWS = 3_000
#: That answer: as the page of nearest support vectors opens, and read as it opens.
FAST = {"n_components": 20, "order": "nearest", "start": "empty", "random_state": 0}
READ = {"window": 10, "linear_filter": False}
_NOTE = (
    "Click a point deep inside a class, then one near the line: asked in full, both cost the same. "
    "Nearest first, effort follows difficulty."
)
_ALIKE = (
    "Effort hardly follows difficulty with this machine: nearest first, most spots take {low:,.0f} "
    "to {high:,.0f} of {m:,} values, near the line or not."
)
_FULL = (
    "Each support vector asked pulls the sum to its own class: it turns back and forth, and only "
    "the last value is f(x)."
)


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
        note = None if st.session_state["lesson"] else _FULL
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
    """Whether a fast answer is soon there to be shown beside the full one: data on a map."""
    is_drawn = problem.data.name == "sketch"  # where the machine follows each stroke
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
    effort = effort_map(plane(problem), problem.x, x, y, steps)
    views = [asked, replace(effort, title="Nearest first: what each spot takes")]
    return views, record.stop, what_to_do(steps, problem.n_vectors)


def what_to_do(steps: NDArray[Any], m: int) -> str:
    """Say what to try; where most spots cost about the same, that they do."""
    low, high = np.percentile(steps, [10, 90])
    return _NOTE if high > 2 * low else _ALIKE.format(low=low, high=high, m=m)


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
