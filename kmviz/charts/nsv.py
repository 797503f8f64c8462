"""Nearest support vectors: every query's effort, one query's trajectory, its neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kmviz.charts import theme
from kmviz.charts.chart import Axis, Chart, Images, Line, Points, Rule, band_within, marks, xy
from kmviz.charts.maps import base_map, star
from kmviz.charts.plane import Plane
from kmviz.traces import Frames, NSVReading, NSVTrace

#: Steps of a trajectory and of an envelope that are drawn at most; neighbours shown.
DRAWN, STEPS, SHOWN = 400, 120, 8
_REGION = "undecided region"
_GROUPS: dict[str, Any] = {
    "names": ("disagreement", "same class as the exact SVM"),
    "symbols": ("x", "circle"),
    "colors": (theme.ERROR, theme.GOOD),
    "opacity": 0.6,
}


def effort(frames: Frames | NSVReading, rows: NDArray[Any], query: int | None = None) -> Chart:
    """Return every query where it stopped, between the thresholds, by window.

    The paper's figure 3 draws f(x) instead, so that queries seem to stop within the thresholds.

    Parameters
    ----------
    frames : readings under each window, or one reading
    rows : the test row that each query is
    """
    m = frames.low.shape[-1] - 1
    k = np.unique(np.round(np.geomspace(1, m + 1, STEPS)).astype(np.intp))
    reach = 1.1 * float(np.abs(frames.outputs).max(initial=1e-9))
    return Chart(
        key="effort",
        alt="Partial sum of each query where it stopped against the steps it took, by window.",
        title="Every query where it stopped",
        x=Axis("step k (log scale)", (0.9, 1.15 * (m + 1)), log=True),
        y=Axis("partial sum g at the stop", (-reach, reach)),
        layers=[
            band_within(reach, k, frames.low[..., k - 1], frames.high[..., k - 1], name=_REGION),
            Points(
                x=frames.steps, y=frames.outputs.astype(np.float32), size=6, id=rows, picked=query,
                group=frames.agrees, hover={"query": rows, "steps": frames.steps}, **_GROUPS,
            ),
            Rule(y=0.0, dashed=False),
        ],
    )  # fmt: skip


def trajectory(
    trace: NSVTrace, query: int | None = None, frames: Any = None, stops: Any = None
) -> Chart:
    """Return one query's partial sums between the thresholds, by window.

    Parameters
    ----------
    frames, stops : thresholds under each window, and where the query stops; default: the trace's
    """
    ends = trace if frames is None else frames
    stops = np.asarray(trace.stop if stops is None else stops)
    last = min(len(trace.partial) - 1, max(40, 3 * int(stops.max())))
    k = np.unique(np.append(np.linspace(0, last, DRAWN).round(), stops).astype(np.intp))
    reach = 1.25 * float(np.abs(np.append(trace.partial[: last + 1], trace.exact)).max())
    is_decided = trace.filtered or trace.stop == 0
    title = "One query" if query is None else f"Query {query}"
    text = [f"stops at {stop:,}" for stop in np.atleast_1d(stops)]
    return Chart(
        key="trajectory",
        alt="Partial sum of the query after each support vector, between the thresholds.",
        title=title + (": " + _decided_by(trace) if is_decided else ", step by step"),
        x=Axis("support vectors used k", whole=True),
        y=Axis("partial sum g", (-reach, reach)),
        layers=[
            band_within(reach, k, ends.low[..., k], ends.high[..., k], name=_REGION),
            Line(x=k, y=trace.partial[k].astype(np.float32), name="partial sum g",
                 dim_after=np.searchsorted(k, stops), color=theme.GOOD),
            Rule(x=stops, text=text if stops.ndim else text[0]),
            Rule(y=float(trace.exact), text=f"f(x) = {trace.exact:.3g}"),
            Rule(y=0.0, dashed=False),
        ],
    )  # fmt: skip


def neighbors(
    trace: NSVTrace, plane: Plane, query: int, beta: NDArray[Any], images: Any = None
) -> Chart | Images:
    """Return the first support vectors used: as images, or numbered on the map.

    Parameters
    ----------
    beta : of all support vectors
    images : the query, then all support vectors, (1 + m, height, width)
    """
    if images is not None:
        return _images(trace, images, beta, plane.class_names)
    first = trace.index[1 : max(trace.stop, 1) + 1]
    k = np.arange(1, len(first) + 1)
    name = "used, in this order" if trace.stop else "nearest"
    look: dict[str, Any] = {
        "size": 14,
        "labels": [str(step) if step <= 3 * SHOWN else "" for step in k],
        "hover": {"step": k, "kernel": trace.value[k], "g": trace.partial[k]},
    }
    return base_map(
        plane,
        query,
        [marks(plane.vectors[first], name, theme.QUERY, "ring", **look)],
        key="neighbors",
        alt="The support vectors that the query used, numbered in their order, on the map.",
        title=_used(trace, len(first)),
        height=420,
    )


def _images(
    trace: NSVTrace, images: NDArray[Any], beta: NDArray[Any], class_names: tuple[str, str]
) -> Images:
    """Return the query and the first support vectors as images (the paper's figure 1)."""
    first = trace.index[1 : SHOWN + 1]
    sides = (beta[first] > 0).astype(int)
    words = [
        f"{class_names[side]}\nβ {beta[i]:.3g}\nK ≈ {trace.score[k]:.3g}\nK = {trace.value[k]:.3g}"
        f"\ng{k} = {trace.partial[k]:.3g}"
        for k, (i, side) in enumerate(zip(first, sides), start=1)
    ]
    return Images(
        key="neighbors",
        alt="The query and the first support vectors that it used, as images.",
        title=_used(trace, min(trace.stop, SHOWN)),
        bank=images[np.append(0, first + 1)],
        shown=np.arange(len(first) + 1),
        captions=["the query", *(f"K {trace.value[k]:.2f}" for k in range(1, len(first) + 1))],
        text=[f"the query\nf(x) = {trace.exact:.3g}\ng0 = {trace.partial[0]:.3g}", *words],
        groups=np.append(255, sides),
        faint_after=1 + min(trace.stop, SHOWN),
    )


def tradeoff(table: pd.DataFrame, here: tuple[float, float], title: str = "") -> Chart:
    """Return the cost against the disagreements of several settings, a line for each.

    Parameters
    ----------
    table : DataFrame
        Columns `setting` and `filter` (a line for each pair; without the filter it is dashed),
        `window`, `cost` (kernel evaluations and overhead), `disagreements` (in percent).
    here : cost and disagreements of the setting on screen
    """
    names = tuple(dict.fromkeys(map(str, table["setting"])))
    group = np.array([names.index(name) for name in table["setting"]], dtype=np.intp)
    lines = []
    for (name, is_filtered), part in table.groupby(["setting", "filter"], sort=False):
        color = theme.COLORS[names.index(str(name)) % 10]
        places = xy(part[["cost", "disagreements"]].to_numpy())
        lines.append(Line(**places, width=1.0, color=color, dashed=not is_filtered))
    columns = {"w": "window", "evaluations": "cost", "% disagree": "disagreements"}
    hover = {said: table[name].to_numpy() for said, name in columns.items()}
    places = xy(table[["cost", "disagreements"]].to_numpy())
    settings = Points(**places, group=group, size=8, names=names, hover=hover)
    return Chart(
        key="tradeoff",
        alt="Kernel evaluations per query against the share of answers that differ, for several "
        "settings, with the present one marked.",
        title=title,
        x=Axis("kernel evaluations per query, overhead included (log scale)", log=True),
        y=Axis("disagreements (%)"),
        layers=[*lines, *[settings] * bool(len(table)), star(here, "the present setting", 15)],
        height=430,
    )


def figure_3(reading: NSVReading) -> Chart:
    """Return f(x) of each query against its k on linear axes: the paper's figure 3, as published.

    f is not what the thresholds were passed by (that is g_k, which `effort` draws), so that some
    queries stand between them.
    """
    k = np.arange(int(reading.stop.max(initial=1)) + 1)
    reach = 1.1 * float(np.abs(reading.exact).max(initial=1e-9))
    return Chart(
        key="figure_3",
        alt="Exact output f(x) of each query against the support vectors it used.",
        x=Axis("support vectors used k", whole=True),
        y=Axis("exact output f(x)", (-reach, reach)),
        layers=[
            band_within(reach, k, reading.low[k], reading.high[k], name=_REGION),
            Points(x=reading.stop, y=reading.exact.astype(np.float32), size=6,
                   group=reading.agrees, **_GROUPS),
            Rule(y=0.0, dashed=False),
        ],
    )  # fmt: skip


def _decided_by(trace: NSVTrace) -> str:
    if trace.filtered:
        return "the linear filter decided it"
    if 0 <= trace.deciding < trace.n_reduced:
        return f"{trace.stages[trace.deciding, 0]:.0f} reduced vectors decided it"
    return "the approximation decided it"


def _used(trace: NSVTrace, shown: int) -> str:
    if trace.stop == 0:
        return "No support vector was used; these would have come first"
    return f"The first {shown} of {trace.stop:,} support vectors used"
