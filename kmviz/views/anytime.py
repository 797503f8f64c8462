"""Anytime bounds: what the page shows, from the values of its controls."""

from __future__ import annotations

from collections.abc import Mapping
from time import thread_time
from typing import Any

import numpy as np
import pandas as pd

from kmviz.charts import Chart, Images, anytime as charts
from kmviz.evaluation.cost import timing_table
from kmviz.methods.anytime.spectral import quadratic
from kmviz.traces import AnytimeTrace, Closing, Frames
from kmviz.views.controls import CONTROLS
from kmviz.views.fitted import MethodView, Rows, Shown
from kmviz.views.problem import Problem

#: What is known at a step.
KNOWN = "After {k:,} kernel evaluation{s} f(x) is in {ends}: {answer}."
OPEN, CERTAIN = "both classes are still possible", "{name}, for certain"
#: What closes the interval.
CLOSED = (
    "The width of the interval is what is left of the SVM times what is left of the query. At step "
    "{k}, where the sign became certain, {svm:.1%} of the SVM's vector W and {query:.1%} of the "
    "query were left: here {who} residual did more to close it."
)
NOT_CLOSED = (
    "After step {k} {svm:.1%} of the SVM's vector W and {query:.1%} of the query were left: too "
    "much for a certain sign, so the exact sum was taken."
)
#: What to notice among all queries.
FOLLOWS = (
    "The half of the queries far from 0 take {far:.1f} kernel evaluations on average, the half "
    "near it {near:.1f}. Click a point to follow it above.{sample}"
)
EVEN = (
    "Easy queries cost nearly as much as hard ones here ({far:.1f} against {near:.1f} kernel "
    "evaluations): try another basis. Click a point to follow it above.{sample}"
)
ALIKE = "All queries lie equally far from 0. Click a point to follow it above."
SAMPLE = " A sample of {n:,} queries."
#: What to notice about time.
FASTER = "Here the certificate also saves time: {faster:.2g} times faster in batch."
SLOWER = (
    "Fewer kernel evaluations do not take less time here ({faster:.2g}x in batch): a triangular "
    "system is solved at each step, while the exact sum is one matrix product."
)
#: What to notice among the orders.
NO_ORDERS = "The orders are compared next: the sooner a line rises, the better its order."
NONE_DECIDES = (
    "No order decides a single query within {n} steps: this SVM needs nearly all its vectors. "
    "**{first}** has the narrowest interval by then."
)
SAME_ORDERS = "All orders do the same here: this SVM has too few vectors to tell them apart."
ORDERS = (
    "On these test queries **{first}** decides soonest and **{last}** last. A query is done once "
    "its interval leaves 0 behind, however wide the interval is."
)

#: Queries that tune an order (about), queries that compare orders, steps compared.
TUNED, COMPARED, STEPS = 200, 300, 200
#: Rows timed at once and one by one, and the seconds that each timing lasts at least.
TIMED, SINGLE, SHORT = 200, 25, 0.004
#: Steps up to which each has its place on the slider, and places for all those after them.
EACH, AFTER = 30, 20


def orders(problem: Problem) -> list[str]:
    """Return the orders that this SVM can have."""
    every = list(CONTROLS["basis"].options)
    return [one for one in every if one != "spectral" or quadratic(problem.machine.kernel)]


def fitted_by(order: str, sample: str = "train") -> dict[str, Any]:
    """Return the parameters of the estimator that an order of the page stands for."""
    if order in ("given", "sgma", "min_wz", "spectral"):
        return {"order": order}
    queries: Any = Rows("X_test") if sample == "test" else TUNED
    return {"order": order, "query_sample": queries, "random_state": 0}


def last_step(now: Shown) -> int:
    """Return the size of the basis."""
    return now.study.readings["max_steps"][-1]


def step_of(at: MethodView) -> int:
    """Return the step chosen, or else the one where the query's class becomes certain."""
    return min(at.values["step"] or at.trace.stop, last_step(at.now))


def positions(last: int) -> tuple[int, ...]:
    """Return the steps at which the slider may stand, whichever query is shown."""
    first = range(1, min(EACH, last) + 1)
    after = np.geomspace(min(EACH, last), last, AFTER + 1).round().astype(int).tolist()
    return tuple(sorted({*first, *after}))


