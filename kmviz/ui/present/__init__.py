"""In front of a class (`?present=true`): larger type, one picture, no controls but the lesson's.

The page is the same; what is not for the class is out of sight. Keys go on (→), play (space),
reveal (R), show the next picture (V) and leave (Esc).
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import segno
import streamlit as st
from segno.encoder import DataOverflowError

from kmviz.ui import state

_keys = st.components.v2.component(
    "kmviz.keys", js=(Path(__file__).parent / "keys.js").read_text("utf-8")
)
_PICTURE = ':is([class*="st-key-live_"], [data-testid="stPlotlyChart"], [class*="st-key-sketch_"])'
_STYLE = f"""<style>
html {{font-size: 125%}}
[data-testid="stMainBlockContainer"] {{padding: 1.5rem 1.5rem 3rem}}
[data-testid="stHeader"], [data-testid="stSidebarHeader"] {{display: none}}
[data-testid="stMain"] :is(.st-key-controls, .st-key-intro, [data-testid="stMetric"]) {{
  display: none
}}
.st-key-keep_a {{display: none}}
[data-testid="stSidebar"] {{width: 19rem !important; min-width: 19rem}}
[data-testid="stSidebarUserContent"] {{padding: 1rem 0.75rem}}
[data-testid="stMainBlockContainer"] > [data-testid="stVerticalBlock"] > :has({_PICTURE})
  ~ :not(:has(.st-key-present_bar)) {{display: none}}
[data-testid="stSidebar"]:not(:has(.st-key-lesson)) {{display: none}}
[data-testid="stSidebarUserContent"] > div > [data-testid="stVerticalBlock"]
  > :not(:has(.st-key-lesson)) {{display: none}}
.st-key-present_bar {{position: fixed; right: 1rem; top: 0.75rem; width: auto; z-index: 99}}
</style>"""
KEYS = "→ next part · space plays · R reveals · V next picture · Esc leaves"


def is_on() -> bool:
    """Whether the page is shown to a class."""
    return bool(st.session_state.get("present"))


def style() -> str:
    """Return what puts out of sight what is not for a class."""
    return _STYLE if is_on() else ""


def button() -> None:
    """Draw the way into presenting."""
    st.button(
        "Present", icon=":material/slideshow:", width="stretch", key="present_begin",
        on_click=state.put, kwargs={"present": True},
        help=f"Larger type and one picture, for a class. Keys: {KEYS}.",
    )  # fmt: skip


def bar() -> None:
    """Draw what a presenter needs, in a corner: the link with its code, the way out, the keys."""
    if not is_on():
        return
    with st.container(key="present_bar", horizontal=True):
        with st.popover("Link and QR code", icon=":material/qr_code_2:"):
            code(state.address())
            st.code(state.address(), language=None, wrap_lines=True)
            st.caption(KEYS)
        st.button(
            "Leave", icon=":material/close:", key="present_end", on_click=state.put,
            kwargs={"present": False}, help="Esc",
        )  # fmt: skip
        _keys(key="present_keys")


def code(address: str) -> None:
    """Draw a link as a QR code."""
    picture = svg(address)
    if picture is None:
        st.caption("This link is too long for a QR code.")
    else:
        st.image(picture, width=300)


@lru_cache(maxsize=64)
def svg(address: str) -> str | None:
    """Return the QR code of a link as an SVG, dark on white; None where the link is too long."""
    try:
        made = segno.make(address, error="l", micro=False)
    except DataOverflowError:
        return None
    return made.svg_inline(omitsize=True, dark="black", light="white")
