"""What one answer costs: the query asks every support vector, one after another."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from kmviz.figures import theme
from kmviz.ui import live
from kmviz.ui.maps import axes, boundary_line
from kmviz.ui.plane import plane
from kmviz.ui.problem import Problem

#: Positions of the slider, lines that are drawn, and training rows behind them, at most.
POSITIONS, LINES, POINTS = 60, 300, 800


def payment(problem: Problem) -> None:
    """Draw the query's lines to its support vectors, and the sum that they add up to."""
    m = problem.n_vectors
    counts = np.unique(np.linspace(0, m, min(m, POSITIONS) + 1).round().astype(int))
    sums = partial_sums(problem)
    st.subheader("Press play: one answer, paid in full", anchor=False)
    live.show(
        "asked", "Support vectors asked", counts.tolist(), m,
        [_rays(problem, counts), _sum(problem, counts, sums)],
        numbers={
            "Kernel values": [f"{k:,} of {m:,}" for k in counts],
            "Sum so far": [f"{sums[k]:+.3g}" for k in counts],
            "f(x)": f"{sums[-1]:+.3g}",
        },
        help="A query is compared with every support vector, in file order, before it is answered.",
        on_release=lambda _: None,  # the page shows nothing else by it
        on_click=live.pick,
    )  # fmt: skip


def partial_sums(problem: Problem) -> NDArray[np.float64]:
    """Return -b and the sum after each support vector, in file order: (m + 1,)."""
    machine = problem.machine
    terms = machine.beta * np.asarray(machine.kernel(machine.vectors, problem.x[None]))[:, 0]
    return np.cumsum(np.append(-machine.bias, terms))


def _rays(problem: Problem, counts: NDArray[Any]) -> live.Chart:
    view, star = plane(problem), plane(problem).queries[problem.query]
    drawn = theme.thinned(len(view.vectors), LINES)
    ends = np.full((len(drawn), 3, 2), np.nan, dtype=np.float32)
    ends[:, 0], ends[:, 1] = star, view.vectors[drawn]
    flat = ends.reshape(-1, 2)
    upto = [flat[: 3 * int(np.searchsorted(drawn, k))] for k in counts]
    rows = theme.thinned(len(view.points), POINTS)
    queries = theme.thinned(len(view.queries), POINTS)
    line = [boundary_line(problem, width=2.0)] if problem.is_plane else []
    where = (
        axes(problem) if problem.is_plane else {n: live.Axis(t) for n, t in zip("xy", view.axes)}
    )
    return live.Chart(
        key="payment",
        alt="The query and a line to each support vector that it has asked so far.",
        title="Whom the query asks: every support vector",
        equal=problem.is_plane,
        layers=[
            live.Points(x=view.points[rows, 0], y=view.points[rows, 1], names=view.class_names,
                        group=(view.labels[rows] > 0).astype(int), size=4, opacity=0.5),
            live.Line(x=[part[:, 0] for part in upto], y=[part[:, 1] for part in upto],
                      name="asked", color=theme.COLORS[4], width=0.8),
            *line,
            live.Points(x=view.queries[queries, 0], y=view.queries[queries, 1], names=("",),
                        id=queries, picked=problem.query, opacity=0.0),
        ],
        **where,
    )  # fmt: skip


def _sum(problem: Problem, counts: NDArray[Any], sums: NDArray[Any]) -> live.Chart:
    at = np.unique(np.linspace(0, len(sums) - 1, min(len(sums), 4 * POSITIONS)).astype(int))
    return live.Chart(
        key="payment_sum",
        alt="The sum after each support vector, and f(x), which it ends at.",
        title="The sum, value by value",
        x=live.Axis("support vectors asked"),
        y=live.Axis("sum"),
        layers=[
            live.Line(x=at, y=sums[at], dim_after=np.searchsorted(at, counts, side="right") - 1,
                      color=theme.COLORS[4]),
            live.Rule(y=0.0, dashed=False),
            live.Rule(y=float(sums[-1]), text=f"f(x) = {sums[-1]:.3g}"),
        ],
    )  # fmt: skip
