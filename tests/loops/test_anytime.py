"""Anytime loops and greedy orders against plain twins."""

import numpy as np
import pytest

from kmviz.kernels import RBF, Linear, Normalized, Polynomial
from kmviz.loops.anytime import coordinates, factor_rows, lookahead_costs
from kmviz.machines import KernelMachine
from kmviz.methods.anytime.basis import OWN, candidates, ordered
from kmviz.methods.anytime.cholesky import CholeskyEngine
from kmviz.methods.anytime.spectral import SpectralEngine

RNG = np.random.RandomState(0)
VECTORS, BETA, QUERIES = RNG.randn(40, 3), RNG.randn(40), 2.0 * RNG.randn(700, 3)
KERNELS = [RBF(0.5), Linear(), Polynomial(degree=4), Normalized(Polynomial(degree=2))]


def engine_of(kernel, order="min_wz", n_steps=40):
    machine = KernelMachine(VECTORS, BETA, 0.2, kernel)
    rng = np.random.RandomState(1)
    among = candidates(machine, order, 1e-8, VECTORS, rng)
    return CholeskyEngine(machine, ordered(machine, order, n_steps, among, QUERIES, rng), 1e-8)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("n_steps", [40, 4])
def test_closing_bounds(kernel, n_steps):
    engine = engine_of(kernel, n_steps=n_steps)
    for fast, plain in zip(engine._close(QUERIES), engine._close_plainly(QUERIES)):
        np.testing.assert_allclose(fast, plain, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("kernel", [Polynomial(2, 0.5, 0.3), Normalized(Polynomial(2))], ids=repr)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_closing_spectral_bounds(kernel, dtype):
    engine = SpectralEngine(KernelMachine(VECTORS, BETA, 0.2, kernel), 3)
    queries = QUERIES.astype(dtype)
    tolerance = 1e-9 if dtype is np.float64 else 1e-4
    for fast, plain in zip(engine._close(queries), engine._close_plainly(queries)):
        np.testing.assert_allclose(fast, plain, rtol=tolerance, atol=tolerance)


def test_a_factor_by_rows_is_the_factor():
    K = RBF(0.5)(VECTORS, VECTORS)
    extra, factor = np.full(40, 1e-8), np.zeros((40, 40))
    assert factor_rows(K, extra, factor) == -1
    np.testing.assert_allclose(factor, np.linalg.cholesky(K + np.diag(extra)), atol=1e-10)
    short = np.zeros((9, 9))
    factor_rows(np.ascontiguousarray(K[:9, :9]), extra[:9], short)
    np.testing.assert_array_equal(short, factor[:9, :9])
    assert factor_rows(np.array([[1.0, 2.0], [2.0, 1.0]]), np.zeros(2), np.zeros((2, 2))) == 1


def test_coordinates_solve_the_triangular_system():
    factor, coords = np.tril(RNG.rand(30, 30)) + np.eye(30), np.empty(30)
    values = RNG.randn(30)
    coordinates(factor, values, coords)
    np.testing.assert_allclose(coords, np.linalg.solve(factor, values), rtol=1e-8)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("n_steps", [40, 4])
def test_recording_changes_no_answer(kernel, n_steps):
    engine = engine_of(kernel, n_steps=n_steps)
    output, steps = engine.run(QUERIES)
    kept, read = engine.records(QUERIES), engine._read(QUERIES, n_steps)
    np.testing.assert_array_equal(np.where(kept.decided, kept.output, kept.exact), output)
    np.testing.assert_array_equal(kept.stop + np.where(kept.decided, 0, engine.missing[-1]), steps)
    walked = np.arange(n_steps + 1) <= kept.stop[:, None]
    for name in ("lower", "upper"):
        np.testing.assert_allclose(
            getattr(kept, name)[walked], read[name][walked], rtol=1e-6, atol=1e-6
        )


@pytest.mark.parametrize("width", [1, 16, 700])
@pytest.mark.parametrize("kernel", [Polynomial(2, 0.5, 0.3), Normalized(Polynomial(2))], ids=repr)
def test_float32_stays_within_the_rounding_it_reckons_with(kernel, width):
    rng = np.random.RandomState(width)
    vectors, beta = rng.randn(60, width), rng.randn(60)
    engine = SpectralEngine(KernelMachine(vectors, beta, 0.0, kernel), 60)
    queries = rng.randn(300, width).astype(np.float32)
    output, stop, _ = engine._close(queries)
    read = engine._read(queries, engine.n_steps)
    _, _, round_off, _, _ = engine.tables["f"]
    each = np.arange(300)
    off = np.abs(output - read["partial"][each, stop])
    assert off.max() > 0.0
    assert (off <= round_off[stop] * engine._squares(queries.astype(np.float64))).all()


@pytest.mark.parametrize("length", [1e-20, 1e-14, 1e14, 1e17])
def test_float32_leaves_lengths_out_of_its_range_to_the_exact_sum(length):
    machine = KernelMachine(VECTORS, BETA, 0.0, Polynomial(2, 1.0, 0.0))
    engine = SpectralEngine(machine, 9)
    queries = (QUERIES[:20] * length).astype(np.float32)
    assert (engine._close(queries)[2] == (1e-15 < length < 1e15)).all()
    np.testing.assert_array_equal(
        engine.run(queries)[0] > 0, machine.decision_function(queries) > 0
    )


def test_rows_of_zeros_have_no_direction():
    engine = SpectralEngine(
        KernelMachine(VECTORS, BETA, 0.2, Normalized(Polynomial(2, 1.0, 0.0))), 9
    )
    zeros = np.zeros((2, 3))
    np.testing.assert_allclose(engine.run(zeros)[0], -0.2)
    np.testing.assert_array_equal(engine._close(zeros)[1], engine._close_plainly(zeros)[1])


def test_lookahead_costs():
    cross, pivots = RNG.randn(7, 30) / 10, RNG.rand(7) + 0.1
    w, partial, residual = RNG.randn(7) / 3, RNG.randn(30), RNG.rand(30) + 0.5
    sides, rest, costs = np.sign(RNG.randn(30)), 1.5, np.empty(7)
    lookahead_costs(cross, pivots, w, partial, residual, rest, sides, costs)
    q = cross / np.sqrt(pivots)[:, None]
    gap = np.sqrt(np.maximum(residual - q**2, 0) * np.maximum(rest - w**2, 0)[:, None])
    outputs = partial + w[:, None] * q
    below = -np.minimum(outputs - gap, 0)[:, sides > 0].sum(axis=1)  # eq. 26
    above = np.maximum(outputs + gap, 0)[:, sides < 0].sum(axis=1)
    np.testing.assert_allclose(costs, below + above)


def left_of_w(machine, chosen):
    """||W||^2 minus its projection on the chosen vectors, solved afresh."""
    K = machine.kernel(machine.vectors, machine.vectors)
    k_w = K @ machine.beta
    part = K[np.ix_(chosen, chosen)] + 1e-8 * np.eye(len(chosen))
    return machine.beta @ k_w - k_w[chosen] @ np.linalg.solve(part, k_w[chosen])


def left_of_k(machine, chosen):
    """Squared length of K minus its Nystroem approximation from the chosen vectors."""
    K = machine.kernel(machine.vectors, machine.vectors)
    part = K[np.ix_(chosen, chosen)] + 1e-8 * np.eye(len(chosen))
    return np.trace(K - K[:, chosen] @ np.linalg.solve(part, K[chosen]))


def test_min_wz_takes_the_best_vector_each_time():
    machine = KernelMachine(VECTORS, BETA, 0.2, RBF(0.5))
    chosen = list(engine_of(RBF(0.5), "min_wz", 12).index)
    for k in range(12):
        free = [i for i in range(40) if i not in chosen[:k]]
        costs = [left_of_w(machine, chosen[:k] + [i]) for i in free]
        assert left_of_w(machine, chosen[: k + 1]) == pytest.approx(min(costs), rel=1e-6)


def test_sgma_takes_the_best_vector_each_time():
    machine = KernelMachine(VECTORS, BETA, 0.2, RBF(0.5))
    chosen = list(engine_of(RBF(0.5), "sgma", 12).index)
    for k in range(12):
        free = [i for i in range(40) if i not in chosen[:k]]
        costs = [left_of_k(machine, chosen[:k] + [i]) for i in free]
        assert left_of_k(machine, chosen[: k + 1]) == pytest.approx(min(costs), rel=1e-6)


@pytest.mark.parametrize("order", OWN)
def test_threads_do_not_change_results(order):
    from kmviz.loops.threads import limited

    engine = engine_of(RBF(0.5), order)
    with limited(1):
        alone = engine.run(QUERIES)
    with limited(2):
        together = engine.run(QUERIES)
    np.testing.assert_array_equal(alone[0], together[0])
    np.testing.assert_array_equal(alone[1], together[1])


@pytest.mark.parametrize(("left", "right"), [(0, 0), (3, 0), (0, 5), (20, 30), (2, 2)])
def test_columns_that_are_zero_in_every_vector_are_passed_over(left, right):
    pad = ((0, 0), (left, right))
    machine = KernelMachine(np.pad(VECTORS, pad), BETA, 0.2, Normalized(Polynomial(2)))
    engine = SpectralEngine(machine, 99)
    queries = 2.0 * np.random.RandomState(2).randn(50, left + 3 + right)
    lower, upper = engine.bounds(queries)
    exact = machine.decision_function(queries)
    assert engine.directions.shape[1] <= max(16, 3)
    assert ((lower <= exact[:, None]) & (exact[:, None] <= upper)).all()
    np.testing.assert_array_equal(engine.run(queries)[0] > 0, exact > 0)
