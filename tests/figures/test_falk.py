"""Figures of the local models, by their content."""

import numpy as np
import pandas as pd
import pytest

from kmviz.figures.boundary import Plane
from kmviz.figures.falk import local_map, local_sweep
from kmviz.traces import LocalMap


@pytest.fixture
def plane():
    rng = np.random.default_rng(0)
    x, y = np.linspace(0, 1, 10), np.linspace(0, 2, 12)
    return Plane(
        points=rng.random((20, 2)), labels=np.tile([-1, 1], 10), vectors=rng.random((3, 2)),
        weights=np.ones(3), queries=rng.random((5, 2)), class_names=("a", "b"), axes=("u", "v"),
        x=x, y=y, values=rng.normal(size=(12, 10)),
    )  # fmt: skip


def local(plane, flat, removed=0):
    grid = np.arange(120).reshape(12, 10)
    return LocalMap(
        centers=plane.points[:4], inner=np.full(4, 0.1), outer=np.full(4, 0.2),
        regions=None if flat else grid % 4, composed=None if flat else grid - 60.0,
        lines=np.zeros((3, 2)), answering=2, nearest=plane.points[7],
        members=plane.points[:6], vectors=plane.points[:3], n_cover=4,
        removed=plane.points[:removed],
    )  # fmt: skip


def by_name(figure):
    return {trace.name: trace for trace in figure.data}


def test_the_map_shows_circles_regions_and_boundaries(plane):
    traces = by_name(local_map(plane, local(plane, flat=False), query=1))
    circle = np.column_stack([traces["k' circles"].x, traces["k' circles"].y]).reshape(4, 26, 2)
    radii = np.linalg.norm(circle[:, :25] - plane.points[:4, None], axis=2)
    np.testing.assert_allclose(radii, 0.1, atol=1e-6)
    assert len(traces["k of who answers"].x) == 26
    parts = traces["borders between models"]
    assert np.nanmin(parts.x) >= plane.x[0] - 1
    assert len(parts.x) > 4
    hidden = {name for name, one in traces.items() if one.visible == "legendonly"}
    assert hidden == {"k' circles", "k circles", "local boundaries"}, "many lines, on demand"
    assert traces["composed boundary"].line.dash == "dash"
    np.testing.assert_allclose(traces["global SVM"].z, plane.values, atol=1e-6)
    path = traces["query, nearest point, centre"]
    np.testing.assert_allclose(path.x, [plane.queries[1, 0], *plane.points[[7, 2], 0]], atol=1e-6)
    assert len(traces["its neighbourhood"].x) == 6
    assert len(traces["its support vectors"].x) == 3
    assert "noise it would remove" not in traces
    np.testing.assert_array_equal(traces["queries"].customdata, np.arange(5))


def test_a_projection_has_links_instead_of_circles(plane):
    figure = local_map(plane, local(plane, flat=True, removed=2), query=0)
    traces = by_name(figure)
    assert "k' circles" not in traces
    assert np.isnan(traces["centre to its k' points"].x).sum() == 4
    assert len(traces["noise it would remove"].x) == 2
    assert figure.layout.xaxis.title.text == "u"
    assert figure.layout.yaxis.scaleanchor == "x", "what looks near is near"


def test_the_sweep_has_the_svm_as_lines():
    sweep = pd.DataFrame(
        {"n_neighbors": [10, 60], "accuracy": [0.8, 0.9], "steps": [4.0, 20.0],
         "seconds": [0.2, 0.1], "models": [90, 12]}
    )  # fmt: skip
    figure = local_sweep(sweep, {"accuracy": 0.85, "steps": 300, "seconds": 2.0}, 60)
    curves = {t.name: t for t in figure.data if t.name != "global SVM"}
    np.testing.assert_allclose(curves["training time"].y, [0.2, 0.1], rtol=1e-6)
    assert list(curves["accuracy"].customdata) == [90, 12]
    levels = [t for t in figure.data if t.name == "global SVM"]
    assert [float(t.y[0]) for t in levels] == [pytest.approx(85), 300.0, 2.0]
    assert [t.showlegend for t in levels] == [True, False, False]
    assert figure.layout.shapes[0].x0 == 60
    assert figure.layout.yaxis2.type == "log"
