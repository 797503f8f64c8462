"""Arguments in, exit code out."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NoReturn

from kmviz import __version__
from kmviz.cli.console import BadInput, Console
from kmviz.cli.threads import left_behind
from kmviz.methods import progress

BAD_INPUT, INTERRUPTED, TERMINATED = 2, 130, 143

#: Each command, a module of this package, and its line in `kmviz --help`.
COMMANDS = {
    "app": "the app, in a browser",
    "data": "the embedded data sets",
    "fit": "train a fast classifier on a file and store it",
    "predict": "label the rows of a file with a stored classifier",
    "accelerate": "make a stored model fast, with a promise",
    "audit": "compare a fast model's answers with those of the model it replaces",
    "compare": "what each method costs and changes on your data",
    "export": "write a stored classifier as C99 or ONNX",
    "compile": "compile the loops now, not at the first answer",
}


class Terminated(BaseException):
    """SIGTERM arrived; clean up and go."""


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: {message} (see {self.prog} --help)\n")


def parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """Return the command line; only the options of the command in `arguments` are imported."""
    top = Parser(
        prog="kmviz",
        description="Kernel machines that answer fast, from a shell.",
        epilog="Exit codes: 0 done, 1 it failed, 2 bad input, 130 or 143 "
        "interrupted. Results go to stdout, progress to stderr.",
    )
    top.add_argument("--version", action="version", version=f"kmviz {__version__}")
    top.add_argument("--quiet", "-q", action="store_true", help="no progress on stderr")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, help_line in COMMANDS.items():
        command = commands.add_parser(name, help=help_line)
        if name in arguments:
            import_module(f"kmviz.cli.{name}").add_options(command)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    options = parser(given).parse_args(given)
    console = Console(options.quiet)
    try:
        with _terminable(), _warnings_to(console), progress.listening(console.progress):
            return options.run(options, console)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output went away; nothing more to say
        return 0
    except (BadInput, ValueError, OSError) as error:
        console.warn(f"kmviz {options.command}: {_one_line(error)}")
        return BAD_INPUT
    except KeyboardInterrupt:
        console.warn("interrupted: nothing half-written is left")
        return _stopped(INTERRUPTED, signal.SIGINT)
    except Terminated:
        console.warn("terminated: nothing half-written is left")
        return _stopped(TERMINATED, signal.SIGTERM)


def _stopped(code: int, number: signal.Signals) -> int:
    """Go by the code, or, where a thread is still at work, by the signal itself: at once."""
    if left_behind():
        sys.stdout.flush()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    return code


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


@contextmanager
def _terminable() -> Iterator[None]:
    """Turn SIGTERM into an exception, so that temporary files are removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: Any) -> NoReturn:
        raise Terminated

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _warnings_to(console: Console) -> Iterator[None]:
    """Show warnings as single lines."""

    def show(message: Any, *_: Any) -> None:
        console.warn(f"note: {_one_line(message)}")

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        setattr(warnings, "showwarning", show)  # noqa: B010 (its declared type is narrower)
        yield
