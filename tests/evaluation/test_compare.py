"""One table for every method, whatever happens to one of them."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, is_classifier
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, NuSVC

import kmviz
from kmviz import NSVClassifier, datasets
from kmviz.evaluation.advice import advice, best_method
from kmviz.evaluation.catalogue import family_of, resolve, title_of
from kmviz.evaluation.compare import COLUMNS, compare_rows, trained
from kmviz.evaluation.peers import PEERS, installed
from kmviz.evaluation.reference import baseline, reference
from kmviz.kernels import RBF, Normalized, Polynomial
from kmviz.methods import progress, register
from kmviz.methods.register import method, setting, settings, usual

CONTRACT = ["accuracy", "disagreements", "steps_mean", "steps_median", "speedup",
            "honest_speedup", "batch_ratio", "single_ratio", "batch_vs_blas", "single_vs_blas",
            "fit_seconds"]  # fmt: skip


@pytest.fixture(scope="module")
def moons():
    data = datasets.load("two_moons", n=150)
    return data.X_train, data.y_train, data.X_test[:300], data.y_test[:300]


class Broken(ClassifierMixin, BaseEstimator):
    """Fails when it is trained."""

    def fit(self, X, y):
        raise RuntimeError("no luck\nat all")


def test_a_row_a_method_and_one_for_the_exact_machine(moons):
    table = kmviz.compare(SVC(C=10), *moons, ["nsv", "anytime", "linear_svc"])
    assert table.index.tolist() == ["exact", "nsv", "anytime", "linear_svc"]
    assert list(table.columns) == COLUMNS
    assert set(CONTRACT) <= set(COLUMNS)
    assert (table["error"] == "").all()
    assert (table[CONTRACT].notna()).all(axis=None)
    assert table.loc["exact", ["batch_vs_blas", "single_vs_blas"]].tolist() == [1.0, 1.0]
    assert table.loc["anytime", "disagreements"] == 0, "certified"
    np.testing.assert_array_equal(table["honest_speedup"], table["batch_vs_blas"])


def test_figures_are_those_of_the_estimators_themselves(moons):
    X, y, X_test, y_test = moons
    table = kmviz.compare(SVC(C=10), *moons, ["svtree"], time=False)
    svc = SVC(C=10).fit(X, y)
    tree = kmviz.SVTreeClassifier(FrozenEstimator(svc), random_state=0).fit(X)
    row = table.loc["svtree"]
    assert row["accuracy"] == pytest.approx(np.mean(tree.predict(X_test) == y_test))
    assert row["disagreements"] == np.sum(tree.predict(X_test) != svc.predict(X_test))
    assert row["disagreement_low"] <= row["disagreement"] <= row["disagreement_high"]
    assert row["steps_mean"] == pytest.approx(tree.steps(X_test).mean())
    assert row["speedup"] == pytest.approx(svc.n_support_.sum() / tree.steps(X_test).mean())
    assert np.isnan(row["batch_ratio"])
    assert table.loc["exact", "accuracy"] == pytest.approx(svc.score(X_test, y_test))


def test_a_method_that_fails_reports_it_and_the_others_go_on(moons):
    methods = {"broken": Broken(), "spectral": "anytime_spectral", "nsv": "nsv"}
    table = kmviz.compare(None, *moons, methods, time=False)
    assert table.loc["broken", "error"] == "RuntimeError: no luck"
    assert "degree 2" in table.loc["spectral", "error"]
    assert np.isnan(table.loc["broken", "accuracy"])
    assert table.loc["nsv", "error"] == ""


def test_two_settings_of_a_class_are_two_rows():
    given = [NSVClassifier(window=2), NSVClassifier(window=5), "nsv", NSVClassifier(window=7)]
    found = resolve(given)
    assert list(found) == ["NSVClassifier", "NSVClassifier-2", "nsv", "NSVClassifier-3"]
    assert found["NSVClassifier-2"].window == 5


def test_names_mappings_and_estimators_are_all_methods(moons):
    given = kmviz.NSVClassifier(SVC(C=1), window=3)
    table = kmviz.compare(SVC(C=10), *moons, [given, "knn"], time=False)
    assert table.index.tolist() == ["exact", "NSVClassifier", "knn"]
    with pytest.raises(ValueError, match="No method is called 'nvs'"):
        kmviz.compare(None, *moons, ["nvs"])
    assert list(resolve()) == [*usual(), *installed()]


@pytest.mark.parametrize("peer", ["svc", "linear_svc", "nystroem", "fourier", "knn", "boosting"])
@pytest.mark.parametrize("kernel", ["rbf", "linear", Normalized(Polynomial(degree=2))], ids=str)
def test_every_peer_runs_beside_every_kernel(moons, peer, kernel):
    assert peer in installed()
    table = kmviz.compare(SVC(kernel=kernel), *moons, [peer], time=False)
    assert table.loc[peer, "error"] == ""
    assert table.loc[peer, "accuracy"] > 0.5


@pytest.mark.parametrize("peer", ["intelex", "onnx"])
@pytest.mark.parametrize("kernel", ["rbf", "linear", Normalized(Polynomial(degree=2))], ids=str)
def test_peers_of_other_packages_answer_as_the_machine_does(moons, peer, kernel):
    if not PEERS[peer].installed:
        pytest.skip(f"{PEERS[peer].needs} is not installed")
    for estimator in (SVC(kernel=kernel), make_pipeline(StandardScaler(), SVC(kernel=kernel))):
        table = kmviz.compare(estimator, *moons, [peer], time=False)
        assert table.loc[peer, "error"] == ""
        assert table.loc[peer, "disagreements"] <= 2


def test_a_pipeline_hands_its_first_steps_to_methods_without_a_machine(moons):
    X, y, X_test, y_test = moons
    skewed = X * [1.0, 1e4]
    estimator = make_pipeline(StandardScaler(), SVC(C=10))
    table = kmviz.compare(
        estimator, skewed, y, X_test * [1.0, 1e4], y_test, ["nsv", "knn", "falk_100"], time=False
    )
    assert (table["error"] == "").all(), table["error"].tolist()
    assert (table["accuracy"] > 0.9).all()


def test_local_models_take_the_kernel_and_the_cost_of_the_machine(moons):
    X, y, X_test, _ = moons
    clf, _ = trained(setting("falk_100"), reference(SVC(C=7.0, gamma=3.0), X, y))
    assert (clf.kernel, clf.C) == (RBF(3.0), 7.0)
    assert clf.predict(X_test).shape == (len(X_test),)


def test_a_machine_without_a_cost_leaves_it_at_one(moons):
    table = kmviz.compare(NuSVC(nu=0.3), *moons, ["falk", "linear_svc"], time=False)
    assert (table["error"] == "").all(), table["error"].tolist()


def test_several_classes_are_compared_too():
    X, y = make_classification(300, 6, n_informative=4, n_classes=3, random_state=0)
    table = kmviz.compare(
        None, X[:200], y[:200], X[200:], y[200:], ["nsv", "anytime", "svtree", "boosting"],
        time=False,
    )  # fmt: skip
    assert (table["error"] == "").all(), table["error"].tolist()
    assert table.loc["exact", "disagreements"] == table.loc["anytime", "disagreements"] == 0


def test_peers_count_what_they_compute():
    data = datasets.load("digits", n=60)
    sets = data.X_train, data.y_train, data.X_test[:50], data.y_test[:50]
    table = kmviz.compare(None, *sets, ["linear_svc", "nystroem"], time=False)
    assert table["steps_mean"].tolist()[1:] == [10.0, 60.0], "a product a class; all rows"
    assert "takes 10 products" in advice(table.assign(accuracy=0.9))


def test_columns_without_times_are_numbers_all_the_same(moons):
    table = kmviz.compare(None, *moons, [], time=False)
    assert table.select_dtypes("number").columns.tolist() == COLUMNS[:-2]


def test_cancelling_stops_before_the_next_method(moons):
    def listener(share, text):
        if text.startswith("svtree"):
            raise progress.Cancelled

    rows = compare_rows(None, *moons, ["knn", "svtree"], time=False)
    with progress.listening(listener):
        assert [next(rows)[0], next(rows)[0]] == ["exact", "knn"]
        with pytest.raises(progress.Cancelled):
            next(rows)


def test_progress_grows_to_the_end(moons):
    heard = []
    with progress.listening(lambda share, text: heard.append(share)):
        kmviz.compare(None, *moons, ["knn", "linear_svc"], time=False)
    assert heard == sorted(heard)
    assert heard[-1] == 1.0


@pytest.mark.parametrize(
    "kernel", [RBF(0.5), Polynomial(3), Normalized(Polynomial(degree=2))], ids=str
)
def test_the_baseline_is_an_svc_with_a_string_kernel(moons, kernel):
    X, y, X_test, _ = moons
    for estimator in (SVC(kernel=kernel), make_pipeline(StandardScaler(), SVC(kernel=kernel))):
        ref = reference(estimator, X, y)
        np.testing.assert_array_equal(baseline(ref)(X_test), ref.fitted.predict(X_test))


def test_a_frozen_estimator_is_not_trained_again(moons, monkeypatch):
    X, y, *_ = moons
    svc = SVC(C=10).fit(X, y)
    monkeypatch.setattr(SVC, "fit", None)
    table = kmviz.compare(FrozenEstimator(svc), *moons, ["anytime", "svtree"], time=False)
    assert (table["error"] == "").all(), table["error"].tolist()


def test_a_fitted_estimator_is_kept_as_it_is(moons, monkeypatch):
    X, y, X_test, y_test = moons
    svc = SVC(C=10).fit(X[:60], y[:60])
    monkeypatch.setattr(SVC, "fit", None)
    table = kmviz.compare(svc, *moons, ["nsv", "anytime", "svtree"], time=False)
    assert (table["error"] == "").all(), table["error"].tolist()
    assert table.loc["exact", "accuracy"] == np.mean(svc.predict(X_test) == y_test)
    assert table.loc["exact", "steps_mean"] == len(svc.support_)
    assert table.loc["exact", "fit_seconds"] == 0
    piped = make_pipeline(StandardScaler(), FrozenEstimator(svc)).fit(X, y)
    table = kmviz.compare(piped, *moons, [], time=False)
    assert table.loc["exact", "disagreements"] == 0


def test_the_baseline_is_predict(moons, monkeypatch):
    calls = []
    svc = SVC().fit(*moons[:2])
    real = SVC.predict
    monkeypatch.setattr(SVC, "predict", lambda self, X: calls.append(len(X)) or real(self, X))
    table = kmviz.compare(svc, *moons, [], repeats=1)
    assert calls.count(1) >= 50, "one query at a time"
    assert table.loc["exact", "batch_ratio"] > 0


def test_methods_in_the_place_of_data_are_told_where_they_belong(moons):
    for wrong in (["nsv"], "nsv", {"a": "nsv"}, [NSVClassifier()]):
        with pytest.raises(TypeError, match="X_train second"):
            kmviz.compare(SVC(), wrong, *moons[:3])


def test_advice_is_honest_about_linear_machines_and_other_models():
    names = ["exact", "nsv", "linear_svc", "boosting"]
    table = kmviz.compare(
        None, *[np.repeat([[0.0], [1.0]], 20, axis=0), np.repeat([0, 1], 20)] * 2, ["knn"],
        time=False,
    )  # fmt: skip
    frame = table.iloc[[0] * 4].set_axis(names).copy()
    frame["accuracy"] = [0.90, 0.90, 0.90, 0.95]
    frame["steps_mean"] = [500.0, 10.0, 1.0, np.nan]
    assert advice(frame).startswith("Do not bother with a kernel")
    assert best_method(frame) == "linear_svc", "text and arrow advise the same"
    frame.loc["linear_svc", "accuracy"] = 0.7
    frame["disagreement_high"] = 0.004
    frame["disagreements"], frame["queries"] = 0, 980
    frame[["batch_ratio", "single_ratio"]] = [[9, 9], [41, 20], [90, 90], [3, 3]]
    frame[["batch_vs_blas", "single_vs_blas"]] = [[1, 1], [4.5, 2.2], [10, 10], [0.3, 0.3]]
    assert best_method(frame) == "nsv"
    said = advice(frame)
    assert "NSV, w = 10: 41x faster than SVC, 0 of 980 differ, at most 0.4%" in said
    assert "gradient boosting is more accurate" in said
    frame.loc["nsv", "disagreement_high"] = 0.2
    assert best_method(frame) == "exact"
    assert "Take the exact machine in float32 (9.0x faster than SVC)" in advice(frame)


def test_advice_takes_a_proof_where_rows_are_few(moons):
    frame = kmviz.compare(None, *moons, ["nsv", "anytime"], time=False)
    frame["disagreement_high"], frame["disagreements"] = 0.05, 0
    frame["honest_speedup"] = [1.0, 8.0, 3.0]
    assert best_method(frame) == "anytime"
    assert "differ, and it is proved that none does" in advice(frame)


def test_rows_for_a_large_machine_say_what_was_cut_down(moons, monkeypatch):
    monkeypatch.setattr(register, "LARGE", 10)
    reduced = method("reduced")
    few = tuple(replace(one, cut={"n_vectors": 5}) for one in reduced.settings)
    others = tuple(one for one in register.METHODS if one is not reduced)
    monkeypatch.setattr(register, "METHODS", (*others, replace(reduced, settings=few)))
    table = kmviz.compare(None, *moons, ["nsv", "reduced"], time=False)
    assert table["error"].eq("").all()
    assert table["note"].tolist() == ["", setting("nsv").note, setting("reduced").note]
    assert table.loc["reduced", "steps_mean"] == 5
    assert setting("anytime").make(11).max_steps == "auto"
    assert setting("anytime").make(10).max_steps is None


def test_every_setting_has_a_title_and_can_be_made():
    for name in settings():
        assert title_of(name) == setting(name).title
        assert is_classifier(setting(name).make())


def test_the_rivals_train_with_the_kernel_and_the_cost_of_the_machine(moons):
    rivals = [one for one in settings() if family_of(one) == register.RIVALS]
    assert len(rivals) >= 9
    table = kmviz.compare(SVC(C=7.0, gamma=3.0), *moons, rivals, time=False)
    assert table["error"].eq("").all()
    assert (table["accuracy"] > table.loc["exact", "accuracy"] - 0.1).all()
    clf, _ = trained(setting("lasvm"), reference(SVC(C=7.0, gamma=3.0), *moons[:2]))
    assert clf.C == 7.0
    assert clf.machine_.kernel == RBF(3.0)
