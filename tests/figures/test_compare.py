"""The frontier chart by its content."""

import numpy as np
import pandas as pd
import pytest

from kmviz.evaluation.catalogue import OTHERS
from kmviz.figures.compare import frontier, on_frontier

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


def test_accuracy_stands_against_cost_and_size_is_disagreement():
    figure = frontier(_points(), "kernel values")
    named = {trace.name: trace for trace in figure.data}
    assert named["exact machine"].y.tolist() == pytest.approx([0.1])
    assert figure.layout.yaxis.range[0] > figure.layout.yaxis.range[1], "up is better"
    ticks = dict(zip(figure.layout.yaxis.ticktext, figure.layout.yaxis.tickvals, strict=True))
    assert ticks["90%"] == pytest.approx(0.1)
    assert named["exact machine"].x.tolist() == [100.0]
    few, many = named[NSV].marker.size
    assert few < many, "half of its answers differ"
    assert named[NSV].customdata.tolist() == [1, 2]
    line = named["nothing cheaper is as accurate"]
    assert line.x.tolist() == [10.0, 100.0]
    assert line.line.shape == "hv"
    assert "kernel values" in figure.layout.xaxis.title.text
    assert figure.layout.yaxis.title.text == "accuracy (log scale of the errors)"
    assert figure.layout.legend.itemsizing == "constant", "a family has no size"


def test_what_has_a_cost_is_drawn_and_the_advised_one_is_labelled():
    figure = frontier(_points().assign(cost=[100.0, 10.0, 20.0, 5.0]), "CPU microseconds")
    assert OTHERS in {trace.name for trace in figure.data}
    (label,) = figure.layout.annotations
    assert "advised" in label.text
    assert (label.x, label.y) == pytest.approx((1.0, np.log10(0.12))), (
        "on a log axis a place is a power of ten"
    )


def test_labels_of_neighbours_stand_apart_and_inside():
    points = _points().assign(cost=[100.0, 90.0, 95.0, 10_000.0], accuracy=0.9)
    points["title"] = [
        "the exact machine",
        "one setting",
        "another setting",
        "a setting with a rather long name",
    ]
    figure = frontier(points, "cost")
    shown = {
        text: side
        for t in figure.data
        if t.text is not None
        for text, side in zip(t.text, t.textposition, strict=True)
    }
    near = [shown.get(title) for title in points["title"][:3]]
    assert len(set(near)) == 3, "three points in one place take three sides"
    assert shown["a setting with a rather long name"].endswith("left"), "no label leaves the chart"


def test_no_label_is_crossed_by_the_line_of_what_nothing_cheaper_beats():
    points = _points().assign(cost=[500.0, 100.0, 104.0, 9_000.0], accuracy=[0.9, 0.8, 0.95, 0.7])
    points["is_best"] = False
    points["title"] = ["dear", "a name of some length", "best", "far"]
    sides = {
        text: side
        for t in frontier(points, "cost").data
        if t.text is not None
        for text, side in zip(t.text, t.textposition, strict=True)
    }
    line = next(t for t in frontier(points, "cost").data if t.line.shape == "hv")
    assert line.x.tolist() == pytest.approx([100, 104])
    side = sides["a name of some length"]
    assert side.endswith("left") or side == "bottom center", "the line goes right, then up"


def test_a_label_without_room_is_left_to_the_pointer():
    points = pd.concat([_points()[:1]] * 12, ignore_index=True)
    points["title"] = [f"setting {i}" for i in range(12)]
    (trace,) = [t for t in frontier(points, "cost").data if t.name == "exact machine"]
    assert "" in trace.text
    assert all(f"setting {i}" in text for i, text in enumerate(trace.hovertext))


def test_a_family_that_no_method_has_is_an_error():
    with pytest.raises(ValueError, match="of the family 'alchemy'"):
        frontier(_points().assign(family="alchemy"), "cost")


def test_no_error_at_all_has_a_place():
    figure = frontier(_points().assign(accuracy=[1.0, 0.999, 0.99, 0.9]), "cost")
    (exact,) = [trace for trace in figure.data if trace.name == "exact machine"]
    assert exact.y.tolist() == pytest.approx([0.5 / 1_000])


def test_every_family_stands_in_the_legend():
    drawn = frontier(_points(), "cost").data[1:]
    assert {t.name for t in drawn if t.showlegend is not False} == {"exact machine", NSV}
