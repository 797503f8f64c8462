"""The frontier chart by its content."""

import numpy as np
import pandas as pd
import pytest

from kmviz.charts import plotly
from kmviz.charts.compare import frontier, on_frontier
from kmviz.evaluation.catalogue import OTHERS
from tests.charts.renderers import assert_alike

NSV = "nearest support vectors"


def _points():
    return pd.DataFrame({
        "title": ["exact", "a", "b", "boost"], "family": ["exact machine", NSV, NSV, OTHERS],
        "cost": [100.0, 10.0, 20.0, np.nan], "disagreement": [0.0, 0.01, 0.5, 0.2],
        "disagreement_high": [0.001, 0.02, 0.6, 0.3], "disagreements": [0, 10, 500, 200],
        "queries": [1_000] * 4, "accuracy": [0.9, 0.88, 0.6, 0.95],
        "is_best": [False, True, False, False],
    })  # fmt: skip


def test_the_frontier_is_what_nothing_cheaper_equals():
    costs, errors = np.array([3.0, 1.0, 2.0, 1.0]), np.array([0.1, 0.5, 0.6, 0.4])
    assert on_frontier(costs, errors).tolist() == [3, 0]


def drawn(points):
    chart = frontier(points, "cost")
    line, settings, *advised = chart.layers
    assert_alike(chart, 1)
    return line, settings, advised


def test_accuracy_stands_against_cost_and_size_is_disagreement():
    chart = frontier(_points(), "kernel values")
    line, settings, _ = chart.layers
    assert settings.y[0] == pytest.approx(0.1)
    assert settings.x.tolist() == [100.0, 10.0, 20.0], "what has no cost has no place"
    assert chart.y.range[0] > chart.y.range[1], "up is better"
    ticks = {text: value for value, text in chart.y.ticks}
    assert ticks["90%"] == pytest.approx(0.1)
    assert [settings.names[g] for g in settings.group] == ["exact machine", NSV, NSV]
    assert settings.size[1] < settings.size[2], "half of its answers differ"
    assert settings.id.tolist() == [0, 1, 2]
    assert line.name == "nothing cheaper is as accurate"
    assert line.x.tolist() == [10.0, 100.0, 100.0], "right, then up"
    assert line.y.tolist() == pytest.approx([0.12, 0.12, 0.1])
    assert "kernel values" in chart.x.title
    assert chart.y.title == "accuracy (log scale of the errors)"
    figure = plotly.figure(chart)
    assert figure.layout.legend.itemsizing == "constant", "a family has no size"
    assert dict(zip(figure.layout.yaxis.ticktext, figure.layout.yaxis.tickvals)) == ticks


def test_what_has_a_cost_is_drawn_and_the_advised_one_is_labelled():
    _, settings, (advised,) = drawn(_points().assign(cost=[100.0, 10.0, 20.0, 5.0]))
    assert OTHERS in settings.names
    assert advised.labels == ["advised"]
    assert (advised.x[0], advised.y[0]) == pytest.approx((10.0, 0.12))
    assert drawn(_points().assign(is_best=False))[2] == [], "no chart beside a question does"


def test_labels_of_neighbours_stand_apart_and_inside():
    points = _points().assign(cost=[100.0, 90.0, 95.0, 10_000.0], accuracy=0.9)
    points["title"] = [
        "the exact machine",
        "one setting",
        "another setting",
        "a setting with a rather long name",
    ]
    _, settings, _ = drawn(points)
    shown = dict(zip(settings.labels, settings.sides, strict=True))
    near = [shown.get(title) for title in points["title"][:3]]
    assert len(set(near)) == 3, "three points in one place take three sides"
    assert shown["a setting with a rather long name"].endswith("left"), "no label leaves the chart"


def test_no_label_is_crossed_by_the_line_of_what_nothing_cheaper_beats():
    points = _points().assign(cost=[500.0, 100.0, 104.0, 9_000.0], accuracy=[0.9, 0.8, 0.95, 0.7])
    points["is_best"] = False
    points["title"] = ["dear", "a name of some length", "best", "far"]
    line, settings, _ = drawn(points)
    assert line.x.tolist() == pytest.approx([100, 104, 104])
    side = dict(zip(settings.labels, settings.sides, strict=True))["a name of some length"]
    assert side.endswith("left") or side == "bottom center", "the line goes right, then up"


def test_a_label_without_room_is_left_to_the_pointer():
    points = pd.concat([_points()[:1]] * 12, ignore_index=True)
    points["title"] = [f"setting {i}" for i in range(12)]
    _, settings, _ = drawn(points)
    assert "" in settings.labels
    assert all(f"setting {i}" in text for i, text in enumerate(settings.text))


def test_a_family_that_no_method_has_is_an_error():
    with pytest.raises(ValueError, match="of the family 'alchemy'"):
        frontier(_points().assign(family="alchemy"), "cost")


def test_no_error_at_all_has_a_place():
    _, settings, _ = drawn(_points().assign(accuracy=[1.0, 0.999, 0.99, 0.9]))
    assert settings.y[0] == pytest.approx(0.5 / 1_000)


def test_every_family_stands_in_the_legend():
    figure = plotly.figure(frontier(_points(), "cost"))
    assert {"exact machine", NSV} <= {t.name for t in figure.data if t.showlegend}


def test_the_ring_around_what_is_advised_leaves_clicks_to_its_point():
    figure = plotly.figure(frontier(_points(), "cost"))
    silent = {trace.name for trace in figure.data if trace.hoverinfo == "skip"}
    assert "advised" in silent
    assert NSV not in silent
