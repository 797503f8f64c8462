"""Nearest support vectors under every window: what the live slider draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from kmviz.charts import nsv as charts
from kmviz.traces import Frames, NSVReading, NSVTrace
from kmviz.ui import nsv, pictures
from kmviz.ui.maps import effort_view
from kmviz.ui.runtime.fitted import frames
from kmviz.ui.shell import parts
from kmviz.views.fitted import Shown

#: Where the slider may stand: finely where a step more still changes something.
WINDOWS = (*range(21), *range(25, 51, 5), *range(60, 101, 10), *range(125, 201, 25))


def slider(now: Shown, record: NSVTrace) -> None:
    """Draw the window's slider with all that follows it."""
    here = st.session_state.w
    windows = tuple(sorted({*WINDOWS, here}))
    others = {"linear_filter": st.session_state.filter}
    readings, query = frames(now, "window", windows, **others), now.problem.query
    views = [
        charts.effort(readings, now.rows, query),
        charts.trajectory(record, query, readings, _stops(now, readings)),
    ]
    third = effort_view(now, "window", windows, **others)
    if third is not None:
        views.append(third)
    pictures.show(
        "w",
        "Window w",
        windows,
        here,
        views,
        numbers=numbers(now, readings),
        columns=min(3, len(views)),
        help="Each threshold is the widest of w steps before and after it.",
        on_click=pictures.pick,
    )


def numbers(now: Shown, frames: Frames) -> dict[str, Any]:
    """Return the figures in a line, by window."""
    n, m = len(now.rows), now.problem.n_vectors
    mean = frames.steps.mean(axis=1)
    differ = np.count_nonzero(~frames.agrees, axis=1)
    return {
        "Vectors m": f"{m:,}",
        "Mean k": [f"{k:,.1f}" for k in mean],
        "Median k": [f"{k:,.0f}" for k in np.median(frames.steps, axis=1)],
        "m/k": [f"{m / k:,.1f}x" for k in mean],
        "Disagreements": [f"{d:,} of {n:,}" for d in differ],
        "By the filter": [f"{share:.0%}" for share in frames.filtered.mean(axis=1)],
    }


def neighbors(now: Shown, record: NSVTrace) -> None:
    """Draw the support vectors that the query used."""
    problem = now.problem
    st.subheader(f"Query {problem.query}: the support vectors it used", anchor=False)
    pictures.still(nsv.neighbors_chart(problem, record))


def tradeoff(now: Shown, reading: NSVReading) -> None:
    """Draw what other settings would cost and change."""
    st.subheader("Speed against disagreements", anchor=False)
    pictures.plotted(nsv.tradeoff_chart(now, reading))
    parts.look_for(nsv.look_tradeoff(now.problem))


def _stops(now: Shown, frames: Frames) -> np.ndarray:
    """Return where the query stops under each window."""
    place = np.flatnonzero(now.rows == now.problem.query)
    if len(place):
        return frames.stop[:, place[0]]
    chosen = nsv.choice()
    return np.array(
        [
            now.study.classifier(**{**chosen, "window": w}).trace(now.problem.x).stop
            for w in frames.values
        ]
    )
