"""The parts of the reduced set: gradients, weights, paths, spaces, thresholds, loops."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import check_grad
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from kmviz.kernels import RBF, Linear, Normalized, Polynomial
from kmviz.machines import KernelMachine
from kmviz.methods.progress import Cancelled, listening
from kmviz.methods.reduced.engine import corridor, first_safe, widened
from kmviz.methods.reduced.threshold import bayes_threshold, errors_at
from kmviz.methods.reduction.basis import Basis, fastest_order
from kmviz.methods.reduction.objective import Distance, exact_weights
from kmviz.methods.reduction.path import grow, move_together, renew, target_of
from kmviz.methods.reduction.search import _Gain, by_fixed_point, by_gradient, by_selection
from kmviz.methods.reduction.space import OpaqueSpace, space_of

X, Y = make_moons(120, noise=0.2, random_state=0)
KERNELS = [
    Linear(),
    RBF(1.5),
    Polynomial(3, 1.3, 1.0),
    Polynomial(5, 0.7, 0.0),
    Polynomial(2, 1.0, 0.5),
    Normalized(Linear()),
    Normalized(Polynomial(4, 2.0, 1.0)),
    Normalized(Polynomial(3, 1.0, 0.0)),
    Normalized(Normalized(Polynomial(3, 1.0, 1.0))),
    Normalized(RBF(0.5)),
]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=str)


def machine_of(kernel, C=5.0):
    return KernelMachine.from_estimator(SVC(kernel=kernel, C=C).fit(X, Y))


def setting(kernel):
    machine = machine_of(kernel)
    space = space_of(kernel, machine.vectors)
    return machine, space, target_of(machine, space)


@every_kernel
def test_gradient_of_the_distance(kernel):
    _, _, target = setting(kernel)
    distance, rng = Distance(target), np.random.default_rng(0)
    count = 1 if isinstance(target.plain, Linear) else 3
    start = target.rows[rng.choice(len(target.rows), count, replace=False)]
    start = (start + 0.2 * rng.normal(size=start.shape)).ravel()
    error = check_grad(lambda z: distance(z)[0], lambda z: distance(z)[1], start, epsilon=1e-6)
    assert error < 1e-4 * max(1.0, np.linalg.norm(distance(start)[1]))


@every_kernel
def test_gradient_of_a_single_gain(kernel):
    _, _, target = setting(kernel)
    rng, basis = np.random.default_rng(1), Basis(target, 3)
    if not isinstance(target.plain, Linear):
        basis.append(target.rows[0])
        basis.append(target.rows[-1])
    gain = _Gain(basis)
    start = target.rows[5] + 0.1 * rng.normal(size=target.rows.shape[1])
    error = check_grad(lambda z: gain(z)[0], lambda z: gain(z)[1], start, epsilon=1e-6)
    assert error < 1e-4 * max(1.0, np.linalg.norm(gain(start)[1]))


@every_kernel
def test_weights_solve_the_normal_equations(kernel):
    machine, space, _ = setting(kernel)
    path = grow(machine, space, [4])
    few = path.machine(path.n_vectors)
    K_zz = kernel(few.vectors, few.vectors)
    b = kernel(few.vectors, machine.vectors) @ machine.beta
    np.testing.assert_allclose(K_zz @ few.beta, b, rtol=1e-5, atol=1e-6 * np.abs(b).max())


@every_kernel
def test_rows_of_the_space_give_the_kernel(kernel):
    space = space_of(kernel, X)
    np.testing.assert_allclose(
        space.plain(space.rows(X), space.rows(X)), kernel(X, X), rtol=1e-9, atol=1e-12
    )


@every_kernel
def test_directions_come_back_as_input_rows(kernel):
    space = space_of(kernel, X)
    rows, _ = space.directions(X)
    again, _ = space.directions(space.back(rows, rows))
    if space.is_homogeneous:  # a direction and its opposite say the same
        rows = rows * np.sign(rows @ rows.mean(axis=0))[:, None]
    np.testing.assert_allclose(again, rows, atol=1e-9)


def test_a_direction_away_from_every_row_still_comes_back():
    kernel = Polynomial(3, 1.0, 1.0)
    space, rows = space_of(kernel, X), space_of(kernel, X).directions(X)[0]
    level = np.array([[0.6, -0.8, 0.0], [0.0, 0.6, -0.8]])  # no last component; a negative one
    found = space.back(level, rows)
    assert np.isfinite(found).all()
    cosine = np.einsum("ij,ij->i", space.directions(found)[0], level)
    np.testing.assert_allclose(np.abs(cosine), 1.0, atol=1e-4)


@pytest.mark.parametrize("method", ["incremental", "fixed_point"])
@pytest.mark.parametrize(("scale", "zero"), [(1e-6, 0.0), (1e6, 0.0), (1.0, 1e4), (1e3, 1e6)])
def test_neither_units_nor_their_zero_matter_to_a_radial_kernel(method, scale, zero):
    machine = machine_of(RBF(2.0))
    moved = KernelMachine(
        machine.vectors * scale + zero, machine.beta, machine.bias, RBF(2.0 / scale**2)
    )
    here, there = (grow(m, space_of(m.kernel, m.vectors), [12], method) for m in (machine, moved))
    np.testing.assert_allclose(there.rho, here.rho, rtol=2e-3)


def test_moving_together_sees_columns_far_from_zero():
    machine = machine_of(RBF(2.0))
    far = KernelMachine(machine.vectors * 1e3 + 1e6, machine.beta, machine.bias, RBF(2e-6))
    path = grow(far, space_of(far.kernel, far.vectors), [16])
    assert path.rho[16] < 0.02
    alone = grow(far, space_of(far.kernel, far.vectors), [16], "incremental")
    assert path.rho[16] < 0.3 * alone.rho[16]


def test_the_least_useful_vectors_are_sought_anew():
    _, _, target = setting(RBF(2.0))
    basis = Basis(target, 8)
    for row in target.rows[:7]:  # not well chosen
        basis.append(row)
    basis.append(target.rows[0] + 1e-3)  # hardly matters beside the first
    Z, before = basis.vectors.copy(), basis.gains.sum()
    without = [Basis(target, 7) for _ in Z]
    for k, few in enumerate(without):
        few.replace(np.delete(Z, k, axis=0))
    lost = before - [few.gains.sum() for few in without]
    np.testing.assert_allclose(basis.losses(), lost, rtol=1e-3, atol=1e-7 * before)
    once = Basis(target, 8)
    once.replace(Z)
    move_together(once, max_iter=500)
    renew(basis, by_gradient)
    move_together(basis, max_iter=500)
    assert basis.n == 8
    assert basis.gains.sum() >= (1 - 1e-9) * once.gains.sum()


@every_kernel
def test_as_many_vectors_as_are_different_say_everything(kernel):
    rng = np.random.default_rng(3)
    rows, beta = np.repeat(rng.normal(size=(3, 4)), 7, axis=0), rng.normal(size=21)
    machine = KernelMachine(rows, beta, 0.5, kernel)
    space = space_of(kernel, rows)
    for sizes in ([3], [1, 3], [2, 9], [21]):
        path = grow(machine, space, sizes)
        assert path.n_vectors <= sizes[-1]
        assert path.rho[-1] < 1e-3
        few = path.machine(path.n_vectors)
        np.testing.assert_allclose(
            few.decision_function(X @ np.ones((2, 4))),
            machine.decision_function(X @ np.ones((2, 4))),
            atol=1e-3 * np.abs(beta).sum() * np.abs(kernel.diag(X @ np.ones((2, 4)))).max(),
        )
    whole = machine_of(kernel)
    path = grow(whole, space_of(kernel, whole.vectors), [whole.n_vectors])
    assert path.rho[-1] < 1e-3


def test_a_subclass_is_known_by_its_values():
    class Same(RBF):
        """The parent's values."""

    class Other(RBF):
        """Other values than the parent's."""

        def __call__(self, A, B):
            return super().__call__(A, B) ** 2

    assert space_of(Same(1.0), X).kernel == RBF(1.0)
    assert isinstance(space_of(Other(1.0), X), OpaqueSpace)
    assert isinstance(space_of(np.dot, X), OpaqueSpace)


