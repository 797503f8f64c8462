"""Whatever is handed in, the answers promised are those of its own `predict`, or it is refused."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import random_array
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import load_digits, make_classification, make_moons
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC, NuSVC

import kmviz
from kmviz import ExactClassifier
from kmviz.evaluation.faithful import ReadingError, refuse_unlike

pytestmark = pytest.mark.usefixtures("hasty")
X, Y = make_classification(
    900, n_features=8, n_informative=6, class_sep=0.6, flip_y=0.1, random_state=0
)
X = X * np.logspace(-2, 3, 8) + 5.0  # a machine without its scaler answers otherwise
TRAIN, ASK = slice(0, 300), slice(300, 900)
MANY, MANY_Y = make_classification(
    2_400, n_features=20, n_informative=12, n_classes=6, n_clusters_per_class=2, random_state=1,
    flip_y=0.1,
)  # fmt: skip


def taken(fitted, rows, **options):
    """The exact machine of a model, after every check that `accelerate` makes."""
    return kmviz.accelerate(fitted, rows, method="exact", **options)


NESTED = {
    "nested": make_pipeline(MinMaxScaler(), make_pipeline(StandardScaler(), SVC())),
    "nested transformers": make_pipeline(make_pipeline(MinMaxScaler(), StandardScaler()), SVC()),
    "three levels": make_pipeline(
        RobustScaler(), make_pipeline(PCA(5), make_pipeline(StandardScaler(), SVC()))
    ),
    "passthrough": Pipeline([("off", "passthrough"), ("on", StandardScaler()), ("svc", SVC())]),
    "no affine step": make_pipeline(QuantileTransformer(n_quantiles=50), SVC()),
    "affine and not": make_pipeline(StandardScaler(), SelectKBest(k=4), SVC()),
    "a search in a pipeline": make_pipeline(
        StandardScaler(), GridSearchCV(SVC(), {"C": [1.0, 3.0]}, cv=2)
    ),
    "a pipeline in a search": GridSearchCV(
        make_pipeline(StandardScaler(), SVC()), {"svc__C": [1.0, 3.0]}, cv=2
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NESTED)
@pytest.mark.parametrize("frozen", [False, True])
def test_transformers_at_every_level_are_kept(name, frozen):
    fitted = NESTED[name].fit(X[TRAIN], Y[TRAIN])
    if frozen:
        fitted = FrozenEstimator(fitted)
    fast = taken(fitted, X[ASK])
    np.testing.assert_array_equal(fast.predict(X), fitted.predict(X))
    assert fast.promise_.checked == 600
    audited = kmviz.audit(fast, X[ASK], share=1.0)
    assert (audited.rows, audited.disagreements) == (600, 0)


def test_a_frozen_pipeline_inside_a_pipeline():
    inner = make_pipeline(StandardScaler(), SVC()).fit(X[TRAIN], Y[TRAIN])
    outer = make_pipeline(FrozenEstimator(MinMaxScaler().fit(X)), FrozenEstimator(inner))
    outer.fit(X[TRAIN], Y[TRAIN])
    fast = taken(outer, X[ASK])
    np.testing.assert_array_equal(fast.predict(X), outer.predict(X))


@pytest.mark.parametrize("cls", ["NSVClassifier", "AnytimeClassifier", "SVTreeClassifier"])
def test_every_method_keeps_nested_transformers(cls):
    fitted = NESTED["three levels"].fit(X[TRAIN], Y[TRAIN])
    clf = getattr(kmviz, cls)(FrozenEstimator(fitted)).fit(X[ASK])
    assert np.mean(clf.predict(X[ASK]) != fitted.predict(X[ASK])) < 0.1
    np.testing.assert_array_equal(clf.estimator_labels(X), fitted.predict(X))


@pytest.mark.parametrize("piped", [False, True])
def test_names_of_columns_are_those_of_the_model(piped):
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(8)])
    fitted = make_pipeline(StandardScaler(), SVC()) if piped else SVC()
    fitted.fit(frame[TRAIN], Y[TRAIN])
    fast = taken(fitted, frame[ASK])
    for wrong in (frame[frame.columns[::-1]], frame.rename(columns={"c0": "z"})):
        with pytest.raises(ValueError, match="feature names should match"):
            kmviz.accelerate(fitted, wrong[ASK])
        for rows in (wrong, wrong[:1]):
            with pytest.raises(ValueError, match="feature names should match"):
                fast.predict(rows)
    with pytest.raises(ValueError, match=r"feature names should match|features"):
        kmviz.accelerate(fitted, frame[ASK].drop(columns="c3"))
    alone = [fast.predict(frame[i : i + 1])[0] for i in range(50)]
    np.testing.assert_array_equal(alone, fitted.predict(frame[:50]))


@pytest.mark.parametrize(("shape", "breaks"), [("ovr", False), ("ovr", True), ("ovo", False)])
def test_ties_are_broken_as_the_model_breaks_them(shape, breaks):
    svc = SVC(decision_function_shape=shape, break_ties=breaks).fit(MANY[:600], MANY_Y[:600])
    rows = MANY[600:]
    fast = taken(svc, rows)
    np.testing.assert_array_equal(fast.predict(rows), svc.predict(rows))
    alone = [fast.predict(row[None])[0] for row in rows[:200]]
    np.testing.assert_array_equal(alone, svc.predict(rows[:200]))
    assert fast.decision_function(rows).shape == svc.decision_function(rows).shape
    np.testing.assert_allclose(fast.decision_function(rows), svc.decision_function(rows), atol=1e-3)
    by_sums = SVC(break_ties=True).fit(MANY[:600], MANY_Y[:600]).predict(rows)
    assert (by_sums != svc.predict(rows)).any() != breaks, "these rows hold ties"


@pytest.mark.parametrize("cls", ["NSVClassifier", "AnytimeClassifier", "ReducedSetClassifier"])
def test_pairs_stay_pairs_in_every_method(cls):
    svc = SVC(decision_function_shape="ovo").fit(MANY[:300], MANY_Y[:300])
    clf = getattr(kmviz, cls)(FrozenEstimator(svc)).fit(MANY[300:600])
    assert clf.decision_function(MANY[600:700]).shape == (100, 15)
    assert np.mean(clf.predict(MANY[600:]) == svc.predict(MANY[600:])) > 0.8
    assert clf.trace(MANY[600]).stop >= 0


class Bold(SVC):
    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0.3).astype(int)]


class Shifted(SVC):
    def decision_function(self, X):
        return super().decision_function(X) - 0.3


class Plain(SVC):
    """A subclass that answers as SVC does."""


@pytest.mark.parametrize("cls", [Bold, Shifted])
def test_a_rule_of_its_own_is_refused(cls):
    fitted = make_pipeline(StandardScaler(), cls()).fit(X[TRAIN], Y[TRAIN])
    with pytest.raises(TypeError, match=rf"{cls.__name__} has a .* of its own"):
        kmviz.accelerate(fitted, X[ASK])


def test_a_predict_of_one_object_is_refused():
    svc = SVC().fit(X[TRAIN], Y[TRAIN])
    svc.predict = lambda rows: np.ones(len(rows))
    with pytest.raises(TypeError, match="predict of its own"):
        kmviz.accelerate(svc, X[ASK])


def test_a_subclass_that_answers_alike_is_taken():
    fitted = Plain().fit(X[TRAIN], Y[TRAIN])
    np.testing.assert_array_equal(taken(fitted, X[ASK]).predict(X), fitted.predict(X))


class Doubling(TransformerMixin, BaseEstimator):
    """A step that answers otherwise on its second call."""

    calls = 0

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        Doubling.calls += 1
        return np.asarray(X) * (2.0 if Doubling.calls > 2 else 1.0)


def test_rows_that_are_answered_otherwise_are_named():
    Doubling.calls = 0
    rows, y = make_moons(400, noise=0.3, random_state=0)
    fitted = make_pipeline(Doubling(), SVC(gamma=2.0)).fit(rows[:200], y[:200])
    exact = ExactClassifier(FrozenEstimator(fitted)).fit(rows[200:])
    labels = fitted.predict(rows[200:])
    Doubling.calls = 0
    with pytest.raises(ReadingError, match=r"answers \d+ of 200 rows otherwise.*rows \d+ \("):
        refuse_unlike(exact, rows[200:], labels)


@pytest.mark.parametrize("names", [["no", "yes"], [False, True], [-1, 1], [3, 7]])
def test_classes_of_any_kind(names):
    y = np.array(names)[Y]
    for fitted in (SVC(), NuSVC(nu=0.4), make_pipeline(StandardScaler(), LinearSVC())):
        fitted.fit(X[TRAIN], y[TRAIN])
        fast = taken(fitted, X[ASK])
        np.testing.assert_array_equal(fast.predict(X), fitted.predict(X))
        assert fast.predict(X).dtype == fitted.predict(X).dtype


def test_weighted_machines():
    weight = np.random.default_rng(0).uniform(0.1, 5.0, size=300)
    by_row = SVC().fit(X[TRAIN], Y[TRAIN], sample_weight=weight)
    by_class = SVC(class_weight={0: 1.0, 1: 7.0}).fit(X[TRAIN], Y[TRAIN])
    many = SVC(class_weight="balanced").fit(
        MANY[:300], MANY_Y[:300], sample_weight=np.linspace(0.1, 4.0, 300)
    )
    for svc, rows in ((by_row, X[ASK]), (by_class, X[ASK]), (many, MANY[300:])):
        np.testing.assert_array_equal(taken(svc, rows).predict(rows), svc.predict(rows))


def test_training_rows_draw_a_warning():
    svc = SVC().fit(X[TRAIN], Y[TRAIN])
    with pytest.warns(kmviz.PromiseWarning, match="100% of the machine's own support vectors"):
        taken(svc, X[TRAIN])
    piped = make_pipeline(StandardScaler(), SVC()).fit(X[TRAIN], Y[TRAIN])
    with pytest.warns(kmviz.PromiseWarning, match="rows that it has not seen"):
        taken(piped, X[:150])


@pytest.mark.parametrize("queries", ["batch", "single"])
def test_where_nothing_is_faster_the_model_comes_back(queries, monkeypatch):
    svc = LinearSVC().fit(X[TRAIN], Y[TRAIN])
    from kmviz.evaluation import accelerate as module

    monkeypatch.setattr(module, "WORTH", 1e9)
    same = kmviz.accelerate(svc, X[ASK], max_disagreement=0.05, queries=queries)
    assert type(same) is LinearSVC
    assert same.coef_ is svc.coef_
    assert "as it was handed in: nothing is faster" in str(same.promise_)
    assert not hasattr(svc, "promise_")
    piped = make_pipeline(StandardScaler(), svc)
    for model in (same, kmviz.accelerate(piped.fit(X[TRAIN], Y[TRAIN]), X[ASK], "auto", 0.05)):
        found = kmviz.audit(model, X[ASK], share=1.0)
        assert (found.disagreements, found.promised) == (0, 0.0)


def test_how_much_faster_is_said():
    rows, y = load_digits(return_X_y=True)
    svc = SVC().fit(rows[:900], y[:900])
    fast = taken(svc, rows[900:])
    assert fast.promise_.faster > 1
    assert "x faster than the model's own predict" in str(fast.promise_)
    np.testing.assert_array_equal(fast.predict(rows[900:]), svc.predict(rows[900:]))


CHAINS = {
    "standard": [StandardScaler()],
    "no mean": [StandardScaler(with_mean=False), MaxAbsScaler()],
    "no scale": [StandardScaler(with_std=False), RobustScaler(with_centering=False)],
    "min max": [MinMaxScaler((-1, 2)), RobustScaler()],
    "pca": [StandardScaler(), PCA(4, whiten=True), StandardScaler(), PCA(3)],
    "imputed": [SimpleImputer(), StandardScaler()],
}


@pytest.mark.parametrize("name", CHAINS)
def test_affine_steps_are_one_map(name):
    fitted = make_pipeline(*CHAINS[name], SVC()).fit(X[TRAIN], Y[TRAIN])
    clf = ExactClassifier(FrozenEstimator(fitted)).fit(X[ASK])
    assert clf._affine is not None
    np.testing.assert_allclose(
        clf.machine_rows(X[ASK]), fitted[:-1].transform(X[ASK]), rtol=1e-9, atol=1e-9
    )
    np.testing.assert_array_equal(clf.predict(X), fitted.predict(X))
    single = X[ASK].astype(np.float32)
    np.testing.assert_array_equal(clf.machine_rows(single), fitted[:-1].transform(single))


def test_what_is_no_affine_map_is_left_to_the_transformers():
    for step in (MinMaxScaler(clip=True), QuantileTransformer(n_quantiles=20)):
        fitted = make_pipeline(step, SVC()).fit(X[TRAIN], Y[TRAIN])
        clf = ExactClassifier(FrozenEstimator(fitted)).fit(X[ASK])
        assert clf._affine is None
        np.testing.assert_array_equal(clf.predict(X * 2), fitted.predict(X * 2))


def test_missing_values_reach_the_imputer():
    fitted = make_pipeline(SimpleImputer(), StandardScaler(), SVC()).fit(X[TRAIN], Y[TRAIN])
    for cls in (ExactClassifier, kmviz.NSVClassifier):
        clf = cls(FrozenEstimator(fitted)).fit(X[ASK])
        holes = X[ASK][:5].copy()
        holes[0, 3] = np.nan
        rows = fitted[:-1].transform(holes)
        np.testing.assert_allclose(clf.machine_rows(holes), rows)
        assert np.isfinite(clf.decision_function(holes[:1])).all()


TEXTS = [
    " ".join(np.random.default_rng(i).choice(WORDS[i % 2], size=25))
    for WORDS in [[[f"w{k}" for k in range(300)], [f"w{k}" for k in range(150, 500)]]]
    for i in range(500)
]
TOPIC = np.arange(500) % 2


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_texts_through_sparse_rows(kernel):
    fitted = make_pipeline(TfidfVectorizer(), SVC(kernel=kernel)).fit(TEXTS[:250], TOPIC[:250])
    fast = kmviz.accelerate(fitted, TEXTS[250:], max_disagreement=0.05)
    np.testing.assert_array_equal(fast.predict(TEXTS), fitted.predict(TEXTS))
    assert fast.predict(TEXTS[:1])[0] == fitted.predict(TEXTS[:1])[0]


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_machines_fitted_on_csr(kernel, n_classes):
    rows = random_array((600, 80), density=0.1, rng=np.random.default_rng(0), format="csr")
    y = np.asarray(rows[:, :n_classes].toarray() + 1e-3 * rows[:, 10 : 10 + n_classes]).argmax(1)
    svc = SVC(kernel=kernel, C=10.0).fit(rows[:300], y[:300])
    fast = taken(svc, rows[300:])
    np.testing.assert_array_equal(fast.predict(rows), svc.predict(rows))
    assert fast.steps(rows[:3]).tolist() == [fast.n_vectors_] * 3
    np.testing.assert_allclose(
        fast.decision_function(rows), svc.decision_function(rows), rtol=1e-3, atol=1e-3
    )
    assert np.isfinite(fast.trace(rows[:1]).exact)


def test_a_method_that_needs_dense_rows_says_so():
    rows = random_array((200, 10), density=0.5, rng=np.random.default_rng(0), format="csr")
    svc = SVC().fit(rows, np.arange(200) % 2)
    with pytest.raises(TypeError, match="NSVClassifier needs dense rows, and sparse data came"):
        kmviz.NSVClassifier(FrozenEstimator(svc)).fit(rows)


def test_several_linear_classes_are_products_of_their_differences():
    fitted = make_pipeline(StandardScaler(), LinearSVC()).fit(MANY[:300], MANY_Y[:300])
    fast = taken(fitted, MANY[300:])
    np.testing.assert_array_equal(fast.predict(MANY), fitted.predict(MANY))
