"""Reduced vectors that all pairs of classes share: the loop, the promise, readings and files."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC

from kmviz import NSVClassifier
from kmviz.io.storage import StorageError, dumps, load
from kmviz.kernels import Normalized, Polynomial
from kmviz.methods.nsv.classes import leading
from kmviz.methods.nsv.landmarks import Landmarks

X, Y = load_digits(return_X_y=True)
FEW = Y < 4
X, Y = X[FEW] / 16.0, Y[FEW]
TRAIN, CALIBRATION, QUERIES = X[:160], X[160:460], X[460:700]


def leads(outputs, n_classes):
    """The class ahead in all its pairs, -1 where none is, and its smallest output: the twin."""
    first, second = np.triu_indices(n_classes, 1)
    against = np.full((len(outputs), n_classes, n_classes), np.inf)
    against[:, first, second], against[:, second, first] = outputs, -outputs
    least = np.where(against > 0, against, -np.inf).min(axis=2)
    return np.where((least > 0).any(axis=1), least.argmax(axis=1), -1), least.max(axis=1)


@pytest.fixture(scope="module", params=["rbf", "normalised"])
def clf(request):
    kernel = "rbf" if request.param == "rbf" else Normalized(Polynomial(5))
    svc = SVC(kernel=kernel, C=10.0).fit(TRAIN, Y[:160])
    clf = NSVClassifier(FrozenEstimator(svc), start="reduced", random_state=0)
    return clf.fit(TRAIN, X_calibration=CALIBRATION)


def test_stages_equal_what_they_say_in_words(clf):
    shared, landmarks = clf.shared_.under(2.0), clf.shared_.landmarks
    needed = shared.needed + 2.0
    outputs, stage, winner, _ = shared.run(QUERIES)
    assert set(stage) >= {-1, 0}  # else this proves little
    for r, x in enumerate(QUERIES[:60]):
        for s, end in enumerate(shared.ends):
            values = landmarks.values(landmarks.read(x[None]), 0, int(end))
            z = values @ shared.weights[s, :end] - shared.bias[s]
            who, lead = leads(z, shared.n_classes)
            if s == stage[r] or s == len(shared.ends) - 1:
                break
            assert lead[0] <= needed[s] + 1e-3
        assert winner[r] == who[0]
        assert (lead[0] > needed[s]) == (stage[r] >= 0)
        np.testing.assert_allclose(outputs[r] * shared.scale[s], z[0], rtol=1e-3, atol=2e-3)


def test_landmarks_are_kernel_values(clf):
    form = clf.engines_[0].form
    narrow, wide = (TRAIN, QUERIES[:50]), (np.tile(TRAIN, 3), np.tile(QUERIES[:50], 3))
    for support, rows in (narrow, wide):  # 61 pixels are ever dark: 64 components hold all of them
        landmarks = Landmarks(support[:20], form, support, np.float64)
        assert landmarks.projects == (support.shape[1] > 128)
        found = landmarks.values(landmarks.read(rows), 0, 20)
        np.testing.assert_allclose(found, form(rows, support[:20]), rtol=0, atol=1e-3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_loop_equals_its_twin(dtype):
    rng = np.random.default_rng(0)
    for n_classes in (3, 5, 10):
        n_pairs = n_classes * (n_classes - 1) // 2
        outputs = rng.integers(-2, 9, size=(500, n_pairs)).astype(dtype)
        outputs[0, 0], outputs[1] = np.nan, -0.0
        for one, other in zip(leading(outputs, n_classes), leads(outputs, n_classes), strict=True):
            np.testing.assert_array_equal(one, other)


def test_rows_are_answered_alike_alone_and_among_others(clf):
    outputs, stage, winner, _ = clf.shared_.run(QUERIES)
    for r in range(40):
        alone = clf.shared_.run(QUERIES[r : r + 1])
        np.testing.assert_allclose(alone[0][0], outputs[r], rtol=0, atol=1e-3)
        assert (alone[1][0], alone[2][0]) == (stage[r], winner[r])


def test_single_pairs_are_asked_where_machines_are_large(clf):
    other = pickle.loads(pickle.dumps(clf))
    other.shared_ = other.shared_.under(2.0)
    other.shared_.by_pairs, other.shared_.sure = True, clf.shared_.needed[-1]
    stage, steps = other.shared_.run(QUERIES)[1], other.answer_pairs(QUERIES)[1]
    asked = steps[:, 1:].any(axis=1)
    assert asked.any()
    assert not asked[stage >= 0].any()
    assert (steps[asked] > 0).sum(axis=1).mean() < 5  # of 6 pairs, with the stages'
    voted = other.classes_[other.winners(other.decision_function(QUERIES))]
    np.testing.assert_array_equal(other.predict(QUERIES), voted)
    assert np.mean(voted != clf.estimator_.predict(QUERIES)) <= 0.01


def test_predict_is_the_vote_of_decision_function(clf):
    voted = clf.classes_[clf.winners(clf.decision_function(QUERIES))]
    np.testing.assert_array_equal(clf.predict(QUERIES), voted)
    np.testing.assert_array_equal(clf.predict(QUERIES[:1]), voted[:1])
    assert np.mean(voted != clf.estimator_.predict(QUERIES)) <= 0.01


def test_steps_are_the_vectors_asked(clf):
    stage = clf.shared_.run(QUERIES)[1]
    steps, ends = clf.steps(QUERIES), clf.shared_.ends
    np.testing.assert_array_equal(steps[stage == 0], ends[0])
    distinct = len(np.unique(np.vstack([m.vectors for m in clf.machines_]), axis=0))
    np.testing.assert_array_equal(steps[stage < 0], ends[-1] + distinct)
    assert steps.mean() < sum(machine.n_vectors for machine in clf.machines_)


def test_calibration_rows_are_never_predicted_otherwise(clf):
    np.testing.assert_array_equal(clf.predict(CALIBRATION), clf.estimator_.predict(CALIBRATION))


def test_a_wider_margin_leaves_more_to_the_exact_machines(clf):
    study, before = clf.study(QUERIES), -1
    for margin in (0.0, 1.0, 4.0):
        reading, other = study.read(margin=margin), study.classifier(margin=margin)
        np.testing.assert_array_equal(reading.steps, other.steps(QUERIES))
        np.testing.assert_array_equal(reading.outputs, other.decision_function(QUERIES))
        assert reading.overhead == other.overhead_
        left = (other.shared_.run(QUERIES)[1] < 0).sum()
        assert left >= before
        before = left
    never = clf.refitted(margin=np.inf)
    np.testing.assert_array_equal(never.predict(QUERIES), clf.estimator_.predict(QUERIES))


def test_the_promise_is_over_the_prediction():
    svc = SVC(C=10.0).fit(TRAIN, Y[:160])
    clf = NSVClassifier(
        FrozenEstimator(svc), start="reduced", max_disagreement=0.03, random_state=0
    ).fit(TRAIN, X_calibration=CALIBRATION)
    assert clf.promise_.rows == 150
    assert clf.shared_.margin == clf.margin_
    assert np.mean(clf.predict(QUERIES) != svc.predict(QUERIES)) <= 0.03


def test_stored_and_loaded(clf):
    for again in (pickle.loads(pickle.dumps(clf)), load(dumps(clf))):
        np.testing.assert_array_equal(again.predict(QUERIES), clf.predict(QUERIES))
        np.testing.assert_array_equal(again.steps(QUERIES), clf.steps(QUERIES))
    broken = pickle.loads(pickle.dumps(clf))
    broken.shared_.ends = np.array([10**6])
    with pytest.raises(StorageError):
        load(dumps(broken))


def test_without_unseen_rows_every_pair_has_vectors_of_its_own():
    clf = NSVClassifier(SVC(C=10.0), start="reduced", calibration="train", random_state=0)
    assert clf.fit(X[:120], Y[:120]).shared_ is None
    assert any(len(engine.start_candidates.ends) for engine in clf.engines_)


def test_no_filter_is_trained_where_none_is_asked(clf):
    plain = clone(clf).set_params(linear_filter=False).fit(TRAIN, X_calibration=CALIBRATION)
    assert all(one.linear is None for one in plain.calibrated_)
    np.testing.assert_array_equal(plain.predict(QUERIES), clf.predict(QUERIES))
    assert plain.refitted(start="approximate").start == "approximate"
    with pytest.raises(ValueError, match="fitted without one"):
        plain.refitted(linear_filter=True)


def test_rows_that_are_no_numbers_are_refused_and_huge_ones_left_to_the_machines(clf):
    odd = QUERIES[:3].copy()
    odd[1, 5] = np.inf
    assert clf.shared_.run(odd)[1][1] == -1
    with pytest.raises(ValueError, match="infinity"):
        clf.predict(odd)
    odd[1] = 1e25
    stage = clf.shared_.run(odd)[1]
    if clf.shared_.landmarks.is_radial:  # 1e50 is more than float32 holds
        assert stage[1] == -1
    np.testing.assert_array_equal(clf.predict(odd), clf.estimator_.predict(odd))
