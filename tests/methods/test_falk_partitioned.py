"""FaLK-SVM on more rows than memory: a classifier for each box, beside the fit of all rows."""

import json
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.spatial import cKDTree

import kmviz
from kmviz import FaLKClassifier, PartitionedFaLK, datasets
from kmviz.methods.falk import partitioned
from kmviz.methods.falk.boxes import Boxes, Halos
from kmviz.methods.progress import Cancelled, listening

#: Small enough for several boxes of a few thousand rows.
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
def boxes(board):
    X, y, _ = board
    return PartitionedFaLK(local(), memory=MEMORY).fit(X, y)


@pytest.fixture(scope="module")
def folder(board, tmp_path_factory):
    """The rows as a folder of two Parquet files."""
    X, y, _ = board
    path = tmp_path_factory.mktemp("rows")
    for name, rows in (("a", slice(0, 5_000)), ("b", slice(5_000, None))):
        columns = {"u": X[rows, 0], "side": np.where(y[rows] > 0, "in", "out"), "v": X[rows, 1]}
        pq.write_table(pa.table(columns), path / f"{name}.parquet", row_group_size=2_000)
    return path


def test_answers_differ_from_those_of_all_rows_as_two_orders_of_visiting_do(whole, boxes, board):
    X, y, queries = board
    assert len(boxes.boxes_) >= 4
    other = local(random_state=1).fit(X, y)
    rows = np.concatenate([X, queries])
    answers = whole.predict(rows)
    by_seed = np.mean(answers != other.predict(rows))
    assert np.mean(answers != boxes.predict(rows)) < by_seed + 0.001
    assert abs(whole.score(X, y) - boxes.score(X, y)) < 0.002
    assert boxes.decision_function(queries).shape == (len(queries),)


def test_every_row_is_used_by_its_box(boxes, board):
    X, _, _ = board
    rows = [boxes.box(number).rows_ for number in range(len(boxes.boxes_))]
    assert boxes.n_rows_ == len(X)
    assert sum(map(len, rows)) == len(X) + boxes.halo_
    box = boxes.boxes_.of(X)
    for number, held in enumerate(rows):
        own = set(map(bytes, X[box == number]))
        assert own <= set(map(bytes, held))


def test_one_box_is_the_fit_of_all_rows(whole, board):
    X, y, queries = board
    single = PartitionedFaLK(local(), memory=10**9).fit(X, y)
    assert (len(single.boxes_), single.halo_) == (1, 0)
    assert single.n_models_ == len(whole.models_)
    np.testing.assert_array_equal(
        single.decision_function(queries), whole.decision_function(queries)
    )
    np.testing.assert_array_equal(single.steps(queries), whole.steps(queries))
    assert single.box(0).trace(queries[0]).output == whole.trace(queries[0]).output


@pytest.mark.parametrize("is_folder", [True, False])
def test_from_parquet_files_to_a_file(folder, boxes, board, tmp_path, is_folder):
    _, _, queries = board
    path = tmp_path / "local.falk"
    rows = folder
    if not is_folder:
        rows = tmp_path / "rows.parquet"
        pq.write_table(pq.read_table(folder), rows)
    fitted = PartitionedFaLK(local(), path=path, memory=MEMORY).fit(rows, "side")
    again = PartitionedFaLK.load(path)
    assert again.classes_.tolist() == ["in", "out"]
    expected = np.where(boxes.predict(queries) > 0, "in", "out")
    np.testing.assert_array_equal(fitted.predict(queries), expected)
    np.testing.assert_array_equal(again.predict(queries), expected)
    assert not (tmp_path / "local.falk.parts").exists()


def test_a_fit_that_was_ended_continues(folder, board, tmp_path, monkeypatch):
    _, _, queries = board
    path = tmp_path / "local.falk"
    train, trained = partitioned.train_box, []

    def killed(*call):
        if len(trained) == 2:
            raise Cancelled
        trained.append(call[0].stem)
        train(*call)

    monkeypatch.setattr(partitioned, "train_box", killed)
    with pytest.raises(Cancelled):
        PartitionedFaLK(local(), path=path, memory=MEMORY).fit(folder, "side")
    assert not path.exists()
    stored = sorted((tmp_path / "local.falk.parts").glob("*.skops"))
    assert [file.stem for file in stored] == ["0", "1"]
    written = [file.stat().st_mtime_ns for file in stored]
    reports = []

    def kept(place, method=partitioned.Training.store):
        assert [file.stat().st_mtime_ns for file in stored] == written
        method(place)

    monkeypatch.setattr(partitioned, "train_box", train)
    with monkeypatch.context() as patch, listening(lambda share, text: reports.append(text)):
        patch.setattr(partitioned.Training, "store", kept)
        fitted = PartitionedFaLK(local(), path=path, memory=MEMORY).fit(folder, "side")
    assert not any("rows" in text for text in reports), "the rows were read once"
    once = PartitionedFaLK(local(), memory=MEMORY).fit(folder, "side")
    np.testing.assert_array_equal(
        fitted.decision_function(queries), once.decision_function(queries)
    )
    assert fitted.n_rows_ == once.n_rows_ == 15_000


