"""Controls: what is declared once is drawn, carried by the URL, and said to the estimator."""

import pytest
from streamlit.testing.v1 import AppTest


def page() -> None:
    """A page that draws some choices."""
    import streamlit as st

    from kmviz.ui.shell import url
    from kmviz.ui.shell.controls import draw
    from kmviz.views.controls import parameters

    url.begin("Here", ("w", "order", "filter", "margin"))
    most, options = st.session_state.get("most", 200), st.session_state.get("options")
    drawn = [draw("w", high=most), draw("order", options=options), draw("filter"), draw("margin")]
    st.text(str(drawn))
    st.text(str(parameters("nsv", url.PRESENT)))
    st.text(str(parameters("nsv", url.PRESENT, "window")))
    url.end()


@pytest.fixture
def app():
    return AppTest.from_function(page, default_timeout=30)


def told(app):
    app.run()
    assert not app.exception, app.exception
    return [eval(text.value) for text in app.text]


def test_the_kind_of_value_decides_the_widget(app):
    drawn, given, only = told(app)
    assert drawn == [10, "nearest", True, "none"]
    assert given == {"window": 10, "order": "nearest", "linear_filter": True, "margin": "none"}
    assert only == {"window": 10}
    assert app.slider(key="w").label == "Window w"
    assert app.selectbox(key="order").options[0] == "nearest first, by PCA"
    assert app.toggle(key="filter").value
    assert app.select_slider(key="margin").options[:3] == ["usual", "0", "0.125"]


def test_what_the_url_says_is_what_the_estimator_gets(app):
    app.query_params["w"], app.query_params["filter"] = "33", "false"
    app.query_params["margin"] = "0.1"
    _, given, _ = told(app)
    assert (given["window"], given["linear_filter"], given["margin"]) == (33, False, 0.1)
    assert app.select_slider(key="margin").options[:3] == ["usual", "0", "0.1"]


def test_a_moved_control_is_said_to_estimator_and_url(app):
    told(app)
    app.slider(key="w").set_value(50)
    _, given, _ = told(app)
    assert given["window"] == 50
    assert app.query_params["w"] == "50"


def test_what_the_data_does_not_allow_is_clipped_and_the_url_kept(app):
    app.session_state["most"], app.session_state["options"] = 30, ["exact"]
    app.query_params["w"], app.query_params["order"] = "120", "nearest"
    drawn, given, _ = told(app)
    assert drawn[:2] == [30, "exact"]
    assert given["window"] == 30
    assert dict(app.query_params) == {"w": "120", "order": "nearest"}


def test_a_range_of_one_value_is_drawn_and_cannot_be_moved(app):
    app.session_state["most"] = 0
    drawn, _, _ = told(app)
    assert drawn[0] == 0
    assert app.slider(key="w").disabled