def live_charts(at: MethodView, frames: Frames) -> list[Chart | Images]:
    """Return the query's interval and the steps of all queries, by step."""
    now, query = at.now, at.now.problem.query
    steps = charts.steps(frames, at.reading, now.rows, query, now.problem.n_vectors)
    return [charts.bounds(at.trace, frames.values, query), steps]


def numbers(at: MethodView, frames: Frames) -> dict[str, Any]:
    """Return the figures under the slider, by step."""
    reading, m = at.reading, at.now.problem.n_vectors
    mean = float(reading.steps.mean())
    return {
        "Fewer kernel evaluations": f"{m / max(mean, 1e-9):.1f}x",
        "Disagreements": f"{reading.disagreements:,} of {len(at.now.rows):,}",
        "Decided by now": [f"{share:.0%}" for share in frames.decided.mean(axis=1)],
        "Mean kernel values": f"{mean:,.1f} of {m:,}",
        "Median": f"{np.median(reading.steps):,.0f}",
    }


def sentence(at: MethodView, k: int) -> str:
    """Say what is known of the query after k kernel evaluations."""
    low, high = at.trace.lower[k], at.trace.upper[k]
    digits = next((n for n in range(3, 12) if f"{low:.{n}g}" != f"{high:.{n}g}"), 12)
    name = at.now.problem.names[int(low > 0)]
    answer = CERTAIN.format(name=name) if charts.is_certain(at.trace, k) else OPEN
    ends = f"[{low:.{digits}g}, {high:.{digits}g}]"
    return KNOWN.format(k=k, s="s" * (k != 1), ends=ends, answer=answer)


def picture(at: MethodView) -> Chart:
    """Return the query's interval up to the step."""
    return charts.bounds(at.trace, [step_of(at)], at.now.problem.query)


def times(now: Shown) -> pd.Series:
    """Return how many times faster than the exact SVM in float32 it answers, measured now."""
    machine, X = now.problem.machine, now.problem.data.X_test[:TIMED]
    ways = {
        "BLAS": lambda X: machine.decision_function(X, np.float32),
        "anytime": now.study.classifier().decision_function,
    }
    return timing_table(ways, X, 3, SINGLE, at_least=SHORT, clock=thread_time).loc["anytime"]


def hint_times(faster: float) -> str:
    """Say what the counts come to in time."""
    return (FASTER if faster >= 1 else SLOWER).format(faster=faster)


def hint_closing(trace: AnytimeTrace) -> str:
    """Say which of the two residuals did more to close the gap."""
    k = trace.stop
    svm = trace.w_rest[k] / max(trace.w_rest[0], 1e-300)
    query = float(np.sqrt(trace.residual_sq[k] / max(trace.residual_sq[0], 1e-300)))
    who = "the SVM's" if svm < query else "the query's"
    text = CLOSED if charts.is_certain(trace, k) else NOT_CLOSED
    return text.format(k=k, svm=svm, query=query, who=who)


def hint_queries(at: MethodView) -> str:
    """Say what to notice among all queries."""
    steps, size = at.reading.steps, np.abs(at.reading.exact)
    is_far = size > np.median(size)
    if not is_far.any():
        return ALIKE
    is_sampled = len(steps) < len(at.now.problem.data.X_test)
    sample = SAMPLE.format(n=len(steps)) if is_sampled else ""
    near, far = steps[~is_far].mean(), steps[is_far].mean()
    return (FOLLOWS if far < 0.9 * near else EVEN).format(near=near, far=far, sample=sample)


def hint_orders(records: Mapping[str, Closing]) -> str:
    """Say what to notice among the orders."""
    if not records:
        return NO_ORDERS
    score = {name: (-r.decided.sum(), r.width[-1]) for name, r in records.items()}
    first, last = min(score, key=score.__getitem__), max(score, key=score.__getitem__)
    if not any(r.decided.any() for r in records.values()):
        text = NONE_DECIDES
    else:
        text = SAME_ORDERS if score[first] == score[last] else ORDERS
    n = max(len(r.decided) for r in records.values()) - 1
    return text.format(n=n, first=first, last=last)


def code(at: MethodView) -> str:
    """Return the lines of Python that rebuild the page."""
    return f"{at.now.code()}lower, upper = clf.decision_interval(X_test, {step_of(at)})\n"
