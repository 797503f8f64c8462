"""What every page begins and ends with: configuration, navigation, shared choices, the URL."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import streamlit as st
from streamlit.errors import StreamlitAPIException

from kmviz.ui import controls, problem, state
from kmviz.ui.params import Param

#: Title, file, icon and one line for each page, in the order of the menu.
PAGES = (
    (
        "Start",
        "app.py",
        ":material/explore:",
        "The data, the machine, and what each answer costs today.",
    ),
    (
        "Nearest support vectors",
        "pages/1_Nearest_Support_Vectors.py",
        ":material/target:",
        "Look at the most similar support vectors first and stop once the sign is settled.",
    ),
    (
        "Anytime bounds",
        "pages/2_Anytime_Bounds.py",
        ":material/straighten:",
        "Narrow a guaranteed interval around f(x) step by step until it leaves zero behind.",
    ),
    (
        "Reduced set",
        "pages/3_Reduced_Set.py",
        ":material/compress:",
        "Replace thousands of support vectors by a handful that say nearly the same.",
    ),
    (
        "Local models",
        "pages/4_Local_Models.py",
        ":material/map:",
        "Train many small machines and let the nearest one answer.",
    ),
    (
        "Support vector tree",
        "pages/5_Support_Vector_Tree.py",
        ":material/account_tree:",
        "Ask one support vector at each fork: ten comparisons lead to an answer.",
    ),
    (
        "Compare",
        "pages/6_Compare.py",
        ":material/balance:",
        "All methods on your data: cost against agreement.",
    ),
    (
        "Papers",
        "pages/7_Papers.py",
        ":material/menu_book:",
        "The published tables, ours beside theirs.",
    ),
)
ICON = "🧭"  # in the browser's tab: a :material/ icon there would ask a font host
_ROOT = Path(__file__).resolve().parents[2]
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
    for title, file, icon, _ in PAGES:
        page_link(title, file, icon)


def page_link(title: str, file: str, icon: str, label: str | None = None) -> None:
    """Draw a link to a page that exists."""
    if not (_ROOT / file).exists():
        return
    try:
        st.page_link(file, label=label or title, icon=icon, query_params=state.link(title))
    except StreamlitAPIException:
        # A page that is run by itself, as a test may do, has no neighbours to link to.
        st.caption(label or title)


def copy_link() -> None:
    """Draw the link that rebuilds this view."""
    with st.popover("Copy link", icon=":material/link:", width="stretch"):
        if st.session_state["data"] == "upload":
            st.caption("Your own data is not in the link: whoever opens it sees the banana data.")
        else:
            st.caption("Rebuilds this view: data, machine, query and what this page shows.")
        st.code(state.address(), language=None, wrap_lines=True)
