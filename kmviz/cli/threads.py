"""Work that a signal ends at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Any

WORKER = "kmviz worker"


def left_behind() -> bool:
    """Whether a thread still works on what nobody waits for: a process must then end at once.

    Python's own way out takes apart what that thread is using.
    """
    return any(thread.name == WORKER for thread in threading.enumerate())


def interruptibly(work: Callable[[], Any]) -> Any:
    """Run `work` in a thread and wait for it, so that Ctrl-C and SIGTERM are heard meanwhile.

    Python hears a signal between two of its own steps, and libsvm takes hours without one. The
    thread that waits hears it; the other one ends with the process (see `left_behind`).
    """
    found: dict[str, Any] = {}

    def run() -> None:
        try:
            found["result"] = work()
        except BaseException as error:
            found["error"] = error

    thread = threading.Thread(target=copy_context().run, args=(run,), daemon=True, name=WORKER)
    thread.start()
    while thread.is_alive():
        thread.join(0.1)
    if "error" in found:
        raise found["error"]
    return found["result"]
