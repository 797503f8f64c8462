"""Training on a cluster: what joblib's Dask backend wants to be told.

Nothing here imports Dask. A user who puts `joblib.parallel_config("dask")` around `fit` names a
backend that knows its client; everyone else has threads.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, nullcontext
from itertools import count
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from joblib.parallel import get_active_backend
from numpy.typing import NDArray

from kmviz.loops import threads

#: Seconds that a round of messages to the workers and back takes, and of work worth sending.
MESSAGES, TASK = 0.03, 0.1

#: How often calls are sent at most, where a cluster loses what they need.
TRIES = 3


def results(calls: Sequence[Any], held: Sequence[Any], n_jobs: int | None) -> Iterator[Any]:
    """Yield what delayed calls return, in order; arrays that all of them name are `held`.

    A worker may take the last copy of these with it when it dies: a scheduler that tidies up keeps
    one, however many were asked for. Calls that are left are then sent again, arrays and all.
    """
    done = 0
    for tries in count(1):
        parallel = Parallel(n_jobs=n_jobs, prefer="threads", batch_size=1, return_as="generator")
        try:
            with spread(*held):
                for result in parallel(calls[done:]):
                    done += 1
                    yield result
            return
        except CancelledError:
            if tries == TRIES:
                raise


@contextmanager
def spread(*arrays: Any) -> Iterator[None]:
    """Hold a copy of arrays (or an index) on every worker while tasks that name them run.

    Left alone, joblib would place them on one worker, and the death of that worker would end the
    fit: data that was sent and not computed cannot be computed again.
    """
    backend, _ = get_active_backend()
    futures = getattr(backend, "data_futures", None)
    if futures is None or not arrays:
        yield
        return
    new = [array for array in arrays if id(array) not in futures]
    # hash=False: keys of their own, which an earlier fit on equal data cannot release under us
    sent = backend.client.scatter(new, broadcast=True, hash=False)
    futures.update({id(array): future for array, future in zip(new, sent)})
    try:
        yield
    finally:
        for array in new:
            del futures[id(array)]


def local_threads(n_jobs: int | None, n_queries: int = 0) -> int:
    """Return the threads to use in this process; a cluster's workers are elsewhere.

    A single query needs one: to ask joblib would take a quarter of its time.
    """
    if n_queries == 1:
        return 1
    return threads.n_threads() if on_cluster() else effective_n_jobs(n_jobs)


def block_size(n_models: int, n_jobs: int | None, smallest: int, seconds: float) -> int:
    """Return models a task, each of which takes so many seconds.

    On a cluster a task is worth its messages (`TASK` seconds of work), and every worker gets one.
    """
    if not on_cluster():
        return smallest
    share = -(-n_models // effective_n_jobs(n_jobs))
    return max(smallest, min(int(TASK / seconds), 64 * smallest, share))


class NeighborSearch:
    """The k nearest rows of many queries, from this process or the cluster, whichever is sooner.

    Both give the same rows: a worker builds the same index from the same data. Use it as a context,
    which is how long workers keep the index.
    """

    def __init__(self, index: Any, k: int, n_threads: int) -> None:
        self.index, self.k, self.n_threads = index, k, n_threads
        self.n_workers = effective_n_jobs(None) if on_cluster() else 0
        self.seconds = 0.0  # a query, in this process; not known yet
        self.held = ExitStack()
        self.sent = False

    def __enter__(self) -> NeighborSearch:
        return self

    def __exit__(self, *error: object) -> None:
        self.held.close()

    def __call__(self, queries: NDArray[Any]) -> NDArray[np.int32]:
        if self._saved(len(queries)) > MESSAGES:
            return self._away(queries)
        start = time.perf_counter()
        found = self.index.query(queries, self.k, self.n_threads)
        self.seconds = (time.perf_counter() - start) / len(queries)
        return found

    def _saved(self, n: int) -> float:
        """Return the seconds that so many queries would take less on the cluster."""
        return n * self.seconds * (1 - self.n_threads / max(self.n_workers, self.n_threads))

    def _away(self, queries: NDArray[Any]) -> NDArray[np.int32]:
        if not self.sent:
            self.held.enter_context(spread(self.index))
            self.sent = True
        parts = np.array_split(queries, min(self.n_workers, len(queries)))
        calls = [delayed(query)(self.index, (part,), self.k) for part in parts]
        try:
            return np.concatenate(Parallel(batch_size=1)(calls))
        except CancelledError:  # the workers' copies are lost; this process has one
            self.n_workers = 0
            return self.index.query(queries, self.k, self.n_threads)


def query(index: Any, queries: tuple[NDArray[Any]], k: int) -> NDArray[np.int32]:
    """Answer one worker's share: a plain function that any worker can import."""
    return index.query(queries[0], k)


def on_cluster() -> bool:
    """Tell whether joblib's backend has its workers elsewhere."""
    return hasattr(get_active_backend()[0], "client")


@contextmanager
def own_cluster(source: Any) -> Iterator[None]:
    """Have cells trained by the cluster that holds a Dask collection, where there is one."""
    if not hasattr(source, "each") or on_cluster():
        yield
        return
    from dask.base import get_scheduler

    client = getattr(get_scheduler(), "__self__", None)
    with parallel_config("dask") if hasattr(client, "scatter") else nullcontext():
        yield
