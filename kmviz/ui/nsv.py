"""What the Nearest support vectors page reads: cached partial outputs, read under any window."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray
from sklearn.base import clone

from kmviz.figures import nsv as figures
from kmviz.figures.nsv import Efforts
from kmviz.methods.nsv import NSVClassifier
from kmviz.traces import NSVTrace
from kmviz.ui.params import Choice, Flag, Number
from kmviz.ui.plane import plane
from kmviz.ui.problem import Problem

ORDERS = {
    "nearest": "nearest first, by PCA",
    "tug_of_war": "tug of war between the classes",
    "exact": "nearest first, by the kernel itself",
}
STARTS = {"empty": "empty, as published", "approximate": "the approximation of all terms"}

OWN = {
    "w": Number(10, 0, 200),
    "q": Number(20, 1, 64),
    "order": Choice(*ORDERS),
    "filter": Flag(True),
    "start": Choice(*STARTS),
}

#: Bytes of partial outputs that one entry of the cache may take; more queries are sampled.
ENTRY_BYTES = 40 * 2**20

WINDOWS = (0, 2, 10, 50, 200)
COMPARED = 500


@dataclass(frozen=True)
class Setting:
    """What the controls say."""

    w: int
    q: int
    order: str
    filter: bool
    start: str

    @property
    def fitted(self) -> tuple[int, str, str]:
        """The part that needs partial outputs of its own."""
        return self.q, self.order, self.start


@dataclass(frozen=True, eq=False)
class Partials:
    """Partial outputs of test queries under one order, start and number of components."""

    classifier: NSVClassifier
    rows: NDArray[np.intp]
    heard: NDArray[np.float32]
    partial: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Reading:
    """All queries under one setting."""

    efforts: Efforts
    n_vectors: int
    overhead: float
    filtered: float

    @property
    def disagreements(self) -> int:
        return int(np.count_nonzero(~self.efforts.agrees))

    @property
    def speedup(self) -> float:
        return self.n_vectors / float(self.efforts.steps.mean())


def setting() -> Setting:
    """Return what the controls say now."""
    return Setting(**{name: st.session_state[name] for name in OWN})


def read(problem: Problem, chosen: Setting) -> Reading:
    """Read the cached partial outputs under the window and the filter chosen."""
    return _reading(_partials(problem.key, *chosen.fitted, problem), problem.exact, chosen)


def trace(problem: Problem, chosen: Setting) -> NSVTrace:
    """Return the record of the selected query."""
    return _engine(_partials(problem.key, *chosen.fitted, problem), chosen).trace(
        _machine_rows(problem)[problem.query]
    )


def effort_figure(problem: Problem, reading: Reading) -> Any:
    """Draw every query's effort."""
    return figures.effort(reading.efforts, problem.query)


def trajectory_figure(problem: Problem, record: NSVTrace) -> Any:
    """Draw the walk of the query."""
    return figures.trajectory(record, problem.data.class_names, problem.machine.beta)


def neighbors_figure(problem: Problem, record: NSVTrace) -> Any:
    """Draw the support vectors touched: as images, or on the map."""
    if problem.image_shape is None:
        return figures.neighbor_map(record, plane(problem), problem.query)
    machine = problem.machine
    return figures.neighbor_images(
        record, problem.x, machine.vectors, machine.beta, problem.image_shape,
        problem.data.class_names,
    )  # fmt: skip


def tradeoff_figure(problem: Problem, chosen: Setting, reading: Reading) -> Any:
    """Draw m/k against disagreements for a handful of settings, and the present one."""
    share = 100.0 * reading.disagreements / len(reading.efforts.rows)
    present, few = (reading.speedup, share), min(COMPARED, len(problem.exact))
    title = None
    if few < len(reading.efforts.rows):
        title = f"Lines: a sample of {few:,} queries; the star: {len(reading.efforts.rows):,}"
    return figures.tradeoff(_tradeoff(problem.key, problem), present, title)


