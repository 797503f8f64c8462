"""The promise: what held-out rows prove, and how often it is broken."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC

from kmviz import NSVClassifier
from kmviz.methods.nsv import proof
from kmviz.methods.promise import interval, rows_needed

DRAWS, RATE, CONFIDENCE = 200, 0.02, 0.9


def moons(n, seed):
    return make_moons(n, noise=0.3, random_state=seed)


def three_rings(n, seed):
    rng = np.random.default_rng(seed)
    y, angle = rng.integers(0, 3, n), rng.uniform(0, 2 * np.pi, n)
    size = 1.0 + y + rng.normal(0, 0.4, n)
    return np.column_stack([size * np.cos(angle), size * np.sin(angle)]), y


@pytest.mark.parametrize(
    ("start", "draw", "n_rows"),
    [("empty", moons, 40), ("reduced", moons, 20), ("reduced", three_rings, 24)],
    ids=["empty", "reduced", "shared"],
)
def test_the_promise_is_broken_no_more_often_than_it_says(start, draw, n_rows, monkeypatch):
    """Thresholds from few rows; whatever they are, rows that set nothing have to find them out."""
    monkeypatch.setattr(proof, "MARGINS", (np.inf, 4.0, 2.0, 1.0, 0.5, 0.0))
    svc = SVC(gamma=2.0).fit(*draw(150, 0))
    pool, rng, broken, margins = draw(1_000, 1)[0], np.random.default_rng(0), 0, set()
    exact = svc.predict(pool)
    clf = NSVClassifier(
        FrozenEstimator(svc), start=start, linear_filter=False, confidence=CONFIDENCE,
        random_state=0,
    )  # fmt: skip
    for i in range(DRAWS):
        if i % 50 == 0:
            clf.set_params(max_disagreement=None).fit(draw(n_rows, 2 + i)[0])
            clf.set_params(max_disagreement=RATE)
        rows = rng.choice(len(pool), 150)
        clf.prove(pool[rows], exact[rows])
        margins.add(clf.margin_)
        broken += np.mean(clf.predict(pool) != exact) > RATE
    assert len(margins) > 1  # else nothing was at stake
    assert interval(int(broken), DRAWS)[0] <= 1 - CONFIDENCE


def test_the_promise_is_recorded_and_kept_on_its_rows():
    X, y = moons(2000, 0)
    clf = NSVClassifier(SVC(gamma=2.0), max_disagreement=0.02, random_state=0).fit(X, y)
    assert clf.promise_.rate <= 0.02
    assert clf.promise_.rows == 500
    assert clf.promise_.confidence == 0.95
    strict = NSVClassifier(SVC(gamma=2.0), max_disagreement=0.0065, random_state=0).fit(X, y)
    assert strict.margin_ >= clf.margin_
    assert NSVClassifier().fit(X[:100], y[:100]).promise_ is None


def test_half_of_the_calibration_rows_prove():
    X, y = moons(300, 0)
    unseen = moons(1000, 1)[0]
    clf = NSVClassifier(max_disagreement=0.05, random_state=0).fit(X, y, X_calibration=unseen)
    assert clf.promise_.rows == 500
    assert clf.engines_[0].envelope.n_rows == 500


def test_too_few_rows_are_told_how_many_it_takes():
    X, y = moons(400, 0)
    with pytest.raises(ValueError, match=str(rows_needed(0.001))):
        NSVClassifier(max_disagreement=0.001).fit(X, y)
    with pytest.raises(ValueError, match="prove the promise"):
        NSVClassifier(max_disagreement=0.5).fit(X, y, X_calibration=X[:1])


def test_nothing_is_trained_for_a_promise_that_cannot_be_proved(monkeypatch):
    X, y = moons(400, 0)
    monkeypatch.setattr(SVC, "fit", lambda *_: pytest.fail("trained"))
    with pytest.raises(ValueError, match=str(rows_needed(0.001))):
        NSVClassifier(max_disagreement=0.001).fit(X, y)
    with pytest.raises(ValueError, match="Unknown label type"):
        NSVClassifier(max_disagreement=0.1).fit(X, X[:, 0])


def test_signs_that_rounding_decides_are_told(monkeypatch):
    X, y = moons(400, 0)
    monkeypatch.setattr(
        proof, "_differing", lambda _, rows, *__: np.arange(len(rows)) < 20
    )  # even with every vector touched
    with pytest.raises(ValueError, match=r"20 of 100 rows .* rounding decides its sign"):
        NSVClassifier(calibration="train", max_disagreement=0.1).fit(X, y)


def test_three_classes_share_one_promise():
    X, y = load_iris(return_X_y=True)
    clf = NSVClassifier(max_disagreement=0.2, random_state=0).fit(X, y)
    exact = clf.rule_.scores(np.column_stack([m.decision_function(X) for m in clf.machines_]))
    assert np.mean(clf.predict(X) != exact.argmax(axis=1)) <= clf.promise_.rate
    assert clf.promise_.rows == 38
