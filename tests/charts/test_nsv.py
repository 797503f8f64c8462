"""The charts of nearest support vectors, by their content."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, make_moons
from sklearn.svm import SVC

from kmviz import NSVClassifier
from kmviz.charts import Band, Line, Points, Rule, nsv, plotly
from kmviz.charts.plane import Plane
from kmviz.traces import NSVReading
from tests.charts.renderers import assert_alike

X, Y = make_moons(120, noise=0.25, random_state=0)
NAMES = ("down", "up")


@pytest.fixture(scope="module")
def clf():
    return NSVClassifier(SVC(gamma=2.0), linear_filter=False, random_state=0).fit(X, Y)


def layer(chart, kind, place=0):
    return [one for one in chart.layers if isinstance(one, kind)][place]


def test_effort_marks_disagreements_and_the_query():
    reading = NSVReading(
        outputs=np.array([1.0, -0.2, 2.0]), steps=np.array([2, 40, 1]),
        agrees=np.array([True, False, True]), exact=np.array([1.5, 0.1, 3.0]), overhead=3.0,
        stop=np.array([1, 39, 0]), filtered=np.array([False, False, True]),
        stage=np.full(3, -1), low=np.append(-np.inf, np.full(50, -0.5)), high=np.full(51, 0.5),
    )  # fmt: skip
    chart = nsv.effort(reading, np.array([0, 3, 5]), query=3)
    points, band = layer(chart, Points), layer(chart, Band)
    assert [points.names[int(group)] for group in points.group] == [
        "same class as the exact SVM", "disagreement", "same class as the exact SVM",
    ]  # fmt: skip
    np.testing.assert_array_equal(points.x, [2, 40, 1])
    np.testing.assert_allclose(points.y, [1.0, -0.2, 2.0])
    assert points.picked == 3
    assert set(band.high) == {0.5}
    assert band.x[-1] == 51
    assert np.isfinite(band.low).all(), "no axis shows an infinite threshold"
    assert_alike(chart, 1)


def test_effort_of_many_windows_is_the_effort_of_each(clf):
    study = clf.study(X)
    frames = study.frames("window", (0, 5, 30))
    chart = nsv.effort(frames, np.arange(len(X)), query=3)
    for position, window in enumerate(frames.values):
        now, alone = chart.at(position), nsv.effort(study.read(window=window), np.arange(len(X)), 3)
        np.testing.assert_array_equal(layer(now, Points).x, layer(alone, Points).x)
        np.testing.assert_allclose(
            np.clip(layer(now, Band).low, -1, 1), np.clip(layer(alone, Band).low, -1, 1)
        )
    assert_alike(chart, 3)


def test_trajectory_is_faint_after_the_stop(clf):
    trace = next(t for t in map(clf.trace, X) if 2 < t.stop < 20)
    chart = nsv.trajectory(trace, 7)
    line = layer(chart, Line)
    assert line.x[line.dim_after] == trace.stop
    np.testing.assert_allclose(line.y, trace.partial[line.x], rtol=1e-6)
    stop, exact = layer(chart, Rule), layer(chart, Rule, 1)
    assert (int(stop.x), stop.text) == (trace.stop, f"stops at {trace.stop}")
    assert exact.y == pytest.approx(trace.exact)
    assert np.isfinite(layer(chart, Band).high).all()
    assert_alike(chart, 1)


def test_a_filtered_query_says_so():
    rows = np.vstack([X - 3, X + 3])
    far = NSVClassifier(SVC(), random_state=0).fit(rows, np.repeat([0, 1], 120))
    trace = far.trace(rows[0])
    assert trace.filtered
    assert "filter decided" in nsv.trajectory(trace, 0).title


def test_images_stand_in_the_order_of_the_trajectory():
    pixels, digits = load_digits(return_X_y=True)
    two = np.isin(digits, (3, 8))
    rows, y = pixels[two], digits[two]
    clf = NSVClassifier(SVC(), calibration="train", linear_filter=False).fit(rows, y)
    trace, machine = clf.trace(rows[0]), clf.machine_
    images = np.vstack([rows[:1], machine.vectors]).reshape(-1, 8, 8)
    plane = Plane(rows[:, :2], y, rows, machine.beta, rows, ("3", "8"), ("a", "b"))
    strip = nsv.neighbors(trace, plane, 0, machine.beta, images)
    np.testing.assert_array_equal(strip.bank[0], rows[0].reshape(8, 8))
    np.testing.assert_array_equal(strip.bank[1].ravel(), machine.vectors[trace.index[1]])
    assert len(strip.captions) == 1 + nsv.SHOWN
    assert f"K ≈ {trace.score[1]:.3g}\nK = {trace.value[1]:.3g}" in strip.text[1]
    assert_alike(strip, 1)


def test_vectors_used_are_numbered_on_the_map(clf):
    machine = clf.machine_
    plane = Plane(X, 2 * Y - 1, machine.vectors, machine.beta, X, NAMES, ("a", "b"))
    trace = next(t for t in map(clf.trace, X) if t.stop > 2)
    chart = nsv.neighbors(trace, plane, 0, machine.beta)
    used = layer(chart, Points)
    assert used.labels[:3] == ["1", "2", "3"]
    assert len(used.labels) == trace.stop
    np.testing.assert_allclose(used.x, machine.vectors[trace.index[1 : trace.stop + 1], 0])
    assert_alike(chart, 1)


def test_tradeoff_has_a_line_for_each_setting_with_and_without_the_filter():
    table = pd.DataFrame(
        {"setting": ["a", "a", "a", "b"], "filter": [True, True, False, True],
         "window": [0, 10, 0, 0], "cost": [9.0, 5.0, 7.0, 50.0],
         "disagreements": [0.4, 0.1, 0.2, 0.2]}
    )  # fmt: skip
    chart = nsv.tradeoff(table, (5.0, 0.1))
    on, off, other = (layer(chart, Line, k) for k in range(3))
    assert (on.dashed, off.dashed) == (False, True)
    assert on.color == off.color != other.color
    marks, star = layer(chart, Points), layer(chart, Points, 1)
    assert marks.names == ("a", "b")
    assert list(marks.hover["w"]) == [0, 10, 0, 0]
    assert star.x[0] == 5.0
    drawn = plotly.figure(chart)
    assert [trace.name for trace in drawn.data if trace.showlegend] == ["a", "b", star.names[0]]
    assert_alike(chart, 1)


def test_a_tradeoff_that_is_not_measured_yet_shows_the_present_setting():
    empty = pd.DataFrame(columns=["setting", "filter", "window", "cost", "disagreements"])
    chart = nsv.tradeoff(empty, (5.0, 0.1))
    assert [one.names for one in chart.layers] == [("the present setting",)]


def test_figure_3_draws_f_on_linear_axes(clf):
    reading = clf.study(X).read()
    chart = nsv.figure_3(reading)
    points = layer(chart, Points)
    np.testing.assert_array_equal(points.x, reading.stop)
    np.testing.assert_allclose(points.y, reading.exact, rtol=1e-6)
    assert not chart.x.log
    assert layer(chart, Band).high[3] == pytest.approx(reading.high[3], rel=1e-6)
    assert_alike(chart, 1)
