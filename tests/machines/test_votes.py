"""What outputs are decided as, beside scikit-learn's own answers."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC, OneClassSVM
from sklearn.utils.multiclass import _ovr_decision_function

import kmviz
from kmviz import (
    AnytimeClassifier,
    ExactClassifier,
    NSVClassifier,
    ReducedSetClassifier,
    SVTreeClassifier,
    VirtualSVClassifier,
)
from kmviz.kernels import Linear
from kmviz.machines import KernelFisherClassifier
from kmviz.machines.votes import Rule, at_zero, by_votes


@pytest.mark.parametrize("n_classes", [2, 3, 4, 10])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_as_scikit_learn_aggregates(n_classes, dtype):
    rng = np.random.default_rng(n_classes)
    outputs = rng.normal(size=(50, n_classes * (n_classes - 1) // 2)).astype(dtype)
    outputs[:5] = 0.0
    outputs[5:10] = np.sign(outputs[5:10])
    expected = _ovr_decision_function(outputs < 0, -outputs, n_classes)
    np.testing.assert_allclose(by_votes(outputs, n_classes), expected, rtol=1e-6, atol=1e-6)
    assert by_votes(outputs[:0], n_classes).shape == (0, n_classes)


def test_a_tie_of_votes_goes_to_the_larger_sum():
    circle = np.array([[2.0, -1.0, 1.5]])  # 0 beats 1, 2 beats 0, 1 beats 2
    votes = by_votes(circle, 3)
    np.testing.assert_allclose(votes, [[1 + 1 / 6, 1 - 0.5 / 4.5, 1 - 0.5 / 4.5]])
    assert votes.argmax() == 0


def test_a_pair_that_breaks_no_ties_is_libsvms_vote():
    outputs = np.random.default_rng(0).choice([-1.0, 0.0, 1.0], size=(300, 6))
    wins = np.where(outputs > 0, 1.0, -1.0)
    votes = np.rint(by_votes(wins, 4))
    found = Rule(at_zero=1, breaks_ties=False).winners(outputs)
    np.testing.assert_array_equal(found, votes.argmax(axis=1))


ROWS, SIDES = np.array([[-1.0], [1.0]]), np.array(["no", "yes"])
ASKED = np.array([[0.0]])  # as far from both: f = 0

TWO = {
    "SVC": (SVC(kernel="linear"), 1),
    "NuSVC": (NuSVC(kernel="linear"), 1),
    "LinearSVC": (LinearSVC(), 0),
    "one against the rest": (OneVsRestClassifier(SVC(kernel="linear")), 0),
    "kernel Fisher": (KernelFisherClassifier(Linear()), 0),
    "in a pipeline": (make_pipeline(StandardScaler(), SVC(kernel="linear")), 1),
    "a threshold": (
        FixedThresholdClassifier(LinearSVC(), threshold=0.0, response_method="decision_function"),
        1,
    ),
    "a threshold for the first": (
        FixedThresholdClassifier(
            SVC(kernel="linear"), threshold=0.0, pos_label="no", response_method="decision_function"
        ),
        0,
    ),
}


@pytest.mark.parametrize("name", TWO)
@pytest.mark.parametrize("method", [ExactClassifier, AnytimeClassifier, NSVClassifier])
def test_at_zero_two_classes_are_answered_as_the_model_does(name, method):
    model, place = TWO[name]
    fitted = model.fit(ROWS, SIDES)
    assert fitted.decision_function(ASKED)[0] == 0.0
    assert at_zero(fitted) == place
    assert fitted.predict(ASKED)[0] == SIDES[place]
    clf = method(FrozenEstimator(fitted)).fit(np.vstack([ROWS, ROWS * 0.9]))
    assert clf.slim().predict(ASKED)[0] == SIDES[place]


def test_at_zero_a_one_class_machine_answers_minus_one():
    fitted = OneClassSVM(kernel="linear", nu=0.5).fit(ROWS)
    fitted._intercept_ = fitted.intercept_ = np.array([0.0])
    assert fitted.decision_function(ASKED)[0] == 0.0
    assert fitted.predict(ASKED)[0] == -1
    assert ExactClassifier(FrozenEstimator(fitted)).fit(ROWS).slim().predict(ASKED)[0] == -1


def test_at_zero_a_calibrated_model_answers_the_first():
    calibrator = CalibratedClassifierCV(FrozenEstimator(LinearSVC().fit(ROWS, SIDES)))
    assert at_zero(calibrator.fit(ROWS.repeat(5, axis=0), SIDES.repeat(5))) == 0


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("breaks_ties", [False, True])
@pytest.mark.parametrize(
    "method",
    [
        ExactClassifier(),
        ExactClassifier(dtype="float64"),
        AnytimeClassifier(),
        NSVClassifier(linear_filter=False),
        NSVClassifier(margin=np.inf),
        NSVClassifier(start="approximate"),
        ReducedSetClassifier(n_vectors=1.0, method="selection"),
        SVTreeClassifier(),
        VirtualSVClassifier(),
    ],
    ids=lambda one: type(one).__name__,
)
def test_rows_far_from_all_vectors_are_answered_as_the_model_does(classes, breaks_ties, method):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30 * classes, 5)), np.arange(classes).repeat(30)
    asked = rng.normal(size=(100, 5))
    svc = SVC(gamma=1e4, break_ties=breaks_ties).fit(X, y)
    clf = clone(method).set_params(estimator=FrozenEstimator(svc)).fit(asked)
    assert (svc.predict(asked) == (0 if breaks_ties and classes == 3 else classes - 1)).all()
    np.testing.assert_array_equal(clf.predict(asked), svc.predict(asked))
    np.testing.assert_array_equal(clf.slim().predict(asked), svc.predict(asked))
    assert clf.predict(asked[:1])[0] == svc.predict(asked[:1])[0]


def grid(seed):
    """A linear SVC on whole numbers, and whole numbers to ask: f = 0 but for rounding for many."""
    rng = np.random.default_rng(seed)
    svc = SVC(kernel="linear", C=0.1).fit(rng.integers(-3, 4, size=(8, 3)), np.arange(8) % 2)
    return svc, rng.integers(-5, 6, size=(5_000, 3)).astype(float)


@pytest.mark.parametrize("seed", [99, 198, 269])
@pytest.mark.parametrize("method", [ExactClassifier, AnytimeClassifier])
@pytest.mark.parametrize("scaled", [False, True])
def test_where_rounding_decides_the_model_itself_answers(seed, method, scaled):
    fitted, asked = grid(seed)
    if scaled:
        fitted, asked = make_pipeline(MaxAbsScaler().fit(asked * 7.0), fitted), asked * 35.0
    clf = method(FrozenEstimator(fitted)).fit(asked)
    np.testing.assert_array_equal(clf.predict(asked), fitted.predict(asked))
    one = [clf.predict(x[None])[0] for x in asked[:100]]
    np.testing.assert_array_equal(one, fitted.predict(asked[:100]))
    assert (clf.slim().predict(asked) != fitted.predict(asked)).sum() > 20
    clf.classes_ = np.array(["no", "yes"])  # as a table names them
    np.testing.assert_array_equal(clf.predict(asked) == "yes", fitted.predict(asked) == 1)


def test_rows_that_check_nothing_are_counted_and_said():
    svc, asked = grid(99)
    with pytest.warns(UserWarning, match="support vectors"):  # the grid holds them, too
        fast = kmviz.accelerate(svc, asked, method="exact")
    near = len(fast.near_zero(asked))
    assert (np.abs(svc.decision_function(asked)) < 1e-13).sum() == near > 400
    assert (fast.promise_.checked, fast.promise_.near) == (5_000 - near, near)
    assert f"rounding decides the sign of f(x) for {near} further rows" in str(fast.promise_)
    assert (fast.predict(asked) == svc.predict(asked)).all()
