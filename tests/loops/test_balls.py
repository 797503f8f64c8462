"""Balls in feature space against plain NumPy twins."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from kmviz.kernels import RBF, Normalized, Polynomial
from kmviz.loops import balls
from kmviz.methods.rivals.core import CoreSet

X, Y = make_moons(120, noise=0.3, random_state=0)
SIDE = np.where(Y == 1, 1.0, -1.0)
KERNELS = [RBF(1.5), Normalized(Polynomial(3))]
every = pytest.mark.parametrize("kernel", KERNELS, ids=str)


def dots(kernel, C):
    return np.outer(SIDE, SIDE) * (kernel(X, X) + 1.0) + np.eye(len(X)) / C


def shrunk(K, tol):
    """min alpha'K alpha / 2 on the simplex: the twin of `shrink`, first order."""
    alpha = np.full(len(K), 1.0 / len(K))
    while True:
        q = K @ alpha
        i = max(np.flatnonzero(alpha > 0), key=lambda t: q[t])
        j = int(q.argmin())
        if q[i] - q[j] <= tol:
            return alpha
        step = min((q[i] - q[j]) / (K[i, i] + K[j, j] - 2 * K[i, j]), alpha[i])
        alpha[i] -= step
        alpha[j] += step


@every
@pytest.mark.parametrize("C", [1.0, 50.0])
def test_a_descent_on_the_simplex(kernel, C):
    K = dots(kernel, C)
    alpha = np.full(len(X), 1.0 / len(X))
    q = K @ alpha
    assert balls.shrink(len(X), alpha, q, K, 1e-10, 100_000) > 0
    np.testing.assert_allclose(q, K @ alpha, atol=1e-9)
    np.testing.assert_allclose(alpha, shrunk(K, 1e-10), atol=1e-6)
    assert alpha.sum() == pytest.approx(1.0)
    assert (alpha >= 0).all()


def test_a_descent_without_budget_says_so():
    alpha = np.full(len(X), 1.0 / len(X))
    K = dots(RBF(1.0), 10.0)
    assert balls.shrink(len(X), alpha, K @ alpha, K, 1e-12, 3) == 0


@every
@pytest.mark.parametrize("C", [1.0, 50.0])
def test_the_smallest_ball_around_a_core_set_is_the_one_around_all_rows(kernel, C):
    rows = np.ascontiguousarray(kernel.embed(X))
    first = [int(np.flatnonzero(own == SIDE)[0]) for own in (1.0, -1.0)]
    core = CoreSet(rows, SIDE, first, kernel, C, len(X))
    state, start = np.array([7], dtype=np.uint64), np.zeros(1, dtype=np.int64)
    m, end, settled = balls.minimum_ball(
        kernel.code, rows, SIDE, C, 2.0 + 1.0 / C, 1e-9, 0.0, core.m, core.alpha, core.q,
        core.index, core.points, core.K, core.is_core, state, start, core.room,
    )  # fmt: skip
    assert end == balls.DONE
    assert settled
    assert m < len(X)
    found = np.zeros(len(X))
    found[core.index[:m]] = core.alpha[:m]
    np.testing.assert_allclose(found, shrunk(dots(kernel, C), 1e-10), atol=1e-5)


def moved(K, first, epsilon):
    """The twin of `enclosing_ball`: towards the farthest row until none lies outside."""
    length = K[0, 0]
    alpha = np.eye(len(K))[first]
    while True:
        margins = K @ alpha
        distance = length + alpha @ margins - 2 * margins
        z = int(distance.argmax())
        if distance[z] <= (1 + epsilon) ** 2 * length:
            return alpha
        share = 1 - np.sqrt(length / distance[z])
        alpha = (1 - share) * alpha + share * np.eye(len(K))[z]


@every
def test_an_enclosing_ball_moves_as_its_twin(kernel):
    C, epsilon = 5.0, 1e-4
    rows = np.ascontiguousarray(kernel.embed(X))
    K = dots(kernel, C)
    alpha, margins = np.eye(len(X))[3], K[3].copy()
    left = balls.enclosing_ball(
        kernel.code, rows, np.ascontiguousarray(rows.T), SIDE, C, 2.0 + 1.0 / C, epsilon, 0.0,
        10_000, alpha, margins, np.empty(len(X)),
    )  # fmt: skip
    assert left > 0
    np.testing.assert_allclose(alpha, moved(K, 3, epsilon), atol=1e-8)
    np.testing.assert_allclose(margins, K @ alpha, atol=1e-8)
    center = alpha @ K @ alpha
    assert (2.2 + center - 2 * margins <= (1 + epsilon) ** 2 * 2.2 + 1e-9).all()
