"""A call in a process of its own, which is ended when its time is up."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.connection import Connection
from typing import Any

try:
    import resource
except ImportError:  # a system without limits for processes
    resource = None  # type: ignore[assignment]

#: The signal of a process that is over its CPU seconds; seconds of the clock for each of those.
_OVER, PATIENCE = getattr(signal, "SIGXCPU", 0), 20.0


def within(seconds: float, function: Callable[..., Any], *args: Any) -> Any:
    """Return what a function returns in a process of its own; None if it takes longer.

    CPU seconds, so that a busy machine cuts nothing off; where a system cannot limit those, it is
    the clock's, as it is everywhere at PATIENCE times as many.
    """
    context = _context(function.__module__)
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(there, seconds, function, args))
    process.start()
    there.close()
    try:
        done, found = here.recv() if here.poll(_clock(seconds)) else (True, None)
    except EOFError:
        process.join()
        done, found = process.exitcode == -_OVER, None
    finally:
        if process.is_alive():
            process.terminate()
        process.join()
    if not done:
        raise RuntimeError(found or f"A process ended with code {process.exitcode}.")
    return found


def _context(module: str) -> Any:
    """Processes that start from one in which `module` is imported, where the system has that."""
    if "forkserver" not in get_all_start_methods():
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload([module])
    return context


def _clock(seconds: float) -> float:
    return seconds if resource is None else PATIENCE * seconds


def _send(
    there: Connection, seconds: float, function: Callable[..., Any], args: tuple[Any, ...]
) -> None:
    if resource is not None:
        used = time.process_time()
        resource.setrlimit(resource.RLIMIT_CPU, (int(used + seconds) + 1, resource.RLIM_INFINITY))
    try:
        there.send((True, function(*args)))
    except Exception as error:
        there.send((False, f"{type(error).__name__}: {error}"))
