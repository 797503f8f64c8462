"""Training on a cluster: what joblib's Dask backend wants to be told.

Nothing here imports Dask. A user who puts `joblib.parallel_config("dask")` around `fit` names a
backend that knows its client; everyone else has threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from joblib import effective_n_jobs
from joblib.parallel import get_active_backend
from numpy.typing import NDArray

from kmviz.loops import threads


@contextmanager
def spread(*arrays: NDArray[Any]) -> Iterator[None]:
    """Hold a copy of the arrays on every worker while tasks that name them run.

    Left alone, joblib would place them on one worker, and the death of that worker would end the
    fit: data that was sent and not computed cannot be computed again.
    """
    backend, _ = get_active_backend()
    futures = getattr(backend, "data_futures", None)
    if futures is None:
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


def local_threads(n_jobs: int | None) -> int:
    """Return the threads to use in this process; a cluster's workers are elsewhere."""
    return threads.n_threads() if _on_cluster() else effective_n_jobs(n_jobs)


def block_size(n_models: int, n_jobs: int | None, smallest: int) -> int:
    """Return models a task: on a cluster some sixteen tasks a worker, so that messages are few
    and none waits long for the last one."""
    if not _on_cluster():
        return smallest
    return max(smallest, min(16 * smallest, n_models // (16 * effective_n_jobs(n_jobs))))


def _on_cluster() -> bool:
    return hasattr(get_active_backend()[0], "client")