@pytest.mark.parametrize("method", ["joint", "incremental", "fixed_point", "selection"])
def test_rho_falls_along_a_path(method):
    machine = machine_of(RBF(2.0))
    path = grow(machine, space_of(machine.kernel, machine.vectors), [4, 8, 16], method)
    assert path.rho[0] == 1.0
    assert len(path.rho) == 17
    assert (np.diff(path.rho) <= 1e-9).all()
    assert path.rho[16] < 0.5 * path.rho[4]
    for n in range(1, 17):
        few, K = path.machine(n), machine.kernel
        cross = machine.beta @ K(machine.vectors, few.vectors) @ few.beta
        psi_sq = machine.beta @ K(machine.vectors, machine.vectors) @ machine.beta
        left = psi_sq - 2 * cross + few.beta @ K(few.vectors, few.vectors) @ few.beta
        assert np.sqrt(max(left, 0.0) / psi_sq) == pytest.approx(path.rho[n], abs=1e-4)


def test_moving_together_helps_and_conjugate_gradient_gets_near():
    _, _, target = setting(RBF(2.0))
    reached = {}
    for optimizer in ("L-BFGS-B", "CG"):
        basis = Basis(target, 6)
        while basis.n < 6:
            basis.append(by_gradient(basis))
        before = 1.0 - basis.gains.sum() / target.norm_sq
        move_together(basis, optimizer, max_iter=200)
        reached[optimizer] = 1.0 - basis.gains.sum() / target.norm_sq
        assert reached[optimizer] < 0.9 * before
    assert reached["CG"] == pytest.approx(reached["L-BFGS-B"], rel=0.5)


