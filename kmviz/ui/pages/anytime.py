"""The page of anytime bounds: what it says, and the order of its pictures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from kmviz.charts import Chart, Images, anytime as charts
from kmviz.traces import Closing
from kmviz.ui import pictures
from kmviz.ui.maps import effort_view
from kmviz.ui.pages import Live, MethodPage
from kmviz.ui.runtime.fitted import frames, show, view_of
from kmviz.ui.runtime.jobs import Cache
from kmviz.ui.shell import url
from kmviz.ui.shell.controls import draw, row
from kmviz.ui.shell.parts import look_for
from kmviz.views import anytime
from kmviz.views.fitted import MethodView
from kmviz.views.problem import Problem

SENTENCE = (
    "Each kernel evaluation narrows an interval *proved* to hold f(x). Once it excludes 0, the "
    "class is certain."
)
SPEED = (
    "CPU time of the exact SVM in float32 (BLAS) over that of the bounds, queries {how}, measured "
    "here. Below 1 the bounds are slower."
)
ORDERS = "All orders of the basis"

_closings, _times = Cache("anytime orders"), Cache("anytime times")
_charts = Cache("anytime pictures")


def draw_controls(problem: Problem) -> None:
    """Draw the choice of the basis, and of the queries that tune it."""
    names, here = anytime.orders(problem), st.session_state["basis"]
    is_tuned = "query_sample" in anytime.fitted_by(here if here in names else names[0])
    places = row(3, 2) if is_tuned else row(1)
    draw("basis", places[0], options=names)
    if is_tuned:
        draw("sample", places[1])


def view(problem: Problem, values: Mapping[str, Any]) -> MethodView:
    """Return the fitted method in the order chosen."""
    names = anytime.orders(problem)
    order = values["basis"] if values["basis"] in names else names[0]
    now = show(problem, "anytime", anytime.fitted_by(order, values["sample"]))
    return view_of(now, {}, values)


def limit(at: MethodView) -> None:
    """Keep the step within the basis."""
    if at.values["step"] is not None:
        url.limit("step", 1, anytime.last_step(at.now))


def live(at: MethodView) -> Live:
    """Return what follows the step."""
    fixed, here = anytime.positions(anytime.last_step(at.now)), anytime.step_of(at)
    readings = frames(at.now, "max_steps", fixed, here)

    def made() -> list[Chart | Images]:
        effort = effort_view(at.now, "max_steps", fixed, here)
        return [*anytime.live_charts(at, readings), *effort]

    key = (*at.now.key, readings.values, at.now.problem.query)
    note = [anytime.sentence(at, k) for k in readings.values]
    numbers = anytime.numbers(at, readings)
    return Live(readings.values, here, lambda: _charts.get(key, made, "Every step"), numbers, note)


def more_numbers(at: MethodView) -> list[tuple[str, str, str]]:
    """Return what the counts come to in time."""
    faster = _faster(at)
    return [
        ("Speed, one query", f"{faster['single_ratio']:.2g}x", SPEED.format(how="one at a time")),
        ("Speed, batch", f"{faster['batch_ratio']:.2g}x", SPEED.format(how="many at once")),
    ]


def hint(at: MethodView) -> str:
    """Say what the counts come to in time."""
    return anytime.hint_times(_faster(at)["batch_ratio"])


def _faster(at: MethodView) -> Any:
    return _times.get(at.now.key, lambda: anytime.times(at.now), "Timing both ways")


def own_part(at: MethodView) -> None:
    """Draw what closes the interval, and all orders of the basis."""
    pictures.still(charts.residuals(at.trace))
    look_for(anytime.hint_closing(at.trace))
    look_for(anytime.hint_queries(at))
    st.subheader(ORDERS, anchor=False)
    problem = at.now.problem
    found = _closings.later(problem.key, lambda: _closing(problem), "Comparing all orders") or {}
    for place, chart in zip(st.columns(2), charts.orderings(found, at.values["basis"])):
        with place:
            pictures.plotted(chart)
    look_for(anytime.hint_orders(found))


def _closing(problem: Problem) -> dict[str, Closing]:
    """Return how the intervals close under every order, over the first steps."""
    found = {}
    for order in anytime.orders(problem):
        short = {**anytime.fitted_by(order), "max_steps": anytime.STEPS}
        now = show(problem, "anytime", short, most=anytime.COMPARED, is_kept=False)
        found[order] = now.study.closing()
    return found


PAGE = MethodPage(
    title="Anytime bounds",
    own=("basis", "sample", "step", "a"),
    sentence=SENTENCE,
    terms=("query", "kernel value", "f(x)", "L_k, H_k", "basis", "W", "R_k"),
    slider="step",
    label="Step k",
    help="A deadline: what is known of f(x) after that many kernel evaluations.",
    draw_controls=draw_controls,
    view=view,
    notice=limit,
    live=live,
    more_numbers=more_numbers,
    picture=anytime.picture,
    hint=hint,
    ends=lambda trace: (trace.lower, trace.upper),
    ends_name="holds f(x)",
    own_part=own_part,
    code=anytime.code,
)
