"""The tables of nearest support vectors: their form, on machines small enough for a test."""

import numpy as np
import pandas as pd
import pytest
from sklearn.svm import SVC

from kmviz import datasets
from kmviz.evaluation.papers import nsv


@pytest.fixture
def small(monkeypatch):
    """Machines of 200 digits of 8 x 8 pixels in place of MNIST."""

    def machine_of(pair, n_train):
        data = datasets.load("digits", pair=pair).scaled()
        X = nsv.KERNEL.embed(data.X_train)
        svc = SVC(kernel="poly", gamma=1.0, degree=9, C=10.0).fit(X[:100], data.y_train[:100])
        test = nsv.KERNEL.embed(data.X_test)
        rows = {"train": X[:100], "held_out": X[100:], "every": X}
        return svc, rows | {"test": test, "y_test": data.y_test}

    monkeypatch.setattr(nsv, "machine_of", machine_of)
    promised = ({"start": "approximate", "max_disagreement": 0.1}, "held_out")  # few rows
    monkeypatch.setitem(nsv.SETTINGS, "from the approximation, 0.2% promised", promised)
    nsv.pair_rows.cache_clear()
    nsv.fitted.cache_clear()
    yield
    nsv.pair_rows.cache_clear()
    nsv.fitted.cache_clear()


def test_pairs_and_their_summary(small):
    told = []
    table = nsv.pairs(progress=lambda share, text: told.append(text))
    assert told == ["3 against 8", "0 against 1", "4 against 9"]
    assert len(table) == 3 * len(nsv.SETTINGS)
    assert {"paper", "ours", "pair", "m", "speedup", "disagreements"} <= set(table.columns)
    assert (table["speedup"] > 1).all()
    assert (table["disagreements"] <= 0.05 * table["queries"]).all()
    total = nsv.summarised(table).set_index(["setting", "measure"])["ours"]
    for setting in nsv.SETTINGS:
        own = table[table["setting"] == setting]
        assert total[setting, "disagreements"] == own["disagreements"].sum()
        assert total[setting, "mean m/k"] == pytest.approx(own["speedup"].mean())


def test_each_published_reading_calibrates_on_its_own_rows(small):
    rows = nsv.machine_of((3, 8), 0)[1]
    for setting, n in ((nsv.OWN_DIGITS, 100), (nsv.ALL_DIGITS, len(rows["every"]))):
        clf = nsv.fitted((3, 8), 0, setting)
        assert clf.order == "tug_of_war"
        assert clf.engines_[0].envelope.n_rows == n


def test_the_papers_figures_stand_beside_all_pairs_only():
    row = {"speedup": 100.0, "honest_speedup": 9.0, "disagreements": 1, "queries": 2000}
    every = [row | {"pair": str(i), "setting": name} for i in range(45) for name in nsv.SETTINGS]
    table = nsv.summarised(pd.DataFrame(every)).set_index(["setting", "measure"])
    assert table.loc[(nsv.OWN_DIGITS, "mean m/k"), "paper"] == 111
    assert table.loc[(nsv.ALL_DIGITS, "disagreements"), "paper"] == 6
    assert table.loc[(nsv.ALL_DIGITS, "disagreements"), "ours"] == 45
    some = nsv.summarised(pd.DataFrame(every[:6])).set_index(["setting", "measure"])["paper"]
    assert some[nsv.OWN_DIGITS, "mean m/k"] == 111
    assert np.isnan(some[nsv.OWN_DIGITS, "disagreements"])
    assert nsv.summarised(pd.DataFrame(every), full=False)["paper"].isna().all()


def test_counted_by_hand():
    class Fixed:
        class machine_:
            n_vectors = 30

            @staticmethod
            def decision_function(X):
                return np.array([1.0, -1.0, 1.0])

        overhead_ = 3.0

        def steps(self, X):
            return np.array([1, 1, 4])

        def decision_function(self, X):
            return np.array([1.0, 1.0, 1.0])

    found = nsv.measured(Fixed(), np.zeros((3, 1)))
    assert found["disagreements"] == 1
    assert found["speedup"] == pytest.approx(15.0)
    assert found["honest_speedup"] == pytest.approx(6.0)
    assert found["no_vector_touched"] == pytest.approx(2 / 3)
