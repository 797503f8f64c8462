"""The Papers page without a browser."""

import pandas as pd
import pytest

from kmviz.figures.papers import beside, coloured, summary
from kmviz.ui import papers
from tests.pages.helpers import metric, open_page, run

PAGE = "pages/7_Papers.py"


def test_every_stored_table_opens_with_its_command():
    app = open_page(PAGE)
    names = papers.names()
    assert app.session_state["table"] == names[0]
    for name in (names[0], names[-1]):
        app.selectbox(key="table").set_value(name)
        run(app)
        stored = papers.stored(name)
        assert f"python -m kmviz papers --only {name}" in stored.command
        assert stored.command in [block.value for block in app.code]
        met, near, far = summary(stored.frame)
        assert metric(app, "Within 5%") == str(met)
        assert metric(app, "Beyond") == str(far)
        assert near >= 0


def test_a_table_in_the_url_opens_and_a_wrong_one_does_not():
    names = papers.names()
    assert open_page(PAGE, table=names[-1]).session_state["table"] == names[-1]
    assert open_page(PAGE, table="nothing").session_state["table"] == names[0]


@pytest.mark.parametrize("name", papers.names())
def test_every_stored_table_has_both_columns_and_says_what_it_is(name):
    stored = papers.stored(name)
    assert {"paper", "ours"} <= set(stored.frame.columns)
    assert stored.about != name.replace("_", " "), "a table without a function that makes it"
    assert len(stored.paper) > 50


def test_a_full_run_stored_beside_a_quick_one_says_what_it_is():
    quick = papers.stored("reduced_table_1")
    assert papers.about("reduced_table_1_full") == quick.about
    full = papers.Stored("reduced_table_1_full", quick.frame, "", quick.about, quick.paper)
    assert full.title == f"{quick.title}, the paper's own size"


def test_differences_are_relative_and_coloured():
    frame = pd.DataFrame({"paper": [100.0, 10.0, 1.0, 0.0], "ours": [101.0, 11.0, 2.0, 1.0],
                          "k_paper": [1, 2, 3, 4], "k_ours": [1, 2, 3, 4]})  # fmt: skip
    shown = beside(frame)
    assert shown["difference"].tolist()[:3] == pytest.approx([0.01, 0.1, 1.0])
    assert pd.isna(shown["difference"].iloc[3])
    assert shown["k_difference"].tolist() == [0, 0, 0, 0]
    assert summary(frame) == (5, 1, 1)
    html = coloured(frame).to_html()
    assert "+10.0%" in html
    assert html.count("background-color") == 3, "one rule for each of the three shades"
