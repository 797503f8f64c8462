"""Choices: the kinds of value that a URL can carry, and the words of the widgets that edit them.

A page's choices stand in one mapping, by URL parameter::

    OWN = {
        "w": Control("Window w", Number(10, 0, 200), help="Each threshold is the widest of w."),
        "order": Control("Order", Choice(*ORDERS), ORDERS),
    }

`ui.frame(title, own=OWN)` reads them from the URL, `ui.draw("w")` draws one, and
`ui.parameters("nsv")` gives what they say as parameters of the estimator: which URL parameter
drives which of them is said by the register alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from kmviz.datasets.drawing import read_drawing


class Param:
    """A URL parameter with a default; a text that does not fit reads as the default."""

    default: Any = None

    def read(self, text: str | None) -> Any:
        """Return the value that `text` stands for."""
        if text is None or not self.reads(text):
            return self.default
        return self.check(self.parse(text))

    def reads(self, text: str) -> bool:
        """Whether a text stands for a value."""
        try:
            self.check(self.parse(text))
        except ValueError:
            return False
        return True

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

    def opening_with(self, text: str) -> Param:
        """Return the same parameter with the value that `text` stands for as its default."""
        found = copy(self)
        found.default = self.read(text)
        return found


class Number(Param):
    """A number from `low` to `high`; whole if `default` is (or `whole` says so).

    `default` may be None or a word such as "scale": then that stands for "no number", and is
    left out of the URL unless `is_written`.
    """

    def __init__(
        self,
        default: Any,
        low: float,
        high: float,
        whole: bool | None = None,
        is_written: bool = False,
    ) -> None:
        self.default, self.low, self.high, self.is_written = default, low, high, is_written
        self.whole = isinstance(default, int) if whole is None else whole
        self.no_number = default if default is None or isinstance(default, str) else ()

    def parse(self, text: str) -> Any:
        return self.no_number if text == self.no_number else float(text)

    def check(self, value: Any) -> Any:
        if value == self.no_number:
            return value
        if value is None or isinstance(value, bool | str):
            raise ValueError("a number is wanted")
        if not (math.isfinite(value) and self.low <= value <= self.high):
            raise ValueError(f"{value} is not in [{self.low}, {self.high}]")
        if self.whole and value != int(value):
            raise ValueError(f"{value} is not whole")
        return int(value) if self.whole else float(value) + 0.0  # -0.0 is 0

    def write(self, value: Any) -> str | None:
        if value == self.no_number:
            return str(value) if self.is_written else None
        return str(int(value)) if value == int(value) else repr(float(value))


class Choice(Param):
    """One of several words, the first of them (or `default`) by default.

    The empty word stands for "none", and is left out of the URL.
    """

    def __init__(self, *options: str, default: str | None = None) -> None:
        self.options = options
        self.default = options[0] if default is None else default

    def check(self, value: Any) -> Any:
        if value not in self.options:
            raise ValueError(f"{value} is none of {self.options}")
        return value

    def write(self, value: Any) -> str | None:
        return value or None


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


class Flag(Param):
    """true or false."""

    def __init__(self, default: bool = False) -> None:
        self.default = default

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


class Switch(Flag):
    """On, or left out."""

    def write(self, value: Any) -> str | None:
        return "true" if value else None


class Text(Param):
    """A word whose meaning depends on other parameters (a pair of classes)."""

    default = ""

    def check(self, value: Any) -> Any:
        if not isinstance(value, str) or len(value) > 200:
            raise ValueError("a short text is wanted")
        return value

    def write(self, value: Any) -> str | None:
        return value or None


class Drawn(Param):
    """Points or a region drawn by hand, packed; the one to start from is left out."""

    default = ""

    def check(self, value: Any) -> Any:
        read_drawing(value)
        return value

    def write(self, value: Any) -> str | None:
        return value or None


class Setting(Param):
    """A setting that is kept beside the present one: "w~10,order~exact"; empty for none.

    Choices that it does not name are the present ones.

    Parameters
    ----------
    params : the choices that it may name
    """

    default = ""

    def __init__(self, params: Mapping[str, Param]) -> None:
        self.params = params

    def check(self, value: Any) -> Any:
        if not isinstance(value, str) or len(value) > 400:
            raise ValueError("a short text is wanted")
        self.values(value)
        return value

    def values(self, text: str) -> dict[str, Any]:
        """Return the choices that a text names; ValueError if it names others."""
        pairs = [part.partition("~")[::2] for part in text.split(",") if part]
        if not self.params.keys() >= {name for name, _ in pairs}:
            raise ValueError(f"{text} names none of {list(self.params)}")
        return {name: self._value(self.params[name], said) for name, said in pairs}

    def _value(self, param: Param, text: str) -> Any:
        if not text and isinstance(param, Number) and param.no_number != ():
            return param.no_number
        return param.check(param.parse(text))

    def text(self, values: Mapping[str, Any]) -> str:
        """Return the text that names all of its choices."""
        said = {name: param.write(values[name]) or "" for name, param in self.params.items()}
        return ",".join(f"{name}~{text}" for name, text in said.items())

    def write(self, value: Any) -> str | None:
        return value or None


@dataclass(frozen=True)
class Control:
    """One choice of the visitor's.

    Attributes
    ----------
    label : str
    param : Param
        How the URL carries it, its default and its limits.
    words : mapping
        Value -> how it is read out.
    help : str, optional
    values : tuple
        A number's steps, where they are not every number between its limits.
    is_typed : bool
        Whether a number is typed; otherwise it is a slider's.
    """

    label: str
    param: Param
    words: Mapping[Any, str] = field(default_factory=dict)
    help: str | None = None
    values: tuple[Any, ...] = ()
    is_typed: bool = False

    def spoken(self, value: Any) -> str:
        """Return how a value is read out."""
        return self.words.get(value) or (f"{value:g}" if isinstance(value, float) else str(value))
