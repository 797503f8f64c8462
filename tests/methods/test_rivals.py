"""The rivals: contract, and the SVM where it is their limit."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC
from sklearn.utils._param_validation import InvalidParameterError
from sklearn.utils.estimator_checks import parametrize_with_checks

from kmviz import (
    BaggedSVMClassifier,
    CoreVectorClassifier,
    CPSPClassifier,
    LaSVMClassifier,
    RampSVMClassifier,
    SparseSVMClassifier,
    SubsampledSVC,
)
from kmviz.kernels import RBF, Normalized, Polynomial
from kmviz.machines import KernelMachine
from kmviz.methods.rivals import bagged, lasvm, ramp

X, Y = make_moons(300, noise=0.3, random_state=0)
QUERIES, TRUTH = make_moons(500, noise=0.3, random_state=1)
SIDE = np.where(Y == 1, 1.0, -1.0)
IRIS, SPECIES = load_iris(return_X_y=True)

RIVALS = [
    BaggedSVMClassifier(random_state=0),
    CPSPClassifier(random_state=0),
    CPSPClassifier(basis="train", random_state=0),
    CoreVectorClassifier(random_state=0),
    CoreVectorClassifier("enclosing", random_state=0),
    LaSVMClassifier(random_state=0),
    RampSVMClassifier(),
    SparseSVMClassifier(random_state=0),
    SubsampledSVC(random_state=0),
]
every = pytest.mark.parametrize("rival", RIVALS, ids=lambda rival: type(rival).__name__)


@parametrize_with_checks(RIVALS)
def test_scikit_learn_contract(estimator, check):
    if isinstance(estimator, BaggedSVMClassifier):
        estimator = clone(estimator).set_params(n_estimators=11)  # does what a hundred do
    check(estimator)


@every
@pytest.mark.parametrize("kernel", ["linear", "poly", Normalized(Polynomial(2))], ids=str)
def test_other_kernels(rival, kernel):
    if isinstance(rival, CoreVectorClassifier) and isinstance(kernel, str):
        with pytest.raises(ValueError, match=r"K\(x, x\).*Normalized"):
            clone(rival).set_params(kernel=kernel).fit(X, Y)
        return
    if isinstance(rival, CPSPClassifier) and rival.basis == "free":
        with pytest.raises(ValueError, match="Use basis='train'"):
            clone(rival).set_params(kernel=kernel).fit(X, Y)
        return
    clf = clone(rival).set_params(kernel=kernel).fit(X, Y)
    assert clf.score(QUERIES, TRUTH) > 0.75


@every
def test_several_classes_have_a_machine_for_each_pair(rival):
    clf = rival.fit(IRIS, SPECIES)
    assert len(clf.machines_) == 3
    assert clf.score(IRIS, SPECIES) > 0.85  # bags of five rows among them
    assert (clf.steps(IRIS) == sum(machine.n_vectors for machine in clf.machines_)).all()


# Subsampled SVC


def test_all_rows_are_the_svc_itself():
    clf, svc = SubsampledSVC(1.0, C=3.0, gamma=2.0).fit(X, Y), SVC(C=3.0, gamma=2.0).fit(X, Y)
    np.testing.assert_allclose(
        clf.decision_function(QUERIES), svc.decision_function(QUERIES), atol=1e-9
    )


def test_few_rows_make_few_vectors_of_both_classes():
    labels = np.zeros(300, dtype=int)
    labels[17] = 1  # one row of its class: a sample must hold it all the same
    clf = SubsampledSVC(10, random_state=0).fit(X, labels)
    assert clf.machine_.n_vectors <= 10
    assert {-1.0, 1.0} == set(np.sign(clf.machine_.beta))


# Bags


def test_the_majority_of_the_bags_decides():
    clf = BaggedSVMClassifier(n_estimators=5, max_samples=40, random_state=0).fit(X, Y)
    for x in QUERIES[:20]:
        trace = clf.trace(x)
        assert set(trace.vote[1:]) <= {-1.0, 1.0}
        np.testing.assert_array_equal(trace.vote[1:], np.where(trace.value[1:] > 0, 1.0, -1.0))
        assert trace.output == pytest.approx(trace.vote.sum() / 5)
        assert clf.predict(x[None])[0] == (trace.vote.sum() > 0)


def test_one_bag_of_all_rows_votes_as_the_svc(monkeypatch):
    monkeypatch.setattr(bagged, "subsample", lambda side, *_: np.arange(len(side)))
    clf = BaggedSVMClassifier(1, 1.0).fit(X, Y)
    svc = SVC().fit(X, Y)
    np.testing.assert_array_equal(clf.predict(QUERIES), svc.predict(QUERIES))
    np.testing.assert_allclose(
        clf.machine_.decision_function(QUERIES), svc.decision_function(QUERIES), atol=1e-9
    )


def test_vectors_that_bags_share_are_asked_once():
    clf = BaggedSVMClassifier(50, 100, random_state=0).fit(X, Y)
    assert clf.steps(QUERIES)[0] == len(np.unique(clf.machine_.vectors, axis=0)) <= len(X)


# Ramp loss


def test_a_far_clip_is_the_svm(monkeypatch):
    monkeypatch.setattr(ramp, "TOL", 1e-6)
    clf = RampSVMClassifier(clip=-1e6, C=5.0, gamma=1.0).fit(X, Y)
    svc = SVC(C=5.0, gamma=1.0, tol=1e-6).fit(X, Y)
    np.testing.assert_allclose(
        clf.decision_function(QUERIES), svc.decision_function(QUERIES), atol=1e-5
    )
    assert clf.n_iter_ == 1


def test_the_last_svm_is_that_of_the_rows_within_the_clip(monkeypatch):
    """However it was reached: weights of the SVM before are where each starts."""
    monkeypatch.setattr(ramp, "TOL", 1e-6)
    clf = RampSVMClassifier(clip=-0.2, C=10.0, gamma=1.0).fit(X, Y)
    assert clf.n_iter_ > 2
    kept = SIDE * clf.decision_function(X) >= -0.2
    svc = SVC(C=10.0, gamma=1.0, tol=1e-6).fit(X[kept], Y[kept])
    np.testing.assert_allclose(
        clf.decision_function(QUERIES), svc.decision_function(QUERIES), atol=1e-4
    )


def ramp_objective(machine, clip, C):
    margin = SIDE * machine.decision_function(X)
    norm = machine.beta @ machine.kernel(machine.vectors, machine.vectors) @ machine.beta
    return 0.5 * norm + C * np.minimum(np.maximum(1 - margin, 0), 1 - clip).sum()


def test_each_svm_lowers_the_ramp_objective():
    values = []
    for most in range(1, 12):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            clf = RampSVMClassifier(clip=-0.2, C=10.0, max_iter=most).fit(X, Y)
        values.append(ramp_objective(clf.machine_, -0.2, 10.0))
    assert values[-1] < values[0]
    assert all(b <= a + 0.02 for a, b in pairwise(values))  # LibSVM's own tolerance


def test_no_row_beyond_the_clip_is_a_support_vector():
    clf = RampSVMClassifier(clip=-0.2, C=10.0).fit(X, Y)
    output = clf.machine_.decision_function(clf.machine_.vectors)
    assert (np.sign(clf.machine_.beta) * output >= -0.2 - 1e-3).all()
    assert clf.machine_.n_vectors < len(SVC(C=10.0).fit(X, Y).support_)


def test_too_few_rounds_are_said():
    with pytest.warns(ConvergenceWarning, match="Increase max_iter"):
        RampSVMClassifier(clip=-0.2, C=10.0, max_iter=1).fit(X, Y)


# LASVM


@pytest.mark.parametrize("C", [1.0, 10.0])
def test_lasvm_after_some_passes_is_the_svm(C):
    clf = LaSVMClassifier(epochs=5, tol=1e-5, C=C, gamma=1.0, random_state=0).fit(X, Y)
    svc = SVC(C=C, gamma=1.0, tol=1e-5).fit(X, Y)
    np.testing.assert_allclose(
        clf.decision_function(QUERIES), svc.decision_function(QUERIES), atol=1e-3
    )


def test_two_passes_of_lasvm_are_close_to_the_svm():
    clf, svc = LaSVMClassifier(C=10.0, random_state=0).fit(X, Y), SVC(C=10.0).fit(X, Y)
    assert clf.score(QUERIES, TRUTH) > svc.score(QUERIES, TRUTH) - 0.02


def test_a_stream_is_learned_part_by_part():
    stream = LaSVMClassifier(C=10.0, random_state=0)
    scores = []
    for start in range(0, 300, 50):
        part = slice(start, start + 50)
        stream.partial_fit(X[part], Y[part], classes=[0, 1])
        scores.append(stream.score(QUERIES, TRUTH))
    assert scores[-1] > 0.88
    assert scores[-1] >= scores[0]


def test_a_stream_may_start_with_one_class():
    stream = LaSVMClassifier(C=10.0, random_state=0)
    stream.partial_fit(X[Y == 1], Y[Y == 1], classes=[0, 1])
    assert (stream.predict(QUERIES) == 1).all()
    stream.partial_fit(X[Y == 0], Y[Y == 0])
    assert set(stream.predict(QUERIES)) == {0, 1}
    stream.partial_fit(X, Y)  # what a one-sided start put out comes back
    assert stream.score(QUERIES, TRUTH) > 0.85


def test_a_stream_of_several_classes():
    stream = LaSVMClassifier(C=10.0, random_state=0)
    for start in range(5):
        stream.partial_fit(IRIS[start::5], SPECIES[start::5], classes=[0, 1, 2])
    assert stream.score(IRIS, SPECIES) > 0.95


def test_what_a_stream_needs_is_said():
    with pytest.raises(ValueError, match="needs classes="):
        LaSVMClassifier().partial_fit(X, Y)
    stream = LaSVMClassifier().partial_fit(X, Y, classes=[0, 1])
    with pytest.raises(ValueError, match="not among classes="):
        stream.partial_fit(X, Y + 5)


def test_finishing_that_is_given_up_is_said(monkeypatch):
    monkeypatch.setattr(lasvm, "FINISHING", 0)
    with pytest.warns(ConvergenceWarning, match="Finishing was given up"):
        LaSVMClassifier(C=100.0, random_state=0).fit(X, Y)


def test_a_kernel_no_loop_knows_is_refused():
    with pytest.raises(ValueError, match=r"kernel=<function.*kmviz\.kernels"):
        LaSVMClassifier(kernel=lambda A, B: A @ B.T).fit(X, Y)


@pytest.mark.parametrize("rival", [LaSVMClassifier(random_state=0), RampSVMClassifier()], ids=str)
def test_values_beyond_float32_are_refused(rival):
    with pytest.raises(ValueError, match="Scale the features or lower the degree"):
        clone(rival).set_params(kernel="poly", degree=5, gamma=1.0).fit(1e4 * X, Y)


def test_small_weights_of_large_kernel_values_are_kept():
    rows = 1e4 * np.random.default_rng(0).normal(size=(200, 3)) + 3e4
    labels = rows[:, 0] > rows[:, 1]
    clf = LaSVMClassifier(kernel="poly", gamma=1.0, random_state=0).fit(rows, labels)
    assert np.abs(clf.machine_.beta).max() < 1e-12
    assert clf.score(rows, labels) > 0.98


# Balls, and cutting planes


def with_a_penalised_bias(gamma, **parameters):
    """LinearSVC on features whose dot products are the kernel matrix."""
    values, axes = np.linalg.eigh(RBF(gamma)(X, X))
    kept = values > 1e-10
    values, axes = np.sqrt(values[kept]), axes[:, kept]
    linear = LinearSVC(**parameters, tol=1e-9, max_iter=1_000_000, random_state=0)
    linear.fit(axes * values, Y)
    beta = axes @ (linear.coef_[0] / values)
    return KernelMachine(X, beta, -linear.intercept_[0], RBF(gamma))


@pytest.mark.parametrize("C", [1.0, 100.0])
def test_the_smallest_ball_becomes_the_l2_svm_as_epsilon_falls(C):
    expected = with_a_penalised_bias(1.0, C=C / 2).decision_function(QUERIES)
    gaps = []
    for epsilon in (1e-3, 1e-5, 1e-8):
        clf = CoreVectorClassifier(epsilon=epsilon, C=C, gamma=1.0, random_state=0).fit(X, Y)
        gaps.append(np.abs(clf.decision_function(QUERIES) - expected).max())
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 1e-3


def test_an_enclosing_ball_keeps_half_a_margin_of_every_row():
    C = 10.0
    clf = CoreVectorClassifier("enclosing", 1e-8, C=C, random_state=0).fit(X, Y)
    margin = SIDE * clf.decision_function(X)
    own = np.zeros(len(X))  # a row's own 1 / C counts: it is what slack costs
    for vector, beta in zip(clf.machine_.vectors, clf.machine_.beta):
        own[np.flatnonzero((vector == X).all(axis=1))] = abs(beta) / C
    assert (margin + own >= 0.5 - 1e-3).all()
    assert clf.score(QUERIES, TRUTH) > 0.85


def test_a_core_set_that_is_full_is_said():
    with pytest.warns(ConvergenceWarning, match="Increase max_vectors"):
        CoreVectorClassifier(max_vectors=10, random_state=0).fit(X, Y)
    with pytest.warns(ConvergenceWarning, match="Increase max_iter"):
        CoreVectorClassifier("enclosing", max_iter=3, random_state=0).fit(X, Y)


def structural_objective(machine, C):
    margin = SIDE * machine.decision_function(X)
    norm = machine.beta @ machine.kernel(machine.vectors, machine.vectors) @ machine.beta
    return 0.5 * (norm + machine.bias**2) + C * np.maximum(1 - margin, 0).sum()


@pytest.mark.parametrize("C", [1.0, 20.0])
def test_cpsp_with_all_rows_is_the_svm(C):
    """Up to tol: n C tol is what the objective may miss."""
    clf = CPSPClassifier(1.0, "train", tol=1e-4, C=C, gamma=1.0, random_state=0).fit(X, Y)
    best = with_a_penalised_bias(1.0, C=C, loss="hinge")
    optimum = structural_objective(best, C)
    found = structural_objective(clf.machine_, C)
    assert optimum - 1e-3 <= found <= optimum + 1.2e-4 * len(X) * C
    said, expected = clf.decision_function(QUERIES), best.decision_function(QUERIES)
    assert np.mean((said > 0) == (expected > 0)) > 0.98


@pytest.mark.parametrize("basis", ["free", "train"])
def test_cpsp_keeps_to_its_number_of_vectors(basis):
    clf = CPSPClassifier(12, basis, C=10.0, gamma=1.0, random_state=0).fit(X, Y)
    svc = SVC(C=10.0, gamma=1.0).fit(X, Y)
    assert clf.machine_.n_vectors == 12 < len(svc.support_)
    assert clf.score(QUERIES, TRUTH) > svc.score(QUERIES, TRUTH) - 0.02
    rows = {tuple(x) for x in X}
    assert all((tuple(v) in rows) == (basis == "train") for v in clf.machine_.vectors)


def test_cutting_planes_that_do_not_end_are_said():
    with pytest.warns(ConvergenceWarning, match="Increase max_iter"):
        CPSPClassifier(10, max_iter=3, random_state=0).fit(X, Y)


# SpSVM


def l2_svm(C, gamma):
    """The L2-SVM is a hard-margin SVM with 1 / C added to the diagonal of K."""
    K = RBF(gamma)(X, X)
    svc = SVC(C=1e8, kernel="precomputed", tol=1e-8).fit(K + np.eye(len(X)) / C, Y)
    beta = np.zeros(len(X))
    beta[svc.support_] = svc.dual_coef_[0]
    return KernelMachine(X, beta, -svc.intercept_[0], RBF(gamma))


def test_all_rows_are_the_l2_svm():
    clf = SparseSVMClassifier(n_vectors=1.0, C=2.0, gamma=1.0).fit(X, Y)
    expected = l2_svm(2.0, 1.0).decision_function(QUERIES)
    np.testing.assert_allclose(clf.decision_function(QUERIES), expected, atol=1e-4)


def test_more_vectors_come_closer_to_the_l2_svm():
    expected = l2_svm(2.0, 1.0).decision_function(QUERIES)
    gaps = [
        np.abs(
            SparseSVMClassifier(k, C=2.0, gamma=1.0, random_state=0)
            .fit(X, Y)
            .decision_function(QUERIES)
            - expected
        ).mean()
        for k in (2, 10, 50)
    ]
    assert gaps[0] > 3 * gaps[1] > 9 * gaps[2]


def test_ten_greedy_vectors_do_the_work_of_an_svm():
    clf = SparseSVMClassifier(10, C=10.0, random_state=0).fit(X, Y)
    svc = SVC(C=10.0).fit(X, Y)
    assert clf.machine_.n_vectors == 10 < len(svc.support_)
    assert clf.score(QUERIES, TRUTH) > svc.score(QUERIES, TRUTH) - 0.02


# Errors


@pytest.mark.parametrize(
    ("rival", "wrong"),
    [
        (SubsampledSVC, {"n_samples": 0}),
        (SubsampledSVC, {"C": 0.0}),
        (BaggedSVMClassifier, {"max_samples": 1.5}),
        (BaggedSVMClassifier, {"n_estimators": 0}),
        (RampSVMClassifier, {"clip": 1.0}),
        (CPSPClassifier, {"basis": "any"}),
        (CoreVectorClassifier, {"ball": "small"}),
        (CoreVectorClassifier, {"epsilon": 0.0}),
        (LaSVMClassifier, {"tol": 0.0}),
        (SparseSVMClassifier, {"n_vectors": -3}),
        (SparseSVMClassifier, {"gamma": "local"}),
    ],
)
def test_bad_parameters_are_named(rival, wrong):
    with pytest.raises(InvalidParameterError, match=next(iter(wrong))):
        rival(**wrong).fit(X, Y)
