"""Anytime bounds after every number of kernel values: what the live slider draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from kmviz.charts import anytime as charts
from kmviz.traces import AnytimeTrace, Frames
from kmviz.ui import anytime, pictures
from kmviz.ui.maps import effort_view
from kmviz.ui.runtime.fitted import frames
from kmviz.ui.runtime.jobs import Cache
from kmviz.ui.shell import parts
from kmviz.views.fitted import Shown

#: Steps up to which each has its place on the slider, and places for all those after them.
EACH, AFTER = 30, 20

_views = Cache("anytime_views views")


def slider(now: Shown) -> int:
    """Draw the step's slider with all that follows it, and return the step."""
    record = anytime.trace(now)
    here = anytime.step_of(now, record)
    fixed = positions(anytime.last_step(now))
    steps = tuple(sorted({*fixed, here}))
    key = (now.key, steps, now.problem.query)
    views, numbers, note = _views.get(key, lambda: _made(now, fixed, here, record), "Every step")
    return pictures.show(
        "step",
        "Step k",
        steps,
        here,
        views,
        numbers=numbers,
        note=note,
        columns=len(views),
        help="A deadline: what is known of f(x) after that many kernel values.",
        on_click=pictures.pick,
    )


def positions(last: int) -> tuple[int, ...]:
    """Return the steps at which the slider may stand, whichever query is shown."""
    first = range(1, min(EACH, last) + 1)
    after = np.geomspace(min(EACH, last), last, AFTER + 1).round().astype(int).tolist()
    return tuple(sorted({*first, *after}))


def _made(now: Shown, fixed: tuple[int, ...], here: int, record: AnytimeTrace) -> Any:
    """Return the views, the figures in a line, and what is said, by step."""
    readings = frames(now, "max_steps", fixed, here)
    query, m = now.problem.query, now.problem.n_vectors
    views = [
        charts.bounds(record, readings.values, query),
        charts.steps(readings, now.study.read(), now.rows, query, m),
    ]
    effort = effort_view(now, "max_steps", fixed, here)
    note = [anytime.sentence(now, record, k) for k in readings.values]
    return views + [effort] * (effort is not None), _numbers(now, readings), note


def _numbers(now: Shown, frames: Frames) -> dict[str, Any]:
    reading, m = now.study.read(), now.problem.n_vectors
    mean = float(reading.steps.mean())
    return {
        "Decided by now": [f"{share:.0%}" for share in frames.decided.mean(axis=1)],
        "Queries": f"{len(now.rows):,}",
        "Mean kernel values": f"{mean:,.1f} of {m:,}",
        "Fewer by": f"{m / max(mean, 1e-9):.1f}x",
        "Signs changed": f"{reading.disagreements}",
    }


def large(now: Shown, record: AnytimeTrace) -> None:
    """Draw what closes the interval."""
    pictures.still(charts.residuals(record))
    parts.look_for(anytime.closing(record))
    parts.look_for(anytime.look(now, now.study.read()))


def orderings(now: Shown) -> None:
    """Draw all orders of the basis."""
    st.subheader("All orders of the basis", anchor=False)
    compared = anytime.compared(now.problem)
    for place, chart in zip(st.columns(2), charts.orderings(compared, st.session_state["basis"])):
        with place:
            pictures.plotted(chart)
    parts.look_for(anytime.best(compared))
