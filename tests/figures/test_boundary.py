"""The map: what is drawn, where, and what answers a click."""

import numpy as np
import pytest

from kmviz.figures import theme
from kmviz.figures.boundary import Plane, boundary, click_layer


@pytest.fixture
def plane():
    rng = np.random.default_rng(0)
    x = y = np.linspace(-2, 2, 30)
    return Plane(
        points=rng.normal(size=(40, 2)),
        labels=np.repeat([-1, 1], 20),
        vectors=np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]]),
        weights=np.array([-1.0, 4.0, 0.25]),
        queries=rng.normal(size=(25, 2)),
        class_names=("no", "yes"),
        axes=("width", "height"),
        x=x,
        y=y,
        values=np.add.outer(y, x),
    )


def by_name(figure, name):
    return next(t for t in figure.data if t.name == name)


def test_classes_differ_in_colour_and_symbol(plane):
    figure = boundary(plane)
    no, yes = by_name(figure, "no").marker, by_name(figure, "yes").marker
    assert no.color != yes.color
    assert no.symbol != yes.symbol


def test_support_vectors_are_sized_by_weight(plane):
    rings = by_name(boundary(plane), "support vector")
    assert np.argsort(rings.marker.size).tolist() == [2, 0, 1]
    np.testing.assert_allclose(rings.x, plane.vectors[:, 0])


def test_the_field_is_float32_and_centred_on_the_boundary(plane):
    field = boundary(plane).data[0]
    assert field.z.dtype == np.float32
    assert field.zmin == -field.zmax
    assert field.z.shape == (30, 30)


def test_a_click_finds_the_row_of_the_query(plane):
    layer = by_name(boundary(plane, query=7), "queries")
    assert layer.hoverinfo == "none"
    assert layer.marker.opacity == layer.unselected.marker.opacity == 0
    row = list(layer.customdata).index(7)
    np.testing.assert_allclose([layer.x[row], layer.y[row]], plane.queries[7], rtol=1e-6)


def test_many_queries_are_spread_over_the_map_for_clicks():
    queries = np.random.default_rng(1).uniform(size=(5_000, 2))
    layer = click_layer(queries, cells=10)
    assert len(layer["customdata"]) == 100
    fields = np.floor(10 * queries[layer["customdata"]] / queries.max(axis=0) * 0.9999)
    assert len(np.unique(fields, axis=0)) > 95
    same = click_layer(np.ones((500, 2)), cells=10)
    assert same["customdata"].tolist() == [0]


def test_the_query_is_marked(plane):
    mark = by_name(boundary(plane, query=3), "the query")
    np.testing.assert_allclose([mark.x[0], mark.y[0]], plane.queries[3], rtol=1e-6)
    assert "the query" not in {t.name for t in boundary(plane).data}


def test_a_projection_has_a_title_and_no_field(plane):
    flat = Plane(
        plane.points, plane.labels, plane.vectors, plane.weights, plane.queries,
        plane.class_names, ("first", "second"), title="PCA projection of 9 dimensions",
    )  # fmt: skip
    figure = boundary(flat)
    assert figure.layout.title.text == "PCA projection of 9 dimensions"
    assert not any(t.type == "contour" for t in figure.data)


def test_large_sets_stay_within_what_svg_draws(plane):
    many = np.random.default_rng(0).normal(size=(10_000, 2))
    large = Plane(
        many, np.where(many[:, 0] > 0, 1, -1), many[:50], many[:50, 0], many,
        ("no", "yes"), ("a", "b"),
    )  # fmt: skip
    drawn = sum(len(t.x) for t in boundary(large, 0).data)
    assert drawn <= theme.SVG_POINTS + 100
