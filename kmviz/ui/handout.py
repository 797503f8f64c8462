"""A lesson on paper: questions with pictures and room to write; answers on a page apart.

A part's picture and figures are made from its view, whether or not somebody has looked at it, by
what its page draws and counts. The picture is a still one, drawn by the browser that prints it,
without a network.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from kmviz.charts import plotly
from kmviz.lessons import Lesson, Part
from kmviz.ui import falk, falk_views, lesson, present, reduced
from kmviz.ui.pages import anytime, compare, nsv, start, svtree
from kmviz.ui.runtime.problem import load_chosen, trained
from kmviz.ui.shell import menu, url
from kmviz.views import compare as views
from kmviz.views.controls import setting

#: The pages of methods: what each makes of values, its picture, its figures.
METHODS: dict[str, Any] = {one.PAGE.title: one.PAGE for one in (nsv, anytime, svtree)} | {
    "Reduced set": SimpleNamespace(
        own=reduced.OWN, view=reduced.view, picture=reduced.picture_of, figures=reduced.figures
    ),
    "Local models": SimpleNamespace(
        own=falk.OWN,
        view=falk.view,
        picture=falk.picture_of,
        figures=lambda at: named(falk_views.metrics(at.now.problem, at.page)),
    ),
}
#: Pixels of a picture on paper.
WIDTH, HEIGHT = 660, 340

_STYLE = """
body {font: 12pt/1.45 Georgia, serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem;
  color: #000; background: #fff}
h1 {margin-bottom: 0} h2 {margin: 1.6rem 0 0.3rem; font-size: 1.1rem}
.part {break-inside: avoid}
.code {float: right; margin: 0 0 0.5rem 1rem; text-align: center; font-size: 8pt; width: 9rem}
.code svg {width: 8.5rem; height: 8.5rem} ul {list-style: "☐  "; padding-left: 1.5rem}
.picture {clear: both; width: 100%; overflow: hidden} .picture > div {margin: 0 auto}
.room {border-bottom: 1px solid #bbb; height: 1.9rem} .answers {break-before: page}
a {color: inherit; word-break: break-all}
"""


def offer(place: Any) -> None:
    """Make the handout that was asked for in this run, and draw the way to have it.

    Parameters
    ----------
    place : where
    """
    asked = lesson.handout_asked()
    if asked is None:
        return
    shown = [view(part) for part in asked.parts]
    with place:
        st.download_button(
            "Save the handout", page(asked, url.root(), shown),
            f"{asked.slug}.html", "text/html", key="handout_save", on_click="ignore",
            type="primary", width="stretch", icon=":material/download:",
        )  # fmt: skip
        st.caption("An HTML page that needs no network: open it and print.")


def view(part: Part) -> tuple[Any, dict[str, str]]:
    """Return the chart of a part's view, and the figures that its page shows."""
    method = METHODS.get(part.page)
    own = compare.OWN if method is None else method.own
    said = url.values_of(part.view, menu.named(part.page).opening, own)
    problem = trained(load_chosen(said), said)
    if method is not None:
        at = method.view(problem, said)
        figures = method.figures(at) | {"This query": f"{at.cost():,}"}
        if said["a"]:
            kept = method.view(problem, said | setting(said["a"]))
            figures["A: this query"] = f"{kept.cost():,}"
        return method.picture(at), figures
    if part.page == "Compare":
        table = compare.measured(compare.measurements(problem), said["methods"], said["cost"])
        return views.picture(table, said["cost"], advised=False), views.figures(table)
    return start.map_chart(problem), named(start.metrics(problem))


def named(metrics: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    """Return figures in a row by their names."""
    return {label: value for label, value, _ in metrics}


def page(lesson: Lesson, root: str, shown: Sequence[tuple[Any, Mapping[str, str]]]) -> str:
    """Return the handout as an HTML page that asks nothing of a network.

    Parameters
    ----------
    root : where the app is, as "http://host:port"
    shown : the chart and the figures of each part
    """
    parts = list(enumerate(lesson.parts, 1))
    questions = "".join(
        _question(lesson, number, root, chart) for (number, _), (chart, _) in zip(parts, shown)
    )
    answers = "".join(
        _answer(part, number, figures) for (number, part), (_, figures) in zip(parts, shown)
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(lesson.title)}'
        f"</title><style>{_STYLE}</style>{plotly.script()}<h1>{escape(lesson.title)}</h1>"
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


def _question(lesson: Lesson, number: int, root: str, chart: Any) -> str:
    part, address = lesson.parts[number - 1], link(lesson, number, root)
    choices = "".join(f"<li>{_text(text)}</li>" for text, _ in part.choices)
    code = present.svg(address) or ""
    return (
        f'<section class="part"><h2>{number}. {_text(part.title)}</h2>'
        f'<div class="code">{code}<br><a href="{escape(address)}">open this view</a></div>'
        f"<p>{_text(part.question)}</p><ul>{choices}</ul><p><i>{_text(part.look)}</i></p>"
        f'<div class="picture">{plotly.printed(chart, WIDTH, HEIGHT)}</div>'
        f"{'<div class=room></div>' * 4}</section>"
    )


def _answer(part: Part, number: int, figures: Mapping[str, str]) -> str:
    right = "; ".join(_text(text) for text, is_right in part.choices if is_right)
    said = _text(part.answered(dict(figures)))
    return f"<h2>{number}. {_text(part.title)}</h2><p><b>{right}.</b> {said}</p>"


def _text(markdown: str) -> str:
    """Return words in bold or italics as HTML; everything else letter by letter."""
    bold = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(markdown))
    return re.sub(r"(?<!\w)\*(.+?)\*(?!\w)", r"<i>\1</i>", bold)
