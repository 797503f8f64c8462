"""Bounds that close on f(x): one query's interval, every query, all orders of the basis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.charts import theme
from kmviz.charts.chart import Axis, Chart, Line, Points, Rule, band_within, clip_to
from kmviz.traces import AnytimeReading, AnytimeTrace, Closing, Frames

#: Steps of a line that are drawn at most.
MOST_STEPS = 600
#: What is too little to be told from nothing on a logarithmic axis.
_LEAST = 1e-6


def bounds(trace: AnytimeTrace, steps: Sequence[int], query: int | None = None) -> Chart:
    """Return one query's interval up to each step, in another colour from where it is certain."""
    last = min(len(trace.partial) - 1, max(2 * trace.stop, 12))
    top, is_over = _reach(trace, last), is_certain(trace, trace.stop)
    certain = trace.stop if is_over else len(trace.partial)
    upto = [np.arange(min(step, last) + 1) for step in steps]
    sums, *bounds = (clip_to(top, of) for of in (trace.partial, trace.lower, trace.upper))
    ends = np.column_stack([bound[list(steps)] for bound in bounds])
    said = "sign certain at" if is_over else "exact sum taken after"
    return Chart(
        key="bounds",
        alt="The interval that holds f(x), up to the step, and where the sign became certain.",
        title=("One query" if query is None else f"Query {query}") + ": the interval that holds f",
        x=Axis("kernel evaluations k", (-0.02 * last, 1.04 * last), whole=True),
        y=Axis("f(x)", (-top, top)),
        layers=[
            band_within(top, [k[: certain + 1] for k in upto], trace.lower, trace.upper,
                        name="holds f(x)", color=theme.COLORS[5], opacity=0.35),
            band_within(top, [k[certain:] for k in upto], trace.lower, trace.upper,
                        name="sign certain", color=theme.COLORS[2], opacity=0.35),
            Line(x=[0, 1.04 * last], y=[0, 0], width=3.5),
            Line(x=upto, y=[sums[k] for k in upto], name="partial sum f_k",
                 color=theme.GOOD, width=1.5),
            Line(x=[[k, k] for k in steps], y=ends, width=4.0, color=theme.QUERY,
                 name="known now", markers=True),
            Rule(y=float(trace.exact), text=f"f(x) = {trace.exact:.3g}"),
            Rule(x=[trace.stop if step >= trace.stop else np.nan for step in steps],
                 text=f"{said} {trace.stop}"),
        ],
    )  # fmt: skip


def is_certain(trace: AnytimeTrace, step: int) -> bool:
    """Return True if the interval after `step` kernel evaluations excludes 0."""
    return bool(trace.lower[step] > 0 or trace.upper[step] < 0)


def residuals(trace: AnytimeTrace) -> Chart:
    """Return what is left of W and of the query after each step: their product is the gap."""
    k = _thinned(min(len(trace.partial), max(2 * trace.stop, 12) + 1))
    parts = (
        (trace.w_rest, "left of W", 7, False),
        (np.sqrt(trace.residual_sq), "left of the query, R_k(x)", 3, True),
    )
    return Chart(
        key="residuals",
        alt="What is left of the SVM's vector W and of the query, as a share of their start.",
        title="What is left, as a share of its start",
        x=Axis("kernel evaluations k", whole=True),
        y=Axis("share left (log scale)", log=True),
        layers=[
            *(Line(x=k, y=np.maximum(values[k] / max(float(values[0]), 1e-300), _LEAST),
                   name=name, color=theme.COLORS[slot], dashed=dashed)
              for values, name, slot, dashed in parts),
            Rule(x=float(trace.stop), text=f"stops at {trace.stop}"),
        ],
        height=240,
    )  # fmt: skip


def steps(
    frames: Frames, reading: AnytimeReading, rows: NDArray[Any], query: int, n_vectors: int
) -> Chart:
    """Return f(x) of every query against what it takes in the end; those decided by now are lit.

    Parameters
    ----------
    frames, reading : after each step, and to the end
    rows : the test row that each query is
    """
    return Chart(
        key="steps",
        alt="Output of each query against the kernel evaluations it takes; those decided are lit.",
        title="Every query, lit once it is decided",
        x=Axis("output f(x)"),
        y=Axis("kernel evaluations (log scale)", log=True),
        layers=[
            Points(
                x=reading.exact.astype(np.float32), y=np.maximum(reading.steps, 1),
                group=frames.decided.astype(np.uint8), names=("not yet", "decided"),
                colors=(theme.FAINT, theme.GOOD), symbols=("circle",), size=6, opacity=0.7,
                id=rows, picked=query, hover={"query": rows, "kernel evaluations": reading.steps},
            ),
            Rule(x=0.0, dashed=False),
            Rule(y=float(n_vectors), text=f"all {n_vectors:,} support vectors", at_start=True),
        ],
    )  # fmt: skip


def orderings(records: Mapping[str, Closing], chosen: str) -> tuple[Chart, Chart]:
    """Return every order's mean interval width, and its share of decided queries, by step."""
    looks: dict[str, dict[str, Any]] = {
        name: {"name": name, "color": theme.COLORS[i if i < 4 else i + 1], "dashed": i % 2 == 1,
               "width": 4.0 if name == chosen else 1.8}
        for i, name in enumerate(records)
    }  # fmt: skip
    across = Axis("kernel evaluations k", whole=True)
    widths, shares = [], []
    for name, record in records.items():
        k = _thinned(len(record.width))
        widths.append(Line(x=k, y=np.maximum(record.width[k], _LEAST), **looks[name]))
        shares.append(Line(x=k, y=record.decided[k], **looks[name]))
    return (
        Chart(
            key="orderings", alt="Mean width of the interval by step, a line for each order.",
            title="Mean width of the interval", x=across, layers=widths, height=430,
            y=Axis("upper - lower (log scale)", log=True),
        ),
        Chart(
            key="orderings_decided", alt="Share of queries decided by step, a line for each order.",
            title="Share of queries decided", x=across, layers=shares, height=430,
            y=Axis("share decided", (-0.02, 1.02)),
        ),
    )  # fmt: skip


def _reach(trace: AnytimeTrace, last: int) -> float:
    """How far f(x) is drawn so that the closing can be seen: first intervals are far wider."""
    k = min(max(trace.stop // 3, 1), last)
    return 1.05 * max(abs(trace.lower[k]), abs(trace.upper[k]), 1.5 * abs(trace.exact))


def _thinned(n: int) -> NDArray[np.intp]:
    """Return all steps, or a spread of them that is dense at the start."""
    if n <= MOST_STEPS:
        return np.arange(n)
    return np.unique(np.geomspace(1, n, MOST_STEPS).astype(np.intp) - 1)
