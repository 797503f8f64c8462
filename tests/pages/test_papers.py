"""The Papers page without a browser."""

import pandas as pd
import pytest

import kmviz
from kmviz.charts.verdicts import beside, coloured, summary, verdicts
from kmviz.ui.pages import papers
from kmviz.views.controls import CONTROLS
from tests.pages.helpers import metric, open_page, run

PAGE = "pages/7_Papers.py"


def test_every_stored_table_opens_with_its_command():
    app = open_page(PAGE)
    names = papers.names()
    assert app.session_state["table"] == CONTROLS["table"].default
    for name in (names[0], names[-1]):
        app.selectbox(key="table").set_value(name)
        run(app)
        stored = papers.stored(name)
        assert f"python -m kmviz.papers.run --only {name}" in stored.command
        assert stored.command in [block.value for block in app.code]
        for word, count in summary(stored.frame, stored.title).items():
            if count or word != "different":
                assert metric(app, word.capitalize()) == str(count)


def test_a_table_in_the_url_opens_and_a_wrong_one_does_not():
    names = papers.names()
    assert open_page(PAGE, table=names[-1]).session_state["table"] == names[-1]
    assert open_page(PAGE, table="nothing").session_state["table"] == CONTROLS["table"].default


@pytest.mark.parametrize("name", papers.names())
def test_every_stored_table_has_both_columns_and_says_what_it_is(name):
    stored = papers.stored(name)
    assert {"paper", "ours"} <= set(stored.frame.columns)
    assert stored.about != name.replace("_", " "), "a table without a function that makes it"
    assert len(stored.paper) > 50


@pytest.mark.parametrize("name", papers.names())
def test_every_stored_table_can_be_coloured_even_one_with_differences_of_its_own(name):
    stored = papers.stored(name)
    shown = coloured(stored.frame, stored.title)
    assert shown.data.columns.is_unique
    assert len(shown.to_html()) > 1_000


def test_no_table_is_stored_that_nothing_makes():
    assert set(papers.names()) <= set(kmviz.papers.names())


def test_differences_are_relative_and_coloured():
    frame = pd.DataFrame({"paper": [100.0, 10.0, 1.0, 0.0], "ours": [101.0, 11.0, 2.0, 1.0],
                          "k_paper": [1, 2, 3, 4], "k_ours": [1, 2, 3, 4]})  # fmt: skip
    shown = beside(frame)
    assert shown["difference"].tolist()[:3] == pytest.approx([0.01, 0.1, 1.0])
    assert pd.isna(shown["difference"].iloc[3])
    assert shown["k_difference"].tolist() == [0, 0, 0, 0]
    words = summary(frame)
    assert (words["as published"], words["near"], words["different"]) == (5, 1, 1)
    html = coloured(frame).to_html()
    assert "+10.0%" in html
    assert html.count("background-color") == 3, "one rule for each of the three shades"


def test_better_is_not_a_failure():
    frame = pd.DataFrame({"measure": ["errors of 1984", "mean m/k", "rows", "errors"],
                          "paper": [20.0, 100.0, 10.0, 10.0],
                          "ours": [10.0, 150.0, 20.0, 20.0]})  # fmt: skip
    found = verdicts(frame)["difference"].tolist()
    assert found == ["better", "better", "different", "worse"]
    accuracies = pd.DataFrame({"method": ["LibSVM"], "paper": [50.0], "ours": [80.0]})
    assert verdicts(accuracies, "test accuracy on large sets")["difference"].tolist() == ["better"]
    times = pd.DataFrame({"phase": ["train"], "paper": [6.0], "ours": [16.0]})
    assert verdicts(times, "times faster than LibSVM")["difference"].tolist() == ["better"]


def test_the_page_has_no_controls_that_change_nothing():
    app = open_page(PAGE, data="two_moons", C=3)
    keys = {widget.key for widget in (*app.selectbox, *app.select_slider, *app.number_input)}
    assert keys == {"table"}
    assert app.session_state["data"] == "two_moons", "kept for the other pages"


def test_a_ratio_to_a_time_too_short_to_measure_can_be_shown():
    frame = pd.DataFrame({"paper": [1.0, 1.0], "ours": [1.0, 2.5], "ratio": [float("inf"), 3.0]})
    assert "∞" in coloured(frame).to_html()


def test_the_list_of_tables_says_which_method_each_is_of():
    titles = papers.entries()
    assert titles["svtree_accuracy"].startswith("Support vector tree: ")
    assert titles["falk_small"].startswith("Local models: ")
    assert not papers.stored("nsv_table_1").title.startswith("Nearest")
