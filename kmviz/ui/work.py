"""Long work: done once for all sessions, kept, and shown as a bar while it lasts."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar

import streamlit as st

from kmviz.methods import progress

Made = TypeVar("Made")


class Shelf:
    """What was made, by key: the latest `most` of them, each made by one session only."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._made: OrderedDict[Hashable, Any] = OrderedDict()
        self._locks: dict[Hashable, Lock] = {}
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], Made], text: str) -> Made:
        """Return what `key` stands for, making it behind a bar that begins with `text`."""
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                return self._made[key]
            making = self._locks.setdefault(key, Lock())
        with making:
            if key not in self._made:  # else another session has made it meanwhile
                found = shown(make, text)
                with self._lock:
                    self._made[key] = found
                    while len(self._made) > self.most:
                        self._made.popitem(last=False)
            with self._lock:
                self._locks.pop(key, None)
                return self._made[key]


def shown(make: Callable[[], Made], text: str) -> Made:
    """Return `make()`, its progress shown as a bar."""
    place = st.empty()
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
