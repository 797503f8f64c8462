"""A bounded pool for long work: the same work asked for by many is done once, and what nobody
waits for any more is stopped.

A page's script waits for its job and shows how far it is. Whoever leaves, or changes a control,
no longer waits; a job that has been without anyone for a moment ends at its next report.
"""

from __future__ import annotations

import math
import os
import time
from collections import deque
from collections.abc import Callable, Hashable, Mapping
from contextvars import ContextVar, copy_context
from threading import Condition, Thread
from typing import Any

from kmviz.methods import progress

#: Seconds that a job goes on without anyone: who changed one control may ask for the same again.
GRACE = 1.0

#: Seconds after which a job no longer keeps others waiting: one more is then done beside it, up to
#: so many for each worker.
LONG, MOST = 3.0, 4

#: Seconds that what is left for later keeps its place while its page is drawn with the rest.
RETURN = 10.0

#: Seconds between two looks at a job, and at what is left for later.
LOOK, LOOK_LATER = 0.05, 0.25

#: Told how far something is, and what it says of it.
Show = Callable[[float, str], None]

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
        Whether it keeps nobody from a page: it is done when nothing else waits.
    since : float
        When the first of the pages that wait for it began.
    """

    def __init__(
        self, key: Hashable, make: Callable[[], Any], is_last: bool = False, since: float = 0.0
    ) -> None:
        self.key, self.make, self.since = key, make, since
        self.share, self.text, self.is_last = 0.0, "", is_last
        self.waiting, self.left_at = 0, time.monotonic()
        self.started, self.is_done = 0.0, False
        self.result: Any = None
        self.error: BaseException | None = None
        self.context = copy_context()

    @property
    def is_abandoned(self) -> bool:
        """Whether nobody has waited for it for a moment."""
        return self.waiting == 0 and time.monotonic() - self.left_at > GRACE

    def outcome(self) -> Any:
        """Return what was made, or raise what making it did."""
        if self.error is not None:
            raise self.error
        return self.result


class Pool:
    """So many jobs at a time, first come, first served; those that take long do not count.

    Who came first is the page that began first: one that needs many things is not put behind all
    others for each of them. What is asked for last waits until nothing else does and a worker is
    free, and rests at its next report while others need them all.

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
        self, key: Hashable, make: Callable[[], Any], show: Show | None = None,
        since: float | None = None,
    ) -> Any:  # fmt: skip
        """Return `make()`, done once for all who ask for `key` meanwhile.

        Parameters
        ----------
        show : told again and again how far it is; what it raises ends the waiting
        since : when the page began that asks, by `time.monotonic`; default: now
        """
        job = self._joined(key, make, since=since)
        self._watch([job], show, lambda: job.is_done)
        return job.outcome()

    def collect(
        self, wanted: Mapping[Hashable, Callable[[], Any]], show: Show | None, patience: float,
        until: float = math.inf,
    ) -> list[Hashable]:  # fmt: skip
        """Have things made that may wait until nothing else does, and return which of them are.

        Who asked returns with those that are made after so many seconds, one at least, or with all;
        the others keep their place until that one asks again. Who still waits behind others' work
        at a time (of `time.monotonic`) returns with what there is, and be it nothing.
        """
        jobs = [self._joined(key, make, is_last=True) for key, make in wanted.items()]
        patient = time.monotonic() + patience

        def is_enough() -> bool:
            now, done = time.monotonic(), sum(job.is_done for job in jobs)
            is_waiting = now > until and not any(self._goes_on(job) for job in jobs)
            return done == len(jobs) or is_waiting or (done > 0 and now > patient)

        self._watch(jobs, show, is_enough, LOOK_LATER, RETURN)
        done = [job for job in jobs if job.is_done]
        for job in done:
            job.outcome()
        return [job.key for job in done]

    def _watch(
        self, jobs: list[Job], show: Show | None, is_enough: Callable[[], bool],
        look: float = LOOK, stay: float = 0.0,
    ) -> None:  # fmt: skip
        """Wait for jobs; once it is enough, the others go on for `stay` seconds without anyone."""
        until = 0.0
        try:
            while True:
                with self._changed:
                    if not is_enough():
                        self._changed.wait(look)
                        self._start()
                if is_enough():
                    until = time.monotonic() + stay
                    return
                if show is not None:
                    ahead = max(jobs, key=lambda job: not job.is_done and job.share)
                    show(sum(job.is_done or job.share for job in jobs) / len(jobs), ahead.text)
        finally:
            with self._changed:
                for job in jobs:
                    job.waiting -= 1
                    job.left_at = until or time.monotonic()

    def _joined(
        self, key: Hashable, make: Callable[[], Any], is_last: bool = False,
        since: float | None = None,
    ) -> Job:  # fmt: skip
        since = time.monotonic() if since is None else since
        with self._changed:
            job = self._jobs.get(key)
            if job is None:
                job = self._jobs[key] = Job(key, make, is_last, since)
                self._queue.append(job)
            job.since = min(since, job.since)
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
        busy = len(self._running)
        job = min(self._queue, key=lambda one: (one.is_last, one.since), default=None)
        if job is None or job.is_last:  # no page waits
            return job if busy < self.workers else None
        long_ago = time.monotonic() - LONG
        aside = sum(one.started < long_ago or one.is_last for one in self._running)
        return job if busy < min(self.workers + aside, MOST * self.workers) else None

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
        """Note how far a job is; stop it where nobody waits, let it rest where pages do."""
        job.share, job.text = share, text
        with self._changed:
            while True:
                if job.is_abandoned:
                    del self._jobs[job.key]  # who asks from now on asks for another
                    raise progress.Cancelled(f"Nobody waits for {job.key!r} any more.")
                if self._goes_on(job):
                    return
                self._changed.wait(LOOK)

    def _goes_on(self, job: Job) -> bool:
        """Whether a job is under way, and no others take all workers before what may wait."""
        before = sum(not one.is_last or one.started < job.started for one in self._running)
        return job in self._running and (not job.is_last or before < self.workers)


#: Where pages have their long work done.
POOL = Pool(max(1, os.cpu_count() or 1))
