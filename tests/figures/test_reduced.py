"""The figures of the reduced set: names, lengths, values."""

import numpy as np
import pandas as pd
import pytest

from kmviz.figures import reduced as figures
from kmviz.figures.boundary import Plane
from kmviz.traces import Reading

RNG = np.random.default_rng(0)
PLANE = Plane(
    points=RNG.normal(size=(30, 2)),
    labels=np.repeat([-1, 1], 15),
    vectors=RNG.normal(size=(12, 2)),
    weights=RNG.normal(size=12),
    queries=RNG.normal(size=(20, 2)),
    class_names=("a", "b"),
    axes=("u", "v"),
    x=np.linspace(-1, 1, 5),
    y=np.linspace(-2, 2, 7),
    values=RNG.normal(size=(7, 5)),
)
CURVES = pd.DataFrame(
    {"rho": [0.5, 0.2, 0.1], "error": [30.0, 12.0, 10.0], "bayes_error": [20.0, 11.0, 10.5]},
    index=[1, 2, 3],
)


def named(figure, start):
    found = [trace for trace in figure.data if (trace.name or "").startswith(start)]
    assert len(found) == 1, start
    return found[0]


def test_images_show_the_heaviest_with_their_weights():
    weights = np.linspace(-1.0, 0.5, 30)
    figure = figures.reduced_images(RNG.normal(size=(30, 4, 5)), weights)
    assert len(figure.layout.annotations) == figures.MOST_IMAGES
    assert figure.layout.annotations[0].text == "-1"
    heat = figure.data[0]
    assert (heat.zmin, heat.zmax) == (-1.0, 1.0)
    assert np.nanmax(np.abs(heat.z)) == pytest.approx(1.0)
    assert "24 heaviest of 30" in figure.layout.title.text


def test_a_strip_has_a_caption_for_each_copy():
    images = RNG.random(size=(5, 4, 4))
    figure = figures.virtual_strip(images, ("sv", "up", "down", "left", "right"))
    assert [note.text for note in figure.layout.annotations] == [
        "sv",
        "up",
        "down",
        "left",
        "right",
    ]
    assert np.isfinite(figure.data[0].z).sum() == 5 * 16


def test_the_map_shows_reduced_vectors_by_the_sign_of_their_weight():
    weights = np.array([0.5, -2.0, 1.0])
    figure = figures.reduced_map(PLANE, RNG.normal(size=(3, 2)), weights, 4)
    positive = named(figure, "reduced vector, b")
    assert len(positive.x) == 2
    assert list(positive.text) == ["z1, weight +0.5", "z3, weight +1"]
    assert len(named(figure, "reduced vector, a").x) == 1
    assert len(named(figure, "support vector").x) == 12
    assert len(named(figure, "queries").customdata) == 20


def test_errors_and_rho_share_a_chart():
    figure = figures.reduced_error(CURVES, 10.0, 2)
    np.testing.assert_allclose(named(figure, "ρ").y, CURVES["rho"], rtol=1e-6)
    np.testing.assert_allclose(named(figure, "error, machine").y, CURVES["error"], rtol=1e-6)
    np.testing.assert_allclose(named(figure, "error, Bayes").y, CURVES["bayes_error"], rtol=1e-6)
    assert list(named(figure, "error of the machine").y) == [10.0, 10.0]
    assert figure.layout.shapes[0].x0 == 2
    assert figure.layout.yaxis.type == figure.layout.xaxis.type == "log"
    assert named(figure, "error, machine").yaxis == "y2"


def test_two_boundaries_have_one_scale():
    reduced = RNG.normal(size=(7, 5))
    figure = figures.two_boundaries(PLANE, reduced, ("exact: 12", "reduced: 3"), 0)
    bands = [trace for trace in figure.data if trace.name == "f(x)"]
    assert len(bands) == 2
    assert bands[0].zmin == bands[1].zmin == -bands[1].zmax
    np.testing.assert_allclose(bands[1].z, reduced, rtol=1e-6)
    assert [band.xaxis for band in bands] == ["x", "x2"]
    assert [note.text for note in figure.layout.annotations] == ["exact: 12", "reduced: 3"]


def test_outputs_show_whose_sign_changed():
    exact = np.array([-2.0, -1.0, 0.5, 3.0])
    found = np.array([-1.5, 0.2, 0.4, 2.0])
    agrees = np.array([True, False, True, True])
    reading = Reading(found, np.full(4, 3), agrees, exact, 0.0)
    ids, labels = np.array([0, 10, 20, 30]), np.array([-1, -1, 1, 1])
    figure = figures.two_outputs(reading, ids, labels, ("a", "b"), (-1.0, 0.2))
    assert list(named(figure, "sign changed").customdata) == [10]
    assert list(named(figure, "b").customdata) == [20, 30]
    assert named(figure, "the query").x[0] == -1.0
