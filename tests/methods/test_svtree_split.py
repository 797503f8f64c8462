"""Splits: the sweep against brute force, Algorithm 3 against its start, Algorithm 1 in full."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from kmviz.methods.svtree import balanced
from kmviz.methods.svtree.growth import ColumnFit, Growth, PathFit, assemble
from kmviz.methods.svtree.split import Gain, alternating_split, cuts, exact_split


def cost(x, r, gain):
    """||c X_j - r||^2 of one side."""
    if gain.centered:
        A = np.column_stack([x, np.ones(len(x))])
        left = r - A @ np.linalg.lstsq(A, r, rcond=None)[0]
    else:
        c = (x @ r / (x @ x) if x @ x else 0.0) if gain.scaled else 1.0
        left = r - c * x
    return left @ left


def brute_force(columns, residual, score, gain):
    """The least cost over all (t, j_l, j_r)."""
    m = columns.shape[1]
    best = np.inf
    for t in np.unique(score)[:-1]:
        left = score <= t
        for j_l, j_r in product(range(m), repeat=2):
            total = cost(columns[left, j_l], residual[left], gain)
            best = min(best, total + cost(columns[~left, j_r], residual[~left], gain))
    return best


def cost_of(found, columns, residual, score, gain):
    left = score <= found.threshold
    return cost(columns[left, found.left_column], residual[left], gain) + cost(
        columns[~left, found.right_column], residual[~left], gain
    )


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(2, 14),
    m=st.integers(1, 4),
    seed=st.integers(0, 10**6),
    levels=st.sampled_from([2, 3, None]),
    scaled=st.booleans(),
)
def test_exact_split_is_the_best_of_all(n, m, seed, levels, scaled):
    rng = np.random.default_rng(seed)
    columns, residual = rng.normal(size=(n, m)), rng.normal(size=n)
    score = rng.normal(size=n) if levels is None else rng.integers(levels, size=n).astype(float)
    gain = Gain(scaled=scaled)
    found = exact_split(columns, residual, score, gain)
    if len(np.unique(score)) == 1:
        assert found is None
        return
    expected = brute_force(columns, residual, score, gain)
    assert cost_of(found, columns, residual, score, gain) == pytest.approx(expected, abs=1e-8)
    assert residual @ residual - found.gain == pytest.approx(expected, abs=1e-8)


def test_exact_split_with_an_offset():
    rng = np.random.default_rng(0)
    columns, residual, score = rng.normal(size=(20, 4)), rng.normal(size=20), rng.normal(size=20)
    gain = Gain(centered=True, ridge=1e-12)
    found = exact_split(columns, residual, score, gain)
    expected = brute_force(columns, residual, score, gain)
    assert cost_of(found, columns, residual, score, gain) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("seed", range(12))
def test_alternating_is_never_worse_than_its_start_nor_better_than_the_best(seed, scaled):
    rng = np.random.default_rng(seed)
    columns, residual, score = rng.normal(size=(25, 5)), rng.normal(size=25), rng.normal(size=25)
    gain = Gain(scaled=scaled)
    found = alternating_split(columns, residual, score, gain, np.random.RandomState(seed))
    order, possible = cuts(score)
    k = possible[np.random.RandomState(seed).randint(len(possible))]
    start = gain.of(columns[order[:k]], residual[order[:k]]).max()
    start += gain.of(columns[order[k:]], residual[order[k:]]).max()
    assert found.gain >= start
    assert found.gain <= exact_split(columns, residual, score, gain).gain + 1e-9


def test_thresholds_stand_midway_and_neither_side_is_empty():
    score = np.array([3.0, 1.0, 1.0, 2.0])
    columns = np.array([[1.0], [0.0], [0.0], [1.0]])
    found = exact_split(columns, np.array([5.0, 0.0, 0.0, 5.0]), score, Gain())
    assert found.threshold in (1.5, 2.5)
    order, possible = cuts(score)
    assert score[order].tolist() == [1.0, 1.0, 2.0, 3.0]
    assert possible.tolist() == [2, 3]


def test_neighbours_that_rounding_joins_are_not_parted():
    a = 1.0
    score = np.array([a, np.nextafter(a, 2.0), 5.0])
    order, possible = cuts(score)
    for k in possible:
        t = 0.5 * (score[order[k - 1]] + score[order[k]])
        assert (score <= t).sum() == k


def enumerate_balanced(X, r, height, min_rows):
    """The least cost over every balanced tree: all columns at all nodes, by hand."""
    leaf = min(((x - r) ** 2).sum() for x in X.T)
    if height == 1 or len(r) <= min_rows:
        return leaf
    costs = [leaf]
    for j in range(X.shape[1]):
        order = np.argsort(X[:, j], kind="stable")
        left, right = order[: len(r) // 2], order[len(r) // 2 :]
        rest = r - X[:, j]
        costs.append(
            enumerate_balanced(X[left], rest[left], height - 1, min_rows)
            + enumerate_balanced(X[right], rest[right], height - 1, min_rows)
        )
    return min(costs)


@pytest.mark.parametrize("seed", range(5))
def test_balanced_tree_is_the_best_of_all(seed):
    rng = np.random.default_rng(seed)
    values, beta = rng.normal(size=(16, 4)), rng.normal(size=4)
    exact = values @ beta
    fit = ColumnFit(values, beta, exact, 0.0, scaled=False)
    grown = balanced.grow_balanced(fit, values, min_rows=2, max_height=3)
    left = sum(b.residual @ b.residual for i, (b, _, _) in enumerate(grown)
               if all(parent != i for _, parent, _ in grown))  # fmt: skip
    expected = enumerate_balanced(values * beta, exact, 3, 2)
    assert left == pytest.approx(expected)


def test_scaled_node_by_node_a_balanced_tree_is_not_the_cheapest():
    """It is claimed for columns as they are only: scales fitted together cost less."""
    rng = np.random.default_rng(0)
    values, beta = rng.normal(size=(16, 4)), rng.normal(size=4)
    exact = values @ beta
    grown = balanced.grow_balanced(ColumnFit(values, beta, exact, 0.0), values, 2, 3)
    inner = {parent for _, parent, _ in grown}
    cost = sum(b.residual @ b.residual for i, (b, _, _) in enumerate(grown) if i not in inner)
    asked = np.zeros((16, len(grown)))  # what each node adds to the rows that reach it
    for i, (branch, _, _) in enumerate(grown):
        asked[branch.rows, i] = values[branch.rows, branch.path[-1]]
    together = np.linalg.lstsq(asked, exact)[1]
    assert together[0] < 0.99 * cost


def test_balanced_sides_are_equal():
    rng = np.random.default_rng(3)
    values, beta = rng.normal(size=(32, 5)), rng.normal(size=5)
    fit = ColumnFit(values, beta, values @ beta, 0.0)
    grown = balanced.grow_balanced(fit, values, min_rows=4, max_height=3)
    sizes = [len(branch.rows) for branch, _, _ in grown]
    for i in range(len(grown)):
        children = [sizes[k] for k, (_, parent, _) in enumerate(grown) if parent == i]
        assert not children or children[0] == children[1] == sizes[i] // 2


@pytest.mark.parametrize("which", ["column", "path"])
def test_children_explain_no_less_than_their_parent(which):
    rng = np.random.default_rng(4)
    values, beta = rng.random(size=(90, 12)), rng.normal(size=12)
    exact = values @ beta
    fit = ColumnFit(values, beta, exact, 0.0) if which == "column" else PathFit(values, exact, 0.0)
    grown = Growth(exact_split, min_rows=5, max_height=6).grow(fit, values, exact)
    for i, (branch, _, _) in enumerate(grown):
        children = [b for b, parent, _ in grown if parent == i]
        if children:
            below = sum(b.residual @ b.residual for b in children)
            assert below <= branch.residual @ branch.residual * 1.02 + 1e-9
    tree = assemble(grown, None, np.empty((12, 1)), 0.0)
    assert tree.n_rows[tree.children_left < 0].sum() == 90
