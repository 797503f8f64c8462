"""What every page begins and ends with: configuration, navigation, shared choices, the URL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st
from streamlit.errors import StreamlitAPIException

from kmviz.methods.register import METHODS
from kmviz.ui import controls, problem, state
from kmviz.ui.params import Param


@dataclass(frozen=True)
class Page:
    """One entry of the menu."""

    title: str
    file: str
    icon: str
    line: str


#: The pages of the methods: each once, with the icon and the line of the method it is for.
METHOD_PAGES = tuple(
    Page(one.page_title, one.page, one.icon, one.line)
    for one in sorted(METHODS, key=lambda one: one.page)
    if one.icon
)
START = Page(
    "Start", "app.py", ":material/explore:",
    "The data, the machine, and what each answer costs today.",
)  # fmt: skip
COMPARE = Page(
    "Compare", "pages/6_Compare.py", ":material/balance:",
    "All methods on your data: accuracy against cost.",
)  # fmt: skip
PAPERS = Page(
    "Papers", "pages/7_Papers.py", ":material/menu_book:",
    "The published tables, ours beside theirs.",
)  # fmt: skip
#: Every page, in the order of the menu.
PAGES = (START, *METHOD_PAGES, COMPARE, PAPERS)
ICON = "🧭"  # in the browser's tab: a :material/ icon there would ask a font host
#: Beside the menu a narrow window has no room for columns: they stand below one another. A low
#: one has none for an empty strip above the title.
_ROOM = (
    '<style>[data-testid="stMainBlockContainer"] {padding-top: 3rem} @media (max-width: 1000px) '
    '{[data-testid="stMain"] [data-testid="stColumn"] {min-width: min(20rem, 100%)}}</style>'
)


def frame(
    title: str, own: Mapping[str, Param] | None = None, heading: str | None = None
) -> problem.Problem:
    """Begin a page and return the problem it looks at.

    Parameters
    ----------
    title : one of the titles in `PAGES`
    own : the page's own URL parameters by name; a widget with that `key=` edits one
    heading : what stands at the top of the page, if not the title
    """
    st.set_page_config(page_title=f"{title} · kmviz", page_icon=ICON, layout="wide")
    st.html(_ROOM)
    state.arrive(title, own)
    with st.sidebar:
        navigation()
        controls.choose_data()
        data = problem.load_chosen()
        controls.choose_rows(data)
        controls.choose_machine()
    st.title(heading or title, anchor=False)
    if state.lost_upload():
        st.warning(
            "Your own data was forgotten with the session. Upload it again on the Start page; "
            "until then this is the banana data.",
            icon=":material/upload_file:",
        )
    current = problem.current(data)
    with st.sidebar:
        controls.choose_query(len(current.data.y_test))
        copy_link()
    return problem.replace(current, query=st.session_state["query"])


def finish() -> None:
    """End a page: write its choices into the URL."""
    state.settle()


def navigation() -> None:
    """Draw the menu; its links carry the choices made."""
    for page in PAGES:
        page_link(page)


def page_link(page: Page, label: str | None = None) -> None:
    """Draw a link to a page."""
    label = label or page.title
    try:
        st.page_link(page.file, label=label, icon=page.icon, query_params=state.link(page.title))
    except StreamlitAPIException:
        # A page that is run by itself, as a test may do, has no neighbours to link to.
        st.caption(label)


def copy_link() -> None:
    """Draw the link that rebuilds this view."""
    with st.popover("Copy link", icon=":material/link:", width="stretch"):
        if st.session_state["data"] == "upload":
            st.caption("Your own data is not in the link: whoever opens it sees the banana data.")
        else:
            st.caption("Rebuilds this view: data, machine, query and what this page shows.")
        st.code(state.address(), language=None, wrap_lines=True)
