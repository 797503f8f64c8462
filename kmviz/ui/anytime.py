"""What the Anytime bounds page shows: a study of the test queries, in words and charts."""

from __future__ import annotations

from collections.abc import Mapping
from time import thread_time
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from kmviz.charts import anytime as charts
from kmviz.evaluation.cost import timing_table
from kmviz.methods.anytime.spectral import quadratic
from kmviz.traces import AnytimeReading, AnytimeTrace, Closing
from kmviz.ui import two
from kmviz.ui.runtime.fitted import show
from kmviz.ui.runtime.jobs import Cache
from kmviz.ui.shell import url
from kmviz.ui.shell.controls import draw, row
from kmviz.views.controls import CONTROLS
from kmviz.views.fitted import Rows, Shown
from kmviz.views.problem import Problem

#: Queries that tune an order (about), queries that compare orders, steps compared.
TUNED, COMPARED, STEPS = 200, 300, 200
#: Rows timed at once and one by one, and the seconds that each timing lasts at least.
TIMED, SINGLE, SHORT = 200, 25, 0.004

OWN = ("basis", "sample", "step", "a")

_records, _closings, _times = (
    Cache("anytime records"),
    Cache("anytime orders"),
    Cache("anytime times"),
)


def possible(problem: Problem) -> list[str]:
    """The orders that this machine can have."""
    orders = list(CONTROLS["basis"].options)
    return [one for one in orders if one != "spectral" or quadratic(problem.machine.kernel)]


def is_tuned(order: str) -> bool:
    """Whether an order of the page is tuned on a sample of queries."""
    return "query_sample" in parameters(order)


def chosen(problem: Problem) -> Shown:
    """Draw the choice of the basis, and of the queries that tune it; return what they say."""
    names, here = possible(problem), st.session_state["basis"]
    places = row(3, 2) if is_tuned(here if here in names else names[0]) else row(1)
    order, sample = draw("basis", places[0], options=names), "train"
    if is_tuned(order):
        sample = draw("sample", places[1])
    return shown(problem, order, sample)


def parameters(order: str, sample: str = "train") -> dict[str, Any]:
    """Return the parameters of the estimator that an order of the page stands for."""
    if order in ("given", "sgma", "min_wz", "spectral"):
        return {"order": order}
    queries: Any = Rows("X_test") if sample == "test" else TUNED
    return {"order": order, "query_sample": queries, "random_state": 0}


def shown(problem: Problem, order: str, sample: str = "train") -> Shown:
    """Return the method in that order, with its study."""
    return show(problem, "anytime", parameters(order, sample))


def side(problem: Problem, said: Mapping[str, Any]) -> two.Side:
    """Return what the page shows of the query under these choices."""
    names = possible(problem)
    order = said["basis"] if said["basis"] in names else names[0]
    now = shown(problem, order, said["sample"])
    record, reading = trace(now), now.study.read()
    step = min(said["step"] or record.stop, last_step(now))
    picture = charts.bounds(record, [step], problem.query)
    return two.Side(now, reading, now.study.classifier(), record, picture)


def step_of(now: Shown, record: AnytimeTrace) -> int:
    """Return the step chosen, or else the one where the query's class becomes certain."""
    if st.session_state["step"] is None:
        return min(record.stop, last_step(now))
    url.limit("step", 1, last_step(now))
    return st.session_state["step"]


def last_step(now: Shown) -> int:
    """Return the size of the basis."""
    return now.study.readings["max_steps"][-1]


def trace(now: Shown) -> AnytimeTrace:
    """Return the record of the selected query."""
    key = (now.problem.key, tuple(now.parameters.items()), now.problem.query)
    return _records.get(key, lambda: now.study.classifier().trace(now.problem.x), "Bounds")


def band(record: AnytimeTrace) -> tuple[Any, Any]:
    """Return the bounds L_k(x) and H_k(x)."""
    return record.lower, record.upper


def compared(problem: Problem) -> dict[str, Closing]:
    """Return how the intervals close under every order, over the first steps.

    They are compared once the page is drawn; until then there are none.
    """
    orders = possible(problem)

    def close() -> dict[str, Closing]:
        found = {}
        for order in orders:
            short = {**parameters(order), "max_steps": STEPS}
            shown = show(problem, "anytime", short, most=COMPARED, is_kept=False)
            found[order] = shown.study.closing()
        return found

    return _closings.later(problem.key, close, "Comparing all orders") or {}


def times(now: Shown) -> pd.Series:
    """Return how many times faster than the exact machine in float32 it answered, just now."""
    machine, clf = now.problem.machine, now.study.classifier()
    X = now.problem.data.X_test[:TIMED]

    def measure() -> pd.Series:
        ways = {
            "BLAS": lambda X: machine.decision_function(X, np.float32),
            "anytime": clf.decision_function,
        }
        return timing_table(ways, X, 3, SINGLE, at_least=SHORT, clock=thread_time).loc["anytime"]

    key = (now.problem.key, tuple(now.parameters.items()))
    return _times.get(key, measure, "Timing both ways")


