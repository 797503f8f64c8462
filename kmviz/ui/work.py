"""Long work: done once, kept, and shown as a bar while it lasts.

What a page does not show first is made after it is drawn, and the page is run again with it. A
choice made meanwhile ends the work at its next report, as Streamlit ends a run where it draws.

What is made of embedded data is kept for all sessions. What is made of a visitor's own is kept in
that visitor's session, and goes with it: its key holds a `Private` name.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar

import streamlit as st

from kmviz.methods import progress

Made = TypeVar("Made")

_PLACE, _LATER = "kmviz.bars", "kmviz.later"
#: Seconds of work after which a page is drawn again with what there is.
_PATIENCE = 2.0


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
    return isinstance(key, Private)


class Shelf:
    """What was made, by key: the latest `most` of them, each made by one session only.

    Parameters
    ----------
    most : int
        How many are kept, of all sessions together, and of what is one session's own.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._shared: OrderedDict[Hashable, Any] = OrderedDict()
        self._locks: dict[Hashable, Lock] = {}
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], Made], text: str = "") -> Made:
        """Return what `key` stands for, making it behind a bar that begins with `text`."""
        made = self._own() if is_private(key) else self._shared
        with self._lock:
            if key in made:
                made.move_to_end(key)
                return made[key]
            making = self._locks.setdefault(key, Lock())
        with making:
            if key not in made:  # else another session has made it meanwhile
                found = shown(make, text) if text else make()
                with self._lock:
                    made[key] = found
                    while len(made) > self.most:
                        made.popitem(last=False)
            with self._lock:
                self._locks.pop(key, None)
                return made[key]

    def later(self, key: Hashable, make: Callable[[], Made], text: str) -> Made | None:
        """Return what `key` stands for, None where it is to be made once the page is drawn.

        Parameters
        ----------
        make : reads no choice from the session: the page has given them back by then
        """
        if self.holds(key):
            return self.get(key, make)
        asked = st.session_state.setdefault(_LATER, {})
        asked[id(self), key] = lambda: self.get(key, make, text)
        return None

    def holds(self, key: Hashable) -> bool:
        """Whether it is made already."""
        with self._lock:
            return key in (self._own() if is_private(key) else self._shared)

    def _own(self) -> OrderedDict[Hashable, Any]:
        """What this session keeps for itself."""
        return st.session_state.setdefault(f"kmviz.shelf.{id(self)}", OrderedDict())


def bars_here() -> None:
    """Let the bars of this run stand here.

    A bar that stood where the work is asked for would move everything below it: Streamlit tells
    elements by their place, and would draw them all anew in the next run, which has no bar.
    """
    st.session_state[_PLACE] = st.empty()
    st.session_state[_LATER] = {}


def catch_up() -> None:
    """Make what was left for later and run the page again with it; the last thing a page does."""
    start = time.monotonic()
    asked = st.session_state.pop(_LATER, {})
    for make in asked.values():
        make()
        if time.monotonic() - start > _PATIENCE:
            break
    if asked:
        st.rerun()


def shown(make: Callable[[], Made], text: str) -> Made:
    """Return `make()`, its progress shown as a bar."""
    place = st.session_state.get(_PLACE) or st.empty()
    bar, said = place.progress(0.0, text), 0.0

    def show(share: float, now: str) -> None:
        nonlocal said
        if time.monotonic() - said > 0.1:  # the browser need not hear of every step
            said = time.monotonic()
            bar.progress(share, f"{text} {now}" if now else text)

    try:
        with progress.listening(show):
            return make()
    finally:
        place.empty()
