"""The cover tree against its definition and against looking at every point."""

import numpy as np
import pytest

from kmviz.kernels import RBF, Linear, Polynomial
from kmviz.loops import covertree

CASES = {
    "linear": Linear(),
    "rbf": RBF(0.5),
    "poly": Polynomial(3, gamma=0.4, coef0=1.0),
}


def distances(kernel, A, B):
    """The plain twin: feature space for a polynomial, Euclidean for the others."""
    if not isinstance(kernel, Polynomial):
        return np.sqrt(((A[:, None] - B) ** 2).sum(axis=2))
    squares = kernel.diag(A)[:, None] + kernel.diag(B) - 2 * kernel(A, B)
    return np.sqrt(np.maximum(squares, 0.0))


def points(n, dtype=np.float64, seed=0):
    """Clusters, an outlier and copies."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * rng.choice([0.01, 1.0, 30.0], size=(n, 1))
    X[n // 2 : n // 2 + 5] = X[0]
    return X.astype(dtype)


def built(kernel, X, seed=0):
    n = len(X)
    order = np.random.default_rng(seed).permutation(n)
    level, parent, child, sibling = (np.empty(n, dtype=np.int32) for _ in range(4))
    own, reach = np.asarray(kernel.diag(X), dtype=np.float64), np.empty(n)
    covertree.build(*kernel.code, X, own, order, level, parent, child, sibling, reach)
    return order[0], own, level, parent, child, sibling, reach


@pytest.mark.parametrize("name", CASES)
def test_distance(name):
    kernel, X = CASES[name], points(20)
    own = kernel.diag(X)
    found = [
        [covertree.distance(*kernel.code, X[i], own[i], X[j], own[j]) for j in range(20)]
        for i in range(20)
    ]
    scale = np.sqrt(own.max()) if name == "poly" else 1.0
    np.testing.assert_allclose(found, distances(kernel, X, X), rtol=1e-7, atol=1e-7 * scale)


@pytest.mark.parametrize("name", CASES)
def test_the_tree_covers_and_separates(name):
    kernel, X = CASES[name], points(150)
    root, own, level, parent, child, sibling, reach = built(kernel, X)
    gaps = distances(kernel, X, X)
    room = 1e-7 * np.sqrt(own.max())  # what K(a, a) + K(b, b) - 2 K(a, b) loses
    slack = 1 + 1e-6
    others = np.flatnonzero(np.arange(len(X)) != root)
    assert parent[root] == -1
    assert (level[parent[others]] > level[others]).all()
    # covering: a point of level i lies within 2^(i+1) of its parent
    within = 2.0 ** (level[others].astype(float) + 1)
    assert (gaps[others, parent[others]] <= within * slack).all()
    for i in np.unique(level[level > covertree.LOWEST]):  # separation: C_i is more than 2^i apart
        members = np.flatnonzero(level >= i)
        apart = gaps[np.ix_(members, members)][~np.eye(len(members), dtype=bool)]
        assert apart.min(initial=np.inf) * slack > 2.0**i
    assert sorted(below(root, child, sibling)) == list(range(len(X)))
    for p in range(len(X)):
        farthest = gaps[p, below(p, child, sibling)].max()
        assert reach[p] == pytest.approx(farthest, rel=1e-6, abs=room)


def below(point, child, sibling):
    """A point and all that hang under it."""
    found, c = [point], child[point]
    while c >= 0:
        found += below(c, child, sibling)
        c = sibling[c]
    return found


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("k", [1, 7, 150])
def test_nearest_points_are_those_of_looking_at_all(name, k, dtype):
    kernel, X, Q = CASES[name], points(150, dtype), points(40, dtype, seed=1)
    root, own, _, _, child, sibling, reach = built(kernel, X)
    found, gaps = np.empty((40, k), dtype=np.int32), np.empty((40, k))
    own_q = np.asarray(kernel.diag(Q), dtype=np.float64)
    covertree.nearest(*kernel.code, X, own, child, sibling, reach, root, Q, own_q, found, gaps)
    exact = distances(kernel, Q.astype(float), X.astype(float))
    loss = 1e-9 if dtype == np.float64 else 2e-3
    size = np.maximum(1.0, np.sqrt(np.abs(own_q)))[:, None]  # feature space loses a share of K(x,x)
    room = loss * (size if name == "poly" else 1.0) + loss * np.sort(exact, axis=1)[:, :k]
    assert (np.abs(gaps - np.sort(exact, axis=1)[:, :k]) <= room).all()
    assert (np.abs(np.take_along_axis(exact, found, axis=1) - gaps) <= room).all()
    assert all(len(set(row)) == k for row in found)
