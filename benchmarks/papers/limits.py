"""Work in a process of its own, which is ended when a step of it takes too long."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.connection import Connection
from typing import Any

try:
    import resource
except ImportError:  # a system without limits for processes
    resource = None  # type: ignore[assignment]

#: The signal of a process that is over its CPU seconds; seconds of the clock for each of those.
_OVER, PATIENCE = getattr(signal, "SIGXCPU", 0), 20.0


def within(seconds: float, steps: Callable[..., Iterator[Any]], *args: Any) -> list[Any]:
    """Return what a generator yields in a process of its own, up to a step that takes too long.

    CPU seconds, so that a busy machine cuts nothing off; where a system cannot limit those, it is
    the clock's, as it is everywhere at PATIENCE times as many.

    Parameters
    ----------
    seconds : float
        What each step may take.
    steps : generator function
        One that another process can import by its name.
    """
    context = _context(steps.__module__)
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(there, seconds, steps, args))
    process.start()
    there.close()
    found: list[Any] = []
    try:
        while here.poll(_clock(seconds)):
            kind, item = here.recv()
            if kind == "end":
                break
            if kind == "error":
                raise RuntimeError(item)
            found.append(item)
    except EOFError:
        process.join()
        if process.exitcode != -_OVER:
            raise RuntimeError(f"A process ended with code {process.exitcode}.") from None
    finally:
        if process.is_alive():
            process.terminate()
        process.join()
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
    there: Connection, seconds: float, steps: Callable[..., Iterator[Any]], args: tuple[Any, ...]
) -> None:
    try:
        items = steps(*args)
        while True:
            _allow(seconds)
            try:
                item = next(items)
            except StopIteration:
                break
            there.send(("item", item))
        there.send(("end", None))
    except Exception as error:
        there.send(("error", f"{type(error).__name__}: {error}"))


def _allow(seconds: float) -> None:
    """Let this process take so many CPU seconds more."""
    if resource is not None:
        used = time.process_time()
        resource.setrlimit(resource.RLIMIT_CPU, (int(used + seconds) + 1, resource.RLIM_INFINITY))
