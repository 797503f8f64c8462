"""`kmviz.plot`: one call from a record, a study, a comparison or a machine to a picture.

The charts are those of the app, with real colours, for a notebook or a script.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kmviz.charts import Chart, Images, anytime, nsv, plotly, walk
from kmviz.evaluation.advice import best_method
from kmviz.evaluation.catalogue import family_of, title_of
from kmviz.figures import boundary, compare, effort, theme as look
from kmviz.machines import KernelMachine
from kmviz.methods.nsv.study import NSVStudy
from kmviz.methods.study import Study
from kmviz.traces import AnytimeTrace, NSVReading, NSVTrace, Reading, Trace, TreeTrace

#: Points of the grid that a boundary is drawn on, each way.
GRID = 120


def plot(thing: Any, kind: str | None = None, theme: str = "light") -> go.Figure:
    """Draw what can be drawn of a result.

    Parameters
    ----------
    thing : trace, reading, study, comparison or machine
        `clf.trace(x)`, `clf.study(X)` or one of its readings, the table of `kmviz.compare`, or a
        `KernelMachine` of two columns (`clf.machine_`).
    kind : str, optional
        A trace: "trajectory", "bounds" (anytime) or "path" (tree). A study or reading: "effort",
        "effort_map" of a study of two columns, or "figure_3" of nearest support vectors (f against
        k on linear axes, as in the paper). A comparison: "frontier". A machine:
        "boundary". None takes the first that fits.
    theme : {"light", "dark"}

    Returns
    -------
    plotly figure

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> import kmviz
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> clf = kmviz.NSVClassifier(random_state=0).fit(X, y)
    >>> figure = kmviz.plot(clf.trace(X[0]))
    >>> figure.layout.yaxis.title.text
    'partial sum g'
    """
    if theme not in look.THEMES:
        raise ValueError(f"theme must be one of {', '.join(look.THEMES)}; got {theme!r}.")
    kinds = kinds_of(thing)
    if not kinds:
        raise TypeError(
            f"There is no picture of a {type(thing).__name__}; give a trace, a study or a reading, "
            "the table of kmviz.compare, or a KernelMachine of two columns."
        )
    if kind is not None and kind not in kinds:
        known = ", ".join(map(repr, kinds))
        raise ValueError(f"kind of a {type(thing).__name__} must be one of {known}; got {kind!r}.")
    draw = kinds[kind] if kind is not None else next(iter(kinds.values()))
    drawn = draw(thing)
    if isinstance(drawn, Chart | Images):
        return plotly.figure(drawn, 0, theme)
    return look.coloured(drawn, theme)


def kinds_of(thing: Any) -> dict[str, Callable[[Any], go.Figure]]:
    """Return how a thing can be drawn, by name; nothing where it cannot."""
    if isinstance(thing, AnytimeTrace):
        return {"bounds": lambda trace: anytime.bounds(trace, [trace.stop])}
    if isinstance(thing, NSVTrace):
        return {"trajectory": nsv.trajectory}
    if isinstance(thing, TreeTrace):
        return {"path": walk.running_sum}
    if isinstance(thing, Trace) and hasattr(thing, "partial"):
        return {"trajectory": _sum}
    if isinstance(thing, Reading) and thing.outputs.ndim == 1:
        return _of_readings(isinstance(thing, NSVReading))
    if isinstance(thing, Study):
        found = _of_readings(isinstance(thing, NSVStudy)) if thing.exact.ndim == 1 else {}
        flat = {n: lambda study, draw=draw: draw(study.read()) for n, draw in found.items()}
        return flat | ({"effort_map": _effort_map} if np.shape(thing.X)[1:] == (2,) else {})
    if isinstance(thing, pd.DataFrame) and {"honest_speedup", "accuracy"} <= set(thing.columns):
        return {"frontier": _frontier}
    if isinstance(thing, KernelMachine) and thing.n_features == 2:
        return {"boundary": _boundary}
    return {}


def _of_readings(walks: bool) -> dict[str, Callable[[Any], go.Figure]]:
    """How readings are drawn; `walks`: those of nearest support vectors."""
    return {"effort": _effort} | ({"figure_3": nsv.figure_3} if walks else {})


def _sum(trace: Any) -> go.Figure:
    """A running sum beside the exact output."""
    k = np.arange(len(trace.partial))
    line = {"color": look.COLORS[0], "width": 2}
    level = {"color": look.INK, "dash": "dash", "width": 1.5}
    traces = [
        look.scatter(len(k), x=k, y=look.light(trace.partial), mode="lines", name="running sum",
                     line=line),
        look.trace("scatter", x=k[[0, -1]], y=look.light([trace.exact] * 2), mode="lines",
                   name="exact f(x)", line=level),
        look.star(trace.stop, trace.output, "the answer"),
    ]  # fmt: skip
    return look.figure(
        traces, "kernel values computed", "output", shapes=[look.line_at(y=0.0)]
    )  # fmt: skip


def _effort(reading: Reading) -> go.Figure:
    sides = np.where(reading.exact > 0, 1, -1)
    return effort.effort(reading.exact, reading.steps, sides, ("negative", "positive"))


def _effort_map(study: Study) -> go.Figure:
    """Kernel values per query over the plane."""
    X, steps = np.asarray(study.X, dtype=np.float64), study.read().steps
    rows = look.thinned(len(X))
    marker = {
        "color": look.light(steps[rows]), "colorscale": look.sequential_scale(), "size": 7,
        "showscale": True, "colorbar": {"title": {"text": "kernel values"}},
    }  # fmt: skip
    points = look.scatter(
        len(rows), x=look.light(X[rows, 0]), y=look.light(X[rows, 1]), mode="markers",
        marker=marker, name="queries", showlegend=False, hovertext=steps[rows].astype(str),
    )  # fmt: skip
    return look.figure([points], "first column", "second column", height=520)


def _frontier(table: pd.DataFrame) -> go.Figure:
    """Accuracy against what a query costs: in time where it was measured, else in kernel values."""
    timed = table["batch_us"].notna().any()
    values = table.loc["exact", "steps_mean"] / table["honest_speedup"]
    points = table.reset_index().assign(
        cost=(table["batch_us"] if timed else values).astype(float).to_numpy(),
        title=[title_of(name) for name in table.index],
        family=[family_of(name) for name in table.index],
        is_best=table.index == best_method(table),
    )
    unit = "microseconds per query, many at once" if timed else "kernel values per query"
    return compare.frontier(points[points["error"] == ""], unit)


def _boundary(machine: KernelMachine) -> go.Figure:
    """The plane of a machine: its support vectors, and its sign on a grid around them."""
    vectors = np.asarray(machine.vectors, dtype=np.float64)
    low, high = vectors.min(axis=0), vectors.max(axis=0)
    room = 0.1 * np.maximum(high - low, 1e-9)
    x, y = (np.linspace(low[i] - room[i], high[i] + room[i], GRID) for i in (0, 1))
    grid = np.column_stack([np.tile(x, GRID), np.repeat(y, GRID)])
    plane = boundary.Plane(
        points=vectors, labels=np.where(machine.beta > 0, 1, -1), vectors=vectors,
        weights=machine.beta, queries=vectors, class_names=("negative", "positive"),
        axes=("first column", "second column"), x=x, y=y,
        values=machine.decision_function(grid).reshape(GRID, GRID),
    )  # fmt: skip
    return boundary.boundary(plane, clickable=False)
