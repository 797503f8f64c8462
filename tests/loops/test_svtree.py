"""The compiled walk and sweep against plain NumPy."""

import numpy as np
import pytest

from kmviz.kernels import RBF, Linear, Normalized, Polynomial
from kmviz.loops.svtree import sweep
from kmviz.machines import KernelMachine
from kmviz.methods.svtree.growth import ColumnFit, Growth, assemble
from kmviz.methods.svtree.split import exact_split

KERNELS = [Linear(), Polynomial(degree=3, gamma=0.5), RBF(0.7), Normalized(Polynomial(degree=4))]


def a_tree(kernel, n=120, m=15, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    machine = KernelMachine(X[:m], rng.normal(size=m), 0.1, kernel)
    values = kernel(X, machine.vectors)
    exact = machine.decision_function(X)
    fit = ColumnFit(values, machine.beta, exact, machine.bias)
    grown = Growth(exact_split, min_rows=3, max_height=None).grow(fit, values, exact)
    return assemble(grown, kernel, machine.vectors, machine.bias), rng.normal(size=(50, d))


def coefficients_to(tree, node):
    return tree.coefficients[tree.start[node] : tree.start[node] + tree.depth[node]]


def plain_walk(tree, x):
    """Definition 2, word for word."""
    node, path, values = 0, [], []
    while node >= 0:
        value = tree.kernel(x[None], tree.vectors[tree.sv_index[node]][None])[0, 0]
        path.append(node)
        values.append(value)
        left = tree.weight[node] * value <= tree.threshold[node]
        node = tree.children_left[node] if left else tree.children_right[node]
    return tree.offset[path[-1]] + coefficients_to(tree, path[-1]) @ values, path


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: type(k).__name__)
def test_walk_equals_plain_walk(kernel):
    tree, queries = a_tree(kernel)
    output, steps = tree.run(queries)
    nodes, values, lengths = tree.paths(queries)
    for i, x in enumerate(queries):
        expected, path = plain_walk(tree, x)
        assert output[i] == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert nodes[i, : len(path)].tolist() == path
        assert (nodes[i, len(path) :] == -1).all()
        assert steps[i] == lengths[i] == len(path)
    assert steps.max() > 3
    np.testing.assert_allclose(tree.running(nodes, values)[:, -1], output, rtol=1e-12, atol=1e-12)


def test_float32_walks_the_same_paths():
    tree, queries = a_tree(RBF(0.3))
    output, steps = tree.run(queries)
    output32, steps32 = tree.run(queries.astype(np.float32))
    np.testing.assert_array_equal(steps32, steps)
    np.testing.assert_allclose(output32, output, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("height", [1, 2, 4])
def test_cut_at_a_height(height):
    tree, queries = a_tree(RBF(0.3))
    nodes, values, _ = tree.paths(queries)
    output, steps = tree.run(queries, height)
    assert steps.max() == height
    np.testing.assert_allclose(output, tree.running(nodes, values)[:, height], rtol=1e-12)


@pytest.mark.parametrize("scaled,centered", [(True, False), (False, False), (True, True)])  # noqa: PT006
def test_sweep_equals_each_prefix_by_itself(scaled, centered):
    rng = np.random.default_rng(1)
    columns, residual = rng.normal(size=(30, 6)), rng.normal(size=30)
    order, gains = rng.permutation(30), np.empty(30)
    sweep(columns, residual, order, scaled, centered, 1e-9, gains)
    for k in range(1 + 2 * centered, 30):
        X, r = columns[order[: k + 1]], residual[order[: k + 1]]
        drops = []
        for x in X.T:
            if scaled:
                A = np.column_stack([x, np.ones(k + 1)]) if centered else x[:, None]
                left = r - A @ np.linalg.lstsq(A, r, rcond=None)[0]
            else:
                left = r - x
            drops.append(r @ r - left @ left)
        assert gains[k] == pytest.approx(max(drops), rel=1e-6)
