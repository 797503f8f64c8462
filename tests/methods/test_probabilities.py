"""Probabilities: those of the model that was handed in."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import kmviz


def with_probabilities(X, y, piped):
    svc = SVC(probability=True, random_state=0)
    with warnings.catch_warnings():  # scikit-learn means to drop them
        warnings.simplefilter("ignore", FutureWarning)
        return (make_pipeline(StandardScaler(), svc) if piped else svc).fit(X, y)


@pytest.mark.parametrize("piped", [False, True])
@pytest.mark.parametrize("data", ["moons", "iris"])
def test_probabilities_are_the_models_own(data, piped):
    X, y = make_moons(200, noise=0.3, random_state=0)
    if data == "iris":
        X, y = load_iris(return_X_y=True)
    fitted = with_probabilities(X, y, piped)
    rows = X + np.random.default_rng(0).normal(size=X.shape)
    expected = fitted.predict_proba(rows)
    for cls in (kmviz.ExactClassifier, kmviz.NSVClassifier, kmviz.ReducedSetClassifier):
        clf = cls(FrozenEstimator(fitted)).fit(X)
        np.testing.assert_array_equal(clf.predict_proba(rows), expected)


def test_without_them_there_are_none():
    X, y = make_moons(100, noise=0.3, random_state=0)
    clf = kmviz.ExactClassifier().fit(X, y)
    assert not hasattr(clf, "predict_proba")
