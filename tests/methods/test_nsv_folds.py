"""Folds trained on parts of one matrix are the machines that training row by row gives."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.svm import SVC, LinearSVC, NuSVC

from kmviz import NSVClassifier
from kmviz.kernels import RBF, Normalized, Polynomial
from kmviz.machines.reading import read_binary
from kmviz.methods.nsv import folds
from kmviz.methods.nsv.linear_filter import filter_of_products, train_filter

PIXELS, DIGITS = load_digits(return_X_y=True)
PAIR = np.isin(DIGITS, (3, 8))
X, Y = PIXELS[PAIR] / 16, np.where(DIGITS[PAIR] == 8, 1, -1)
FOLDS = [np.flatnonzero(np.arange(len(Y)) % 3 != part) for part in range(3)]


@pytest.mark.parametrize(
    "svc",
    [
        SVC(),
        SVC(gamma=0.3, C=20.0, class_weight="balanced"),
        SVC(kernel="poly", degree=4, coef0=1.0),
        SVC(kernel="linear", C=0.1),
        SVC(kernel=Normalized(Polynomial(9)), C=10.0),
        SVC(kernel=RBF(0.05)),
        NuSVC(nu=0.2),
    ],
    ids=["scale", "balanced", "poly", "linear", "normalised", "own rbf", "nu"],
)
def test_the_same_machine_comes_out(svc, monkeypatch):
    assert folds.shares_products(svc, X)
    shifted = X + 3.0  # a kernel of distances does not see it
    solved = list(folds.train_folds(svc, shifted, Y, FOLDS))
    monkeypatch.setattr(folds.Products, "_solved", lambda *_: None)
    by_libsvm = folds.train_folds(svc, shifted, Y, FOLDS)
    for fold, one, found in zip(FOLDS, solved, by_libsvm, strict=True):
        plain = read_binary(type(svc)(**svc.get_params()).fit(shifted[fold], Y[fold]))
        np.testing.assert_array_equal(found.vectors, plain.vectors)
        np.testing.assert_allclose(found.beta, plain.beta, rtol=1e-5, atol=1e-7)
        assert found.bias == pytest.approx(plain.bias, rel=1e-5, abs=1e-7)
        for kernel in (found.kernel, one.kernel):
            assert type(kernel) is type(plain.kernel)
            assert kernel.plain.code == pytest.approx(plain.kernel.plain.code, rel=1e-12)
        outputs, wanted = (machine.decision_function(shifted) for machine in (one, plain))
        np.testing.assert_allclose(outputs, wanted, rtol=0, atol=3 * svc.tol)


def test_a_solver_that_does_not_end_leaves_the_fold_to_libsvm(monkeypatch):
    shared = folds.products_of(SVC(), X, Y)
    assert shared._solved(FOLDS[0], RBF(0.05)) is not None
    monkeypatch.setattr(folds, "STEPS", 0)
    assert shared._solved(FOLDS[0], RBF(0.05)) is None
    assert shared.train(FOLDS[0]).machine.n_vectors > 0
    for other in (SVC(class_weight="balanced"), SVC(max_iter=9), NuSVC()):
        assert folds.products_of(other, X, Y)._solved(FOLDS[0], RBF(0.05)) is None
    assert folds.products_of(SVC(), 1e3 * X, Y)._solved(FOLDS[0], Polynomial(3)) is None


@pytest.mark.parametrize(
    "svc", [LinearSVC(), SVC(kernel=lambda A, B: A @ B.T)], ids=["other", "own"]
)
def test_what_has_no_known_products_is_trained_as_it_is(svc):
    assert not folds.shares_products(svc, X)


def test_rows_of_other_classes_stand_between():
    rows = np.insert(X, np.arange(0, len(X), 2), 7.0, axis=0)
    y = np.insert(Y, np.arange(0, len(Y), 2), 0)
    own = np.flatnonzero(y)
    (found,) = folds.train_folds(SVC(), rows, y, [own])
    plain = read_binary(SVC().fit(X, Y))
    np.testing.assert_allclose(
        found.decision_function(X), plain.decision_function(X), rtol=0, atol=3e-3
    )


def test_a_matrix_beyond_the_room_is_not_made(monkeypatch):
    assert folds.shares_products(SVC(), X[:, :8])
    monkeypatch.setattr(folds, "MOST_BYTES", 1000)
    assert not folds.shares_products(SVC(), X)


def test_both_ways_calibrate_alike(monkeypatch):
    shared = NSVClassifier(SVC(C=10.0), random_state=0).fit(X[:200], Y[:200])
    monkeypatch.setattr(folds, "MOST_BYTES", 0)
    apart = NSVClassifier(SVC(C=10.0), random_state=0).fit(X[:200], Y[:200])
    np.testing.assert_allclose(shared.high_, apart.high_, rtol=1e-2)
    np.testing.assert_array_equal(shared.predict(X), apart.predict(X))


def test_a_filter_of_products_is_the_filter_of_the_rows():
    exact = 1.5 * Y
    weights, bias = train_filter(X, Y, exact)
    moved = X - 2.0
    (found, at), start = filter_of_products(moved @ moved.T, X, Y, exact)
    scale = np.abs(X @ weights - bias).max()
    np.testing.assert_allclose(X @ found - at, X @ weights - bias, atol=1e-3 * scale)
    (again, _), rows = filter_of_products(moved @ moved.T, X, Y, exact, start)
    np.testing.assert_allclose(again, found, rtol=1e-9)
    np.testing.assert_allclose(rows, start, rtol=1e-9, atol=1e-12)
    assert filter_of_products(moved @ moved.T, X, np.ones(len(X)), exact)[0] is None


@pytest.mark.parametrize("n_columns", [64, 8], ids=["long", "short"])
def test_folds_with_a_filter_are_those_without_and_a_filter(n_columns):
    rows = X[:, 20 : 20 + n_columns] if n_columns < 64 else X
    shared = folds.products_of(SVC(), rows, Y)
    for fold in FOLDS:
        trained = shared.train(fold, linear_filter=True)
        outputs = trained.machine.decision_function(rows[fold])
        weights, bias = train_filter(rows[fold], Y[fold], outputs)
        said, plain = (rows @ w - b for w, b in (trained.linear, (weights, bias)))
        np.testing.assert_allclose(said, plain, atol=1e-3 * np.abs(plain).max())


@pytest.mark.parametrize("svc", [SVC(), SVC(kernel=Normalized(Polynomial(9)))], ids=["rbf", "poly"])
def test_kernel_values_of_the_rows_left_out_are_the_machines(svc):
    left_out = np.setdiff1d(np.arange(len(Y)), FOLDS[0])
    found = folds.products_of(svc, X, Y).train(FOLDS[0], left_out=left_out)
    K = found.machine.kernel(X[left_out], found.machine.vectors)
    np.testing.assert_allclose(found.values, K, atol=1e-5)


@pytest.mark.parametrize(
    "svc",
    [
        SVC(),
        SVC(C=100.0, gamma=300.0),  # too narrow for distances from products
        SVC(kernel="poly", degree=2, coef0=1.0),
        SVC(kernel=RBF(2.0)),
        SVC(gamma=1e6),  # too narrow for float32
        NuSVC(nu=0.2),
    ],
    ids=["scale", "narrow", "poly", "own rbf", "libsvm", "nu"],
)
def test_short_rows_give_the_same_machine(svc):
    rows = X[:, 18:22] + 3.0
    found = list(folds.train_folds(svc, rows, Y, FOLDS))
    for fold, one in zip(FOLDS, found, strict=True):
        plain = read_binary(type(svc)(**svc.get_params()).fit(rows[fold], Y[fold]))
        outputs, wanted = (machine.decision_function(rows) for machine in (one, plain))
        np.testing.assert_allclose(outputs, wanted, rtol=0, atol=3 * svc.tol)


@pytest.mark.parametrize("n_columns", [64, 8], ids=["long", "short"])
@pytest.mark.parametrize("size", [1e-27, 1e15], ids=["tiny", "large"])
def test_rows_of_any_size_give_the_same_machine(n_columns, size):
    rows = X[:, 20 : 20 + n_columns] if n_columns < 64 else X
    (plain,), (found,) = (
        folds.train_folds(SVC(), factor * rows, Y, FOLDS[:1]) for factor in (1.0, size)
    )
    wanted, outputs = (m.decision_function(f * rows) for m, f in ((plain, 1.0), (found, size)))
    np.testing.assert_allclose(outputs, wanted, rtol=0, atol=3e-3)


def test_a_kernel_too_narrow_for_float32_is_left_to_libsvm():
    shared = folds.products_of(SVC(), X, Y)
    assert shared._solved(FOLDS[0], RBF(50.0)) is None
    assert shared.train(FOLDS[0], left_out=FOLDS[0]).values is not None
    narrow = folds.products_of(SVC(gamma=50.0), X, Y).train(FOLDS[0], left_out=FOLDS[0])
    assert narrow.values is None
