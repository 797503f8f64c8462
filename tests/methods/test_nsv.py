"""Nearest support vectors: the published algorithm by hand, its options, and awkward machines."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC, LinearSVC
from sklearn.utils._param_validation import InvalidParameterError
from sklearn.utils.estimator_checks import parametrize_with_checks

from kmviz import NSVClassifier
from kmviz.kernels import RBF, Linear, Normalized, Polynomial
from kmviz.machines import KernelFisherClassifier, KernelMachine
from kmviz.methods.nsv.calibration import Part
from kmviz.methods.nsv.engine import NSVEngine
from kmviz.methods.nsv.layout import Options, principal_directions, stage_costs
from kmviz.methods.nsv.linear_filter import filter_thresholds, train_filter

X, Y = make_moons(200, noise=0.25, random_state=0)
QUERIES = make_moons(300, noise=0.25, random_state=1)[0]
ORDERS = ["nearest", "tug_of_war", "exact"]
STARTS = ["empty", "approximate", "reduced"]


@parametrize_with_checks([NSVClassifier(), NSVClassifier(start="reduced")])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def engine(machine, rows, window=0, margin=0.0, **options):
    """The engine of a machine that calibrates on `rows`, without a filter."""
    return NSVEngine(machine, None, Options(**options), [Part(machine, None, rows)], window, margin)


def test_three_vectors_by_hand():
    # f(x) = 2 x1 - 3 x2 + 1 x3 - 0.5 on the axes: K is the dot product, so on the query
    # (3, 2, 1) the nearest vectors are 1, 2, 3 and the terms 6, -6, 1.
    machine = KernelMachine(np.eye(3), [2.0, -3.0, 1.0], 0.5, Linear())
    rows = np.array([[3.0, 2.0, 1.0], [3.0, 2.5, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    # g:  (3, 2, 1): -.5, 5.5, -.5, .5 (f > 0)     (3, 2.5, 1): -.5, 5.5, -2, -1 (f < 0)
    #     (1, 0, 0): -.5, 1.5, 1.5, 1.5 (f > 0)    (0, 1, 0): -.5, -3.5, -3.5, -3.5 (f < 0)
    clf = engine(machine, rows, n_components=3)
    np.testing.assert_allclose(clf.trace(rows[0]).partial, [-0.5, 5.5, -0.5, 0.5])
    np.testing.assert_allclose(clf.trace(rows[1]).partial, [-0.5, 5.5, -2.0, -1.0])
    np.testing.assert_allclose(clf.limits.high[1:], [5.5, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(clf.limits.low[1:], [0.0, -0.5, 0.0], atol=1e-12)
    assert clf.limits.low[0] == -np.inf
    assert clf.limits.high[0] == np.inf
    output, steps = clf.run(rows)
    np.testing.assert_allclose(output, [0.5, -2.0, 1.5, -3.5])
    np.testing.assert_array_equal(steps, [4, 3, 3, 2])  # one for the start
    np.testing.assert_array_equal(clf.trace(rows[0]).index, [-1, 0, 1, 2])
    smoothed = engine(machine, rows, window=1, n_components=3)
    np.testing.assert_allclose(smoothed.limits.high[1:], [5.5, 5.5, 0.0], atol=1e-12)
    np.testing.assert_allclose(smoothed.limits.low[1:], [-0.5, -0.5, -0.5], atol=1e-12)


def test_tug_of_war_keeps_the_sums_equal():
    machine = KernelMachine(np.arange(6.0)[:, None], [3.0, 1, 1, 1, -2, -4], 0.0, RBF(0.1))
    trace = engine(machine, X[:3, :1], order="tug_of_war").trace(np.zeros(1))
    # Nearest positive 3 (imbalance 3) against nearest negative -2 (2): -2. Then 3 (1) against
    # -4 (6): 3. Then 1 (2) against -4 (3): 1, and so on until one side is used up.
    np.testing.assert_array_equal(trace.index[1:], [4, 0, 1, 5, 2, 3])


def test_nearest_first():
    clf = NSVClassifier(SVC(gamma=2.0), linear_filter=False, random_state=0).fit(X, Y)
    trace = clf.trace(QUERIES[0])
    distances = np.linalg.norm(clf.machine_.vectors[trace.index[1:]] - QUERIES[0], axis=1)
    assert (np.diff(distances) >= -1e-12).all()
    np.testing.assert_allclose(trace.value[1:], np.exp(-2 * distances**2))


@pytest.mark.parametrize("embeds", [False, True])
def test_projections_of_a_normalised_kernel_have_length_one_again(embeds):
    rng = np.random.default_rng(0)
    rows, x = rng.normal(size=(60, 12)) * np.linspace(3, 0.3, 12), rng.normal(size=12)
    kernel = Normalized(Polynomial(3))
    units, query = kernel.embed(rows), kernel.embed(x[None])[0]
    machine = KernelMachine(rows, rng.normal(size=60), 0.1, kernel)
    if embeds:  # the same, asked of rows that are embedded already
        machine, rows = KernelMachine(units, machine.beta, 0.1, Polynomial(3, 1.0, 0.0)), units
        x = query
    trace = engine(machine, rows, n_components=4).trace(x)
    directions = principal_directions(units, 4)
    projected, along = units @ directions.T, directions @ query
    lengths = np.linalg.norm(projected, axis=1) * np.linalg.norm(along)
    expected = (projected @ along / lengths) ** 3
    np.testing.assert_allclose(trace.score[1:], expected[trace.index[1:]], rtol=1e-9)
    assert (np.diff(trace.score[1:]) <= 1e-12).all()


def test_fewer_components_only_change_the_order():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(120, 12))
    y = rows[:, 0] * rows[:, 1] > 0
    few = NSVClassifier(SVC(), n_components=2, linear_filter=False).fit(rows, y)
    trace = few.trace(rows[0])
    assert len(np.unique(trace.index)) == few.machine_.n_vectors + 1
    assert trace.partial[-1] == pytest.approx(trace.exact, rel=1e-9)


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("order", ORDERS)
def test_infinite_thresholds_give_the_exact_output(order, start):
    clf = NSVClassifier(SVC(gamma=2.0), order=order, start=start, margin=np.inf).fit(X, Y)
    np.testing.assert_allclose(
        clf.decision_function(QUERIES), clf.machine_.decision_function(QUERIES), atol=1e-9
    )
    assert (clf.steps(QUERIES) == 1 + clf.machine_.n_vectors).all()


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("order", ORDERS)
def test_thresholds_never_flip_their_own_rows(order, start):
    clf = NSVClassifier(
        SVC(gamma=2.0, C=5.0), order=order, start=start, calibration="train", window=0,
        linear_filter=False,
    ).fit(X, Y)  # fmt: skip
    exact = clf.machine_.decision_function(X)
    np.testing.assert_array_equal(clf.decision_function(X) > 0, exact > 0)
    assert clf.steps(X).mean() < 1 + clf.machine_.n_vectors


@pytest.mark.parametrize("start", STARTS)
def test_a_wider_window_never_stops_earlier(start):
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(150, 8))
    clf = NSVClassifier(
        SVC(), start=start, n_components=2, calibration="train", linear_filter=False, window=0
    ).fit(rows, rows[:, 0] * rows[:, 1] > 0)
    before = clf.steps(rows)
    for window in (1, 3, 10, 100):
        clf.engines_[0].set_limits(window, 0.0, filtered=False)
        after = clf.steps(rows)
        assert (after >= before).all()
        before = after


def test_trace_ends_where_the_decision_function_ends():
    for start in STARTS:
        clf = NSVClassifier(SVC(gamma=2.0), start=start, random_state=0).fit(X, Y)
        for x in QUERIES[:30]:
            trace = clf.trace(x)
            assert trace.output == clf.decision_function(x[None])[0]
            asked = clf.steps(x[None])[0] - 1 - trace.stop  # of reduced vectors
            assert asked in {0, *trace.stages[: trace.n_reduced, 0]}
            assert asked == 0 or start == "reduced"
            assert len(trace.to_frame()) == clf.machine_.n_vectors + 1
            if trace.filtered:
                assert trace.output == trace.filter_output
            elif trace.stop:
                assert trace.output == trace.partial[trace.stop]
                outside = (trace.partial < trace.low) | (trace.partial > trace.high)
                assert outside[trace.stop] or trace.stop == trace.n_steps
                assert not outside[: trace.stop].any()


def test_the_approximation_touches_fewer_vectors():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(500, 30)) * np.linspace(2.0, 0.1, 30)
    y = rows[:, 0] * rows[:, 1] + rows[:, 2] > 0
    svc = SVC(kernel="poly", degree=3, coef0=1.0, gamma=0.1).fit(rows[:300], y[:300])
    steps = {
        start: NSVClassifier(FrozenEstimator(svc), start=start, linear_filter=False)
        .fit(rows[300:])
        .steps(rows[300:])
        .mean()
        for start in STARTS
    }
    assert steps["approximate"] < 0.5 * steps["empty"]


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("linear_filter", [True, False])
@pytest.mark.parametrize("margin", [0.0, np.inf])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_rows_that_are_not_finite_are_told(start, linear_filter, margin, bad):
    clf = NSVClassifier(start=start, linear_filter=linear_filter, margin=margin).fit(X, Y)
    rows = QUERIES.copy()
    rows[7, 1] = bad
    for asked in (rows, rows[7:8]):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            clf.predict(asked)
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            clf.steps(asked)


def test_principal_directions_are_those_of_the_svd():
    rng = np.random.default_rng(0)
    for shape in ((40, 7), (7, 40)):
        rows = rng.normal(size=shape) * np.linspace(3, 1, shape[1])
        _, _, right = np.linalg.svd(rows, full_matrices=False)
        found = principal_directions(rows, 4)
        np.testing.assert_allclose(np.abs(np.sum(found * right[:4], axis=1)), 1.0, atol=1e-8)


def test_filter_thresholds_are_mean_and_three_sd():
    output = np.array([1.0] * 9 + [40.0, -1.0, -2.0, -1.0, -2.0, -1.0, -2.0, -9.0])
    exact = np.array([-1.0] * 10 + [1.0] * 6 + [-1.0])
    low, high = filter_thresholds(output, exact, 0.1)
    misled = np.array([1.0] * 9 + [40.0])
    assert high == pytest.approx(misled.mean() + 3 * misled.std())  # tighter than 40
    assert low == pytest.approx(-2.0)  # the extreme is tighter than -1.5 - 3 / 2


def test_a_filter_that_few_rows_mislead_does_not_decide_everything():
    output, exact = np.linspace(-2, 2, 41), np.linspace(-2, 2, 41) + 1e-9
    assert filter_thresholds(output, exact, 0.4) == (pytest.approx(-0.6), pytest.approx(0.6))
    one = np.append(output, 1e-4), np.append(exact, -1.0)
    assert filter_thresholds(*one, 0.4) == (pytest.approx(-0.6), pytest.approx(0.6))
    assert filter_thresholds(np.append(output, 1.5), one[1], 0.4) == (pytest.approx(-0.6), 1.5)
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(size=(100, 3)) - 2.5, rng.normal(size=(100, 3)) + 2.5])
    y = np.repeat([0, 1], 100)
    clf = NSVClassifier(SVC(C=10.0), calibration="train", margin=0.0).fit(rows, y)
    near = rng.normal(size=(200, 3)) * 0.5
    assert np.mean(clf.study(near).read().filtered) < 0.9


def test_filter_decides_only_far_out():
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(size=(200, 2)) - 2, rng.normal(size=(200, 2)) + 2])
    y = np.repeat([0, 1], 200)
    clf = NSVClassifier(SVC(C=10.0), random_state=0).fit(rows, y)
    plain = NSVClassifier(SVC(C=10.0), linear_filter=False, random_state=0).fit(rows, y)
    assert np.mean(clf.steps(rows) == 1) > 0.5
    assert (plain.steps(rows) > 1).all()
    assert np.isnan(plain.trace(rows[0]).filter_output)


def test_filter_output_has_the_scale_of_the_machine():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 3)) + 50.0
    exact = 7.0 * (rows[:, 0] - 50.0)
    weights, bias = train_filter(rows, np.where(exact > 0, 1, -1), exact)
    assert np.corrcoef(rows @ weights - bias, exact)[0, 1] > 0.99
    assert np.std(rows @ weights - bias) == pytest.approx(np.std(exact), rel=0.1)
    assert train_filter(rows, np.ones(200), exact) is None


def test_calibrations_differ_and_unseen_rows_replace_x():
    rows = np.random.default_rng(0).normal(size=(200, 10))
    y = rows[:, 0] * rows[:, 1] > 0
    kinds = {
        kind: NSVClassifier(SVC(C=10.0), calibration=kind, linear_filter=False,
                            random_state=0).fit(rows, y)
        for kind in ("cross_fit", "left_out", "train")
    }  # fmt: skip
    train = kinds["train"]
    assert not np.allclose(kinds["cross_fit"].high_[1:], train.high_[1:])
    given = NSVClassifier(SVC(gamma=5.0), margin=0.0, window=0, linear_filter=False)
    given.fit(X, Y, X_calibration=QUERIES)
    exact = given.machine_.decision_function(QUERIES)
    np.testing.assert_array_equal(given.decision_function(QUERIES) > 0, exact > 0)


def test_a_reduced_machine_is_walked_like_any_other():
    full = KernelMachine.from_estimator(SVC(gamma=2.0).fit(X, Y))
    reduced = KernelMachine(full.vectors[::3], 3 * full.beta[::3], full.bias, full.kernel)
    clf = engine(reduced, X)
    np.testing.assert_array_equal(clf.run(X)[0] > 0, reduced.decision_function(X) > 0)


class CountingPolynomial(Polynomial):
    values = 0

    def __call__(self, A, B):
        CountingPolynomial.values += len(A) * len(B)
        return super().__call__(A, B)


def plain_gaussian(A, B):
    """A kernel with no formula that ordering could read."""
    return np.exp(-((np.asarray(A)[:, None] - np.asarray(B)[None]) ** 2).sum(axis=2))


@pytest.mark.parametrize("start", STARTS)
def test_a_counting_kernel_counts_the_vectors_touched(start):
    clf = NSVClassifier(SVC(kernel=CountingPolynomial(3), C=10.0), start=start, n_components=1)
    clf.fit(X, Y)
    for rows in (QUERIES[:1], *QUERIES[1:6, None], QUERIES[:40]):
        CountingPolynomial.values = 0
        clf.predict(rows)
        counted = CountingPolynomial.values
        assert counted == (clf.steps(rows) - 1).sum()  # one for the filter


def test_an_unknown_kernel_is_ordered_by_distance():
    clf = NSVClassifier(SVC(kernel=plain_gaussian), linear_filter=False, random_state=0).fit(X, Y)
    trace = clf.trace(QUERIES[0])
    distances = np.linalg.norm(clf.machine_.vectors[trace.index[1:]] - QUERIES[0], axis=1)
    assert (np.diff(distances) >= -1e-9).all()
    assert trace.output == pytest.approx(clf.decision_function(QUERIES[:1])[0])
    for start in STARTS[1:]:
        with pytest.raises(ValueError, match=f"start='{start}'"):
            NSVClassifier(SVC(kernel=plain_gaussian), start=start).fit(X, Y)


@pytest.mark.parametrize(
    "machine",
    [
        KernelMachine([[0.5, 1.0]], [2.0], 0.3, RBF(1.0)),
        KernelMachine(X[:9], np.ones(9), 2.0, RBF(1.0)),
        KernelMachine(X[:9], -np.ones(9), -2.0, RBF(1.0)),
        KernelMachine(np.repeat(X[:4], 5, axis=0), np.tile([1.0, -1.0], 10), 0.1, RBF(3.0)),
        KernelMachine(np.ones((6, 2)), [1.0, -1, 1, -1, 1, -1], 0.1, Polynomial(2)),
        KernelMachine(X[:20], np.tile([2.0, -1.0], 10), 0.1, Normalized(Polynomial(4))),
        KernelMachine(np.zeros((3, 2)), [1.0, -1.0, 0.5], 0.1, Linear()),
    ],
    ids=["one vector", "all positive", "all negative", "duplicates", "constant", "normalised",
         "zeros"],
)  # fmt: skip
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("order", ORDERS)
def test_awkward_machines(machine, order, start):
    clf = engine(machine, X, order=order, start=start, n_components=50)
    output, steps = clf.run(X)
    np.testing.assert_array_equal(output > 0, machine.decision_function(X) > 0)
    assert (steps <= 1 + machine.n_vectors).all()
    trace = clf.trace(X[0])
    assert trace.partial[-1] == pytest.approx(trace.exact, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("estimator", [LinearSVC(), KernelFisherClassifier(), SVC(kernel="linear")])
def test_other_machines(estimator):
    clf = NSVClassifier(estimator, random_state=0).fit(X, Y)
    exact = clf.machine_.decision_function(QUERIES)
    assert np.mean((clf.decision_function(QUERIES) > 0) == (exact > 0)) > 0.97


def test_a_query_equal_to_a_vector_and_float32_input():
    clf = NSVClassifier(SVC(gamma=2.0), linear_filter=False, random_state=0).fit(X, Y)
    vector = clf.machine_.vectors[3]
    assert clf.trace(vector).index[1] == 3
    assert clf.trace(vector).value[1] == pytest.approx(1.0)
    near = clf.decision_function(QUERIES.astype(np.float32))
    np.testing.assert_allclose(near, clf.decision_function(QUERIES), atol=1e-3)


def test_large_machines_are_stored_in_float32():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 400))
    clf = NSVClassifier(SVC(), calibration="train", start="approximate").fit(rows, rows[:, 0] > 0)
    assert clf.engines_[0].tables.vectors.dtype == np.float32
    exact = clf.machine_.decision_function(rows)
    np.testing.assert_array_equal(clf.decision_function(rows) > 0, exact > 0)


@pytest.mark.parametrize("kernel", [RBF(0.01), Normalized(Polynomial(3))], ids=repr)
@pytest.mark.parametrize("start", STARTS)
def test_small_machines_of_float32_rows_are_walked_in_float64(start, kernel):
    rows, y = make_classification(400, 60, n_informative=8, random_state=0)
    rows = (rows + (1e4 if kernel == RBF(0.01) else 0.0)).astype(np.float32)
    svc = SVC(kernel=kernel, C=5.0).fit(rows[:200], y[:200])
    clf = NSVClassifier(FrozenEstimator(svc), start=start, margin=np.inf, linear_filter=False)
    clf.fit(rows[200:])
    assert clf.machine_.vectors.dtype == np.float32
    exact = clf.machine_.decision_function(rows)
    np.testing.assert_allclose(clf.decision_function(rows), exact, rtol=0, atol=1e-9)
    tables = clf.engines_[0].tables
    if start != "empty":
        squares = (tables.vectors.astype(np.float64) ** 2).sum(axis=1)
        np.testing.assert_allclose(tables.lengths, squares, rtol=1e-12)


@pytest.mark.parametrize("start", STARTS)
def test_huge_kernel_values_stay_in_float64(start):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 400)) * 1000.0
    machine = KernelMachine(rows, rng.normal(size=400) * 1e-40, 0.0, Polynomial(7))
    clf = engine(machine, rows[:50], start=start)
    assert clf.tables.vectors.dtype == np.float64
    np.testing.assert_array_equal(
        clf.run(rows[:50])[0] > 0, machine.decision_function(rows[:50]) > 0
    )


def test_stages_are_those_that_calibration_rows_find_cheapest():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(500, 80)) * np.linspace(2.0, 0.1, 80)
    machine = KernelMachine(rows[:200], rng.normal(size=200), 0.1, Polynomial(3, 0.02))
    asked = {"n_components": 20, "start": "approximate"}
    some = engine(machine, rows[200:], **asked)
    kept = [int(end) for end in some.tables.ends]
    assert kept[-1] == 64
    assert set(kept) <= {8, 16, 32, 64}
    assert len(kept) == len(some.limits.stage_low)
    assert len(some.limits.low) == 201
    limits = some.envelope.limits(0, 0.0, True, 0.0)
    patterns = some.envelope.patterns(limits._replace(filter_low=-np.inf, filter_high=np.inf))
    for n in range(4):  # no others would cost less
        for early in combinations(range(3), n):
            stages = np.array([*early, 3])
            shares = some.envelope.reaching(patterns, stages)
            assert shares @ stage_costs(some.candidates, some.candidates.ends[stages]) >= (
                0.999 * some.overhead
            )
    never = engine(machine, rows[200:], margin=np.inf, **asked)
    np.testing.assert_array_equal(never.tables.ends, [64])  # what decides nothing only costs


def test_overhead_is_what_ordering_costs():
    clf = NSVClassifier(SVC(gamma=2.0), n_components=1, linear_filter=False).fit(X, Y)
    m, value = clf.machine_.n_vectors, 34.0 + 2 * 0.35
    assert clf.overhead_ == pytest.approx((2 * 0.35 + 0.08 * m + 5.0 * m) / value)
    filtered = NSVClassifier(SVC(gamma=2.0), n_components=1).fit(X, Y)
    assert 0 < filtered.overhead_ < clf.overhead_
    exact = NSVClassifier(SVC(gamma=2.0), order="exact", linear_filter=False).fit(X, Y)
    assert exact.overhead_ > m  # it computes every kernel value to order by


def test_an_approximate_term_costs_less_than_a_kernel_value():
    approximate = NSVClassifier(SVC(gamma=2.0), start="approximate", linear_filter=False).fit(X, Y)
    empty = NSVClassifier(SVC(gamma=2.0), linear_filter=False).fit(X, Y)
    honest = [m.steps(QUERIES).mean() + m.overhead_ for m in (approximate, empty)]
    assert honest[0] < 0.5 * honest[1]  # in two dimensions the approximation is exact


@pytest.mark.parametrize(
    "bad",
    [{"window": -1}, {"order": "random"}, {"n_components": 0}, {"start": "middle"},
     {"calibration": "test"}, {"margin": -1.0}, {"max_disagreement": 0.0}, {"confidence": 1.5},
     {"linear_filter": "perhaps"}, {"estimator": 3}],
    ids=lambda bad: next(iter(bad)),
)  # fmt: skip
def test_bad_parameters_are_named(bad):
    with pytest.raises(InvalidParameterError, match=next(iter(bad))):
        NSVClassifier(**bad).fit(X, Y)


def test_calibration_rows_must_match():
    with pytest.raises(ValueError, match="X_calibration has 1 features"):
        NSVClassifier().fit(X, Y, X_calibration=X[:, :1])
