"""A lesson on paper: questions with room to write, each with its link; answers on a page apart."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from urllib.parse import urlencode

from kmviz.lessons import Lesson, Part
from kmviz.ui import menu, present

_STYLE = """
body {font: 12pt/1.45 Georgia, serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem;
  color: #000; background: #fff}
h1 {margin-bottom: 0} h2 {margin: 1.6rem 0 0.3rem; font-size: 1.1rem}
.part {break-inside: avoid}
.code {float: right; margin: 0 0 0.5rem 1rem; text-align: center; font-size: 8pt; width: 9rem}
.code svg {width: 8.5rem; height: 8.5rem} ul {list-style: "☐  "; padding-left: 1.5rem}
.room {border-bottom: 1px solid #bbb; height: 1.9rem} .answers {break-before: page}
a {color: inherit; word-break: break-all}
"""


def page(lesson: Lesson, root: str, seen: Mapping[int, Mapping[str, str]]) -> str:
    """Return the handout as an HTML page that asks nothing of a network.

    Parameters
    ----------
    root : where the app is, as "http://host:port"
    seen : the figures of parts that were looked at, by number; others are left to fill in
    """
    parts = list(enumerate(lesson.parts, 1))
    questions = "".join(_question(lesson, part, number, root) for number, part in parts)
    answers = "".join(_answer(part, number, seen.get(number, {})) for number, part in parts)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(lesson.title)}'
        f"</title><style>{_STYLE}</style><h1>{escape(lesson.title)}</h1>"
        f"<p>{escape(lesson.level.capitalize())}, {lesson.minutes} minutes. Name: "
        f"{'_' * 30}</p>{questions}"
        f'<section class="answers"><h1>Answers: {escape(lesson.title)}</h1>{answers}</section>'
        "</html>"
    )


def link(lesson: Lesson, number: int, root: str) -> str:
    """Return the address of a part."""
    part = lesson.parts[number - 1]
    view = part.view | {"lesson": lesson.slug, "part": str(number)}
    return f"{root}/{menu.named(part.page).path}?{urlencode(view, safe=',')}"


def _question(lesson: Lesson, part: Part, number: int, root: str) -> str:
    address = link(lesson, number, root)
    choices = "".join(f"<li>{_text(text)}</li>" for text, _ in part.choices)
    code = present.svg(address) or ""
    return (
        f'<section class="part"><h2>{number}. {_text(part.title)}</h2>'
        f'<div class="code">{code}<br><a href="{escape(address)}">open this view</a></div>'
        f"<p>{_text(part.question)}</p><ul>{choices}</ul><p><i>{_text(part.look)}</i></p>"
        f"{'<div class=room></div>' * 4}</section>"
    )


def _answer(part: Part, number: int, seen: Mapping[str, str]) -> str:
    figures = {name: seen.get(name, f"____ ({name})") for name in part.figures}
    right = "; ".join(_text(text) for text, is_right in part.choices if is_right)
    said = _text(part.answered(figures))
    return f"<h2>{number}. {_text(part.title)}</h2><p><b>{right}.</b> {said}</p>"


def _text(markdown: str) -> str:
    """Return words in bold or italics as HTML; everything else letter by letter."""
    bold = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(markdown))
    return re.sub(r"(?<!\w)\*(.+?)\*(?!\w)", r"<i>\1</i>", bold)
