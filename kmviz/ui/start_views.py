"""What one answer costs: the query asks every support vector, or the nearest until it is sure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from kmviz.charts import Axis, Chart, Images, Line, Points, Rule, theme
from kmviz.charts.maps import axes, boundary_line, effort_map
from kmviz.charts.plane import thinned
from kmviz.ui import pictures
from kmviz.ui.fitted import show, study_of
from kmviz.ui.maps import CELLS
from kmviz.ui.plane import grid, plane
from kmviz.ui.problem import Problem

#: Positions of the slider, lines that are drawn, and training rows behind them, at most.
POSITIONS, LINES, POINTS = 60, 300, 800
#: Images of those asked last, as many as fill two rows with the query's.
LATEST = 5
#: So few lines are drawn thick.
FEW = 30
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
    whole = _rays(problem, counts, np.arange(m), "payment", f"In full: all {m:,} are asked")
    if is_small(problem):
        st.subheader("Press play: the same question, asked in two ways", anchor=False)
        views, stop, said_of = _fast(problem, counts)
        said = [f"{min(int(k), stop):,}{', answered' * int(k >= stop)}" for k in counts]
        numbers["Nearest first"] = said
        note = None if st.session_state["lesson"] else said_of  # a lesson asks first
    else:
        st.subheader("Press play: one answer, paid in full", anchor=False)
        seen = [_latest(problem, counts)] if problem.image_shape else []
        views = [*seen, _sum(problem, counts, sums)]
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
    asked = _rays(problem, counts, record.index[1 : record.stop + 1], "payment_fast", title)
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


def _rays(
    problem: Problem, counts: NDArray[Any], order: NDArray[Any], key: str, title: str
) -> Chart:
    """The query's lines to the support vectors that it has asked so far, in their order."""
    view, star = plane(problem), plane(problem).queries[problem.query]
    drawn = thinned(len(order), LINES)
    ends = np.full((len(drawn), 3, 2), np.nan, dtype=np.float32)
    ends[:, 0], ends[:, 1] = star, view.vectors[order[drawn]]
    flat = ends.reshape(-1, 2)
    upto = [flat[: 3 * int(np.searchsorted(drawn, k))] for k in counts]
    rows = thinned(len(view.points), POINTS)
    queries = np.union1d(thinned(len(view.queries), POINTS), problem.query)
    return Chart(
        key=key,
        alt="The query and a line to each support vector that it has asked so far.",
        title=title,
        layers=[
            Points(x=view.points[rows, 0], y=view.points[rows, 1], names=view.class_names,
                        group=(view.labels[rows] > 0).astype(int), size=4, opacity=0.5),
            Line(x=[part[:, 0] for part in upto], y=[part[:, 1] for part in upto],
                      name="asked", color=theme.COLORS[4], width=0.8 if len(order) > FEW else 2.5),
            *boundary_line(view, width=2.0),
            Points(x=view.queries[queries, 0], y=view.queries[queries, 1], names=("",),
                        id=queries, picked=problem.query, opacity=0.0),
        ],
        **axes(view),
    )  # fmt: skip


def _latest(problem: Problem, counts: NDArray[Any]) -> Images:
    """The query, and the images that it was compared with last."""
    latest = [np.arange(k)[::-1][:LATEST] for k in counts]
    bank, place = np.unique(np.concatenate(latest), return_inverse=True)
    each = np.split(place + 1, np.cumsum([len(part) for part in latest])[:-1])
    pictures = np.vstack([problem.x[None], problem.machine.vectors[bank]])
    toward = (problem.machine.beta > 0).astype(int)
    names = [problem.data.class_names[side] for side in toward]
    return Images(
        key="payment_images",
        alt="The query, and the support vectors that it was compared with last, framed by class.",
        title="The query, and whom it asked last",
        bank=pictures.reshape(-1, *(problem.image_shape or ())),
        shown=[np.append(0, part) for part in each],
        captions=[["query", *(f"{k + 1:,}: {names[k]}" for k in part)] for part in latest],
        groups=[np.append(255, toward[part]) for part in latest],
        size=84,
        together=3,
    )


def _sum(problem: Problem, counts: NDArray[Any], sums: NDArray[Any]) -> Chart:
    at = np.unique(np.linspace(0, len(sums) - 1, min(len(sums), 4 * POSITIONS)).astype(int))
    return Chart(
        key="payment_sum",
        alt="The sum after each support vector, and f(x), which it ends at.",
        title="The sum, value by value",
        x=Axis("support vectors asked", whole=True),
        y=Axis("sum"),
        layers=[
            Line(x=at, y=sums[at], dim_after=np.searchsorted(at, counts, side="right") - 1,
                      color=theme.COLORS[4]),
            Rule(y=0.0, dashed=False),
            Rule(y=float(sums[-1]), text=f"f(x) = {sums[-1]:.3g}"),
        ],
    )  # fmt: skip
