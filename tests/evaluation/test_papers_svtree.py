"""Table 1 of the support vector tree paper: a part of it, quickly."""

import pytest

from kmviz.evaluation.papers import svtree


def test_published_rows_are_whole():
    assert len(svtree.PUBLISHED) == 11
    assert {len(row) for row in svtree.PUBLISHED.values()} == {len(svtree.COLUMNS)}
    for name in svtree.PUBLISHED:
        chosen = svtree.chosen(name)
        assert len(chosen) == svtree.SPLITS == 20
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
    monkey.setattr(svtree, "SPLITS", 2)
    monkey.setattr(svtree, "PUBLISHED", {"banana": svtree.PUBLISHED["banana"]})
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
