"""The anytime paper's table, on its smallest data sets."""

import numpy as np
import pytest

from kmviz.papers import anytime


def test_the_positive_class_is_the_papers():
    """Table 2, row 2: 1,135 of 0 against 1 and 1,010 of 3 against 8 are positive."""
    for name, positive in (("mnist 0v1", 1135), ("mnist 3v8", 1010)):
        assert int((anytime.rows_of(name)[1] > 0).sum()) == positive


@pytest.fixture(scope="module")
def small():
    """Table 2 without the MNIST columns."""
    patch = pytest.MonkeyPatch()
    patch.setattr(anytime, "CASES", {n: anytime.CASES[n] for n in ("sonar", "haberman")})
    yield anytime.table2(), anytime.machines()
    patch.undo()


def test_sonar_row_is_the_papers(small):
    row = small[0].set_index(["data", "order"]).loc[("sonar", "given")]
    assert row["ours"] == pytest.approx(row["paper"], abs=0.1)
    assert row["median_ours"] == row["median_paper"]
    assert row["max_ours"] == row["max_paper"]
    assert row["speedup_ours"] == pytest.approx(3.5, abs=0.05)


def test_hybrid_is_no_worse_than_the_papers_on_sonar(small):
    row = small[0].set_index(["data", "order"]).loc[("sonar", "hybrid")]
    assert row["ours"] <= row["paper"]


def test_no_sign_changes_and_no_bound_fails(small):
    assert (small[0]["signs_changed"] == 0).all()
    assert (small[0]["worst_violation"] <= 1e-9).all()
    assert set(small[0]["order"]) == set(anytime.ORDERS)


def test_sonar_machine_is_the_papers(small):
    sonar = small[1].query("data == 'sonar'")
    np.testing.assert_array_equal(sonar["ours"].iloc[:2], sonar["paper"].iloc[:2])


def test_speedups_of_the_paper_are_as_printed(small):
    table = small[0].set_index(["data", "order"])
    assert table.loc[("haberman", "given"), "speedup_paper"] == 42.2
    assert table.loc[("haberman", "hybrid"), "speedup_paper"] == 44.5


def test_a_loose_solver_leaves_more_vectors_to_haberman():
    table = anytime.tolerance().set_index(["tolerance", "quantity"])
    tight, loose = (table.loc[(tol, "support vectors"), "ours"] for tol in (1e-3, 1e-1))
    assert tight < loose
    assert table.loc[(1e-1, "support vectors"), "paper"] == 180


def test_the_overhead_of_a_step_is_measured(monkeypatch):
    monkeypatch.setattr(anytime, "CASES", {"haberman": anytime.CASES["haberman"]})
    table = anytime.overhead()
    assert (table["paper"] == 0.25).all()
    assert np.isfinite(table["ours"]).all()
