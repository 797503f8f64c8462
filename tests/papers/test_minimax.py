"""Minimax probability machines: the minimum, the bound it means, and its place among machines."""

import numpy as np
import pytest
from kmviz.papers.minimax import MinimaxProbabilityClassifier
from scipy.optimize import minimize
from sklearn.frozen import FrozenEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

from kmviz import AnytimeClassifier
from kmviz.kernels import RBF, Linear
from kmviz.machines import KernelFisherClassifier, KernelMachine

RNG = np.random.RandomState(0)
MEANS = np.array([[0.0, 0.0], [2.5, 1.0]])
ROOTS = np.array([[[1.0, 0.0], [0.4, 0.5]], [[0.3, 0.0], [0.0, 1.2]]])
Y = np.repeat([0, 1], 300)
X = MEANS[Y] + np.einsum("nij,nj->ni", ROOTS[Y], RNG.randn(600, 2))


@parametrize_with_checks([MinimaxProbabilityClassifier()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_the_minimum_is_that_of_a_general_search():
    clf = MinimaxProbabilityClassifier(Linear(), regularization=1e-9).fit(X, Y)
    parts = [np.cov(X[c == Y].T, bias=True) for c in (0, 1)]
    step = X[Y == 1].mean(axis=0) - X[Y == 0].mean(axis=0)

    def deviations(a):
        return sum(np.sqrt(a @ part @ a) for part in parts) / abs(a @ step)

    found = minimize(deviations, step, method="Nelder-Mead", options={"fatol": 1e-12})
    ours = clf.machine_.beta @ X
    assert deviations(ours) == pytest.approx(found.fun, rel=1e-6)
    assert clf.worst_accuracy_ == pytest.approx(1.0 / (1.0 + found.fun**2), rel=1e-6)
    assert deviations(ours) < deviations(np.asarray(KernelFisherClassifier(Linear())
                                                    .fit(X, Y).machine_.beta @ X))  # fmt: skip


def test_both_classes_are_as_many_deviations_from_the_plane():
    clf = MinimaxProbabilityClassifier(Linear(), regularization=1e-9).fit(X, Y)
    output = clf.decision_function(X)
    away = [abs(output[c == Y].mean()) / output[c == Y].std() for c in (0, 1)]
    assert away[0] == pytest.approx(away[1], rel=1e-6)
    kappa = np.sqrt(clf.worst_accuracy_ / (1.0 - clf.worst_accuracy_))
    assert away[0] == pytest.approx(kappa, rel=1e-6)
    assert clf.score(X, Y) > clf.worst_accuracy_  # a Gaussian is far from the worst


def test_it_is_a_machine_that_can_be_bound():
    clf = MinimaxProbabilityClassifier(RBF(0.5)).fit(X[::4], Y[::4])
    machine = KernelMachine.from_estimator(clf)
    assert machine.n_vectors == 150
    fast = AnytimeClassifier(FrozenEstimator(clf)).fit(X[::4])
    np.testing.assert_array_equal(fast.predict(X), clf.predict(X))
    assert fast.steps(X).mean() < 75
