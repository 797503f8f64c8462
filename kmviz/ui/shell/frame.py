"""What every page begins and ends with: configuration, navigation, shared choices, the URL."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from kmviz.ui import lesson, present, sketch, two
from kmviz.ui.runtime import jobs, problem
from kmviz.ui.shell import controls, menu, url, words

_copy = st.components.v2.component(
    "kmviz.copy",
    html="<button>Copy link</button>",
    css="""button { font: inherit; font-size: 14px; color: var(--st-text-color); background: none;
  border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius);
  padding: 0.25rem 0.75rem; min-height: 2.5rem; cursor: pointer; }
button:hover { color: var(--st-primary-color); border-color: var(--st-primary-color); }""",
    js=Path(__file__).with_name("copy.js").read_text("utf-8"),
)
ICON = "🧭"  # in the browser's tab: a :material/ icon there would ask a font host
STYLE = Path(__file__).with_name("page.css")


def frame(
    title: str,
    own: tuple[str, ...] = (),
    heading: str | None = None,
    beside: Callable[[], None] | None = None,
) -> problem.Problem:
    """Begin a page and return the problem it looks at.

    Parameters
    ----------
    title : one of the titles in `menu.PAGES`
    own : the names of the page's own choices
    heading : what stands at the top of the page, if not the title
    beside : draws what stands beside the heading; default: the way to two settings
    """
    _begin(title, own, heading, beside)
    with st.sidebar.container(key="side_data"):
        controls.choose_data()
    board = sketch.place(title)
    data = sketch.load(board)
    with st.sidebar.container(key="side_machine"):
        controls.choose_rows(data)
        controls.choose_machine()
    current = problem.current(data, lambda: sketch.show(board, None))
    sketch.show(board, current)
    with st.sidebar.container(key="side_page"):
        controls.choose_query(len(current.data.y_test))
        link_and_reset()
        present.button()
        words.panel()
    return problem.replace(current, query=st.session_state["query"])


def frame_without_data(title: str, own: tuple[str, ...] = (), heading: str | None = None) -> None:
    """Begin a page that looks at no data: what was chosen for the others is kept."""
    _begin(title, own, heading, None)
    with st.sidebar.container(key="side_page"):
        link_and_reset()
        present.button()
        words.panel()


def _begin(
    title: str,
    own: tuple[str, ...],
    heading: str | None,
    beside: Callable[[], None] | None,
) -> None:
    st.set_page_config(page_title=f"{title} · kmviz", page_icon=ICON, layout="wide")
    url.begin(title, own, menu.named(title).opening)
    st.html(STYLE)
    place = st.sidebar.container()
    with st.sidebar.container(key="side_menu"):
        for entry in menu.PAGES:
            menu.page_link(entry)
    with st.container(horizontal=True, vertical_alignment="center", key="heading"):
        st.title(heading or title, anchor=False)
        if beside is not None:
            beside()
        elif "a" in own:
            two.buttons()
    jobs.begin()
    url.note_here()
    lesson.begin(title, place)
    if url.lost_upload():
        st.warning(
            "Your own data was forgotten with the session. Upload it again on the Start page; "
            "until then this page shows an example.",
            icon=":material/upload_file:",
        )


def finish() -> None:
    """End a page: fill in the lesson's figures, write the choices into the URL, make the rest."""
    lesson.end(_offer_handout)
    present.bar()
    url.end()
    jobs.finish()


def _offer_handout(place: Any) -> None:
    from kmviz.ui import handout  # it knows every page, and every page knows this frame

    handout.offer(place)


def link_and_reset() -> None:
    """Draw the link that rebuilds this view, and the way back to the page's opening settings."""
    with st.container(key="link", horizontal=True, gap="small"):
        _copy(key="copy_link", data=url.address(), width="content")
        st.button(
            "Reset this page", key="reset", on_click=url.reset,
            help="Brings back the settings that this page opens with, for this data set.",
        )  # fmt: skip
    with st.popover("Link and QR code", icon=":material/qr_code_2:", width="stretch"):
        if st.session_state["data"] == "upload":
            st.caption("Your own data is not in the link: whoever opens it sees an example.")
        else:
            st.caption("Rebuilds this view: data, machine, query and what this page shows.")
        st.code(url.address(), language=None, wrap_lines=True)
        if st.toggle("QR code", key="qr"):
            present.code(url.address())
