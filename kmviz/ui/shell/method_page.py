"""How the page of a method is drawn: the sequence that all of them share."""

from __future__ import annotations

import streamlit as st

from kmviz.ui import follow, pictures, two
from kmviz.ui.pages import MethodPage
from kmviz.ui.shell import url, words
from kmviz.ui.shell.frame import finish, frame
from kmviz.ui.shell.parts import look_for, metrics, take_home
from kmviz.views.fitted import MethodView


def draw(page: MethodPage) -> None:
    """Draw a method's page from its first sentence to what can be taken home."""
    problem = frame(page.title, own=page.own)
    words.intro(page.sentence, *page.terms)
    page.draw_controls(problem)
    at = page.view(problem, {name: st.session_state[name] for name in url.names()})
    if page.notice is not None:
        page.notice(at)
    follow.line(at)
    _slider(page, at)
    two.section(page.view, page.picture)
    if page.more_numbers is not None:
        metrics(page.more_numbers(at))
    if page.hint is not None:
        look_for(page.hint(at))
    follow.section(at, page.vectors(at), page.ends, page.ends_name)
    page.own_part(at)
    take_home(
        at.now.problem, estimator=lambda: at.now.estimator(**at.choice), trace=at.trace.to_frame,
        picture=page.picture(at), code=page.code(at), name=at.now.method.name,
    )  # fmt: skip
    finish()


def _slider(page: MethodPage, at: MethodView) -> None:
    """Draw the slider with the pictures and the figures that follow it."""
    live = page.live(at)
    charts = live.charts()
    pictures.show(
        page.slider, page.label, live.positions, live.here, charts, numbers=live.numbers,
        note=live.note, columns=min(3, len(charts)), help=page.help, on_click=page.click,
    )  # fmt: skip
