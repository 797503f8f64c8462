"""The tables of nearest support vectors: their form, on machines small enough for a test."""

import numpy as np
import pandas as pd
import pytest
from sklearn.svm import SVC

from kmviz import datasets
from kmviz.papers import nsv, nsv_compared, nsv_machines
from kmviz.traces import NSVReading


@pytest.fixture(scope="module")
def small():
    """Machines of 100 digits of 8 x 8 pixels in place of MNIST."""
    known = {}

    def machine_of(pair, n_train):
        if pair not in known:
            data = datasets.load("digits", pair=pair).scaled()
            X, y = nsv_machines.KERNEL.embed(data.X_train), data.y_train
            svc = SVC(kernel="poly", gamma=1.0, degree=9, C=10.0).fit(X[:100], y[:100])
            test = nsv_machines.KERNEL.embed(data.X_test)
            rows = {"train": X[:100], "y_train": y[:100], "rest": X[100:], "every": X}
            known[pair] = svc, rows | {"test": test, "y_test": data.y_test}
        return known[pair]

    nsv_machines.pair_rows.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        for module in (nsv, nsv_compared, nsv_machines):
            patch.setattr(module, "machine_of", machine_of)
        patch.setattr(nsv_machines, "RATES", (0.1, 0.06))  # few rows
        yield machine_of
    nsv_machines.pair_rows.cache_clear()


@pytest.fixture(scope="module")
def table(small):
    return nsv.pairs()


def test_pairs_and_their_summary(small):
    told = []
    table = nsv.pairs(progress=lambda share, text: told.append(text))
    assert told == ["3 against 8", "0 against 1", "4 against 9"]
    assert len(table) == 3 * len(nsv_machines.SETTINGS)
    assert {"paper", "ours", "pair", "m", "speedup", "disagreements"} <= set(table.columns)
    assert (table["speedup"] > 1).all()
    assert (table["disagreements"] <= 0.05 * table["queries"]).all()
    total = nsv.summarised(table).set_index(["setting", "measure"])["ours"]
    for setting in table["setting"].unique():
        own = table[table["setting"] == setting]
        assert total[setting, "disagreements"] == own["disagreements"].sum()
        assert total[setting, "mean m/k"] == pytest.approx(own["speedup"].mean())
        more = own["errors"].sum() - own["machine_errors"].sum()
        assert total[setting, "test errors less those of the machines"] == more


def test_a_row_is_what_the_classifier_counts(small, table):
    svc, rows = small((3, 8), 0)
    clf = nsv_machines.calibrated((3, 8), 0, nsv_machines.SETTINGS[nsv_machines.ALL_DIGITS])
    own = table[(table["setting"] == nsv_machines.ALL_DIGITS) & (table["pair"] == "3-8")].iloc[0]
    steps = clf.steps(rows["test"])
    assert own["steps_mean"] == steps.mean()
    assert (own["steps_min"], own["steps_max"]) == (steps.min(), steps.max())
    assert own["honest_speedup"] == pytest.approx(own["m"] / (steps.mean() + clf.overhead_))
    assert own["errors"] == (clf.predict(rows["test"]) != rows["y_test"]).sum()
    assert own["machine_errors"] == (svc.predict(rows["test"]) != rows["y_test"]).sum()


def test_each_published_reading_calibrates_on_its_own_rows(small):
    rows = small((3, 8), 0)[1]
    every = nsv_machines.SETTINGS[nsv_machines.ALL_DIGITS]
    for how, n in ((nsv_machines.OWN, 100), (every, len(rows["every"]))):
        clf = nsv_machines.calibrated((3, 8), 0, how)
        assert clf.order == "tug_of_war"
        assert clf.engines_[0].envelope.n_rows == n


def test_wider_margins_are_slower(small):
    table = nsv.frontier()
    for setting in nsv_machines.SETTINGS:
        own = table[table["setting"] == setting]
        assert tuple(own["margin"]) == nsv_machines.MARGINS
        assert own["speedup"].is_monotonic_decreasing
        assert own["ours"].iloc[-1] <= own["ours"].iloc[0]
    kept = table[table["setting"] == nsv_machines.PROMISED]
    assert tuple(kept["promised"]) == nsv_machines.RATES
    assert (
        kept["ours"].tolist()
        == nsv.promised().groupby("promised", sort=False)["disagreements"].sum().tolist()
    )


def test_each_promise_is_proved_anew(small):
    table = nsv.promised().set_index(["pair", "promised"]).sort_index()
    how = nsv_machines.SETTINGS[nsv_machines.REDUCED]
    for pair in nsv_machines.QUICK_PAIRS:
        own = table.loc[nsv_machines.name_of(pair)]
        assert own.loc[0.06, "margin"] >= own.loc[0.1, "margin"]
        clf = nsv_machines.calibrated(pair, 0, how, max_disagreement=0.06)
        assert own.loc[0.06, "margin"] == clf.margin_
        queries = small(pair, 0)[1]["test"]
        assert own.loc[0.06, "speedup"] == clf.machine_.n_vectors / clf.steps(queries).mean()


def test_matrices_hold_each_pair_twice(table, small):
    below = {"m": nsv.table_2(), "machine_errors": nsv.table_3()}
    above = {"m": "speedup", "machine_errors": "disagreements"}
    for lower, found in below.items():
        cells = found[found["setting"] == nsv_machines.ALL_DIGITS].set_index(["row", "column"])
        for _, pair in table[table["setting"] == nsv_machines.ALL_DIGITS].iterrows():
            low, high = pair["pair"].split("-")
            assert cells.loc[(low, high), "ours"] == pair[above[lower]]
            assert cells.loc[(high, low), "ours"] == pair[lower]
        assert len(cells) == 2 * 3 + 1


