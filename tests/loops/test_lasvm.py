"""The loops of LASVM against a plain NumPy twin, and kernel rows against the kernels."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from kmviz.kernels import RBF, Linear, Normalized, Polynomial
from kmviz.loops.lasvm import TIE
from kmviz.loops.rows import kernel_row
from kmviz.methods.rivals.lasvm import Expansion, Slots

X, Y = make_moons(150, noise=0.3, random_state=0)
SIDE = np.where(Y == 1, 1.0, -1.0)
KERNELS = [RBF(1.5), Linear(), Polynomial(2, 0.5, 1.0), Normalized(Polynomial(3))]


class Twin:
    """LASVM in plain NumPy: a list of rows, their weights and residuals, the whole matrix K."""

    def __init__(self, K, side, C, tol):
        self.K, self.side, self.C, self.tol = K, side, C, tol
        self.held = []
        self.beta, self.g = np.zeros(len(side)), np.zeros(len(side))

    def ends(self):
        top, low = np.where(self.side > 0, self.C, 0.0), np.where(self.side > 0, 0.0, -self.C)
        may_grow = [s for s in self.held if self.beta[s] < top[s]]
        may_shrink = [s for s in self.held if self.beta[s] > low[s]]
        i = j = None
        for s in may_grow:
            i = s if i is None or self.g[s] > self.g[i] + TIE else i
        for s in may_shrink:
            j = s if j is None or self.g[s] < self.g[j] - TIE else j
        return i, j

    def step(self, i, j):
        K, side, C = self.K, self.side, self.C
        step = (self.g[i] - self.g[j]) / max(K[i, i] + K[j, j] - 2 * K[i, j], 1e-12)
        room_i = (C if side[i] > 0 else 0.0) - self.beta[i]
        room_j = self.beta[j] - (0.0 if side[j] > 0 else -C)
        step = min(step, room_i, room_j)
        self.beta[i] += step
        self.beta[j] -= step
        self.beta[np.abs(self.beta) < 1e-12 * C] = 0.0
        full = np.abs(np.abs(self.beta) - C) < 1e-12 * C
        self.beta[full] = C * side[full]
        self.g[self.held] -= step * (K[i, self.held] - K[j, self.held])

    def process(self, at):
        if at in self.held:
            return
        i, j = self.ends()
        residual = self.side[at] - self.K[at] @ self.beta
        partner = j if self.side[at] > 0 else i
        if partner is not None and (residual - self.g[partner]) * self.side[at] <= self.tol:
            return
        self.held.append(at)
        self.g[at] = residual
        if partner is not None:
            self.step(*((at, partner) if self.side[at] > 0 else (partner, at)))

    def reprocess(self):
        i, j = self.ends()
        if i is None or j is None or self.g[i] - self.g[j] <= self.tol:
            return False
        self.step(i, j)
        i, j = self.ends()
        top, bottom, place = self.g[i], self.g[j], 0
        while place < len(self.held):
            s = self.held[place]
            useless = self.g[s] <= bottom + TIE if self.side[s] > 0 else self.g[s] >= top - TIE
            if self.beta[s] == 0 and useless and len(self.held) > 2:
                self.held[place] = self.held[-1]  # the last moves to the place that is free
                self.held.pop()
            else:
                place += 1
        return True


def learned(kernel, C, order):
    none = np.zeros(0)
    work = Slots(Expansion(X[:0], none, none, none), X, SIDE, kernel)
    work.learn(order, C, 1e-3)
    return work


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("C", [0.5, 20.0])
@pytest.mark.parametrize("seed", range(5))
def test_rows_are_seen_as_by_the_twin(kernel, C, seed):
    order = np.random.default_rng(seed).permutation(len(X))
    twin = Twin(kernel(X, X), SIDE, C, 1e-3)
    for at in order:
        twin.process(at)
        twin.reprocess()
    work = learned(kernel, C, order)
    found = np.zeros(len(X))
    found[work.slots[4][: work.m]] = work.slots[2][: work.m]
    assert set(work.slots[4][: work.m]) == set(twin.held)
    np.testing.assert_allclose(found, twin.beta, atol=1e-3 * C)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_finishing_leaves_no_violation(kernel):
    work = learned(kernel, 1.0, np.arange(len(X)))
    assert work.finish(1.0, 1e-3)
    expansion = work.expansion(1.0)
    K = kernel(expansion.rows, expansion.rows)
    residual = expansion.sides - K @ expansion.beta
    np.testing.assert_allclose(residual, expansion.residual, atol=1e-4)
    grows = expansion.beta < np.where(expansion.sides > 0, 1.0, 0.0)
    shrinks = expansion.beta > np.where(expansion.sides > 0, 0.0, -1.0)
    assert residual[grows].max() - residual[shrinks].min() <= 1.1e-3
    assert abs(expansion.beta.sum()) < 1e-9


def test_slots_grow_as_rows_come():
    rows, labels = make_moons(3000, noise=0.5, random_state=0)
    side = np.where(labels == 1, 1.0, -1.0)
    none = np.zeros(0)
    work = Slots(Expansion(rows[:0], none, none, none), rows, side, RBF(2.0))
    assert work.points.shape[1] == 256
    work.learn(np.arange(len(rows)), 0.1, 1e-3)
    assert 256 < work.m <= work.points.shape[1]
    K = RBF(2.0)(rows, rows[work.slots[4][: work.m]])
    residual = (
        side[work.slots[4][: work.m]] - (K @ work.slots[2][: work.m])[work.slots[4][: work.m]]
    )
    np.testing.assert_allclose(work.slots[3][: work.m], residual, atol=1e-4)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_a_row_of_kernel_values(kernel):
    points = np.ascontiguousarray(kernel.embed(X))
    out = np.full(len(X), np.nan)
    kernel_row(*kernel.code, np.ascontiguousarray(points.T), 100, points[3], out)
    np.testing.assert_allclose(out[:100], kernel(X[3:4], X[:100])[0], rtol=1e-12)
    assert np.isnan(out[100:]).all()
