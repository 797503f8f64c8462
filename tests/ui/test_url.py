"""Session and URL: who wins, what is kept, what is written."""

import pytest
from streamlit.testing.v1 import AppTest

from kmviz.ui.shell import url


def page() -> None:
    """A page with one choice of its own."""
    import streamlit as st

    from kmviz.ui.shell import controls, url

    url.begin("Here", ("w",))
    url.note_here()
    most = st.session_state.get("most", 200)
    url.limit("w", 0, most)
    if not st.session_state.get("hide"):
        controls.draw("w", high=most)
    if st.session_state.get("hasty"):
        st.stop()  # as a click ends a run, of which the browser may not have heard
    st.button("preset", on_click=url.put, kwargs={"w": 77, "C": 3.0})
    st.button("reset", on_click=url.reset)
    st.text(str(url.link()))
    st.text(str(url.link("Elsewhere")))
    url.end()


@pytest.fixture
def app():
    return AppTest.from_function(page, default_timeout=30)


def ran(app):
    app.run()
    assert not app.exception, app.exception
    return app


def test_a_url_that_says_the_same_is_left_alone(app):
    app.query_params["w"] = "10.0"
    ran(app)
    assert app.query_params == {"w": "10.0"}


def test_a_moved_widget_is_written_with_all_other_choices(app):
    ran(app).slider(key="w").set_value(20)
    ran(app)
    assert app.query_params["w"] == "20"
    assert app.query_params["data"] == "banana"
    assert "gamma" not in app.query_params


@pytest.fixture
def back(monkeypatch):
    """Run a page as the Back button does."""

    def went(app):
        with monkeypatch.context() as patch:
            patch.setattr(url, "went_back", lambda: True)
            return ran(app)

    return went


def test_back_brings_the_session_along(app, back):
    ran(app).slider(key="w").set_value(20)
    ran(app).slider(key="w").set_value(30)
    ran(app)
    app.query_params["w"] = "20"
    back(app)
    assert app.session_state["w"] == app.slider(key="w").value == 20


def test_a_widget_moved_while_the_url_is_late_wins(app):
    ran(app).slider(key="w").set_value(20)
    ran(app)
    app.slider(key="w").set_value(30)
    app.query_params["w"] = "10"
    ran(app)
    assert app.session_state["w"] == 30
    assert app.query_params["w"] == "30"


def test_a_choice_taken_back_while_the_url_is_late_is_written_all_the_same(app):
    app.query_params["w"] = "15"
    ran(app).slider(key="w").set_value(20)
    ran(app)
    app.query_params.clear()
    app.query_params["w"] = "15"  # sent before the browser had heard of 20, which it shows by now
    app.slider(key="w").set_value(15)
    ran(app)
    assert app.query_params["w"] == "15"
    assert "data" in app.query_params, "it was written"


def test_a_choice_outlives_a_page_that_does_not_draw_it(app):
    ran(app).slider(key="w").set_value(20)
    ran(app)
    app.session_state["hide"] = True
    ran(ran(app))
    app.session_state["hide"] = False
    assert ran(app).slider(key="w").value == 20


def test_a_choice_that_comes_and_goes_is_the_last_one_made(app):
    app.session_state["hide"] = True
    ran(ran(app))
    app.session_state["hide"] = False
    ran(app).slider(key="w").set_value(20)
    ran(app)
    app.session_state["hide"] = True
    ran(ran(app))
    assert app.query_params["w"] == "20"
    app.session_state["hide"] = False
    assert ran(app).slider(key="w").value == 20


def test_a_choice_outlives_a_change_of_its_limits(app):
    ran(app).slider(key="w").set_value(20)
    ran(app)
    app.session_state["most"] = 100
    assert ran(app).slider(key="w").value == 20
    assert app.query_params["w"] == "20"


def test_a_run_takes_nothing_back_from_a_slider_moved_meanwhile(app):
    ran(app).slider(key="w").set_value(20)
    assert not ran(app).slider(key="w").proto.set_value, "it would overrule the browser's"


