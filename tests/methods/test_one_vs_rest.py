"""One machine for each class, against the rest, in every method."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import kmviz
from kmviz import (
    AnytimeClassifier,
    ExactClassifier,
    NSVClassifier,
    ReducedSetClassifier,
    SVTreeClassifier,
    VirtualSVClassifier,
)
from kmviz.kernels import RBF
from kmviz.machines import KernelFisherClassifier, KernelMachine

X, Y = load_digits(n_class=5, return_X_y=True)
X, Y = X / 16.0, np.array(["zero", "one", "two", "three", "four"])[Y]
TRAIN, ASK = slice(0, 250), slice(250, 700)
REST = OneVsRestClassifier(SVC(C=10.0))
FITTED = clone(REST).fit(X[TRAIN], Y[TRAIN])
OWN = [KernelMachine.from_estimator(one) for one in FITTED.estimators_]

METHODS = {
    "exact": ExactClassifier(),
    "exact64": ExactClassifier(dtype="float64"),
    "anytime": AnytimeClassifier(),
    "nsv": NSVClassifier(random_state=0),
    "nsv reduced": NSVClassifier(start="reduced", random_state=0),
    "reduced": ReducedSetClassifier(n_vectors=0.4, random_state=0),
    "reduced shared": ReducedSetClassifier(n_vectors=0.4, shared=True, random_state=0),
    "sequential": ReducedSetClassifier(n_vectors=0.4, sequential=True, random_state=0),
    "svtree": SVTreeClassifier(random_state=0),
    "virtual": VirtualSVClassifier(),
}
SAME = ("exact", "exact64", "anytime", "virtual")
ROUGH = ("svtree",)  # a tree of few steps


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("name", METHODS)
def test_every_method_keeps_a_machine_for_each_class(name, frozen):
    clf = clone(METHODS[name]).set_params(estimator=FrozenEstimator(FITTED) if frozen else REST)
    clf.fit(X[ASK] if frozen else X[TRAIN], None if frozen else Y[TRAIN])
    assert len(clf.machines_) == 5
    outputs = clf.decision_function(X[ASK])
    assert outputs.shape == (450, 5)
    answers = clf.predict(X[ASK])
    np.testing.assert_array_equal(answers, clf.classes_[outputs.argmax(axis=1)])
    wanted = clf.estimator_.predict(X[ASK])
    assert np.mean(answers != wanted) <= (0.0 if name in SAME else 0.2 if name in ROUGH else 0.06)
    assert clf.steps(X[ASK]).shape == (450,)
    trace = clf.trace(X[300], pair="two")
    place = list(clf.classes_).index("two")
    if name != "sequential":
        exact = KernelMachine.from_estimator(clf.estimator_.estimators_[place])
        assert trace.exact == pytest.approx(exact.decision_function(X[300:301])[0])
    for row in range(300, 310):
        found = [clf.trace(X[row], pair=own).output for own in clf.classes_]
        np.testing.assert_allclose(found, clf.decision_function(X[row : row + 1])[0], atol=1e-5)
    assert clf.trace(X[300]).stop >= 0
    with pytest.raises(ValueError, match="pair must be one of the classes"):
        clf.trace(X[300], pair=("one", "two"))
    again = clf.study(X[300:340]).read()
    np.testing.assert_array_equal(again.outputs, clf.decision_function(X[300:340]))


@pytest.mark.parametrize("name", METHODS)
def test_a_stored_one_answers_as_before(name, tmp_path):
    clf = clone(METHODS[name]).set_params(estimator=FrozenEstimator(FITTED)).fit(X[ASK])
    kmviz.save(clf, tmp_path / "rest.skops")
    again = kmviz.load(tmp_path / "rest.skops")
    np.testing.assert_array_equal(again.predict(X[ASK]), clf.predict(X[ASK]))


def test_machines_stand_in_the_order_of_the_classes():
    clf = ExactClassifier(FrozenEstimator(FITTED)).fit(X[ASK])
    assert clf.classes_.tolist() == FITTED.classes_.tolist()
    for machine, own in zip(clf.machines_, OWN, strict=True):
        np.testing.assert_array_equal(machine.beta, own.beta)
    found = clf.decision_function(X[ASK])
    np.testing.assert_allclose(found, FITTED.decision_function(X[ASK]), atol=1e-3)


def test_bounds_hold_the_output_of_each_class():
    clf = AnytimeClassifier(FrozenEstimator(FITTED)).fit(X[ASK])
    lower, upper = clf.bounds(X[ASK])
    assert lower.shape[:2] == (450, 5)
    exact = FITTED.decision_function(X[ASK])[:, :, None]
    assert (lower <= exact).all()
    assert (exact <= upper).all()
    assert clf.steps(X[ASK]).mean() < sum(machine.n_vectors for machine in OWN)


def test_kernel_values_are_counted():
    class Counting(RBF):
        asked = 0

        def __call__(self, A, B):
            type(self).asked += len(A) * len(B)
            return super().__call__(A, B)

    svc = OneVsRestClassifier(SVC(kernel=Counting(0.02), C=10.0)).fit(X[TRAIN], Y[TRAIN])
    for method in (AnytimeClassifier(), NSVClassifier(linear_filter=False)):
        clf = method.set_params(estimator=FrozenEstimator(svc)).fit(X[250:300])
        steps, Counting.asked = clf.steps(X[300:310]).sum(), 0
        clf.decision_function(X[300:310])
        extra = 50 if isinstance(clf, NSVClassifier) else 0  # a start counts as one
        assert Counting.asked == steps - extra


def test_the_first_of_equal_outputs_wins():
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(60, 5)), np.arange(60) % 3
    model = OneVsRestClassifier(SVC(gamma=1e4)).fit(rows, y)
    asked = rng.normal(size=(50, 5))
    for method in (ExactClassifier, AnytimeClassifier, NSVClassifier):
        clf = method(FrozenEstimator(model)).fit(asked)
        np.testing.assert_array_equal(clf.predict(asked), model.predict(asked))
        np.testing.assert_array_equal(clf.slim().predict(asked), model.predict(asked))


def test_all_ten_digits_are_the_models():
    rows, y = load_digits(return_X_y=True)
    clf = ExactClassifier(OneVsRestClassifier(SVC())).fit(rows[:600], y[:600])
    np.testing.assert_array_equal(clf.predict(rows[600:]), clf.estimator_.predict(rows[600:]))


def test_only_support_vectors_are_shifted():
    clf = VirtualSVClassifier(REST, image_shape=(8, 8)).fit(X[TRAIN], Y[TRAIN])
    support = np.unique(np.concatenate([one.support_ for one in FITTED.estimators_]))
    assert len(support) < 250
    assert clf.n_virtual_ == 5 * len(support)
    assert len(clf.machines_) == len(clf.original_) == 5
    assert clf.score(X[ASK], Y[ASK]) >= FITTED.score(X[ASK], Y[ASK])
    reduced = ReducedSetClassifier(FrozenEstimator(clf.estimator_), n_vectors=0.3).fit(X[TRAIN])
    assert len(reduced.machines_) == 5
    assert np.mean(reduced.predict(X[ASK]) == clf.predict(X[ASK])) > 0.9
    assert len(ExactClassifier(FrozenEstimator(clf)).fit(X[ASK]).machines_) == 5
    with pytest.raises(TypeError, match="frozen OneVsRestClassifier"):
        VirtualSVClassifier(FrozenEstimator(FITTED), image_shape=(8, 8)).fit(X[TRAIN])


@pytest.mark.parametrize(
    "model",
    [LinearSVC(), OneVsRestClassifier(LinearSVC()), OneVsRestClassifier(KernelFisherClassifier())],
    ids=lambda one: type(one).__name__,
)
def test_other_machines_against_the_rest(model):
    rows, y = load_iris(return_X_y=True)
    pipe = make_pipeline(StandardScaler(), model)
    for method in (ExactClassifier, AnytimeClassifier):
        clf = method(pipe).fit(rows, y)
        assert len(clf.machines_) == 3
        np.testing.assert_array_equal(clf.predict(rows), clf.estimator_.predict(rows))


def test_works_with_searches_and_promises():
    search = GridSearchCV(ExactClassifier(REST), {"estimator__estimator__C": [0.01, 10.0]}, cv=2)
    assert search.fit(X[TRAIN], Y[TRAIN]).best_params_["estimator__estimator__C"] == 10.0
    fast = kmviz.accelerate(FITTED, X[ASK], max_disagreement=0.05)
    assert np.mean(fast.predict(X[ASK]) != FITTED.predict(X[ASK])) <= 0.05
    svc = ReducedSetClassifier(FrozenEstimator(FITTED), n_vectors=0.4).fit(X[TRAIN])
    np.testing.assert_array_equal(svc.to_svc().predict(X[ASK]), svc.predict(X[ASK]))


def test_a_pipeline_for_each_class_is_refused():
    inside = OneVsRestClassifier(make_pipeline(StandardScaler(), SVC()))
    with pytest.raises(TypeError, match="a pipeline goes around it, not inside"):
        ExactClassifier(inside).fit(X[TRAIN], Y[TRAIN])
