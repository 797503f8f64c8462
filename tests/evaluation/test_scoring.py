"""The score by which settings are chosen."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from kmviz import ExactClassifier, NSVClassifier
from kmviz.evaluation.scoring import thrift

X, Y = make_moons(600, noise=0.25, random_state=0)


@pytest.fixture(scope="module")
def svc():
    return SVC(gamma=5.0).fit(X[:300], Y[:300])


def test_the_exact_machine_costs_one_answer(svc):
    clf = ExactClassifier(FrozenEstimator(svc)).fit(X)
    assert thrift()(clf, X) == pytest.approx(-1.0)


def test_a_score_by_hand(svc):
    clf = NSVClassifier(FrozenEstimator(svc), margin=0.0, random_state=0).fit(X[300:450])
    rows = X[450:]
    cost = (clf.steps(rows).mean() + clf.overhead_) / clf.machine_.n_vectors
    differ = np.mean(clf.predict(rows) != svc.predict(rows))
    assert thrift(7.0)(clf, rows, Y[450:]) == pytest.approx(-(cost + 7.0 * differ))


def test_a_dear_answer_is_guarded_better(svc):
    grid = {"margin": [0.0, 0.5, 4.0], "n_components": [1, 2]}
    chosen = {}
    for price in (0.0, 1e6):
        clf = NSVClassifier(FrozenEstimator(svc), linear_filter=False, random_state=0)
        search = GridSearchCV(clf, grid, scoring=thrift(price), cv=3).fit(X[300:], Y[300:])
        chosen[price] = search.best_params_["margin"]
        assert search.best_estimator_.margin == chosen[price]
    assert chosen[0.0] == 0.0
    assert chosen[1e6] > chosen[0.0]


def test_a_price_below_nothing_is_refused():
    with pytest.raises(ValueError, match="price must be at least 0"):
        thrift(-1.0)
