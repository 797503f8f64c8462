"""Several classes by elimination: the vote of all pairs, with fewer of them asked."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.svm import SVC

from kmviz import NSVClassifier
from kmviz.machines.votes import Rule, by_votes, settle, unbeaten
from kmviz.methods.nsv import classifier

#: Rules of pairs: summed outputs break ties (0 is the first class's), or libsvm's own votes.
RULES = [Rule(), Rule(at_zero=1, breaks_ties=False)]


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("n_classes", [3, 4, 7])
@pytest.mark.parametrize(
    "values", [[-1.0, 1.0], [-1.0, 0.0, 1.0], [0.0], [-2.0, -0.0, 0.5]], ids=str
)
def test_who_wins_all_pairs_wins_the_vote(n_classes, values, rule):
    n_pairs = n_classes * (n_classes - 1) // 2
    outputs = np.random.default_rng(n_classes).choice(values, size=(400, n_pairs))
    asked = np.zeros(n_pairs)

    def ask(pair, rows):
        asked[pair] += len(rows)
        return outputs[rows, pair]

    winner = unbeaten(len(outputs), n_classes, ask, rule)
    sure = winner >= 0
    np.testing.assert_array_equal(rule.winners(outputs)[sure], winner[sure])
    wins = np.where(rule.first_loses(outputs), -1.0, 1.0)
    most = np.rint(by_votes(wins, n_classes)).max(axis=1)
    np.testing.assert_array_equal(sure, most == n_classes - 1)
    assert asked.max() <= len(outputs)  # no pair is asked twice


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("n_classes", [3, 5, 8])
@pytest.mark.parametrize("values", [[-1.0, 1.0], [-1.0, 0.0, 1.0]], ids=str)
def test_guesses_that_are_asked_about_give_the_class_that_wins_all(n_classes, values, rule):
    rng = np.random.default_rng(n_classes)
    n_pairs = n_classes * (n_classes - 1) // 2
    truth = rng.choice(values, size=(400, n_pairs)) * rng.uniform(0.1, 1.0, size=(400, n_pairs))
    known = rng.random(truth.shape) < 0.5
    guesses, asked = np.where(known, truth, rng.normal(size=truth.shape)), known.copy()

    def ask(pair, rows):
        assert not asked[rows, pair].any()  # none twice, and none that was known
        asked[rows, pair] = True
        return truth[rows, pair]

    winner = settle(guesses, known, n_classes, ask, rule)
    np.testing.assert_array_equal(known, asked)
    np.testing.assert_array_equal(
        winner, unbeaten(len(truth), n_classes, lambda pair, rows: truth[rows, pair], rule)
    )
    assert asked.mean() < 0.95


def test_few_pairs_are_asked_where_classes_are_apart():
    outputs = np.random.default_rng(0).normal(size=(500, 45)) + 0.0
    first, second = np.triu_indices(10, 1)
    truth = np.arange(500) % 10
    outputs[np.arange(500)[:, None], np.flatnonzero(first == 0)] = 0.1  # nobody but these matters
    outputs[(truth[:, None] == first)] = 1.0
    outputs[(truth[:, None] == second)] = -1.0
    asked = []
    winner = unbeaten(
        500, 10, lambda pair, rows: (asked.append(len(rows)), outputs[rows, pair])[1], Rule()
    )
    np.testing.assert_array_equal(winner, truth)
    assert sum(asked) / 500 < 18


@pytest.mark.parametrize(
    ("break_ties", "shape"), [(False, "ovr"), (True, "ovr"), (False, "ovo")], ids=str
)
def test_predict_is_the_vote_of_decision_function(break_ties, shape, monkeypatch):
    X, y = load_iris(return_X_y=True)
    svc = SVC(C=0.1, gamma=20.0, break_ties=break_ties, decision_function_shape=shape)
    clf = NSVClassifier(svc, calibration="train", random_state=0).fit(X[::3], y[::3])
    monkeypatch.setattr(classifier, "MANY", 1)
    rng = np.random.default_rng(0)
    rows = rng.uniform(X.min(axis=0), X.max(axis=0), size=(400, 4))  # many of them undecided
    voted = clf.classes_[clf.winners(clf.decision_function(rows))]
    np.testing.assert_array_equal(clf.predict(rows), voted)
    np.testing.assert_array_equal(clf.predict(rows[:1]), voted[:1])


def test_many_rows_are_predicted_by_elimination(monkeypatch):
    X, y = load_digits(n_class=6, return_X_y=True)
    clf = NSVClassifier(SVC(gamma=0.001, C=10.0), calibration="train", random_state=0)
    clf.fit(X[:150], y[:150])
    rows = X[150:450]
    voted = clf.classes_[clf.winners(clf.decision_function(rows))]
    np.testing.assert_array_equal(clf.predict(rows), voted)  # all pairs
    monkeypatch.setattr(classifier, "MANY", 1)
    asked = []
    for engine in clf.engines_:
        told = engine.outputs
        monkeypatch.setattr(
            engine, "outputs", lambda X, told=told: (asked.append(len(X)), told(X))[1]
        )
    np.testing.assert_array_equal(clf.predict(rows), voted)  # some
    assert 5 <= sum(asked) / len(rows) < 12
