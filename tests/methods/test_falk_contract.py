"""FaLK-SVM and kNNSVM as scikit-learn estimators: the contract every classifier keeps."""

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_blobs, make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import kmviz
from kmviz import FaLKClassifier, KNNSVMClassifier, LocalNoiseReducer
from kmviz.kernels import RBF, Linear, Normalized, Polynomial

BOTH = [FaLKClassifier(n_neighbors=30, random_state=0), KNNSVMClassifier(n_neighbors=30)]


@parametrize_with_checks(
    [
        FaLKClassifier(random_state=0),
        FaLKClassifier(n_neighbors=10, select="center", cover="tree", gamma="local"),
        KNNSVMClassifier(n_neighbors=20),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def moons():
    return make_moons(300, noise=0.25, random_state=0)


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(240, centers=4, cluster_std=2.0, random_state=0)


class Counting(RBF):
    """An RBF kernel that counts the values it is asked for."""

    count = 0

    def __call__(self, X, Z):
        type(self).count += len(X) * len(Z)
        return super().__call__(X, Z)


@pytest.mark.parametrize("problem", ["moons", "blobs"])
def test_a_counting_kernel_agrees_with_steps(problem, request):
    X, y = request.getfixturevalue(problem)
    clf = FaLKClassifier(n_neighbors=40, kernel=Counting(0.5), random_state=0).fit(X, y)
    for rows in (X[:1], X[5:6], X[:50]):
        expected = clf.steps(rows).sum()
        Counting.count = 0
        clf.decision_function(rows)
        assert Counting.count == expected
        Counting.count = 0
        clf.predict(rows)
        assert Counting.count == expected


def test_a_kernel_of_ones_own_gives_the_same_answers(moons):
    X, y = moons
    known = FaLKClassifier(n_neighbors=40, kernel=RBF(0.5), random_state=0).fit(X, y)
    called = FaLKClassifier(n_neighbors=40, kernel=Counting(0.5), random_state=0).fit(X, y)
    np.testing.assert_allclose(known.decision_function(X), called.decision_function(X), atol=5e-3)
    np.testing.assert_array_equal(known.centers_, called.centers_)


@pytest.mark.parametrize("estimator", BOTH, ids=["falk", "lazy"])
@pytest.mark.parametrize("problem", ["moons", "blobs"])
def test_trace_tells_what_the_answer_was_made_of(estimator, problem, request):
    X, y = request.getfixturevalue(problem)
    clf = clone(estimator).fit(X, y)
    pair = None if problem == "moons" else (1, 3)
    for x in X[:8]:
        trace = clf.trace(x, pair=pair)
        machine = clf.local_machine(x, pair=pair)
        exact = machine.decision_function(x[None])[0]
        assert trace.exact == pytest.approx(exact, abs=1e-9)
        assert trace.output == pytest.approx(exact, abs=1e-9)
        assert trace.partial[-1] == pytest.approx(trace.output, abs=1e-9)
        assert len(trace.to_frame()) == machine.n_vectors + 1 == trace.stop + 1 == len(trace.value)
        np.testing.assert_array_equal(X[trace.index[1:]], machine.vectors)
        if problem == "moons":
            assert trace.output == clf.decision_function(x[None])[0]
            assert clf.steps(x[None])[0] == machine.n_vectors
    with pytest.raises(FrozenInstanceError):
        trace.output = 0.0


def test_steps_sum_over_the_pairs_of_a_neighbourhood(blobs):
    X, y = blobs
    clf = FaLKClassifier(n_neighbors=60, random_state=0).fit(X, y)
    total = [sum(clf.local_machine(x, pair=p).n_vectors for p in clf.pairs_) for x in X[:10]]
    np.testing.assert_array_equal(clf.steps(X[:10]), total)
    assert clf.decision_function(X).shape == (len(X), 4)
    assert clf.trace(X[0]).stop <= clf.steps(X[:1])[0]
    with pytest.raises(ValueError, match="pair must be one of"):
        clf.trace(X[0], pair=(1, 9))
    with pytest.raises(ValueError, match="One query at a time"):
        clf.trace(X[:2])


def test_trace_names_the_nearest_point_and_the_centre(moons):
    X, y = moons
    clf = FaLKClassifier(n_neighbors=30, random_state=0).fit(X, y)
    trace = clf.trace([0.1, 0.2])
    assert trace.nearest == np.argmin(((X - [0.1, 0.2]) ** 2).sum(axis=1))
    assert trace.center == clf.centers_[clf.center_of_[trace.nearest]]
    assert trace.model == clf.center_of_[trace.nearest]
    lazy = KNNSVMClassifier(n_neighbors=30).fit(X, y).trace([0.1, 0.2])
    assert lazy.center == -1
    assert lazy.nearest == trace.nearest


@pytest.mark.parametrize("estimator", BOTH, ids=["falk", "lazy"])
def test_it_is_stored_and_loaded(estimator, moons, tmp_path):
    X, y = moons
    for clf in (clone(estimator), clone(estimator).set_params(kernel=Polynomial(2))):
        clf.fit(X, y)
        kmviz.save(clf, tmp_path / "local.skops")
        for again in (kmviz.load(tmp_path / "local.skops"), pickle.loads(pickle.dumps(clf))):
            np.testing.assert_array_equal(again.decision_function(X), clf.decision_function(X))
            assert again.overhead_ == clf.overhead_


def test_tuned_models_are_stored_too(moons, tmp_path):
    X, y = moons
    clf = FaLKClassifier(n_neighbors=20, tune=True, select="center", random_state=0).fit(X, y)
    kmviz.save(clf, tmp_path / "tuned.skops")
    again = kmviz.load(tmp_path / "tuned.skops")
    np.testing.assert_array_equal(again.decision_function(X), clf.decision_function(X))


def test_it_works_with_scikit_learns_tools(moons):
    X, y = moons
    base = FaLKClassifier(n_neighbors=40, random_state=0)
    search = GridSearchCV(base, {"C": [0.1, 1.0], "n_neighbors": [20, 40]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.8
    assert make_pipeline(StandardScaler(), base).fit(X, y).score(X, y) > 0.85
    assert CalibratedClassifierCV(base, cv=2).fit(X, y).predict_proba(X).shape == (300, 2)
    frozen = CalibratedClassifierCV(FrozenEstimator(clone(base).fit(X, y))).fit(X, y)
    assert frozen.score(X, y) > 0.85
    assert OneVsRestClassifier(base).fit(X, y).score(X, y) > 0.85


def test_inputs_of_many_kinds(moons):
    X, y = moons
    frame, names = pd.DataFrame(X, columns=["a", "b"]), np.array(["no", "yes"])[y]
    clf = FaLKClassifier(n_neighbors=40, random_state=0).fit(frame, names)
    assert set(clf.predict(frame)) == {"no", "yes"}
    assert clf.feature_names_in_.tolist() == ["a", "b"]
    low = FaLKClassifier(n_neighbors=40, random_state=0).fit(X.astype(np.float32), y)
    high = FaLKClassifier(n_neighbors=40, random_state=0).fit(X.tolist(), y.tolist())
    assert (low.predict(X.astype(np.float32)) == high.predict(X)).mean() > 0.98
    line = FaLKClassifier(n_neighbors=10, random_state=0).fit(X[:, :1], y)
    assert line.score(X[:, :1], y) > 0.6
    flat = FaLKClassifier(n_neighbors=10, random_state=0).fit(np.ones((20, 2)), y[:20])
    assert np.isfinite(flat.decision_function(np.ones((3, 2)))).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"n_neighbors": 10, "n_cover": 11}, "n_cover=11 is larger than n_neighbors=10"),
        ({"n_cover": 0}, "n_cover"),
        ({"C": 0.0}, "'C'"),
        ({"gamma": -1.0}, "gamma"),
        ({"percentile": 101}, "percentile"),
        ({"select": "nearest"}, "select"),
        ({"cover": "greedy"}, "cover"),
        ({"kernel": "cosine"}, "kernel"),
        ({"kernel": "linear", "gamma": "local"}, "gamma='local'"),
    ],
)
def test_bad_parameters_are_named(parameters, message, moons):
    with pytest.raises(ValueError, match=message):
        FaLKClassifier(**parameters).fit(*moons)


