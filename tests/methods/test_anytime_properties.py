"""What must hold for any machine: random vectors, weights, kernels, orders and queries."""

import numpy as np
from hypothesis import given, settings, strategies as st

from kmviz.kernels import RBF, Linear, Normalized, Polynomial
from kmviz.machines import KernelMachine
from kmviz.methods.anytime.basis import OWN, WIDER, candidates, ordered
from kmviz.methods.anytime.cholesky import CholeskyEngine
from kmviz.methods.anytime.spectral import SpectralEngine

KERNELS = [
    RBF(0.3), RBF(5.0), Linear(), Polynomial(degree=3), Polynomial(2, 0.5, 0.0),
    Normalized(Polynomial(degree=2)), Normalized(Polynomial(degree=9)), Normalized(RBF(1.0)),
]  # fmt: skip


@st.composite
def machines(draw, kernels):
    """A machine with duplicate and collinear vectors, and queries near and on its vectors."""
    rng = np.random.RandomState(draw(st.integers(0, 10_000)))
    m, d = draw(st.integers(1, 14)), draw(st.integers(1, 5))
    vectors = rng.randn(m, d) * draw(st.sampled_from([0.1, 1.0, 10.0]))
    if draw(st.booleans()):
        vectors[m // 2 :] = vectors[: m - m // 2]
    if draw(st.booleans()):
        vectors[-1] = 2.0 * vectors[0]
    beta = rng.randn(m) * draw(st.sampled_from([1.0, 1000.0]))
    if draw(st.booleans()):
        beta = np.abs(beta)
    machine = KernelMachine(vectors, beta, rng.randn(), draw(kernels))
    queries = np.vstack([rng.randn(12, d), vectors[:3], vectors[:3] + 1e-6, np.zeros((1, d))])
    return machine, queries, rng


def assert_certified(engine, queries):
    """Bounds bracket f, never widen, are nested (to 1e-9), and the answer has the sign of f."""
    machine = engine.machine
    exact = machine.decision_function(queries)
    lower, upper = engine.bounds(queries)
    assert (lower <= exact[:, None]).all()
    assert (exact[:, None] <= upper).all()
    reach = np.abs(machine.beta) @ np.sqrt(machine.kernel.diag(machine.vectors))
    scale = 1e-12 * (1.0 + reach * np.sqrt(machine.kernel.diag(queries)))[:, None]
    assert (np.diff(upper - lower, axis=1) <= scale).all()
    assert (np.diff(lower, axis=1) >= -1e3 * scale).all()
    assert (np.diff(upper, axis=1) <= 1e3 * scale).all()
    output, steps = engine.run(queries)
    np.testing.assert_array_equal(output > 0, exact > 0)
    assert (steps <= engine.n_steps + machine.n_vectors).all()


@settings(max_examples=120, deadline=None)
@given(
    machines(st.sampled_from(KERNELS)),
    st.sampled_from([*OWN, *WIDER]),
    st.sampled_from([1e-12, 1e-10, 1e-8, 1e-6, 1e-4]),
)
def test_bounds_are_certain(case, order, jitter):
    machine, queries, rng = case
    among = candidates(machine, order, jitter, queries, rng)
    basis = ordered(machine, order, machine.n_vectors, among, queries, rng)
    engine = CholeskyEngine(machine, basis, jitter)
    assert_certified(engine, queries)
    if order in OWN:
        assert basis.spans
        assert sorted(basis.index) == list(range(machine.n_vectors))


QUADRATIC = st.sampled_from([
    Polynomial(2, 1.0, 1.0), Polynomial(2, 0.5, 0.0), Normalized(Polynomial(2, 1.0, 1.0)),
    Normalized(Polynomial(2, 2.0, 0.0)),
])  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(machines(QUADRATIC), st.integers(1, 6), st.sampled_from([np.float32, np.float64]))
def test_spectral_bounds_are_certain(case, n_steps, dtype):
    machine, queries, _ = case
    assert_certified(SpectralEngine(machine, n_steps), queries.astype(dtype))


@settings(max_examples=30, deadline=None)
@given(machines(st.sampled_from(KERNELS)), st.integers(1, 5))
def test_a_short_basis_is_certain_too(case, n_steps):
    machine, queries, rng = case
    n_steps = min(n_steps, machine.n_vectors)
    among = candidates(machine, "min_wz", 1e-8, queries, rng)
    basis = ordered(machine, "min_wz", n_steps, among, queries, rng)
    assert_certified(CholeskyEngine(machine, basis, 1e-8), queries)
