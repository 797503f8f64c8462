"""A bounded pool for long work: the same work asked for by many is done once, and what nobody
waits for any more is stopped.

A page's script waits for its job and shows how far it is. Whoever leaves, or changes a control,
no longer waits; a job that has been without anyone for a moment ends at its next report.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Hashable
from contextvars import ContextVar, copy_context
from threading import Condition, Thread
from typing import Any

from kmviz.methods import progress

#: Seconds that a job goes on without anyone: who changed one control may ask for the same again.
GRACE = 1.0

#: Seconds after which a job no longer keeps others waiting: one more is then done beside it, up to
#: so many for each worker.
LONG, MOST = 3.0, 4

#: Seconds between two looks at a job.
LOOK = 0.05

_inside: ContextVar[bool] = ContextVar("_inside", default=False)


def is_inside() -> bool:
    """Whether this code is run by a job: it then does its work itself, rather than wait."""
    return _inside.get()


class Job:
    """Work under way.

    Attributes
    ----------
    share, text : float, str
        How far it is, and what it says of it.
    """

    def __init__(self, key: Hashable, make: Callable[[], Any]) -> None:
        self.key, self.make = key, make
        self.share, self.text = 0.0, ""
        self.waiting, self.left_at = 0, time.monotonic()
        self.started, self.is_done = 0.0, False
        self.result: Any = None
        self.error: BaseException | None = None
        self.context = copy_context()

    @property
    def is_abandoned(self) -> bool:
        """Whether nobody has waited for it for a moment."""
        return self.waiting == 0 and time.monotonic() - self.left_at > GRACE


class Pool:
    """So many jobs at a time, first come, first served; those that take long do not count.

    Parameters
    ----------
    workers : int

    Examples
    --------
    >>> from kmviz.ui.pool import Pool
    >>> Pool(1).wait("answer", lambda: 6 * 7)
    42
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._jobs: dict[Hashable, Job] = {}
        self._queue: deque[Job] = deque()
        self._changed = Condition()
        self._running: set[Job] = set()
        self._threads = 0

    def wait(
        self,
        key: Hashable,
        make: Callable[[], Any],
        show: Callable[[float, str], None] | None = None,
    ) -> Any:
        """Return `make()`, done once for all who ask for `key` meanwhile.

        Parameters
        ----------
        show : told again and again how far it is; what it raises ends the waiting
        """
        job = self._joined(key, make)
        try:
            while True:
                with self._changed:
                    if not job.is_done:
                        self._changed.wait(LOOK)
                        self._start()
                if job.is_done:
                    break
                if show is not None:
                    show(job.share, job.text)
        finally:
            with self._changed:
                job.waiting -= 1
                job.left_at = time.monotonic()
        if job.error is not None:
            raise job.error
        return job.result

    def _joined(self, key: Hashable, make: Callable[[], Any]) -> Job:
        with self._changed:
            job = self._jobs.get(key)
            if job is None:
                job = self._jobs[key] = Job(key, make)
                self._queue.append(job)
                self._start()
            job.waiting += 1
            return job

    def _start(self) -> None:
        """Start one more worker where work waits and the others are busy with what takes long."""
        since = time.monotonic() - LONG
        long = sum(job.started < since for job in self._running)
        if self._queue and self._threads < min(self.workers + long, MOST * self.workers):
            self._threads += 1
            Thread(target=self._work, daemon=True, name="kmviz-work").start()

    def _work(self) -> None:
        """Do what waits in the queue; end when nothing does."""
        while True:
            with self._changed:
                if not self._queue:
                    self._threads -= 1
                    return
                job = self._queue.popleft()
                job.started = time.monotonic()
                self._running.add(job)
            job.context.run(self._do, job)

    def _do(self, job: Job) -> None:
        _inside.set(True)
        try:
            self._heard(job, 0.0, "")
            with progress.listening(lambda share, text: self._heard(job, share, text)):
                job.result = job.make()
        except BaseException as error:  # whoever waits raises it
            job.error = error
        with self._changed:
            job.is_done = True
            self._running.discard(job)
            if self._jobs.get(job.key) is job:
                del self._jobs[job.key]
            self._changed.notify_all()

    def _heard(self, job: Job, share: float, text: str) -> None:
        """Note how far a job is; stop it where nobody waits."""
        job.share, job.text = share, text
        with self._changed:
            if job.is_abandoned:
                del self._jobs[job.key]  # who asks from now on asks for another
                raise progress.Cancelled(f"Nobody waits for {job.key!r} any more.")


#: Where pages have their long work done.
POOL = Pool(max(1, os.cpu_count() or 1))