def values(n: int) -> str:
    """Say a number of kernel values."""
    return f"{n:,} kernel value{'s' * (n != 1)}"


def sentence(now: Shown, record: AnytimeTrace, step: int) -> str:
    """Say what is known of the query after `step` kernel values."""
    low, high = record.lower[step], record.upper[step]
    digits = next((n for n in range(3, 12) if f"{low:.{n}g}" != f"{high:.{n}g}"), 12)
    ends = f"[{low:.{digits}g}, {high:.{digits}g}]"
    known = "both classes are still possible"
    if charts.is_certain(record, step):
        known = f"{now.problem.names[int(low > 0)]}, for certain"
    return f"After {values(step)} f(x) is in {ends}: {known}."


def closing(record: AnytimeTrace) -> str:
    """Say which of the two residuals did more to close the gap."""
    k = record.stop
    machine = record.w_rest[k] / max(record.w_rest[0], 1e-300)
    query = float(np.sqrt(record.residual_sq[k] / max(record.residual_sq[0], 1e-300)))
    left = f"{machine:.1%} of the machine W and {query:.1%} of the query were left"
    if not charts.is_certain(record, k):
        return f"After step {k} {left}: too much for a certain sign, so the exact sum was taken."
    who = "the machine's" if machine < query else "the query's"
    return (
        "The width of the interval is what is left of the machine times what is left of the "
        f"query. At step {k}, where the sign became certain, {left}: here {who} residual did more "
        "to close it. Move the step: the interval never widens and never lets go of the dashed "
        "line."
    )


def metrics(now: Shown, reading: AnytimeReading) -> list[tuple[str, str, str]]:
    """The page's metrics."""
    m, n, found = now.problem.n_vectors, len(now.rows), now.figures(reading)
    faster = times(now)
    timed = "CPU time of the exact machine in float32 (BLAS) over that of the bounds, measured here"
    return [
        (
            "Mean kernel values", f"{found['steps_mean']:,.1f}",
            f"Of {m:,} that the exact machine takes.",
        ),
        ("Median", f"{found['steps_median']:,.0f}", "Half of the queries need no more."),
        ("Fewer values", f"{found['speedup']:.1f}x", "Support vectors over mean values."),
        (
            "Speed, one query", f"{faster['single_ratio']:.2g}x",
            f"{timed}, one query at a time. Below 1 the bounds are slower.",
        ),
        (
            "Speed, batch", f"{faster['batch_ratio']:.2g}x",
            f"{timed}, {TIMED} queries at once. Below 1 the bounds are slower.",
        ),
        (
            "Signs changed", f"{reading.disagreements}",
            f"Of {n:,} test queries; the bounds allow none.",
        ),
    ]  # fmt: skip


def look_times(now: Shown) -> str:
    """Say what the counts come to in time."""
    faster = times(now)["batch_ratio"]
    if faster >= 1:
        return f"Here the certificate also saves time: {faster:.2g} times faster in batch."
    return (
        f"Fewer kernel values are not less time here ({faster:.2g}x in batch): a triangular system "
        "is solved at each step, while the exact sum is one matrix product. What one buys is an "
        "answer that is proved, and one that is there at any deadline."
    )


def look(now: Shown, reading: AnytimeReading) -> str:
    """What to look for in the distribution of k."""
    far = np.abs(reading.exact) > np.median(np.abs(reading.exact))
    if not far.any():
        return "All queries lie equally far from 0. Click a point to follow it above."
    near_mean, far_mean = reading.steps[~far].mean(), reading.steps[far].mean()
    sampled = len(now.rows) < len(now.problem.data.X_test)
    which = f" A sample of {len(now.rows):,} queries." if sampled else ""
    if far_mean < 0.9 * near_mean:
        return (
            f"Effort follows difficulty: the half of the queries far from 0 take {far_mean:.1f} "
            f"kernel values on average, the half near it {near_mean:.1f}. Click a point to follow "
            f"it above.{which}"
        )
    return (
        "Here easy queries cost nearly as much as hard ones "
        f"({far_mean:.1f} against {near_mean:.1f} kernel values): the basis must explain most of "
        f"W before any interval is narrow. Try another basis. Click a point to follow it above."
        f"{which}"
    )


def best(records: dict[str, Closing]) -> str:
    """What to look for among the orders."""
    if not records:
        return "The orders are compared next: the sooner a line rises, the better its order."
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
        f"On these test queries **{first}** decides soonest and **{last}** last. A narrow mean "
        "interval is not the aim in itself: a query is done once its interval leaves 0 behind."
    )


def code(now: Shown, step: int) -> str:
    """The lines of Python that rebuild the page."""
    return f"{now.code()}lower, upper = clf.decision_interval(X_test, {step})\n"
