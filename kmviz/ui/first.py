"""The first picture of a page, before its charts.

A browser that opens a page takes a second or more to load plotly.js, and draws nothing meanwhile.
What a live slider draws needs none of it: where a page begins with one, its charts are sent a
moment later, and the browser loads plotly.js in between. Where a page begins with a chart, the
browser loads it while the page is made. Once it is there, nothing waits for it again: a visitor who
goes from page to page has it.
"""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path

import streamlit as st

#: Seconds that a browser has for the first picture before the charts come.
PAUSE = 1.5

_OPENED, _SENT = "kmviz.opened", "kmviz.first_sent"


@cache
def library() -> str:
    """Return the name of the file of Streamlit's that holds plotly.js; empty if there is none."""
    scripts = Path(st.__file__).parent / "static" / "static" / "js"
    return next((path.name for path in sorted(scripts.glob("PlotlyChart.*.js"))), "")


def opened() -> None:
    """Note that a browser opens its first page: it has no plotly.js yet."""
    st.session_state[_OPENED] = True


def sent() -> None:
    """Note that a picture without plotly.js was sent."""
    if st.session_state.pop(_OPENED, False):
        st.session_state[_SENT] = time.monotonic()


def wait() -> None:
    """Leave the browser to the first picture of a page that was just opened."""
    since = st.session_state.pop(_SENT, None)
    if since is not None:
        time.sleep(max(0.0, since + PAUSE - time.monotonic()))
