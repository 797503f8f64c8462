"""Outputs on shared vectors, against NumPy."""

import numpy as np
import pytest

from kmviz.kernels import RBF, Linear, Normalized, Polynomial
from kmviz.loops.rounding import DOUBLE, gamma_of
from kmviz.loops.shared import shared_outputs
from kmviz.machines import KernelMachine
from kmviz.machines.shared import SharedMachines

RNG = np.random.default_rng(0)
KERNELS = [Linear(), Polynomial(3, 0.5, 1.0), RBF(0.4), Normalized(Polynomial(9)),
           Normalized(Linear()), Normalized(RBF(0.4))]  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_outputs_are_the_kernel_times_the_weights(kernel, dtype):
    X, vectors = RNG.normal(size=(7, 5)).astype(dtype), RNG.normal(size=(9, 5))
    weights, bias = RNG.normal(size=(9, 3)), RNG.normal(size=3)
    rows, embedded = kernel.embed(X), kernel.embed(vectors)
    center = embedded.mean(axis=0) if isinstance(kernel, RBF) else np.zeros(embedded.shape[1])
    moved = embedded - center
    columns = np.ascontiguousarray(moved.T, dtype=np.float32)
    radius, spread = float(np.linalg.norm(moved, axis=1).max()), np.abs(weights).sum(axis=0)
    out, error = np.empty((2, 7, 3))
    near = shared_outputs(
        *kernel.code, rows, center, columns, radius,
        np.ascontiguousarray(weights.T), spread, bias,
        gamma_of(13, DOUBLE), out, error,
    )  # fmt: skip
    exact = kernel(X.astype(np.float64), vectors) @ weights - bias
    assert (np.abs(out - exact) <= error).all()
    _, gamma, coef0, degree = kernel.code
    largest = (gamma * np.linalg.norm(rows, axis=1).max() * radius + abs(coef0)) ** degree
    assert (error < 2e-5 * (max(largest, 1.0) * spread + 1.0)).all()
    assert near == (np.abs(out) <= error).any(axis=1).sum()


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_signs_are_those_of_float64(kernel, scale):
    vectors = RNG.normal(size=(60, 6)) * scale + scale
    machines = [
        KernelMachine(vectors[i : i + 40], RNG.normal(size=40) * 1e3, 0.3, kernel)
        for i in (0, 10, 20)
    ]
    shared = SharedMachines(machines)
    assert len(shared.vectors) == 60
    X = np.vstack([RNG.normal(size=(400, 6)) * scale + scale, vectors])
    exact = np.column_stack([machine.decision_function(X) for machine in machines])
    together = shared.outputs(X)
    np.testing.assert_array_equal(together > 0, exact > 0)
    alone = np.vstack([shared.outputs(x[None]) for x in X])
    np.testing.assert_array_equal(alone > 0, exact > 0)
    assert np.abs(together - exact).max() <= 1e-3 * np.abs(exact).max()


def test_a_row_too_near_for_float32_is_computed_again():
    machine = KernelMachine([[0.0], [1.0]], [1e6, -1e6], 0.0, RBF(1.0))
    shared = SharedMachines([machine])
    for gap in (1e-9, -1e-9):
        x = np.array([[0.5 + gap]])
        assert shared.outputs(x)[0, 0] == pytest.approx(machine.decision_function(x)[0], rel=1e-6)
        many = np.repeat(x, 40, axis=0)
        np.testing.assert_allclose(shared.outputs(many), shared.outputs(x)[0, 0], rtol=1e-6)


def test_a_narrow_kernel_is_told_by_the_vectors_near_a_row():
    vectors = RNG.uniform(-10.0, 10.0, size=(1_500, 2))
    machine = KernelMachine(vectors, RNG.choice([-10.0, 10.0], size=1_500), 0.1, RBF(10.0))
    shared = SharedMachines([machine])
    X = RNG.uniform(-10.0, 10.0, size=(2_000, 2))
    asked = []
    for rows in (X, X.astype(np.float32)):
        (found, again, _), exact = shared.certain_outputs(rows), machine.decision_function(rows)
        asked.append(len(again))
        np.testing.assert_array_equal(found[:, 0] > 0, exact > 0)
        alone = [shared.certain_outputs(x[None]) for x in rows[:200]]
        asked.extend(len(again) for _, again, _ in alone)
        np.testing.assert_array_equal([f[0, 0] > 0 for f, _, _ in alone], exact[:200] > 0)
    assert sum(asked) < 0.1 * 2 * (2_000 + 200)


def test_columns_must_be_the_machines():
    shared = SharedMachines([KernelMachine([[0.0, 1.0]], [1.0], 0.0, RBF(1.0))])
    with pytest.raises(ValueError, match="3 columns"):
        shared.outputs(np.ones((2, 3)))
