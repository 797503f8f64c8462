"""Charts of the papers' tables, by their content."""

import numpy as np
import pandas as pd
import pytest

from kmviz.figures import paper_charts, paper_reach


def cells(paper=np.nan):
    rows = [
        ("0", "1", "m/k", np.nan, 300.0), ("1", "0", "support vectors", np.nan, 700.0),
        ("3", "8", "m/k", np.nan, 20.0), ("8", "3", "support vectors", np.nan, 1900.0),
        ("mean", "mean", "m/k", paper, 160.0),
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["row", "column", "measure", "paper", "ours"])
    return frame.assign(setting="published")


def frontier(paper=6.0, speeds=(120.0, 60.0), differ=(40, 3)):
    return pd.DataFrame(
        {"setting": "published", "margin": [0.0, 0.5], "speedup": [300.0, 200.0],
         "honest_speedup": speeds, "queries": 90_000, "paper": paper, "ours": differ}
    )  # fmt: skip


def test_a_matrix_has_each_pair_above_and_below_its_diagonal():
    figure = paper_charts.matrix(cells(111.0), "published")
    above, below = figure.data
    assert above.customdata[3][8] == 20
    assert below.customdata[8][3] == 1900
    assert np.isnan(above.customdata[8][3])
    words = {(note.x, note.y): note.text for note in figure.layout.annotations}
    assert words[1, 0] == "300"
    assert words[0, 1] == "700"
    said = figure.layout.xaxis.title.text
    assert said == "above the diagonal m/k, mean 160 (paper 111); below it support vectors"


def test_a_table_says_by_its_columns_which_charts_it_has():
    assert list(paper_charts.charts(cells())) == ["published"]
    assert list(paper_charts.charts(frontier())) == ["frontier"]
    assert paper_charts.charts(pd.DataFrame({"paper": [1.0], "ours": [1.0]})) == {}


def test_the_paper_stands_on_the_frontier_where_it_can_be_compared():
    drawn = {trace.name: trace for trace in paper_charts.frontier(frontier()).data}
    star = drawn["the paper, which counts vectors touched alone"]
    assert (star.x[0], star.y[0]) == (111, 6)
    assert list(drawn["published"].y) == [40, 3]
    assert len(paper_charts.frontier(frontier(np.nan)).data) == 1


@pytest.mark.parametrize(
    ("speeds", "differ", "words"),
    [
        ((120.0, 60.0), (40, 3), ("not reached together", "fewest are 40", "the most is 60")),
        ((120.0, 115.0), (40, 6), (": reached", "fewest are 6", "the most is 115")),
        ((90.0, 60.0), (40, 30), ("not reached", "The most is 90", "fewest of all are 30")),
    ],
)
def test_what_is_reached_is_said_plainly(speeds, differ, words):
    said = paper_reach.reached(frontier(6.0, speeds, differ))
    for word in words:
        assert word in said
    assert paper_reach.reached(frontier(np.nan)) == ""


def rivals():
    rows = [
        ("a", 100, "LibSVM", 91.0, 90.0, 9.0, ""), ("a", 1000, "LibSVM", 95.0, 95.5, 90.0, ""),
        ("a", 1000, "FaLK-SVM", 95.0, 95.1, 1.0, ""), ("a", 1000, "FaLK-SVMc", None, 90.0, 1.0, ""),
        ("a", 1000, "FaLK-SVMl", None, 95.0, 5.0, ""), ("a", 1000, "quick", 93.0, 80.0, 0.1, ""),
        ("b", 500, "LibSVM", None, None, None, "cut off after 20 CPU seconds"),
        ("b", 500, "FaLK-SVM", None, 70.0, 1.0, ""), ("b", 500, "FaLK-SVMc", None, 70.0, 1.0, ""),
        ("b", 500, "FaLK-SVMl", None, 79.0, 5.0, ""), ("b", 500, "quick", None, 80.0, 2.0, ""),
    ]  # fmt: skip
    names = ["data", "rows", "method", "paper", "ours", "train", "note"]
    return pd.DataFrame(rows, columns=names).assign(test=1.0)


def test_rivals_say_where_local_models_are_ahead():
    _, _, first, second, _, published = paper_reach.reached(rivals()).split("\n")
    assert first == (
        "- a, 1,000 rows: trains faster than 1 of 2 rivals (not quick); within 0.5 points of the "
        "best: FaLK-SVM 95.1%, LibSVM 95.5%"
    )
    assert second == (
        "- b, 500 rows: trains faster than 2 of 2 rivals; **not within** 0.5 points of the best: "
        "FaLK-SVM 70.0%, FaLK-SVMl 79.0%, quick 80.0%"
    )
    late = rivals()
    late.loc[late["data"].eq("b") & late["method"].eq("FaLK-SVM"), ["ours", "train"]] = np.nan
    assert "- b, 500 rows: FaLK-SVM was cut off" in paper_reach.reached(late)
    assert published == (
        "**Beside the paper's accuracies:** 3 of 4 within 1; not a quick 80 (paper 93)."
    )


def test_steps_far_from_the_papers_are_named():
    frame = pd.DataFrame({"data": "sonar", "order": ["given", "hybrid"], "paper": [10.0, 10.0],
                          "ours": [11.0, 14.0], "difference": [0.1, 0.4]})  # fmt: skip
    said = paper_reach.reached(frame)
    assert said == "1 of 2 mean k lie within 20% of the paper's; further off: sonar hybrid +40%."
    assert paper_reach.reached(frame[["paper", "ours"]]) == ""
