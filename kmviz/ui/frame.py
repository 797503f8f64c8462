"""What every page begins and ends with: configuration, navigation, shared choices, the URL."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from kmviz.ui import (
    controls,
    handout,
    lesson,
    menu,
    present,
    problem,
    sketch,
    state,
    two,
    words,
    work,
)
from kmviz.ui.params import Control, Param

ICON = "🧭"  # in the browser's tab: a :material/ icon there would ask a font host
#: A window may be low: no empty strip above the title, numbers in one line, so that the first
#: picture shows whole. Beside the menu a narrow one has no room for columns, or on a phone for a
#: second metric: they stand below one another; small controls stand in pairs, lists to choose from
#: alone, so that what is chosen can be read. On a phone all controls stand in one row that a finger
#: moves, so that the picture is not far below: it fades out towards an arrow, and what comes last
#: can be moved clear of it. The bar with the menu lies over the top of the page, and points of a
#: crowded chart are named by its legend.
_ROOM = """<style>
[data-testid="stMainBlockContainer"] {padding: 2.2rem 2.5rem 4rem}
[data-testid="stMain"] h1 {font-size: 1.7rem; padding: 0.2rem 0}
[data-testid="stMain"] h3 {font-size: 1.15rem; padding: 0.2rem 0}
[data-testid="stMain"] [data-testid="stVerticalBlock"] {gap: 0.7rem}
[data-testid="stMain"] [data-testid="stVerticalBlock"]:has(> [class*="st-key-live_"]) {gap: 0}
[data-testid="stMain"] [data-testid="stMetric"] {padding: 0}
[data-testid="stMain"] [data-testid="stMetricValue"] {font-size: 1.25rem; line-height: 1.3}
[data-testid="stSidebar"] [data-testid="stVerticalBlock"] {gap: 0.5rem}
[data-testid="stSidebarHeader"] {height: 2.2rem; padding: 0.4rem 0.75rem 0; margin: 0}
[data-testid="stMain"] .st-key-heading {margin-bottom: -0.7rem; row-gap: 0}
[data-testid="stMain"] .st-key-heading button {min-height: 1.8rem; padding: 0 0.6rem}
.st-key-theme {position: absolute}
[data-testid="stSelectbox"] input {text-overflow: ellipsis}
:has(> .st-key-lesson_hint) {display: none}
[data-testid="stPopoverBody"] [class*="st-key-to_"] button {padding: 0 0.5rem; min-height: 1.75rem}
@media (max-width: 1000px) {
  [data-testid="stMain"] [data-testid="stColumn"] {min-width: min(20rem, 100%)}
  [data-testid="stMain"] .st-key-controls [data-testid="stColumn"] {min-width: min(9rem, 100%)}
  [data-testid="stMain"] .st-key-controls [data-testid="stColumn"]:has([data-testid="stSelectbox"])
    {min-width: min(16rem, 100%)}
}
@media (max-width: 768px) {
  :has(> .st-key-lesson_hint) {display: flex}
  [data-testid="stMainBlockContainer"] {padding: 3.75rem 1rem 4rem}
  .st-key-controls [data-testid="stHorizontalBlock"] {flex-wrap: nowrap; overflow-x: auto}
  .st-key-controls:has([data-testid="stColumn"] + *) {position: relative}
  .st-key-controls:has([data-testid="stColumn"] + *)::after {content: "›"; position: absolute;
    right: -0.4rem; bottom: 0; font-size: 1.8rem; line-height: 2.3rem; pointer-events: none}
  .st-key-controls [data-testid="stHorizontalBlock"]:has(> * + *) {padding-right: 2.5rem;
    mask: linear-gradient(to right, black calc(100% - 4rem), transparent calc(100% - 0.75rem))}
  [data-testid="stMain"] .st-key-controls [data-testid="stColumn"]:has([data-testid="stSelectbox"])
    {min-width: 94%}
  .st-key-frontier .textpoint {display: none}
}
</style>"""


def frame(
    title: str,
    own: Mapping[str, Control | Param] | None = None,
    heading: str | None = None,
    beside: Callable[[], None] | None = None,
) -> problem.Problem:
    """Begin a page and return the problem it looks at.

    Parameters
    ----------
    title : one of the titles in `menu.PAGES`
    own : the page's own choices by URL parameter; a widget with that `key=` edits one
    heading : what stands at the top of the page, if not the title
    beside : draws what stands beside the heading; default: the way to two settings
    """
    _begin(title, own, heading, beside)
    with st.sidebar:
        controls.choose_data()
    board = sketch.place(title)
    data = sketch.load(board)
    with st.sidebar:
        controls.choose_rows(data)
        controls.choose_machine()
    current = problem.current(data, lambda: sketch.show(board, None))
    sketch.show(board, current)
    with st.sidebar:
        controls.choose_query(len(current.data.y_test))
        copy_link()
        present.button()
        words.panel()
    return problem.replace(current, query=st.session_state["query"])


def frame_without_data(
    title: str, own: Mapping[str, Control | Param] | None = None, heading: str | None = None
) -> None:
    """Begin a page that looks at no data: what was chosen for the others is kept."""
    _begin(title, own, heading, None)
    with st.sidebar:
        copy_link()
        present.button()
        words.panel()


def _begin(
    title: str,
    own: Mapping[str, Control | Param] | None,
    heading: str | None,
    beside: Callable[[], None] | None,
) -> None:
    st.set_page_config(page_title=f"{title} · kmviz", page_icon=ICON, layout="wide")
    state.arrive(title, own, menu.named(title).opening)
    st.html(_ROOM + present.style())
    with st.sidebar:
        place = st.container()
        for entry in menu.PAGES:
            menu.page_link(entry)
    with st.container(horizontal=True, vertical_alignment="center", key="heading"):
        st.title(heading or title, anchor=False)
        if beside is not None:
            beside()
        elif "a" in (own or {}):
            two.buttons()
    # Early: with it the browser loads what mounts the first picture.
    work.bars_here()
    lesson.begin(title, place)
    if state.lost_upload():
        st.warning(
            "Your own data was forgotten with the session. Upload it again on the Start page; "
            "until then this page shows an example.",
            icon=":material/upload_file:",
        )


def finish() -> None:
    """End a page: fill in the lesson's figures, write the choices into the URL, make the rest."""
    lesson.end(handout.offer)
    present.bar()
    state.settle()
    work.catch_up()


def copy_link() -> None:
    """Draw the link that rebuilds this view."""
    with st.popover("Copy link", icon=":material/link:", width="stretch"):
        if st.session_state["data"] == "upload":
            st.caption("Your own data is not in the link: whoever opens it sees an example.")
        else:
            st.caption("Rebuilds this view: data, machine, query and what this page shows.")
        st.code(state.address(), language=None, wrap_lines=True)
        if st.toggle("QR code", key="qr"):
            present.code(state.address())
