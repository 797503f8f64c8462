"""Why a query stopped: one sentence, with the numbers of its record."""

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC

from kmviz import (
    AnytimeClassifier,
    FaLKClassifier,
    NSVClassifier,
    ReducedSetClassifier,
    SVTreeClassifier,
    datasets,
)
from kmviz.traces import ReducedTrace
from kmviz.ui.why import why


@pytest.fixture(scope="module")
def problem():
    data = datasets.load("two_moons", n=120, n_test=40)
    return data, FrozenEstimator(SVC(C=1, gamma=2).fit(data.X_train, data.y_train))


def records(clf, data):
    clf.fit(data.X_train, data.y_train)
    return [clf.trace(x) for x in data.X_test]


def test_nsv_names_the_threshold_that_was_passed(problem):
    data, svc = problem
    for record in records(NSVClassifier(svc, linear_filter=False), data):
        text, k = why(record), record.stop
        g = record.partial[k]
        if record.low[k] <= g <= record.high[k]:
            assert "never left the band" in text
        else:
            end = record.high[k] if g > record.high[k] else record.low[k]
            assert f"g = {g:.3g}" in text
            assert f"= {end:.3g}," in text


def test_nsv_says_when_the_filter_was_enough(problem):
    data, svc = problem
    found = [r for r in records(NSVClassifier(svc), data) if r.filtered]
    for record in found:
        assert f"said {record.filter_output:.3g}" in why(record)


def test_anytime_says_whether_the_interval_left_zero_behind(problem):
    data, svc = problem
    for record in records(AnytimeClassifier(svc, max_steps=20), data):
        low, high = record.lower[record.stop], record.upper[record.stop]
        certain = low > 0 or high < 0
        assert ("can change the sign" if certain else "exact sum was taken") in why(record)
        assert f"[{low:.3g}, {high:.3g}]" in why(record)


def test_a_tree_says_how_far_from_the_exact_sum_its_path_ends(problem):
    data, svc = problem
    whole = SVTreeClassifier(svc, random_state=0).fit(data.X_train, data.y_train)
    record = whole.cut(1).trace(data.X_test[0])
    assert why(record).startswith("After 1 support vector its path ends")
    assert f"{abs(record.output - record.exact):.2g} from f(x)" in why(record)


def test_a_sequential_reduced_set_names_the_threshold():
    record = ReducedTrace(
        exact=1.2, output=0.9, stop=2, partial=np.array([0.1, 0.3, 0.9]),
        index=np.array([-1, 0, 1]), value=np.array([0.0, 0.5, 0.5]),
        low=np.full(3, -0.5), high=np.array([0.5, 0.5, 0.75]),
    )  # fmt: skip
    assert why(record).startswith("After 2 vectors the sum 0.9 was beyond 0.75")


def test_those_that_never_stop_early_say_so(problem):
    data, svc = problem
    reduced = ReducedSetClassifier(svc, n_vectors=5).fit(data.X_train, data.y_train)
    record = reduced.trace(data.X_test[0])
    assert why(record).startswith("All 5 vectors were asked")
    texts = [why(record) for record in records(FaLKClassifier(20, random_state=0), data)]
    assert all("The model around row" in t or "all of one class" in t for t in texts)
