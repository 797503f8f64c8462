"""The first picture of a page, before its charts.

A browser that opens a page takes a second or more to load plotly.js, and draws nothing meanwhile.
What a live slider draws needs none of it: where a page begins with one, its charts are sent a
moment later, and the browser loads plotly.js in between. Where a page begins with a chart, the
browser loads it while the page is made. A visitor who goes from page to page has it: then the
charts wait for the picture alone, which they would keep from being drawn.
"""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path

import streamlit as st

#: Seconds that a browser has for the first picture before the charts come: to draw it and load
#: plotly.js, and to draw it.
PAUSE, SHORT = 1.5, 0.4

_OPENED, _SENT = "kmviz.opened", "kmviz.first_sent"


@cache
def library() -> str:
    """Return the name of the file of Streamlit's that holds plotly.js; empty if there is none."""
    scripts = Path(st.__file__).parent / "static" / "static" / "js"
    return next((path.name for path in sorted(scripts.glob("PlotlyChart.*.js"))), "")


def opened(is_loaded: bool) -> None:
    """Note that a page is opened, rather than run again.

    Parameters
    ----------
    is_loaded : whether the browser has plotly.js, of a page before
    """
    st.session_state[_OPENED] = SHORT if is_loaded else PAUSE


def sent() -> None:
    """Note that a picture without plotly.js was sent."""
    pause = st.session_state.pop(_OPENED, None)
    if pause is not None:
        st.session_state[_SENT] = time.monotonic() + pause


def wait() -> None:
    """Leave the browser to the first picture of a page that was just opened."""
    until = st.session_state.pop(_SENT, None)
    if until is not None:
        time.sleep(max(0.0, until - time.monotonic()))
