"""Nearest support vectors read again: the same bits as asking, and as fitting anew."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC

from kmviz import NSVClassifier, datasets
from kmviz.io.storage import dumps, load
from kmviz.kernels import Normalized, Polynomial
from kmviz.methods.nsv import study as nsv_study
from kmviz.methods.nsv.calibration import Calibrator

X, Y = make_moons(200, noise=0.25, random_state=0)
QUERIES = make_moons(150, noise=0.25, random_state=1)[0]
CHOICES = [
    {"window": 0},
    {"window": 200, "linear_filter": False},
    {"linear_filter": False},
    {"linear_filter": False, "margin": 0.0},
    {"margin": 1.0},
    {"window": 30, "margin": 0.125},
]


def assert_equal_answers(one, other, rows, note=""):
    np.testing.assert_array_equal(one.steps(rows), other.steps(rows), note)
    np.testing.assert_array_equal(one.decision_function(rows), other.decision_function(rows), note)
    assert one.overhead_ == other.overhead_


def assert_reads_as_it_fits(clf, rows, y, queries, choices=CHOICES):
    study = clf.study(queries)
    for choice in choices:
        reading, found = study.read(**choice), study.classifier(**choice)
        np.testing.assert_array_equal(reading.steps, found.steps(queries), str(choice))
        np.testing.assert_array_equal(reading.outputs, found.decision_function(queries))
        fresh = clone(clf).set_params(**choice).fit(rows, y)
        assert_equal_answers(found, fresh, queries, str(choice))
        assert found.get_params(deep=False).items() >= choice.items()


def test_stages_are_chosen_anew_without_the_filter():
    data = datasets.load("twonorm")
    rows, y = data.X_train[:300], data.y_train[:300]
    clf = NSVClassifier(SVC(), n_components=5, start="approximate", random_state=0).fit(rows, y)
    queries = data.X_test[:500]
    choice = {"linear_filter": False, "window": 200}
    assert_reads_as_it_fits(clf, rows, y, queries, [choice])
    plain, own = clf.study(queries).classifier(**choice), clf.engines_[0].tables.ends
    assert not np.array_equal(plain.engines_[0].tables.ends, own)  # else this proves nothing


@pytest.mark.parametrize("start", ["empty", "approximate", "reduced"])
@pytest.mark.parametrize("order", ["nearest", "tug_of_war", "exact"])
def test_every_order_and_start_reads_as_it_fits(order, start):
    clf = NSVClassifier(SVC(C=5.0), order=order, start=start, n_components=1, random_state=0)
    assert_reads_as_it_fits(clf.fit(X, Y), X, Y, QUERIES)


@pytest.mark.parametrize("start", ["empty", "approximate", "reduced"])
def test_large_tables_in_float32_read_as_they_fit(start):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 600)) * np.linspace(3.0, 0.1, 600)
    y = rows[:, 0] * rows[:, 1] > 0
    kernel = SVC(kernel="poly", degree=3, coef0=1.0)
    clf = NSVClassifier(kernel, start=start, n_components=7, calibration="train", random_state=0)
    clf.fit(rows, y)
    assert clf.engines_[0].tables.vectors.dtype == np.float32
    choices = CHOICES[1:2] if start == "reduced" else CHOICES
    assert_reads_as_it_fits(clf, rows, y, rng.normal(size=(90, 600)), choices)


@pytest.mark.parametrize("margin", [None, 0.5])
def test_a_frozen_machine_reads_as_it_fits(margin):
    svc = SVC(kernel=Normalized(Polynomial(3)), C=5.0).fit(X, Y)
    clf = NSVClassifier(FrozenEstimator(svc), margin=margin, random_state=0).fit(QUERIES)
    assert_reads_as_it_fits(clf, QUERIES, None, X)


def test_three_classes_and_what_a_reading_says_of_them():
    rows, y = load_iris(return_X_y=True)
    clf = NSVClassifier(SVC(C=10.0), random_state=0).fit(rows[::2], y[::2])
    assert_reads_as_it_fits(clf, rows[::2], y[::2], rows[1::2])
    reading = clf.study(rows[1::2]).read()
    assert reading.stop.shape == reading.filtered.shape == (75, 3)
    assert reading.low.shape == (3, 1 + max(m.n_vectors for m in clf.machines_))
    np.testing.assert_array_equal(reading.steps, (reading.stop + 1).sum(axis=1))


def own_kernel(A, B):
    return np.exp(-((np.asarray(A)[:, None] - np.asarray(B)[None]) ** 2).sum(axis=2))


def test_a_kernel_of_ones_own_reads_as_it_fits():
    clf = NSVClassifier(SVC(kernel=own_kernel), calibration="train", random_state=0).fit(X, Y)
    assert_reads_as_it_fits(clf, X, Y, QUERIES[:20], CHOICES[:3])


def test_rows_beyond_the_room_are_walked_anew(monkeypatch):
    clf = NSVClassifier(SVC(C=5.0), start="approximate", n_components=1, random_state=0).fit(X, Y)
    known = clf.study(QUERIES).read(window=3)
    monkeypatch.setattr(nsv_study, "MOST_BYTES", 1000)
    study = clf.study(QUERIES)
    for name, array in study.read(window=3).arrays().items():
        np.testing.assert_array_equal(array, getattr(known, name))
    assert not study._walks


def test_a_reading_says_what_decided():
    rows = np.random.default_rng(0).normal(size=(350, 6))
    y = rows[:, 0] * rows[:, 1] > 0
    clf = NSVClassifier(SVC(gamma=0.2), start="approximate", n_components=1, random_state=0)
    study = clf.fit(rows[:200], y[:200]).study(rows[200:])
    for choice in ({}, {"linear_filter": False, "margin": 0.0}):
        reading = study.read(**choice)
        for row in range(0, 150, 10):
            trace = study.trace(row, **choice)
            assert trace.filtered == reading.filtered[row]
            assert trace.stop == reading.stop[row] == reading.steps[row] - 1
            assert trace.output == reading.outputs[row]
            np.testing.assert_array_equal(trace.low, reading.low)
            if reading.stage[row] >= 0:
                assert trace.stages[reading.stage[row], 1] == reading.outputs[row]
    assert (reading.stop > 0).any()
    assert (reading.stage >= 0).any()


def test_a_promise_holds_for_its_own_choice_only():
    rows, y = make_moons(2000, noise=0.3, random_state=0)
    clf = NSVClassifier(SVC(gamma=2.0), max_disagreement=0.02, random_state=0).fit(rows, y)
    study = clf.study(QUERIES)
    assert study.classifier().promise_ == clf.promise_
    for choice in ({"window": 0}, {"margin": 0.0}, {"linear_filter": False}):
        other = study.classifier(**choice)
        assert other.promise_ is None
        assert other.max_disagreement is None
        assert other.margin_ == choice.get("margin", clf.margin_) == other.margin
    assert clf.promise_ is not None


@pytest.mark.parametrize(
    "parameters",
    [{}, {"order": "tug_of_war"}, {"n_components": 1, "start": "approximate"},
     {"start": "reduced"}, {"start": "reduced", "linear_filter": False},
     {"order": "exact", "window": 3, "linear_filter": False}, {"margin": 0.7}],
    ids=str,
)  # fmt: skip
def test_refitted_is_a_fresh_fit_without_training(parameters, monkeypatch):
    clf = NSVClassifier(SVC(C=5.0), random_state=0).fit(X, Y)
    fresh = clone(clf).set_params(**parameters).fit(X, Y)
    before = clf.decision_function(QUERIES)
    monkeypatch.setattr(SVC, "fit", lambda *_, **__: pytest.fail("trained"))
    monkeypatch.setattr(Calibrator, "__call__", lambda *_: pytest.fail("calibrated"))
    found = clf.refitted(**parameters)
    assert_equal_answers(found, fresh, QUERIES)
    assert found.margin_ == fresh.margin_
    assert found.get_params(deep=False).items() >= parameters.items()
    assert_equal_answers(
        found.refitted(window=40), clf.refitted(**{**parameters, "window": 40}), QUERIES
    )
    np.testing.assert_array_equal(clf.decision_function(QUERIES), before)


def test_refitted_proves_its_promise_anew():
    rows, y = make_moons(1200, noise=0.3, random_state=0)
    clf = NSVClassifier(SVC(gamma=2.0), max_disagreement=0.03, random_state=0).fit(rows, y)
    fresh = clone(clf).set_params(window=0).fit(rows, y)
    found = clf.refitted(window=0)
    assert found.promise_ == fresh.promise_
    assert_equal_answers(found, fresh, QUERIES)


def test_what_calibrates_is_in_no_stored_file():
    clf = NSVClassifier(SVC(C=5.0), start="approximate", n_components=1, random_state=0).fit(X, Y)
    for again in (pickle.loads(pickle.dumps(clf)), load(dumps(clf))):
        assert_equal_answers(again, clf, QUERIES)
        assert not hasattr(again, "calibrated_")
        with pytest.raises(ValueError, match="call fit"):
            again.refitted(window=3)
        plain = again.study(QUERIES).classifier(linear_filter=False)
        assert_equal_answers(plain, clf.refitted(linear_filter=False), QUERIES)


def test_refitted_refuses_what_takes_training():
    clf = NSVClassifier(SVC(C=5.0), linear_filter=False, calibration="train").fit(X, Y)
    with pytest.raises(ValueError, match="calibration cannot be changed without fitting"):
        clf.refitted(calibration="cross_fit")
    with pytest.raises(ValueError, match="fitted without one"):
        clf.refitted(linear_filter=True)
