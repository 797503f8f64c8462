"""What every page begins and ends with: configuration, navigation, shared choices, the URL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st
from streamlit.errors import StreamlitAPIException

from kmviz.methods.register import METHODS
from kmviz.ui import controls, problem, state
from kmviz.ui.params import Control, Param


@dataclass(frozen=True)
class Page:
    """One entry of the menu."""

    title: str
    file: str
    icon: str
    line: str
    opening: Mapping[str, str]


#: The pages of the methods: each once, with the icon and the line of the method it is for.
METHOD_PAGES = tuple(
    Page(one.page_title, one.page, one.icon, one.line, one.opening)
    for one in sorted(METHODS, key=lambda one: one.page)
    if one.icon
)
START = Page(
    "Start", "app.py", ":material/explore:",
    "The data, the machine, and what each answer costs today.",
    {"data": "checkerboard", "noise": "0", "C": "10", "gamma": "5"},
)  # fmt: skip
COMPARE = Page(
    "Compare", "pages/6_Compare.py", ":material/balance:",
    "All methods on your data: accuracy against cost.",
    {"data": "banana"},
)  # fmt: skip
PAPERS = Page(
    "Papers", "pages/7_Papers.py", ":material/menu_book:",
    "The published tables, ours beside theirs.",
    {},
)  # fmt: skip
#: Every page, in the order of the menu.
PAGES = (START, *METHOD_PAGES, COMPARE, PAPERS)
ICON = "🧭"  # in the browser's tab: a :material/ icon there would ask a font host
#: A window may be low: no empty strip above the title, numbers in one line, so that the first
#: picture shows whole. Beside the menu a narrow one has no room for columns, or on a phone for a
#: second metric: they stand below one another.
_ROOM = """<style>
[data-testid="stMainBlockContainer"] {padding-top: 2.2rem}
[data-testid="stMain"] h1 {font-size: 1.7rem; padding: 0.2rem 0}
[data-testid="stMain"] h3 {font-size: 1.15rem; padding: 0.2rem 0}
[data-testid="stMain"] [data-testid="stVerticalBlock"] {gap: 0.7rem}
[data-testid="stMain"] [data-testid="stMetric"] {padding: 0}
[data-testid="stMain"] [data-testid="stMetricValue"] {font-size: 1.25rem; line-height: 1.3}
[data-testid="stSidebar"] [data-testid="stVerticalBlock"] {gap: 0.5rem}
@media (max-width: 1000px) {
  [data-testid="stMain"] [data-testid="stColumn"] {min-width: min(20rem, 100%)}
}
</style>"""


def frame(
    title: str, own: Mapping[str, Control | Param] | None = None, heading: str | None = None
) -> problem.Problem:
    """Begin a page and return the problem it looks at.

    Parameters
    ----------
    title : one of the titles in `PAGES`
    own : the page's own choices by URL parameter; a widget with that `key=` edits one
    heading : what stands at the top of the page, if not the title
    """
    _begin(title, own, heading)
    with st.sidebar:
        controls.choose_data()
        data = problem.load_chosen()
        controls.choose_rows(data)
        controls.choose_machine()
    current = problem.current(data)
    with st.sidebar:
        controls.choose_query(len(current.data.y_test))
        copy_link()
    return problem.replace(current, query=st.session_state["query"])


def frame_without_data(
    title: str, own: Mapping[str, Control | Param] | None = None, heading: str | None = None
) -> None:
    """Begin a page that looks at no data: what was chosen for the others is kept."""
    _begin(title, own, heading)
    with st.sidebar:
        copy_link()


def _begin(title: str, own: Mapping[str, Control | Param] | None, heading: str | None) -> None:
    st.set_page_config(page_title=f"{title} · kmviz", page_icon=ICON, layout="wide")
    st.html(_ROOM)
    page = next(page for page in PAGES if page.title == title)
    state.arrive(title, own, page.opening)
    with st.sidebar:
        for entry in PAGES:
            page_link(entry)
    st.title(heading or title, anchor=False)
    if state.lost_upload():
        st.warning(
            "Your own data was forgotten with the session. Upload it again on the Start page; "
            "until then this page shows an example.",
            icon=":material/upload_file:",
        )


def finish() -> None:
    """End a page: write its choices into the URL."""
    state.settle()


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
            st.caption("Your own data is not in the link: whoever opens it sees an example.")
        else:
            st.caption("Rebuilds this view: data, machine, query and what this page shows.")
        st.code(state.address(), language=None, wrap_lines=True)