def metrics(problem: Problem, reading: Reading) -> list[tuple[str, str, str]]:
    """The page's metrics, each with its explanation."""
    steps, m = reading.efforts.steps, reading.n_vectors
    honest = m / (float(steps.mean()) + reading.overhead)
    n = len(steps)
    return [
        ("Vectors m", f"{m:,}", "Support vectors: kernel values of every exact answer."),
        ("Mean k", f"{steps.mean():,.1f}", "Steps a query: 1, and 1 for each vector touched."),
        ("Median k", f"{np.median(steps):,.0f}", "Half of the queries need no more steps."),
        ("m/k", f"{reading.speedup:.1f}x", "The paper's speedup: vectors over mean steps."),
        ("Honest speedup", f"{honest:.1f}x", "The same with projecting and ordering counted."),
        ("Disagreements", f"{reading.disagreements}", f"Of {n:,} queries: class differs from f's."),
        ("By the filter", f"{reading.filtered:.0%}", "Queries that the linear filter decides."),
    ]


def look_effort(reading: Reading) -> str:
    """What to look for in the effort chart."""
    steps, size = reading.efforts.steps, np.abs(reading.efforts.exact)
    nearest, fifth = np.argsort(size, kind="stable"), max(1, len(size) // 5)
    hard_mean = float(steps[nearest[:fifth]].mean())
    easy_mean = float(steps[nearest[fifth:]].mean()) if len(size) > fifth else hard_mean
    is_sample = reading.efforts.rows[-1] >= len(steps)
    sampled = f" (a sample of {len(steps):,} queries)" if is_sample else ""
    if hard_mean > 1.2 * easy_mean:
        return (
            f"Effort follows difficulty: the fifth of the queries nearest to f = 0 take "
            f"{hard_mean:.0f} steps on average, the others {easy_mean:.0f}{sampled}. Click a point "
            "and it becomes the query."
        )
    if reading.speedup < 3 and reading.filtered < 0.5:
        return (
            f"Every query takes nearly all of the {reading.n_vectors:,} support vectors"
            f"{sampled}: this kernel is so wide that each of them matters to each query, and no "
            "early sum is safe. Let the sum start from the approximation, take a larger gamma, or "
            "look at digits."
        )
    return (
        f"Nearly every query takes the same few steps here ({easy_mean:.1f} on average, "
        f"{hard_mean:.1f} near f = 0{sampled}). Start from an empty sum without the filter to see "
        "effort follow difficulty. Click a point and it becomes the query."
    )


def look_trajectory(record: NSVTrace) -> str:
    """What to look for in the walk."""
    right = (record.output > 0) == (record.exact > 0)
    end = "the exact machine says the same" if right else "the exact machine says the opposite"
    if record.filtered:
        return f"The filter settled this query before the first support vector; {end}."
    if record.stop == 0:
        return f"The approximation of all terms was already beyond the thresholds; {end}."
    if record.stop == record.n_steps:
        return "g stays inside the band to the last support vector: its sum is f(x) itself."
    return (
        f"g leaves the band at step {record.stop:,}: no calibration query of the other class ever "
        f"leaned that far so early, and {end}. The dimmed line is what it did not have to compute."
    )


def look_tradeoff(problem: Problem) -> str:
    """What to look for in the trade-off."""
    table = _tradeoff(problem.key, problem)
    best = table[table["disagreements"] <= table["disagreements"].quantile(0.25)]
    top = best.loc[best["speedup"].idxmax()]
    return (
        f"Down and to the right is better. Among the safest quarter of these settings "
        f"**{top['setting']}** with w = {top['window']:.0f} is the fastest: m/k "
        f"{top['speedup']:.0f} with {top['disagreements']:.2f}% disagreement."
    )


def estimator(problem: Problem, chosen: Setting) -> bytes:
    """The fitted classifier as a .skops file."""
    partials = _partials(problem.key, *chosen.fitted, problem)
    found = copy(partials.classifier)
    found.set_params(window=chosen.w, linear_filter=chosen.filter)
    return problem.packed(found._adopt([_engine(partials, chosen)]))


def code(problem: Problem, chosen: Setting) -> str:
    """The lines of Python that rebuild the page."""
    options = (
        f'window={chosen.w}, n_components={chosen.q}, order="{chosen.order}", '
        f'linear_filter={chosen.filter}, start="{chosen.start}", random_state=0'
    )
    return problem.code + "\n".join(
        [
            "",
            "from sklearn.base import clone",
            "from kmviz import NSVClassifier",
            "",
            f"clf = NSVClassifier(clone(svc), {options})",
            "clf.fit(X, y)",
            f"trace = clf.trace(X_test[{problem.query}])",
            "",
        ]
    )


def _machine_rows(problem: Problem) -> NDArray[Any]:
    return problem.svc_rows(problem.data.X_test)


def _engine(partials: Partials, chosen: Setting) -> Any:
    """The fitted engine with another window, and perhaps without its filter."""
    engine = copy(partials.classifier.engines_[0])
    engine.tables = engine.tables._replace(filtered=engine.tables.filtered and chosen.filter)
    engine.set_limits(chosen.w, partials.classifier.margin_)
    return engine


def _reading(partials: Partials, exact: NDArray[Any], chosen: Setting) -> Reading:
    engine = _engine(partials, chosen)
    limits, t = engine.limits, engine.tables
    heard, exact = partials.heard, exact[partials.rows]
    low, high = limits.low.astype(np.float32), limits.high.astype(np.float32)
    outside = (partials.partial < low) | (partials.partial > high)
    outside[:, -1] = True
    stop = outside.argmax(axis=1)
    output = np.take_along_axis(partials.partial, stop[:, None], axis=1)[:, 0]
    for s in reversed(range(len(t.ends))):
        early = (heard[:, 1 + s] < limits.stage_low[s]) | (heard[:, 1 + s] > limits.stage_high[s])
        stop[early], output[early] = 0, heard[early, 1 + s]
    filtered = (heard[:, 0] < limits.filter_low) | (heard[:, 0] > limits.filter_high)
    filtered &= t.filtered
    stop[filtered], output[filtered] = 0, heard[filtered, 0]
    efforts = Efforts(partials.rows, exact, 1 + stop, (output > 0) == (exact > 0), low, high)
    return Reading(efforts, len(t.beta), engine.overhead, float(filtered.mean()))


@st.cache_resource(
    max_entries=4, show_spinner="Cross-fitting: machines that have not seen a tenth of the rows …",
    show_time=True,
)  # fmt: skip
def _calibrated(key: tuple, _problem: Problem) -> tuple[NSVClassifier, Any]:
    clf = NSVClassifier(clone(_problem.estimator), random_state=0)
    problems = clf._train(_problem.data.X_train, _problem.data.y_train)
    seed = np.random.RandomState(0).randint(2**31 - 1)  # as fit draws it
    return clf, clf._calibrated(problems, None, seed)


def _assembled(problem: Problem, q: int, order: str, start: str) -> NSVClassifier:
    clf, calibrated = _calibrated(problem.key, problem)
    found = copy(clf).set_params(n_components=q, order=order, start=start)
    return found._assemble(calibrated)


@st.cache_resource(max_entries=4, show_spinner="Measuring partial outputs …", show_time=True)
def _partials(key: tuple, q: int, order: str, start: str, _problem: Problem) -> Partials:
    clf = _assembled(_problem, q, order, start)
    most = max(50, ENTRY_BYTES // (4 * (clf.machine_.n_vectors + 1)))
    rows = _machine_rows(_problem)
    taken = np.arange(len(rows))
    if len(rows) > most:
        taken = np.linspace(0, len(rows) - 1, most).astype(np.intp)
    return _walked(clf, rows, taken)


def _walked(clf: NSVClassifier, rows: NDArray[Any], taken: NDArray[np.intp]) -> Partials:
    heard, partial, _, _ = clf.engines_[0].whole(rows[taken])
    return Partials(clf, taken, heard.astype(np.float32), partial.astype(np.float32))


@st.cache_data(max_entries=8, show_spinner="Comparing settings …", show_time=True)
def _tradeoff(key: tuple, _problem: Problem) -> pd.DataFrame:
    compared = {
        "published, q = 20": (20, "nearest", "empty"),
        "published, q = 5": (5, "nearest", "empty"),
        "tug of war": (20, "tug_of_war", "empty"),
        "exact order": (20, "exact", "empty"),
        "from the approximation": (20, "nearest", "approximate"),
    }
    rows = _machine_rows(_problem)
    taken = np.linspace(0, len(rows) - 1, min(COMPARED, len(rows))).astype(np.intp)
    found = []
    for name, fitted in compared.items():
        partials = _walked(_assembled(_problem, *fitted), rows, taken)
        for with_filter in (True, False):
            label = name if with_filter else f"{name}, no filter"
            for w in WINDOWS:
                chosen = Setting(w, *fitted[:2], with_filter, fitted[2])
                reading = _reading(partials, _problem.exact, chosen)
                share = 100.0 * reading.disagreements / len(taken)
                found.append((label, w, reading.speedup, share))
    return pd.DataFrame(found, columns=["setting", "window", "speedup", "disagreements"])
