"""What the parts of a walk among nearest support vectors cost here: measured, not counted.

A query that the filter decides, one that a stage of the approximation decides and one that
touches k vectors differ in price. Each price is the CPU time of a walk that is made to end there,
so that the mean cost of any reading (`kmviz.traces.NSVReading`) follows from one short
measurement, whatever its window and margin.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from time import thread_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.evaluation.cost import cpu_seconds, one_thread
from kmviz.machines import KernelMachine
from kmviz.traces import NSVReading

#: Queries that are timed together: for a walk, and for the exact machine, whose matrix product
#: takes fewer seconds per query the more there are.
TIMED, TIMED_EXACT = 128, 1_000
#: Queries of a walk to the end, which takes long.
WALKED = 32

#: Seconds that each timing lasts at least.
SHORT = 0.002


@dataclass(frozen=True)
class Prices:
    """CPU seconds per query, many at once, on one thread.

    Attributes
    ----------
    exact : float
        The exact machine, float32, all vectors in one matrix product.
    by_filter : float
        A query that the filter decides; nan where there is none.
    by_stage : tuple of float
        One that this stage decides.
    first : float
        One that stops at its first vector: projected and ordered.
    touched : float
        Each vector more.
    """

    exact: float
    by_filter: float
    by_stage: tuple[float, ...]
    first: float
    touched: float

    def mean(self, reading: NSVReading) -> float:
        """Return the mean CPU seconds per query of a reading."""
        cost = self.first + self.touched * np.maximum(reading.stop - 1, 0)
        for stage, price in enumerate(self.by_stage):
            cost[reading.stage == stage] = price
        cost[reading.filtered] = self.by_filter
        return float(cost.mean())

    def speedup(self, reading: NSVReading) -> float:
        """Return how many times less a reading costs than the exact machine; below 1, more."""
        return self.exact / self.mean(reading)


def exact_price(machine: KernelMachine, X: NDArray[Any], repeats: int = 3) -> float:
    """Return the CPU seconds per query of all vectors in one matrix product, in float32."""
    many = np.ascontiguousarray(X[:TIMED_EXACT])
    decide = partial(machine.decision_function, many, dtype=np.float32)
    with one_thread():
        return cpu_seconds(decide, repeats, SHORT, thread_time) / len(many)


def prices(clf: Any, X: NDArray[Any], repeats: int = 3, exact: float | None = None) -> Prices:
    """Measure the prices of a fitted NSVClassifier of two classes.

    Parameters
    ----------
    clf : NSVClassifier
    X : array of shape (n, d)
        Queries, as the machine takes them (past a pipeline's first steps); up to 1,000 are asked.
    exact : float, optional
        `exact_price` of its machine, where that is known.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kmviz import NSVClassifier
    >>> from kmviz.evaluation.prices import prices
    >>> X, y = make_moons(300, noise=0.2, random_state=0)
    >>> clf = NSVClassifier(random_state=0).fit(X, y)
    >>> found = prices(clf, X)
    >>> found.exact > 0
    True
    """
    engine, rows = clf.engines_[0], np.ascontiguousarray(X[:TIMED])
    m, stages = engine.machine.n_vectors, n_stages(engine)

    def seconds(place: int, rows: NDArray[Any] = rows) -> float:
        walk = partial(engine.answers, rows, ending_at(engine, place))
        return cpu_seconds(walk, repeats, SHORT, thread_time) / len(rows)

    with one_thread():
        ends = [seconds(stage) for stage in range(stages)]
        first, whole = seconds(stages), seconds(stages + 1, rows[:WALKED])
        decided = seconds(-1) if engine.tables.filtered else np.nan
    if exact is None:
        exact = exact_price(engine.machine, X, repeats)
    return Prices(exact, decided, tuple(ends), first, max(whole - first, 0.0) / max(m - 1, 1))


def n_stages(engine: Any) -> int:
    """Return how many stages, of reduced vectors and of the approximation, may decide a query."""
    return len(engine.stages) if engine.tables.approximate else 0


def ending_at(engine: Any, place: int) -> Any:
    """Return limits that every query passes at a place and at none before it.

    -1 is the filter, then come the stages, the first vector, and no place at all.
    """
    stages, kept = n_stages(engine), len(engine.limits.stage_low)
    m = engine.machine.n_vectors
    low = np.full(kept, -np.inf)
    if 0 <= place < stages:
        low[place] = np.inf
    return engine.limits._replace(
        filter_low=np.inf if place < 0 else -np.inf,
        filter_high=np.inf,
        stage_low=low,
        stage_high=np.full(kept, np.inf),
        low=np.full(m + 1, np.inf if place == stages else -np.inf),
        high=np.full(m + 1, np.inf),
    )
