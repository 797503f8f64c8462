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

from kmviz.ui.shell import url

_keys = st.components.v2.component(
    "kmviz.keys", js=(Path(__file__).parent / "keys.js").read_text("utf-8")
)
KEYS = "→ next part · space plays · R reveals · V next picture · Esc leaves"


def is_on() -> bool:
    """Return True if the page is shown to a class."""
    return bool(st.session_state.get("present"))


def button() -> None:
    """Draw the way into presenting."""
    st.button(
        "Present", icon=":material/slideshow:", width="stretch", key="present_begin",
        on_click=url.put, kwargs={"present": True},
        help=f"Larger type and one picture, for a class. Keys: {KEYS}.",
    )  # fmt: skip


def bar() -> None:
    """Draw what a presenter needs, in a corner: the link with its code, the way out, the keys."""
    if not is_on():
        return
    with st.container(key="present_bar", horizontal=True):
        with st.popover("Link and QR code", icon=":material/qr_code_2:"):
            code(url.address())
            st.code(url.address(), language=None, wrap_lines=True)
            st.caption(KEYS)
        st.button(
            "Leave", icon=":material/close:", key="present_end", on_click=url.put,
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
