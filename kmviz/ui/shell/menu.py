"""The menu: every page with its title, icon and opening view, and links to them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st
from streamlit.errors import StreamlitAPIException

from kmviz.methods.register import METHODS
from kmviz.ui.shell import url


@dataclass(frozen=True)
class Page:
    """One entry of the menu."""

    title: str
    file: str
    icon: str
    line: str
    opening: Mapping[str, str]

    @property
    def path(self) -> str:
        """What follows the host in a link to the page."""
        return re.sub(r"^(pages/\d+_|app)|\.py$", "", self.file)


#: The pages of the methods: each once, with the icon and the line of the method it is for.
METHOD_PAGES = tuple(
    Page(one.page_title, one.page, one.icon, one.line, one.opening)
    for one in sorted(METHODS, key=lambda one: one.page)
    if one.icon
)
START = Page(
    "Start", "app.py", ":material/explore:",
    "The data, the machine, and what each answer costs today.",
    {"data": "banana", "C": "0.3", "gamma": "2", "query": "523"},
)  # fmt: skip
COMPARE = Page(
    "Compare", "pages/6_Compare.py", ":material/balance:",
    "All methods on your data: accuracy against cost.",
    {"data": "banana"},
)  # fmt: skip
PAPERS = Page(
    "Papers", "pages/7_Papers.py", ":material/menu_book:",
    "Our results and the published ones.",
    {},
)  # fmt: skip
#: Every page, in the order of the menu.
PAGES = (START, *METHOD_PAGES, COMPARE, PAPERS)


def named(title: str) -> Page:
    """Return the page with this title."""
    return next(page for page in PAGES if page.title == title)


def page_link(
    page: Page,
    label: str | None = None,
    view: Mapping[str, str] | None = None,
    icon: str | None = None,
) -> None:
    """Draw a link to a page: with the choices made so far, or with a view of its own."""
    label = label or page.title
    view = url.link(page.title) if view is None else view
    try:
        st.page_link(page.file, label=label, icon=icon or page.icon, query_params=dict(view))
    except StreamlitAPIException:
        # A page that is run by itself, as a test may do, has no neighbours to link to.
        st.caption(label)
