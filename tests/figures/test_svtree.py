"""The tree's charts: what they hold, not how they look."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC

from kmviz import SVTreeClassifier
from kmviz.charts.geometry import borders
from kmviz.figures.boundary import Plane
from kmviz.figures.svtree import tree_heights, tree_map, tree_path, tree_sum
from kmviz.traces import Partition

X, Y = make_moons(120, noise=0.2, random_state=0)
SVM = SVC(C=10.0).fit(X, Y)
CLF = SVTreeClassifier(FrozenEstimator(SVM), split="exact").fit(X)
TRACE = CLF.trace(X[5])
SIDE = np.linspace(-1.5, 2.5, 20)


def named(figure, name):
    found = [t for t in figure.data if (t.name or "").startswith(name)]
    assert len(found) == 1, [t.name for t in figure.data]
    return found[0]


def plane(flat=True):
    grid = np.column_stack([a.ravel() for a in np.meshgrid(SIDE, SIDE)])
    values = SVM.decision_function(grid).reshape(20, 20)
    where = {"x": SIDE, "y": SIDE, "values": values} if flat else {"title": "PCA projection"}
    labels = np.where(Y > 0, 1, -1)
    weights = SVM.dual_coef_.ravel()
    view = Plane(X, labels, SVM.support_vectors_, weights, X, ("a", "b"), ("u", "v"), **where)
    return view, grid


def partition(rows, shape, height=4):
    nodes, values, _ = CLF.tree_.paths(rows)
    output = CLF.tree_.running(nodes, values)[:, height].reshape(shape)
    leaf = nodes[:, :height].max(axis=1).reshape(shape)
    region = (nodes[:, :height] == 1).any(axis=1).reshape(shape)
    asked = CLF.tree_.vectors[TRACE.index[1 : height + 1]]
    return Partition(leaf, output, region, asked, "region of node 1")


def test_map_of_a_plane():
    view, grid = plane()
    part = partition(grid, (20, 20))
    figure = tree_map(view, part, CLF.tree_.to_frame(), query=5)
    regions = named(figure, "leaves")
    np.testing.assert_allclose(regions.z, np.clip(part.output / 1.5, -1, 1) * 100, atol=0.51)
    assert regions.zmid == 0, "colour is class and strength"
    assert figure.layout.yaxis.scaleanchor == "x"
    border = borders(part.leaf, view.x, view.y)
    np.testing.assert_allclose(named(figure, "borders").x, border[:, 0], rtol=1e-6)
    np.testing.assert_allclose(named(figure, "borders").y, border[:, 1], rtol=1e-6)
    np.testing.assert_array_equal(np.asarray(regions.customdata)[..., 0], part.leaf)
    for name in ("exact boundary", "the tree's boundary", "region of node 1"):
        assert named(figure, name).type == "contour"
    path = named(figure, "asked")
    assert list(path.text) == ["1", "2, 4", "3"], "vector 2 is asked twice"
    np.testing.assert_allclose(path.x, part.path[:3, 0], rtol=1e-6)
    assert named(figure, "queries").customdata.tolist() == list(range(120))
    assert named(figure, "the query").x[0] == pytest.approx(X[5, 0])


def test_map_of_a_projection_says_so_and_colours_points():
    view, _ = plane(flat=False)
    part = partition(X, (120,))
    figure = tree_map(view, part, CLF.tree_.to_frame(), query=5)
    assert figure.layout.title.text == "PCA projection"
    points = [t for t in figure.data if (t.name or "").endswith("(colour: answer)")]
    for drawn in points:
        assert drawn.marker.cmin == -drawn.marker.cmax
    assert sum(len(t.x) for t in points) == 120
    leaf = {tuple(p): n for t in points for p, n in zip(zip(t.x, t.y), t.text)}
    told = [int(leaf[tuple(p)].split()[1].rstrip(":")) for p in X.astype(np.float32)]
    assert told == part.leaf.tolist()
    assert len(named(figure, "region of node 1").x) == part.region.sum()


@pytest.mark.parametrize("height", [1, 3, 50])
def test_tree_is_cut_at_the_height(height):
    nodes = CLF.tree_.to_frame()
    figure = tree_path(nodes, TRACE, height, chosen=0)
    marks = named(figure, "node (area")
    expected = nodes.index[nodes["depth"] <= height]
    assert marks.customdata.tolist() == expected.tolist()
    lit = named(figure, "asked on the path")
    assert lit.customdata.tolist() == TRACE.node[1 : height + 1].tolist()
    assert f"{TRACE.partial[1]:.3g}" in lit.text[0]
    assert named(figure, "chosen node").y == (1.0,)
    assert len(named(figure, "branches").x) == 3 * (len(expected) - 1)


def test_children_stand_beside_each_other_under_their_parent():
    nodes = CLF.tree_.to_frame()
    marks = named(tree_path(nodes, TRACE, 3, chosen=99_999), "node (area")
    x = dict(zip(marks.customdata.tolist(), marks.x))
    left, right = nodes.loc[0, ["children_left", "children_right"]]
    assert x[left] < x[0] < x[right]


def test_running_sum():
    figure = tree_sum(TRACE, height=4)
    np.testing.assert_allclose(named(figure, "running sum").y, TRACE.partial[:5], rtol=1e-6)
    np.testing.assert_allclose(named(figure, "node score").y, TRACE.score[:5], rtol=1e-6)
    assert set(named(figure, "exact f(x)").y) == {np.float32(TRACE.exact)}
    images = np.ones((TRACE.stop, 8, 8), dtype=np.float32)
    strip = named(tree_sum(TRACE, 4, images), "vectors asked")
    assert np.shape(strip.z) == (8, 4 * 10)
    assert np.nansum(strip.z) == 4 * 64
    assert 0.5 < strip.x[0] < 0.6
    assert 4.4 < strip.x[-1] < 4.5


def test_heights():
    curves = pd.DataFrame(
        {"accuracy": [0.7, 0.8, 0.9], "path_length": [1.0, 1.9, 2.5], "reduced": [0.6, 0.7, 0.8]},
        index=pd.RangeIndex(1, 4, name="height"),
    )
    figure = tree_heights(curves, linear=0.75, full=0.92, height=2)
    np.testing.assert_allclose(named(figure, "tree, accuracy").y, [0.7, 0.8, 0.9], rtol=1e-6)
    np.testing.assert_allclose(named(figure, "mean path length").y, [1.0, 1.9, 2.5], rtol=1e-6)
    np.testing.assert_allclose(named(figure, "reduced set").y, [0.6, 0.7, 0.8], rtol=1e-6)
    assert named(figure, "full SVM").y[0] == pytest.approx(0.92)
    assert named(figure, "linear SVM").y[0] == pytest.approx(0.75)
    assert figure.layout.shapes[0].x0 == 2.0
