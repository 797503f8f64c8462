"""Anytime bounds after every number of kernel values: what the live slider draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from kmviz.charts import Axis, Band, Chart, Line, Points, Rule, theme
from kmviz.figures.anytime import is_certain, reach
from kmviz.traces import AnytimeTrace, Frames
from kmviz.ui import anytime, pictures
from kmviz.ui.fitted import Shown, frames
from kmviz.ui.maps import effort_view
from kmviz.ui.work import Shelf

#: Steps up to which each has its place on the slider, and places for all those after them.
EACH, AFTER = 30, 20

_views = Shelf()


def slider(now: Shown) -> int:
    """Draw the step's slider with all that follows it, and return the step."""
    here = st.session_state["step"]
    fixed = positions(anytime.last_step(now))
    steps = tuple(sorted({*fixed, here}))
    record = anytime.trace(now)
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
    views = [_closing(now, readings.values, record), _effort(now, readings)]
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


def _closing(now: Shown, steps: tuple[int, ...], record: AnytimeTrace) -> Chart:
    """The interval up to the step, in another colour from where the sign is certain."""
    last = min(len(record.partial) - 1, max(2 * record.stop, 12))
    top = reach(record, last)
    certain = record.stop if is_certain(record, record.stop) else len(record.partial)
    seen = [min(step, last) for step in steps]
    stop = [certain if step >= certain else np.nan for step in steps]
    return Chart(
        key="bounds",
        alt="The interval that holds f(x), up to the step, and where the sign became certain.",
        title=f"Query {now.problem.query}: the interval closes on f(x)",
        x=Axis("kernel values computed, k", (-0.02 * last, 1.04 * last), whole=True),
        y=Axis("f(x)", (-top, top)),
        layers=[
            _band(record, [np.arange(min(k, certain) + 1) for k in seen], top, "holds f(x)", 5),
            _band(record, [np.arange(certain, k + 1) for k in seen], top, "sign certain", 2),
            Line(x=[0, 1.04 * last], y=[0, 0], width=3.5),
            Line(x=[[k, k] for k in steps], y=_ends(record, steps, top), width=4.0,
                      color=theme.COLORS[4], name="known now", markers=True),
            Rule(y=float(record.exact), text=f"f(x) = {record.exact:.3g}"),
            Rule(x=stop, text=[f"certain at {certain}"] * len(steps)),
        ],
    )  # fmt: skip


def _band(record: AnytimeTrace, drawn: list[NDArray], top: float, name: str, slot: int) -> Any:
    """The interval at the steps drawn, as far as it can be seen."""
    low, high = (_seen(bound, top) for bound in (record.lower, record.upper))
    return Band(
        x=drawn, low=[low[k] for k in drawn], high=[high[k] for k in drawn], name=name,
        color=theme.COLORS[slot], opacity=0.35,
    )  # fmt: skip


def _ends(record: AnytimeTrace, steps: tuple[int, ...], top: float) -> NDArray[Any]:
    k = list(steps)
    return np.column_stack([_seen(record.lower[k], top), _seen(record.upper[k], top)])


def _seen(bounds: NDArray[Any], top: float) -> NDArray[np.float32]:
    return np.clip(bounds, -2 * top, 2 * top).astype(np.float32)


def _effort(now: Shown, frames: Frames) -> Chart:
    """What each query takes in the end; those that are decided by now are lit."""
    reading = now.study.read()
    return Chart(
        key="steps",
        alt="Output of each query against the kernel values it takes; those decided are lit.",
        title="Every query, lit once it is decided",
        x=Axis("output f(x)"),
        y=Axis("kernel values (log scale)", log=True),
        layers=[
            Points(
                x=reading.exact.astype(np.float32), y=np.maximum(reading.steps, 1),
                group=frames.decided.astype(np.uint8), names=("not yet", "decided"),
                colors=(theme.FAINT, theme.COLORS[2]), symbols=("circle", "circle"), size=6,
                opacity=0.7, id=now.rows, picked=now.problem.query,
                hover={"query": now.rows, "kernel values": reading.steps},
            ),
            Rule(x=0.0, dashed=False),
        ],
    )  # fmt: skip
