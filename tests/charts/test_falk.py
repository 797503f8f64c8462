"""Charts of the local models, by their content."""

import numpy as np
import pandas as pd
import pytest

from kmviz.charts import Line, Points, Regions, Rule, falk
from kmviz.charts.plane import Plane
from kmviz.traces import LocalModel
from tests.charts.renderers import assert_alike

X, Y = np.linspace(0, 1, 10), np.linspace(0, 2, 12)
SIZES = [4, 6]


@pytest.fixture
def plane():
    rng = np.random.default_rng(0)
    return Plane(
        points=rng.random((20, 2)), labels=np.tile([-1, 1], 10), vectors=rng.random((3, 2)),
        weights=np.ones(3), queries=rng.random((5, 2)), class_names=("a", "b"), axes=("u", "v"),
        x=X, y=Y, values=rng.normal(size=(12, 10)),
    )  # fmt: skip


def models(plane, size):
    owner = np.arange(120).reshape(12, 10) % size
    return falk.Models(
        owner, 1 + owner, np.zeros((3, 2)), plane.points[:size], np.full(size, 0.2),
        [f"model {k}" for k in range(size)],
    )  # fmt: skip


def home(size, removed=0):
    model = LocalModel(2, 3, np.arange(size), size // 2, np.arange(3), 0.1, 0.05 * size, 0.0)
    return falk.Home(model, 7, np.ones((4, 2)), np.arange(removed))


def layers(chart, kind):
    return [one for one in chart.layers if isinstance(one, kind)]


def named(chart, name):
    return next(
        one
        for one in chart.layers
        if name in (getattr(one, "name", None), *getattr(one, "names", ()))
    )


def drawn(plane, removed=0):
    every = [models(plane, size) for size in SIZES]
    homes = [home(size, removed) for size in SIZES]
    return falk.local_map(plane, (X, Y), every, homes, SIZES, 1)


def test_the_map_shows_circles_regions_and_boundaries_by_size(plane):
    chart = drawn(plane)
    for position, size in enumerate(SIZES):
        now = chart.at(position)
        assert now.title == f"{size} local models of {size} points"
        assert layers(now, Regions)[0].owner.max() == size - 1
        for name, radius in (
            ("k points it is trained on", 0.05 * size), ("k' points it answers for", 0.1)
        ):  # fmt: skip
            ring = named(now, name)
            away = np.hypot(ring.x - plane.points[3, 0], ring.y - plane.points[3, 1])
            np.testing.assert_allclose(away, radius, rtol=1e-4)
        way = named(now, "query, nearest point, centre")
        np.testing.assert_allclose(way.x, [plane.queries[1, 0], *plane.points[[7, 3], 0]])
        assert len(named(now, "its support vectors").x) == 3
        assert len(named(now, "local models composed").x) == 3
        assert len(named(now, "each local model nearby").x) == 4
    np.testing.assert_allclose(named(chart, "global SVM").x, plane.boundary[:, 0])
    assert not [one for one in layers(chart, Points) if "noise it would remove" in one.names]
    assert len(named(drawn(plane, removed=2).at(0), "noise it would remove").x) == 2
    assert_alike(chart, 2)


def test_effort_is_drawn_with_the_boundary_of_those_who_make_it(plane):
    every = [models(plane, size) for size in SIZES]
    chart = falk.own_effort(plane, plane.queries[1], (X, Y), every)
    assert [line.name for line in layers(chart, Line)] == ["", "local models"]
    np.testing.assert_array_equal(chart.layers[0].values[1], every[1].steps)
    assert_alike(chart, 2)


def test_a_projection_has_links_instead_of_circles(plane):
    flat = Plane(
        plane.points, plane.labels, plane.vectors, plane.weights, plane.queries, ("a", "b"),
        ("u", "v"), title="PCA projection",
    )  # fmt: skip
    chart = falk.local_points(flat, [home(size) for size in SIZES], 0)
    assert chart.title == "PCA projection"
    for position, size in enumerate(SIZES):
        now = chart.at(position)
        assert len(named(now, "who answers").x) == size
        assert np.isnan(named(now, "centre to its k' points").x).sum() == size // 2
    assert_alike(chart, 2)


def test_images_begin_with_the_query():
    images, labels = np.random.default_rng(0).random((20, 4, 4)), np.tile([-1, 1], 10)
    strip = falk.local_images(np.zeros((4, 4)), images, labels, [home(size) for size in SIZES])
    assert [len(part) for part in strip.shown] == [5, 7]
    assert strip.groups[1].tolist() == [255, 0, 1, 0, 1, 0, 1]
    np.testing.assert_array_equal(strip.bank[strip.shown[1][2]], images[1])
    assert_alike(strip, 2)


def test_the_sweep_has_the_svm_as_lines():
    table = pd.DataFrame(
        {"n_neighbors": [10, 60], "accuracy": [0.8, 0.9], "steps": [4.0, 20.0],
         "seconds": [0.2, 0.1], "models": [90, 12]}
    )  # fmt: skip
    charts = falk.local_sweep(table, {"accuracy": 0.85, "steps": 300, "seconds": 2.0})
    wanted = (([80, 90], 85), ([4, 20], 300), ([0.2, 0.1], 2.0))
    for chart, (values, level) in zip(charts, wanted, strict=True):
        curve, svm = layers(chart, Line)
        np.testing.assert_allclose(curve.y, values)
        assert svm.y == pytest.approx(level)
        every, here = layers(chart.at(1), Points)
        assert every.hover["models"].tolist() == [90, 12]
        assert here.y[0] == values[1]
        assert layers(chart.at(1), Rule)[0].x == 60
        assert_alike(chart, 2)
    assert [chart.y.log for chart in charts] == [False, True, True]
