"""The pictures of nearest support vectors, by their content."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, make_moons
from sklearn.svm import SVC

from kmviz import NSVClassifier
from kmviz.figures import nsv
from kmviz.figures.boundary import Plane
from kmviz.traces import NSVReading

X, Y = make_moons(120, noise=0.25, random_state=0)
NAMES = ("down", "up")


@pytest.fixture(scope="module")
def clf():
    return NSVClassifier(SVC(gamma=2.0), linear_filter=False, random_state=0).fit(X, Y)


def by_name(figure):
    return {trace.name: trace for trace in figure.data}


def test_effort_marks_disagreements_and_the_query():
    reading = NSVReading(
        outputs=np.array([1.0, -0.2, 2.0]), steps=np.array([2, 40, 1]),
        agrees=np.array([True, False, True]), exact=np.array([1.5, 0.1, 3.0]), overhead=3.0,
        stop=np.array([1, 39, 0]), filtered=np.array([False, False, True]),
        stage=np.full(3, -1), low=np.append(-np.inf, np.full(50, -0.5)), high=np.full(51, 0.5),
    )  # fmt: skip
    traces = by_name(nsv.effort(reading, np.array([0, 3, 5]), query=3))
    assert [row for row, _ in traces["disagreement"].customdata] == [3]
    assert traces["disagreement"].customdata[0][1] == pytest.approx(0.1)
    assert list(traces["same class as the exact machine"].x) == [2, 1]
    assert list(traces["same class as the exact machine"].y) == [1.0, 2.0]
    assert (traces["the query"].x[0], traces["the query"].y[0]) == (40, pytest.approx(-0.2))
    assert set(traces["threshold H"].y) == {0.5}
    assert traces["threshold L"].x[-1] == 51
    assert np.isnan(traces["threshold L"].y[0])  # no axis shows an infinite threshold


def test_trajectory_splits_where_it_stopped(clf):
    trace = next(t for t in map(clf.trace, X) if 2 < t.stop < 20)
    traces = by_name(nsv.trajectory(trace, NAMES, clf.machine_.beta))
    assert len(traces["partial sum g"].y) == trace.stop + 1
    assert traces["where it would have gone"].x[0] == trace.stop
    assert traces["exact f(x)"].y[0] == pytest.approx(trace.exact, rel=1e-6)
    assert "support vector" in traces["partial sum g"].text[1]
    assert np.isnan(traces["threshold H"].y[0])


def test_a_filtered_query_says_so():
    rows = np.vstack([X - 3, X + 3])
    far = NSVClassifier(SVC(), random_state=0).fit(rows, np.repeat([0, 1], 120))
    trace = far.trace(rows[0])
    assert trace.filtered
    assert "filter decided" in nsv.trajectory(trace, NAMES, far.machine_.beta).layout.title.text


def test_images_stand_in_the_order_of_the_walk():
    pixels, digits = load_digits(return_X_y=True)
    two = np.isin(digits, (3, 8))
    rows, y = pixels[two], digits[two]
    clf = NSVClassifier(SVC(), calibration="train", linear_filter=False).fit(rows, y)
    trace, machine = clf.trace(rows[0]), clf.machine_
    figure = nsv.neighbor_images(trace, rows[0], machine.vectors, machine.beta, (8, 8), ("3", "8"))
    mosaic = figure.data[0].z
    np.testing.assert_allclose(mosaic[:, :8], rows[0].reshape(8, 8)[::-1])
    first = machine.vectors[trace.index[1]].reshape(8, 8)[::-1]
    np.testing.assert_allclose(mosaic[:, 10:18], first)
    assert len(figure.layout.annotations) == 1 + nsv.SHOWN
    words = figure.layout.annotations[1].text
    assert f"K ≈ {trace.score[1]:.3g}<br>K = {trace.value[1]:.3g}" in words


def test_touched_vectors_are_numbered_on_the_map(clf):
    machine = clf.machine_
    plane = Plane(X, 2 * Y - 1, machine.vectors, machine.beta, X, NAMES, ("a", "b"))
    trace = next(t for t in map(clf.trace, X) if t.stop > 2)
    touched = by_name(nsv.neighbor_map(trace, plane, 0))["touched, in order"]
    assert list(touched.text[:3]) == ["1", "2", "3"]
    np.testing.assert_allclose(touched.x[0], machine.vectors[trace.index[1], 0], rtol=1e-6)


def test_tradeoff_has_a_line_a_setting_and_one_entry_for_both_with_and_without_filter():
    table = pd.DataFrame(
        {"setting": ["a", "a", "a", "b"], "filter": [True, True, False, True],
         "window": [0, 10, 0, 0], "speedup": [9.0, 5.0, 7.0, 50.0],
         "disagreements": [0.4, 0.1, 0.2, 0.2]}
    )  # fmt: skip
    on, off, other, star = nsv.tradeoff(table, (5.0, 0.1)).data
    assert list(on.customdata) == [0, 10]
    assert (on.line.dash, off.line.dash) == ("solid", "dot")
    assert [t.showlegend for t in (on, off, other)] == [True, False, True]
    assert on.marker.color == off.marker.color != other.marker.color
    assert star.x[0] == 5.0


def test_figure_3_draws_f_on_linear_axes(clf):
    reading = clf.study(X).read()
    figure = nsv.figure_3(reading)
    drawn = by_name(figure)
    points = drawn["same class as the exact machine"]
    np.testing.assert_array_equal(points.x, reading.stop[reading.agrees])
    np.testing.assert_allclose(points.y, reading.exact[reading.agrees], rtol=1e-6)
    assert len(drawn["disagreement"].x) == reading.disagreements
    assert figure.layout.xaxis.type in (None, "linear")
    assert drawn["threshold H"].y[3] == pytest.approx(reading.high[3], rel=1e-6)