def test_a_callback_sets_choices(app):
    ran(app).button[0].click()
    ran(app)
    assert app.slider(key="w").value == 77
    assert (app.query_params["w"], app.query_params["C"]) == ("77", "3")


def cut_short(app):
    """Run the page, but not to its end."""
    app.session_state["hasty"] = True
    ran(app)
    app.session_state["hasty"] = False
    return app


def test_what_a_run_cut_short_has_drawn_is_sent_again(app):
    app.query_params["w"] = "20"
    slider = ran(cut_short(app)).slider(key="w")
    assert (slider.value, slider.proto.set_value) == (20, True), "or the browser shows its least"


def test_a_callback_outlives_a_run_cut_short(app):
    ran(app).button[0].click()
    cut_short(app).slider(key="w").set_value(10)  # as the browser says, which has not heard of 77
    assert ran(app).slider(key="w").value == 77
    assert app.query_params["w"] == "77"


def test_a_widget_moved_in_a_run_cut_short_wins(app):
    ran(app).button[0].click()
    cut_short(app).slider(key="w").set_value(30)
    assert ran(app).slider(key="w").value == 30


def test_a_choice_put_back_once_the_page_rests_is_taken(app):
    ran(app).button[0].click()
    ran(app)
    app.slider(key="w").set_value(10)
    assert ran(app).slider(key="w").value == 10


def test_a_late_url_takes_nothing_back(app):
    ran(app).button[0].click()
    ran(app)
    told = dict(app.query_params)
    app.query_params.clear()  # a click on something else, sent before the browser had heard
    assert ran(app).slider(key="w").value == 77
    for name, text in told.items():
        app.query_params[name] = text
    assert ran(app).slider(key="w").value == 77


def test_a_limited_choice_shows_the_limit_and_leaves_the_url_alone(app):
    app.session_state["most"] = 50
    app.query_params["w"] = "120"
    ran(ran(app))
    assert app.slider(key="w").value == 50
    assert app.query_params == {"w": "120"}
    assert [one.value for one in app.caption] == [
        ":material/info: Not possible here: w=120 (50 is used)."
    ]


def test_an_invalid_value_is_replaced_and_said_until_another_is_chosen(app):
    app.query_params["w"], app.query_params["gamma"] = "many", "*wide*"
    said = ran(app).caption[0].value
    assert "w=many (10 is used)" in said
    assert r"gamma=\*wide\* (scale is used)" in said, "and is no Markdown"
    app.slider(key="w").set_value(20)
    assert "w=" not in ran(app).caption[0].value


def test_what_a_page_opens_with_is_no_invalid_value(app):
    app.session_state["most"] = 5
    assert ran(app).slider(key="w").value == 5
    assert len(app.caption) == 0


def test_a_page_is_reset_to_its_opening_settings(app):
    app.query_params["w"], app.query_params["C"] = "33", "7.5"
    ran(app).button[1].click()
    assert ran(app).slider(key="w").value == 10
    assert app.session_state["C"] == 10.0
    assert app.query_params["w"] == "10"


def test_links_carry_shared_choices_and_only_this_page_its_own(app):
    app.query_params["w"], app.query_params["C"] = "33", "7.5"
    ran(app)
    here, elsewhere = (eval(t.value) for t in app.text)
    assert (here["w"], here["C"]) == ("33", "7.5")
    assert elsewhere["C"] == "7.5"
    assert "w" not in elsewhere


def pages() -> None:
    """Two pages that open with views of their own; `here` in the session says which."""
    import streamlit as st

    from kmviz.ui.shell import controls, url

    title = st.session_state.get("here", "One")
    own = {"One": ("w",), "Two": ("filter",)}[title]
    opening = {
        "One": {"data": "banana", "C": "0.3", "gamma": "2", "w": "4"},
        "Two": {"data": "two_spirals", "noise": "0", "gamma": "10", "filter": "false"},
    }[title]
    url.begin(title, own, opening)
    controls.draw("C")
    if title == "One":
        controls.draw("w")
    if st.session_state.get("hasty"):
        st.stop()
    st.button("moons", on_click=url.put_data, args=("two_moons",))
    st.button("preset", on_click=url.put, kwargs={"C": 10.0})
    st.button("reset", on_click=url.reset)
    st.text(str(url.link("Two" if title == "One" else "One")))
    url.end()


