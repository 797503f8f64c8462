"""Charts of the papers' tables, by their content."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kmviz.charts import Heat, Line, Points, papers
from kmviz.views import papers as views
from tests.charts.renderers import assert_alike

STORED = Path(__file__).resolve().parents[2] / "benchmarks" / "papers"


def table(paper=np.nan):
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


def layers(chart, kind):
    return [one for one in chart.layers if isinstance(one, kind)]


def test_a_matrix_has_each_pair_above_and_below_its_diagonal():
    chart = papers.matrix(table(111.0), "published")
    above, below = layers(chart, Heat)
    assert above.values[3][8] == 20
    assert below.values[8][3] == 1900
    assert np.isnan(above.values[8][3])
    (words,) = layers(chart, Points)
    said = dict(zip(zip(words.x, words.y), words.labels, strict=True))
    assert said[1, 0] == "300"
    assert said[0, 1] == "700"
    assert chart.x.title == (
        "above the diagonal m/k, mean 160 (paper 111); below it support vectors"
    )
    assert chart.y.range == (9.5, -0.5), "as a matrix is written"
    assert_alike(chart, 1)


def test_a_table_says_by_its_columns_which_charts_it_has():
    assert list(papers.charts(table())) == ["published"]
    assert list(papers.charts(frontier())) == ["frontier"]
    assert papers.charts(pd.DataFrame({"paper": [1.0], "ours": [1.0]})) == {}


def test_the_paper_stands_on_the_frontier_where_it_can_be_compared():
    chart = papers.frontier(frontier())
    ours, star = layers(chart, Points)
    assert star.names == ("the paper, which counts vectors touched alone",)
    assert (star.x[0], star.y[0]) == (111, 6)
    assert list(ours.y) == [40, 3]
    assert ours.text == ["margin 0", "margin 0.5"]
    assert len(layers(papers.frontier(frontier(np.nan)), Points)) == 1
    assert_alike(chart, 1)


@pytest.mark.parametrize(("name", "count"), [("falk_rivals", 6), ("falk_growth", 2)])
def test_a_stored_table_is_drawn_whole(name, count):
    frame = pd.read_csv(STORED / f"{name}.csv", comment="#")
    found = papers.charts(frame)
    assert len(found) == count
    sizes = set(frame.groupby("data")["rows"].nunique())
    for panels in found.values():
        for chart in panels:
            assert {len(line.x) for line in chart.layers} <= sizes
            assert sum(np.isfinite(line.y).sum() for line in chart.layers) > len(chart.layers)
            assert_alike(chart, 1)


def test_a_panel_has_the_rows_of_its_set_and_a_colour_for_each_line():
    frame = pd.DataFrame({
        "data": ["a"] * 4 + ["b"] * 4, "method": ["FaLK-SVM", "LibSVM"] * 4,
        "rows": [20, 20, 10, 10] * 2, "ours": 1.0, "test": 1.0,
        "train": [4.0, 3.0, 2.0, 1.0, 8.0, 7.0, np.nan, 5.0],
    })  # fmt: skip
    first, second = papers.charts(frame)["figure 4"]
    assert first.layers[0].y.tolist() == [2.0, 4.0]
    assert second.layers[1].y.tolist() == [5.0, 7.0]
    assert np.isnan(second.layers[0].y[0])
    assert first.layers[0].color == second.layers[0].color != first.layers[1].color
    assert [chart.title for chart in (first, second)] == ["Training time: a", "Training time: b"]
    assert first.y.log


BESIDE = pd.DataFrame(
    {
        "data": ["a", "b", "c", "d"],
        "paper_error": [10.0, 20.0, 30.0, np.nan],
        "ours_error": [10.1, 10.0, 60.0, 5.0],
    }
)


def test_each_cell_that_both_have_is_a_point_of_its_verdict():
    chart = papers.diagonal(BESIDE)
    (line,), (marks,) = layers(chart, Line), layers(chart, Points)
    assert list(line.x) == list(line.y)
    assert marks.names == ("as published", "better", "worse")
    assert len(marks.x) == 3
    better = int(np.flatnonzero(marks.group == 1)[0])
    assert (marks.x[better], marks.y[better]) == (20, 10)
    assert marks.text[better] == "b, error"
    assert_alike(chart, 1)


def test_figures_far_apart_stand_on_logarithmic_axes():
    assert not papers.diagonal(BESIDE).x.log
    assert papers.diagonal(BESIDE.assign(ours_error=[0.1, 20.0, 3000.0, 4.0])).x.log
    assert not papers.diagonal(BESIDE.assign(ours_error=[-1.0, 20.0, 3000.0, 4.0])).x.log


def test_too_few_cells_are_no_picture():
    assert papers.diagonal(BESIDE[:2]) is None
    assert papers.diagonal(pd.DataFrame({"ours": [1.0, 2.0, 3.0]})) is None


@pytest.mark.parametrize(
    ("speeds", "differ", "words"),
    [
        ((120.0, 60.0), (40, 3), ("not reached together", "fewest are 40", "the most is 60")),
        ((120.0, 115.0), (40, 6), (": reached", "fewest are 6", "the most is 115")),
        ((90.0, 60.0), (40, 30), ("not reached", "The most is 90", "fewest of all are 30")),
    ],
)
def test_what_is_reached_is_said_plainly(speeds, differ, words):
    said = views.reached(frontier(6.0, speeds, differ))
    for word in words:
        assert word in said
    assert views.reached(frontier(np.nan)) == ""


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
    _, _, first, second, _, published = views.reached(rivals()).split("\n")
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
    assert "- b, 500 rows: FaLK-SVM was cut off" in views.reached(late)
    assert published == (
        "**Beside the paper's accuracies:** 3 of 4 within 1; not a quick 80 (paper 93)."
    )


def test_steps_far_from_the_papers_are_named():
    frame = pd.DataFrame({"data": "sonar", "order": ["given", "hybrid"], "paper": [10.0, 10.0],
                          "ours": [11.0, 14.0], "difference": [0.1, 0.4]})  # fmt: skip
    said = views.reached(frame)
    assert said == "1 of 2 mean k lie within 20% of the paper's; further off: sonar hybrid +40%."
    assert views.reached(frame[["paper", "ours"]]) == ""
