"""How far a long fit has come: said to whoever listens, to nobody by default.

Estimators never print. A page or a command line that wants to show progress listens around
the call, and may raise `Cancelled` to stop the work at its next report.

Examples
--------
>>> from kmviz.methods.progress import listening, report
>>> heard = []
>>> with listening(lambda share, text: heard.append((share, text))):
...     report(0.5, "half way")
>>> heard
[(0.5, 'half way')]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[float, str], None]

_listener: ContextVar[Listener | None] = ContextVar("_listener", default=None)


class Cancelled(Exception):
    """Raised by a listener: whoever waits wants no more of it."""


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Hear `listener(share, text)` from every fit called inside."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def part(start: float, stop: float, name: str = "") -> Iterator[None]:
    """Make what is reported inside the stretch from `start` to `stop` of the outer work.

    Examples
    --------
    >>> with listening(print), part(0.5, 1.0, "second half"):
    ...     report(0.5)
    ...     report(1.0, "done")
    0.75 second half
    1.0 second half: done
    """
    outer = _listener.get()
    if outer is None:
        yield
        return
    with listening(lambda share, text: outer(start + (stop - start) * share, joined(name, text))):
        yield


def joined(name: str, text: str) -> str:
    """Return a name and what is said of it; either may be empty."""
    return ": ".join(filter(None, (name, text)))


def report(share: float, text: str = "") -> None:
    """Say that `share` (0 to 1) of the work is done."""
    if (listener := _listener.get()) is not None:
        listener(min(max(share, 0.0), 1.0), text)
