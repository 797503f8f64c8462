"""The exact classifier, and with it everything the base gives to every method."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris, make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from kmviz import ExactClassifier
from kmviz.kernels import RBF
from kmviz.machines import KernelFisherClassifier

X, Y = make_moons(120, noise=0.2, random_state=0)
IRIS = load_iris(return_X_y=True)


WEIGHTS = {
    f"check_sample_weight_equivalence_on_{kind}_data": "SVC's default gamma does not see weights"
    for kind in ("dense", "sparse")
}


@parametrize_with_checks(
    [ExactClassifier(), KernelFisherClassifier()],
    expected_failed_checks=lambda one: WEIGHTS if isinstance(one, ExactClassifier) else {},
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


class CountingRBF(RBF):
    """An RBF kernel that counts the values it computes."""

    values = 0

    def __call__(self, A, B):
        CountingRBF.values += len(A) * len(B)
        return super().__call__(A, B)


def test_steps_are_what_a_counting_kernel_counts():
    clf = ExactClassifier(SVC(kernel=CountingRBF(0.7))).fit(X, Y)
    CountingRBF.values = 0
    clf.predict(X)
    assert clf.steps(X).sum() == CountingRBF.values


def test_frozen_machine_is_not_trained_again(monkeypatch):
    svc = SVC(gamma=2.0).fit(X, Y)
    monkeypatch.setattr(SVC, "fit", None)
    clf = ExactClassifier(FrozenEstimator(svc)).fit(X[:10])
    np.testing.assert_array_equal(clf.predict(X), svc.predict(X))


def test_trace_ends_where_the_decision_function_ends():
    clf = ExactClassifier().fit(X, Y)
    trace = clf.trace(X[0])
    assert trace.output == clf.decision_function(X[:1])[0]
    assert trace.partial[-1] == pytest.approx(trace.exact, rel=1e-9)
    assert trace.partial[0] == -clf.machine_.bias
    assert len(trace.to_frame()) == clf.machine_.n_vectors + 1 == trace.n_steps + 1
    with pytest.raises(AttributeError):
        trace.stop = 3


def test_many_classes_vote_as_scikit_learn():
    X, y = IRIS
    clf = ExactClassifier(SVC(C=3.0)).fit(X, y)
    svc = SVC(C=3.0).fit(X, y)
    np.testing.assert_allclose(clf.decision_function(X), svc.decision_function(X), atol=1e-4)
    np.testing.assert_array_equal(clf.predict(X), svc.predict(X))
    assert len(clf.machines_) == 3
    assert (clf.steps(X) == len(svc.support_)).all(), "each support vector once, for all pairs"
    assert clf.trace(X[0], pair=(0, 2)).exact == clf.machines_[1].decision_function(X[:1])[0]
    assert clf.trace(X[120]).exact in [m.decision_function(X[120:121])[0] for m in clf.machines_]
    for other in ((2, 0), 1, (0, 1, 2)):
        with pytest.raises(ValueError, match="pair must be one of"):
            clf.trace(X[0], pair=other)


def test_many_classes_of_an_estimator_without_pairs():
    X, y = IRIS
    clf = ExactClassifier(KernelFisherClassifier()).fit(X[y != 1], y[y != 1])
    assert clf.score(X[y != 1], y[y != 1]) > 0.95
    linear = ExactClassifier(LinearSVC()).fit(X, y)
    assert linear.score(X, y) > 0.9
    fitted = LinearSVC().fit(X, y)
    frozen = ExactClassifier(FrozenEstimator(fitted)).fit(X)
    np.testing.assert_array_equal(frozen.predict(X), fitted.predict(X))


def test_weights_of_rows_reach_the_estimator():
    weight = np.linspace(0.1, 4.0, len(Y))
    pipe = make_pipeline(StandardScaler(), SVC())
    clf = ExactClassifier(pipe).fit(X, Y, sample_weight=weight)
    right = pipe.fit(X, Y, svc__sample_weight=weight)
    np.testing.assert_array_equal(clf.predict(X), right.predict(X))
    with pytest.raises(TypeError, match="OneVsRestClassifier takes no sample_weight"):
        ExactClassifier(OneVsRestClassifier(SVC())).fit(*IRIS, sample_weight=np.ones(150))


def test_pipeline_inside_applies_its_first_steps():
    pipe = make_pipeline(StandardScaler(), SVC())
    clf = ExactClassifier(pipe).fit(X * 100, Y)
    np.testing.assert_array_equal(clf.predict(X * 100), pipe.fit(X * 100, Y).predict(X * 100))


def test_a_table_with_strings_through_a_pipeline():
    table = pd.DataFrame({"size": X[:, 0], "kind": np.where(X[:, 1] > 0, "a", "b")})
    first = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
    clf = ExactClassifier(make_pipeline(first, SVC())).fit(table, Y)
    assert clf.predict(table).shape == (120,)
    assert clf.trace(table.iloc[:1]).output == clf.decision_function(table.iloc[:1])[0]


@pytest.mark.parametrize(
    "around",
    [
        lambda clf: make_pipeline(StandardScaler(), clf),
        lambda clf: GridSearchCV(clf, {"estimator__C": [0.1, 10.0]}, cv=2),
        lambda clf: CalibratedClassifierCV(clf, cv=2),
        OneVsRestClassifier,
        clone,
    ],
)
def test_works_inside_scikit_learn(around):
    assert around(ExactClassifier(SVC())).fit(X, Y).score(X, Y) > 0.85


def test_names_of_a_table_are_remembered():
    table = pd.DataFrame(X, columns=["u", "v"])
    clf = ExactClassifier().fit(table, Y)
    assert clf.feature_names_in_.tolist() == ["u", "v"]
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(table[["v", "u"]])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_single_bad_query_is_refused(bad):
    clf = ExactClassifier().fit(X, Y)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        clf.predict(np.array([[0.0, bad]]))


def test_one_class_only():
    with pytest.raises(ValueError, match="class"):
        ExactClassifier().fit(X, np.zeros(120))


def test_rows_too_far_for_float32_are_answered_in_float64():
    rows = np.repeat(np.random.default_rng(0).normal(size=(2, 5)) * 1e6, 20, axis=0)
    labels = np.repeat([0, 1], 20)
    svc = SVC(gamma=0.5, C=10.0).fit(rows, labels)
    clf = ExactClassifier(FrozenEstimator(svc)).fit(rows)
    own = svc.decision_function(rows)
    np.testing.assert_allclose(clf.decision_function(rows), own, rtol=1e-3)  # kernels.BLUR
