"""What the Nearest support vectors page shows: a study of the test queries, in words and charts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from kmviz.charts import nsv as charts
from kmviz.methods.nsv.study import MOST_BYTES
from kmviz.traces import NSVReading, NSVTrace
from kmviz.ui import nsv_calibration, two
from kmviz.ui.plane import plane
from kmviz.ui.runtime.fitted import show
from kmviz.ui.runtime.jobs import Cache
from kmviz.ui.shell import url
from kmviz.ui.shell.controls import draw, row
from kmviz.views.fitted import MOST_ROWS, Shown, kept_rows
from kmviz.views.problem import Problem

OWN = ("w", "q", "order", "filter", "start", *nsv_calibration.OWN, "a")

#: The trade-off: what is fitted for each pair of lines, the windows along them, queries asked.
COMPARED: dict[str, dict[str, Any]] = {
    "nearest, q = 20": {},
    "nearest, q = 5": {"n_components": 5},
    "tug of war, as published": {"order": "tug_of_war"},
    "exact order": {"order": "exact"},
    "from the approximation": {"start": "approximate"},
    "from reduced vectors": {"start": "reduced"},
}
WINDOWS = (0, 2, 10, 50, 200)
FEW = 500

_tables = Cache("nsv trade-off")


def draw_controls(problem: Problem) -> None:
    """Draw the page's choices; those of the calibration stand behind a button."""
    *places, last = row(8, 8, 11, 11, 9)
    for name, place in zip(("filter", "q", "order", "start"), places):
        draw(name, place)
    nsv_calibration.draw_all(problem, last)


def shown(problem: Problem, said: Mapping[str, Any] = url.PRESENT) -> Shown:
    """Return the method under the parameters that the controls say, with its study."""
    given = {"n_components": said["q"], "order": said["order"], "start": said["start"]}
    given |= nsv_calibration.chosen(said)
    if "max_disagreement" not in given:
        return _shown(problem, **given)
    return nsv_calibration.with_its_machine(_shown(problem, **given, **choice(said)))


def choice(said: Mapping[str, Any] = url.PRESENT) -> dict[str, Any]:
    """Return what the study reads again: window and filter."""
    return {"window": said["w"], "linear_filter": said["filter"]}


def side(problem: Problem, said: Mapping[str, Any]) -> two.Side:
    """Return what the page shows of the query under these choices."""
    now, chosen = shown(problem, said), choice(said)
    record, clf = trace(now, chosen), now.study.classifier(**chosen)
    picture = charts.trajectory(record, problem.query)
    return two.Side(now, now.study.read(**chosen), clf, record, picture)


def _shown(problem: Problem, most: int | None = None, **parameters: Any) -> Shown:
    usual = {"n_components": 20, "order": "nearest", "start": "empty", "random_state": 0}
    if problem.is_long:  # ten machines more would take the page too long
        usual["calibration"] = "left_out"
    taken = min(kept_rows(problem, MOST_BYTES), MOST_ROWS if most is None else most)
    return show(problem, "nsv", {**usual, **parameters}, taken, is_kept=most is None)


def trace(now: Shown, chosen: dict[str, Any]) -> NSVTrace:
    """Return the record of the selected query."""
    return now.study.classifier(**chosen).trace(now.problem.x)


def band(record: NSVTrace) -> tuple[Any, Any]:
    """Return the thresholds L_k and H_k around the walk."""
    return record.low, record.high


def neighbors_chart(problem: Problem, record: NSVTrace) -> Any:
    """Return the support vectors used: as images, or on the map."""
    machine, images = problem.machine, None
    if problem.image_shape:
        rows = np.vstack([problem.x[None], machine.vectors])
        images = rows.reshape(-1, *problem.image_shape)
    return charts.neighbors(record, plane(problem), problem.query, machine.beta, images)


def tradeoff_chart(now: Shown, reading: NSVReading) -> Any:
    """Return the cost against the disagreements of some settings, and of the present one."""
    n = len(now.rows)
    present = (cost(reading), 100.0 * reading.disagreements / n)
    few = min(FEW, n)
    title = f"Lines: a sample of {few:,} queries; the star: {n:,}" if few < n else ""
    return charts.tradeoff(tradeoff(now.problem), present, title)


def cost(reading: NSVReading) -> float:
    """Return kernel evaluations per query, with the overhead in kernel evaluations."""
    return float(reading.steps.mean()) + reading.overhead


