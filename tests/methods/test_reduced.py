"""Reduced sets: contract, recovery, parameters, thresholds, sequential answers."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils._param_validation import InvalidParameterError
from sklearn.utils.estimator_checks import parametrize_with_checks

import kmviz
from kmviz import ExactClassifier, ReducedSetClassifier, VirtualSVClassifier
from kmviz.kernels import RBF, Linear, Normalized, Polynomial
from kmviz.machines import KernelMachine
from kmviz.methods.base import BinaryProblem
from kmviz.methods.reduced.engine import ReducedEngine

X, Y = make_moons(200, noise=0.2, random_state=0)
QUERIES, TRUTH = make_moons(300, noise=0.2, random_state=1)
KERNELS = [
    RBF(1.5),
    Polynomial(3, 1.0, 1.0),
    Polynomial(5, 0.7, 0.0),
    Normalized(Polynomial(4, 2.0, 1.0)),
    Normalized(RBF(1.0)),
]


class CountingRBF(RBF):
    """An RBF kernel that counts the values it computes."""

    values = 0

    def __call__(self, A, B):
        CountingRBF.values += len(A) * len(B)
        return super().__call__(A, B)


@parametrize_with_checks([ReducedSetClassifier(), ReducedSetClassifier(sequential=True)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_result_is_a_machine_near_the_original(kernel):
    clf = ReducedSetClassifier(SVC(kernel=kernel, C=5.0), n_vectors=12).fit(X, Y)
    assert isinstance(clf.machine_, KernelMachine)
    assert clf.machine_.kernel == clf.original_.kernel
    assert clf.machine_.n_vectors <= 12
    assert clf.rho_ < 0.15
    wanted = clf.original_.decision_function(QUERIES) > 0
    assert np.mean((clf.decision_function(QUERIES) > 0) == wanted) > 0.97
    np.testing.assert_array_equal(clf.steps(QUERIES), clf.machine_.n_vectors)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_rho_is_the_distance_in_feature_space(kernel):
    clf = ReducedSetClassifier(SVC(kernel=kernel, C=5.0), n_vectors=4).fit(X, Y)
    full, few = clf.original_, clf.machine_
    psi_sq = full.beta @ kernel(full.vectors, full.vectors) @ full.beta
    cross = full.beta @ kernel(full.vectors, few.vectors) @ few.beta
    own = few.beta @ kernel(few.vectors, few.vectors) @ few.beta
    assert np.sqrt(max(psi_sq - 2 * cross + own, 0.0) / psi_sq) == pytest.approx(clf.rho_, abs=2e-4)


def test_a_machine_that_is_three_vectors_is_recovered_by_three():
    three = np.array([[0.0, 0.0], [2.0, 0.5], [-1.0, 1.5]])
    crowd = np.repeat(three, 10, axis=0)
    beta = np.tile([0.1, 0.2, -0.05, 0.15, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1], 3)
    beta *= np.repeat([1.0, -2.0, 1.5], 10)
    clf = ReducedSetClassifier(FrozenEstimator(_holding(KernelMachine(crowd, beta, 0.1, RBF(0.7)))))
    clf.set_params(n_vectors=3).fit(X)
    assert clf.rho_ < 1e-4
    order = np.argsort(clf.machine_.vectors[:, 0])
    np.testing.assert_allclose(clf.machine_.vectors[order], three[[2, 0, 1]], atol=1e-3)


def _holding(machine):
    """Return a fitted estimator that offers this machine."""
    return ExactClassifier().fit(X, Y)._prepare([BinaryProblem(machine, X, None, None)])


def test_a_linear_kernel_takes_one_vector():
    clf = ReducedSetClassifier(SVC(kernel="linear"), n_vectors=5).fit(X, Y)
    assert clf.machine_.n_vectors == 1
    assert clf.rho_ < 1e-6
    np.testing.assert_allclose(
        clf.decision_function(QUERIES), clf.original_.decision_function(QUERIES), atol=1e-9
    )


@pytest.mark.parametrize("coef0", [0.0, 1.0])
def test_quadratic_kernels_are_solved_exactly(coef0):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(120, 4))
    y = rows[:, 0] * rows[:, 1] + rows[:, 2] ** 2 > 0.8
    rank = 4 + int(coef0 > 0)
    svc = SVC(kernel="poly", degree=2, gamma=1.0, coef0=coef0, C=10.0)
    clf = ReducedSetClassifier(svc, n_vectors=10, method="eigen").fit(rows, y)
    assert clf.machine_.n_vectors == rank
    assert clf.rho_ < 1e-4
    wanted = clf.original_.decision_function(rows)
    np.testing.assert_allclose(clf.decision_function(rows), wanted, atol=1e-4 * np.ptp(wanted))
    fewer = ReducedSetClassifier(svc, n_vectors=2, method="eigen").fit(rows, y)
    other = ReducedSetClassifier(svc, n_vectors=2, method="incremental").fit(rows, y)
    assert fewer.rho_ <= other.rho_ + 1e-6  # no two other vectors do better


@pytest.mark.parametrize("method", ["incremental", "fixed_point", "selection"])
def test_joint_beats_every_other_way(method):
    svc = SVC(gamma=1.5, C=5.0)
    joint = ReducedSetClassifier(svc, n_vectors=8, method="joint").fit(X, Y)
    other = ReducedSetClassifier(svc, n_vectors=8, method=method).fit(X, Y)
    assert joint.rho_ < other.rho_ < 1.0


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_selection_takes_support_vectors(kernel):
    clf = ReducedSetClassifier(SVC(kernel=kernel), n_vectors=6, method="selection").fit(X, Y)
    for vector in clf.machine_.vectors:
        assert (np.abs(clf.original_.vectors - vector).sum(axis=1) == 0).any()


def test_a_kernel_without_formula_is_served_by_selection():
    def laplacian(A, B):
        return np.exp(-np.abs(np.asarray(A)[:, None] - np.asarray(B)[None]).sum(axis=2))

    clf = ReducedSetClassifier(SVC(kernel=laplacian, C=5.0), n_vectors=30).fit(X, Y)
    assert clf.score(QUERIES, TRUTH) > 0.85
    with pytest.raises(ValueError, match="method='joint' needs"):
        ReducedSetClassifier(SVC(kernel=laplacian), method="joint").fit(X, Y)


@pytest.mark.parametrize("sequential", [False, True])
@pytest.mark.parametrize("rows", [1, 50])
def test_steps_are_what_a_counting_kernel_counts(sequential, rows):
    svc = SVC(kernel=CountingRBF(1.5), C=5.0)
    clf = ReducedSetClassifier(svc, n_vectors=10, sequential=sequential).fit(X, Y)
    for start in range(0, 200, 50):
        asked = QUERIES[start : start + rows]
        CountingRBF.values = 0
        clf.predict(asked)
        counted = CountingRBF.values
        assert counted == clf.steps(asked).sum()


def test_early_stops_keep_the_level_they_promise():
    svc, calibration = (
        SVC(gamma=1.5, C=5.0).fit(X, Y),
        make_moons(1600, noise=0.2, random_state=7)[0],
    )
    fresh = make_moons(20_000, noise=0.2, random_state=8)[0]
    clf = ReducedSetClassifier(FrozenEstimator(svc), n_vectors=20, sequential=True, random_state=0)
    clf.fit(calibration)
    assert (clf.early_stop_.rate, clf.early_stop_.rows) == (0.01, 800)
    whole = clf.machine_.decision_function(fresh) > 0
    assert np.mean((clf.decision_function(fresh) > 0) != whole) <= 0.01
    assert clf.steps(fresh).mean() < 15
    assert clf.overhead_ > 0


def test_what_few_rows_cannot_prove_does_not_stop_early():
    clf = ReducedSetClassifier(SVC(gamma=1.5), n_vectors=8, sequential=True, random_state=0)
    clf.fit(X, Y)  # 25 rows are left to prove 1%, which takes 299
    assert clf.early_stop_ is None
    np.testing.assert_array_equal(clf.steps(QUERIES), 8)


def test_early_stops_break_their_promise_rarely():
    """Machines of 5% and draws of 200 rows: the level is exceeded in fewer than 5% of them."""
    svc = SVC(gamma=1.5, C=5.0).fit(X, Y)
    clf = ReducedSetClassifier(FrozenEstimator(svc), n_vectors=6, method="incremental")
    stage = clf.fit(X).engines_[0].path.stage(6)
    fresh = make_moons(4000, noise=0.2, random_state=9)[0]
    draws, broken, stopped = 200, 0, 0
    for seed in range(draws):
        rows = make_moons(320, noise=0.2, random_state=1000 + seed)[0]
        engine = ReducedEngine(clf.machine_, clf.original_, clf.rho_, stage)
        engine.stop_early(stage, rows[:120], rows[120:], 0.05)
        outputs, steps = engine.run(fresh)
        stopped += steps.mean() < 6
        broken += np.mean((outputs > 0) != (clf.machine_.decision_function(fresh) > 0)) > 0.05
    assert stopped > draws / 2
    assert broken <= 0.05 * draws


@pytest.mark.parametrize("sequential", [False, True])
def test_trace(sequential):
    clf = ReducedSetClassifier(SVC(gamma=1.5), n_vectors=9, sequential=sequential).fit(X, Y)
    for x in QUERIES[:20]:
        trace = clf.trace(x)
        assert len(trace.to_frame()) == 10
        assert trace.output == clf.decision_function(x[None])[0]
        assert trace.stop == clf.steps(x[None])[0]
        assert trace.exact == pytest.approx(clf.original_.decision_function(x[None])[0], rel=1e-9)
        assert trace.partial[trace.stop] == pytest.approx(trace.output, abs=1e-8)
        assert trace.partial[0] == -clf.machine_.bias
        inside = (trace.low <= trace.partial) & (trace.partial <= trace.high)
        assert inside[: trace.stop].all()


def test_bayes_threshold_errs_no_more_on_the_training_rows():
    svc = SVC(gamma=3.0, C=50.0)
    plain = ReducedSetClassifier(svc, n_vectors=3).fit(X, Y)
    bayes = ReducedSetClassifier(svc, n_vectors=3, threshold="bayes").fit(X, Y)
    assert bayes.score(X, Y) > plain.score(X, Y)
    assert bayes.machine_.bias != plain.machine_.bias
    frozen = ReducedSetClassifier(
        FrozenEstimator(svc.fit(X, Y)), n_vectors=3, threshold="bayes"
    ).fit(X)
    agree = [np.mean(c.predict(X) == svc.predict(X)) for c in (plain, frozen)]
    assert agree[1] >= agree[0]


def test_sequential_says_that_it_needs_rows_to_hold_out():
    sequential = ReducedSetClassifier(SVC(), sequential=True)
    with pytest.raises(ValueError, match="sequential=True holds out rows"):
        sequential.fit(X[:4], [0, 1, 0, 1])
    with pytest.raises(ValueError, match="sequential=True holds out rows"):
        sequential.fit(X, np.append(Y[1:], 2))  # one row of a third class
    frozen = ReducedSetClassifier(FrozenEstimator(SVC().fit(X, Y)), sequential=True)
    with pytest.raises(ValueError, match="sequential=True holds out rows"):
        frozen.fit(X[:1])


def test_one_method_over_another():
    """A reduced set is a machine: other methods run on it, and it on theirs."""
    reduced = ReducedSetClassifier(SVC(gamma=1.5), n_vectors=10).fit(X, Y)
    over = ExactClassifier(FrozenEstimator(reduced)).fit(X)
    assert over.machine_ is reduced.machine_
    of_virtual = ReducedSetClassifier(
        VirtualSVClassifier(make_pipeline(StandardScaler(), SVC(gamma=1.5))), n_vectors=10
    ).fit(X * [10.0, 0.1], Y)
    assert of_virtual.score(QUERIES * [10.0, 0.1], TRUTH) > 0.9


def test_one_vector_and_weights_of_one_sign():
    one = KernelMachine(np.array([[1.0, 2.0]]), np.array([0.5]), 0.1, RBF(1.0))
    clf = ReducedSetClassifier(FrozenEstimator(_holding(one)), n_vectors=1).fit(X)
    np.testing.assert_allclose(clf.decision_function(X), one.decision_function(X), atol=1e-8)
    many = KernelMachine(X[:30], np.full(30, 0.3), 1.0, RBF(1.0))
    clf = ReducedSetClassifier(FrozenEstimator(_holding(many)), n_vectors=8).fit(X)
    assert clf.rho_ < 0.2


def test_every_size_is_what_a_fresh_fit_gives_and_nearly_as_near():
    svc = FrozenEstimator(SVC(gamma=1.5, C=5.0).fit(X, Y))
    study = ReducedSetClassifier(svc, n_vectors=24, every_size=True).fit(X).study(QUERIES)
    own = ReducedSetClassifier(svc, n_vectors=24).fit(X)
    for n in (1, 5, 16, 17, 19, 23, 24):  # 17, 19, 23: between sizes that are moved together
        fresh = ReducedSetClassifier(svc, n_vectors=n, every_size=True).fit(X)
        reading = study.read(n_vectors=n)
        np.testing.assert_array_equal(reading.vectors, fresh.machine_.vectors)
        np.testing.assert_array_equal(reading.weights, fresh.machine_.beta)
        np.testing.assert_array_equal(reading.outputs, fresh.decision_function(QUERIES))
        assert reading.rho == pytest.approx(fresh.rho_, abs=1e-9)
    rho = study.frames("n_vectors").rho
    assert (np.diff(rho) <= 0).all()
    alone = ReducedSetClassifier(svc, n_vectors=12).fit(X).rho_
    on_the_way = own.study(QUERIES).read(n_vectors=12).rho  # only a start for 24
    assert rho[11] < 1.3 * alone
    assert rho[11] < on_the_way
    assert rho[11] - alone < 0.1 * (on_the_way - alone)


def test_a_stored_classifier_reads_its_own_choice(tmp_path):
    clf = ReducedSetClassifier(SVC(gamma=1.5), n_vectors=8, every_size=True).fit(X, Y)
    kmviz.save(clf, tmp_path / "reduced.skops")
    plain = ReducedSetClassifier(SVC(gamma=1.5), n_vectors=8).fit(X, Y)
    kmviz.save(plain, tmp_path / "plain.skops")
    sizes = [(tmp_path / name).stat().st_size for name in ("reduced.skops", "plain.skops")]
    assert sizes[0] < 1.1 * sizes[1]
    again = kmviz.load(tmp_path / "reduced.skops")
    study = again.study(QUERIES)
    assert study.readings == {"n_vectors": (8,), "threshold": ("machine",)}
    np.testing.assert_array_equal(study.read().outputs, clf.decision_function(QUERIES))
    with pytest.raises(ValueError, match="n_vectors=3"):
        study.read(n_vectors=3)


@pytest.mark.parametrize(
    ("params", "word"),
    [
        ({"n_vectors": 0}, "n_vectors"),
        ({"n_vectors": 0.0}, "n_vectors"),
        ({"n_vectors": 1.5}, "n_vectors"),
        ({"n_vectors": 10_000}, "n_vectors=10000 is more than"),
        ({"n_vectors": "few"}, "n_vectors"),
        ({"method": "magic"}, "method"),
        ({"threshold": 0.3}, "threshold"),
        ({"sequential": "yes"}, "sequential"),
        ({"max_disagreement": -0.1}, "max_disagreement"),
        ({"n_vectors": "auto"}, "n_vectors"),
        ({"method": "eigen"}, "degree 2"),
        ({"method": "fixed_point", "estimator": SVC(kernel="poly")}, "radial"),
    ],
)
def test_bad_parameters_are_named(params, word):
    with pytest.raises((InvalidParameterError, ValueError), match=word):
        ReducedSetClassifier(**params).fit(X, Y)


def test_asking_before_fitting():
    with pytest.raises(NotFittedError):
        ReducedSetClassifier().predict(X)


def test_linear_rows_of_every_kind_are_read():
    for kernel in (Linear(), Normalized(Linear()), Polynomial(1, 2.0, 1.0)):
        clf = ReducedSetClassifier(SVC(kernel=kernel), n_vectors=2).fit(X, Y)
        wanted = clf.original_.decision_function(QUERIES)
        np.testing.assert_allclose(clf.decision_function(QUERIES), wanted, atol=1e-6)
