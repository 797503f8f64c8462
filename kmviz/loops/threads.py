"""Row chunks in a thread pool: how compiled loops use more than one core.

Loops release the GIL, so plain threads suffice; numba's own `parallel=True` would abort the
process when two browser sessions enter it at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

_limit: ContextVar[int | None] = ContextVar("_limit", default=None)


@contextmanager
def limited(n: int) -> Iterator[None]:
    """Hold the loops called inside to n threads."""
    token = _limit.set(n)
    try:
        yield
    finally:
        _limit.reset(token)


def n_threads() -> int:
    """Return the number of threads to use: one a core, unless limited."""
    if (limit := _limit.get()) is not None:
        return limit
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads(), thread_name_prefix="kmviz-loops")


def over_items(work: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
    """Yield `work(item)` in order, computed on threads: for work that leaves the GIL by itself."""
    if len(items) <= 1 or n_threads() == 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(min(n_threads(), len(items))) as pool:
        yield from pool.map(work, items)


def over_chunks(work: Callable[[int, int], None], n_rows: int, chunk: int = 256) -> None:
    """Call `work(start, stop)` over row ranges, on threads when there is more than one chunk.

    Chunks are the same whatever the number of threads, so results are too. The caller works through
    them itself, helped by threads that are free: it never waits for what others have to do.
    """
    starts = range(0, n_rows, chunk)
    left = iter(starts)

    def take() -> None:
        for start in left:  # each is taken once, by whoever comes first
            work(start, min(start + chunk, n_rows))

    n_helpers = min(n_threads(), len(starts)) - 1
    if n_helpers <= 0:
        return take()
    pool = _pool(os.getpid())  # a forked child starts a pool of its own
    helpers = [pool.submit(take) for _ in range(n_helpers)]
    try:
        take()
    finally:
        begun = [helper for helper in helpers if not helper.cancel()]
        wait(begun)
    for helper in begun:
        helper.result()
    return None
