"""A page that was just opened sends its first picture a moment before its charts."""

import time

import pytest
from streamlit.testing.v1 import AppTest

from kmviz.io.places import app_folder
from kmviz.ui import first


def a_page():
    import time

    import streamlit as st

    from kmviz.ui import first

    start = time.monotonic()
    if st.session_state.get("is_opened", True):
        first.opened(is_loaded=False)
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
    first.opened(is_loaded=False)
    first.sent()
    time.sleep(0.3)
    start = time.monotonic()
    first.wait()
    assert time.monotonic() - start < 0.1
    assert not kept


def test_only_the_first_page_of_a_browser_waits_for_plotly(monkeypatch):
    opened = []
    monkeypatch.setattr(first, "opened", lambda is_loaded: opened.append(is_loaded))
    app = AppTest.from_file(str(app_folder() / "app.py"), default_timeout=60).run()
    assert opened == [False]
    app.switch_page("pages/7_Papers.py").run()
    app.run()
    assert app.title[0].value == "Ours beside theirs"
    assert opened == [False, True], "plotly.js is there; and a page that runs again is none opened"


def test_a_page_after_the_first_waits_for_its_picture_alone(monkeypatch):
    monkeypatch.setattr(first, "PAUSE", 30.0)
    monkeypatch.setattr(first, "SHORT", 0.3)
    monkeypatch.setattr(first.st, "session_state", {})
    first.opened(is_loaded=True)
    first.sent()
    start = time.monotonic()
    first.wait()
    assert 0.2 < time.monotonic() - start < 10.0


def test_the_file_that_holds_plotly_is_one_of_streamlits():
    assert first.library().startswith("PlotlyChart.")
    assert first.library().endswith(".js")
