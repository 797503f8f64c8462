"""Controls: what is declared once is drawn, carried by the URL, and said to the estimator."""

import pytest
from streamlit.testing.v1 import AppTest


def page() -> None:
    """A page that declares its choices."""
    import streamlit as st

    from kmviz.ui import Choice, Control, Flag, Number, draw, parameters, state

    own = {
        "w": Control("Window", Number(10, 0, 200), help="Steps."),
        "order": Control("Order", Choice("nearest", "exact"), {"nearest": "nearest first"}),
        "filter": Control("Filter", Flag(True)),
        "q": Control("Components", Number(20, 1, 64), values=(5, 10, 20)),
    }
    state.arrive("Here", own)
    most, options = st.session_state.get("most", 200), st.session_state.get("options")
    st.text(str([draw("w", high=most), draw("order", options=options), draw("filter"), draw("q")]))
    st.text(str(parameters("nsv")))
    st.text(str(parameters("nsv", "window")))
    state.settle()


@pytest.fixture
def app():
    return AppTest.from_function(page, default_timeout=30)


def told(app):
    app.run()
    assert not app.exception, app.exception
    return [eval(text.value) for text in app.text]


def test_the_kind_of_value_decides_the_widget(app):
    drawn, given, only = told(app)
    assert drawn == [10, "nearest", True, 20]
    assert given == {
        "window": 10, "n_components": 20, "order": "nearest", "linear_filter": True,
    }  # fmt: skip
    assert only == {"window": 10}
    assert app.slider(key="w").label == "Window"
    assert app.selectbox(key="order").options == ["nearest first", "exact"]
    assert app.toggle(key="filter").value
    assert app.select_slider(key="q").options == ["5", "10", "20"]


def test_what_the_url_says_is_what_the_estimator_gets(app):
    app.query_params["w"], app.query_params["filter"], app.query_params["q"] = "33", "false", "7"
    _, given, _ = told(app)
    assert (given["window"], given["linear_filter"], given["n_components"]) == (33, False, 7)
    assert app.select_slider(key="q").options == ["5", "7", "10", "20"]


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
