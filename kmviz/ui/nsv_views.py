"""Nearest support vectors under every window: what the live slider draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from kmviz.charts import Axis, Band, Chart, Line, Points, Rule, theme
from kmviz.traces import Frames, NSVReading, NSVTrace
from kmviz.ui import nsv, parts, pictures
from kmviz.ui.fitted import Shown, frames
from kmviz.ui.maps import effort_view

#: Where the slider may stand: finely where a step more still changes something.
WINDOWS = (*range(21), *range(25, 51, 5), *range(60, 101, 10), *range(125, 201, 25))
#: Steps of a walk that are drawn at most.
DRAWN = 400


def slider(now: Shown, record: NSVTrace) -> None:
    """Draw the window's slider with all that follows it."""
    here = st.session_state.w
    windows = tuple(sorted({*WINDOWS, here}))
    others = {"linear_filter": st.session_state.filter}
    readings = frames(now, "window", windows, **others)
    views = [_effort(now, readings), _walk(now, readings, record)]
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


def tradeoff(now: Shown, reading: NSVReading) -> None:
    """Draw what other settings would cost and change."""
    st.subheader("Speed against disagreements", anchor=False)
    parts.chart(
        nsv.tradeoff_figure(now, reading), "tradeoff",
        "Times faster than the exact sum against the share of answers that differ, for several "
        "settings, with the present one marked.",
    )  # fmt: skip
    parts.look_for(nsv.look_tradeoff(now.problem))


def _effort(now: Shown, frames: Frames) -> Chart:
    m = now.problem.n_vectors
    steps = np.unique(np.round(np.geomspace(1, m + 1, 120)).astype(np.intp))
    reach = 1.1 * float(np.abs(frames.outputs).max(initial=1e-9))
    band = {"low": _clipped(frames.low, reach), "high": _clipped(frames.high, reach)}
    return Chart(
        key="effort",
        alt="Sum g of each query where it stopped against the steps it took, by window.",
        title="Every query where it stopped",
        x=Axis("steps k (log scale)", (0.9, 1.15 * (m + 1)), log=True),
        y=Axis("sum g at the stop", (-reach, reach)),
        layers=[
            Band(
                x=steps, low=band["low"][:, steps - 1], high=band["high"][:, steps - 1],
                name="not safe yet", fits=False,
            ),
            Points(
                x=frames.steps, y=frames.outputs.astype(np.float32), group=frames.agrees,
                names=("differs from f", "same class as f"), symbols=("x", "circle"),
                colors=(theme.COLORS[6], theme.COLORS[2]), size=6, opacity=0.6, id=now.rows,
                picked=now.problem.query,
                hover={"query": now.rows, "steps": frames.steps},
            ),
            Rule(y=0.0, dashed=False),
        ],
    )  # fmt: skip


def _walk(now: Shown, frames: Frames, record: NSVTrace) -> Chart:
    m = len(record.partial) - 1
    stops = _stops(now, frames, record)
    last = min(m, max(40, 3 * int(stops.max())))
    k = np.unique(np.append(np.linspace(0, last, DRAWN).round(), stops).astype(np.intp))
    g = record.partial[k]
    reach = 1.25 * float(np.abs(np.append(record.partial[: last + 1], record.exact)).max())
    decided = record.filtered or record.stop == 0
    title = f"Query {now.problem.query}, step by step"
    return Chart(
        key="trajectory",
        alt="Partial output of the query after each support vector within the thresholds.",
        title=f"{title}: settled before the first vector" if decided else title,
        x=Axis("support vectors asked k", whole=True),
        y=Axis("partial sum g", (-reach, reach)),
        layers=[
            Band(x=k, low=_clipped(frames.low[:, k], reach), name="not safe yet",
                      high=_clipped(frames.high[:, k], reach), fits=False),
            Line(x=k, y=np.broadcast_to(g, (len(frames), len(g))), name="g",
                      dim_after=np.searchsorted(k, stops), color=theme.COLORS[2]),
            Rule(x=stops, text=[f"stops at {stop:,}" for stop in stops]),
            Rule(y=float(record.exact), text=f"f(x) = {record.exact:.3g}"),
            Rule(y=0.0, dashed=False),
        ],
    )  # fmt: skip


def _stops(now: Shown, frames: Frames, record: NSVTrace) -> np.ndarray:
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


def _clipped(thresholds: np.ndarray, reach: float) -> np.ndarray:
    """Return thresholds as far as they can be seen."""
    return np.clip(thresholds, -2 * reach, 2 * reach).astype(np.float32)
