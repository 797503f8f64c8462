"""Bounds over a kd-tree: they hold, they close, and no sign is ever another."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.datasets import make_blobs, make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC, OneClassSVM
from sklearn.utils.estimator_checks import parametrize_with_checks

import kmviz
from kmviz import KernelTreeClassifier
from kmviz.kernels import RBF
from kmviz.loops.kernel_tree import mean_bounds
from kmviz.machines import KernelMachine
from kmviz.machines.shared import SharedMachines
from kmviz.methods.kernel_tree import KernelTreeEngine, grown, price_of_sum
from kmviz.methods.sums import ExactEngine

X, _ = make_blobs(4200, centers=3, random_state=0)
TRAIN, X = X[:3600], X[3600:]
MODEL = OneClassSVM(nu=0.5, gamma=0.01).fit(TRAIN)
CLF = KernelTreeClassifier(FrozenEstimator(MODEL)).fit(X)


@parametrize_with_checks([KernelTreeClassifier()])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_one_class_is_answered_by_few_values_and_exactly():
    np.testing.assert_array_equal(CLF.predict(X), MODEL.predict(X))
    assert CLF.steps(X).mean() < 0.2 * CLF.machine_.n_vectors
    assert CLF.overhead_ > 0
    assert CLF.uses_tree_


def test_what_opens_most_of_the_tree_is_summed(tmp_path):
    wide = np.random.default_rng(0).normal(size=(1600, 10))
    model = OneClassSVM(nu=0.5, gamma=0.1).fit(wide[:1400])
    rows = wide[1400:]
    clf = KernelTreeClassifier(FrozenEstimator(model)).fit(rows)
    assert not clf.uses_tree_
    assert clf.overhead_ == 0
    assert (clf.steps(rows) == clf.machine_.n_vectors).all()
    np.testing.assert_array_equal(clf.predict(rows), model.predict(rows))
    assert clf.trace(rows[0]).output == clf.decision_function(rows[:1])[0]
    kmviz.save(clf, tmp_path / "sum.skops")
    stored = kmviz.load(tmp_path / "sum.skops")
    np.testing.assert_array_equal(stored.predict(rows), clf.predict(rows))


def test_a_second_sum_in_float64_is_in_the_price_of_the_sum():
    def price(bias):
        machine = KernelMachine(TRAIN[:500], np.ones(500), bias, RBF(0.01))
        return price_of_sum(ExactEngine(SharedMachines([machine])), X[:1])

    at_zero = RBF(0.01)(X[:1], TRAIN[:500]).sum()
    assert price(float(at_zero)) > 2.0 * price(0.0)


def test_two_classes_are_answered_exactly_too():
    rows, y = make_moons(300, noise=0.3, random_state=0)
    svc = SVC(gamma=3.0).fit(rows[:150], y[:150])
    clf = KernelTreeClassifier(FrozenEstimator(svc)).fit(rows)
    np.testing.assert_array_equal(clf.predict(rows), svc.predict(rows))
    engine = KernelTreeEngine(clf.machine_, 8).usual(rows)
    assert engine.tree.n_roots == 2
    np.testing.assert_array_equal(engine.run(rows)[0] > 0, svc.decision_function(rows) > 0)


def test_every_vector_is_in_one_leaf():
    beta = np.random.default_rng(0).normal(size=200)
    tree = grown(X[:200], beta, 7)
    leaves = tree.ends[tree.children[:, 0] < 0]
    assert sorted(np.concatenate([tree.order[a:b] for a, b in leaves])) == list(range(200))
    assert (leaves[:, 1] - leaves[:, 0]).max() <= 7
    np.testing.assert_allclose(tree.weight[:2].sum(), beta.sum())


def plain_bounds(gamma, x, low, high, mean, spread):
    """The twin of the compiled bounds."""
    nearest = np.sum(np.maximum.reduce([low - x, x - high, np.zeros_like(x)]) ** 2)
    furthest = np.sum(np.maximum(np.abs(x - low), np.abs(x - high)) ** 2)
    middle = np.sum((x - mean) ** 2) + spread
    near, far = np.exp(-gamma * nearest), np.exp(-gamma * furthest)
    share = (middle - nearest) / (furthest - nearest) if furthest > nearest else 1.0
    return np.exp(-gamma * middle), near + np.clip(share, 0.0, 1.0) * (far - near)


def test_bounds_are_their_twins_and_hold_the_mean():
    tree = CLF.engines_[0].tree
    vectors, beta = CLF.engines_[0].vectors, CLF.engines_[0].beta
    for x in X[::40] - CLF.engines_[0].center:
        for i in range(0, len(tree.weight), 3):
            node = (tree.low[i], tree.high[i], tree.mean[i], tree.spread[i])
            found = mean_bounds(0.01, x, *node)
            np.testing.assert_allclose(found, plain_bounds(0.01, x, *node), 1e-12, 1e-300)
            inside = slice(*tree.ends[i])
            values = np.exp(-0.01 * np.sum((x - vectors[inside]) ** 2, axis=1))
            mean = beta[inside] @ values / tree.weight[i]
            assert found[0] <= mean * (1 + 1e-12)
            assert mean <= found[1] * (1 + 1e-12)


def test_a_trace_closes_on_the_exact_value():
    trace = CLF.trace(X[5])
    assert trace.output == CLF.decision_function(X[5:6])[0]
    assert (trace.lower <= trace.exact + 1e-9).all()
    assert (trace.exact <= trace.upper + 1e-9).all()
    np.testing.assert_allclose([trace.lower[-1], trace.upper[-1]], trace.exact, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 60), st.floats(0.01, 50.0), st.booleans())
def test_no_sign_is_another(seed, m, gamma, one_sign):
    rng = np.random.default_rng(seed)
    vectors, beta = rng.normal(size=(m, 3)).round(1), rng.normal(size=m)
    beta = np.abs(beta) if one_sign else beta
    queries = np.vstack([rng.normal(size=(20, 3)), vectors[:5], 1e3 * rng.normal(size=(3, 3))])
    machine = KernelMachine(vectors, beta, 0.0, RBF(gamma))
    level = float(np.median(machine.decision_function(queries)))
    machine = KernelMachine(vectors, beta, level, RBF(gamma))
    output, steps = KernelTreeEngine(machine, 4).run(queries)
    exact = machine.decision_function(queries)
    clear = np.abs(exact) > 1e-12 * (1.0 + np.abs(beta).sum())  # the level is one query's own f
    np.testing.assert_array_equal(output[clear] > 0, exact[clear] > 0)
    assert (steps >= 0).all()


def test_it_is_tried_for_one_class_and_stored(tmp_path):
    fast = kmviz.accelerate(MODEL, X, method="kernel_tree")
    assert fast.promise_.rows == 0
    kmviz.save(fast, tmp_path / "tree.skops")
    stored = kmviz.load(tmp_path / "tree.skops")
    np.testing.assert_array_equal(stored.predict(X), MODEL.predict(X))
    stored.engines_[0].tree.children[0, 0] = 0
    with pytest.raises(ValueError, match="would not end"):
        stored.engines_[0].check()


def test_another_kernel_is_summed():
    model = OneClassSVM(kernel="poly", gamma=0.1, degree=2, coef0=1.0).fit(X[:100])
    clf = KernelTreeClassifier(FrozenEstimator(model)).fit(X)
    np.testing.assert_array_equal(clf.predict(X), model.predict(X))
    assert (clf.steps(X) == clf.machine_.n_vectors).all()
