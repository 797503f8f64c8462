"""Labels under a certificate against libsvm's, and bounds against sums in extended precision.

A machine is drawn with what breaks rounding: columns of wide spread, many of them, large C, high
degrees, weights that cancel. Queries are bisected onto its boundary. FULL=1 draws many more.
"""

import os
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC

from kmviz import AnytimeClassifier, ExactClassifier, NSVClassifier
from kmviz.machines import KernelMachine, rounding_error
from kmviz.machines.shared import SharedMachines

FULL = bool(os.environ.get("FULL"))
WIDE = np.longdouble
needs_more = pytest.mark.skipif(
    np.finfo(WIDE).eps > 1e-18, reason="no type wider than float64 here to compare with"
)
drawn = settings(
    max_examples=400 if FULL else 25,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


@st.composite
def trained(draw, kernels=("rbf", "poly", "linear"), degrees=range(1, 13)):
    """An SVC, and queries on both sides of its boundary, from far off to the last bit."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    d = draw(st.sampled_from([2, 3, 12, 60, 257, 784, 5_000, 100_000] if FULL else [2, 3, 60, 257]))
    n = 24 if d > 1_000 else draw(st.sampled_from([24, 60, 150]))
    X = rng.normal(size=(n, d))
    flat = draw(st.booleans())
    if flat:  # a few bright columns on flat rows
        X = 1.0 + 1e-3 * X
        X[np.arange(n), rng.integers(d, size=n)] += 30.0 * rng.normal(size=n)
    X *= 10.0 ** (draw(st.floats(0.0, 6.0)) * (rng.random(d) < 2.0 / d))
    X[n // 2 :] = X[: n - n // 2] + rng.normal(size=(n - n // 2, d)) * draw(st.floats(0.01, 1.0))
    y = np.where(rng.random(n) < 0.5, "a", "b")
    y[:2] = "a", "b"
    kernel = draw(st.sampled_from(kernels))
    gamma = draw(st.sampled_from([0.5, 0.5 / d, "scale"])) if kernel == "rbf" else "scale"
    svc = SVC(
        kernel=kernel, C=10.0 ** draw(st.floats(-3.0, 8.0)), gamma=gamma, max_iter=3_000,
        degree=draw(st.sampled_from(degrees)), coef0=draw(st.sampled_from([0.0, 1.0])),
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        svc.fit(X, y)
    return svc, onto_boundary(svc, X, rng)


def onto_boundary(svc, X, rng):
    """Pairs of rows that the SVC labels differently, ever nearer to each other."""
    some = rng.integers(len(X), size=(2, 12))
    low, high = X[some[0]], X[some[1]]
    side = svc.predict(low)
    kept = side != svc.predict(high)
    low, high, side = low[kept], high[kept], side[kept]
    found = [X[:8]]
    for step in range(54):
        if not len(low):
            break
        middle = 0.5 * (low + high)
        same = svc.predict(middle) == side
        low[same], high[~same] = middle[same], middle[~same]
        if step % 9 == 8:
            found += [low.copy(), high.copy()]
    return np.concatenate(found)


def true_outputs(machine, X):
    """f in extended precision, with how far libsvm's own rounding may be from it."""
    kind, gamma, coef0, degree = machine.kernel.code
    beta, vectors = machine.beta.astype(WIDE), machine.vectors.astype(WIDE)
    f, own, (m, d) = np.empty(len(X), WIDE), np.empty(len(X), WIDE), vectors.shape
    u = WIDE(2.0**-53)
    for i, x in enumerate(X.astype(WIDE)):
        if kind == 2:
            exponent = WIDE(gamma) * ((x - vectors) ** 2).sum(axis=1)
            value = np.exp(-exponent)
            lost = value * ((d + 4) * exponent + 4)
        else:
            terms = WIDE(gamma) * (x * vectors)
            base, size = terms.sum(axis=1) + WIDE(coef0), np.abs(terms).sum(axis=1) + abs(coef0)
            value = base**degree
            lost = degree * np.abs(base) ** (degree - 1) * (d + 4) * size + degree * np.abs(value)
        f[i] = beta @ value - WIDE(machine.bias)
        own[i] = u * (np.abs(beta) @ (lost + (m + 2) * np.abs(value)) + (m + 2) * abs(machine.bias))
    return f, 1.1 * own


def assert_labels_are_libsvms(svc, rows, answer):
    """In a batch and one by one, but where libsvm's own rounding decides."""
    machine = KernelMachine.from_estimator(svc)
    f, own = true_outputs(machine, rows)
    want, counts = svc.predict(rows), np.abs(f) > own
    alone = np.concatenate([answer(x[None]) for x in rows])
    for found in (answer(rows), answer(np.repeat(rows, 5, axis=0))[::5], alone):
        np.testing.assert_array_equal(found[counts], want[counts])


@needs_more
@drawn
@given(trained())
def test_exact_labels_are_libsvms(made):
    svc, rows = made
    for dtype in ("float32", "float64"):
        exact = ExactClassifier(FrozenEstimator(svc), dtype=dtype).fit(rows)
        assert_labels_are_libsvms(svc, rows, exact.predict)


ORDERS = ("min_wz", "given", "sgma", "min_wz_n", "mean_lh_n", "hybrid")


@needs_more
@drawn
@given(trained(("rbf", "poly")), st.sampled_from(ORDERS))
def test_anytime_labels_are_libsvms(made, order):
    svc, rows = made
    bounds = AnytimeClassifier(FrozenEstimator(svc), order=order, random_state=0).fit(rows)
    assert_labels_are_libsvms(svc, rows, bounds.predict)


@needs_more
@drawn
@given(trained(("poly",), degrees=(2,)))
def test_spectral_labels_are_libsvms(made):
    svc, rows = made
    bounds = AnytimeClassifier(FrozenEstimator(svc), order="spectral").fit(rows)
    assert_labels_are_libsvms(svc, rows, bounds.predict)


@needs_more
@drawn
@given(trained(("rbf", "poly")), st.sampled_from(("empty", "approximate", "reduced")))
def test_nearest_vectors_within_an_infinite_margin_are_libsvms(made, start):
    svc, rows = made
    frozen = FrozenEstimator(svc)
    nearest = NSVClassifier(frozen, start=start, margin=np.inf, random_state=0).fit(rows)
    assert_labels_are_libsvms(svc, rows, nearest.predict)


@needs_more
@drawn
@given(trained())
def test_float64_is_as_near_as_the_bound_says(made):
    svc, rows = made
    machine = KernelMachine.from_estimator(svc)
    f, _ = true_outputs(machine, rows)
    error = rounding_error(machine, rows)
    assert (np.abs(SharedMachines([machine]).outputs(rows, wide=True)[:, 0] - f) <= error).all()
    sign = 1 if svc.classes_[1] == "b" else -1
    assert (np.abs(sign * svc.decision_function(rows) - f) <= error).all()
    assert (error <= 1e-9 * (np.abs(f) + error.max() / 1e-9)).all()


@needs_more
@drawn
@given(trained())
def test_float32_is_as_near_as_the_bound_says(made):
    svc, rows = made
    shared = SharedMachines([KernelMachine.from_estimator(svc)])
    if not shared._fits or shared._slopes is not None:
        return
    f, _ = true_outputs(shared.machines[0], rows)
    with np.errstate(all="ignore"):
        output, error, _ = shared._of_dense(np.repeat(rows, 3, axis=0))
    off = np.abs(output[::3, 0] - f)
    assert (off <= error[::3, 0])[np.isfinite(output[::3, 0])].all()


@pytest.mark.parametrize("d", [255, 256, 257, 258, 301, 512, 513, 515, 1_001, 1_025])
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_columns_that_fill_no_last_block_are_added_up_once(d, kernel):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(60, d))
    svc = SVC(kernel=kernel, coef0=1.0).fit(X, X[:, 0] > 0)
    rows = rng.normal(size=(50, d))
    shared = SharedMachines([KernelMachine.from_estimator(svc)])
    found = shared.outputs(rows)[:, 0]
    np.testing.assert_allclose(found, svc.decision_function(rows), atol=1e-3)


def test_an_income_beside_ordinary_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)) * [1.0, 1.0, 7.5e5]
    X[:, 2] = np.where(rng.random(400) < 0.5, np.round(X[:, 2] / 2e5) * 2e5, X[:, 2])
    y = X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=400) > 0
    svc = SVC(gamma=0.5, C=1e5).fit(X, y)
    i, j = rng.integers(400, size=(2, 20_000))
    queries = np.column_stack([X[i, :2] + 0.5 * X[j, :2], X[i, 2] + 0.3 * X[j, 0]])
    exact = ExactClassifier(FrozenEstimator(svc)).fit(X)
    np.testing.assert_array_equal(exact.predict(queries), svc.predict(queries))
    np.testing.assert_array_equal(exact.exact_function(queries) > 0, svc.predict(queries))
