"""The tree's charts: what they hold, not how they look."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC

from kmviz import SVTreeClassifier
from kmviz.charts import Heat, Line, Points, Regions, Rule, svtree
from kmviz.charts.geometry import borders
from kmviz.charts.plane import Plane
from tests.charts.renderers import assert_alike

X, Y = make_moons(120, noise=0.2, random_state=0)
SVM = SVC(C=10.0).fit(X, Y)
CLF = SVTreeClassifier(FrozenEstimator(SVM), split="exact").fit(X)
NODES = CLF.tree_.to_frame()
TRACE = CLF.trace(X[5])
SIDE = np.linspace(-1.5, 2.5, 20)
HEIGHTS = [1, 2, 4]


def layers(chart, kind):
    return [one for one in chart.layers if isinstance(one, kind)]


def named(chart, name):
    return next(one for one in layers(chart, Line) if one.name == name)


def plane(flat=True):
    grid = np.column_stack([a.ravel() for a in np.meshgrid(SIDE, SIDE)])
    values = SVM.decision_function(grid).reshape(20, 20)
    where = {"x": SIDE, "y": SIDE, "values": values} if flat else {"title": "PCA projection"}
    labels = np.where(Y > 0, 1, -1)
    weights = SVM.dual_coef_.ravel()
    view = Plane(X, labels, SVM.support_vectors_, weights, X, ("a", "b"), ("u", "v"), **where)
    return view, grid


def by_height(rows, shape):
    """The leaf, the output and whether it is below node 1, for each row at each height."""
    nodes, values, _ = CLF.tree_.paths(rows)
    running = CLF.tree_.running(nodes, values)
    leaf = [nodes[:, :h].max(axis=1).reshape(shape) for h in HEIGHTS]
    output = [running[:, h].reshape(shape) for h in HEIGHTS]
    inside = [(nodes[:, :h] == 1).any(axis=1).reshape(shape) for h in HEIGHTS]
    asked = [CLF.tree_.vectors[TRACE.index[1 : h + 1]] for h in HEIGHTS]
    return (*map(np.stack, (leaf, output, inside)), asked)


def test_map_of_a_plane_by_height():
    view, grid = plane()
    leaf, output, inside, asked = by_height(grid, (20, 20))
    chart = svtree.tree_map(view, (SIDE, SIDE), leaf, output, inside, asked, NODES, "node 1", 5)
    for position, height in enumerate(HEIGHTS):
        now = chart.at(position)
        (heat,), (regions,) = layers(now, Heat), layers(now, Regions)
        np.testing.assert_allclose(heat.values, np.clip(output[position], -1.5, 1.5))
        assert heat.ends() == (-1.5, 1.5), "colour is class and strength"
        np.testing.assert_array_equal(regions.owner, leaf[position])
        np.testing.assert_allclose(
            layers(now, Line)[0].x, borders(leaf[position], SIDE, SIDE)[:, 0], rtol=1e-6
        )
        assert sum(len(words.split(", ")) for words in layers(now, Points)[1].labels) == height
    path = layers(chart.at(2), Points)[1]
    assert path.labels == ["1", "2, 4", "3"], "vector 2 is asked twice"
    np.testing.assert_allclose(path.x, asked[2][:3, 0], rtol=1e-6)
    for name in ("exact boundary", "the tree's boundary", "node 1"):
        assert named(chart, name)
    queries = layers(chart, Points)[0]
    assert queries.picked == 5
    assert 5 in queries.id
    assert_alike(chart, 3)


def test_map_of_a_projection_says_so_and_colours_points():
    view, _ = plane(flat=False)
    leaf, output, inside, asked = by_height(X, (120,))
    chart = svtree.tree_points(view, leaf, output, inside, asked, NODES, "node 1", 5)
    assert "PCA projection" in chart.title
    for position in range(3):
        points, rings, *_ = layers(chart.at(position), Points)
        assert len(points.x) == 120
        strong = np.abs(output[position]) > 0.3
        signs = np.asarray(points.group) % 10 >= 5
        np.testing.assert_array_equal(signs[strong], output[position][strong] > 0)
        np.testing.assert_array_equal(np.asarray(points.group) >= 10, Y > 0)
        told = [int(text.split(":")[0].removeprefix("node ")) for text in points.text]
        assert told == leaf[position].tolist()
        assert len(rings.x) == inside[position].sum()
    assert_alike(chart, 3)


def test_tree_is_cut_at_the_height():
    chart = svtree.tree_path(NODES, TRACE.node[1:], HEIGHTS, chosen=0)
    for position, height in enumerate(HEIGHTS):
        now = chart.at(position)
        nodes, ring = layers(now, Points)
        np.testing.assert_array_equal(nodes.id, NODES.index)
        np.testing.assert_array_equal(nodes.group == 1, NODES["depth"] <= height)
        np.testing.assert_array_equal(named(now, "path of the query").y, -1 - np.arange(height))
        assert list(ring.y) == [-1.0]
    assert len(layers(chart, Line)[0].x) == 3 * (len(NODES) - 1)
    assert_alike(chart, 3)


def test_children_stand_beside_each_other_under_their_parent():
    x = dict(zip(NODES.index, svtree.places(NODES)))
    left, right = NODES.loc[0, ["children_left", "children_right"]]
    assert x[left] < x[0] < x[right]


def test_images_below_the_height_are_faint():
    images, sums = np.ones((4, 8, 8)), np.array([0.5, -0.2, 0.1, 0.9])
    strip = svtree.tree_digits(images, sums, [1, 3, 9])
    assert list(strip.faint_after) == [1, 3, 4]
    assert list(strip.groups) == [1, 0, 1, 1]
    assert_alike(strip, 3)


def test_heights():
    curves = pd.DataFrame(
        {"accuracy": [0.7, 0.8, 0.9], "path_length": [1.0, 1.9, 2.5], "reduced": [0.6, 0.7, 0.8]},
        index=pd.RangeIndex(1, 4, name="height"),
    )
    accuracy, length = svtree.tree_heights(curves, linear=0.75, full=0.92, height=2)
    np.testing.assert_allclose(named(accuracy, "tree").y, [70, 80, 90])
    np.testing.assert_allclose(named(accuracy, "reduced set of as many vectors").y, [60, 70, 80])
    assert named(accuracy, "exact SVM (92.0%)").y[0] == pytest.approx(92)
    assert named(accuracy, "linear SVM (75.0%)").y[0] == pytest.approx(75)
    np.testing.assert_allclose(layers(length, Line)[0].y, [1.0, 1.9, 2.5])
    for chart in (accuracy, length):
        assert layers(chart, Rule)[0].x == 2.0
        assert_alike(chart, 1)
