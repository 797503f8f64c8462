"""Local models of many classes: each stores the pairs that it saw, and answers as if it had all."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import kmviz
from kmviz import FaLKClassifier, KNNSVMClassifier
from kmviz.kernels import Linear
from kmviz.machines.votes import by_votes


def patches(n_labels, n=4000, side=14):
    """Squares of a grid, side by side; few labels take turns, many have one square each."""
    rng = np.random.default_rng(0)
    rows = rng.uniform(0, side, size=(n, 2))
    square = rows[:, 0].astype(int) * side + rows[:, 1].astype(int)
    return rows, rng.permutation(side * side)[square] % n_labels


def stored(models):
    return sum(array.nbytes for array in vars(models).values() if isinstance(array, np.ndarray))


def test_two_hundred_classes_cost_no_more_than_twice_ten():
    few, many = (
        FaLKClassifier(100, gamma="local", C=10, random_state=0).fit(*patches(c)) for c in (10, 196)
    )
    assert len(many.classes_) > 190
    assert len(few.models_) == len(many.models_)
    assert stored(many.models_) < 2 * stored(few.models_)
    assert many.score(*patches(196)) > 0.9


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(300, centers=9, cluster_std=1.0, random_state=3)


@pytest.mark.parametrize(
    "clf", [FaLKClassifier(40, random_state=0), FaLKClassifier(40, kernel=Linear(), random_state=0),
            KNNSVMClassifier(40)], ids=["rbf", "linear", "lazy"],
)  # fmt: skip
def test_answers_are_those_of_a_machine_for_every_pair(clf, blobs):
    rows, y = blobs
    clf.fit(rows, y)
    for x in rows[:5]:
        dense = [clf.local_machine(x, pair).decision_function(x[None])[0] for pair in clf.pairs_]
        expected = by_votes(np.array([dense]), 9)
        np.testing.assert_allclose(clf.decision_function(x[None]), expected, atol=1e-6)
        traced = [clf.trace(x, pair).output for pair in clf.pairs_]
        np.testing.assert_allclose(traced, dense, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 9])
def test_models_are_stored(blobs, n_classes, tmp_path):
    rows, y = blobs
    clf = FaLKClassifier(40, random_state=0).fit(rows, y % n_classes)
    kmviz.save(clf, tmp_path / "falk.skops")
    answers = kmviz.load(tmp_path / "falk.skops").decision_function(rows)
    np.testing.assert_array_equal(answers, clf.decision_function(rows))
