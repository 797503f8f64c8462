"""Fine-tuning of a reduced set towards the margin: its loss, its choice, what carries it."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.datasets import load_iris, make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import kmviz
from kmviz import ReducedSetClassifier
from kmviz.kernels import RBF, Normalized, Polynomial
from kmviz.machines import KernelMachine
from kmviz.methods.reduced.tune import MarginLoss, MarginTuning
from kmviz.methods.reduction.space import space_of

X, Y = make_moons(300, noise=0.25, random_state=0)
QUERIES, _ = make_moons(2000, noise=0.25, random_state=1)
SVM = SVC(gamma=8.0, C=300.0).fit(X, Y)


@pytest.fixture(scope="module")
def plain():
    return ReducedSetClassifier(FrozenEstimator(SVM), n_vectors=8).fit(X)


@pytest.fixture(scope="module")
def tuned():
    return ReducedSetClassifier(
        FrozenEstimator(SVM), n_vectors=8, tune="margin", random_state=0
    ).fit(X)


def changed(clf):
    return int(np.sum(clf.predict(QUERIES) != SVM.predict(QUERIES)))


@parametrize_with_checks([ReducedSetClassifier(n_vectors=3, tune="margin")])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "kernel", [RBF(1.5), Polynomial(3, 0.5, 1.0), Normalized(Polynomial(4, 2.0, 1.0))], ids=str
)
def test_the_gradient_is_that_of_the_loss(kernel):
    machine = KernelMachine.from_estimator(SVC(kernel=kernel, C=5.0).fit(X, Y))
    space = space_of(machine.kernel, machine.vectors)
    loss = MarginLoss(space, space.rows(X), machine.decision_function(X), machine.bias)
    Z = space.directions(X[:4])[0] + 0.1
    flat = np.concatenate([Z.ravel(), [0.5, -0.7, 1.1, -0.2]])
    numeric = approx_fprime(flat, lambda p: loss.of(p, 4, 2.0)[0], 1e-7)
    np.testing.assert_allclose(loss.of(flat, 4, 2.0)[1], numeric, rtol=1e-4, atol=1e-6)


def test_nothing_is_lost_beyond_the_margin_on_the_right_side():
    space, bias = space_of(RBF(1.0), X), 0.0
    Z = space.rows(X[:1])
    near = space.plain(Z, Z)[0, 0]
    for exact, weight, expected in [(3.0, 2.0, 0.0), (3.0, 0.5, 0.125), (0.5, 2.0, 1.125)]:
        loss = MarginLoss(space, Z, np.array([exact]), bias)
        value, _ = loss.of(np.concatenate([Z[0], [weight / near]]), 1, 1.0)
        ridge = 0.5e-4 * (weight / near) ** 2
        assert value == pytest.approx(expected + ridge)


def test_a_few_vectors_answer_more_queries_as_the_machine_does(plain, tuned):
    assert tuned.tuned_
    assert not plain.tuned_
    assert tuned.machine_.n_vectors == 8
    assert changed(tuned) < 0.5 * changed(plain)
    assert tuned.rho_ > plain.rho_  # distance is not what it minimises


def test_rho_is_the_distance_of_the_machine_that_answers(tuned):
    a, z = tuned.original_, tuned.machine_
    K = a.kernel
    norm_sq = a.beta @ K(a.vectors, a.vectors) @ a.beta
    left = norm_sq - 2 * z.beta @ K(z.vectors, a.vectors) @ a.beta
    left += z.beta @ K(z.vectors, z.vectors) @ z.beta
    assert tuned.rho_ == pytest.approx(np.sqrt(left / norm_sq))


def test_where_the_judging_rows_say_no_the_reduced_set_stays(monkeypatch, plain):
    monkeypatch.setattr(MarginTuning, "is_better", lambda *args: False)
    clf = ReducedSetClassifier(FrozenEstimator(SVM), n_vectors=8, tune="margin").fit(X)
    assert clf.tuned_ is False
    assert clf.rho_ == plain.rho_
    np.testing.assert_array_equal(clf.decision_function(QUERIES), plain.decision_function(QUERIES))


def test_rows_that_judge_do_not_tune(tuned):
    tuning = tuned.engines_[0].tuning
    seen = {row.tobytes() for row in tuning.rows}
    assert len(tuning.held) == 75
    assert not any(row.tobytes() in seen for row in tuning.held)


def test_no_rows_that_prove_a_promise_tune():
    clf = ReducedSetClassifier(
        FrozenEstimator(SVM), n_vectors=6, sequential=True, tune="margin", random_state=0
    ).fit(X)
    tuning, proof = clf.engines_[0].tuning, clf.engines_[0].problem.proof
    seen = {row.tobytes() for row in (*tuning.rows, *tuning.held)}
    assert len(tuning.rows) + len(tuning.held) + len(proof) == len(X)
    assert not any(row.tobytes() in seen for row in proof)


def test_every_size_reads_as_a_fresh_fit():
    own = {"tune": "margin", "every_size": True, "random_state": 0}
    study = ReducedSetClassifier(FrozenEstimator(SVM), n_vectors=6, **own).fit(X).study(QUERIES)
    for n, threshold in [(3, "machine"), (5, "bayes")]:
        read = study.read(n_vectors=n, threshold=threshold)
        fresh = ReducedSetClassifier(
            FrozenEstimator(SVM), n_vectors=n, threshold=threshold, **own
        ).fit(X)
        np.testing.assert_array_equal(read.outputs, fresh.decision_function(QUERIES))


def test_it_traces_stores_and_becomes_an_svc(tuned, tmp_path):
    outputs = tuned.decision_function(QUERIES[:50])
    trace = tuned.trace(QUERIES[0])
    assert trace.output == pytest.approx(outputs[0])
    assert len(trace.partial) == 9
    assert trace.partial[-1] == pytest.approx(outputs[0])
    np.testing.assert_allclose(
        tuned.to_svc().decision_function(QUERIES[:50]), outputs, atol=1e-9
    )  # fmt: skip
    kmviz.save(tuned, tmp_path / "tuned.skops")
    loaded = kmviz.load(tmp_path / "tuned.skops")
    np.testing.assert_array_equal(loaded.decision_function(QUERIES[:50]), outputs)
    assert loaded.tuned_


def test_several_classes_are_tuned_pair_by_pair_on_the_rows_they_win():
    rows, labels = load_iris(return_X_y=True)
    svc = SVC(C=100.0, gamma=2.0).fit(rows, labels)
    clf = ReducedSetClassifier(FrozenEstimator(svc), n_vectors=3, tune="margin", random_state=0)
    clf.fit(rows)
    assert clf.tuned_.shape == (3,)
    won = svc.predict(rows)
    for engine, (first, second) in zip(clf.engines_, clf.pairs_, strict=True):
        rows_seen = len(engine.tuning.rows) + len(engine.tuning.held)
        assert rows_seen == np.sum((won == first) | (won == second))


def test_vectors_that_were_only_chosen_keep_their_places(plain):
    fixed = {"n_vectors": 8, "method": "selection", "random_state": 0}
    chosen = ReducedSetClassifier(FrozenEstimator(SVM), **fixed).fit(X)
    tuned = ReducedSetClassifier(FrozenEstimator(SVM), tune="margin", **fixed).fit(X)
    assert tuned.tuned_
    np.testing.assert_array_equal(tuned.machine_.vectors, chosen.machine_.vectors)


def test_shared_vectors_are_not_tuned_one_machine_at_a_time():
    with pytest.raises(ValueError, match="shared=False or tune=None"):
        ReducedSetClassifier(shared=True, tune="margin").fit(X, Y)