def test_the_papers_figures_stand_beside_all_pairs_only(monkeypatch):
    row = {"speedup": 100.0, "honest_speedup": 9.0, "disagreements": 1, "queries": 2000, "m": 9,
           "errors": 3, "machine_errors": 3, "by_filter": 0.5, "margin": 0.0,
           "promised": np.nan, "paper": np.nan}  # fmt: skip
    every = [
        row | {"pair": f"{a}-{b}", "setting": name}
        for a, b in nsv_machines.ALL_PAIRS
        for name in nsv_machines.SETTINGS
    ]
    whole = pd.DataFrame(every)
    own, shown = nsv_machines.APPROXIMATE, nsv_machines.ALL_DIGITS
    table = nsv.summarised(whole).set_index(["setting", "measure"])
    assert table.loc[(own, "mean m/k"), "paper"] == 111
    assert table.loc[(shown, "disagreements"), "paper"] == 6
    assert table.loc[(shown, "disagreements"), "ours"] == 45
    assert table.loc[(shown, "test errors less those of the machines"), "paper"] == -4
    assert (nsv.swept(whole)["paper"] == 6).all()
    some = nsv.summarised(pd.DataFrame(every[:6])).set_index(["setting", "measure"])["paper"]
    assert some[own, "mean m/k"] == 111
    assert np.isnan(some[own, "disagreements"])
    assert nsv.summarised(whole, full=False)["paper"].isna().all()
    monkeypatch.setattr(nsv, "pairs", lambda full, progress: whole)
    for matrix, paper in ((nsv.table_2, 111), (nsv.table_3, 6)):
        total = matrix(full=True).set_index(["setting", "row"]).loc[shown]
        assert total.loc["mean" if paper == 111 else "sum", "paper"] == paper


def test_table_1_tells_the_cases(small, monkeypatch):
    load, ten = datasets.load, datasets.load("digits")
    monkeypatch.setattr(
        datasets, "load", lambda name, **pair: ten if name == "mnist" else load(name, **pair)
    )
    whole = nsv.table_1()
    assert whole["paper"].isna().all(), "the paper's machines are larger"
    table = whole.set_index(["pair", "setting", "measure"]).sort_index()["ours"]
    svc, rows = small((2, 7), 0)
    assert table["2-7", "", "support vectors m"] == len(svc.support_)
    assert table["2-7", "", "training digits 7"] + table["2-7", "", "training digits 2"] == 100
    wrong = (svc.predict(rows["test"]) != rows["y_test"]).sum()
    assert table["2-7", "", "test errors, exact SVM"] == wrong
    for setting in (nsv_machines.OWN_DIGITS, *nsv_machines.SETTINGS):
        told = table["0-1", setting]
        assert told["k min"] <= told["k median"] <= told["k max"]
        assert told["share that the filter decides, no filter"] == 0
        assert told["m/k, all counted"] <= told["m/k"]


def test_one_k_for_all_is_no_match(small, monkeypatch):
    monkeypatch.setattr(nsv_compared, "FIXED", (1, 10, 40))
    table = nsv.fixed_k()
    assert set(table["way"]) == {
        "exact SVM", "nearest support vectors", "k nearest training digits",
        "k nearest support vectors, summed",
    }  # fmt: skip
    exact = table[table["way"] == "exact SVM"].set_index("pair")
    assert (exact["disagreements"] == 0).all()
    m = exact.loc["3-8", "m"]
    assert exact.loc["3-8", "k"] == m
    summed = table[table["way"].str.contains("summed") & (table["pair"] == "3-8")]
    assert summed["disagreements"].iloc[0] > summed["disagreements"].iloc[-1]


def test_a_reduced_set_is_walked_like_any_machine(small):
    table = nsv.reduced_set()
    m = len(small((3, 8), 0)[0].support_)
    sizes = table.groupby("vectors", sort=False)["n_vectors"].first().tolist()
    assert sizes == [m, round(m / 5), round(m / 20)]
    whole = table[table["way"] == "all of them"]
    assert whole["speedup"].tolist() == pytest.approx([m / size for size in sizes])
    assert whole["ours"].iloc[0] == 0
    walked = table[table["way"] != "all of them"]
    assert (walked["steps_mean"] <= walked["n_vectors"] + 1).all()


def test_generated_rows_widen_the_thresholds(small):
    table = nsv.generated().set_index(["pair", "start", "calibrated on"]).sort_index()
    for pair in ("3-8", "0-1", "4-9"):
        own = table.loc[(pair, "empty")]
        plain = own.loc["the machine's own digits"]
        more = own.loc["its own digits and generated rows"]
        assert more["rows"] > plain["rows"]
        assert more["speedup"] <= plain["speedup"]
        assert more["ours"] <= plain["ours"]


def test_counted_by_hand():
    reading = NSVReading(
        outputs=np.array([1.0, 1.0, 1.0]), steps=np.array([1, 1, 4]),
        agrees=np.array([True, False, True]), exact=np.array([1.0, -1.0, 1.0]), overhead=3.0,
        stop=np.array([0, 0, 3]), filtered=np.array([True, True, False]),
        stage=np.array([-1, -1, -1]), low=np.zeros(31), high=np.zeros(31),
    )  # fmt: skip
    found = nsv_machines.measured(reading, 30, np.array([True, True, False]))
    assert found["disagreements"] == 1
    assert (found["errors"], found["machine_errors"]) == (1, 2)
    assert found["speedup"] == pytest.approx(15.0)
    assert found["honest_speedup"] == pytest.approx(6.0)
    assert found["by_filter"] == pytest.approx(2 / 3)
