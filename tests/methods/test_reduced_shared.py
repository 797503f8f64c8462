"""One set of vectors for several machines."""

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.datasets import load_digits, load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import kmviz
from kmviz import ReducedSetClassifier
from kmviz.kernels import RBF, Linear, Normalized, Polynomial
from kmviz.machines import KernelMachine
from kmviz.machines.shared import union_of
from kmviz.methods.reduction.objective import Distance
from kmviz.methods.reduction.shared import _together, outputs, share
from kmviz.methods.reduction.space import space_of

X, Y = load_iris(return_X_y=True)
KERNELS = [RBF(0.5), Polynomial(3, 0.1, 1.0), Polynomial(5, 0.1, 0.0), Normalized(Polynomial(4))]


class CountingRBF(RBF):
    """An RBF kernel that counts the values it computes."""

    values = 0

    def __call__(self, A, B):
        CountingRBF.values += len(A) * len(B)
        return super().__call__(A, B)


def originals_of(kernel):
    return KernelMachine.pairwise(SVC(kernel=kernel, C=10.0).fit(X, Y))


every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=str)


@parametrize_with_checks([ReducedSetClassifier(shared=True)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_two_machines_by_hand():
    # K is the identity among e1, e2, e3: weights are coordinates, and what is left is e3's share
    e1, e2, e3 = np.eye(3)
    first = KernelMachine([e1, e3], [2.0, 1.0], 0.5, Linear())
    second = KernelMachine([e2, e3], [3.0, 4.0], -0.5, Linear())
    machines, rho = share([first, second], np.array([e1, e2]), space_of(Linear(), first.vectors))
    np.testing.assert_allclose(machines[0].beta, [2.0, 0.0], atol=1e-8)
    np.testing.assert_allclose(machines[1].beta, [0.0, 3.0], atol=1e-8)
    np.testing.assert_allclose(rho, [np.sqrt(1 / 5), 4 / 5], atol=1e-8)
    assert (machines[0].bias, machines[1].bias) == (0.5, -0.5)
    values = outputs(machines, np.array([[1.0, 1.0, 9.0]]))
    np.testing.assert_allclose(values, [[1.5, 3.5]], atol=1e-8)


@every_kernel
@pytest.mark.parametrize("max_iter", [0, 20])
def test_weights_solve_the_normal_equations_of_each_machine(kernel, max_iter):
    originals = originals_of(kernel)
    Z = np.vstack([machine.vectors[:3] for machine in originals])
    space = space_of(kernel, originals[0].vectors)
    machines, rho = share(originals, Z, space, max_iter)
    for few, full, left in zip(machines, originals, rho, strict=True):
        b = kernel(few.vectors, full.vectors) @ full.beta
        K_zz = kernel(few.vectors, few.vectors)
        np.testing.assert_allclose(K_zz @ few.beta, b, rtol=1e-4, atol=1e-5 * np.abs(b).max())
        psi_sq = full.beta @ kernel(full.vectors, full.vectors) @ full.beta
        apart = psi_sq - 2 * few.beta @ b + few.beta @ K_zz @ few.beta
        assert np.sqrt(max(apart, 0.0) / psi_sq) == pytest.approx(left, abs=2e-4)


@every_kernel
def test_gradient_for_several_machines(kernel):
    originals = originals_of(kernel)
    space = space_of(kernel, originals[0].vectors)
    target, _ = _together(originals, space)
    rng, distance = np.random.default_rng(0), Distance(target)
    start = target.rows[rng.choice(len(target.rows), 3, replace=False)]
    start = (start + 0.1 * rng.normal(size=start.shape)).ravel()
    error = check_grad(lambda z: distance(z)[0], lambda z: distance(z)[1], start, epsilon=1e-6)
    assert error < 1e-4 * max(1.0, np.linalg.norm(distance(start)[1]))


@pytest.mark.parametrize("method", ["joint", "incremental", "fixed_point", "selection"])
def test_no_machine_is_further_away_than_on_its_own_vectors(method):
    rows, labels = load_digits(n_class=5, return_X_y=True)
    svc = FrozenEstimator(SVC(gamma=0.001, C=10.0).fit(rows[:400], labels[:400]))
    alone = ReducedSetClassifier(svc, n_vectors=4, method=method).fit(rows[:400])
    shared = ReducedSetClassifier(svc, n_vectors=4, method=method, shared=True).fit(rows[:400])
    assert len(shared.vectors_) == len(union_of(alone.machines_)[0]) <= 4 * 10
    assert shared.rho_.mean() < 0.9 * alone.rho_.mean()
    if method != "joint":  # moved together only the mean is sure to fall
        assert np.all(shared.rho_ <= alone.rho_ + 1e-6)
    np.testing.assert_array_equal(
        shared.steps(rows[:5]), len({tuple(row) for row in shared.vectors_})
    )
    assert np.all(shared.steps(rows[:5]) <= alone.steps(rows[:5]))


@pytest.mark.parametrize("rows", [1, 50])
def test_steps_are_what_a_counting_kernel_counts(rows):
    clf = ReducedSetClassifier(SVC(kernel=CountingRBF(0.5)), n_vectors=3, shared=True).fit(X, Y)
    for start in range(0, 150, 50):
        asked = X[start : start + rows]
        CountingRBF.values = 0
        clf.decision_function(asked)
        assert CountingRBF.values == clf.steps(asked).sum() == rows * len(clf.vectors_)


@every_kernel
def test_answers_are_those_of_the_machines(kernel):
    svc = SVC(kernel=kernel, C=10.0).fit(X, Y)
    clf = ReducedSetClassifier(FrozenEstimator(svc), n_vectors=6, shared=True).fit(X)
    columns = np.column_stack([machine.decision_function(X) for machine in clf.machines_])
    np.testing.assert_allclose(outputs(clf.machines_, X), columns, atol=1e-8)
    single = outputs(clf.machines_, X.astype(np.float32))
    np.testing.assert_allclose(single, columns, atol=0.02 * np.abs(columns).max())
    assert np.mean(clf.predict(X) == svc.predict(X)) > 0.95
    trace = clf.trace(X[0], pair=(0, 2))
    assert trace.output == pytest.approx(columns[0, 1])
    assert trace.stop == len(clf.vectors_)
    assert clf.overhead_ == len(clf.vectors_) * 2 / 4


def test_thresholds_are_found_on_shared_vectors():
    clf = ReducedSetClassifier(SVC(gamma=0.5), threshold="bayes", shared=True).fit(X, Y)
    assert clf.score(X, Y) > 0.9


def test_two_classes_have_nothing_to_share():
    two = Y < 2
    alone = ReducedSetClassifier(n_vectors=3).fit(X[two], Y[two])
    shared = ReducedSetClassifier(n_vectors=3, shared=True).fit(X[two], Y[two])
    assert shared.vectors_ is None
    np.testing.assert_array_equal(shared.decision_function(X), alone.decision_function(X))


def test_a_kernel_without_formula_shares_too():
    def laplacian(A, B):
        return np.exp(-np.abs(np.asarray(A)[:, None] - np.asarray(B)[None]).sum(axis=2))

    clf = ReducedSetClassifier(SVC(kernel=laplacian), n_vectors=5, shared=True).fit(X, Y)
    assert clf.score(X, Y) > 0.9


def test_it_can_be_stored(tmp_path):
    clf = ReducedSetClassifier(n_vectors=3, shared=True).fit(X, Y)
    kmviz.save(clf, tmp_path / "shared.skops")
    again = kmviz.load(tmp_path / "shared.skops")
    np.testing.assert_array_equal(again.decision_function(X), clf.decision_function(X))
    np.testing.assert_array_equal(again.steps(X), clf.steps(X))


def test_fitting_anew_forgets_what_was_shared():
    clf = ReducedSetClassifier(n_vectors=3, shared=True).fit(X, Y).set_params(shared=False)
    clf.fit(X, Y)
    assert clf.vectors_ is None
    np.testing.assert_array_equal(clf.steps(X), 9)


def test_one_by_one_and_all_at_once_exclude_each_other():
    with pytest.raises(ValueError, match="sequential=True"):
        ReducedSetClassifier(shared=True, sequential=True).fit(X, Y)
