"""The votes of pairs of classes, against libsvm and NumPy."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from kmviz.loops.classes import contenders, first_with_most_votes

RNG = np.random.default_rng(0)


def test_votes_are_those_of_libsvm():
    X, y = load_iris(return_X_y=True)
    svc = SVC(decision_function_shape="ovo", C=0.05).fit(X, y)
    rows = X.mean(axis=0) + RNG.normal(size=(3_000, 4)) * X.std(axis=0)
    winner = np.empty(3_000, dtype=np.intp)
    first_with_most_votes(svc.decision_function(rows), 3, False, winner)
    np.testing.assert_array_equal(winner, svc.predict(rows))


@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("zero_first", [True, False])
def test_contenders_are_the_furthest_ahead_of_the_unbeaten(n_classes, zero_first):
    first, second = np.triu_indices(n_classes, 1)
    outputs = RNG.choice([-2.0, -0.5, 0.0, 1.0, 1.5], size=(500, len(first)))
    known, scale = RNG.random(outputs.shape) < 0.6, RNG.uniform(0.5, 2.0, size=len(first))
    rows = RNG.permutation(500)[:300]
    best, asks = np.empty(300, dtype=np.intp), np.empty((300, len(first)), dtype=bool)
    contenders(outputs, known, rows, scale, n_classes, zero_first, best, asks)
    out, sure = outputs[rows], known[rows]
    lead = np.full((300, n_classes, n_classes), np.inf)
    lead[:, first, second], lead[:, second, first] = out * scale, -out * scale
    lost = np.zeros(lead.shape, dtype=bool)
    wins = out >= 0 if zero_first else out > 0
    lost[:, first, second], lost[:, second, first] = sure & ~wins, sure & wins
    beaten = lost.any(axis=2)
    furthest = np.where(beaten, -np.inf, lead.min(axis=2)).argmax(axis=1)
    furthest[beaten.all(axis=1)] = -1
    np.testing.assert_array_equal(best, furthest)
    assert (best < 0).any() or n_classes == 2
    own = (first == furthest[:, None]) | (second == furthest[:, None])
    np.testing.assert_array_equal(asks, own & ~sure)
