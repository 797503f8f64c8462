"""Prices of a walk: what they add up to is what asking takes."""

from dataclasses import replace
from math import isnan

import pytest
from sklearn.svm import SVC

from kmviz import NSVClassifier, datasets
from kmviz.evaluation.prices import ending_at, n_stages, prices

DATA = datasets.load("banana")


@pytest.fixture(scope="module", params=["empty", "approximate", "reduced"])
def clf(request):
    svc = SVC(C=0.3, gamma=2.0)
    clf = NSVClassifier(svc, start=request.param, n_components=1, random_state=0)
    return clf.fit(DATA.X_train, DATA.y_train)


def test_walks_end_where_they_are_made_to(clf):
    engine, rows = clf.engines_[0], DATA.X_test[:50]
    stages, m = n_stages(engine), engine.machine.n_vectors
    assert stages == (len(engine.stages) if engine.tables.approximate else 0)
    ends = {
        place: engine.answers(rows, ending_at(engine, place)) for place in range(-1, stages + 2)
    }
    assert (ends[-1].stage == -2).all()
    for stage in range(stages):
        assert (ends[stage].stage == stage).all()
    assert (engine.stop_of(ends[stages]) == 1).all()
    assert (engine.stop_of(ends[stages + 1]) == m).all()


def test_a_reading_costs_the_sum_of_its_prices(clf):
    found = replace(
        prices(clf, DATA.X_test, repeats=1), by_filter=1.0, by_stage=(10.0,) * 9, first=100.0,
        touched=1000.0, exact=5000.0,
    )  # fmt: skip
    reading = clf.study(DATA.X_test[:300]).read()
    walked = ~reading.filtered & (reading.stage < 0)
    expected = (
        reading.filtered.sum()
        + 10.0 * (reading.stage >= 0).sum()
        + 100.0 * walked.sum()
        + 1000.0 * (reading.stop[walked] - 1).sum()
    ) / 300
    assert found.mean(reading) == pytest.approx(expected)
    assert found.speedup(reading) == pytest.approx(5000.0 / expected)
    assert walked.any() or (reading.stage >= 0).any()


def test_without_a_filter_it_has_no_price(clf):
    study = clf.study(DATA.X_test[:100])
    plain = study.classifier(linear_filter=False)
    found = prices(plain, DATA.X_test, repeats=1)
    assert isnan(found.by_filter)
    assert found.mean(study.read(linear_filter=False)) > 0
    assert not isnan(prices(clf, DATA.X_test, repeats=1).by_filter)
