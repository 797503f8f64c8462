"""kNNSVM with local model selection (definitions 3 and 4), and what FaLK-SVM loses against it."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from kmviz import FaLKClassifier, KNNSVMClassifier
from kmviz.datasets.generators import checkerboard
from kmviz.kernels import RBF
from kmviz.methods.falk import lazy, selection
from kmviz.methods.falk.theory import lazy_outputs, locality_gap


@pytest.fixture(scope="module")
def board():
    return checkerboard(500, seed=0, n_test=60)


@pytest.mark.parametrize(("options", "inner"), [
    ({"tune": "neighborhood"}, 40), ({"tune": "inner"}, 20), ({"tune": "inner", "n_inner": 7}, 7),
])  # fmt: skip
def test_each_query_has_the_c_and_width_of_its_own_folds(board, monkeypatch, options, inner):
    held = []

    def heard(*args):
        held.append(args[4])
        return selection.choose_each(*args)

    monkeypatch.setattr(lazy, "choose_each", heard)
    clf = KNNSVMClassifier(40, **options).fit(board.X_train, board.y_train)
    outputs = clf.decision_function(board.X_test)
    assert held == [inner]
    alone = np.concatenate([clf.decision_function(x[None]) for x in board.X_test[:10]])
    np.testing.assert_allclose(outputs[:10], alone, atol=1e-12)
    near = clf.index_.query(board.X_test, 40)
    chosen = selection.choose_each(board.X_train, clf.labels_, near, clf.kernel_, inner, 1)
    assert len(np.unique(chosen, axis=0)) > 3
    for x, rows, (C, _), output in zip(board.X_test, near, chosen, outputs, strict=True):
        if len(set(board.y_train[rows])) == 2:
            own = clf.local_machine(x).kernel.gamma
            svc = SVC(C=C, gamma=own).fit(board.X_train[rows], board.y_train[rows])
            np.testing.assert_allclose(output, svc.decision_function(x[None])[0], atol=0.05)


def test_the_choice_has_the_least_error_of_its_folds(board):
    clf = KNNSVMClassifier(40).fit(board.X_train, board.y_train)
    near = clf.index_.query(board.X_test[:5], 40)
    chosen = selection.choose_each(board.X_train, clf.labels_, near, RBF(1.0), 20, 1)
    for rows, (C, percentile) in zip(near, chosen, strict=True):
        errors, _ = selection.neighborhood_errors(
            (board.X_train[rows], clf.labels_[rows]), RBF(1.0), selection.PERCENTILES,
            selection.COSTS, 20,
        )  # fmt: skip
        place = selection.PERCENTILES.index(percentile), selection.COSTS.index(C)
        assert errors[place] == errors.min()


def test_tuning_pays_where_c_and_width_are_wrong(board):
    plain = KNNSVMClassifier(60, C=0.01, gamma=1e-3).fit(board.X_train, board.y_train)
    tuned = KNNSVMClassifier(60, C=0.01, gamma=1e-3, tune="inner").fit(board.X_train, board.y_train)
    gain = tuned.score(board.X_test, board.y_test) - plain.score(board.X_test, board.y_test)
    assert gain > 0.1
    assert tuned.overhead_ > plain.overhead_


def test_three_classes_and_linear_kernels_are_tuned_too():
    rows = np.random.default_rng(0).normal(size=(150, 2))
    y = np.digitize(rows[:, 0], [-0.5, 0.5])
    clf = KNNSVMClassifier(50, kernel="linear", tune="inner").fit(rows, y)
    assert clf.score(rows, y) > 0.9
    assert clf.trace(rows[0]).output == pytest.approx(clf.trace(rows[0]).exact, abs=1e-9)


def test_inner_points_must_be_fewer_than_all():
    rows, y = make_moons(50, random_state=0)
    with pytest.raises(ValueError, match=r"n_inner=20 must be less than n_neighbors=20"):
        KNNSVMClassifier(20, tune="inner", n_inner=20).fit(rows, y)


@pytest.mark.parametrize("select", ["point", "center"])
def test_the_gap_is_how_much_more_often_the_eager_one_is_wrong(select):
    rows, y = make_moons(900, noise=0.3, random_state=0)
    clf = FaLKClassifier(30, C=3.0, gamma=2.0, select=select, random_state=0).fit(
        rows[:500], y[:500]
    )
    slow = KNNSVMClassifier(30, C=3.0, gamma=2.0).fit(rows[:500], y[:500])
    X, y = rows[500:], y[500:]
    np.testing.assert_array_equal(lazy_outputs(clf, X), slow.decision_function(X))
    gap = locality_gap(clf, X, y)
    assert gap.mean == pytest.approx(slow.score(X, y) - clf.score(X, y))
    assert gap.differ == np.mean(clf.predict(X) != slow.predict(X)) > 0
    terms = (clf.predict(X) != y).astype(int) - (slow.predict(X) != y)
    cells = clf.nearest(X)
    largest = [terms[cells == cell].max() for cell in cells]  # eq. 14, by brute force
    assert gap.expected == pytest.approx(np.mean(largest))
    assert gap.expected >= gap.mean
    assert gap.n == 400
