"""Maps of the plane and the effort of queries, by their content."""

import numpy as np
import pytest

from kmviz.charts import Heat, Line, Points, Rule, maps
from kmviz.charts.plane import Plane, grid_over, principal_axes
from tests.charts.renderers import assert_alike

RNG = np.random.default_rng(1)
ROWS = RNG.normal(size=(40, 2))


def plane(flat=True, n_vectors=7):
    x, y, rows = grid_over(ROWS, 12)
    where = {"x": x, "y": y, "values": (rows[:, 0] + 0.1).reshape(12, 12)} if flat else {}
    return Plane(
        ROWS, np.tile([-1, 1], 20), ROWS[:n_vectors], RNG.normal(size=n_vectors), ROWS[::4],
        ("no", "yes"), ("u", "v"), title=None if flat else "PCA projection", **where,
    )  # fmt: skip


def layers(chart, kind):
    return [one for one in chart.layers if isinstance(one, kind)]


def test_the_boundary_is_where_f_is_zero():
    chart = maps.boundary(plane(), 3)
    (line,) = layers(chart, Line)
    np.testing.assert_allclose(line.x[np.isfinite(line.x)], -0.1, atol=1e-9)
    (heat,) = layers(chart, Heat)
    assert len(np.unique(heat.values)) <= 2 * maps.BANDS + 1
    _, rings, queries = layers(chart, Points)
    assert rings.size.max() == pytest.approx(16)
    assert (queries.picked, len(queries.id)) == (3, 10)
    assert chart.equal
    assert_alike(chart, 1)


def test_a_projection_has_neither_f_nor_boundary_and_says_so():
    chart = maps.boundary(plane(flat=False), 3)
    assert not layers(chart, Line)
    assert not layers(chart, Heat)
    assert chart.title == "PCA projection"
    assert_alike(chart, 1)


def test_many_support_vectors_are_drawn_smaller():
    crowd = Plane(ROWS, np.tile([-1, 1], 20), np.tile(ROWS, (8, 1)), np.ones(320), ROWS,
                  ("no", "yes"), ("u", "v"))  # fmt: skip
    assert layers(maps.boundary(crowd), Points)[1].size.max() == pytest.approx(11)


def test_every_query_is_drawn_once_with_its_row_and_cost():
    outputs, costs = RNG.normal(size=60), RNG.integers(1, 9, size=60)
    labels = np.where(RNG.random(60) > 0.5, 1, -1)
    chart = maps.effort(outputs, costs, labels, ("no", "yes"), query=5, n_vectors=20)
    points = layers(chart, Points)[0]
    np.testing.assert_array_equal(points.id, np.arange(60))
    np.testing.assert_allclose(points.x, outputs, rtol=1e-6)
    np.testing.assert_array_equal(points.y, costs)
    wrong = (outputs > 0) != (labels > 0)
    np.testing.assert_array_equal(points.group == 2, wrong)
    assert layers(chart, Rule)[1].text == "all 20 support vectors"
    assert_alike(chart, 1)


def test_of_many_queries_a_sample_is_drawn_with_the_query_in_it_and_says_so():
    n = 2_000
    chart = maps.effort(np.ones(n), np.ones(n), np.ones(n), ("no", "yes"), query=777)
    assert 777 in chart.layers[0].id
    assert chart.title == f"A sample of {len(chart.layers[0].id)} queries"


def test_small_maps_share_their_scale_with_the_large_one():
    x, y, _ = grid_over(ROWS, 12)
    steps = RNG.integers(0, 9, (12, 12))
    large = maps.effort_map(plane(), ROWS[0], x, y, steps)
    small = maps.effort_map(plane(), ROWS[0], x, y, steps, "nsv", "NSV: 4.0")
    assert large.layers[0].ends() == small.layers[0].ends() == (1.0, 7.0)
    assert large.layers[0].values.min() == 1, "a logarithm has no nothing"
    assert (small.key, small.title, small.x.hidden) == ("effort_map_nsv", "NSV: 4.0", True)
    assert not [name for one in layers(small, Points) for name in one.names if name]
    for chart in (large, small):
        assert_alike(chart, 1)


def test_the_strip_has_the_easiest_first_and_the_hardest_last():
    steps = np.stack([np.arange(30), np.arange(30)[::-1]])
    strip = maps.effort_strip(RNG.random((60, 3, 3)), np.arange(0, 60, 2), steps)
    assert strip.captions[0] == [*map(str, range(6)), *map(str, range(24, 30))]
    first = strip.at(1)
    assert strip.id[first.shown[0]] == 58
    assert_alike(strip, 2)


def test_the_darker_a_point_the_more_it_took():
    steps = np.array([1, 10, 100])
    chart = maps.effort_points(ROWS[:3], steps, ("a", "b"))
    assert list(chart.layers[0].group) == [0, 5, 9]
    assert_alike(chart, 1)


def test_principal_axes_are_those_of_the_data():
    X = RNG.normal(size=(50, 5)) * [5, 3, 1, 0.5, 0.1]
    centre, directions, share = principal_axes(X)
    np.testing.assert_allclose(centre, X.mean(axis=0))
    _, _, wanted = np.linalg.svd(X - X.mean(axis=0))
    np.testing.assert_allclose(np.abs(directions.T @ wanted[:2].T), np.eye(2), atol=1e-8)
    assert 0.9 < share < 1
    few = principal_axes(X[:4])
    np.testing.assert_allclose(np.linalg.norm(few[1], axis=0), 1.0)
