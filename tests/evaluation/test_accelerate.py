"""Fast classifiers with a promise, and the audit that checks it."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC

import kmviz
from kmviz import datasets
from kmviz.evaluation.audit import AuditWarning
from kmviz.evaluation.trial import Trial, least_rows
from kmviz.kernels import Normalized, Polynomial
from kmviz.methods.promise import NotProvedError, Promise, rows_needed, upper_bound


@pytest.fixture(scope="module")
def banana():
    return datasets.load("banana")


@pytest.fixture(scope="module")
def svc(banana):
    return SVC(C=10).fit(banana.X_train, banana.y_train)


def test_auto_keeps_its_promise_without_labels(svc, banana):
    fast = kmviz.accelerate(svc, banana.X_test[:2_000], max_disagreement=0.02)
    assert fast.promise_.rate <= 0.02
    differ = np.mean(fast.predict(banana.X_test[2_000:]) != svc.predict(banana.X_test[2_000:]))
    assert differ <= 0.02
    assert fast.classes_.tolist() == svc.classes_.tolist()


NAMED = ["nsv", "nsv_approximate", "nsv_reduced", "nsv_w2", "reduced", "svtree", "anytime",
         "anytime_hybrid", "exact"]  # fmt: skip


@pytest.mark.parametrize("method", NAMED)
def test_a_method_by_name_is_that_method(svc, banana, method):
    rate = 0.15 if method == "svtree" else 0.02
    fast = kmviz.accelerate(svc, banana.X_test[:1_500], method=method, max_disagreement=rate)
    assert type(fast).__name__.lower().startswith(method.split("_")[0])
    assert fast.promise_.rate <= rate
    assert (fast.promise_.rows == 0) == (method in ("anytime", "anytime_hybrid", "exact"))


def test_too_few_rows_say_how_many_it_takes_and_fall_back(svc, banana):
    with pytest.warns(kmviz.PromiseWarning, match=r"2,995 held-out rows.*3,993 rows or more"):
        fast = kmviz.accelerate(svc, banana.X_test[:400])
    assert type(fast).__name__ in ("AnytimeClassifier", "ExactClassifier")
    promise = fast.promise_
    assert (promise.rate, promise.confidence, promise.rows, promise.checked) == (0.0, 1.0, 0, 400)
    assert (fast.predict(banana.X_test) == svc.predict(banana.X_test)).all()


@pytest.fixture
def seen(monkeypatch):
    """The rows that decide and those that calibrate, once a trial has dealt them."""
    dealt = {}
    real = Trial.__init__

    def spy(self, *arguments):
        real(self, *arguments)
        dealt["held"], dealt["used"] = self.proof_rows, self.calibration_rows

    monkeypatch.setattr(Trial, "__init__", spy)
    return dealt


def test_rows_that_calibrate_do_not_decide(svc, banana, seen):
    fast = kmviz.accelerate(svc, banana.X_test[:1_000], method="nsv", max_disagreement=0.02)
    held, used = ({tuple(row) for row in seen[k]} for k in ("held", "used"))
    assert not held & used
    assert len(held) + len(used) == len({tuple(row) for row in banana.X_test[:1_000]})
    assert fast.promise_.rows == len(seen["held"])


def test_a_method_that_changes_too_much_is_not_returned(svc, banana):
    with pytest.warns(kmviz.PromiseWarning, match="svtree_path changes more"):
        fast = kmviz.accelerate(
            svc, banana.X_test[:4_500], method="svtree_path", max_disagreement=0.001
        )
    assert fast.promise_.rate <= 0.001


def test_trying_several_costs_confidence():
    rows = rows_needed(0.01, 0.95)
    assert upper_bound(0, rows, 0.95) <= 0.01 < upper_bound(0, rows, 0.99)


def test_pipelines_normalised_kernels_and_frames_are_accelerated(banana):
    frame_like = banana.X_test[:900]
    for estimator in (
        make_pipeline(StandardScaler(), SVC(C=10)),
        SVC(kernel=Normalized(Polynomial(degree=2)), C=10),
    ):
        fitted = estimator.fit(banana.X_train, banana.y_train)
        fast = kmviz.accelerate(fitted, frame_like, max_disagreement=0.05)
        share = np.mean(fast.predict(banana.X_test) != fitted.predict(banana.X_test))
        assert share <= 0.05


def test_bad_arguments_are_named(svc, banana):
    with pytest.raises(ValueError, match="max_disagreement"):
        kmviz.accelerate(svc, banana.X_test, max_disagreement=0)
    with pytest.raises(ValueError, match="method must be"):
        kmviz.accelerate(svc, banana.X_test, method="magic")


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_handful_of_rows_falls_back(svc, banana, n):
    with pytest.warns(kmviz.PromiseWarning, match="2,995 held-out rows"):
        fast = kmviz.accelerate(svc, banana.X_test[:n])
    assert fast.promise_.rows == 0


def test_a_kernel_of_ones_own_is_accelerated(banana):
    svc = SVC(kernel=rbf_kernel).fit(banana.X_train[:200], banana.y_train[:200])
    fast = kmviz.accelerate(svc, banana.X_test[:800], max_disagreement=0.05)
    assert fast.promise_.rate <= 0.05


@pytest.mark.parametrize(
    ("given", "message"),
    [({"confidence": 1.0}, "confidence"), ({"queries": "all"}, "queries must be 'batch'")],
)
def test_how_queries_come_and_how_sure_it_is(svc, banana, given, message):
    with pytest.raises(ValueError, match=message):
        kmviz.accelerate(svc, banana.X_test, **given)


def test_a_search_gives_its_best(banana):
    search = GridSearchCV(SVC(), {"C": [1.0]}, cv=2).fit(banana.X_train, banana.y_train)
    fast = kmviz.accelerate(search, banana.X_test[:500], method="exact")
    assert (fast.predict(banana.X_test) == search.predict(banana.X_test)).all()


def test_least_rows_leave_a_quarter_to_calibrate():
    for rate in (0.05, 0.01, 0.001):
        n = least_rows(rate)
        assert n - n // 4 >= rows_needed(rate)
        assert (n - 1) - (n - 1) // 4 < rows_needed(rate)


def test_an_audit_estimates_the_disagreement(svc, banana):
    tree = kmviz.SVTreeClassifier(FrozenEstimator(svc), random_state=0).fit(banana.X_train)
    truth = np.mean(tree.predict(banana.X_test) != svc.predict(banana.X_test))
    result = kmviz.audit(tree, banana.X_test, share=0.5, random_state=0)
    assert result.rows == 2_450
    assert result.low <= truth <= result.high
    assert result.rate == result.disagreements / result.rows
    assert "of 2450 audited answers differ" in str(result)
    again = kmviz.audit(tree, banana.X_test, share=0.5, random_state=0)
    assert again == result


def test_an_audit_of_a_pipeline_is_that_of_its_last_step(banana):
    clf = make_pipeline(StandardScaler(), kmviz.NSVClassifier(window=0))
    clf.fit(banana.X_train, banana.y_train)
    found = kmviz.audit(clf, banana.X_test, share=0.2, random_state=0)
    rows = clf[:-1].transform(banana.X_test)
    assert found == kmviz.audit(clf[-1], rows, share=0.2, random_state=0)
    assert found.disagreements > 0


def test_an_audit_of_a_reduced_set_asks_the_original(svc, banana):
    small = kmviz.ReducedSetClassifier(FrozenEstimator(svc), n_vectors=3, random_state=0)
    small.fit(banana.X_train)
    result = kmviz.audit(small, banana.X_test, share=1.0)
    truth = np.sum(small.predict(banana.X_test) != svc.predict(banana.X_test))
    assert result.disagreements == truth > 0


def test_a_broken_promise_is_a_warning(svc, banana):
    tree = kmviz.SVTreeClassifier(FrozenEstimator(svc), random_state=0).fit(banana.X_train)
    tree.promise_ = Promise(0.001, 0.95, 2_995)
    with pytest.warns(AuditWarning, match=r"above the 0\.100% that was promised"):
        result = kmviz.audit(tree, banana.X_test, share=1.0)
    assert result.exceeded
    exact = kmviz.accelerate(svc, banana.X_test[:200], method="exact")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not kmviz.audit(exact, banana.X_test, share=0.2).exceeded


def test_an_audit_needs_an_exact_machine_and_a_share(banana, svc):
    falk = kmviz.FaLKClassifier(n_neighbors=50).fit(banana.X_train, banana.y_train)
    with pytest.raises(TypeError, match="no exact machine"):
        kmviz.audit(falk, banana.X_test)
    exact = kmviz.ExactClassifier(FrozenEstimator(svc)).fit(banana.X_train)
    with pytest.raises(ValueError, match="share"):
        kmviz.audit(exact, banana.X_test, share=0)
    with pytest.raises(ValueError, match="confidence"):
        kmviz.audit(exact, banana.X_test, confidence=1.0)


def test_a_kernel_that_is_none_of_mercers_is_accelerated(banana):
    svc = SVC(kernel="poly", degree=2, coef0=-0.5).fit(banana.X_train, banana.y_train)
    fast = kmviz.accelerate(svc, banana.X_test[:1000], max_disagreement=0.05)
    assert fast.promise_.rate <= 0.05


def test_a_method_whose_promise_cannot_be_proved_is_passed_over(svc, banana, monkeypatch):
    def unproved(clf, rows, labels):
        raise NotProvedError("rounding decides")

    monkeypatch.setattr(kmviz.NSVClassifier, "prove", unproved)
    fast = kmviz.accelerate(svc, banana.X_test, max_disagreement=0.02)
    assert not isinstance(fast, kmviz.NSVClassifier)
    assert fast.promise_.rate <= 0.02


def wrong_rows(rows):
    return {
        "other units": (rows * 100.0, "lie far outside the support vectors' range"),
        "zeros": (np.zeros_like(rows), "All 2,000 rows of X are equal"),
        "one row": (np.repeat(rows[:1], 2_000, axis=0), "All 2,000 rows of X are equal"),
        "few rows": (np.tile(rows[:20], (100, 1)), "X has 20 distinct rows among 2,000"),
        "scaled away": (rows / 255.0, "X is nearly constant"),
    }


@pytest.mark.parametrize("method", ["auto", "nsv"])
@pytest.mark.parametrize("name", wrong_rows(np.zeros((20, 2))))
def test_rows_that_look_wrong_promise_nothing(svc, banana, name, method):
    rows, words = wrong_rows(banana.X_test[:2_000])[name]
    with pytest.warns(kmviz.PromiseWarning, match=words) as caught:
        fast = kmviz.accelerate(svc, rows, method=method, max_disagreement=0.2)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert fast.promise_.rows == 0
    assert fast.promise_.rate == 0.0
    assert (fast.predict(banana.X_test) == svc.predict(banana.X_test)).all()


@pytest.mark.parametrize("name", ["other units", "one row"])
def test_values_of_rows_that_look_wrong_promise_nothing(banana, name):
    svr = SVR().fit(banana.X_train, banana.X_train[:, 0] ** 2)
    rows, words = wrong_rows(banana.X_test[:2_000])[name]
    with pytest.warns(kmviz.PromiseWarning, match=words):
        fast = kmviz.accelerate(svr, rows, max_disagreement=0.2, tolerance=0.01)
    assert fast.promise_.rows == 0


def test_rows_are_compared_as_the_machine_reads_them(banana):
    """Behind a scaler, in sparse rows, and where there are weights in place of vectors."""
    scaled = make_pipeline(StandardScaler(), SVC()).fit(banana.X_train, banana.y_train)
    with pytest.warns(kmviz.PromiseWarning, match="far outside"):
        kmviz.accelerate(scaled, banana.X_test * 100.0, method="exact")
    normed = make_pipeline(Normalizer(), SVC()).fit(banana.X_train, banana.y_train)
    kmviz.accelerate(normed, banana.X_test * 100.0, method="exact")
    drawn = np.random.default_rng(0).integers(0, 60, (400, 12))
    texts, kinds = [" ".join(f"w{j}" for j in row) for row in drawn], drawn.sum(axis=1) > 350
    written = make_pipeline(TfidfVectorizer(), SVC()).fit(texts[::2], kinds[::2])
    kmviz.accelerate(written, texts[1::2], method="exact")
    plain = SVC().fit(csr_array(banana.X_train), banana.y_train)
    with pytest.warns(kmviz.PromiseWarning, match="far outside"):
        kmviz.accelerate(plain, csr_array(banana.X_test * 100.0), method="exact")
    weights = LinearSVC().fit(banana.X_train, banana.y_train)
    kmviz.accelerate(weights, banana.X_test * 100.0, method="exact")


def test_ordinary_rows_are_not_questioned():
    for name in ("heart", "waveform", "digits"):
        data = datasets.load(name)
        fitted = SVC(C=10).fit(data.X_train, data.y_train)
        fast = kmviz.accelerate(fitted, data.X_test, method="exact")
        assert fast.promise_.checked == len(data.X_test)


def test_copies_of_a_row_count_once(svc, banana):
    rows = np.tile(banana.X_test[:1_000], (5, 1))
    with pytest.warns(kmviz.PromiseWarning, match="X has 1,000 distinct rows"):
        few = kmviz.accelerate(svc, rows)
    assert (few.promise_.checked, few.promise_.distinct, few.promise_.rows) == (5_000, 1_000, 0)
    once = kmviz.accelerate(svc, rows[:1_000], method="nsv", max_disagreement=0.02).promise_
    again = kmviz.accelerate(svc, rows, method="nsv", max_disagreement=0.02).promise_
    assert again.rows == once.rows == 500
    assert f"of {again.rows} distinct held-out answers" in str(again)
    assert "5000 rows (1000 distinct)" in str(again)


def test_equal_rows_stay_on_one_side(svc, banana, seen):
    rows = np.tile(banana.X_test[:600], (3, 1))
    kmviz.accelerate(svc, rows, method="nsv", max_disagreement=0.02)
    held, used = ({tuple(row) for row in seen[k]} for k in ("held", "used"))
    assert not held & used
    assert len(seen["held"]) + len(seen["used"]) == len(rows)
