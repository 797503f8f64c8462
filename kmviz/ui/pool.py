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

#: Seconds after which what is asked for last waits no longer than the rest.
PATIENT = 30.0

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
    is_last : bool
        Whether it keeps nobody from a page: it is done when nothing else waits, or in its turn
        when it has waited for long.
    """

    def __init__(self, key: Hashable, make: Callable[[], Any], is_last: bool = False) -> None:
        self.key, self.make = key, make
        self.share, self.text, self.is_last = 0.0, "", is_last
        self.waiting, self.asked_at = 0, time.monotonic()
        self.left_at = self.asked_at
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

    What is asked for last waits for the others, and does not count either while another waits.

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

    def wait(
        self,
        key: Hashable,
        make: Callable[[], Any],
        show: Callable[[float, str], None] | None = None,
        is_last: bool = False,
    ) -> Any:
        """Return `make()`, done once for all who ask for `key` meanwhile.

        Parameters
        ----------
        show : told again and again how far it is; what it raises ends the waiting
        is_last : whether it may wait until nothing else does
        """
        job = self._joined(key, make, is_last)
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

    def _joined(self, key: Hashable, make: Callable[[], Any], is_last: bool) -> Job:
        with self._changed:
            job = self._jobs.get(key)
            if job is None:
                job = self._jobs[key] = Job(key, make, is_last)
                self._queue.append(job)
            job.is_last = job.is_last and is_last
            job.waiting += 1
            self._start()
            return job

    def _start(self) -> None:
        """Start one more worker where work waits and the others are busy with what takes long."""
        job = self._next()
        if job is not None:
            self._take(job)
            Thread(target=self._work, args=(job,), daemon=True, name="kmviz-work").start()

    def _next(self) -> Job | None:
        """Return what is to be done next; None where it is enough for now."""
        now = time.monotonic()
        due = (job for job in self._queue if not job.is_last or now - job.asked_at > PATIENT)
        job = next(due, None)
        since, is_last = now - LONG, job is None
        aside = sum(one.started < since or one.is_last > is_last for one in self._running)
        if len(self._running) >= min(self.workers + aside, MOST * self.workers):
            return None
        return self._queue[0] if is_last and self._queue else job

    def _take(self, job: Job) -> None:
        self._queue.remove(job)
        job.started = time.monotonic()
        self._running.add(job)

    def _work(self, job: Job | None) -> None:
        """Do a job, and then what waits in the queue; end when nothing does."""
        while job is not None:
            job.context.run(self._do, job)
            with self._changed:
                job = self._next()
                if job is not None:
                    self._take(job)

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
