"""Generators repeat themselves and are as hard as the papers' problems."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from kmviz import datasets

SHAPES = {
    "two_moons": (400, 2000, 2),
    "two_spirals": (2000, 2000, 2),
    "checkerboard": (2000, 2000, 2),
    "ndcc": (2000, 2000, 5),
    "ringnorm": (400, 7000, 20),
    "twonorm": (400, 7000, 20),
    "waveform": (400, 4600, 21),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shape_and_seed(name):
    n, n_test, d = SHAPES[name]
    data = datasets.load(name)
    assert (data.X_train.shape, data.X_test.shape) == ((n, d), (n_test, d))
    np.testing.assert_array_equal(data.X_test, datasets.load(name, seed=0).X_test)
    other = datasets.load(name, seed=1)
    assert not np.array_equal(data.X_train, other.X_train)
    small = datasets.load(name, n=50, n_test=30, noise=0.0)
    assert (len(small.y_train), len(small.y_test)) == (50, 30)
    with pytest.raises(ValueError, match="n=1 is too few"):
        datasets.load(name, n=1)


@pytest.mark.parametrize(
    ("name", "share"), [("ndcc", 0.6), ("waveform", 1 / 3), ("ringnorm", 0.5), ("two_spirals", 0.5)]
)
def test_class_balance(name, share):
    data = datasets.load(name, n=20_000)
    assert (data.y_train == 1).mean() == pytest.approx(share, abs=0.015)


@pytest.mark.parametrize(
    ("name", "n", "neighbors", "accuracy"),
    [("two_spirals", 60_000, 40, 0.885), ("checkerboard", 20_000, 15, 0.93)],
)
def test_local_methods_reach_the_published_level(name, n, neighbors, accuracy):
    data = datasets.load(name, n=n, n_test=10_000)
    local = KNeighborsClassifier(neighbors).fit(data.X_train, data.y_train)
    assert local.score(data.X_test, data.y_test) == pytest.approx(accuracy, abs=0.012)


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("two_moons", 0.95, 0.99),
        ("twonorm", 0.96, 0.985),
        ("ringnorm", 0.97, 0.99),
        ("waveform", 0.88, 0.92),
        ("ndcc", 0.78, 0.87),
    ],
)
def test_svm_accuracy(name, low, high):
    data = datasets.load(name)
    svc = SVC().fit(data.X_train, data.y_train)
    assert low <= svc.score(data.X_test[:2000], data.y_test[:2000]) <= high


def test_ndcc_ceiling():
    """The Bayes rule, from the generator's own densities, is right on about 86%."""
    data = datasets.load("ndcc", n_test=20_000)
    centres = np.vstack([r * np.vstack([np.eye(5), -np.eye(5)]) for r in (100, 300, 500)])
    calm = datasets.load("ndcc", n=3000, noise=1.0)
    owners = KNeighborsClassifier(1).fit(calm.X_train, calm.y_train).predict(centres)
    distances = ((data.X_test[:, None] - centres) ** 2).sum(axis=2)
    bayes = np.sign(np.exp(-distances / (2 * 68.0**2)) @ owners)
    assert (bayes == data.y_test).mean() == pytest.approx(0.86, abs=0.01)


def test_checkerboard_flips_and_jitter():
    clean = datasets.load("checkerboard", noise=0.0)
    board = np.where(np.floor(clean.X_train).sum(axis=1) % 2 == 0, 1, -1)
    np.testing.assert_array_equal(board, clean.y_train)
    flipped = datasets.load("checkerboard", n=20_000, noise=0.2)
    board = np.where(np.floor(flipped.X_train).sum(axis=1) % 2 == 0, 1, -1)
    assert (board != flipped.y_train).mean() == pytest.approx(0.2, abs=0.01)
    moved = datasets.load("checkerboard", noise=0.0, jitter=0.05)
    assert np.std(moved.X_train - clean.X_train) == pytest.approx(0.05, rel=0.05)
    with pytest.raises(ValueError, match="between 0 and 1"):
        datasets.load("checkerboard", noise=2)
