"""FaLK-SVM in cells: beside the fit that holds all rows."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow.dataset import dataset

import kmviz
from kmviz import FaLKClassifier, PartitionedFaLK, datasets
from kmviz.methods.falk import boxes as boxing, partition, selection
from kmviz.methods.falk.boxes import Boxes, Reach
from kmviz.methods.falk.cells import Archive, Scratch
from kmviz.methods.falk.neighbors import EuclideanIndex
from kmviz.methods.falk.sources import source_of

#: Small enough for several cells of a few thousand rows.
MEMORY = 800_000


def local(**parameters):
    return FaLKClassifier(
        **{"n_neighbors": 60, "C": 10, "gamma": 5.0, "random_state": 0} | parameters
    )


@pytest.fixture(scope="module")
def board():
    data = datasets.load("checkerboard", n=15_000)
    return data.X_train.astype(np.float32), data.y_train, data.X_test.astype(np.float32)


@pytest.fixture(scope="module")
def whole(board):
    X, y, _ = board
    return local().fit(X, y)


@pytest.fixture(scope="module")
def cells(board):
    X, y, _ = board
    return PartitionedFaLK(local(), memory=MEMORY).fit(X, y)


def test_answers_are_those_of_all_rows_at_once(whole, cells, board):
    X, y, queries = board
    assert len(cells.boxes_) >= 4
    assert np.mean(whole.predict(queries) == cells.predict(queries)) >= 0.995
    assert abs(whole.score(X, y) - cells.score(X, y)) < 0.002
    assert abs(cells.n_models_ - len(whole.models_)) < 0.02 * len(whole.models_)


def test_every_row_is_used_and_covered(cells, board):
    X, _, _ = board
    archive, n_cells = cells.archive_, len(cells.boxes_)
    own = [int(np.sum(cells.boxes_.of(X) == number)) for number in range(n_cells)]
    read = [archive.read_cell(number, n_cells) for number in range(n_cells)]
    assert sum(own) == len(X)
    assert sum(len(cell.rows) for cell in read) == len(X) + cells.halo_
    for cell in read:
        assert (cell.owner_model >= 0).all()
        sizes = np.array([len(read[number].models) for number in cell.owner_cell])
        assert (cell.owner_model < sizes).all()


def test_a_halo_row_has_one_owner_in_every_cell(cells):
    owners: dict[bytes, tuple[int, int]] = {}
    for number in range(len(cells.boxes_)):
        cell = cells.archive_.read_cell(number, len(cells.boxes_))
        for row, *owner in zip(cell.rows, cell.owner_cell, cell.owner_model):
            assert owners.setdefault(row.tobytes(), tuple(owner)) == tuple(owner)


def test_one_cell_is_the_fit_of_all_rows(whole, board):
    X, y, queries = board
    single = PartitionedFaLK(local(), memory=10**9).fit(X, y)
    assert len(single.boxes_) == 1
    assert single.n_models_ == len(whole.models_)
    np.testing.assert_array_equal(
        single.decision_function(queries), whole.decision_function(queries)
    )
    np.testing.assert_array_equal(single.steps(queries), whole.steps(queries))


def test_rows_that_no_cell_covered_become_centres(board, monkeypatch):
    X, y, queries = board
    monkeypatch.setattr(boxing, "REACHED", 0.3)  # halos too thin to see what others will do
    thin = PartitionedFaLK(local(), memory=MEMORY).fit(X, y)
    assert thin.inexact_ > 0
    assert np.isfinite(thin.decision_function(queries)).all()


@pytest.mark.parametrize("reached", [0.95, 0.0])
def test_centres_that_lack_a_neighbour_are_counted(board, tmp_path, monkeypatch, reached):
    X, y, _ = board
    monkeypatch.setattr(boxing, "REACHED", reached)
    made = partition.Partition(local(), source_of(X, y), Scratch(tmp_path), MEMORY)
    everywhere, lacking, counted, n_centers = EuclideanIndex(X), 0, 0, 0
    for cell in range(len(made.boxes)):
        counted += made.cover(cell)
        rows = made._all(cell, "rows", 2)
        centers = rows[made.scratch.read(cell, "centers", np.int32)]
        own = rows[made.scratch.read(cell, "neighbors", np.int32, 60)[:, -1]]
        true = X[everywhere.query(centers, 60)[:, -1]]
        radius, least = (np.linalg.norm(a - centers, axis=1) for a in (own, true))
        lacking += int(np.sum(radius > least * 1.0001))
        n_centers += len(centers)
    assert lacking <= counted
    assert lacking > 0 if reached < 0.5 else counted < 0.02 * n_centers, (lacking, counted)


def test_a_halo_reaches_far_only_where_rows_are_few():
    rng = np.random.default_rng(0)
    crowd = np.concatenate([rng.random((900, 2)) * [1, 0.5], rng.random((100, 2)) * [1, 0.5]])
    crowd[900:, 1] += 0.5  # few rows in the upper half
    space = Boxes(np.array([[0.0, 0.0], [2.0, 0.0]]), 2)
    radius = np.where(crowd[:, 1] < 0.5, 0.1, 0.3)
    leaves = radius > space.inside(crowd, 0)
    whole, pieces = (Reach(space.part(0, crowd, n), crowd[leaves], radius[leaves]) for n in (1, 8))
    outside = np.array([[1.05, 0.0], [1.2, 0.0], [1.2, 0.8], [1.5, 0.8]])
    assert whole.holds(outside).tolist() == [True, True, True, False]
    assert pieces.holds(outside).tolist() == [True, False, True, False]
    near = pieces.around(crowd[leaves])
    assert np.mean(near >= radius[leaves]) > 0.9


def test_from_a_parquet_file_to_a_file(cells, board, tmp_path):
    X, y, queries = board
    table = pa.table({"u": X[:, 0], "side": np.where(y > 0, "in", "out"), "v": X[:, 1]})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=4_000)
    path = tmp_path / "local.falk"
    fitted = PartitionedFaLK(local(), path=path, memory=MEMORY)
    fitted.fit(tmp_path / "rows.parquet", "side")
    again = PartitionedFaLK.load(path)
    assert again.classes_.tolist() == ["in", "out"]
    expected = np.where(cells.predict(queries) > 0, "in", "out")
    np.testing.assert_array_equal(fitted.predict(queries), expected)
    np.testing.assert_array_equal(again.predict(queries), expected)
    assert [place.name for place in tmp_path.iterdir() if "kmviz" in place.name] == []


def test_fit_takes_what_does_not_stand_in_memory(whole, board, tmp_path):
    X, y, queries = board
    place = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"u": X[:, 0], "v": X[:, 1], "side": y}), place)
    for given in (place, str(place), dataset(place)):
        clf = local().fit(X[:500], y[:500]).fit(given, "side")
        assert clf.cells_.n_rows_ == len(X)
        np.testing.assert_array_equal(clf.predict(queries), whole.predict(queries))
        np.testing.assert_array_equal(
            clf.decision_function(queries), whole.decision_function(queries)
        )
        np.testing.assert_array_equal(clf.steps(queries), whole.steps(queries))
    for ask in (clf.trace, clf.apply, clf.local_machine):
        with pytest.raises(AttributeError, match="trained in cells"):
            ask(queries[0] if ask != clf.apply else queries)
    with pytest.raises(ValueError, match="Cells take no more rows"):
        clf.partial_fit(X[:5], y[:5])
    kmviz.save(clf, tmp_path / "model.falk")
    again = kmviz.load(tmp_path / "model.falk")
    np.testing.assert_array_equal(again.predict(queries), whole.predict(queries))
    with pytest.raises(ValueError, match=r"a \.falk file"):
        kmviz.save(clf, tmp_path / "model.skops")
    assert clf.fit(X, y).cells_ is None
    assert clf.trace(queries[0]).output == whole.trace(queries[0]).output


def test_several_classes_and_a_width_of_each_model():
    rng = np.random.default_rng(0)
    X = rng.random((6_000, 2)).astype(np.float32)
    y = np.array(["a", "b", "c", "d", "e"])[(X.sum(axis=1) * 4).astype(int) % 5]
    model = local(gamma="local", percentile=10)
    fitted = PartitionedFaLK(model, memory=MEMORY // 2).fit(X, y)
    answers = fitted.decision_function(X)
    assert answers.shape == (6_000, 5)
    model.fit(X, y)
    assert np.mean(fitted.predict(X) == model.predict(X)) >= 0.995
    near = np.isclose(answers, model.decision_function(X), atol=0.05).all(axis=1)
    assert near.mean() > 0.9


def test_k_c_and_width_are_chosen_from_all_cells(board, monkeypatch):
    monkeypatch.setattr(selection, "HELD_OUT", (400, 400))
    X, y, queries = board
    model = local(n_neighbors=30, tune=True)
    one = PartitionedFaLK(model, memory=10**9).fit(X, y)
    several = PartitionedFaLK(model, memory=2 * MEMORY).fit(X, y)
    model.fit(X, y)
    chosen = model.n_neighbors_, model.C_, model.percentile_
    assert (one.n_neighbors_, one.C_, one.percentile_) == chosen
    np.testing.assert_array_equal(one.decision_function(queries), model.decision_function(queries))
    assert len(several.boxes_) > 1
    assert several.score(X, y) == pytest.approx(model.score(X, y), abs=0.01)


def test_cells_leave_memory_when_others_come(cells, board, monkeypatch):
    X, _, _ = board
    monkeypatch.setattr(cells, "memory", 1)
    cells.predict(X)
    assert len(cells._cells) == 1


@pytest.mark.parametrize(
    "asked", [{"kernel": "poly"}, {"projection": 1}, {"select": "center"}, {"cover": "tree"}]
)
def test_what_needs_all_rows_at_once_is_refused(board, asked):
    X, y, _ = board
    with pytest.raises(ValueError, match=f"cannot have {next(iter(asked))}="):
        PartitionedFaLK(local(**asked)).fit(X, y)


def test_bad_input_is_named(board, tmp_path):
    X, _, _ = board
    with pytest.raises(ValueError, match="one class only"):
        PartitionedFaLK(local()).fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="NaN"):
        PartitionedFaLK(local()).fit(np.full((10, 2), np.nan), np.arange(10) % 2)
    pq.write_table(pa.table({"u": ["x"], "side": [1]}), tmp_path / "text.parquet")
    with pytest.raises(ValueError, match="'u' holds string"):
        PartitionedFaLK(local()).fit(tmp_path / "text.parquet", "side")
    with pytest.raises(ValueError, match="y names the column"):
        PartitionedFaLK(local()).fit(tmp_path / "text.parquet", "no")


def test_a_tampered_file_is_refused(cells, tmp_path):
    cell = cells.archive_.read_cell(0, len(cells.boxes_))
    archive = Archive(tmp_path / "bad.falk")
    archive.write_about({"rows": 1}, cells.boxes_, cells.classes_)
    arrays = {"rows": cell.rows, "owner_cell": cell.owner_cell, "owner_model": cell.owner_model}
    cell.models.index[0] = len(cell.rows)
    archive.write_cell(0, arrays, cell.models)
    with pytest.raises(ValueError, match="points outside"):
        archive.read_cell(0, len(cells.boxes_))


def test_boxes_halve_what_is_fullest():
    rng = np.random.default_rng(0)
    crowd = np.concatenate([rng.normal(0, 0.01, (900, 2)), rng.normal(5, 1, (100, 2))])
    boxes = Boxes(crowd, 8)
    held = np.bincount(boxes.of(crowd), minlength=8)
    assert len(boxes) == 8
    assert held.max() <= 2 * held.min()
    for box in range(8):
        there = boxes.of(crowd) == box
        assert (boxes.distance(crowd, box)[there] == 0).all()
        assert (boxes.inside(crowd[there], box) >= 0).all()
    assert boxes.gap(0, 0) == 0
    boxes.check()


def test_equal_rows_are_not_cut():
    assert len(Boxes(np.ones((50, 3)), 4)) == 1
    lopsided = Boxes(np.array([[0.0], [0.0], [0.0], [1.0]]), 2)
    assert lopsided.of(np.array([[0.0], [1.0]])).tolist() in ([0, 1], [1, 0])
    assert all(low < high for low, high in pairwise(sorted({*lopsided.cut, 2.0})))


def test_a_stored_copy_answers_the_same(cells, board, tmp_path):
    _, _, queries = board
    kmviz.save(cells, tmp_path / "copy.falk")
    again = kmviz.load(tmp_path / "copy.falk")
    np.testing.assert_array_equal(again.predict(queries), cells.predict(queries))
    (tmp_path / "no.falk").write_bytes(b"no zip")
    with pytest.raises(ValueError, match="cannot be read as local models"):
        kmviz.load(tmp_path / "no.falk")
