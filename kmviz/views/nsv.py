"""Nearest support vectors: what the page shows, from the values of its controls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial import cKDTree

from kmviz.charts import Chart, Images, nsv as charts
from kmviz.charts.plane import Plane
from kmviz.machines import KernelMachine
from kmviz.methods.nsv.study import MOST_BYTES
from kmviz.methods.promise import rows_needed
from kmviz.traces import Frames
from kmviz.views.controls import NONE, parameters
from kmviz.views.fitted import MOST_ROWS, MethodView, Shown, kept_rows
from kmviz.views.problem import Problem

#: What to notice in the pictures: where effort differs, where every query is dear, where all agree.
FOLLOWS = (
    "The fifth of the queries nearest to f = 0 take {hard:.0f} steps on average, the others "
    "{easy:.0f}{sample}. Each point stands where its partial sum left the undecided region"
    "{filtered}; click one to follow it."
)
FILTERED = ", except at k = 1, where the filter decided them"
WIDE = (
    "Every query takes nearly all of the {m:,} support vectors{sample}: this kernel is so wide "
    "that each of them matters. Start the sum from the approximation, or take a larger gamma."
)
EVEN = (
    "Nearly every query takes the same number of steps ({easy:.1f} on average, {hard:.1f} near "
    "f = 0{sample}). Start from an empty sum without the filter to see hard queries take more."
)
SAMPLE = " (a sample of {n:,} queries)"
#: What to notice in the trade-off.
TRADEOFF = (
    "Down and to the left is better: among the safest quarter of these settings "
    "**{setting}** with w = {window:.0f} is the cheapest, with {cost:.3g} of {m:,} kernel "
    "evaluations per query and {disagreements:.2f}% disagreements. These are test queries: choose "
    "a setting on training rows, or promise a rate with `max_disagreement`."
)
NO_TRADEOFF = "Other settings are measured next: down and to the left is better."
TRADEOFF_SAMPLE = "Lines: a sample of {few:,} queries; the star: {n:,}"
TOO_FEW = (
    "A promise of {rate:.1%} takes {needed:,} rows that set nothing, and a quarter of these "
    "training rows is {held:,}: nothing is promised. Take more rows or a larger share."
)

#: Where the slider may stand: finely where a step more still changes something.
WINDOWS = (*range(21), *range(25, 51, 5), *range(60, 101, 10), *range(125, 201, 25))
#: The trade-off: what is fitted for each pair of lines, the windows along them, queries at most.
COMPARED: dict[str, dict[str, Any]] = {
    "nearest, q = 20": {},
    "nearest, q = 5": {"n_components": 5},
    "tug of war, as published": {"order": "tug_of_war"},
    "exact order": {"order": "exact"},
    "from the approximation": {"start": "approximate"},
    "from reduced vectors": {"start": "reduced"},
}
COMPARED_WINDOWS, FEW = (0, 2, 10, 50, 200), 500
#: What `NSVClassifier` holds out to prove a promise.
HELD_OUT = 0.25


def fitted_by(problem: Problem, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters of the estimator: those given, and what the page has for the others."""
    usual = {"n_components": 20, "order": "nearest", "start": "empty", "random_state": 0}
    if problem.is_long:  # ten SVMs more would take the page too long
        usual["calibration"] = "left_out"
    return {**usual, **given}


