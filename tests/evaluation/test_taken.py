"""Models around, beside and made of kernel machines: answered as their own `predict` answers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, NuSVR, OneClassSVM

import kmviz
from kmviz.evaluation.faithful import ReadingError
from kmviz.machines.reading import read_value

pytestmark = pytest.mark.usefixtures("hasty")
X, Y = make_classification(
    500, n_features=6, n_informative=4, class_sep=0.6, flip_y=0.1, random_state=0
)
TRAIN, ASK = slice(0, 120), slice(120, 500)
IRIS, KIND = load_iris(return_X_y=True)
rng = np.random.default_rng(0)
FLOWERS = np.vstack([IRIS + 0.1 * rng.normal(size=IRIS.shape) for _ in range(2)])


def taken(fitted, rows=X[ASK], **options):
    return kmviz.accelerate(fitted, rows, method="exact", **options)


def same_answers(fast, fitted, rows):
    np.testing.assert_array_equal(fast.predict(rows), fitted.predict(rows))
    alone = [fast.predict(rows[i : i + 1])[0] for i in range(20)]
    np.testing.assert_array_equal(alone, fitted.predict(rows[:20]))
    assert kmviz.audit(fast, rows, share=1.0).disagreements == 0


def by_score(model, at, **options):
    return FixedThresholdClassifier(
        model, threshold=at, response_method="decision_function", **options
    )


CUT = {
    "threshold": by_score(SVC(), 0.4),
    "threshold for the first class": by_score(SVC(), 0.4, pos_label=0),
    "threshold around a pipeline": by_score(make_pipeline(StandardScaler(), SVC()), -0.2),
    "tuned threshold": TunedThresholdClassifierCV(SVC(), cv=2, response_method="decision_function"),
    "sigmoid": CalibratedClassifierCV(SVC(), ensemble=False, cv=2),
    "isotonic": CalibratedClassifierCV(SVC(), ensemble=False, cv=2, method="isotonic"),
    "temperature": CalibratedClassifierCV(SVC(), ensemble=False, cv=2, method="temperature"),
    "threshold of a probability": FixedThresholdClassifier(
        CalibratedClassifierCV(SVC(), ensemble=False, cv=2), threshold=0.7
    ),
    "one against the rest": OneVsRestClassifier(SVC()),
}


@pytest.mark.parametrize("name", CUT)
def test_a_cut_of_its_own_is_a_bias(name):
    fitted = CUT[name].fit(X[TRAIN], Y[TRAIN])
    fast = taken(fitted)
    same_answers(fast, fitted, X)
    if hasattr(fitted, "predict_proba"):
        np.testing.assert_allclose(fast.predict_proba(X), fitted.predict_proba(X), atol=1e-9)


def test_a_cut_is_every_methods():
    fitted = CUT["sigmoid"].fit(X[TRAIN], Y[TRAIN])
    bounds = kmviz.AnytimeClassifier(FrozenEstimator(fitted)).fit(X[ASK])
    np.testing.assert_array_equal(bounds.predict(X), fitted.predict(X))


def test_a_probability_of_libsvm_has_no_cut():
    svc = SVC().fit(X[TRAIN], Y[TRAIN])
    svc._probA, svc._probB = np.array([-1.0]), np.array([0.1])
    svc._effective_probability = True
    moved = FixedThresholdClassifier(FrozenEstimator(svc), threshold=0.3)
    moved.response_method = "predict_proba"
    moved.estimator_ = svc
    with pytest.raises(TypeError, match="no fixed cut of its machine"):
        taken(moved)


RESTS = {
    "LinearSVC": LinearSVC(),
    "one against the rest": OneVsRestClassifier(SVC()),
    "linear ones": OneVsRestClassifier(LinearSVC()),
}


@pytest.mark.parametrize("name", RESTS)
def test_the_largest_of_several_outputs_is_voted_for(name):
    fitted = RESTS[name].fit(IRIS, KIND)
    same_answers(taken(fitted, FLOWERS), fitted, FLOWERS)


JOINED = {
    "bagging": BaggingClassifier(SVC(), n_estimators=3, max_features=4, random_state=0),
    "calibrated folds": CalibratedClassifierCV(SVC(), cv=2),
    "calibrated pipelines": CalibratedClassifierCV(
        make_pipeline(StandardScaler(), SVC()), cv=2, ensemble=False
    ),
    "votes": VotingClassifier([("svc", SVC()), ("linear", LogisticRegression(max_iter=1000))]),
    "in a pipeline": make_pipeline(StandardScaler(), BaggingClassifier(SVC(), 3, random_state=0)),
}


@pytest.mark.parametrize("name", JOINED)
@pytest.mark.parametrize("classes", [2, 3])
def test_several_machines_are_joined_by_the_model_itself(name, classes, tmp_path):
    rows, y = (X[TRAIN], Y[TRAIN]) if classes == 2 else (IRIS, KIND)
    if name == "bagging" and classes == 3:
        JOINED[name].set_params(max_features=3)
    fitted = JOINED[name].fit(rows, y)
    asked = X[ASK] if classes == 2 else FLOWERS
    fast = taken(fitted, asked)
    same_answers(fast, fitted, asked)
    assert type(fast) is type(fitted) or name == "calibrated pipelines"
    if hasattr(fitted, "predict_proba"):
        np.testing.assert_allclose(fast.predict_proba(asked), fitted.predict_proba(asked), 1e-8)
    if name == "calibrated folds":
        kmviz.save(fast, tmp_path / "fast.skops")
        stored = kmviz.load(tmp_path / "fast.skops")
        np.testing.assert_array_equal(stored.predict(asked), fitted.predict(asked))


def test_a_model_of_several_takes_exact_machines_alone():
    fitted = JOINED["bagging"].set_params(max_features=6).fit(X[TRAIN], Y[TRAIN])
    with pytest.raises(ValueError, match="must be exact"):
        kmviz.accelerate(fitted, X[ASK], method="nsv")


def test_copies_of_a_row_are_questioned_of_a_model_of_several():
    fitted = JOINED["bagging"].set_params(max_features=6).fit(X[TRAIN], Y[TRAIN])
    with pytest.warns(kmviz.PromiseWarning, match="All 300 rows of X are equal"):
        fast = kmviz.accelerate(fitted, np.repeat(X[:1], 300, axis=0), method="exact")
    assert (fast.promise_.checked, fast.promise_.distinct) == (300, 1)


def test_names_of_columns_reach_the_machines_inside():
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(6)])
    fitted = OneVsRestClassifier(make_pipeline(StandardScaler(), SVC())).fit(frame[TRAIN], Y[TRAIN])
    fast = taken(fitted, frame[ASK])
    np.testing.assert_array_equal(fast.predict(frame), fitted.predict(frame))
    several = CalibratedClassifierCV(SVC(), cv=2).fit(frame[TRAIN], Y[TRAIN])
    np.testing.assert_array_equal(taken(several, frame[ASK]).predict(frame), several.predict(frame))


@pytest.mark.parametrize("classes", [2, 3])
def test_precomputed_values_are_a_linear_machine(classes):
    rows, y, more = (X[TRAIN], Y[TRAIN], X[ASK]) if classes == 2 else (IRIS, KIND, FLOWERS)
    fitted = SVC(kernel="precomputed").fit(rbf_kernel(rows), y)
    values = rbf_kernel(more, rows)
    same_answers(taken(fitted, values), fitted, values)


def test_a_sigmoid_is_summed_and_never_bounded():
    fitted = make_pipeline(StandardScaler(), SVC(kernel="sigmoid")).fit(X[TRAIN], Y[TRAIN])
    same_answers(taken(fitted), fitted, X)
    with pytest.raises(ValueError, match="Mercer"):
        kmviz.accelerate(fitted, X[ASK], method="anytime")


@pytest.mark.parametrize("piped", [False, True])
@pytest.mark.parametrize("method", ["ExactClassifier", "NSVClassifier", "AnytimeClassifier"])
def test_one_class_answers_minus_one_and_one(method, piped):
    model = OneClassSVM(nu=0.3)
    fitted = (make_pipeline(StandardScaler(), model) if piped else model).fit(X[TRAIN])
    clf = getattr(kmviz, method)(FrozenEstimator(fitted)).fit(X[ASK])
    assert clf.classes_.tolist() == [-1, 1]
    assert np.mean(clf.predict(X) != fitted.predict(X)) <= (0.1 if method[0] == "N" else 0)
    trained = getattr(kmviz, method)(OneClassSVM(nu=0.3)).fit(X[TRAIN])
    np.testing.assert_array_equal(
        trained.estimator_labels(X), OneClassSVM(nu=0.3).fit(X[TRAIN]).predict(X)
    )


VALUES = X[:, 0] ** 2 + np.sin(2 * X[:, 1])
REGRESSORS = {
    "SVR": SVR(),
    "KernelRidge, sigmoid": KernelRidge(kernel="sigmoid", gamma=0.01, alpha=1.0),
    "pipeline": make_pipeline(StandardScaler(), NuSVR(C=10.0)),
}


@pytest.mark.parametrize("name", REGRESSORS)
def test_values_are_kept_to_the_tolerance(name):
    fitted = REGRESSORS[name].fit(X[TRAIN], VALUES[TRAIN])
    fast = kmviz.accelerate(fitted, X[ASK], tolerance=0.05, max_disagreement=0.05)
    off = np.abs(fast.predict(X) - fitted.predict(X).ravel())
    assert np.mean(off > 0.05) <= 0.05
    if fast.promise_.faster is not None:
        assert fast.promise_.tolerance == 0.05
        assert "off by more than 0.05" in str(fast.promise_)
        assert kmviz.audit(fast, X[ASK], share=1.0).disagreements <= 19
    if "sigmoid" not in name:
        sure = kmviz.accelerate(fitted, X[ASK], method="anytime", tolerance=0.02)
        assert sure.promise_.rows == 0
        assert np.abs(sure.predict(X) - fitted.predict(X).ravel()).max() <= 0.02


def test_a_method_that_breaks_the_promise_of_values_is_named():
    fitted = SVR(C=100.0).fit(X[TRAIN], VALUES[TRAIN])
    with pytest.warns(kmviz.PromiseWarning, match="reduced_5 changes more than 0.05 of the values"):
        fast = kmviz.accelerate(
            fitted, X[ASK], method="reduced_5", tolerance=1e-4, max_disagreement=0.05
        )
    assert fast.promise_.rate == 0.0
    assert np.abs(fast.predict(X) - fitted.predict(X)).max() <= 1e-4


def test_a_model_of_values_that_is_none_is_refused():
    with pytest.raises(TypeError, match="give SVR, NuSVR or KernelRidge"):
        read_value(LogisticRegression().fit(X[TRAIN], Y[TRAIN]))
    with pytest.raises(ValueError, match="2 targets"):
        read_value(KernelRidge().fit(X[TRAIN], np.column_stack([VALUES, VALUES])[TRAIN]))

    class Doubled(SVR):
        def _doubled(self):
            return 2.0

    fitted = Doubled().fit(X[TRAIN], VALUES[TRAIN])
    fitted.intercept_ = fitted.intercept_ + 1.0
    with pytest.raises(ReadingError, match=r"answers 380 of 380 rows otherwise"):
        kmviz.accelerate(fitted, X[ASK], tolerance=0.01)


def test_scores_are_promised_where_they_are_the_target():
    svc = SVC().fit(X[TRAIN], Y[TRAIN])
    fast = kmviz.accelerate(svc, X[ASK], target="score", tolerance=0.01, max_disagreement=0.05)
    off = np.abs(fast.decision_function(X) - svc.decision_function(X))
    assert np.mean(off > 0.01) <= 0.05
    with pytest.warns(kmviz.PromiseWarning, match="held-out rows"):
        few = kmviz.accelerate(svc, X[ASK], target="score", tolerance=0.01)
    assert few.promise_.rows == 0


def test_another_cut_is_promised_where_it_is_asked_for():
    svc = SVC().fit(X[TRAIN], Y[TRAIN])
    fast = taken(svc, threshold=0.6)
    np.testing.assert_array_equal(fast.predict(X), (svc.decision_function(X) > 0.6).astype(int))


def test_exact_scores_beside_fast_labels():
    svc = SVC().fit(X[TRAIN], Y[TRAIN])
    fast = kmviz.accelerate(svc, X[ASK], method="svtree_path", max_disagreement=0.2)
    assert np.mean(fast.predict(X) != svc.predict(X)) <= 0.2
    np.testing.assert_allclose(fast.exact_function(X), svc.decision_function(X), atol=1e-9)


def test_the_exact_machine_is_calibrated_as_the_model_is():
    svc = SVC().fit(X[TRAIN], Y[TRAIN])
    exact = kmviz.ExactClassifier(FrozenEstimator(svc)).fit(X[ASK])
    ours = CalibratedClassifierCV(FrozenEstimator(exact)).fit(X[ASK], Y[ASK])
    right = CalibratedClassifierCV(FrozenEstimator(svc)).fit(X[ASK], Y[ASK])
    np.testing.assert_allclose(ours.predict_proba(X), right.predict_proba(X), atol=1e-5)


WITHOUT_SCORE = {
    "calibrated": (CalibratedClassifierCV(SVC(), cv=2, ensemble=False), "has none"),
    "calibrated folds": (CalibratedClassifierCV(SVC(), cv=2), "has none"),
    "tuned threshold": (CUT["tuned threshold"], "threshold of its own"),
    "threshold in a pipeline": (make_pipeline(StandardScaler(), by_score(SVC(), 0.4)), "threshold"),
    "bagging": (BaggingClassifier(SVC(), 3, random_state=0), "joins several machines"),
    "no machine": (RandomForestClassifier(3, random_state=0), "has none"),
    "one of three": (SVC(), "each of 3 classes"),
    "linear one of three": (LinearSVC(), "each of 3 classes"),
    "the rest of three": (OneVsRestClassifier(SVC()), "each of 3 classes"),
}


@pytest.mark.parametrize("name", WITHOUT_SCORE)
def test_a_model_without_one_score_is_refused_in_a_sentence(name):
    model, words = WITHOUT_SCORE[name]
    rows, y, asked = (IRIS, KIND, FLOWERS) if "three" in name else (X[TRAIN], Y[TRAIN], X[ASK])
    fitted = model.fit(rows, y)
    with pytest.raises(
        ValueError, match=f"target='score' takes .*{type(model).__name__} .*{words}"
    ):
        kmviz.accelerate(fitted, asked, target="score")


WITH_SCORE = {
    "one against the rest": OneVsRestClassifier(SVC()),
    "linear": LinearSVC(),
    "pipeline": make_pipeline(StandardScaler(), SVC()),
    "one class": OneClassSVM(nu=0.3),
}


@pytest.mark.parametrize("name", WITH_SCORE)
def test_one_score_is_promised_whatever_holds_its_machine(name):
    fitted = WITH_SCORE[name].fit(X[TRAIN], Y[TRAIN])
    fast = kmviz.accelerate(fitted, X[ASK], method="exact", target="score", tolerance=1e-6)
    np.testing.assert_allclose(fast.decision_function(X), fitted.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("queries", ["batch", "single"])
def test_a_model_of_one_class_is_answered_as_its_own_predict_answers(queries):
    fitted = OneClassSVM(nu=0.3, gamma=0.5).fit(X[TRAIN])
    fast = kmviz.accelerate(fitted, X[ASK], max_disagreement=0.05, queries=queries)
    assert np.mean(fast.predict(X) != fitted.predict(X)) <= 0.05
    same_answers(taken(fitted), fitted, X)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"target": "rank"}, "target must be"),
        ({"tolerance": 0.1}, "target='score'"),
        ({"target": "score", "tolerance": 0.0}, "above 0"),
        ({"target": "score", "threshold": 0.1}, "threshold is for labels"),
        ({"target": "score", "method": "nsv"}, "method must be"),
    ],
)
def test_what_does_not_go_together_is_said(options, words):
    with pytest.raises(ValueError, match=words):
        kmviz.accelerate(SVC().fit(X[TRAIN], Y[TRAIN]), X[ASK], **options)
    with pytest.raises(ValueError, match="two classes"):
        kmviz.accelerate(SVC().fit(IRIS, KIND), FLOWERS, threshold=0.1)
