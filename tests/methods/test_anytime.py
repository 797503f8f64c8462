"""Anytime bounds: what the paper guarantees, and what its equations say."""

from math import ceil

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification, make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils._param_validation import InvalidParameterError
from sklearn.utils.estimator_checks import parametrize_with_checks

import kmviz
from kmviz import AnytimeClassifier, datasets
from kmviz.kernels import RBF, Linear, Normalized, Polynomial
from kmviz.machines import KernelFisherClassifier, KernelMachine
from kmviz.machines.as_svc import as_svc
from kmviz.methods.anytime.basis import OWN, WIDER, candidates, ordered
from kmviz.methods.anytime.cholesky import CholeskyEngine
from kmviz.methods.progress import listening

ORDERS = (*OWN, *WIDER)
QUADRATIC = Normalized(Polynomial(degree=2))
X, Y = make_moons(150, noise=0.25, random_state=0)
QUERIES = make_moons(80, noise=0.4, random_state=1)[0]


@parametrize_with_checks(
    [
        AnytimeClassifier(),
        AnytimeClassifier(order="hybrid", random_state=0),
        AnytimeClassifier(share=0.5, random_state=0),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def fitted(order="min_wz", kernel=QUADRATIC, **params):
    svc = SVC(kernel=kernel, C=params.pop("C", 2.0)).fit(X, Y)
    return AnytimeClassifier(FrozenEstimator(svc), order=order, random_state=0, **params).fit(X)


@pytest.mark.parametrize("order", [*ORDERS, "spectral"])
def test_every_order_certifies_the_exact_sign(order):
    clf = fitted(order)
    exact = clf.machine_.decision_function(QUERIES)
    lower, upper = clf.bounds(QUERIES)
    scale = np.abs(exact).max()
    assert (lower <= exact[:, None] + 1e-9 * scale).all()
    assert (upper >= exact[:, None] - 1e-9 * scale).all()
    assert (np.diff(upper - lower, axis=1) <= 1e-12 * scale).all()
    np.testing.assert_array_equal(clf.predict(QUERIES), clf.estimator_.predict(QUERIES))
    first = np.argmax((lower > 0) | (upper < 0), axis=1)
    certain = ((lower > 0) | (upper < 0)).any(axis=1)
    np.testing.assert_array_equal(clf.steps(QUERIES)[certain], first[certain])


@pytest.mark.parametrize("order", [*ORDERS, "spectral"])
def test_trace_ends_where_the_decision_function_ends(order):
    clf = fitted(order)
    output, steps = clf.decision_function(QUERIES), clf.steps(QUERIES)
    lower, upper = clf.bounds(QUERIES)
    for i in range(10):
        trace = clf.trace(QUERIES[i])
        frame = trace.to_frame()
        assert trace.output == pytest.approx(output[i], rel=1e-12, abs=1e-12)
        assert trace.exact == pytest.approx(clf.machine_.decision_function(QUERIES)[i], rel=1e-9)
        assert trace.stop == min(steps[i], len(frame) - 1)
        assert len(frame) == lower.shape[1]
        np.testing.assert_allclose(trace.lower, lower[i], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(trace.upper, upper[i], rtol=1e-9, atol=1e-9)
        assert trace.partial[0] == pytest.approx(-clf.machine_.bias)
        assert np.sign(trace.output) == np.sign(trace.exact)


@pytest.mark.parametrize("order", ["given", "min_wz", "hybrid"])
def test_gap_is_the_product_of_the_two_residuals(order):
    clf = fitted(order)
    for x in QUERIES[:10]:
        trace = clf.trace(x)
        rest = np.sqrt(clf.w_y_**2 + clf.w_z_**2)
        np.testing.assert_allclose(trace.w_rest, rest, rtol=1e-6, atol=1e-6)
        product = np.sqrt(trace.residual_sq) * trace.w_rest
        engine = clf.engines_[0]
        length = np.sqrt(clf.machine_.kernel.diag(x[None]))
        rounding = engine.round_off * length + engine.bias_lost
        assert (rounding <= 1e-5 * trace.gap[0]).all()
        np.testing.assert_allclose(trace.gap, product + rounding, rtol=1e-9, atol=1e-9)


def test_gap_is_that_of_equations_21_to_23():
    clf = fitted("given", RBF(0.7))
    trace = clf.trace(QUERIES[0])
    residual, w_y, w_z = trace.residual_sq, clf.w_y_, clf.w_z_
    total = np.maximum(w_y**2 + w_z**2, 1e-300)
    q_y = np.sqrt(residual * w_y**2 / total)
    q_z = np.sqrt(np.maximum(residual - q_y**2, 0.0))
    np.testing.assert_allclose(trace.gap, np.abs(w_y * q_y) + np.abs(w_z * q_z), atol=1e-6)


@pytest.mark.parametrize("order", OWN)
def test_all_vectors_in_the_basis_leave_no_gap(order):
    clf = fitted(order, RBF(0.7))
    lower, upper = clf.bounds(QUERIES)
    assert lower.shape == (80, clf.machine_.n_vectors + 1)
    assert (upper - lower)[:, -1].max() < 1e-9
    assert clf.steps(QUERIES).max() <= clf.machine_.n_vectors
    assert sorted(clf.engines_[0].index) == list(range(clf.machine_.n_vectors))


def test_two_vectors_by_hand():
    """K(u, v) = u.v, Z_1 = (1, 0), Z_2 = (1, 1), W = 2 Z_1 - Z_2 = (1, -1), b = 0.5, x = (3, 1)."""
    machine = KernelMachine([[1.0, 0.0], [1.0, 1.0]], [2.0, -1.0], 0.5, Linear())
    among = candidates(machine, "given", 0.0, machine.vectors, None)
    basis = ordered(machine, "given", 2, among, machine.vectors, None)
    engine = CholeskyEngine(machine, basis, jitter=0.0)
    np.testing.assert_allclose(engine.factor, [[1, 0], [1, 1]], atol=1e-9)  # V'
    np.testing.assert_allclose(engine.w_coords, [1, -1], atol=1e-9)
    np.testing.assert_allclose(engine.w_rest, [np.sqrt(2), 1, 0], atol=1e-6)
    trace = engine.trace(np.array([3.0, 1.0]))
    np.testing.assert_allclose(trace.q_coords, [0, 3, 1], atol=1e-9)
    np.testing.assert_allclose(trace.residual_sq, [10, 1, 0], atol=1e-9)
    np.testing.assert_allclose(trace.partial, [-0.5, 2.5, 1.5], atol=1e-9)
    np.testing.assert_allclose(trace.gap, [np.sqrt(20), 1, 0], atol=1e-6)
    assert trace.stop == 1
    assert trace.output == pytest.approx(2.5)
    assert trace.exact == pytest.approx(1.5)


@pytest.mark.parametrize("jitter", [0.0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4])
@pytest.mark.parametrize("kernel", [RBF(0.5), Polynomial(degree=3), Linear()], ids=repr)
def test_bounds_hold_for_every_jitter(jitter, kernel):
    clf = fitted("min_wz", kernel, jitter=jitter, C=1000.0 if kernel == RBF(0.5) else 1.0)
    exact = clf.machine_.decision_function(QUERIES)[:, None]
    lower, upper = clf.bounds(QUERIES)
    slack = 1e-9 * np.maximum(np.abs(exact), 1.0)
    assert (lower <= exact + slack).all()
    assert (exact - slack <= upper).all()


def test_sonar_row_of_table_2():
    """DeCoste (2003), table 2, rows 5 and 11: m = 165, k 1, 47.7, 45, 140."""
    sonar = datasets.load("sonar", whole=True)
    kernel = Normalized(Polynomial(degree=2, gamma=1, coef0=1))
    clf = AnytimeClassifier(SVC(kernel=kernel, C=1), order="given")
    clf.fit(sonar.X_train, sonar.y_train)
    steps = clf.steps(sonar.X_train)
    assert clf.machine_.n_vectors == 165
    assert 47.6 <= steps.mean() <= 47.7
    assert (steps.min(), np.median(steps), steps.max()) == (1, 45, 140)


def test_max_steps_switches_to_the_exact_sum():
    free, auto, held = (fitted("given", RBF(0.7), max_steps=limit) for limit in (None, "auto", 3))
    m = free.machine_.n_vectors
    limit = int(np.sqrt(2 * m))
    assert auto.bounds(QUERIES)[0].shape[1] == limit + 1
    assert held.bounds(QUERIES)[0].shape[1] == 4
    for clf, last in ((auto, limit), (held, 3)):
        late = free.steps(QUERIES) > last
        assert late.any()
        np.testing.assert_array_equal(clf.steps(QUERIES)[late], m)  # nothing is asked twice
        np.testing.assert_array_equal(clf.steps(QUERIES)[~late], free.steps(QUERIES)[~late])
        exact = clf.machine_.decision_function(QUERIES)
        np.testing.assert_allclose(clf.decision_function(QUERIES)[late], exact[late], rtol=1e-12)


def test_interval_is_what_a_deadline_leaves():
    clf = fitted("min_wz_n", RBF(0.7), max_steps=20)
    lower, upper = clf.bounds(QUERIES)
    for steps in (0, 1, 7, 20, 30):
        low, high = clf.decision_interval(QUERIES, steps)
        np.testing.assert_allclose(low, lower[:, min(steps, 20)], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(high, upper[:, min(steps, 20)], rtol=1e-9, atol=1e-9)
    low, high = clf.decision_interval(QUERIES, 20 + clf.engines_[0].missing[-1])
    np.testing.assert_allclose(low, clf.machine_.decision_function(QUERIES))
    np.testing.assert_array_equal(low, high)
    for bad in (-1, 2.5, "3"):
        with pytest.raises(ValueError, match="steps must be a whole number"):
            clf.decision_interval(QUERIES, bad)


class Counting:
    """Counts the kernel values asked of it."""

    values = 0

    def __call__(self, A, B):
        Counting.values += len(A) * len(B)
        return super().__call__(A, B)


class CountingRBF(Counting, RBF):
    pass


class CountingQuadratic(Counting, Polynomial):
    pass


class CountingNormalized(Counting, Normalized):
    pass


COUNTING = {
    "rbf": CountingRBF(0.7),
    "quadratic": CountingQuadratic(degree=2, gamma=0.5),
    "normalized": CountingNormalized(Polynomial(degree=2)),
}


@pytest.mark.parametrize("max_steps", [None, 5])
@pytest.mark.parametrize("order", [*ORDERS, "spectral"])
@pytest.mark.parametrize("kernel", COUNTING)
def test_steps_are_what_a_counting_kernel_counts(order, kernel, max_steps):
    if order == "spectral" and kernel == "rbf":
        kernel = "normalized"
    clf = fitted(order, COUNTING[kernel], max_steps=max_steps)
    steps = clf.steps(QUERIES)
    Counting.values = 0
    clf.predict(QUERIES)
    assert Counting.values == steps.sum()
    for i in range(12):
        Counting.values = 0
        clf.decision_function(QUERIES[i : i + 1])
        assert Counting.values == steps[i]
    Counting.values = 0
    clf.decision_interval(QUERIES, 5)
    assert Counting.values == min(5, clf.engines_[0].n_steps) * len(QUERIES)


def test_a_function_that_counts_pays_for_its_diagonal():
    counted = []

    def kernel(A, B):
        counted.append(len(A) * len(B))
        return RBF(0.7)(A, B)

    kernel.is_mercer = True
    clf = fitted("min_wz", kernel)
    steps = clf.steps(QUERIES)
    counted.clear()
    clf.predict(QUERIES)
    assert sum(counted) == steps.sum()
    np.testing.assert_array_equal(steps, fitted("min_wz", RBF(0.7)).steps(QUERIES) + 1)


def test_counting_kernels_walk_the_compiled_path():
    for order in (*ORDERS, "spectral"):
        plain, fast = fitted(order, COUNTING["normalized"]), fitted(order, QUADRATIC)
        np.testing.assert_array_equal(plain.steps(QUERIES), fast.steps(QUERIES))
        np.testing.assert_allclose(
            plain.decision_function(QUERIES), fast.decision_function(QUERIES), rtol=1e-7, atol=1e-9
        )


@pytest.mark.parametrize("order", ["given", "hybrid"])
def test_the_exact_sum_asks_for_nothing_twice(order):
    """Waveform, where few queries are decided early: at most m values beside rows not its own."""
    data = datasets.load("waveform")
    clf = AnytimeClassifier(SVC(gamma=0.05), order=order, max_steps=70, random_state=0)
    clf.fit(data.X_train[:400], data.y_train[:400])
    m, steps = clf.machine_.n_vectors, clf.steps(data.X_test[:200])
    others = np.count_nonzero(clf.engines_[0].index < 0)
    assert m > 200
    assert (steps > 70).mean() > 0.9
    assert steps.max() == m + others
    np.testing.assert_array_equal(
        clf.predict(data.X_test[:200]), clf.estimator_.predict(data.X_test[:200])
    )


def test_a_fit_to_fewer_steps_is_the_beginning_of_a_longer_one():
    for order in (*ORDERS, "spectral"):
        whole = fitted(order, QUADRATIC)
        short = fitted(order, QUADRATIC, max_steps=2)
        cut = whole.cut(2)
        assert cut.get_params().keys() == short.get_params().keys()
        assert cut.max_steps == short.max_steps == 2
        assert cut.overhead_ == short.overhead_
        for name in ("decision_function", "steps"):
            np.testing.assert_array_equal(
                getattr(cut, name)(QUERIES), getattr(short, name)(QUERIES)
            )
        for ours, theirs in zip(cut.bounds(QUERIES), short.bounds(QUERIES)):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12)
        for bad in (0, 2.5, "auto"):
            with pytest.raises(ValueError, match="max_steps must be a whole number"):
                whole.cut(bad)


def test_a_reading_holds_the_interval_where_a_query_stopped():
    clf = fitted("min_wz", RBF(0.7))
    study = clf.study(QUERIES)
    lower, upper = clf.bounds(QUERIES)
    stop, rows = clf.steps(QUERIES), np.arange(len(QUERIES))
    for limit in (1, 4, clf.machine_.n_vectors):
        reading, at = study.read(max_steps=limit), np.minimum(stop, limit)
        np.testing.assert_allclose(reading.lower, lower[rows, at], atol=1e-9)
        np.testing.assert_allclose(reading.upper, upper[rows, at], atol=1e-9)
        np.testing.assert_array_equal(reading.decided, stop <= limit)
        assert reading.agrees.all()


def test_a_kernel_that_must_be_asked_is_studied_too():
    clf, asked = fitted("min_wz", RBF(0.7)), fitted("min_wz", COUNTING["rbf"])
    for limit in (None, 1, 5):
        ours, theirs = (
            asked.study(QUERIES).read(max_steps=limit),
            clf.study(QUERIES).read(max_steps=limit),
        )
        np.testing.assert_array_equal(ours.steps, theirs.steps)
        np.testing.assert_array_equal(ours.decided, theirs.decided)
        np.testing.assert_allclose(ours.lower, theirs.lower, atol=1e-8)
        held = asked.study(QUERIES).classifier(max_steps=limit)
        np.testing.assert_array_equal(ours.steps, held.steps(QUERIES))


def test_a_share_of_the_gap_is_a_promise_not_a_proof():
    data = datasets.load("banana")
    svc = SVC(gamma=20.0).fit(data.X_train, data.y_train)
    options = {"order": "min_wz", "random_state": 0}
    sure = AnytimeClassifier(FrozenEstimator(svc), **options).fit(data.X_train)
    quick = AnytimeClassifier(FrozenEstimator(svc), share=0.2, **options)
    quick.fit(data.X_train, X_calibration=data.X_test[:2000])
    assert sure.promise_.rows == 0
    assert sure.promise_.rate == 0.0
    promise, queries = quick.promise_, data.X_test[2000:]
    assert promise.rows == 2000
    assert promise.misses < 20
    assert quick.steps(queries).mean() < 0.7 * sure.steps(queries).mean()
    wrong = np.mean(quick.predict(queries) != svc.predict(queries))
    assert wrong <= 2 * promise.rate


def test_without_calibration_rows_a_quarter_is_held_out():
    clf = AnytimeClassifier(SVC(), share=0.5, random_state=0).fit(X, Y)
    assert clf.promise_.rows == ceil(len(X) / 4)
    assert clf.machine_.n_vectors < AnytimeClassifier(SVC()).fit(X, Y).machine_.n_vectors
    with pytest.raises(ValueError, match="X_calibration has 1 features"):
        AnytimeClassifier(share=0.5).fit(X, Y, X_calibration=X[:, :1])


def test_rows_that_overflow_have_infinite_bounds():
    clf = fitted("min_wz", Polynomial(degree=5))
    lower, upper = clf.bounds(np.full((1, 2), 1e49))
    assert (lower == -np.inf).all()
    assert (upper == np.inf).all()
    svc = SVC(kernel=Polynomial(degree=2)).fit(X, Y)
    svc._BaseLibSVM__Xfit = svc._BaseLibSVM__Xfit * 1e100
    with pytest.raises(ValueError, match="overflow"):
        AnytimeClassifier(FrozenEstimator(svc)).fit(X)


def test_three_vectors_do_not_make_a_kernel_a_mercer_kernel():
    rng = np.random.RandomState(0)
    for _ in range(20):
        rows = rng.randn(3, 2)
        svc = SVC(kernel=hyperbolic).fit(rows, [0, 1, 1])
        with pytest.raises(ValueError, match="vouch for yours by setting is_mercer"):
            AnytimeClassifier(FrozenEstimator(svc)).fit(rows)


def test_kernel_fisher_machine():
    fisher = KernelFisherClassifier(RBF(0.5)).fit(X, Y)
    clf = AnytimeClassifier(FrozenEstimator(fisher)).fit(X)
    assert clf.machine_.n_vectors == len(X)
    np.testing.assert_array_equal(clf.predict(QUERIES), fisher.predict(QUERIES))
    assert clf.steps(QUERIES).mean() < len(X) / 2


def test_linear_machine_has_one_vector():
    clf = AnytimeClassifier(LinearSVC(random_state=0)).fit(X, Y)
    assert (clf.steps(QUERIES) <= 1).all()
    np.testing.assert_array_equal(clf.predict(QUERIES), clf.estimator_.predict(QUERIES))


@pytest.mark.parametrize("order", ["given", "min_wz", "hybrid"])
def test_several_classes_answer_as_the_exact_machines_do(order):
    rows, y = load_iris(return_X_y=True)
    train, test = rows[::2], rows[1::2]
    clf = AnytimeClassifier(SVC(C=5.0), order=order, random_state=0).fit(train, y[::2])
    exact = np.column_stack([machine.decision_function(test) for machine in clf.machines_])
    lower, upper = clf.bounds(test)
    assert lower.shape[:2] == (len(test), 3)
    assert (lower <= exact[..., None] + 1e-9).all()
    assert (exact[..., None] <= upper + 1e-9).all()
    low, high = clf.decision_interval(test, 4)
    assert low.shape == high.shape == (len(test), 3)
    expected = kmviz.ExactClassifier(FrozenEstimator(clf.estimator_)).fit(train).predict(test)
    np.testing.assert_array_equal(clf.predict(test), expected)
    assert clf.decision_function(test).shape == (len(test), 3)
    assert clf.trace(test[0], pair=(0, 2)).exact == pytest.approx(exact[0, 1])


@pytest.mark.parametrize("breaks", [False, True])
def test_tied_votes_are_broken_as_the_machine_breaks_them(breaks):
    rows, y = make_classification(
        400, n_features=4, n_informative=4, n_redundant=0, n_classes=4, class_sep=0.5,
        n_clusters_per_class=1, random_state=0,
    )  # fmt: skip
    svc = SVC(C=3.0, break_ties=breaks).fit(rows[:200], y[:200])
    clf = AnytimeClassifier(FrozenEstimator(svc)).fit(rows[:200])
    np.testing.assert_array_equal(clf.predict(rows[200:]), svc.predict(rows[200:]))
    by_sums = svc.decision_function(rows[200:]).argmax(axis=1)
    assert (clf.predict(rows[200:]) == by_sums).all() == breaks


def test_spectral_on_plain_and_homogeneous_kernels():
    for kernel in (
        Polynomial(2, 0.7, 0.3),
        Polynomial(2, 1.0, 0.0),
        Normalized(Polynomial(2, 2.0, 0.0)),
    ):
        clf = fitted("spectral", kernel)
        exact = clf.machine_.decision_function(QUERIES)
        lower, upper = clf.bounds(QUERIES)
        assert lower.shape[1] <= 4
        assert (lower <= exact[:, None]).all()
        assert (exact[:, None] <= upper).all()
        np.testing.assert_allclose((lower + upper)[:, -1] / 2, exact, rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(clf.predict(QUERIES), clf.estimator_.predict(QUERIES))


def test_spectral_with_fewer_vectors_than_features():
    rng = np.random.RandomState(0)
    machine = KernelMachine(rng.randn(6, 40), rng.randn(6), 0.1, QUADRATIC)
    wide = KernelMachine(rng.randn(90, 40), rng.randn(90), 0.1, QUADRATIC)
    queries = rng.randn(50, 40)
    from kmviz.methods.anytime.spectral import SpectralEngine

    for one, rank in ((machine, 6), (wide, 41)):
        engine = SpectralEngine(one, 1000)
        exact = one.decision_function(queries)
        lower, upper = engine.bounds(queries)
        assert engine.n_steps == rank
        assert (lower <= exact[:, None]).all()
        assert (exact[:, None] <= upper).all()
        np.testing.assert_array_equal(engine.run(queries)[0] > 0, exact > 0)


@pytest.mark.parametrize("kind", [">f8", ">f4"])
@pytest.mark.parametrize("order", ["min_wz", "spectral"])
def test_bytes_in_another_order(order, kind):
    clf = fitted(order)
    rows = X.astype(kind)
    native = rows.astype(np.float64)
    np.testing.assert_allclose(clf.decision_function(rows), clf.decision_function(native))
    np.testing.assert_array_equal(clf.steps(rows), clf.steps(native))


def test_spectral_tells_rows_that_are_not_finite():
    clf = fitted("spectral")
    for bad in (np.nan, np.inf):
        rows = QUERIES.copy()
        rows[3, 1] = bad
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            clf.predict(rows)
    with pytest.raises(ValueError, match="features"):
        clf.predict(QUERIES[:, :1])


def test_pipeline_as_estimator_and_query_sample():
    pipe = make_pipeline(StandardScaler(), SVC())
    clf = AnytimeClassifier(pipe, order="hybrid", query_sample=QUERIES * 1.0, random_state=0)
    clf.fit(100 * X, Y)
    np.testing.assert_array_equal(clf.predict(100 * QUERIES), clf.estimator_.predict(100 * QUERIES))


def test_tuning_on_the_queries_themselves_helps():
    plain = fitted("min_wz_n", RBF(0.7)).steps(QUERIES).mean()
    tuned = fitted("mean_lh_n", RBF(0.7), query_sample=QUERIES).steps(QUERIES).mean()
    assert tuned < plain


def test_one_query_tunes_to_itself():
    """Section 4: with one row as the sample, that row comes first."""
    row = X[[7]]
    svc = SVC(kernel=RBF(2.0), C=2.0).fit(X, Y)
    clf = AnytimeClassifier(
        FrozenEstimator(svc), order="mean_lh_n", query_sample=row, random_state=0
    )
    clf.fit(row)
    np.testing.assert_array_equal(clf.basis_[0], row[0])
    assert clf.steps(row)[0] == 1


def test_random_orders_repeat_under_a_seed():
    for order in WIDER:
        first, second = fitted(order), fitted(order)
        np.testing.assert_array_equal(first.basis_, second.basis_)


@pytest.mark.parametrize(
    ("params", "named"),
    [
        ({"order": "best"}, "order"),
        ({"max_steps": 0}, "max_steps"),
        ({"max_steps": "soon"}, "max_steps"),
        ({"share": 0.0}, "share"),
        ({"share": 1.5}, "share"),
        ({"jitter": -1e-8}, "jitter"),
        ({"jitter": 0.5}, "jitter"),
        ({"query_sample": 0}, "query_sample"),
        ({"random_state": "x"}, "random_state"),
        ({"estimator": 3}, "estimator"),
    ],
)
def test_bad_parameters_are_named(params, named):
    with pytest.raises(InvalidParameterError, match=named):
        AnytimeClassifier(**params).fit(X, Y)


def test_what_cannot_be_bound_is_said():
    with pytest.raises(ValueError, match="order='spectral' needs a polynomial kernel of degree 2"):
        AnytimeClassifier(order="spectral").fit(X, Y)
    with pytest.raises(ValueError, match="Mercer"):
        fitted("given", Polynomial(degree=2, coef0=-5.0))
    with pytest.raises(ValueError, match="query_sample has 1 features"):
        AnytimeClassifier(order="hybrid", query_sample=X[:, :1]).fit(X, Y)


def hyperbolic(a, b):
    return np.tanh(a @ b.T + 1.0)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("max_steps", [None, 1])
@pytest.mark.parametrize("kernel", [hyperbolic, Polynomial(2, 1.0, -0.5)])
def test_a_kernel_that_is_no_mercer_kernel_is_refused(order, max_steps, kernel):
    with pytest.raises(ValueError, match="Mercer"):
        fitted(order, kernel, max_steps=max_steps)


def single(a, b):
    return RBF(0.5)(a.astype(np.float32), b.astype(np.float32))


single.is_mercer = True


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("order", ORDERS)
def test_a_kernel_that_computes_in_float32_is_ordered(order):
    clf = fitted(order, single)
    assert clf.steps(QUERIES).mean() < clf.machine_.n_vectors / 2


@pytest.mark.parametrize("options", [{}, {"order": "spectral"}], ids=repr)
def test_stored_and_loaded(tmp_path, options):
    clf = fitted(**options)
    kmviz.save(clf, tmp_path / "clf.skops")
    again = kmviz.load(tmp_path / "clf.skops")
    np.testing.assert_array_equal(again.decision_function(QUERIES), clf.decision_function(QUERIES))


def test_odd_rows():
    rows = np.vstack([X[:40], X[:40]])  # every row twice
    y = np.r_[Y[:40], Y[:40]]
    column, same = rows[:, :1], np.column_stack([rows, np.ones(80)])
    for given in (rows, column, same, rows.astype(np.float32), rows.tolist()):
        clf = AnytimeClassifier(SVC(C=10.0)).fit(given, y)
        np.testing.assert_array_equal(clf.predict(given), clf.estimator_.predict(given))
    assert clone(clf).get_params()["order"] == "min_wz"


def test_float32_queries_get_bounds_of_their_float64_values():
    clf = fitted("min_wz", RBF(0.7))
    rows = QUERIES.astype(np.float32)
    exact = clf.machine_.decision_function(rows)[:, None]
    lower, upper = clf.bounds(rows)
    assert ((lower <= exact) & (exact <= upper)).all()
    np.testing.assert_array_equal(clf.decision_function(rows) > 0, exact[:, 0] > 0)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kernel", [QUADRATIC, RBF(0.5), Polynomial(2)], ids=repr)
def test_a_machine_of_float32_rows_is_bound_in_float64(order, kernel):
    rows = X.astype(np.float32)
    svc = SVC(kernel=kernel, C=100.0).fit(rows, Y)
    clf = AnytimeClassifier(FrozenEstimator(svc), order=order, random_state=0).fit(rows)
    assert clf.machine_.vectors.dtype == np.float32
    exact = clf.machine_.decision_function(QUERIES)[:, None]
    lower, upper = clf.bounds(QUERIES)
    assert ((lower <= exact) & (exact <= upper)).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("order", WIDER)
def test_training_rows_far_out_leave_the_bounds_certain(order):
    svc = SVC(kernel=RBF(0.1), C=100.0).fit(X, Y)
    rows = np.vstack([X, X.astype(np.float32), [[1e6, 1e6]]])
    clf = AnytimeClassifier(FrozenEstimator(svc), order=order, random_state=0).fit(rows)
    exact = clf.machine_.decision_function(QUERIES)[:, None]
    lower, upper = clf.bounds(QUERIES)
    assert ((lower <= exact) & (exact <= upper)).all()


def test_progress_is_told_to_who_listens():
    heard = []
    with listening(lambda share, text: heard.append(share)):
        fitted("min_wz")
    assert heard[-1] == 1.0
    assert heard == sorted(heard)


@pytest.mark.parametrize(("degree", "d", "coef0"), [(10, 5, 1.0), (10, 60, 1.0), (12, 2, 0.0)])
def test_bounds_hold_where_weights_cancel_under_high_degrees(degree, d, coef0):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        gamma, n = (1.0 if d < 10 else 1.0 / d), int(rng.integers(1, 4))
        Z = rng.normal(size=(n, d))
        Z = np.vstack([Z, Z + 10.0 ** rng.uniform(-9, -6) * rng.normal(size=Z.shape)])
        beta = np.outer([1.0, -1.0], rng.normal(size=n) * 1e6).ravel()
        machine = KernelMachine(Z, beta, 0.0, Polynomial(degree, gamma, coef0))
        rows = np.repeat(Z, 8, axis=0) * (1.0 + 0.1 * rng.normal(size=(16 * n, 1)))
        wide = rows.astype(np.longdouble) @ Z.T.astype(np.longdouble)
        exact = (gamma * wide + coef0) ** degree @ beta.astype(np.longdouble)
        lower, upper = fitted_machine(machine, rows).bounds(rows)
        assert ((lower <= exact[:, None]) & (exact[:, None] <= upper)).all()


def fitted_machine(machine, rows):
    svc = as_svc([machine], np.array([0, 1]))
    return AnytimeClassifier(FrozenEstimator(svc)).fit(rows)
