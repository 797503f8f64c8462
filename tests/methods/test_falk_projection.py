"""Neighbours among principal components: the search is projected, nothing else."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.decomposition import PCA
from sklearn.utils.estimator_checks import parametrize_with_checks

import kmviz
from kmviz import FaLKClassifier
from kmviz.methods import register
from kmviz.methods.falk.projection import axes_that_pay, principal_axes


@parametrize_with_checks([FaLKClassifier(n_neighbors=20, projection=2, random_state=0)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def hidden():
    """Two moons in 30 dimensions, 28 of them of little noise, all of them mixed."""
    X, y = make_moons(3000, noise=0.15, random_state=0)
    rng = np.random.default_rng(0)
    wide = np.hstack([X, rng.normal(scale=0.1, size=(3000, 28))])
    return wide @ np.linalg.qr(rng.normal(size=(30, 30)))[0], y


def test_axes_are_the_principal_components(hidden):
    X, _ = hidden
    ours, theirs = principal_axes(X, 2, 0), PCA(2).fit(X).components_.T
    np.testing.assert_allclose(np.abs(np.sum(ours * theirs, axis=0)), 1.0, atol=1e-8)
    assert principal_axes(X[:, :3], 7, 0).shape == (3, 3), "no more axes than coordinates"


def test_neighbours_are_those_of_the_projection_and_models_see_all(hidden):
    X, y = hidden
    clf = FaLKClassifier(40, projection=2, random_state=0).fit(X[:1000], y[:1000])
    flat = X[:1000] @ clf.axes_
    for model in (0, len(clf.models_) - 1):
        gaps = np.linalg.norm(flat - flat[clf.centers_[model]], axis=1)
        assert set(clf.neighborhood(model)) == set(np.argsort(gaps, kind="stable")[:40])
    assert clf.local_machine(X[0]).vectors.shape[1] == 30
    exact = FaLKClassifier(40, random_state=0).fit(X[:1000], y[:1000])
    assert 2 < clf.overhead_ < exact.overhead_
    gain = clf.score(X[1000:], y[1000:]) - exact.score(X[1000:], y[1000:])
    assert gain > -0.01
    assert clf.score(X[1000:], y[1000:]) > 0.97


@pytest.mark.parametrize("options", [{}, {"select": "center"}, {"kernel": "poly"}])
def test_all_components_change_nothing_but_the_search(hidden, options):
    X, y = hidden
    X, y = X[:400], y[:400]
    clf = FaLKClassifier(50, projection=30, random_state=0, **options).fit(X, y)
    assert clf.index_.rows.shape == (400, 30)
    if "kernel" not in options:  # of a polynomial, neighbours were those of feature space
        exact = FaLKClassifier(50, random_state=0, **options).fit(X, y)
        np.testing.assert_array_equal(clf.centers_, exact.centers_)
        np.testing.assert_array_equal(clf.predict(X), exact.predict(X))


def test_stored_and_loaded_the_search_is_built_again(hidden, tmp_path):
    X, y = hidden
    clf = FaLKClassifier(40, projection=3, random_state=0).fit(X[:500], y[:500])
    kmviz.save(clf, tmp_path / "falk.skops")
    again = kmviz.load(tmp_path / "falk.skops")
    np.testing.assert_array_equal(again.axes_, clf.axes_)
    np.testing.assert_array_equal(again.decision_function(X), clf.decision_function(X))


def test_a_mapped_read_only_file_needs_no_compiler(tmp_path):
    X, y = make_moons(300, noise=0.2, random_state=0)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    ours = FaLKClassifier(30, random_state=0).fit(mapped, y)
    assert type(ours.rows_) is np.ndarray
    assert ours.rows_.flags.writeable
    np.testing.assert_array_equal(
        ours.decision_function(X), FaLKClassifier(30, random_state=0).fit(X, y).decision_function(X)
    )


def test_auto_projects_where_the_search_visits_most_rows_and_only_there(hidden):
    X, y = hidden
    wide = FaLKClassifier(40, projection="auto", random_state=0).fit(X[:1500], y[:1500])
    exact = FaLKClassifier(40, random_state=0).fit(X[:1500], y[:1500])
    assert wide.axes_.shape[0] == 30
    assert exact.overhead_ > 750
    assert wide.index_.overhead < 250  # a tenth in the sample, and a little
    assert wide.overhead_ < exact.overhead_ / 5
    assert wide.score(X[1500:], y[1500:]) > exact.score(X[1500:], y[1500:]) - 0.01
    flat = make_moons(1500, noise=0.2, random_state=0)
    auto = FaLKClassifier(40, projection="auto", random_state=0).fit(*flat)
    plain = FaLKClassifier(40, random_state=0).fit(*flat)
    assert auto.axes_ is None
    np.testing.assert_array_equal(
        auto.decision_function(X[:, :2]), plain.decision_function(X[:, :2])
    )
    assert axes_that_pay(X[:100], 0) is None, "few rows are soon looked at"
    cubic = FaLKClassifier(40, kernel="poly", projection="auto", random_state=0).fit(
        X[:600], y[:600]
    )
    assert cubic.axes_ is None


def test_compare_shows_the_projected_search():
    method, offered = register.offered("falk_auto")
    assert method.name == "falk"
    assert offered.is_usual
    assert offered.make().projection == "auto"
