"""Samples that look harder where queries are unlike the training rows."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.svm import SVC

import kmviz
from kmviz.evaluation.sampling import chances, dissimilarity, weighted_interval
from kmviz.methods.promise import interval


@pytest.fixture(scope="module")
def fitted():
    X, y = make_moons(400, noise=0.25, random_state=0)
    return kmviz.NSVClassifier(SVC(gamma=2.0), margin=0.0, random_state=0).fit(X, y), X


def test_dissimilarity_is_the_mean_squared_distance_to_every_row():
    rng = np.random.default_rng(0)
    rows, known = rng.normal(size=(7, 3)), rng.normal(size=(50, 3)) * [1, 5, 0.2]
    scatter = known.std(axis=0)
    every = ((rows[:, None] - known[None]) / scatter) ** 2
    np.testing.assert_allclose(dissimilarity(rows, known), every.sum(axis=2).mean(axis=1))


def test_no_draw_weighs_more_than_two():
    p = chances(np.array([1e-9, 1.0, 1e9]))
    assert p.sum() == pytest.approx(1.0)
    assert (1 / (3 * p)).max() <= 2.0
    assert p[2] > p[1]


def test_the_interval_holds_the_rate_and_the_estimate_is_not_biased():
    """Drawn again and again from queries of which the strange ones differ most."""
    rng = np.random.default_rng(1)
    scores = rng.gamma(0.5, 4.0, size=3000) + 1.0
    differs = rng.random(3000) < 0.02 * scores / scores.mean()
    p, truth, n = chances(scores), differs.mean(), 300
    largest = 1 / (len(p) * p.min())
    estimates, held = [], 0
    for _ in range(400):
        drawn = rng.choice(len(p), size=n, p=p)
        values = differs[drawn] / (len(p) * p[drawn])
        low, high = weighted_interval(values / largest, 0.9)
        estimates.append(values.mean())
        held += largest * low <= truth <= largest * high
    error = np.std(estimates) / np.sqrt(len(estimates))
    assert abs(np.mean(estimates) - truth) < 4 * error
    assert held >= 0.9 * 400, "a promise of 90% that does not hold in 90% of the draws"
    even = np.sqrt(truth * (1 - truth) / n)
    assert np.std(estimates) < even, "what differs is drawn more often: less is luck"


def test_the_interval_is_nearly_as_narrow_as_the_exact_one():
    values = np.repeat([0.0, 1.0], [990, 10])
    low, high = weighted_interval(values, 0.95)
    exact_low, exact_high = interval(10, 1000, 0.95)
    assert low <= exact_low < 0.01 < exact_high <= high
    assert high - low < 1.6 * (exact_high - exact_low)


def test_an_audit_of_all_kinds_of_queries(fitted):
    clf, X = fitted
    rng = np.random.default_rng(2)
    queries = np.vstack([X, X[:100] + rng.normal(scale=3.0, size=(100, 2))])
    truth = np.mean(clf.predict(queries) != clf.estimator_labels(queries))
    found = [
        kmviz.audit(clf, queries, share=0.5, random_state=seed, X_train=X) for seed in range(20)
    ]
    assert all(one.low <= truth <= one.high for one in found)
    assert np.mean([one.rate for one in found]) == pytest.approx(truth, abs=0.01)
    assert found[0].rows == 250
    assert found[0].sampling == "dissimilar"
    assert "unlike" in str(found[0])


def test_without_training_rows_every_query_is_as_likely(fitted):
    clf, X = fitted
    found = kmviz.audit(clf, X, share=0.5, random_state=0)
    assert found.sampling == "even"
    assert "unlike" not in str(found)