def given_by(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that the controls choose; window and filter only under a promise."""
    given = parameters("nsv", values)
    spare = {"margin"}  # which a promise chooses
    if given["max_disagreement"] == NONE:
        spare = {"max_disagreement", "confidence", *read_by(values)}
    usual = {"calibration": "cross_fit", "margin": NONE, "confidence": 0.95}
    return {n: v for n, v in given.items() if n not in spare and usual.get(n) != v}


def read_by(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the study reads again: window and filter."""
    return {"window": values["w"], "linear_filter": values["filter"]}


def most_rows(problem: Problem) -> int:
    """Return how many test rows are studied at most."""
    return min(kept_rows(problem, MOST_BYTES), MOST_ROWS)


def refused(problem: Problem, rate: Any, confidence: float) -> str:
    """Return why a rate cannot be promised, empty where it can."""
    if rate == NONE:
        return ""
    needed, held = rows_needed(rate, confidence), int(HELD_OUT * len(problem.data.X_train))
    return "" if needed <= held else TOO_FEW.format(rate=rate, needed=needed, held=held)


def over_its_svm(now: Shown) -> Shown:
    """Return a method that promises a rate, over the SVM trained without the rows held out."""
    fitted, problem = now.study.fitted, now.problem
    machine, X = fitted.machine_, problem.data.X_train
    if fitted.preprocessing_ is not None:  # its vectors are rows past the first steps
        rows = fitted.preprocessing_.transform(X)
        _, at = cKDTree(rows).query(machine.vectors)
        machine = KernelMachine(X[at], machine.beta, machine.bias, problem.machine.kernel)
    exact = machine.decision_function(problem.data.X_test)
    return replace(now, problem=replace(problem, key=now.key, machine=machine, exact=exact))


def live_charts(at: MethodView, frames: Frames) -> list[Chart | Images]:
    """Return every query where it stopped, and the selected one, by window."""
    query = at.now.problem.query
    return [
        charts.effort(frames, at.now.rows, query),
        charts.trajectory(at.trace, query, frames, _stops(at, frames)),
    ]


def _stops(at: MethodView, frames: Frames) -> np.ndarray:
    """Return where the query stops under each window."""
    now = at.now
    place = np.flatnonzero(now.rows == now.problem.query)
    if len(place):
        return frames.stop[:, place[0]]
    others = {"linear_filter": at.choice["linear_filter"]}
    readers = (now.study.classifier(window=window, **others) for window in frames.values)
    return np.array([reader.trace(now.problem.x).stop for reader in readers])


def numbers(now: Shown, frames: Frames) -> dict[str, Any]:
    """Return the figures under the slider, by window."""
    n, m, mean = len(now.rows), now.problem.n_vectors, frames.steps.mean(axis=1)
    differ = np.count_nonzero(~frames.agrees, axis=1)
    return {
        "Fewer kernel evaluations": [f"{m / k:,.1f}x" for k in mean],
        "Disagreements": [f"{d:,} of {n:,}" for d in differ],
        "Vectors m": f"{m:,}",
        "Mean k": [f"{k:,.1f}" for k in mean],
        "Median k": [f"{k:,.0f}" for k in np.median(frames.steps, axis=1)],
        "With overhead": [f"{m / k:,.2g}x" for k in mean + frames.overhead],
        "By the filter": [f"{share:.0%}" for share in frames.filtered.mean(axis=1)],
    }


def trajectory(at: MethodView) -> Chart:
    """Return the query under this setting alone."""
    return charts.trajectory(at.trace, at.now.problem.query)


def neighbors(at: MethodView, plane: Plane) -> Chart | Images:
    """Return the support vectors used: as images, or on the map."""
    problem, images = at.now.problem, None
    if problem.image_shape:
        rows = np.vstack([problem.x[None], problem.machine.vectors])
        images = rows.reshape(-1, *problem.image_shape)
    return charts.neighbors(at.trace, plane, problem.query, problem.machine.beta, images)


def cost(reading: Any) -> float:
    """Return kernel evaluations per query, with the overhead in kernel evaluations."""
    return float(reading.steps.mean()) + reading.overhead


def traded(methods: Iterable[tuple[str, Shown]]) -> pd.DataFrame:
    """Return the cost and disagreements of named settings: a row for each window."""
    found = []
    for name, now in methods:
        for is_filtered in (True, False):
            for window in COMPARED_WINDOWS:
                reading = now.study.read(window=window, linear_filter=is_filtered)
                share = 100.0 * reading.disagreements / len(now.rows)
                found.append((name, is_filtered, window, cost(reading), share))
    columns = ["setting", "filter", "window", "cost", "disagreements"]
    return pd.DataFrame(found, columns=columns)


def tradeoff(at: MethodView, table: pd.DataFrame) -> Chart:
    """Return the cost against the disagreements of the settings in a table, and of this one."""
    n, few = len(at.now.rows), min(FEW, len(at.now.rows))
    here = (cost(at.reading), 100.0 * at.reading.disagreements / n)
    title = TRADEOFF_SAMPLE.format(few=few, n=n) if few < n else ""
    return charts.tradeoff(table, here, title)


def hint(at: MethodView) -> str:
    """Say what to notice in the pictures."""
    now, reading, steps = at.now, at.reading, at.reading.steps
    nearest, fifth = np.argsort(np.abs(reading.exact), kind="stable"), max(1, len(steps) // 5)
    hard = float(steps[nearest[:fifth]].mean())
    easy = float(steps[nearest[fifth:]].mean()) if len(steps) > fifth else hard
    is_dear = now.figures(reading)["speedup"] < 3 and reading.filtered.mean() < 0.5
    text = FOLLOWS if hard > 1.2 * easy else WIDE if is_dear else EVEN
    sample = SAMPLE.format(n=len(steps)) if len(steps) < len(now.problem.data.X_test) else ""
    filtered = FILTERED if reading.filtered.any() else ""
    m = now.problem.n_vectors
    return text.format(hard=hard, easy=easy, sample=sample, filtered=filtered, m=m)


def hint_tradeoff(table: pd.DataFrame, m: int) -> str:
    """Say what to notice in the trade-off.

    Parameters
    ----------
    m : support vectors of the SVM
    """
    if table.empty:
        return NO_TRADEOFF
    best = table[table["disagreements"] <= table["disagreements"].quantile(0.25)]
    return TRADEOFF.format(m=m, **best.loc[best["cost"].idxmin()])
