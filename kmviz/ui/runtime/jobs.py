"""Slow results: computed once on a thread pool, cached, shown with a progress bar meanwhile.

Results of shipped data are cached for all sessions. Results of a visitor's own data (their key
holds a `Private` name) are cached for that session and leave with it. Sessions that need the same
result at the same time wait for one job. A job that nobody waits for is cancelled at its next
progress report, as Streamlit ends the run of a visitor who changed something where it draws.

What a page does not show first is computed after it is drawn; the page is then run again with it.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any, TypeVar

import streamlit as st

from kmviz.methods import progress

Made = TypeVar("Made")

#: Seconds that a job goes on without anyone: a visitor who moved one control may need it again,
#: and a page that is run again with what it computed later needs the rest.
GRACE, LATER_GRACE = 1.0, 10.0
#: Seconds between two looks at a job.
LOOK = 0.05
#: Seconds after which a page is run again with what there is, and after which it waits no longer.
PATIENCE, LONGEST = 2.0, 15.0
#: Seconds that work in the background rests for pages at each of its reports.
LONGEST_REST = 1.0
#: Seconds without a page before work in the background begins.
QUIET = 3.0
#: How the bar begins under which a page that is drawn waits for the rest.
FOLLOWS = "To follow"
_BUSY = "The server is busy. Change any control to load the rest of this page."
_BAR, _LATER, _MADE, _SO_FAR = "kmviz.bar", "kmviz.later", "kmviz.made", "kmviz.so_far"

_PAGES = ThreadPoolExecutor(os.cpu_count() or 1, "kmviz-page")
_AFTER = ThreadPoolExecutor(1, "kmviz-after")  # what pages show last takes no page's turn

_running: list[Job] = []  # what the pools compute now
_page_began = [-math.inf]  # when the latest run of a page began

_is_inside: ContextVar[bool] = ContextVar("_is_inside", default=False)


def is_inside() -> bool:
    """Return whether this code is run by a job: it draws nothing."""
    return _is_inside.get()


class Private(str):
    """A name of something that belongs to one visitor."""


def is_private(key: Any) -> bool:
    """Return whether a key, or any part of it, is a visitor's own.

    Examples
    --------
    >>> is_private(("upload", (Private("a1b2"), 3))), is_private(("banana", ("", 3)))
    (True, False)
    """
    if isinstance(key, tuple):
        return any(map(is_private, key))
    return isinstance(key, Private)


class Job:
    """A computation: waiting, under way, or done. It is what caches hold.

    Attributes
    ----------
    future : Future
        Its result, or the error that it ended with.
    share, text : float, str
        How far it is, and what it says of that.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self.future: Future[Any] = Future()
        self.share, self.text, self.grace = 0.0, "", GRACE
        self._make: Callable[[], Any] | None = make
        self._lock, self._pools = Lock(), list[ThreadPoolExecutor]()
        self._waiting, self._left_at = 0, time.monotonic()

    @property
    def has_failed(self) -> bool:
        """Return True if it ended with an error: then it is computed again."""
        return self.future.done() and self.future.exception() is not None

    @property
    def is_abandoned(self) -> bool:
        """Return True if nobody has waited for it for a moment."""
        return not self._waiting and time.monotonic() > self._left_at + self.grace

    def queue(self, pool: ThreadPoolExecutor) -> None:
        """Have it run by a pool; of several that were asked, by the one that is free first."""
        with self._lock:
            if pool in self._pools:
                return
            self._pools.append(pool)
        pool.submit(self._run_listening)

    def _run_listening(self) -> None:
        _is_inside.set(True)
        _running.append(self)
        with progress.listening(self._report):
            self.run()
        _running.remove(self)

    def run(self) -> None:
        """Compute it in this thread, unless another thread does."""
        with self._lock:
            make, self._make = self._make, None
        if make is None:
            return
        try:
            progress.report(0.0)
            self.future.set_result(make())
        except BaseException as error:
            self.future.set_exception(error.with_traceback(None))  # which would keep all arrays

    def _report(self, share: float, text: str) -> None:
        self.share, self.text = share, text
        if self.is_abandoned:
            raise progress.Cancelled("Nobody waits for this result.")

    @contextmanager
    def held(self) -> Iterator[None]:
        """Wait for it: meanwhile it is not abandoned."""
        with self._lock:
            self._waiting += 1
        try:
            yield
        finally:
            with self._lock:
                self._waiting -= 1
                self._left_at = time.monotonic()

    def keep(self) -> None:
        """Let it go on for a while without anyone."""
        self.grace, self._left_at = LATER_GRACE, time.monotonic()


def _is_usable(job: Job) -> bool:
    return not job.has_failed


@st.cache_resource(max_entries=240, show_spinner=False, validate=_is_usable)
def _shared(name: str, _make: Callable[[], Any]) -> Job:
    return Job(_make)


@st.cache_resource(max_entries=32, show_spinner=False, validate=_is_usable)
def _shared_large(name: str, _make: Callable[[], Any]) -> Job:
    return Job(_make)


@st.cache_resource(max_entries=48, show_spinner=False, validate=_is_usable, scope="session")
def _own(name: str, _make: Callable[[], Any]) -> Job:
    return Job(_make)


