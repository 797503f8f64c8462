"""Kernels against scikit-learn's, and the properties that methods rely on."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.base import clone
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel
from sklearn.svm import SVC

from kmviz.kernels import RBF, Linear, Normalized, Polynomial, diagonal, is_known, power

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(7, 4)), RNG.normal(size=(5, 4))
KERNELS = [
    Linear(),
    Polynomial(),
    Polynomial(degree=5, gamma=0.3, coef0=0.0),
    RBF(0.7),
    Normalized(Linear()),
    Normalized(Polynomial(degree=9)),
    Normalized(Polynomial(degree=2, gamma=0.5, coef0=2.0)),
    Normalized(Polynomial(degree=4, coef0=0.0)),
    Normalized(RBF(0.7)),
]


@pytest.mark.parametrize(
    ("kernel", "theirs"),
    [
        (Linear(), linear_kernel(X, Z)),
        (Polynomial(3, 0.5, 2.0), polynomial_kernel(X, Z, degree=3, gamma=0.5, coef0=2.0)),
        (RBF(0.7), rbf_kernel(X, Z, gamma=0.7)),
    ],
)
def test_values_are_those_of_scikit_learn(kernel, theirs):
    np.testing.assert_allclose(kernel(X, Z), theirs, rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
class TestEveryKernel:
    def test_diagonal_is_that_of_the_matrix(self, kernel):
        np.testing.assert_allclose(kernel.diag(X), np.diag(kernel(X, X)), rtol=1e-12)

    def test_embedded_rows_under_the_plain_kernel_give_the_same(self, kernel):
        embedded = kernel.plain(kernel.embed(X), kernel.embed(Z))
        np.testing.assert_allclose(embedded, kernel(X, Z), rtol=1e-12)

    def test_normalised_definition(self, kernel):
        scale = np.sqrt(np.outer(kernel.diag(X), kernel.diag(Z)))
        np.testing.assert_allclose(Normalized(kernel)(X, Z), kernel(X, Z) / scale, rtol=1e-9)

    def test_float32_stays_and_agrees(self, kernel):
        values = kernel(X.astype(np.float32), Z.astype(np.float32))
        assert values.dtype == np.float32
        np.testing.assert_allclose(values, kernel(X, Z), rtol=2e-4, atol=2e-5)

    def test_equal_hash_and_clone(self, kernel):
        again = eval(repr(kernel))
        assert again == kernel
        assert hash(again) == hash(kernel)
        assert clone(SVC(kernel=kernel)).kernel == kernel

    def test_immutable(self, kernel):
        with pytest.raises(AttributeError):
            kernel.gamma = 2.0

    def test_integer_pixels_do_not_overflow(self, kernel):
        pixels = np.full((1, 4), 200, dtype=np.uint8)
        np.testing.assert_allclose(
            kernel(pixels, pixels), kernel(pixels.astype(float), pixels.astype(float))
        )


def test_a_row_of_zeros_has_no_direction():
    zero = np.zeros((1, 4))
    assert Normalized(Linear())(zero, X).tolist() == [[0.0] * 7]


def test_a_subclass_inside_computes_by_itself():
    class Counting(Polynomial):
        values = 0

        def __call__(self, A, B):
            Counting.values += len(A) * len(B)
            return super().__call__(A, B)

    kernel, plain = Normalized(Counting(3)), Normalized(Polynomial(3))
    np.testing.assert_allclose(kernel(X, Z), plain(X, Z), rtol=1e-12)
    assert Counting.values == len(X) * len(Z)
    np.testing.assert_allclose(kernel.diag(X), plain.diag(X), rtol=1e-12)
    zero = Normalized(Counting(3, coef0=0.0))
    assert zero(np.zeros((1, 4)), X).tolist() == [[0.0] * len(X)]


@pytest.mark.parametrize("inner", ["rbf", rbf_kernel])
def test_normalized_takes_kernels_of_its_own_kind(inner):
    with pytest.raises(TypeError, match=r"kmviz\.kernels"):
        Normalized(inner)


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 20), st.floats(-2, 2, allow_nan=False))
def test_power_by_multiplication(degree, base):
    np.testing.assert_allclose(power(np.array([base]), degree), base**degree, rtol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RBF(0.0), "gamma"),
        (lambda: RBF("scale"), "gamma must be a positive number; got 'scale'"),
        (lambda: RBF(np.nan), "gamma"),
        (lambda: RBF(np.inf), "gamma"),
        (lambda: Polynomial(degree="cubic"), "degree"),
        (lambda: Polynomial(coef0=np.nan), "coef0"),
        (lambda: Polynomial(degree=0), "degree"),
        (lambda: Polynomial(degree=2.5), "degree"),
        (lambda: Polynomial(gamma=-1.0), "gamma"),
        (lambda: Normalized(Polynomial(coef0=-1.0)), "coef0"),
        (lambda: Linear()(X[0], Z), "2-d"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_only_the_kernels_themselves_are_known_to_loops():
    class Counting(RBF):
        pass

    assert is_known(Normalized(Polynomial()))
    assert not is_known(Counting(1.0))
    assert not is_known(Normalized(Counting(1.0)))
    assert not is_known(rbf_kernel)


def test_diagonal_of_a_callable_without_one():
    np.testing.assert_allclose(diagonal(linear_kernel, X), Linear().diag(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_row_is_near_itself_however_narrow_the_kernel(dtype):
    rows = np.random.default_rng(0).normal(size=(40, 3)).astype(dtype) * 1e4
    np.testing.assert_allclose(RBF(1e6)(rows, rows), np.eye(40), atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_rbf_of_rows_whose_squares_overflow_is_a_number(dtype):
    large = np.finfo(dtype).max / 4
    X = np.array([[large, 0.0], [-large, 1.0], [0.0, 1.0], [1.0, 1.0]], dtype=dtype)
    values = RBF(0.5)(np.repeat(X, 3, axis=0), X)
    expected = np.eye(4)
    expected[2, 3] = expected[3, 2] = np.exp(-0.5)
    np.testing.assert_allclose(values[::3], expected, rtol=1e-6)
    np.testing.assert_allclose(RBF(0.5)(X, X[2:]), expected[:, 2:], rtol=1e-6)


def test_an_rbf_tells_rows_apart_that_lie_one_rounding_apart():
    x = np.array([[-5.6e99, -1.1e100]])
    near = np.nextafter(x, np.inf)
    others = np.concatenate([near, x, x * 300])
    np.testing.assert_array_equal(RBF(1e-6)(x, others), [[0.0, 1.0, 0.0]])
    np.testing.assert_array_equal(RBF(1e-6)(x, near), [[0.0]])
