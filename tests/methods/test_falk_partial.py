"""FaLK-SVM to which rows are added: the model of a fit of all rows, few of its SVMs trained."""

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from sklearn.datasets import make_blobs, make_moons

import kmviz
from kmviz import FaLKClassifier

PARTS = ("class_starts", "classes", "machines", "starts", "index", "weight", "bias", "gammas")


class Ordered(FaLKClassifier):
    """Offers some rows as centres first."""

    def _order(self, seed):
        rows = np.arange(len(self.rows_))
        return np.concatenate([self.first, np.setdiff1d(rows, self.first)])


def fresh(clf, first, X, y):
    """Fit all rows, with the centres offered first that stood before the last rows came."""
    options = clf.get_params() | {"gamma": clf.gamma_ if clf.gamma == "scale" else clf.gamma}
    other = Ordered(**options)
    other.first = first
    return other.fit(X, y)


def assert_same(clf, other, queries):
    for name in ("centers_", "center_of_", "labels_"):
        np.testing.assert_array_equal(getattr(clf, name), getattr(other, name), name)
    for name in PARTS:
        np.testing.assert_array_equal(getattr(clf.models_, name), getattr(other.models_, name))
    np.testing.assert_array_equal(clf.decision_function(queries), other.decision_function(queries))
    clf.check()


@settings(max_examples=25, deadline=None)
@example(first=30, more=[1], k=30, share=0.5, spread=5.0, seed=0)  # k was cut to the rows
@given(
    first=st.integers(30, 200),
    more=st.lists(st.integers(1, 20), min_size=1, max_size=3),
    k=st.integers(2, 40),
    share=st.floats(0.1, 1.0),
    spread=st.sampled_from([0.02, 1.0, 5.0]),
    seed=st.integers(0, 1000),
)
def test_added_rows_give_the_model_of_a_fit_of_all(first, more, k, share, spread, seed):
    rng = np.random.default_rng(seed)
    n = first + sum(more)
    X = rng.normal(size=(n, 2))
    X[first:] = X[rng.integers(first)] + spread * rng.normal(size=(n - first, 2))
    y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n) > 0).astype(int)
    clf = FaLKClassifier(k, max(1, int(share * k)), gamma=1.0, random_state=seed)
    start = 0
    for end in np.cumsum([first, *more]):
        before = getattr(clf, "centers_", None)
        clf.partial_fit(X[start:end], y[start:end], classes=[0, 1])
        start = end
    assert_same(clf, fresh(clf, before, X, y), X)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"gamma": "local", "select": "center"},
        {"kernel": "linear", "cover": "tree"},
        {"kernel": "poly"},
        {"projection": 2},
    ],
    ids=str,
)
def test_other_settings_and_several_classes(options):
    X, y = make_blobs(900, centers=4, cluster_std=2.5, n_features=3, random_state=0)
    y = np.array(["a", "b", "c", "d"])[y]
    clf = FaLKClassifier(40, random_state=0, **options).fit(X[:850], y[:850])
    for start in (850, 870):
        before = clf.centers_
        clf.partial_fit(X[start : start + 20], y[start : start + 20])
    X, y = X[:890], y[:890]
    other = fresh(clf, before, X, y)
    if "projection" in options:  # a fit of all rows would turn the axes a little
        assert np.mean(clf.predict(X) == other.predict(X)) > 0.95
    else:
        assert_same(clf, other, X)


def test_only_models_that_a_row_came_near_to_are_trained_again(monkeypatch):
    X, y = make_moons(4000, noise=0.2, random_state=0)
    clf = FaLKClassifier(40, random_state=0).fit(X, y)
    trained, train = [], FaLKClassifier._train
    monkeypatch.setattr(
        FaLKClassifier, "_train",
        lambda self, neighbors: trained.append(len(neighbors)) or train(self, neighbors),
    )  # fmt: skip
    rng = np.random.default_rng(0)
    for added in (X[:1] + 0.01 * rng.normal(size=(20, 2)), rng.permutation(X)[:400] + 0.01):
        n_before, before = len(clf.rows_), set(clf.centers_)
        clf.partial_fit(added, np.resize([0, 1], len(added)))
        assert before <= set(clf.centers_), "a centre stays one"
        members = clf._neighborhoods(np.arange(len(clf.models_)))
        assert trained[-1] == np.sum((members >= n_before).any(axis=1))
    assert trained[0] < 0.1 * len(clf.models_)
    assert trained[1] > 0.5 * len(clf.models_)


def test_a_copy_of_a_row_beyond_all_neighbourhoods_trains_nothing(monkeypatch):
    X = np.repeat([[0.0], [1.0]], 30, axis=0)
    y = np.repeat([0, 1], 30)
    clf = FaLKClassifier(10, random_state=0).fit(X, y)
    monkeypatch.setattr(FaLKClassifier, "_train", None)
    clf.partial_fit([[0.0]], [0])
    assert len(clf.rows_) == 61
    assert clf.predict([[0.1], [0.9]]).tolist() == [0, 1]


def test_copies_of_rows_and_fewer_rows_than_k():
    X, y = make_moons(60, noise=0.2, random_state=0)
    clf = FaLKClassifier(50, random_state=0).partial_fit(X[:10], np.zeros(10), classes=[0, 1])
    assert (clf.predict(X) == 0).all(), "one class so far"
    clf.partial_fit(X[10:], y[10:]).partial_fit(X, y).partial_fit(X, y)
    assert clf.n_neighbors_ == 50
    assert len(clf.rows_) == 180
    assert (clf.center_of_ >= 0).all()
    clf.check()
    assert clf.score(X, y) > 0.9


def test_a_stored_model_goes_on_learning(tmp_path):
    X, y = make_moons(600, noise=0.2, random_state=0)
    clf = FaLKClassifier(40, random_state=0).fit(X[:500], y[:500])
    kmviz.save(clf, tmp_path / "local.skops")
    again = kmviz.load(tmp_path / "local.skops").partial_fit(X[500:], y[500:])
    clf.partial_fit(X[500:], y[500:])
    assert_same(again, clf, X)


def test_what_cannot_be_added_is_said_in_words():
    X, y = make_moons(100, noise=0.2, random_state=0)
    with pytest.raises(ValueError, match="classes must name all classes in the first call"):
        FaLKClassifier(20).partial_fit(X, y)
    clf = FaLKClassifier(20, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="y holds 2, which is not among classes"):
        clf.partial_fit(X[:2], [1, 2])
    with pytest.raises(ValueError, match="not those of the first call"):
        clf.partial_fit(X[:2], y[:2], classes=[0, 1, 2])
    with pytest.raises(ValueError, match="out of range of what the first call saw"):
        clf.partial_fit(X[:2] * 1e20, y[:2])
    assert len(clf.rows_) == 100, "nothing was added"
