"""The charts of reduced sets: names, lengths, values."""

import numpy as np
import pandas as pd
import pytest

from kmviz.charts import Heat, Line, Points, Rule, reduced
from kmviz.charts.plane import Plane
from tests.charts.renderers import assert_alike

RNG = np.random.default_rng(0)
SIDE, SIZES = 6, [1, 2, 3]
PLANE = Plane(
    points=RNG.normal(size=(30, 2)),
    labels=np.repeat([-1, 1], 15),
    vectors=RNG.normal(size=(12, 2)),
    weights=RNG.normal(size=12),
    queries=RNG.normal(size=(20, 2)),
    class_names=("a", "b"),
    axes=("u", "v"),
    x=np.linspace(-1, 1, SIDE),
    y=np.linspace(-2, 2, SIDE),
    values=RNG.normal(size=(SIDE, SIDE)),
)
WEIGHTS = [np.array([-2.0]), np.array([-2.0, 0.5]), np.array([0.5, -2.0, 1.0])]
CURVES = pd.DataFrame(
    {"rho": [0.5, 0.2, 0.1], "error": [30.0, 12.0, 0.0], "bayes_error": [20.0, 11.0, 10.5]},
    index=SIZES,
)


def sizes(n_rows, width=2):
    outputs = RNG.normal(size=(3, n_rows)).astype(np.float32)
    lines = [RNG.normal(size=(4, 2)) for _ in SIZES]
    vectors = [RNG.normal(size=(n, width)) for n in SIZES]
    return reduced.Sizes(
        np.arange(n_rows), RNG.normal(size=n_rows), outputs, lines, vectors, WEIGHTS
    )


def layers(chart, kind):
    return [one for one in chart.layers if isinstance(one, kind)]


def test_both_maps_have_one_scale_and_the_vectors_of_each_size():
    read = sizes(SIDE**2)
    exact, few = reduced.vectors_on_map(PLANE, read, 4, 12), reduced.boundary(PLANE, read, 4)
    assert layers(exact, Heat)[0].ends() == layers(few, Heat)[0].ends()
    for position in range(3):
        heat = layers(few.at(position), Heat)[0]
        np.testing.assert_array_equal(heat.values.ravel(), read.outputs[position])
        np.testing.assert_allclose(
            layers(few.at(position), Line)[0].x, read.lines[position][:, 0], rtol=1e-6
        )
    marks = next(one for one in layers(few.at(2), Points) if one.names == ("for a", "for b"))
    np.testing.assert_array_equal(marks.group, [1, 0, 1])
    np.testing.assert_allclose(marks.hover["weight"], WEIGHTS[2])
    assert len(layers(exact, Points)[0].x) == 12
    assert few.title == ["Reduced: 1 vector", "Reduced: 2 vectors", "Reduced: 3 vectors"]
    for chart in (exact, few):
        assert_alike(chart, 3)


def test_images_are_as_bright_as_they_can_be_and_say_their_weights():
    strip = reduced.vectors_as_images(sizes(9, width=20), SIZES, (4, 5))
    assert np.abs(strip.bank).max(axis=(1, 2)) == pytest.approx(1.0)
    assert [len(row) for row in strip.shown] == SIZES
    assert strip.text[0] == ["weight -2"]
    assert strip.title[0] == "Its 1 vector, framed by class"
    assert_alike(strip, 3)


def test_errors_are_drawn_and_marked_at_each_size():
    chart = reduced.error(CURVES, 10.0, SIZES, 100)
    exact, error, bayes = layers(chart, Line)
    assert list(exact.y) == [10.0, 10.0]
    np.testing.assert_allclose(error.y, [30.0, 12.0, 0.5], err_msg="half a query, not nothing")
    np.testing.assert_allclose(bayes.y, CURVES["bayes_error"])
    for position, n in enumerate(SIZES):
        now = chart.at(position)
        assert layers(now, Rule)[0].x == n
        assert [float(mark.y[0]) for mark in layers(now, Points)] == [
            error.y[position], bayes.y[position],
        ]  # fmt: skip
    assert_alike(chart, 3)


def test_rho_has_a_chart_of_its_own():
    chart = reduced.rho(CURVES, SIZES)
    np.testing.assert_allclose(layers(chart, Line)[0].y, CURVES["rho"])
    assert layers(chart.at(1), Points)[0].y[0] == 0.2
    assert_alike(chart, 3)


def test_outputs_show_whose_sign_changed():
    read = sizes(9)
    chart = reduced.outputs(read, 4)
    for position in range(3):
        points = layers(chart.at(position), Points)[0]
        same = (read.outputs[position] > 0) == (read.exact > 0)
        np.testing.assert_array_equal(points.group, same)
        np.testing.assert_array_equal(points.y, read.outputs[position])
    assert layers(chart, Points)[0].picked == 4
    assert_alike(chart, 3)


def test_a_strip_has_a_caption_for_each_copy():
    strip = reduced.virtual_strip(RNG.random(size=(5, 4, 4)), ("sv", "up", "down", "left", "right"))
    assert strip.captions == ["sv", "up", "down", "left", "right"]
    assert_alike(strip, 1)
