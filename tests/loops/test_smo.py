"""Sequential minimal optimisation of one SVM against a plain NumPy twin and against LibSVM."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from kmviz.kernels import RBF, Linear, Normalized, Polynomial
from kmviz.loops import smo

X, Y = make_moons(700, noise=0.35, random_state=0)
SIDE = np.where(Y == 1, 1.0, -1.0)
KERNELS = [RBF(1.5), Linear(), Polynomial(2, 0.5, 1.0), Normalized(Polynomial(3))]
EVERYTHING = len(X) ** 2


def boxes(C, kept=1.0):
    return np.minimum(C * SIDE, 0.0) * kept, np.maximum(C * SIDE, 0.0) * kept


def solved(kernel, limits, tol=1e-6, steps=1_000_000, room=EVERYTHING, start=None):
    rows = np.ascontiguousarray(kernel.embed(X))
    beta = np.zeros(len(X)) if start is None else start.copy()
    residual = SIDE - kernel(X, X) @ beta
    own = kernel.plain.diag(rows).astype(float)
    intercept, left = smo.solve(kernel.code, rows, own, *limits, tol, steps, room, beta, residual)
    return beta, residual, intercept, steps - left if left else None


def twin(K, limits, tol):
    """Second-order steps over all rows, nothing left out."""
    lower, upper = limits
    beta, g, steps = np.zeros(len(K)), SIDE.copy(), 0
    while True:
        i = int(np.where(beta < upper, g, -np.inf).argmax())
        violation = np.where(beta > lower, g[i] - g, -np.inf)
        if violation.max() <= tol:
            return beta, steps
        curvature = np.maximum(K[i, i] + K.diagonal() - 2 * K[i], 1e-12)
        j = int(np.where(violation > 0, violation**2 / curvature, -1.0).argmax())
        step = min((g[i] - g[j]) / curvature[j], upper[i] - beta[i], beta[j] - lower[j])
        beta[i], beta[j], steps = beta[i] + step, beta[j] - step, steps + 1
        for t in (i, j):
            beta[t] = min(max(beta[t], lower[t]), upper[t])
        g -= step * (K[i] - K[j])


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("C", [0.5, 20.0])
def test_a_descent_ends_as_its_twin_and_in_as_many_steps(kernel, C):
    K = kernel(X, X)
    expected, steps = twin(K, boxes(C), 1e-4)
    beta, residual, _, taken = solved(kernel, boxes(C), tol=1e-4)
    np.testing.assert_allclose(K @ beta, K @ expected, atol=5e-3)
    np.testing.assert_allclose(residual, SIDE - K @ beta, atol=2e-4)
    assert abs(beta.sum()) < 1e-9 * C * len(X)
    assert 0.5 * steps < taken < 2.0 * steps


@pytest.mark.parametrize("C", [1.0, 50.0])
def test_it_is_the_machine_of_libsvm(C):
    beta, residual, intercept, _ = solved(RBF(2.0), boxes(C))
    svc = SVC(C=C, gamma=2.0, tol=1e-7).fit(X, SIDE)
    rounding = 2e-5 * C  # both keep kernel rows in float32
    np.testing.assert_allclose(
        SIDE - residual + intercept, svc.decision_function(X), atol=max(rounding, 1e-4)
    )
    assert np.count_nonzero(beta) == pytest.approx(len(svc.support_), abs=2)


@pytest.mark.parametrize("room", [0, 20 * len(X)])
def test_kernel_rows_kept_or_computed_again_are_the_same_machine(room):
    kept, computed = solved(RBF(2.0), boxes(5.0)), solved(RBF(2.0), boxes(5.0), room=room)
    np.testing.assert_allclose(kept[1], computed[1], atol=1e-5)
    assert kept[2] == pytest.approx(computed[2], abs=1e-5)


def test_rows_leave_and_come_back():
    """Ten times as many steps as OFTEN, and bounds that most rows reach."""
    _, residual, _, steps = solved(RBF(5.0), boxes(200.0), tol=1e-5)
    assert steps > 10 * smo.OFTEN
    expected = SVC(C=200.0, gamma=5.0, tol=1e-7).fit(X, SIDE)
    found = SIDE - residual
    np.testing.assert_allclose(
        found - found.mean(),
        expected.decision_function(X) - expected.decision_function(X).mean(),
        atol=2e-3,
    )


def test_a_start_near_the_end_takes_few_steps():
    beta, _, intercept, steps = solved(RBF(2.0), boxes(5.0), tol=1e-4)
    _, _, again, few = solved(RBF(2.0), boxes(5.0), tol=1e-5, start=beta)
    assert few < steps / 2
    assert again == pytest.approx(intercept, abs=1e-3)


def test_a_box_of_nothing_leaves_a_row_out():
    kept = np.arange(len(X)) % 3 > 0
    beta, residual, intercept, _ = solved(RBF(2.0), boxes(5.0, kept))
    assert (beta[~kept] == 0).all()
    svc = SVC(C=5.0, gamma=2.0, tol=1e-7).fit(X[kept], SIDE[kept])
    np.testing.assert_allclose(SIDE - residual + intercept, svc.decision_function(X), atol=1e-4)


def test_too_few_steps_are_told():
    assert solved(RBF(2.0), boxes(5.0), steps=10)[3] is None


def test_a_change_of_weights_reaches_every_residual():
    change = np.where(np.arange(len(X)) % 7 == 0, 0.3, 0.0)
    residual = SIDE.copy()
    smo.shift(RBF(2.0).code, X, change, residual)
    np.testing.assert_allclose(residual, SIDE - RBF(2.0)(X, X) @ change, atol=1e-5)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_a_row_of_kernel_values_in_float32(kernel):
    points = np.ascontiguousarray(kernel.embed(X))
    out = np.full(len(X), np.nan, dtype=np.float32)
    smo.row32(kernel.code, np.ascontiguousarray(points.T), 100, points[3], out)
    np.testing.assert_allclose(out[:100], kernel(X[3:4], X[:100])[0], rtol=2e-5, atol=1e-6)
    assert np.isnan(out[100:]).all()
