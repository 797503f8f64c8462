"""What the Anytime bounds page reads: fitted orders, one query's trace, all orders compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import streamlit as st
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator

from kmviz.figures import anytime as figures
from kmviz.figures.anytime import OrderRecord
from kmviz.methods.anytime import AnytimeClassifier
from kmviz.methods.anytime.basis import WIDER
from kmviz.methods.anytime.spectral import quadratic
from kmviz.traces import AnytimeTrace
from kmviz.ui import state
from kmviz.ui.params import Choice, Number
from kmviz.ui.problem import Problem

ORDERS = {
    "min_wz": "min_wz: the vector that leaves least of W",
    "given": "given: support vectors in file order",
    "sgma": "sgma: the vector that leaves least of K",
    "min_wz_n": "min_wz_n: min_wz among training rows too",
    "mean_lh_n": "mean_lh_n: tuned on a sample of queries",
    "hybrid": "hybrid: min_wz_n, ties broken by mean_lh_n",
    "spectral": "spectral: eigenvectors (degree-2 kernels)",
}

#: Queries that tune an order (about), queries that compare orders, steps compared.
TUNED, COMPARED, STEPS = 200, 300, 200

OWN = {"basis": Choice(*ORDERS), "step": Number(5, 0, 20_000)}


@dataclass(frozen=True, eq=False)
class Reading:
    """One order on all test queries."""

    classifier: AnytimeClassifier
    steps: NDArray[np.int32]
    sign_changes: int

    @property
    def n_steps(self) -> int:
        return self.classifier.engines_[0].n_steps


def choices(problem: Problem) -> list[str]:
    """The orders that this machine can have; corrects a choice that it cannot."""
    names = [name for name in ORDERS if name != "spectral" or quadratic(problem.machine.kernel)]
    if st.session_state["basis"] not in names:
        state.replace("basis", names[0])
    return names


def read(problem: Problem, order: str) -> Reading:
    """Return the order on all test queries, from the cache where it is there."""
    return _read(problem.key, order, problem)


def trace(problem: Problem, order: str) -> AnytimeTrace:
    """Return the record of the selected query."""
    return _trace(problem.key, order, problem.query, problem)


def compared(problem: Problem) -> dict[str, OrderRecord]:
    """Return every order's width and share decided over the first steps."""
    return _compared(problem.key, problem)


def steps_figure(problem: Problem, order: str) -> Any:
    """Draw every query's effort; the same figure while only the step moves."""
    return _steps_figure(problem.key, order, problem.query, problem)


def orderings_figure(problem: Problem, order: str) -> Any:
    """Draw all orders; the same figure while only the step moves."""
    return _orderings_figure(problem.key, order, problem)


def sentence(problem: Problem, record: AnytimeTrace, step: int) -> str:
    """Say what is known of f(x) after `step` kernel values."""
    low, high = record.lower[step], record.upper[step]
    digits = next((n for n in range(4, 12) if f"{low:.{n}g}" != f"{high:.{n}g}"), 12)
    ends = f"[{low:.{digits}g}, {high:.{digits}g}]"
    text = f"After **{step} kernel values** we know that f(x) is in **{ends}**"
    if figures.is_certain(record, step):
        name = problem.names[int(low > 0)]
        return f"{text}: the class is **{name}**, for certain."
    return f"{text}: it holds 0, so both classes are still possible."


def closing(record: AnytimeTrace) -> str:
    """Say which of the two residuals did more to close the gap."""
    k = record.stop
    machine = record.w_rest[k] / max(record.w_rest[0], 1e-300)
    query = float(np.sqrt(record.residual_sq[k] / max(record.residual_sq[0], 1e-300)))
    left = f"{machine:.1%} of the machine W and {query:.1%} of the query were left"
    if not figures.is_certain(record, k):
        return f"After step {k} {left}: too much for a certain sign, so the exact sum was taken."
    who = "the machine's" if machine < query else "the query's"
    return (
        "The width of the interval is what is left of the machine times what is left of the "
        f"query. At step {k}, where the sign became certain, {left}: here {who} residual did more "
        "to close it. Move the step: the interval never widens and never lets go of the dashed "
        "line."
    )


def metrics(problem: Problem, reading: Reading) -> list[tuple[str, str, str]]:
    """The page's metrics."""
    mean, m = float(reading.steps.mean()), problem.n_vectors
    return [
        ("Mean kernel values", f"{mean:,.1f}", f"Of {m:,} that the exact machine takes."),
        ("Median", f"{np.median(reading.steps):,.0f}", "Half of the queries need no more."),
        ("Fewer by", f"{m / max(mean, 1e-9):.1f}x", "Support vectors over mean kernel values."),
        (
            "Signs changed",
            f"{reading.sign_changes}",
            f"Of {len(reading.steps):,} test queries; the bounds allow none.",
        ),
    ]


