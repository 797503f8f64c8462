"""Progress and messages on standard error; the one error that ends a command with code 2."""

from __future__ import annotations

import sys
import time


class BadInput(Exception):
    """What the user gave cannot be used; the message is the one line that says why."""


class Console:
    """Progress as a line that renews itself on a terminal, as few lines elsewhere.

    Parameters
    ----------
    quiet : bool
        True keeps everything but warnings to itself.
    """

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self._terminal = sys.stderr.isatty()
        self._said = 0.0
        self._open = False
        self._share = 0.0

    def progress(self, share: float, text: str) -> None:
        """Show how far the work has come; at most a line in two seconds away from a terminal.

        Parts of the work report as if each were all of it: what is shown never falls.
        """
        if self.quiet:
            return
        self._share = share = max(share, self._share)
        now = time.monotonic()
        if self._terminal:
            print(f"\r\033[K{share:4.0%} {text}"[:120], end="", file=sys.stderr, flush=True)
            self._open = True
        elif now - self._said >= 2:
            print(f"{share:4.0%} {text}", file=sys.stderr, flush=True)
            self._said = now

    def say(self, text: str) -> None:
        """Say something worth keeping."""
        if not self.quiet:
            self._line(text)

    def warn(self, text: str) -> None:
        """Say what must not be missed, quiet or not."""
        self._line(text)

    def _line(self, text: str) -> None:
        if self._open:
            print(file=sys.stderr)
            self._open = False
        print(text, file=sys.stderr, flush=True)