@pytest.mark.parametrize("find", [by_gradient, by_fixed_point, by_selection])
def test_a_basis_knows_what_is_left(find):
    _, _, target = setting(RBF(2.0))
    basis = Basis(target, 5)
    for _ in range(5):
        best = basis.scores().max()
        basis.append(find(basis))
        assert basis.gains[-1] >= best * (1 - 1e-6)  # no worse than the best support vector
    K_zz = target.plain(basis.vectors, basis.vectors)
    b = target.plain(basis.vectors, target.rows) @ target.beta
    np.testing.assert_allclose(basis.weights, exact_weights(K_zz, b), rtol=1e-5)
    left = target.norm_sq - b @ basis.weights
    assert target.norm_sq - basis.gains.sum() == pytest.approx(left, rel=1e-6)
    residual = target.outputs - target.plain(target.rows, basis.vectors) @ basis.weights
    np.testing.assert_allclose(basis.residual, residual, atol=1e-6)
    kept = basis.residual.copy()
    basis.replace(basis.vectors.copy())
    np.testing.assert_allclose(basis.residual, kept, atol=1e-6)


def test_the_fastest_order_takes_the_best_first():
    K = np.eye(3)
    np.testing.assert_array_equal(fastest_order(K, np.array([1.0, -3.0, 2.0])), [1, 2, 0])


def test_a_long_fit_can_be_cancelled():
    machine = machine_of(RBF(2.0))
    heard = []

    def stop_at_ten(share, text):
        heard.append(text)
        if len(heard) == 10:
            raise Cancelled

    space = space_of(machine.kernel, machine.vectors)
    with listening(stop_at_ten), pytest.raises(Cancelled):
        grow(machine, space, [20])
    assert len(heard) == 10
    assert "rho" in heard[-1]


@given(
    st.lists(st.tuples(st.integers(-5, 5), st.booleans()), min_size=1, max_size=25),
    st.floats(-6, 6),
)
@settings(max_examples=150, deadline=None)
def test_no_threshold_errs_less_than_the_bayes_one(rows, bias):
    outputs = np.array([value for value, _ in rows], dtype=float)
    positive = np.array([sign for _, sign in rows])
    found = errors_at(outputs, positive, bayes_threshold(outputs, positive, bias))
    tried = [errors_at(outputs, positive, t) for t in np.arange(-6.5, 7.0, 0.5)]
    assert found == min(tried)
    if errors_at(outputs, positive, bias) == found:
        assert bayes_threshold(outputs, positive, bias) == bias


def test_the_corridor_holds_every_row_that_changes_its_mind():
    partial = np.array([[1.0, 2.0, 3.0], [-1.0, 0.5, -2.0], [0.5, -0.4, 1.0], [-3.0, -2.0, -1.0]])
    low, high = corridor(partial)
    ends = partial[:, -1] > 0
    for k in range(3):
        safe = (partial[:, k] < low[k]) | (partial[:, k] > high[k])
        np.testing.assert_array_equal(partial[safe, k] > 0, ends[safe])
    assert (np.diff(high) <= 0).all()
    assert (np.diff(low) >= 0).all()
    assert corridor(np.abs(partial)) is None  # one side only: nothing tells what is safe


def test_a_wider_corridor_stops_later():
    rng = np.random.default_rng(0)
    partial = np.cumsum(rng.normal(size=(200, 12)), axis=1)
    bounds = corridor(partial[:100])
    steps = [first_safe(partial, *widened(*bounds, margin)) for margin in (0.0, 0.3, 1.0)]
    assert (steps[0] <= steps[1]).all()
    assert (steps[1] <= steps[2]).all()
    assert steps[0].mean() < steps[2].mean()
    assert steps[2].max() == 12
