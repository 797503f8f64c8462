"""How far each query lies from the boundary, against what its answer costs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike, NDArray

from kmviz.figures import theme


def effort(
    outputs: ArrayLike,
    costs: ArrayLike,
    labels: ArrayLike,
    class_names: tuple[str, ...],
    query: int | None = None,
    n_vectors: int | None = None,
    ids: ArrayLike | None = None,
    star: tuple[float, float] | None = None,
    note: str | None = None,
    height: int = 430,
    most: int = theme.MOST_POINTS,
    more: Iterable[theme.Trace] = (),
    **layout: Any,
) -> go.Figure:
    """Draw f(x) of each query against the kernel values spent on it.

    Parameters
    ----------
    outputs, costs, labels : arrays of shape (q,)
        f(x), kernel values computed and true label (-1 or +1) of each query.
    query : which of them is the selected one
    ids : what a query is called, the `customdata` of its point; by default its position
    star : where the selected query stands, if it is not among them
    n_vectors : what the exact machine spends on every query, drawn as a line
    note : what to notice, written into the empty part of the chart
    most : above this many queries a sample of them is drawn
    more, layout : traces drawn beside these, and what they add to the layout
    """
    outputs, costs, labels = np.asarray(outputs), np.asarray(costs), np.asarray(labels)
    names = np.arange(len(outputs)) if ids is None else np.asarray(ids)
    rows = theme.thinned(len(outputs), most)
    traces = []
    for i, (label, name) in enumerate(zip((-1, 1), class_names)):
        right = rows[(labels[rows] == label) & ((outputs[rows] > 0) == (label > 0))]
        traces.append(_queries(right, outputs, costs, names, name, i, len(rows)))
    wrong = rows[(outputs[rows] > 0) != (labels[rows] > 0)]
    traces.append(_queries(wrong, outputs, costs, names, "answered wrongly", 6, len(rows), "x"))
    if query is not None:
        star = outputs[query], costs[query]
    if star is not None:
        traces.append(theme.star(*star))
    most_spent = float(np.max(costs, initial=1.0))
    above = (n_vectors or 0) > 3.0 * most_spent  # the line would flatten what is to be seen
    top = most_spent if above else max(most_spent, float(n_vectors or 0))
    sampled = len(rows) < len(outputs)
    return theme.figure(
        [*traces, *more],
        "f(x): its sign is the class",
        "kernel values computed",
        f"A sample of {len(rows):,} of {len(outputs):,} queries" if sampled else None,
        height,
        yaxis={"range": [-0.03 * top, 1.18 * top]},
        shapes=[theme.line_at(x=0.0)]
        + ([] if n_vectors is None or above else [theme.line_at(y=n_vectors, dash="dash")]),
        annotations=_words(n_vectors, 1.05 * top if above else None) + _note(note, outputs),
        **layout,
    )


def _words(n_vectors: int | None, below: float | None) -> list[dict[str, Any]]:
    """The words at the line of all support vectors, or `below` it, where they point up."""
    words = []
    if n_vectors is not None:
        text = f"{'' if below is None else '↑ '}all {n_vectors:,} support vectors"
        words.append(
            {
                "text": text,
                "xref": "paper",
                "x": 0,
                "y": n_vectors if below is None else below,
                "yshift": 18,
                "showarrow": False,
            }
        )
    return words


def _note(text: str | None, outputs: NDArray) -> list[dict[str, Any]]:
    """What to notice, beside the line at zero where there is more room."""
    if not text:
        return []
    is_right = outputs.max(initial=0.0) >= -outputs.min(initial=0.0)
    place = {"xanchor": "left", "xshift": 8} if is_right else {"xanchor": "right", "xshift": -8}
    return [{"text": text, "x": 0, "yref": "paper", "y": 0.3, "showarrow": False, **place}]


def _queries(
    rows: NDArray,
    outputs: NDArray,
    costs: NDArray,
    ids: NDArray,
    name: str,
    slot: int,
    n_points: int,
    symbol: str | None = None,
) -> theme.Trace:
    return theme.scatter(
        n_points,
        x=theme.light(outputs[rows]),
        y=theme.light(costs[rows]),
        customdata=ids[rows].astype(np.int32),
        mode="markers",
        name=name,
        hovertemplate="query %{customdata}<br>f(x) = %{x:.3g}<br>%{y:,} kernel values"
        "<extra>click to follow it</extra>",
        marker={
            "color": theme.COLORS[slot],
            "symbol": symbol or theme.SYMBOLS[slot],
            "size": 8,
            "opacity": 0.55,
        },
    )
