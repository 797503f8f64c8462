"""One query followed: its partial sums step by step, and the vectors that it has used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.charts import theme
from kmviz.charts.chart import Axis, Chart, Images, Line, Points, Rule, band_within
from kmviz.charts.maps import axes, boundary_line, query_first
from kmviz.charts.plane import Plane
from kmviz.traces import Trace

#: Steps up to which each is marked; images in a strip.
EACH, STRIP = 30, 7


def trajectory(
    trace: Any,
    steps: Sequence[int],
    class_names: Sequence[str],
    band: tuple[Any, Any] | None = None,
    band_name: str = "",
    **options: Any,
) -> Chart:
    """Return the partial sums of a query up to each of these steps, and where it stops.

    Parameters
    ----------
    band : the lower and the upper end around the sum, at every step
    options : `key` and `title` of the chart
    """
    last = max(trace.stop, 1)
    reach = 1.5 * float(np.abs(np.append(trace.partial[: last + 1], trace.exact)).max() or 1.0)
    seen = [np.arange(min(step, trace.stop) + 1) for step in steps]
    answer = class_names[int(trace.output > 0)]
    around = [] if band is None else [band_within(reach, seen, *band, name=band_name)]
    return Chart(
        alt="The partial sum of a query after each vector, up to the step.",
        x=Axis("vectors used k", (-0.03 * last, 1.05 * last), whole=True),
        y=Axis("partial sum", (-reach, reach)),
        layers=[
            *around,
            Line(x=seen, y=[trace.partial[k].astype(np.float32) for k in seen], color=theme.GOOD,
                 name="partial sum", markers=last <= EACH),
            Rule(y=0.0, dashed=False),
            Rule(y=float(trace.exact), text=f"f(x) = {trace.exact:.3g}", at_start=True),
            Rule(x=[trace.stop if step >= trace.stop else np.nan for step in steps],
                 text=f"stops at {trace.stop:,}: {answer}"),
        ],
        height=240,
        **options,
    )  # fmt: skip


def used_on_map(
    plane: Plane, row: int, places: NDArray, shown: Sequence[NDArray], toward: NDArray, key: str
) -> Chart:
    """Return the vectors that a query has used at each step, by the class that they pull to.

    Parameters
    ----------
    row : the query
    places : of the vectors in their order, (K, 2)
    shown : which of them, at each step
    toward : the class that each pulls to, 0 or 1
    """
    names = tuple(f"pulls to {name}" for name in plane.class_names)
    star = plane.queries[row]
    return Chart(
        key=key,
        alt="The vectors used so far on the map, by the class that they pull to.",
        title=f"Vectors used by {row}",
        height=260,
        layers=[
            *boundary_line(plane, width=2.0, name="the SVM's boundary"),
            Points(
                x=[places[k, 0].astype(np.float32) for k in shown],
                y=[places[k, 1].astype(np.float32) for k in shown],
                group=[toward[k] for k in shown],
                names=names,
                text=[[f"step {i + 1}" for i in k] for k in shown],
            ),
            Points(x=star[:1], y=star[1:], id=[row], picked=row, opacity=0.0),
        ],
        **axes(plane),
    )


def used_images(
    query: NDArray,
    images: NDArray,
    row: int,
    shown: Sequence[NDArray],
    toward: NDArray,
    class_names: Sequence[str],
    key: str,
) -> Images:
    """Return the query, then the images that it was compared with last, the latest first.

    Parameters
    ----------
    query, images : (height, width), and of the vectors in their order, (K, height, width)
    shown : which of them are used, at each step
    """
    latest = [k[::-1][:STRIP] for k in shown]
    is_made_up = images.min(initial=0.0) < 0  # ink less than none, as a reduced vector's
    if is_made_up:  # and much or little of it
        images = images / np.abs(images).max(axis=(1, 2), keepdims=True).clip(1e-12)
        query = query / max(float(query.max()), 1e-12)
    return Images(
        **query_first(query, images, latest, toward),
        key=key,
        alt="The query, and the images that it was compared with last.",
        title=f"Query {row}, and the vectors used last",
        captions=[["query", *(f"{i + 1:,}: {class_names[toward[i]]}" for i in k)] for k in latest],
        scale="diverging" if is_made_up else "grey",
        size=64,
    )


def running_sum(trace: Trace) -> Chart:
    """Return a trace that adds terms one after another, whole, with its stop and f(x)."""
    partial = trace.arrays()["partial"]
    k = np.arange(len(partial))
    return Chart(
        key="trajectory",
        alt="The partial sum after each vector, where it stopped, and the exact output.",
        x=Axis("kernel evaluations", whole=True),
        y=Axis("output"),
        layers=[
            Line(x=k, y=partial, name="partial sum", dim_after=trace.stop, color=theme.GOOD),
            Rule(x=float(trace.stop), text=f"stops at {trace.stop:,}"),
            Rule(y=float(trace.exact), text=f"f(x) = {trace.exact:.3g}"),
            Rule(y=0.0, dashed=False),
        ],
    )
