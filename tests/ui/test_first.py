"""A page that was just opened sends its first picture a moment before its charts."""

import time

import pytest
from streamlit.testing.v1 import AppTest

from kmviz.ui import first


def a_page():
    import time

    import streamlit as st

    from kmviz.ui import first

    start = time.monotonic()
    if st.session_state.get("is_opened", True):
        first.opened()
    if st.session_state.get("has_picture", True):
        first.sent()
    first.wait()
    first.wait()  # a second chart
    st.write(f"{time.monotonic() - start:.3f}")


@pytest.mark.parametrize(
    ("is_opened", "has_picture", "pause"), [(True, True, 0.3), (True, False, 0), (False, True, 0)]
)
def test_charts_wait_once_where_a_page_opens_with_a_picture(
    is_opened, has_picture, pause, monkeypatch
):
    monkeypatch.setattr(first, "PAUSE", 0.3)
    page = AppTest.from_function(a_page)
    page.session_state["is_opened"], page.session_state["has_picture"] = is_opened, has_picture
    spent = float(page.run().markdown[0].value)
    assert pause <= spent < pause + 0.25


def test_what_took_as_long_is_not_waited_for_again(monkeypatch):
    monkeypatch.setattr(first, "PAUSE", 0.3)
    kept = {}
    monkeypatch.setattr(first.st, "session_state", kept)
    first.opened()
    first.sent()
    time.sleep(0.3)
    start = time.monotonic()
    first.wait()
    assert time.monotonic() - start < 0.1
    assert not kept