def tradeoff(problem: Problem) -> pd.DataFrame:
    """Return the cost and disagreements of every setting compared: a row for each window.

    They are measured once the page is drawn; until then there are no rows.
    """
    found = _tables.later(problem.key, lambda: _tradeoff(problem), "Comparing settings")
    return _tradeoff(problem, {}) if found is None else found


def _tradeoff(problem: Problem, compared: Mapping[str, Any] = COMPARED) -> pd.DataFrame:
    found = []
    for name, parameters in compared.items():
        now = _shown(problem, most=FEW, **parameters)
        for is_filtered in (True, False):
            for w in WINDOWS:
                chosen = {"window": w, "linear_filter": is_filtered}
                reading = now.study.read(**chosen)
                share = 100.0 * reading.disagreements / len(now.rows)
                found.append((name, is_filtered, w, cost(reading), share))
    columns = ["setting", "filter", "window", "cost", "disagreements"]
    return pd.DataFrame(found, columns=columns)


def metrics(
    now: Shown, reading: NSVReading, said: Mapping[str, Any] = url.PRESENT
) -> list[tuple[str, str, str]]:
    """The page's metrics, each with its explanation."""
    m, n, found = now.problem.n_vectors, len(now.rows), now.figures(reading)
    return [
        ("Vectors m", f"{m:,}", "Support vectors: kernel values of every exact answer."),
        (
            "Mean k",
            f"{found['steps_mean']:,.1f}",
            "Steps per query: 1 for the start, and 1 for each vector asked.",
        ),
        ("Median k", f"{found['steps_median']:,.0f}", "Half of the queries need no more steps."),
        ("m/k", f"{found['speedup']:.1f}x", "The paper's speedup: vectors over mean steps."),
        (
            "Honest speedup",
            f"{found['honest_speedup']:.2g}x",
            "Vectors over mean steps with the overhead: projecting and ordering, in kernel "
            "evaluations.",
        ),
        ("Disagreements", f"{reading.disagreements}", f"Of {n:,} queries: class differs from f's."),
        (
            "By the filter",
            f"{reading.filtered.mean():.0%}",
            "Queries that the linear filter decides.",
        ),
    ]


def look_effort(now: Shown, reading: NSVReading) -> str:
    """What to look for in the effort chart."""
    steps, size = reading.steps, np.abs(reading.exact)
    nearest, fifth = np.argsort(size, kind="stable"), max(1, len(size) // 5)
    hard_mean = float(steps[nearest[:fifth]].mean())
    easy_mean = float(steps[nearest[fifth:]].mean()) if len(size) > fifth else hard_mean
    is_sample = len(steps) < len(now.problem.data.X_test)
    sampled = f" (a sample of {len(steps):,} queries)" if is_sample else ""
    filtered = ", but for those at k = 1: the filter decided them" * bool(reading.filtered.any())
    if hard_mean > 1.2 * easy_mean:
        return (
            f"Effort follows difficulty: the fifth of the queries nearest to f = 0 take "
            f"{hard_mean:.0f} steps on average, the others {easy_mean:.0f}{sampled}. Each point "
            f"stands where its sum left the band{filtered}. Click one and it becomes the query."
        )
    if now.figures(reading)["speedup"] < 3 and reading.filtered.mean() < 0.5:
        return (
            f"Every query takes nearly all of the {now.problem.n_vectors:,} support vectors"
            f"{sampled}: this kernel is so wide that each of them matters to each query, and no "
            "early sum is safe. Let the sum start from the approximation, take a larger gamma, or "
            "look at digits."
        )
    return (
        f"Nearly every query takes about as many steps ({easy_mean:.1f} on average, "
        f"{hard_mean:.1f} near f = 0{sampled}). Start from an empty sum without the filter to see "
        "effort follow difficulty. Click a point and it becomes the query."
    )


def look_tradeoff(problem: Problem) -> str:
    """What to look for in the trade-off."""
    table = tradeoff(problem)
    if table.empty:
        return "Other settings are measured next: down and to the left will be better."
    best = table[table["disagreements"] <= table["disagreements"].quantile(0.25)]
    top = best.loc[best["cost"].idxmin()]
    return (
        "Down and to the left is better; along a line w grows, a dotted one has no linear filter. "
        f"Among the safest quarter of these settings **{top['setting']}** with "
        f"w = {top['window']:.0f} costs least: {top['cost']:.3g} kernel evaluations per query, "
        f"overhead included, of {problem.n_vectors:,}, with {top['disagreements']:.2f}% of the "
        "answers different. These are test queries: choose a setting on training rows, or promise "
        "a rate with `max_disagreement`."
    )
