"""Long work: done once, by a pool, kept, and shown as a bar while it lasts.

What a page does not show first is made after it is drawn, and the page is run again with it. A
choice made meanwhile ends the work at its next report, as Streamlit ends a run where it draws.

What is made of embedded data is kept for all sessions. What is made of a visitor's own is kept in
that visitor's session, and goes with it: its key holds a `Private` name. Both are bounded by the
memory that they take: what was not asked for the longest goes first, and of two the one that was
made in less time for its bytes. A shelf with a name keeps what took long on disk as well.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any, TypeVar

import streamlit as st

from kmviz.methods import progress
from kmviz.ui import state, store
from kmviz.ui.pool import POOL, Show, is_inside
from kmviz.ui.sizes import pieces_of

Made = TypeVar("Made")

#: Bytes that are kept for all sessions together, and for each session of its own.
SHARED_BYTES, OWN_BYTES = 256 * 2**20, 128 * 2**20
#: Seconds that making anything takes at least: asking, and drawing a bar.
SOON = 0.001
#: Seconds after which what was asked for meanwhile is weighed again.
WEIGH_AGAIN = 5.0

_PLACE, _OWN, _START = "kmviz.bars", "kmviz.kept_things", "kmviz.start"
#: When the page began to be drawn, for all to see; `_START` is what its thread had spent by then.
_BEGAN = "kmviz.began"
#: What a page leaves for later, and what was made since it was first drawn.
_LATER, _MADE, _SO_FAR = "kmviz.later", "kmviz.made", "kmviz.made_so_far"
#: When it waits no longer.
_UNTIL = "kmviz.until"
#: Seconds after which a page is drawn again with what there is, and how many times as long as it
#: took to draw: where many ask, drawing is what takes the most.
_PATIENCE, _TIMES = 2.0, 20.0
#: Seconds that a page waits for its turn behind the work of others; the rest is then left.
LONGEST = 15.0
#: What the bar begins with under which a page that is drawn waits for the rest.
FOLLOWS = "To follow"
_LEFT = "Many ask this server at once: the rest of this page follows with your next move."


class Private(str):
    """A name of something that belongs to one visitor."""


def is_private(key: Any) -> bool:
    """Whether a key, or any part of it, is a visitor's own.

    Examples
    --------
    >>> is_private(("upload", (Private("a1b2"), 3))), is_private(("banana", ("", 3)))
    (True, False)
    """
    if isinstance(key, tuple):
        return any(map(is_private, key))
    return isinstance(key, Private) or isinstance(getattr(key, "text", None), Private)


class Kept:
    """Things by key, the latest of them, up to so many bytes.

    Which of them goes is GreedyDual-Size (Cao and Irani, 1997): a thing is worth the seconds that
    it took for each byte, over the worth of what went last before it was asked for. So the sums of
    all queries, large and soon made again, make room for hundreds of machines, maps and tables.

    What several of them share (the rows of a data set, a machine's vectors) takes its room once. A
    study grows when it is read: what was asked for is weighed again from time to time.

    Parameters
    ----------
    most : int
        Bytes; the latest thing stays, however large.
    """

    def __init__(self, most: int) -> None:
        self.most, self.total = most, 0
        self._things: OrderedDict[Hashable, tuple[Any, dict[int, int]]] = OrderedDict()
        #: Of each thing: the seconds that it took, and what it is worth.
        self._seconds: dict[Hashable, float] = {}
        self._worth: dict[Hashable, float] = {}
        self._gone = 0.0  # the worth of what went last
        #: Of each piece: how many things hold it, and its bytes.
        self._held: dict[int, tuple[int, int]] = {}
        self._asked: set[Hashable] = set()
        self._weighed = time.monotonic()
        self._lock = Lock()

    def find(self, key: Hashable) -> tuple[Any] | None:
        """Return the thing, alone in a tuple; None where it is not kept."""
        with self._lock:
            if key not in self._things:
                return None
            self._note(key)
            return (self._things[key][0],)

    def put(self, key: Hashable, thing: Any, seconds: float = 0.0) -> None:
        """Keep a thing that took so many seconds, and let go of others where it is too much."""
        self._weigh_again()
        pieces = pieces_of(thing)
        with self._lock:
            self._seconds[key] = seconds + SOON
            self._hold(key, thing, pieces)
            self._note(key)
            while self.total > self.most and len(self._things) > 1:
                self._let_go(key)

    def _note(self, key: Hashable) -> None:
        """Note that a thing was asked for just now."""
        size = sum(self._things[key][1].values()) or 1
        self._worth[key] = self._gone + self._seconds[key] / size
        self._things.move_to_end(key)
        self._asked.add(key)

    def _let_go(self, latest: Hashable) -> None:
        """Let go of what is worth least, the oldest on a tie; not of the latest."""
        least = min((key for key in self._things if key != latest), key=self._worth.__getitem__)
        self._gone = self._worth.pop(least)
        del self._seconds[least]
        self._release(self._things.pop(least)[1])

    def _hold(self, key: Hashable, thing: Any, pieces: dict[int, int]) -> None:
        before = self._things.get(key)
        self._things[key] = thing, pieces
        for piece, size in pieces.items():
            holders, known = self._held.get(piece, (0, size))
            self._held[piece] = holders + 1, known
            self.total += 0 if holders else size
        if before is not None:
            self._release(before[1])

    def _release(self, pieces: dict[int, int]) -> None:
        for piece in pieces:
            holders, size = self._held.pop(piece)
            if holders > 1:
                self._held[piece] = holders - 1, size
            else:
                self.total -= size

    def _weigh_again(self) -> None:
        """Weigh what was put or asked for since the last time, if that is some time ago."""
        if time.monotonic() < self._weighed + WEIGH_AGAIN:
            return
        with self._lock:
            some = [(key, self._things[key][0]) for key in self._asked & self._things.keys()]
            self._asked, self._weighed = set(), time.monotonic()
        for key, thing in some:
            pieces = pieces_of(thing)
            with self._lock:
                if key in self._things and self._things[key][0] is thing:
                    self._hold(key, thing, pieces)


_shared = Kept(SHARED_BYTES)
_own: ContextVar[Kept | None] = ContextVar("_own", default=None)
#: Whether something is being made that is to be kept on disk as a whole.
_storing: ContextVar[bool] = ContextVar("_storing", default=False)


class Shelf:
    """What was made, by key; each thing is made once for all who ask.

    Parameters
    ----------
    name : str
        What is embedded data's and took long is kept on disk under this name; without one nothing
        is. Of things that are made of one another the outermost is kept.
    """

    def __init__(self, name: str = "") -> None:
        self.name = name

    def get(self, key: Hashable, make: Callable[[], Made], text: str = "") -> Made:
        """Return what `key` stands for, making it behind a bar that begins with `text`.

        Without a text it is made at once, in the page's own run: for what takes a moment.
        """
        found = self.find(key)
        if found is None:
            kept = self._kept(key)
            found = (shown(lambda: self._made(kept, key, make), text, self._place(key)),)
        return found[0]

    def later(self, key: Hashable, make: Callable[[], Made], text: str) -> Made | None:
        """Return what `key` stands for, None where it is to be made once the page is drawn.

        What was made for this page and is too much to be kept is not asked for again: the page
        would be run without end.

        Parameters
        ----------
        make : reads no choice from the session: the page has given them back by then
        """
        found, place = self.find(key), self._place(key)
        if found is not None:
            return found[0]
        if place not in st.session_state.get(_MADE, ()):
            wanted = st.session_state.setdefault(_LATER, {})
            wanted[place] = lambda: self.get(key, make, text)
        return None

    def find(self, key: Hashable) -> tuple[Any] | None:
        """Return what is kept in memory or on disk, alone in a tuple."""
        found = self._kept(key).find((id(self), key))
        if found is None and self._is_stored(key):
            start = time.thread_time()
            found = store.load(self.name, key)
            if found is not None:
                _shared.put((id(self), key), found[0], time.thread_time() - start)
        return found

    def _made(self, kept: Kept, key: Hashable, make: Callable[[], Made]) -> Made:
        found = kept.find((id(self), key))  # another session may have made it meanwhile
        if found is not None:
            return found[0]
        is_stored = self._is_stored(key) and not _storing.get()
        token, start = _storing.set(is_stored or _storing.get()), time.thread_time()
        try:
            made = make()
        finally:
            _storing.reset(token)
        seconds = time.thread_time() - start
        kept.put((id(self), key), made, seconds)
        if is_stored:
            store.save(self.name, key, made, seconds)
        return made

    def _place(self, key: Hashable) -> Hashable:
        """Stands for the work among all that is under way: a visitor's own is that visitor's."""
        return id(self._kept(key)), id(self), key

    def _is_stored(self, key: Hashable) -> bool:
        return bool(self.name) and not is_private(key)

    def _kept(self, key: Hashable) -> Kept:
        return self._own() if is_private(key) else _shared

    def _own(self) -> Kept:
        """What this session keeps for itself; in a job, what the session does that waits."""
        return _own.get() or own_things()


def own_things() -> Kept:
    """Return what this session keeps for itself."""
    return st.session_state.setdefault(_OWN, Kept(OWN_BYTES))


def bars_here() -> None:
    """Let the bars of this run stand here.

    A bar that stood where the work is asked for would move everything below it: Streamlit tells
    elements by their place, and would draw them all anew in the next run, which has no bar.
    """
    session = st.session_state
    session[_PLACE], session[_LATER], session[_START] = st.empty(), {}, time.thread_time()
    session[_BEGAN] = time.monotonic()
    session[_MADE], session[_UNTIL] = session.pop(_SO_FAR, (frozenset(), 0.0))


def catch_up() -> None:
    """Make what was left for later and run the page again with it; the last thing a page does.

    Where the work of others leaves no room for it in time, the page stays as it is.
    """
    session = st.session_state
    wanted = session.pop(_LATER, {})
    if not wanted:
        return
    patience = max(_PATIENCE, _TIMES * (time.thread_time() - session[_START]))
    until = session[_UNTIL] or time.monotonic() + LONGEST
    with _bar(FOLLOWS) as show:
        made = POOL.collect(wanted, show, patience, until)
    if not made:
        session[_PLACE].caption(_LEFT)
        return
    session[_SO_FAR] = session[_MADE].union(made), until
    st.rerun()


def shown(make: Callable[[], Made], text: str, key: Hashable | None = None) -> Made:
    """Return `make()`, done by the pool, its progress shown as a bar.

    Parameters
    ----------
    text : what the bar begins with; without one, the work is done here and now
    key : stands for the work: it is done once for all who wait for it
    """
    if not text:
        return make()
    if is_inside():  # of a job already, whose bar this is
        with progress.part(0.0, 1.0, text):
            progress.report(0.0)
            return make()
    with _bar(text) as show:
        since = st.session_state.get(_BEGAN)
        return POOL.wait(key if key is not None else object(), make, show, since)


@contextmanager
def _bar(text: str) -> Iterator[Show]:
    """Show a bar that begins with `text` while the pool works; what is kept is this session's."""
    place = st.session_state.get(_PLACE) or st.empty()
    bar, said = place.progress(0.0, text), ("", 0.0)

    def show(share: float, now: str) -> None:
        nonlocal said
        state.sent()
        heard = (now, round(share, 2))
        if heard != said:
            bar.progress(share, progress.joined(text, now))
            said = heard
        else:
            st.session_state.get(_PLACE)  # where Streamlit ends the run of one who left

    token = _own.set(own_things())
    try:
        yield show
    finally:
        _own.reset(token)
        place.empty()