def test_one_class_is_refused(moons):
    X, _ = moons
    with pytest.raises(ValueError, match="one class only"):
        FaLKClassifier().fit(X, np.zeros(len(X)))


@pytest.mark.parametrize(
    "kernel",
    ["linear", "poly", Linear(), Polynomial(2), Normalized(Polynomial(3)), Normalized(RBF(1.0))],
    ids=str,
)
def test_every_kernel_in_its_own_feature_space(kernel, moons):
    X, y = moons
    clf = FaLKClassifier(n_neighbors=60, kernel=kernel, random_state=0).fit(X, y)
    assert clf.score(X, y) > 0.84
    trace = clf.trace(X[3])
    assert trace.output == pytest.approx(trace.exact, abs=1e-9)


def test_noise_reducer_keeps_data_frames(moons):
    X, y = moons
    frame = pd.DataFrame(X, columns=["a", "b"])
    kept, labels = LocalNoiseReducer(n_neighbors=40, random_state=0).fit_resample(
        frame, pd.Series(y)
    )
    assert list(kept.columns) == ["a", "b"]
    assert len(kept) == len(labels) < len(X)
    with pytest.raises(ValueError, match="method"):
        LocalNoiseReducer(method="median").fit_resample(X, y)


@pytest.mark.parametrize("size", [1e-150, 1e-30, 1e-8, 1e8, 1e30, 1e100])
@pytest.mark.parametrize(
    "estimator",
    [*BOTH, FaLKClassifier(30, gamma="local", random_state=0), FaLKClassifier(20, tune=True)],
)
def test_data_of_any_size(estimator, size, moons):
    X, y = moons
    plain, scaled = clone(estimator), clone(estimator)
    for clf in (plain, scaled):
        if "random_state" in clf.get_params():
            clf.set_params(random_state=0)
    expected = plain.fit(X, y).predict(X)
    assert np.mean(scaled.fit(X * size, y).predict(X * size) == expected) > 0.97


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", RBF(1.0)])
def test_data_too_wide_for_distances_is_refused(kernel, moons):
    X, y = moons
    with pytest.raises(ValueError, match="Scale the features"):
        FaLKClassifier(kernel=kernel).fit(X * 1e200, y)


def test_kernel_values_beyond_float32_are_refused(moons):
    X, y = moons
    with pytest.raises(ValueError, match="scale the features"):
        FaLKClassifier(kernel="linear").fit(X * 1e30, y)


@pytest.mark.parametrize("select", ["point", "center"])
def test_a_query_out_of_all_reach_has_an_answer(select, moons):
    X, y = moons
    clf = FaLKClassifier(30, select=select, random_state=0).fit(X, y)
    assert np.isfinite(clf.decision_function(np.full((2, 2), 1e200))).all()


def test_trace_of_float32_rows_is_exact(moons):
    X, y = moons
    rows = (X + 30).astype(np.float32)
    clf = FaLKClassifier(30, kernel="poly", C=1e-6, random_state=0).fit(rows, y)
    for x in rows[:5]:
        trace, machine = clf.trace(x), clf.local_machine(x)
        assert trace.exact == pytest.approx(machine.decision_function(x[None])[0], rel=1e-6)
        assert trace.output == pytest.approx(trace.exact, rel=1e-6)
