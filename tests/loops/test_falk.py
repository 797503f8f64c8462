"""The compiled loops of the local SVMs against plain references."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.svm import SVC

from kmviz.kernels import RBF, Linear, Polynomial
from kmviz.loops import falk_cover, falk_select, falk_smo, falk_train
from kmviz.methods.falk.neighbors import CoverTreeIndex


def train_one(X, y, gamma, C, kernel=None):
    """Train one neighbourhood, all rows; return beta and the intercept."""
    members, labels = np.arange(len(X), dtype=np.int32), y.astype(np.int32)
    counts, bias = np.zeros(1, dtype=np.int64), np.zeros(1)
    both = np.arange(2, dtype=np.int32)
    index, weight = np.empty(len(X), dtype=np.int32), np.empty(len(X))
    if kernel is None:
        filled, short = falk_train.train_radial(
            X, labels, np.array([0, 2]), both, True, members[None], gamma, 50.0, C, 1e-3, 10**6,
            counts, bias, np.ones(1), index, weight,
        )  # fmt: skip
    else:
        width = -(-len(X) // falk_smo.PAD) * falk_smo.PAD
        K = np.zeros((width, width), dtype=np.float32)
        K[: len(X), : len(X)] = kernel(X, X)
        filled, short = falk_train.train_given(
            members, labels, both, True, K, np.diag(K).copy(), C, 1e-3, 10**6, counts, bias, index,
            weight,
        )  # fmt: skip
    assert short == 0
    assert filled == counts[0]
    beta = np.zeros(len(X))
    beta[index[:filled]] = weight[:filled]
    return beta, -bias[0]


def dual(K, beta):
    return np.abs(beta).sum() - 0.5 * beta @ K @ beta


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("n", [30, 200, 513])
@pytest.mark.parametrize(
    "kernel", [RBF(0.7), Linear(), Polynomial(3, gamma=0.5)], ids=["rbf", "linear", "poly"]
)
def test_smo_against_svc(kernel, n, C):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 3))
    y = (X[:, 0] + 0.5 * np.sin(3 * X[:, 1]) + 0.4 * rng.normal(size=n) > 0).astype(int)
    beta, intercept = train_one(X, y, 0.7, C, None if isinstance(kernel, RBF) else kernel)
    K = kernel(X, X)
    svc = SVC(C=C, kernel="precomputed").fit(K, y)
    reference = np.zeros(n)
    reference[svc.support_] = svc.dual_coef_[0]
    assert dual(K, beta) == pytest.approx(dual(K, reference), rel=1e-3)
    assert abs(beta.sum()) < 1e-9 * C * n
    assert (np.sign(beta[beta != 0]) == np.where(y, 1, -1)[beta != 0]).all()
    assert np.abs(beta).max() <= C
    output, expected = K @ beta + intercept, svc.decision_function(K)
    sure = np.abs(expected) > 0.02
    np.testing.assert_array_equal(output[sure] > 0, expected[sure] > 0)
    np.testing.assert_allclose(output, expected, rtol=2e-3, atol=0.05)


def test_smo_with_duplicates_of_both_classes():
    X = np.repeat([[0.0], [1.0], [2.0]], 20, axis=0)
    y = np.tile([0, 1], 30)
    beta, intercept = train_one(X, y, 1.0, 1.0)
    assert np.isfinite(intercept)
    assert abs(beta.sum()) < 1e-9


def test_local_width_is_a_percentile_of_squared_distances():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    points = np.zeros((3, 64), dtype=np.float32)
    falk_train.gather(X, np.arange(40, dtype=np.int32), points)
    np.testing.assert_allclose(points[:, :40].T, X - X[0], atol=1e-6)
    squares = ((X[:, None] - X) ** 2).sum(-1)[np.triu_indices(40, 1)]
    for percentile in (10.0, 50.0, 90.0):
        gamma = falk_train.local_gamma(points, 40, percentile, np.empty(falk_train.SAMPLED_PAIRS))
        below = np.mean(squares < 1 / gamma)
        assert below == pytest.approx(percentile / 100, abs=0.05)  # 512 of 780 pairs
    gamma = falk_train.local_gamma(
        np.zeros((3, 32), dtype=np.float32), 20, 50.0, np.empty(falk_train.SAMPLED_PAIRS)
    )
    assert gamma == 1.0


def test_held_out_outputs_are_those_of_a_model_without_the_fold():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=60) > 0).astype(np.int32)
    members, n_inner, n_folds = np.arange(60, dtype=np.int32), 30, 5
    K = np.zeros((64, 64), dtype=np.float32)
    K[:60, :60] = RBF(1.0)(X, X)
    wrong = np.zeros(2, dtype=np.int64)
    costs = np.array([1.0, 10.0])
    falk_select.errors_given(
        members, y, 2, K, np.diag(K).copy(), costs, np.ones(2, dtype=np.bool_), n_folds, n_inner,
        1e-3, 10**6, wrong,
    )  # fmt: skip
    for cost, count in zip(costs, wrong, strict=True):
        missed = 0
        for fold in range(n_folds):
            held = np.arange(fold, n_inner, n_folds)
            rest = np.setdiff1d(members, held)
            svc = SVC(C=cost, gamma=1.0).fit(X[rest], y[rest])
            missed += int(np.sum(svc.predict(X[held]) != y[held]))
        assert abs(missed - count) <= 1


def test_one_matrix_of_distances_serves_every_width():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=50) > 0).astype(np.int32)
    members, costs = np.arange(50, dtype=np.int32), np.array([1.0, 16.0])
    percentiles, wanted = np.array([10.0, 50.0]), np.array([[True, False], [True, True]])
    wrong = np.zeros((2, 2), dtype=np.int64)
    falk_select.errors_radial(
        X, y, 2, members, percentiles, costs, wanted, 5, 25, 1e-3, 10**6, wrong
    )  # fmt: skip
    assert wrong[0, 1] == 0  # not wanted
    points = np.zeros((3, 64), dtype=np.float32)
    falk_train.gather(X, members, points)
    for p, c in zip(*np.nonzero(wanted), strict=True):
        scratch = np.empty(falk_train.SAMPLED_PAIRS)
        gamma = falk_train.local_gamma(points, 50, percentiles[p], scratch)
        missed = 0
        for fold in range(5):
            held = np.arange(fold, 25, 5)
            rest = np.setdiff1d(members, held)
            svc = SVC(C=costs[c], gamma=gamma).fit(X[rest], y[rest])
            missed += int(np.sum(svc.predict(X[held]) != y[held]))
        assert abs(missed - wrong[p, c]) <= 1


def test_put_first_gives_the_centre_rank_one():
    members = np.array([7, 3, 5], dtype=np.int32)
    falk_cover.put_first(members, 5)
    assert members.tolist() == [5, 7, 3]
    falk_cover.put_first(members, 9)
    assert members.tolist() == [9, 5, 7]


def feature_distances(kernel, A, B):
    if isinstance(kernel, Polynomial):
        squares = kernel.diag(A)[:, None] + kernel.diag(B) - 2 * kernel(A, B)
    else:
        squares = ((A[:, None] - B) ** 2).sum(-1)
    return np.sqrt(np.maximum(squares, 0))


KERNELS = [Linear(), RBF(0.5), Polynomial(3, coef0=0.0), Polynomial(2)]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@settings(max_examples=15, deadline=None)
@given(
    n=st.integers(1, 60), d=st.integers(1, 4), seed=st.integers(0, 99), whole=st.booleans()
)  # fmt: skip
def test_cover_tree_keeps_its_invariants_and_finds_neighbours(kernel, n, d, seed, whole):
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, size=(n, d)).astype(float) if whole else rng.normal(size=(n, d))
    tree = CoverTreeIndex(X, kernel, seed)
    gaps = feature_distances(kernel, X, X)
    noise = 1e-6 * (1 + gaps.max())  # cancellation in K(x,x) + K(y,y) - 2 K(x,y)
    children = np.flatnonzero(tree.parent >= 0)
    assert len(children) == n - 1
    # covering: within 2^(i+1) of the parent, which stands higher
    reach = np.exp2(tree.level[children] + 1.0)
    assert (gaps[children, tree.parent[children]] <= reach + noise).all()
    assert (tree.level[tree.parent[children]] >= tree.level[children]).all()
    for level in np.unique(tree.level[tree.level > -1000]):  # separation
        those = np.flatnonzero(tree.level >= level)
        apart = gaps[np.ix_(those, those)][np.triu_indices(len(those), 1)]
        assert (apart > np.exp2(float(level)) - noise).all()
    k = int(rng.integers(1, n + 1))
    queries = rng.normal(size=(5, d))
    found = tree.query(queries, k)
    truth = feature_distances(kernel, queries, X)
    np.testing.assert_allclose(
        np.take_along_axis(truth, found, axis=1), np.sort(truth, axis=1)[:, :k], atol=noise
    )
    assert all(len(set(row)) == k for row in found)
