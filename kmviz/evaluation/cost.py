"""What a query costs, and how often its answer differs: the measures used everywhere.

Two measures. *Kernel values per query* do not depend on the machine: `steps`, and honestly
`steps + overhead_`. *Time* is CPU time on one thread, the minimum of repeats, and is only ever
said as a ratio to another way of answering the same queries in the same run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import _num_samples
from threadpoolctl import ThreadpoolController

from kmviz.loops import threads
from kmviz.methods.promise import interval

if TYPE_CHECKING:
    import pandas as pd

Decide = Callable[[Any], Any]

#: No more rows than this are used to time a way of answering.
TIMED_ROWS = {"batch": 500, "single": 100}


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold BLAS and the compiled loops to one thread, so that CPU times compare."""
    with _pools().limit(limits=1), threads.limited(1):
        yield


@cache
def _pools() -> ThreadpoolController:
    """Return the BLAS of this process: to look for it takes as long as a short timing."""
    return ThreadpoolController()


def run_timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a call returns, and the CPU seconds that it took on one thread."""
    with one_thread():
        start = time.process_time()
        result = call()
        return result, time.process_time() - start


def cpu_seconds(
    call: Callable[[], Any],
    repeats: int = 3,
    at_least: float = 0.02,
    clock: Callable[[], float] = time.process_time,
) -> float:
    """Return the CPU seconds of one call: the minimum over repeats, after one untimed call.

    Short calls are repeated inside a timing until it lasts `at_least` seconds. `clock` is
    `time.thread_time` where other threads of the process work on something else.
    """
    call()
    loops = 1
    while (elapsed := _timed(call, loops, clock)) < at_least:
        loops = max(loops + 1, int(1.2 * loops * at_least / max(elapsed, 1e-7)))
    return min([elapsed, *(_timed(call, loops, clock) for _ in range(repeats - 1))]) / loops


def _timed(call: Callable[[], Any], loops: int, clock: Callable[[], float]) -> float:
    start = clock()
    for _ in range(loops):
        call()
    return clock() - start


def batch_seconds(decide: Decide, X: Any, repeats: int = 3, **timing: Any) -> float:
    """Return the CPU seconds a query when all rows come at once; `timing` goes to `cpu_seconds`."""
    return cpu_seconds(lambda: decide(X), repeats, **timing) / _num_samples(X)


def single_seconds(
    decide: Decide, X: Any, repeats: int = 3, n_queries: int = 100, **timing: Any
) -> float:
    """Return the CPU seconds a query when rows come one at a time."""
    rows = [X[i : i + 1] for i in range(min(n_queries, _num_samples(X)))]

    def one_by_one() -> None:
        for row in rows:
            decide(row)

    return cpu_seconds(one_by_one, repeats, **timing) / len(rows)


def seconds_per_query(decide: Decide, X: Any, queries: str) -> float:
    """Return the CPU seconds a query on one thread, as queries come: in "batch" or "single"."""
    with one_thread():
        return (batch_seconds if queries == "batch" else single_seconds)(decide, X)


def timing_table(
    ways: Mapping[str, Decide], X: Any, repeats: int = 3, n_queries: int = 100, **timing: Any
) -> pd.DataFrame:
    """Time several ways of answering the same queries, in one run.

    Parameters
    ----------
    ways : mapping of name to `decide(X)`
        The first is what the others are compared with.
    X : array of shape (n, d)
    n_queries : int
        So many of them come one at a time.
    **timing
        `at_least` and `clock` of `cpu_seconds`.

    Returns
    -------
    DataFrame
        A row for each way: `batch_us`, `single_us` (CPU microseconds a query) and `batch_ratio`,
        `single_ratio` (times faster than the first).

    Examples
    --------
    >>> import numpy as np
    >>> from kmviz.evaluation.cost import timing_table
    >>> X = np.ones((50, 3))
    >>> table = timing_table({"sum": lambda X: X.sum(1), "dot": lambda X: X @ X[0]}, X)
    >>> table.loc["sum", "batch_ratio"].item()
    1.0
    """
    with one_thread():
        times = {
            name: (
                batch_seconds(decide, X, repeats, **timing),
                single_seconds(decide, X, repeats, n_queries, **timing),
            )
            for name, decide in ways.items()
        }
    import pandas as pd

    table = pd.DataFrame.from_dict(times, orient="index", columns=["batch_us", "single_us"]) * 1e6
    for kind in ("batch", "single"):
        table[f"{kind}_ratio"] = table[f"{kind}_us"].iloc[0] / table[f"{kind}_us"]
    return table.rename_axis("way")


def step_summary(steps: Any, m: int, overhead: float = 0.0) -> dict[str, float]:
    """Summarise kernel values per query.

    `speedup` is m over the mean steps, as the papers count; `honest_speedup` adds what else a
    query costs (ordering, projection, neighbour search).
    """
    steps = np.asarray(steps, dtype=np.float64)
    mean = float(steps.mean())
    return {
        "steps_mean": mean,
        "steps_median": float(np.median(steps)),
        "speedup": m / max(mean, 1e-12),
        "honest_speedup": m / max(mean + overhead, 1e-12),
    }


def disagreement(answers: Any, exact: Any, confidence: float = 0.95) -> dict[str, float]:
    """Count differing answers, with the two-sided Clopper-Pearson interval of their rate.

    Examples
    --------
    >>> from kmviz.evaluation.cost import disagreement
    >>> disagreement([1, 1, -1], [1, -1, -1])["disagreements"]
    1
    """
    differ = int(np.sum(np.asarray(answers) != np.asarray(exact)))
    rows = len(np.asarray(exact))
    low, high = interval(differ, rows, confidence)
    return {
        "disagreements": differ,
        "queries": rows,
        "disagreement": differ / rows,
        "disagreement_low": low,
        "disagreement_high": high,
    }