def look(reading: Reading, problem: Problem) -> str:
    """What to look for in the distribution of k."""
    far = np.abs(problem.exact) > np.median(np.abs(problem.exact))
    if not far.any():
        return "All queries lie equally far from 0. Click a point to follow it above."
    near_mean, far_mean = reading.steps[~far].mean(), reading.steps[far].mean()
    if far_mean < 0.9 * near_mean:
        return (
            f"Effort follows difficulty: the half of the queries far from 0 take {far_mean:.0f} "
            f"kernel values on average, the half near it {near_mean:.0f}. Click a point to follow "
            "it above."
        )
    return (
        "Here easy queries cost nearly as much as hard ones "
        f"({far_mean:.0f} against {near_mean:.0f} kernel values): the basis must explain most of "
        "W before any interval is narrow. Try another basis. Click a point to follow it above."
    )


def best(records: dict[str, OrderRecord]) -> str:
    """What to look for among the orders."""
    score = {name: (-r.decided.sum(), r.width[-1]) for name, r in records.items()}
    first, last = min(score, key=score.__getitem__), max(score, key=score.__getitem__)
    length = max(len(r.decided) for r in records.values()) - 1
    if not any(r.decided.any() for r in records.values()):
        return (
            f"No order decides a single query within {length} steps: this machine's W needs "
            f"nearly all its vectors. **{first}** has the narrowest interval by then."
        )
    if score[first] == score[last]:
        return "All orders do the same here: this machine has too few vectors to tell them apart."
    return (
        f"On this machine **{first}** decides soonest and **{last}** last. A narrow mean interval "
        "is not the aim in itself: a query is done once its interval leaves 0 behind."
    )


def estimator(problem: Problem, order: str) -> bytes:
    """The fitted classifier as a .skops file."""
    return problem.packed(read(problem, order).classifier)


def code(problem: Problem, order: str, step: int) -> str:
    """The lines of Python that rebuild the page."""
    options = f"order={order!r}"
    if order in WIDER:
        every = _every(len(problem.data.X_train))
        options += f", query_sample=X[::{every}], random_state=0"
    return problem.code + "\n".join(
        [
            "",
            "from sklearn.frozen import FrozenEstimator",
            "from kmviz import AnytimeClassifier",
            "",
            f"clf = AnytimeClassifier(FrozenEstimator(svc), {options})",
            "clf.fit(X)",
            f"lower, upper = clf.decision_interval(X_test, {step})",
            f"trace = clf.trace(X_test[{problem.query}])",
            "",
        ]
    )


def _fitted(problem: Problem, order: str, max_steps: int | None = None) -> AnytimeClassifier:
    rows = problem.data.X_train
    clf = AnytimeClassifier(
        FrozenEstimator(problem.estimator), order, query_sample=rows[:: _every(len(rows))],
        max_steps=max_steps, random_state=0,
    )  # fmt: skip
    return clf.fit(rows)


def _every(n_rows: int) -> int:
    """Of how many rows one tunes an order."""
    return max(1, n_rows // TUNED)


@st.cache_resource(max_entries=8, show_spinner="Ordering the basis …", show_time=True)
def _read(key: tuple, order: str, _problem: Problem) -> Reading:
    clf = _fitted(_problem, order)
    output, steps = clf.decision_function(_problem.data.X_test), clf.steps(_problem.data.X_test)
    changes = int(np.count_nonzero((output > 0) != (_problem.exact > 0)))
    return Reading(clf, steps.astype(np.int32), changes)


@st.cache_resource(max_entries=32, show_spinner=False)
def _trace(key: tuple, order: str, query: int, _problem: Problem) -> AnytimeTrace:
    found = read(_problem, order).classifier.trace(_problem.data.X_test[query])
    return cast(AnytimeTrace, found)


@st.cache_resource(max_entries=8, show_spinner="Comparing all orders …", show_time=True)
def _compared(key: tuple, _problem: Problem) -> dict[str, OrderRecord]:
    rows = _problem.data.X_test[:COMPARED]
    records: dict[str, Any] = {}
    for order in ORDERS:
        if order == "spectral" and not quadratic(_problem.machine.kernel):
            continue
        lower, upper = _fitted(_problem, order, STEPS).bounds(rows)
        decided = ((lower > 0) | (upper < 0)).mean(axis=0)
        records[order] = OrderRecord(
            (upper - lower).mean(axis=0).astype(np.float32), decided.astype(np.float32)
        )
    return records


@st.cache_resource(max_entries=16, show_spinner=False)
def _steps_figure(key: tuple, order: str, query: int, _problem: Problem) -> Any:
    data = _problem.data
    low, high = data.class_names
    return figures.steps(
        _problem.exact, read(_problem, order).steps, data.y_test, (low, high), query,
        _problem.n_vectors,
    )  # fmt: skip


@st.cache_resource(max_entries=16, show_spinner=False)
def _orderings_figure(key: tuple, order: str, _problem: Problem) -> Any:
    return figures.orderings(compared(_problem), order)
