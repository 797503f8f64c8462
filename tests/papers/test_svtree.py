"""Table 1 of the support vector tree paper: a part of it, quickly."""

import pytest

from kmviz.papers import reduced_budget, svtree, svtree_data, svtree_turns


def test_published_rows_are_whole():
    assert len(svtree.PUBLISHED) == 11
    assert {len(row) for row in svtree.PUBLISHED.values()} == {len(svtree.COLUMNS)}
    for name in svtree.PUBLISHED:
        chosen = svtree.chosen(name)
        assert len(chosen) == svtree_data.SPLITS == 20
        assert {(choice.stem, choice.fading) for choice in chosen} <= set(svtree.TREE_GRID)
        assert {choice.C for choice in chosen} <= set(svtree.GRID["C"])
        assert {choice.gamma for choice in chosen} <= set(svtree.GRID["gamma"])
        assert {choice.linear_C for choice in chosen} <= set(svtree.LINEAR_GRID)


def test_splits_have_the_benchmark_sizes():
    X, y, X_test, y_test = next(svtree.splits("heart", 1))
    assert (X.shape, X_test.shape) == ((170, 13), (100, 13))
    assert len(y) == 170
    assert len(y_test) == 100


@pytest.fixture(scope="module")
def banana():
    monkey = pytest.MonkeyPatch()
    monkey.setattr(svtree_data, "QUICK_SPLITS", 2)
    for module in (svtree, svtree_turns):
        monkey.setattr(module, "PUBLISHED", {"banana": svtree.PUBLISHED["banana"]})
    monkey.setattr(svtree_turns, "TREES", 1)
    svtree._kept.cache_clear()
    yield {name: table() for name, table in svtree.TABLES.items()}
    svtree._kept.cache_clear()
    monkey.undo()


def test_the_published_tree_is_near_the_paper(banana):
    table = banana["accuracy"].set_index("measure")
    for measure in ("SVM", "tree"):
        assert table.loc[measure, "ours"] == pytest.approx(table.loc[measure, "paper"], abs=0.035)
    assert table.loc["tree: kernel values", "ours"] == pytest.approx(9.2, abs=1.5)


def test_the_improved_tree_asks_no_more(banana):
    row = banana["improved"].iloc[0]
    assert row["ours_kernel_values"] <= row["kernel_values"] + 0.1
    assert row["ours"] >= row["as_published"] - 0.01
    assert {"paper", "ours"} <= set(banana["sparse"].columns)


def test_cpsp_is_itself_and_what_the_paper_has_not_has_no_figure_of_it(banana):
    table = banana["sparse"].set_index("method")
    assert list(table.index) == list(svtree.SPARSE)
    assert table.loc[["cpsp", "cpsp(tr)"], "paper"].tolist() == [0.86, 0.88]
    assert table["paper"].notna().sum() == 2
    assert table.loc["cpsp", "ours"] == pytest.approx(0.86, abs=0.05)
    assert table["ours"].nunique() == len(table), "each is measured, none stands for another"


def test_cross_validation_chooses_from_the_grid():
    X, y, _, _ = next(svtree.splits("thyroid", 1))
    choice = svtree.choose(X[:60], y[:60])
    assert choice.C in svtree.GRID["C"]
    assert choice.gamma in svtree.GRID["gamma"]
    assert choice.linear_C in svtree.LINEAR_GRID
    assert (choice.stem, choice.fading) in svtree.TREE_GRID


def test_the_turns_of_algorithm_3_are_few_and_its_splits_counted(banana):
    table = banana["splitting"].set_index("measure")["ours"]
    assert table["splits"] > 20
    assert 1 <= table["h(n, m): turns, mean"] <= table["h(n, m): turns, most"]
    assert table["h grows as n to the power of"] < 1
    larger = table.filter(like="larger side").item()
    assert 0.5 <= larger <= 1


def test_a_tuned_reduced_set_stands_beside_a_plain_one(monkeypatch):
    monkeypatch.setattr(svtree_data, "QUICK_SPLITS", 1)
    monkeypatch.setattr(reduced_budget, "PUBLISHED", {"banana": reduced_budget.PUBLISHED["banana"]})
    (row,) = reduced_budget.tuned().to_dict("records")
    assert row["vectors"] in (8, 9, 10)
    assert row["ours_differ"] < row["plain_differ"]
    assert row["paper"] == 0.86
