"""The lesson that a visitor follows: a question beside the picture, the answer on request.

A part is drawn when a page begins. Its answer quotes figures that the page has not made yet: they
are noted as they are drawn and filled in when the page ends. What is quoted is what the part's
own view showed, so that the answer stays true after the visitor has moved on from it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from kmviz import lessons
from kmviz.lessons import Lesson, Part
from kmviz.ui import present
from kmviz.ui.shell import menu, url

_NOTED, _OPEN = "kmviz.noted", "kmviz.part"
_FIGURES, _REVEALED = "kmviz.figures", "kmviz.revealed"
_HANDOUT, _TOLD = "kmviz.handout", "kmviz.told"


@dataclass(frozen=True)
class _Open:
    """The part that is drawn: whose it is, on which page, and where its answer goes."""

    lesson: Lesson
    number: int
    title: str
    place: Any

    @property
    def part(self) -> Part:
        return self.lesson.parts[self.number - 1]

    @property
    def key(self) -> str:
        return f"lesson_{self.lesson.slug}_{self.number}"


def note(label: str, value: Any) -> None:
    """Remember a figure that the page shows, where it is shown first: an answer may quote it."""
    st.session_state.setdefault(_NOTED, {}).setdefault(label, str(value))


def is_asking() -> bool:
    """Return True if a question stands open: then the page is not to say the answer beside it."""
    now: _Open | None = st.session_state.get(_OPEN)
    return now is not None and now.key not in st.session_state.get(_REVEALED, {})


def tell() -> None:
    """Fill in the answer, if it was asked for, once the page shows every figure that it quotes.

    What stands further down a page may take a while.
    """
    session = st.session_state
    now: _Open | None = session.get(_OPEN)
    if now is None or session[_TOLD] or now.key not in session.get(_REVEALED, {}):
        return
    if now.part.figures <= session[_NOTED].keys() and _is_here(now):
        session[_TOLD] = True
        now.place.success(now.part.answered(session[_NOTED]))


def _is_here(now: _Open) -> bool:
    """Return True if the page shows the part's own view."""
    part = now.part
    return now.title == part.page and url.is_at(part.view, menu.named(part.page).opening)


def link(lesson: Lesson, number: int, label: str, icon: str) -> None:
    """Draw a link to a part of a lesson, in its own view."""
    part = lesson.parts[number - 1]
    view = part.view | {"lesson": lesson.slug, "part": str(number)}
    if present.is_on():
        view |= {"present": "true"}
    page = menu.named(part.page)
    if url.here() != part.page:
        menu.page_link(page, label, view, icon)
        return
    key = f"to_{lesson.slug}_{number}_{label}"
    show, given = url.show, (view, page.opening)
    st.button(label, key, icon=icon, type="tertiary", on_click=show, args=given)


def begin(title: str, place: Any) -> None:
    """Draw the part that the URL names, if it names one.

    Parameters
    ----------
    title : the page's
    place : where in the sidebar
    """
    session = st.session_state
    session[_NOTED], session[_OPEN], session[_TOLD] = {}, None, False
    if not session["lesson"]:
        return
    lesson = lessons.load(session["lesson"])
    number = min(session["part"] or 1, len(lesson.parts))
    name = f"**{lesson.title}** · part {number} of {len(lesson.parts)}"
    with st.container(key="lesson_hint"):  # shown where the sidebar is folded away
        st.caption(f"{name}: the question is in the sidebar (») on the left.")
    with place.container(border=True, key="lesson"):
        st.caption(name)
        now = _Open(lesson, number, title, st)
        _ways(now)  # above all that comes and goes: whoever aims at a link hits it
        st.markdown(f"**{now.part.question}**")
        with st.container():  # what follows keeps its place: nothing is left over while a page runs
            _choose(now)
        session[_OPEN] = _Open(lesson, number, title, st.container())  # seen without scrolling
        st.markdown(f":material/visibility: {now.part.look}")
        _ends(lesson)


def end(offer: Callable[[Any], None]) -> None:
    """Fill in the answer, if it was asked for, with the figures of the part's own view.

    Parameters
    ----------
    offer : draws the handout, if it was asked for, in a place
    """
    session = st.session_state
    now: _Open | None = session.get(_OPEN)
    if now is None:
        return
    part, seen, here = now.part, session.setdefault(_FIGURES, {}), _is_here(now)
    if here:
        seen[now.key] = session[_NOTED]
    offer(now.place)
    with now.place:
        if not here:
            st.warning("You have moved on from the view that this question is about.")
            link(now.lesson, now.number, "Back to the question's view", ":material/undo:")
        if now.key in session.get(_REVEALED, {}) and not session[_TOLD]:
            if now.key in seen:
                st.success(part.answered(seen[now.key]))
            else:
                st.info("The answer quotes figures of the question's view: go back to it first.")


def _choose(now: _Open) -> None:
    """Draw the choices, and which was taken once the answer is out."""
    texts = [text for text, _ in now.part.choices]
    taken = st.session_state.get(_REVEALED, {}).get(now.key)
    if taken is None:
        choice = st.radio(
            now.part.question, range(len(texts)), index=None, format_func=texts.__getitem__,
            key=now.key, label_visibility="collapsed",
        )  # fmt: skip
        st.button(
            "Reveal", key=f"{now.key}_reveal", width="stretch", type="primary",
            disabled=choice is None and not present.is_on(),  # a class has voted by hands
            on_click=_reveal, args=(now.key, -1 if choice is None else choice),
        )  # fmt: skip
        return
    if taken >= 0:
        st.markdown("**Right.**" if now.part.choices[taken][1] else "**Not quite.**")
    for k, (text, right) in enumerate(now.part.choices):
        mark = ":green[:material/check_circle:]" if right else ":red[:material/cancel:]"
        if right or k == taken:  # the others would push the answer off a low screen
            st.markdown(f"{mark} {text}{' *(your choice)*' if k == taken else ''}")


def _reveal(key: str, choice: int) -> None:
    st.session_state.setdefault(_REVEALED, {})[key] = choice


def _ways(now: _Open) -> None:
    """Draw the links to the parts before and after, each in a place of its own."""
    lesson, number = now.lesson, now.number
    slugs = lessons.names()
    after = slugs[slugs.index(lesson.slug) + 1 :]
    with st.container(
        horizontal=True, horizontal_alignment="right", vertical_alignment="center", gap=None
    ):
        back, on = st.container(width="content"), st.container(width="content")
    if number > 1:
        with back:
            link(lesson, number - 1, "Previous", ":material/arrow_back:")
    with on:
        if number < len(lesson.parts):
            link(lesson, number + 1, "Next", ":material/arrow_forward:")
        elif after:
            link(lessons.load(after[0]), 1, "Next", ":material/arrow_forward:")


def _ends(lesson: Lesson) -> None:
    """Draw the ways out: on paper, and without."""
    with st.container(horizontal=True, horizontal_alignment="right"):
        st.button(
            "Handout", key="handout", type="tertiary", icon=":material/print:",
            on_click=_ask_for_handout, args=(lesson.slug,),
            help="Questions with pictures and room to write, answers on a page apart: to print.",
        )  # fmt: skip
        st.button("End the lesson", key="lesson_end", type="tertiary", on_click=_leave)


def _ask_for_handout(slug: str) -> None:
    st.session_state[_HANDOUT] = slug


def handout_asked() -> Lesson | None:
    """Return the lesson that is to be had on paper, asked for just now."""
    slug = st.session_state.pop(_HANDOUT, "")
    return lessons.load(slug) if slug else None


def _leave() -> None:
    url.put(lesson="", part=None)
