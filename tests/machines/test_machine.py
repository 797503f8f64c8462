"""A machine read from an estimator is that estimator's decision function."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris, make_classification, make_moons
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC

from kmviz.kernels import RBF, Linear, Normalized, Polynomial
from kmviz.machines import KernelFisherClassifier, KernelMachine, machine

X, Y = make_classification(120, 5, n_informative=4, n_redundant=0, random_state=0)

ESTIMATORS = [
    SVC(kernel="linear"),
    SVC(kernel="poly", degree=4, coef0=1.0, gamma="auto"),
    SVC(gamma="scale"),
    SVC(gamma=0.3, C=7.0),
    NuSVC(gamma=0.2),
    LinearSVC(C=0.5),
    SVC(kernel=RBF(0.3)),
    SVC(kernel=Polynomial(2)),
    SVC(kernel=Normalized(Polynomial(5))),
    SVC(kernel=Linear()),
    KernelFisherClassifier(RBF(0.2)),
    KernelFisherClassifier(),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_equals_the_estimator(estimator):
    fitted = estimator.fit(X, Y)
    read = KernelMachine.from_estimator(fitted)
    theirs = fitted.decision_function(X)
    np.testing.assert_allclose(read.decision_function(X), theirs, rtol=1e-9, atol=1e-9)
    single = read.decision_function(X, dtype=np.float32)
    assert single.dtype == np.float32
    scale = np.abs(read.beta).sum() * np.abs(read.kernel(X, X)).max()
    np.testing.assert_allclose(single, theirs, atol=2e-6 * scale)


def test_vectors_stand_in_file_order():
    svc = SVC(gamma=0.5).fit(X, Y)
    read = KernelMachine.from_estimator(svc)
    np.testing.assert_array_equal(read.vectors, X[np.sort(svc.support_)])


@pytest.mark.parametrize("kernel", ["rbf", "poly", RBF(0.4)], ids=str)
@pytest.mark.parametrize("cls", [SVC, NuSVC])
def test_pairs_are_the_columns_of_ovo(cls, kernel):
    X, y = load_iris(return_X_y=True)
    svc = cls(kernel=kernel, decision_function_shape="ovo").fit(X, y)
    pairs = KernelMachine.pairwise(svc)
    ours = np.column_stack([pair.decision_function(X) for pair in pairs])
    np.testing.assert_allclose(ours, svc.decision_function(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_an_svc_of_sparse_rows(n_classes):
    rows = np.maximum(X, 0.0)
    y = np.digitize(rows[:, 0], [0.5, 1.5]) if n_classes == 3 else Y
    svc = SVC(decision_function_shape="ovo").fit(csr_matrix(rows), y)
    ours = [pair.decision_function(rows) for pair in KernelMachine.pairwise(svc)]
    theirs = svc.decision_function(csr_matrix(rows))
    np.testing.assert_allclose(np.transpose(ours).reshape(theirs.shape), theirs, atol=1e-9)


def test_pairs_of_two_classes_is_the_machine():
    (only,) = KernelMachine.pairwise(svc := SVC().fit(X, Y))
    np.testing.assert_allclose(only.decision_function(X), svc.decision_function(X), rtol=1e-9)


def test_of_a_pipeline_the_last_step():
    pipe = make_pipeline(StandardScaler(), SVC()).fit(X, Y)
    read = KernelMachine.from_estimator(FrozenEstimator(pipe))
    np.testing.assert_allclose(
        read.decision_function(pipe[:-1].transform(X)), pipe.decision_function(X), rtol=1e-9
    )


@pytest.mark.parametrize("kernel", [RBF(0.4), lambda A, B: A @ B.T], ids=["known", "callable"])
@pytest.mark.parametrize("dtype", [None, np.float32])
def test_blocks_equal_the_whole(monkeypatch, kernel, dtype):
    whole = KernelMachine(X[:50], RNG.normal(size=50), 0.3, kernel)
    expected = whole.decision_function(X, dtype)
    shapes = []

    def watched(A, B):
        shapes.append(len(A) * len(B))
        return kernel(A, B)

    monkeypatch.setattr(machine, "BLOCK_BYTES", 8 * 33)  # 33 values: a part of the vectors
    blocks = whole._in_blocks(X, watched, whole.vectors, whole.beta, np.dtype(dtype or float))
    np.testing.assert_allclose(blocks, expected, rtol=1e-5 if dtype else 1e-12, atol=1e-5)
    assert max(shapes) <= 33
    assert sum(shapes) == 120 * 50


RNG = np.random.default_rng(1)


def test_largest_block_is_bounded():
    assert machine.BLOCK_BYTES <= 256 * 2**20


def test_a_kernel_sees_each_value_once():
    calls = []

    def counting(A, B):
        calls.append(len(A) * len(B))
        return np.asarray(A) @ np.asarray(B).T

    KernelMachine(X[:9], np.ones(9), 0.0, counting).decision_function(X)
    assert sum(calls) == 9 * len(X)


def test_hand_worked():
    two = KernelMachine([[1.0, 0.0], [0.0, 2.0]], [2.0, -1.0], 0.5, Linear())
    assert two.decision_function([[3.0, 1.0]]).tolist() == [2 * 3 - 1 * 2 - 0.5]
    assert two.n_vectors == 2


def test_no_vectors_leaves_the_bias():
    empty = KernelMachine(np.empty((0, 3)), [], 0.25, Linear())
    assert empty.decision_function(np.ones((2, 3))).tolist() == [-0.25, -0.25]


def test_frozen_and_stored_without_what_can_be_computed_again():
    read = KernelMachine(X[:5], np.ones(5), 0.0, RBF(1.0))
    with pytest.raises(AttributeError):
        read.bias = 2.0
    before = read.decision_function(X, np.float32)
    again = pickle.loads(pickle.dumps(read))
    assert set(vars(again)) == {"vectors", "beta", "bias", "kernel"}
    np.testing.assert_array_equal(again.decision_function(X, np.float32), before)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: KernelMachine.from_estimator(SVC()), NotFittedError, "not fitted"),
        (
            lambda: KernelMachine.from_estimator(RandomForestClassifier(2).fit(X, Y)),
            TypeError,
            "RandomForestClassifier",
        ),
        (
            lambda: KernelMachine.from_estimator(SVC().fit(X, np.arange(120) % 3)),
            ValueError,
            "pairwise",
        ),
        (lambda: KernelMachine(X, np.ones(3), 0.0, Linear()), ValueError, "beta"),
        (lambda: KernelMachine(X, np.ones(120), 0.0, "rbf"), TypeError, "kernel"),
        (
            lambda: KernelMachine(X, np.ones(120), 0.0, RBF(1.0)).decision_function(X[:, :2]),
            ValueError,
            "columns",
        ),
    ],
)
def test_bad_input_says_what_to_do(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_a_callable_svc_that_lost_its_rows_fails_clearly():
    svc = SVC(kernel=RBF(0.5)).fit(X, Y)
    del svc.__dict__["_BaseLibSVM__Xfit"]
    with pytest.raises(ValueError, match="Fit it again"):
        KernelMachine.from_estimator(svc)


def test_fisher_separates_and_weighs_every_row():
    fisher = KernelFisherClassifier(RBF(0.2)).fit(X, Y)
    assert fisher.score(X, Y) > 0.9
    assert np.all(fisher.machine_.beta != 0)
    means = [fisher.decision_function(X[c == Y]).mean() for c in (0, 1)]
    np.testing.assert_allclose(means, [-1.0, 1.0], atol=1e-6)  # the bias is their midpoint


@pytest.mark.parametrize("size", [1e-27, 1e-12, 1e12, 1e27])
@pytest.mark.parametrize("n", [3, 100])
def test_float32_answers_data_of_any_size(size, n):
    rows, y = make_moons(100, noise=0.2, random_state=0)
    for svc in (SVC(), SVC(kernel=Normalized(Polynomial(2, coef0=0.0)))):
        svc.fit(rows * size, y)
        machine = KernelMachine.from_estimator(svc)
        exact = machine.decision_function(rows[:n] * size)
        single = machine.decision_function(rows[:n] * size, dtype=np.float32)
        assert single.dtype == np.float32
        np.testing.assert_allclose(single, exact, atol=1e-4)


@pytest.mark.parametrize("n", [3, 100])
def test_kernel_values_beyond_float32(n):
    rows = np.random.default_rng(0).normal(size=(100, 3)) * 1e3
    machine = KernelMachine(rows[:20], np.tile([1.0, -1.0], 10), 0.0, Polynomial(9))
    exact = machine.decision_function(rows[:n])
    assert np.abs(exact).max() > np.finfo(np.float32).max
    single = machine.decision_function(rows[:n], dtype=np.float32)
    assert np.isfinite(single).all()
    np.testing.assert_array_equal(single > 0, exact > 0)
    narrow = KernelMachine(rows[:20] / 1e3, np.tile([1.0, -1.0], 10), 0.0, Polynomial(9))
    far = rows[:n] * 1e3
    single = narrow.decision_function(far, dtype=np.float32)
    np.testing.assert_array_equal(single > 0, narrow.decision_function(far) > 0)


def test_columns_far_from_zero():
    rows, y = make_moons(200, noise=0.2, random_state=0)
    rows = rows + 1e7  # seconds, say
    svc = SVC().fit(rows, y)
    single = KernelMachine.from_estimator(svc).decision_function(rows, dtype=np.float32)
    np.testing.assert_allclose(single, svc.decision_function(rows), atol=1e-4)


def test_large_weights_that_cancel():
    """Whole numbers have exact kernel values; it is their sum that float32 cannot hold."""
    rows = np.random.default_rng(0).integers(-3, 4, size=(200, 3)).astype(float)
    beta = np.where(np.arange(200) % 2, 54321.0, -54321.0)
    beta -= np.linalg.pinv(rows.T) @ (rows.T @ beta)
    beta += rows[:, 0] / (rows[:, 0] @ rows[:, 0])
    machine = KernelMachine(rows, beta, 0.0, Linear())
    exact, single = (machine.decision_function(rows, dtype=t) for t in (None, np.float32))
    np.testing.assert_allclose(single, exact, atol=1e-3 * np.abs(exact).max())


def test_a_kernel_of_ones_own_sees_float64_unless_asked_otherwise():
    def product(A, B):
        assert A.dtype == B.dtype == np.float64
        return A @ B.T

    rows = np.array([[0.1, 0.2], [0.3, 0.4]], dtype=np.float32)
    machine = KernelMachine(rows, [1.0, -1.0], 0.0, product)
    wide = rows.astype(np.float64)
    np.testing.assert_array_equal(machine.decision_function(rows), wide @ wide.T @ [1.0, -1.0])
