"""Forces and torques of an SVM's solution."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from kmviz.figures.forces import balance
from kmviz.kernels import Normalized, Polynomial
from kmviz.machines import KernelFisherClassifier, KernelMachine
from kmviz.machines.forces import Forces, forces

X, Y = make_moons(150, noise=0.25, random_state=0)


@pytest.mark.parametrize("kernel", ["linear", "rbf", Normalized(Polynomial(3, 1.0, 1.0))], ids=str)
def test_an_svm_holds_its_sheet_still(kernel):
    found = forces(KernelMachine.from_estimator(SVC(kernel=kernel, tol=1e-6).fit(X, Y)))
    assert abs(found.net_force) < 1e-6
    assert abs(found.net_torque) < 1e-6
    assert np.ptp(found.lever) > 0


def test_a_linear_lever_lies_within_the_separating_line():
    svc = SVC(kernel="linear", tol=1e-6).fit(X, Y)
    normal = svc.coef_[0] / np.linalg.norm(svc.coef_[0])
    found = forces(KernelMachine.from_estimator(svc))
    vectors = KernelMachine.from_estimator(svc).vectors
    within = vectors @ np.array([-normal[1], normal[0]])
    within -= within.mean()
    np.testing.assert_allclose(np.abs(found.lever), np.abs(within), atol=1e-6)


def test_forces_that_do_not_cancel_are_said():
    assert Forces(np.array([0.0, 1.0]), np.array([1.0, 1.0])).net_force == 1.0
    fisher = forces(KernelMachine.from_estimator(KernelFisherClassifier().fit(X, Y)))
    assert np.isfinite(fisher.net_force)


def test_the_picture_has_every_push():
    found = forces(KernelMachine.from_estimator(SVC().fit(X, Y)))
    figure = balance(found.lever, found.force, ("a", "b"))
    pushes = {trace.name: np.asarray(trace.y) for trace in figure.data if trace.name}
    assert len(pushes["push of a"]) + len(pushes["push of b"]) == len(found.force)
    assert (pushes["push of b"] > 0).all()