@pytest.mark.parametrize("change", ["rows", "parameters", "nothing was finished"])
def test_other_work_is_not_continued(folder, tmp_path, monkeypatch, change):
    path, rows = tmp_path / "local.falk", tmp_path / "rows.parquet"
    parts = tmp_path / "local.falk.parts"
    pq.write_table(pq.read_table(folder), rows)
    with monkeypatch.context() as patch:
        patch.setattr(partitioned.Training, "train", lambda self: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            PartitionedFaLK(local(), path=path, memory=MEMORY).fit(rows, "side")
    (parts / "mine.txt").write_text("not from here")
    model = local()
    if change == "rows":
        pq.write_table(pq.read_table(folder).slice(0, 9_000), rows)
    elif change == "parameters":
        model.set_params(C=1.0)
    else:
        (parts / "plan.json").unlink()
    fitted = PartitionedFaLK(model, path=path, memory=MEMORY).fit(rows, "side")
    assert fitted.n_rows_ == (9_000 if change == "rows" else 15_000)
    assert fitted.box(0).C == model.C
    assert [file.name for file in parts.iterdir()] == ["mine.txt"]


def test_several_classes_and_a_width_of_each_model():
    rng = np.random.default_rng(0)
    X = rng.random((6_000, 2)).astype(np.float32)
    y = np.array(["a", "b", "c", "d", "e"])[(X.sum(axis=1) * 4).astype(int) % 5]
    options = {"gamma": "local", "percentile": 10}
    model = local(**options)
    fitted = PartitionedFaLK(model, memory=MEMORY // 2).fit(X, y)
    assert len(fitted.parameters_) == len(fitted.boxes_)
    answers = fitted.decision_function(X)
    assert answers.shape == (6_000, 5)
    outputs, other = (
        clf.fit(X, y).decision_function(X) for clf in (model, local(**options, random_state=1))
    )
    assert np.mean(fitted.predict(X) == model.predict(X)) >= 0.995

    near, near_by_seed = (
        np.isclose(outputs, values, atol=0.05).all(axis=1).mean() for values in (answers, other)
    )
    assert near > near_by_seed - 0.02


def test_a_box_may_hold_one_class_and_has_the_width_of_all():
    rng = np.random.default_rng(0)
    X = rng.random((8_000, 2)).astype(np.float32)
    y = (X[:, 0] > 0.9).astype(int)
    fitted = PartitionedFaLK(local(gamma="scale"), memory=MEMORY // 2).fit(X, y)
    seen = [set(fitted.box(number).labels_) for number in range(len(fitted.boxes_))]
    assert {0} in seen
    assert fitted.score(X, y) > 0.98
    widths = [fitted.box(number).gamma_ for number in range(len(fitted.boxes_))]
    assert widths == pytest.approx([1 / (2 * X.var())] * len(widths), rel=1e-6)


@pytest.mark.parametrize(
    "options", [{"select": "center"}, {"cover": "tree"}, {"kernel": "linear"}, {"projection": 1}]
)
def test_what_a_classifier_takes_a_box_takes(board, options):
    X, y, _ = board
    model = local(**options)
    fitted = PartitionedFaLK(model, memory=MEMORY).fit(X[:6_000], y[:6_000])
    model.fit(X[:6_000], y[:6_000])
    assert len(fitted.boxes_) > 1
    assert abs(fitted.score(X, y) - model.score(X, y)) < 0.02


def test_each_box_chooses_its_own_parameters(board):
    X, y, _ = board
    model = local(n_neighbors=30, tune=True)
    fitted = PartitionedFaLK(model, memory=MEMORY).fit(X[:8_000], y[:8_000])
    assert len(fitted.boxes_) > 1
    chosen = [fitted.box(number) for number in range(len(fitted.boxes_))]
    assert all("error" in box.selection_ for box in chosen)
    assert fitted.parameters_.tolist() == [
        [box.n_neighbors_, box.C_, box.percentile_] for box in chosen
    ]
    assert fitted.score(X[8_000:], y[8_000:]) > 0.9


def test_boxes_leave_memory_when_others_come(boxes, board, monkeypatch):
    X, _, _ = board
    monkeypatch.setattr(boxes, "memory", 1)
    boxes.predict(X)
    assert len(boxes._opened) == 1


def test_bad_input_is_named(board, tmp_path):
    X, y, _ = board
    with pytest.raises(ValueError, match="one class only"):
        PartitionedFaLK(local()).fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="NaN"):
        PartitionedFaLK(local()).fit(np.full((10, 2), np.nan), np.arange(10) % 2)
    with pytest.raises(ValueError, match="a class for each training row"):
        PartitionedFaLK(local()).fit(X, y[:5])
    with pytest.raises(ValueError, match=r"one of kmviz\.kernels"):
        PartitionedFaLK(local(kernel=np.dot)).fit(X, y)
    pq.write_table(pa.table({"u": ["x"], "side": [1]}), tmp_path / "text.parquet")
    with pytest.raises(ValueError, match="'u' holds string"):
        PartitionedFaLK(local()).fit(tmp_path / "text.parquet", "side")
    with pytest.raises(ValueError, match="y names the column"):
        PartitionedFaLK(local()).fit(tmp_path / "text.parquet", "no")
    pq.write_table(pa.table({"u": [1.0, 2.0], "side": [1, None]}), tmp_path / "gap.parquet")
    with pytest.raises(ValueError, match="rows without a class"):
        PartitionedFaLK(local()).fit(tmp_path / "gap.parquet", "side")
    reads, path = iter([(X, y), (X[:-1], y[:-1])]), tmp_path / "no.falk"
    with pytest.raises(ValueError, match="15,000 rows at first and 14,999"):
        PartitionedFaLK(local(), path=path).fit(lambda: [next(reads)])
    assert not path.with_name("no.falk.parts").exists(), "there is nothing to continue"


def changed(source, place, entry, change):
    """Copy a .falk file with one of its entries replaced."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(place, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, change(content) if name == entry else content)
    return place


def test_a_tampered_file_is_refused(boxes, board, tmp_path):
    X, _, _ = board
    stranger = kmviz.ExactClassifier().fit(X[:50], np.arange(50) % 2)
    kmviz.save(stranger, tmp_path / "exact.skops")
    place = changed(
        boxes.place_, tmp_path / "bad.falk", "0.skops",
        lambda _: (tmp_path / "exact.skops").read_bytes(),
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"Box 0 of bad\.falk cannot be read"):
        kmviz.load(place).predict(X)
    cut = changed(boxes.place_, tmp_path / "cut.falk", "0.skops", lambda content: content[:-99])
    with pytest.raises(ValueError, match="cannot be read"):
        kmviz.load(cut).predict(X)

    def elsewhere(content):
        plan = json.loads(content)
        return json.dumps(plan | {"axis": [5] * len(plan["axis"])}).encode()

    with pytest.raises(ValueError, match="axis points outside"):
        kmviz.load(changed(boxes.place_, tmp_path / "axis.falk", "plan.json", elsewhere))
    (tmp_path / "no.falk").write_bytes(b"no zip")
    with pytest.raises(ValueError, match="cannot be read as local models"):
        kmviz.load(tmp_path / "no.falk")


def test_a_stored_copy_answers_the_same(boxes, board, tmp_path):
    _, _, queries = board
    kmviz.save(boxes, tmp_path / "copy.falk")
    again = kmviz.load(tmp_path / "copy.falk")
    np.testing.assert_array_equal(again.predict(queries), boxes.predict(queries))
    with pytest.raises(ValueError, match=r"is a \.falk file"):
        kmviz.save(boxes, tmp_path / "copy.skops")


def test_boxes_hold_equally_many_rows_each():
    rng = np.random.default_rng(0)
    crowd = np.concatenate([rng.normal(0, 0.01, (900, 2)), rng.normal(5, 1, (100, 2))])
    space = Boxes.halving(crowd, 3)
    held = np.bincount(space.of(crowd), minlength=8)
    assert len(space) == 8
    assert held.max() <= held.min() + 1
    row, box = space.near(crowd, np.zeros(1_000))
    assert (space.of(crowd)[row] == box).all()
    assert len(row) == 1_000


def test_equal_rows_are_not_cut():
    assert (Boxes.halving(np.ones((50, 3)), 2).of(np.ones((50, 3))) == 0).all()
    lopsided = Boxes.halving(np.array([[0.0], [0.0], [0.0], [1.0]]), 1)
    assert lopsided.of(np.array([[0.0], [1.0]])).tolist() == [0, 1]


def test_a_row_is_needed_where_a_neighbourhood_reaches():
    rng = np.random.default_rng(0)
    X = rng.random((5_000, 2))
    halos = Halos(X, 3, 25.0)
    assert halos.share == 1.0
    row, box = halos.needing(X)
    needing = set(zip(row.tolist(), box.tolist()))
    assert len(needing) == len(row)
    neighbours = cKDTree(X).query(X, 25)[1]
    own = halos.boxes.of(X)
    held = [(int(other), int(own[i])) in needing for i in range(5_000) for other in neighbours[i]]
    assert np.mean(held) > 0.995
    assert len(row) < 2 * len(X)


def test_halos_hold_no_more_rows_than_boxes():
    X = np.random.default_rng(0).normal(size=(3_000, 12))
    halos = Halos(X, 3, 100.0)
    assert halos.share < 1
    needed = np.bincount(halos.needing(X)[1])
    assert (needed <= 2 * np.bincount(halos.boxes.of(X))).all()
