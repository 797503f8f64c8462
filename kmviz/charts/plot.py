"""`kmviz.plot`: one call from a record, a study, a comparison or a machine to a picture.

The charts are those of the app, with real colours, for a notebook or a script.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kmviz.charts import Chart, anytime, compare, maps, nsv, plotly, walk
from kmviz.charts.plane import Plane, grid_over
from kmviz.charts.theme import PALETTES
from kmviz.evaluation.advice import best_method
from kmviz.evaluation.catalogue import family_of, title_of
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
    if theme not in PALETTES:
        raise ValueError(f"theme must be one of {', '.join(PALETTES)}; got {theme!r}.")
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
    return plotly.figure(draw(thing), 0, theme)


def kinds_of(thing: Any) -> dict[str, Callable[[Any], Chart]]:
    """Return how a thing can be drawn, by name; nothing where it cannot."""
    if isinstance(thing, AnytimeTrace):
        return {"bounds": lambda trace: anytime.bounds(trace, [trace.stop])}
    if isinstance(thing, NSVTrace):
        return {"trajectory": nsv.trajectory}
    if isinstance(thing, TreeTrace):
        return {"path": walk.running_sum}
    if isinstance(thing, Trace) and hasattr(thing, "partial"):
        return {"trajectory": walk.running_sum}
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


def _of_readings(is_nsv: bool) -> dict[str, Callable[[Any], Chart]]:
    """Return how readings are drawn; those of nearest support vectors have one more."""
    return {"effort": _effort} | ({"figure_3": nsv.figure_3} if is_nsv else {})


def _effort(reading: Reading) -> Chart:
    sides = np.where(reading.exact > 0, 1, -1)
    return maps.effort(reading.exact, reading.steps, sides, ("negative", "positive"))


def _effort_map(study: Study) -> Chart:
    """Return the kernel evaluations of the study's queries over the plane."""
    X, steps = np.asarray(study.X, dtype=np.float64), study.read().steps
    return maps.effort_points(X, steps, ("first column", "second column"))


def _frontier(table: pd.DataFrame) -> Chart:
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


def _boundary(machine: KernelMachine) -> Chart:
    """The plane of a machine: its support vectors, and its sign on a grid around them."""
    vectors = np.asarray(machine.vectors, dtype=np.float64)
    x, y, rows = grid_over(vectors, GRID)
    plane = Plane(
        points=vectors, labels=np.where(machine.beta > 0, 1, -1), vectors=vectors,
        weights=machine.beta, queries=vectors, class_names=("negative", "positive"),
        axes=("first column", "second column"), x=x, y=y,
        values=machine.decision_function(rows).reshape(GRID, GRID),
    )  # fmt: skip
    return maps.boundary(plane)
