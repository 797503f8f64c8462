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
    class_names: tuple[str, str],
    query: int | None = None,
    n_vectors: int | None = None,
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
        f(x), kernel values computed and true label (-1 or +1) of each query. The position is
        the `customdata` of its point.
    n_vectors : what the exact machine spends on every query, drawn as a line
    note : what to notice, written into the empty part of the chart
    most : above this many queries a sample of them is drawn
    more, layout : traces drawn beside these, and what they add to the layout
    """
    outputs, costs, labels = np.asarray(outputs), np.asarray(costs), np.asarray(labels)
    rows = theme.thinned(len(outputs), most)
    traces = []
    for i, (label, name) in enumerate(zip((-1, 1), class_names)):
        right = rows[(labels[rows] == label) & ((outputs[rows] > 0) == (label > 0))]
        traces.append(_queries(right, outputs, costs, name, i, len(rows)))
    wrong = rows[(outputs[rows] > 0) != (labels[rows] > 0)]
    traces.append(_queries(wrong, outputs, costs, "answered wrongly", 6, len(rows), "x"))
    if query is not None:
        traces.append(theme.star(outputs[query], costs[query]))
    top = max(float(np.max(costs, initial=1.0)), float(n_vectors or 0))
    sampled = len(rows) < len(outputs)
    return theme.figure(
        [*traces, *more],
        "f(x): its sign is the class",
        "kernel values computed",
        f"A sample of {len(rows):,} of {len(outputs):,} queries" if sampled else None,
        height,
        yaxis={"range": [-0.03 * top, 1.18 * top]},
        shapes=[theme.line_at(x=0.0)]
        + ([] if n_vectors is None else [theme.line_at(y=n_vectors, dash="dash")]),
        annotations=_words(n_vectors, note),
        **layout,
    )


def _words(n_vectors: int | None, note: str | None) -> list[dict[str, Any]]:
    words = []
    if n_vectors is not None:
        text = f"all {n_vectors:,} support vectors"
        words.append(
            {
                "text": text,
                "xref": "paper",
                "x": 0,
                "y": n_vectors,
                "yshift": 18,
                "showarrow": False,
            }
        )
    if note:
        middle = {"xref": "paper", "yref": "paper", "x": 0.5, "y": 0.3, "showarrow": False}
        words.append({"text": note, "bgcolor": theme.PAPER, "borderpad": 6, **middle})
    return words


def _queries(
    rows: NDArray,
    outputs: NDArray,
    costs: NDArray,
    name: str,
    slot: int,
    n_points: int,
    symbol: str | None = None,
) -> theme.Trace:
    return theme.scatter(
        n_points,
        x=theme.light(outputs[rows]),
        y=theme.light(costs[rows]),
        customdata=rows.astype(np.int32),
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
