"""The kinds of value that a URL can carry: how each is read, checked and written."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any


class Param:
    """A URL parameter with a default; a text that does not fit reads as the default."""

    default: Any = None

    def read(self, text: str | None) -> Any:
        """Return the value that `text` stands for."""
        if text is None:
            return self.default
        try:
            return self.check(self.parse(text))
        except ValueError:
            return self.default

    def parse(self, text: str) -> Any:
        """Return the value; ValueError if the text is none."""
        return text

    def check(self, value: Any) -> Any:
        """Return the value; ValueError if it is not allowed."""
        return value

    def fits(self, value: Any) -> bool:
        """Whether a value may stand."""
        try:
            self.check(value)
        except (ValueError, TypeError):
            return False
        return True

    def write(self, value: Any) -> str | None:
        """Return the text of a value, None for "leave it out"."""
        return str(value)


class Number(Param):
    """A number from `low` to `high`; whole if `default` is (or `whole` says so).

    `default` may be None or a word such as "scale": then that stands for "no number", and is
    left out of the URL.
    """

    def __init__(self, default: Any, low: float, high: float, whole: bool | None = None) -> None:
        self.default, self.low, self.high = default, low, high
        self.whole = isinstance(default, int) if whole is None else whole

    def parse(self, text: str) -> Any:
        if isinstance(self.default, str) and text == self.default:
            return self.default
        return float(text)

    def check(self, value: Any) -> Any:
        if isinstance(value, bool):
            raise ValueError("a number is wanted")
        if value is None or isinstance(value, str):
            if value != self.default:
                raise ValueError("a number is wanted")
            return value
        if not (math.isfinite(value) and self.low <= value <= self.high):
            raise ValueError(f"{value} is not in [{self.low}, {self.high}]")
        if self.whole and value != int(value):
            raise ValueError(f"{value} is not whole")
        return int(value) if self.whole else float(value)

    def write(self, value: Any) -> str | None:
        if value is None or isinstance(value, str):
            return None
        return str(int(value)) if value == int(value) else repr(float(value))


class Choice(Param):
    """One of several words, the first of them (or `default`) by default."""

    def __init__(self, *options: str, default: str | None = None) -> None:
        self.options = options
        self.default = options[0] if default is None else default

    def check(self, value: Any) -> Any:
        if value not in self.options:
            raise ValueError(f"{value} is none of {self.options}")
        return value


class Words(Param):
    """Several of several words, comma-separated; none of them reads as the default."""

    def __init__(self, *options: str, default: tuple[str, ...] | None = None) -> None:
        self.options = options
        self.default = list(options if default is None else default)

    def read(self, text: str | None) -> Any:
        return list(super().read(text))

    def parse(self, text: str) -> Any:
        words = text.split(",")
        return [word for word in self.options if word in words]

    def check(self, value: Any) -> Any:
        if not value or not set(value) <= set(self.options):
            raise ValueError(f"{value} are not among {self.options}")
        return value

    def write(self, value: Any) -> str | None:
        return ",".join(value)


@dataclass(frozen=True)
class Flag(Param):
    """true or false."""

    default: bool = False

    def parse(self, text: str) -> Any:
        if text not in ("true", "false"):
            raise ValueError(f"{text} is neither true nor false")
        return text == "true"

    def check(self, value: Any) -> Any:
        if not isinstance(value, bool):
            raise ValueError(f"{value} is neither true nor false")
        return value

    def write(self, value: Any) -> str | None:
        return "true" if value else "false"


class Text(Param):
    """A word whose meaning depends on other parameters (a pair of classes)."""

    default = ""

    def check(self, value: Any) -> Any:
        if not isinstance(value, str) or len(value) > 200:
            raise ValueError("a short text is wanted")
        return value

    def write(self, value: Any) -> str | None:
        return value or None
