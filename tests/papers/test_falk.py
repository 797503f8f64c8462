"""The FaLK-SVM paper's tables: what is cheap enough to check here."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import wilcoxon
from sklearn.svm import SVC

from kmviz.methods.falk import selection
from kmviz.papers import climb, falk, falk_data, falk_first, falk_systems, limits

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def brief(monkeypatch):
    """Fewer rows to choose on, and a shorter selection."""
    monkeypatch.setattr(selection, "HELD_OUT", (200, 200))
    monkeypatch.setattr(falk, "CHOOSING", 300)


def test_growth_runs_on_every_artificial_set(monkeypatch):
    monkeypatch.setattr(falk, "GROWING", (500, 1000))
    table = falk.growth(progress=None)
    assert {"paper", "ours", "exponent", "accuracy", "test"} <= set(table.columns)
    assert (table.groupby("data")["rows"].apply(list).map(tuple) == (500, 1000)).all()
    assert (table["test"] > 0).all()


def test_stored_growth_is_close_to_linear():
    table = pd.read_csv(ROOT / "benchmarks" / "papers" / "falk_growth.csv", comment="#")
    slopes = {
        (name, phase): np.polyfit(np.log(part["rows"]), np.log(part[phase]), 1)[0]
        for name, part in table.groupby("data")
        for phase in ("ours", "test")
    }
    assert all(slope < (1.3 if phase == "ours" else 0.6) for (_, phase), slope in slopes.items())
    spirals = table[(table["data"] == "2-spirals") & (table["rows"] == 100_000)].iloc[0]
    assert spirals["accuracy"] == pytest.approx(0.8847, abs=0.01)  # table 5
    assert spirals["paper"] == 188.0


def test_published_figures_are_those_of_the_tables():
    assert falk.TABLE_5["cov-type"]["FaLK-SVM"] == 92.89
    assert falk_first.TABLE_3["sonar"][7] == 87.88
    assert all(len(row) == 9 for row in falk_first.TABLE_3.values())
    assert (
        set(falk.SPEEDUPS.index.unique("data"))
        == set(falk.TABLE_5)
        == set(falk_data.SIZES)
        == set(falk.SVC_PARAMETERS)
    )


def test_parameters_of_svc_are_those_chosen_on_training_rows():
    stored = sorted((ROOT / "benchmarks" / "results").glob("falk_choice_*.csv"))
    assert stored
    for file in stored:
        table = pd.read_csv(file, comment="#")
        best = table[table["way"] == "SVC"].iloc[0]
        assert falk_data.SVC_PARAMETERS[best["data"]] == (best["C"], best["gamma"])


def test_large_sets_run_side_by_side_on_the_same_test_rows(monkeypatch, brief):
    asked = set()
    scored = falk._scored

    def noted(model, train, rows):
        asked.add((len(rows[3]), rows[2].tobytes()))
        return scored(model, train, rows)

    rows_of = falk.large_rows
    monkeypatch.setattr(falk, "_scored", noted)
    monkeypatch.setattr(falk, "large_rows", lambda name, n: rows_of(name, n, 1000))
    result = falk.large.__wrapped__("checker-b", 1000)
    assert set(result.index) == set(falk.TABLE_5["checker-b"])
    assert (result["accuracy"] > 0.8).all()
    assert result.loc["FaLK-SVM", "train"] < result.loc["FaLK-SVMl", "train"]
    assert len(asked) == 1
    assert next(iter(asked))[0] == 1000


def test_local_parameters_are_chosen_for_each_way_to_select(brief):
    X, y, _, _ = falk.large_rows("checker-b", 1000, 100)
    found = falk.choose_local(X, y, 4.0, 1024.0)
    assert found["FaLK-SVMc"]["select"] == "center"
    score = climb.held_out_score(falk.FaLKClassifier(random_state=0), X[:300], y[:300])
    best = found["FaLK-SVM"]
    assert score(best) >= score({"n_neighbors": 250, "C": 4.0, "gamma": 1024.0})
    for name, ratio in (("gamma", 4), ("gamma", 0.25)):
        assert score(best) >= score(best | {name: best[name] * ratio})


def test_every_rival_of_the_experiment_is_measured(monkeypatch, brief):
    monkeypatch.setattr(falk_systems.loops, "modules", list)  # compiled already
    monkeypatch.setattr(falk_systems, "ROWS", (200, 400))
    monkeypatch.setattr(falk_systems, "QUERIES", 500)
    monkeypatch.setattr(falk_systems, "SVC_PARAMETERS", {"checker-b": (4.0, 256.0)})
    monkeypatch.setattr(falk_systems, "CHOOSING", 200)

    def alone(seconds, steps, made, start, rows, wanted):
        """No process: USVM does not come to its second size, LASVM to none."""
        over = [i for i, one in enumerate(wanted) if one in (("USVM", 400), ("LASVM", 200))]
        return list(steps(made, start, rows, wanted[: over[0]] if over else wanted))

    monkeypatch.setattr(falk_systems, "within", alone)
    table = falk_systems.rivals()
    assert len(table) == 32
    assert set(table["method"]) == set(falk_systems.systems(10))
    table = table.set_index(["rows", "method"])
    assert table.loc[(200, "USVM"), "ours"] > 40
    assert table.loc[(400, "USVM"), "note"] == "cut off after 10 CPU seconds"
    assert table.loc[(200, "LASVM"), "note"] == "cut off after 10 CPU seconds"
    assert table.loc[(400, "LASVM"), "note"] == "cut off on fewer rows"
    done = table[~table["note"].str.startswith("cut")]
    assert (done["ours"] > 40).all()
    assert (done[["train", "test"]] > 0).all(axis=None)
    assert table.loc[(400, "LibSVM"), "train_vs_libsvm"] == 1.0
    assert table.loc[(400, "CPSP"), "vectors"] == falk_systems.VECTORS
    assert table.loc[(400, "CPSP"), "C"] in (1.0, 4.0, 16.0)


def test_a_walk_follows_each_value_as_long_as_it_pays():
    asked = []

    def score(values):
        asked.append(dict(values))
        return -abs(np.log2(values["a"] / 64)) - abs(values["k"] - 2)

    best = climb.climbed(score, {"a": 4.0, "k": 16, "b": "kept"}, {"a": 4, "k": 2})
    assert best == {"a": 64.0, "k": 2, "b": "kept"}
    assert [one["a"] for one in asked[:4]] == [4.0, 16.0, 64.0, 256.0]
    assert min(one["k"] for one in asked) == 1
    assert climb.climbed(lambda values: 0.0, {"k": 1}, {"k": 2}) == {"k": 1}, "it ends"


def test_a_system_takes_what_judges_best():
    X, y, _, _ = falk.large_rows("checker-b", 300, 10)
    best = falk_systems.chosen("LibSVM", SVC(), 4.0, 1.0, X, y)
    assert best["gamma"] > 16.0
    for method, clf in falk_systems.systems(10).items():
        clf.set_params(**falk_systems.chosen(method, clf, 4.0, 256.0, X[:60], y[:60]))


def test_what_takes_too_long_is_cut_off_and_the_rest_kept():
    assert limits.within(30.0, counted, 3, 0) == [0, 1, 2]
    assert limits.within(0.5, counted, 3, 2) == [0, 1]  # the third takes for ever
    with pytest.raises(RuntimeError, match="ValueError: no more"):
        limits.within(30.0, counted, -1, 0)


def counted(n, endless):
    """A generator of n numbers, one of which (if any) takes for ever."""
    if n < 0:
        raise ValueError("no more")
    for i in range(n):
        if endless and i == endless:
            sum(range(10**12))
        yield i


def test_data_that_is_not_there_is_left_out(monkeypatch):
    monkeypatch.delenv("KMVIZ_DATA", raising=False)
    assert falk.large_rows("cov-type") is None


def test_small_sets_have_every_method_and_kernel(monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.where(X[:, 0] > 0, 1, -1)
    monkeypatch.setattr(falk_first, "TABLE_3", {"heart": falk_first.TABLE_3["heart"]})
    monkeypatch.setattr(falk_first, "BESIDE", ("thyroid",))
    monkeypatch.setattr(falk_first, "whole", lambda name, most: (X, y))
    monkeypatch.setattr(falk_first, "searched", _one_candidate(falk_first.searched))
    heard = []
    table = falk_first.small(full=True, progress=lambda share, text: heard.append(share))
    falk_first.scores.cache_clear()
    assert len(table) == 18
    assert (table["ours"] > 70).all()
    assert table["paper"].notna().sum() == 9
    assert heard[-1] == 1.0


def test_tests_are_those_of_the_paper():
    published = pd.DataFrame(
        falk_first.TABLE_3, index=pd.Index(falk_first.COLUMNS, tupleize_cols=False)
    ).T
    found = falk_first.tests(published).set_index(["measure", "method", "kernel"])["value"]
    ranks = found["mean rank"]
    assert ranks.sum() == pytest.approx(45)  # 1 to 9
    assert ranks["LibSVM", "linear"] > ranks["LibSVM", "rbf"]  # as on the paper's 25 sets
    # Demsar (2006), table 5a: q at .05 of nine methods is 3.102
    expected = 3.102 * np.sqrt(90 / (6 * 9))
    assert found["critical difference"].item() == pytest.approx(expected, rel=1e-3)
    gaps = [row[3] - row[0] for row in falk_first.TABLE_3.values()]
    linear = found["Wilcoxon p", "FkNNSVM against LibSVM", "linear"]
    assert linear == wilcoxon(gaps).pvalue


def test_equal_columns_differ_in_nothing():
    same = pd.DataFrame(np.tile(np.arange(12.0)[:, None], 9))
    same[8] += np.arange(12.0)[::-1]
    same.columns = pd.Index(falk_first.COLUMNS, tupleize_cols=False)
    found = falk_first.tests(same).set_index(["measure", "method", "kernel"])["value"]
    assert found["Wilcoxon p", "FkNNSVM against LibSVM", "linear"] == 1.0
    assert found["Wilcoxon p", "FaLK-SVM against LibSVM", "poly"] < 0.01


def _one_candidate(search):
    def narrowed(*args):
        made = search(*args)
        made.param_grid = {name: values[-1:] for name, values in made.param_grid.items()}
        made.cv = 2
        return made

    return narrowed


def test_a_size_that_would_take_far_too_long_is_not_tried(monkeypatch):
    assert falk_systems.foreseen([(1_000, 1.0)], 10_000) == 0.0
    quadratic = [(100, 9.0), (1_000, 1.0), (10_000, 100.0)]
    assert falk_systems.foreseen(quadratic, 100_000) == pytest.approx(10_000.0)
    took = iter([1.0, 4.0])
    monkeypatch.setattr(
        falk_systems, "measured", lambda clf, rows: {"train": next(took), "test": 0.0, "ours": 90.0}
    )
    rows = falk.large_rows("checker-b", 400, 10)
    made, wanted = {"LibSVM": SVC()}, [("LibSVM", n) for n in (100, 200, 400)]
    found = list(falk_systems.measured_each(made, (4.0, 256.0, 100, 7.0), rows, wanted))
    assert [one["rows"] for one in found] == [100, 200, 400]
    assert found[1]["ours"] == 90.0
    assert found[2]["note"] == "not tried: 16 CPU seconds foreseen"
    assert "ours" not in found[2]