class Cache:
    """Results by key; each is computed once for all sessions that need it.

    Parameters
    ----------
    name : str
        What the results are; no two caches share one.
    is_large : bool
        Whether results take megabytes: then fewer of them are cached.
    """

    def __init__(self, name: str, is_large: bool = False) -> None:
        self.name, self.is_large = name, is_large

    def get(self, key: Hashable, make: Callable[[], Made], text: str = "") -> Made:
        """Return `make()`, computed on the pool behind a bar that begins with `text`.

        Without a text it is computed at once, in the page's own thread: for what takes a moment.
        """
        while True:
            job = self._job(key, make)
            if _is_inside.get() or not text:
                with job.held(), progress.part(0.0, 1.0, text):
                    job.run()
            else:
                job.queue(_PAGES)
            if not job.future.done():
                _watch([job], text, job.future.done)
            try:
                return job.future.result()
            except progress.Cancelled:
                if _is_inside.get():
                    raise  # this thread's own job may be the one that nobody waits for

    def later(self, key: Hashable, make: Callable[[], Made], text: str) -> Made | None:
        """Return `make()` if it is there; None where it is computed once the page is drawn.

        Parameters
        ----------
        make : reads no choice from the session: the visitor may have moved on by then
        """
        if _is_inside.get():
            return self.get(key, make, text)
        job = self._job(key, make)
        if job.future.done():
            return job.future.result()
        name = f"{self.name} {key!r}"
        if name not in st.session_state.get(_MADE, ()):  # too many for the cache: run no page again
            st.session_state.setdefault(_LATER, {})[name] = job, text
        return None

    def _job(self, key: Hashable, make: Callable[[], Any]) -> Job:
        if is_private(key):
            return Job(make) if _is_inside.get() else _own(f"{self.name} {key!r}", make)
        return (_shared_large if self.is_large else _shared)(f"{self.name} {key!r}", make)


def begin() -> None:
    """Let the bars of this run stand here, and forget what the last one left for later.

    A bar that stood where the work is asked for would move everything below it.
    """
    session, _page_began[0] = st.session_state, time.monotonic()
    session[_BAR], session[_LATER] = st.empty(), {}
    session[_MADE] = session.pop(_SO_FAR, frozenset())


def finish() -> None:
    """Compute what was left for later and run the page again with it; the last thing a page does.

    Where other jobs leave no room for it in time, the page stays as it is.
    """
    session = st.session_state
    left = session.pop(_LATER, {})
    if not left:
        return
    jobs, start = [job for job, _ in left.values()], time.monotonic()
    for job in jobs:
        job.keep()
        job.queue(_AFTER)

    def is_enough() -> bool:
        done, spent = sum(job.future.done() for job in jobs), time.monotonic() - start
        return done == len(jobs) or spent > LONGEST or bool(done and spent > PATIENCE)

    _watch(jobs, FOLLOWS, is_enough)
    made = {name for name, (job, _) in left.items() if job.future.done()}
    for name in made:
        _raise_error(left[name][0])
    if not made:
        session[_BAR].caption(_BUSY)
        return
    session[_SO_FAR] = session[_MADE].union(made)
    st.rerun()


def _raise_error(job: Job) -> None:
    """Raise what a job ended with, unless it was cancelled: then it is computed again."""
    error = job.future.exception()
    if error is not None and not isinstance(error, progress.Cancelled):
        raise error


def _watch(jobs: list[Job], text: str, is_enough: Callable[[], bool]) -> None:
    """Wait for jobs; in a page's thread behind a bar, where Streamlit ends an outdated run."""
    if _is_inside.get():
        wait([job.future for job in jobs])
        return
    place, shown = st.session_state.get(_BAR) or st.empty(), None
    try:
        with ExitStack() as holds:
            for job in jobs:
                holds.enter_context(job.held())
            while not _done_soon(jobs, is_enough):
                share = sum(1.0 if job.future.done() else job.share for job in jobs) / len(jobs)
                ahead = max(jobs, key=lambda job: not job.future.done() and job.share)
                said = round(share, 2), progress.joined(text, ahead.text)
                if said != shown:
                    place.progress(*said)
                    shown = said
                else:
                    st.session_state.get(_BAR)  # reading it, too, ends an outdated run
    finally:
        if shown is not None:
            place.empty()


def _done_soon(jobs: list[Job], is_enough: Callable[[], bool]) -> bool:
    """Return whether it is enough, after a moment at most."""
    wait([job.future for job in jobs if not job.future.done()], LOOK, FIRST_COMPLETED)
    return is_enough()


def in_background(make: Callable[[], None]) -> None:
    """Compute something in this thread for nobody in particular: pages and their jobs go first."""
    while time.monotonic() < _page_began[0] + QUIET:
        time.sleep(LOOK)
    _is_inside.set(True)
    with progress.listening(lambda share, text: _give_way()):
        make()


def _give_way() -> None:
    """Rest while pages' jobs run; not for long, as one of them may wait for what this computes."""
    until = time.monotonic() + LONGEST_REST
    while _running and time.monotonic() < until:
        time.sleep(LOOK)