@pytest.fixture
def two():
    return AppTest.from_function(pages, default_timeout=30)


def follow(app, title):
    """Go to the other page by its link."""
    link = eval(app.text[0].value)
    for name in list(app.query_params):
        del app.query_params[name]
    for name, text in link.items():
        app.query_params[name] = text
    app.session_state["here"] = title
    return ran(app)


def seen(app, *names):
    return tuple(app.session_state[name] for name in names)


def test_each_page_opens_with_its_own_view_until_something_is_chosen(two):
    ran(two)
    assert seen(two, "data", "C", "gamma", "w") == ("banana", 0.3, 2.0, 4)
    assert not dict(two.query_params)
    follow(two, "Two")
    assert seen(two, "data", "C", "gamma", "noise", "filter") == (
        "two_spirals", 10.0, 10.0, 0.0, False,
    )  # fmt: skip
    assert not dict(two.query_params)
    follow(two, "One")
    assert seen(two, "data", "C", "gamma") == ("banana", 0.3, 2.0)


def test_a_choice_of_one_page_alone_leaves_the_others_their_views(two):
    ran(two).slider(key="w").set_value(20)
    ran(two)
    assert (two.query_params["w"], two.query_params["data"]) == ("20", "banana")
    follow(two, "Two")
    assert seen(two, "data") == ("two_spirals",)
    follow(two, "One")
    assert seen(two, "data", "C", "w") == ("banana", 0.3, 20)


def test_a_link_wins_over_what_a_run_cut_short_had_assigned(two):
    ran(two).button[1].click()
    cut_short(two).select_slider(key="C").set_value(0.3)  # the browser has not heard of 10
    two.session_state["here"] = "Two"
    two.query_params["data"], two.query_params["C"] = "checkerboard", "1"
    ran(two)
    assert seen(two, "data", "C") == ("checkerboard", 1.0)


def test_the_url_of_a_page_that_was_left_takes_nothing_back_and_is_written_over(two):
    ran(two).select_slider(key="C").set_value(10.0)
    left = dict(ran(two).query_params)
    two.session_state["here"] = "Two"
    two.query_params.clear()
    two.query_params["data"], two.query_params["C"] = "checkerboard", "1"
    ran(two)
    for name, text in left.items():  # the browser heard of it once the other page was open
        two.query_params[name] = text
    ran(two)
    assert seen(two, "data", "C") == ("checkerboard", 1.0)
    assert two.query_params["data"] == "checkerboard"


def test_what_was_chosen_holds_on_every_page(two):
    ran(two).button[0].click()
    ran(two)
    assert two.query_params["data"] == "two_moons"
    follow(two, "Two")
    assert seen(two, "data", "noise") == ("two_moons", None)
    follow(two, "One")
    assert seen(two, "data") == ("two_moons",)


def test_a_machine_that_was_moved_holds_with_its_data(two):
    ran(two).select_slider(key="C").set_value(1.0)
    ran(two)
    follow(two, "Two")
    assert seen(two, "data", "C", "gamma", "noise") == ("banana", 1.0, 2.0, None)


def test_back_to_a_bare_url_is_back_to_the_opening_view(two, back):
    ran(two).button[0].click()
    ran(two)
    for name in list(two.query_params):
        del two.query_params[name]
    back(two)
    assert seen(two, "data", "C", "gamma") == ("banana", 0.3, 2.0)
    follow(two, "Two")
    assert seen(two, "data") == ("two_spirals",)


def test_a_link_wins_over_the_opening_view(two):
    two.query_params["C"], two.query_params["w"] = "1", "7"
    ran(two)
    assert seen(two, "data", "C", "gamma", "w") == ("banana", 1.0, "scale", 7)
    assert dict(two.query_params) == {"C": "1", "w": "7"}
