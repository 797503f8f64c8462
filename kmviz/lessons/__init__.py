"""Lessons: Markdown files beside this one, read, checked, and refused with line and reason.

A lesson is written without Python. Its file begins with a head between two lines `---` that says
`title`, `level` and `minutes`. Each part begins with a heading `## ...`; below it stand `page` (the
page's title), `view` (URL parameters, as after the `?` of a link) and any number of `check` lines
(a figure of the page, a comparison, a number: what must hold for the text to be true). Then come
four sections, `### Question`, `### Choices` (a list, `[x]` before what is right and `[ ]` before
what is not), `### Look` and `### Answer`. `{Mean k}` in an answer stands for the figure that the
page shows under that name.
"""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn
from urllib.parse import parse_qsl

FOLDER = Path(__file__).parent
LEVELS = ("first look", "a closer look", "in depth")
SECTIONS = ("Question", "Choices", "Look", "Answer")
COMPARISONS = {
    "<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt, "=": operator.eq,
}  # fmt: skip
_CHOICE = re.compile(r"- \[(x| )\] (.+)")
_CHECK = re.compile(r"(.+?) (<=|>=|<|>|=) (-?[\d.]+)$")
_FIGURE = re.compile(r"\{([^{}]+)\}")


class LessonError(ValueError):
    """A lesson file that cannot be read: says file, line and reason."""


@dataclass(frozen=True)
class Check:
    """What must hold of a figure of the page."""

    figure: str
    comparison: str
    number: float

    def holds(self, value: float) -> bool:
        return bool(COMPARISONS[self.comparison](value, self.number))


@dataclass(frozen=True)
class Part:
    """One step of a lesson: a view, a question, an answer.

    Attributes
    ----------
    page : str
        The title of the page to look at.
    view : dict
        Its URL parameters.
    choices : tuple of (text, whether it is right)
    """

    title: str
    page: str
    view: dict[str, str]
    checks: tuple[Check, ...]
    question: str
    choices: tuple[tuple[str, bool], ...]
    look: str
    answer: str

    @property
    def figures(self) -> set[str]:
        """The figures of the page that the answer quotes."""
        return set(_FIGURE.findall(self.answer))

    def answered(self, figures: dict[str, str]) -> str:
        """Return the answer with the figures of this run filled in; one that is missing is said."""
        return _FIGURE.sub(
            lambda found: figures.get(found[1], f"(no figure '{found[1]}' here)"), self.answer
        )


@dataclass(frozen=True)
class Lesson:
    """A lesson; `slug` is its file's name and what the URL says."""

    slug: str
    title: str
    level: str
    minutes: int
    parts: tuple[Part, ...]


def names() -> tuple[str, ...]:
    """Return the slugs of all lessons, in teaching order."""
    return tuple(path.stem.split("_", 1)[1] for path in sorted(FOLDER.glob("*.md")))


def load(slug: str) -> Lesson:
    """Return a lesson by its slug.

    Examples
    --------
    >>> from kmviz import lessons
    >>> lessons.load("effort").title
    'Effort follows difficulty'
    """
    found = next((path for path in FOLDER.glob("*.md") if path.stem.split("_", 1)[1] == slug), None)
    if found is None:
        raise LessonError(f"No lesson is called {slug!r}; there are {', '.join(names())}.")
    return parse(found.read_text(encoding="utf-8"), slug)


def parse(text: str, slug: str) -> Lesson:
    """Return the lesson that a file's text holds."""
    reader = _Reader(slug, text.splitlines())
    head = reader.head()
    parts = []
    while reader.more():
        parts.append(reader.part())
    if not parts:
        reader.refuse("there is no part: begin one with '## Its title'")
    return Lesson(slug, head["title"], head["level"], int(head["minutes"]), tuple(parts))


class _Reader:
    """Reads a lesson line by line, and knows where it is."""

    def __init__(self, slug: str, lines: list[str]) -> None:
        self.slug, self.lines, self.at = slug, lines, 0

    def refuse(self, reason: str, line: int | None = None) -> NoReturn:
        raise LessonError(f"{self.slug}, line {(self.at if line is None else line) + 1}: {reason}.")

    def more(self) -> bool:
        while self.at < len(self.lines) and not self.lines[self.at].strip():
            self.at += 1
        return self.at < len(self.lines)

    def head(self) -> dict[str, str]:
        if not self.more() or self.lines[self.at].strip() != "---":
            self.refuse("a lesson begins with a line '---'")
        self.at += 1
        found: dict[str, str] = {}
        while self.at < len(self.lines) and self.lines[self.at].strip() != "---":
            name, value = self.pair({"title", "level", "minutes"})
            found[name] = value
        if self.at == len(self.lines):
            self.refuse("the head does not end: close it with a line '---'", self.at - 1)
        for name in ("title", "level", "minutes"):
            if name not in found:
                self.refuse(f"the head does not say {name!r}")
        if found["level"] not in LEVELS:
            self.refuse(f"level is {found['level']!r}; it may be {', '.join(LEVELS)}")
        if not found["minutes"].isdigit():
            self.refuse(f"minutes is {found['minutes']!r}, not a whole number")
        self.at += 1
        return found

    def pair(self, known: set[str]) -> tuple[str, str]:
        name, colon, value = self.lines[self.at].partition(":")
        if not colon or name.strip() not in known or not value.strip():
            self.refuse(f"expected one of {', '.join(sorted(known))} as 'name: value'")
        self.at += 1
        return name.strip(), value.strip()

    def part(self) -> Part:
        heading = self.lines[self.at]
        if not heading.startswith("## "):
            self.refuse("a part begins with '## Its title'")
        self.at += 1
        page, view, checks = "", {}, []
        while self.more() and not self.lines[self.at].startswith("#"):
            name, value = self.pair({"page", "view", "check"})
            if name == "page":
                page = value
            elif name == "view":
                view = dict(parse_qsl(value.lstrip("?"), keep_blank_values=True))
            else:
                checks.append(self.check(value))
        if not page:
            self.refuse("the part does not say 'page: ...'")
        text = {name: self.section(name) for name in SECTIONS}
        return Part(
            title=heading[3:].strip(),
            page=page,
            view=view,
            checks=tuple(checks),
            question=text["Question"],
            choices=self.choices(text["Choices"]),
            look=text["Look"],
            answer=text["Answer"],
        )

    def check(self, text: str) -> Check:
        found = _CHECK.match(text)
        if found is None:
            self.refuse("a check reads 'Figure < number'", self.at - 1)
        return Check(found[1].strip(), found[2], float(found[3]))

    def section(self, name: str) -> str:
        if not self.more() or self.lines[self.at].strip() != f"### {name}":
            self.refuse(f"expected '### {name}'")
        self.at += 1
        begin = self.at
        while self.at < len(self.lines) and not self.lines[self.at].startswith("#"):
            self.at += 1
        text = "\n".join(self.lines[begin : self.at]).strip()
        if not text:
            self.refuse(f"the section {name!r} is empty", begin)
        return text

    def choices(self, text: str) -> tuple[tuple[str, bool], ...]:
        found = []
        for line in text.splitlines():
            choice = _CHOICE.fullmatch(line.strip())
            if choice is None:
                self.refuse(f"a choice reads '- [ ] ...' or '- [x] ...', not {line!r}")
            found.append((choice[2], choice[1] == "x"))
        if len(found) < 2 or not any(right for _, right in found):
            self.refuse("a question needs two choices or more, and one that is right")
        return tuple(found)
