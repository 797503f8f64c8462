"""FaLK-SVM on more rows than memory holds: cells of the training set, one after the other.

This goes beyond the paper, which keeps all rows in memory. Space is cut into boxes that hold about
equally many rows; each row is written to the cell of its box, and to the halo of every box that it
is near to. A cell is covered and its local SVMs are trained from its own rows and its halo alone.
Cells then tell one another the ranks of the halo's rows, so that every row belongs to the centre in
whose neighbourhood it has the lowest rank (eq. 11), wherever that stands. A query goes to the cell
of its box, and from the nearest row there to that row's centre.

Where it differs from `FaLKClassifier` on the same rows and seed: rows are kept in float32; a centre
of which some of the k neighbours are farther away than the halo reaches is trained on the k nearest
that are within it (`inexact_` counts them); and cells cover rows near their borders without having
seen each other's choices, so that a few more centres stand there. Rows are visited in the same
order.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import OrderedDict
from numbers import Integral
from pathlib import Path
from typing import Any, ClassVar
from weakref import finalize

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from kmviz.loops.falk_cover import accept
from kmviz.machines.named import named_kernel
from kmviz.methods.falk.boxes import Boxes
from kmviz.methods.falk.cells import Archive, Cell, Scratch
from kmviz.methods.falk.classifier import FaLKClassifier
from kmviz.methods.falk.cluster import local_threads
from kmviz.methods.falk.cover import equal_rows, find_cover
from kmviz.methods.falk.local import resolve_kernel
from kmviz.methods.falk.models import answer, train_models, unit_of, width_of
from kmviz.methods.falk.neighbors import EuclideanIndex
from kmviz.methods.falk.sources import Source, source_of
from kmviz.methods.progress import part, report

#: Rows of the sample that the boxes are cut from, and of a cell that tell how far its halo reaches.
SAMPLE, ASKED = 100_000, 4_000
#: A halo holds the whole neighbourhood of this share of the rows whose neighbourhoods leave a box.
REACHED = 0.95
#: Bytes that a row of a cell takes while it is trained: its coordinates three times, the search
#: tree's share, ranks and neighbour lists.
ROW, COORDINATE = 200, 24
#: Rows of a cell, in neighbourhoods: smaller cells would be mostly halo.
FEWEST = 20

#: What one cell writes to another about a row of its halo: the row there, its rank and its centre.
RANK = np.dtype([(name, "<i4") for name in ("row", "rank", "order", "cell", "model")])
#: Where a row of a halo is at home.
HOME = np.dtype([("cell", "<i4"), ("row", "<i4")])


class PartitionedFaLK(ClassifierMixin, BaseEstimator):
    """FaLK-SVM trained on all rows of a file, within a limit of memory.

    Parameters
    ----------
    estimator : FaLKClassifier, default=None
        Its parameters are those of the local models. Neighbourhoods must be Euclidean and exact
        (`kernel="rbf"` or "linear", no `projection`), rows visited in random order, models picked
        by training point, and k, C and the width given: choose them with `tune` on a sample first.
    path : str or path, default=None
        The file to keep the cells in; `PartitionedFaLK.load` opens it again. None is a
        temporary one that goes with the classifier.
    memory : int, default=2**30
        Bytes that training may take beside what the process has, and that answering may keep cells
        in. It settles how many cells there are.

    Attributes
    ----------
    boxes_ : Boxes
    n_rows_, n_models_, halo_ : int
        Training rows, local models, and rows that stand in a halo as well, over all cells.
    inexact_ : int
        Models of which the halo may lack a neighbour.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kmviz import FaLKClassifier, PartitionedFaLK
    >>> X, y = make_moons(4000, noise=0.2, random_state=0)
    >>> local = FaLKClassifier(n_neighbors=50, random_state=0)
    >>> clf = PartitionedFaLK(local, memory=500_000).fit(X[:3000], y[:3000])
    >>> len(clf.boxes_), bool(clf.score(X[3000:], y[3000:]) > 0.95)
    (2, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [FaLKClassifier, None],
        "path": [str, Path, None],
        "memory": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self, estimator: FaLKClassifier | None = None, path: Any = None, memory: int = 2**30
    ) -> None:
        self.estimator = estimator
        self.path = path
        self.memory = memory

    def fit(self, X: Any, y: Any) -> PartitionedFaLK:
        """Divide the rows into cells, cover and train each.

        Parameters
        ----------
        X : array of shape (n, d), path of a Parquet file, pyarrow Dataset, or Source
        y : array of shape (n,), or the name of the column of the classes
        """
        self._validate_params()
        local = FaLKClassifier() if self.estimator is None else self.estimator
        local._validate_params()
        _refuse(local)
        place = self._own_place() if self.path is None else Path(self.path)
        source = source_of(X, y)
        with tempfile.TemporaryDirectory(prefix="kmviz-fit-", dir=place.parent) as folder:
            made = _Partition(local, source, Scratch(Path(folder)), self.memory)
            archive = Archive(Path(folder) / place.name)
            made.write(archive)
            archive.path.replace(place)
        return self._open(place)

    def _own_place(self) -> Path:
        """Return a file in a folder that goes with this object."""
        folder = tempfile.mkdtemp(prefix="kmviz-cells-")
        finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return Path(folder) / "cells.falk"

    @classmethod
    def load(cls, path: Any, memory: int = 2**30) -> PartitionedFaLK:
        """Open a file that `fit` wrote; it holds arrays alone, and each is checked when read."""
        return cls(path=path, memory=memory)._open(Path(path))

    def _open(self, place: Path) -> PartitionedFaLK:
        self.archive_ = Archive(place)
        about, self.boxes_, self.classes_ = self.archive_.read_about()
        self.n_rows_, self.n_models_ = int(about["rows"]), int(about["models"])
        self.halo_, self.inexact_ = int(about["halo"]), int(about["inexact"])
        self.n_features_in_ = self.boxes_.low.shape[1]
        self.kernel_ = named_kernel(about["kernel"])  # each model has its gamma
        self.n_jobs_ = about["n_jobs"]
        self._cells: OrderedDict[int, Cell] = OrderedDict()
        return self

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the output of each row's local model, (n,) for two classes, else (n, n_classes).

        Parameters
        ----------
        X : array of shape (n, d)
        """
        rows, cells, models = self._owners(X)
        n = len(self.classes_)
        outputs = np.empty((len(rows), 1 if n == 2 else n))
        for number in np.unique(cells):
            there, cell = np.flatnonzero(cells == number), self._cell(int(number))
            outputs[there] = answer(
                cell.models, models[there], rows[there], cell.rows, self.kernel_, self.n_jobs_
            )
        return outputs[:, 0] if n == 2 else outputs

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of each row."""
        output = self.decision_function(X)
        return self.classes_[
            output.argmax(axis=1) if output.ndim == 2 else (output > 0).astype(int)
        ]

    def steps(self, X: ArrayLike) -> NDArray[np.intp]:
        """Return how many kernel values each row takes: the support vectors of its model."""
        rows, cells, models = self._owners(X)
        steps = np.empty(len(rows), dtype=np.intp)
        for number in np.unique(cells):
            there = cells == number
            steps[there] = self._cell(int(number)).models.sizes()[models[there]]
        return steps

    def _owners(self, X: ArrayLike) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return the rows, the cell that answers for each and the model there."""
        check_is_fitted(self)
        rows = check_array(X, dtype=np.float32)
        if rows.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        box = self.boxes_.of(rows)
        cells, models = np.empty((2, len(rows)), dtype=np.int32)
        for number in np.unique(box):
            there, cell = np.flatnonzero(box == number), self._cell(int(number))
            threads = local_threads(self.n_jobs_, len(there))
            nearest = cell.index.query(rows[there], 1, threads)[:, 0]  # eq. 12
            cells[there], models[there] = cell.owner_cell[nearest], cell.owner_model[nearest]
        return rows, cells, models

    def _cell(self, number: int) -> Cell:
        """Return a cell, from memory or the file; those not asked for longest go first."""
        if number not in self._cells:
            sizes = [cell.nbytes for cell in self._cells.values()]
            while sizes and sum(sizes) + max(sizes) > self.memory:  # room for one more like them
                self._cells.popitem(last=False)
                del sizes[0]
            self._cells[number] = self.archive_.read_cell(number, len(self.boxes_))
        self._cells.move_to_end(number)
        return self._cells[number]


def _refuse(local: FaLKClassifier) -> None:
    """Say what of `FaLKClassifier` needs all rows at once."""
    asked = {
        "kernel": local.kernel in ("rbf", "linear"),
        "n_neighbors": local.n_neighbors != "auto",
        "tune": not local.tune,
        "projection": local.projection is None,
        "cover": local.cover == "random",
        "select": local.select == "point",
    }
    wrong = [name for name, fits in asked.items() if not fits]
    if wrong:
        shown = ", ".join(f"{name}={getattr(local, name)!r}" for name in wrong)
        raise ValueError(
            f"A partitioned fit cannot have {shown}: it takes kernel 'rbf' or 'linear', k, C and "
            "the width given, exact neighbours and the random order."
        )


class _Partition:
    """A fit: survey the rows, scatter them to cells, reach into halos, cover, settle, train."""

    def __init__(
        self, local: FaLKClassifier, source: Source, scratch: Scratch, memory: int
    ) -> None:
        self.local, self.source, self.scratch, self.memory = local, source, scratch, memory
        self.seed = int(check_random_state(local.random_state).randint(np.iinfo(np.int32).max))
        self.n_jobs = local_threads(local.n_jobs)
        with part(0.0, 0.2):
            self._survey()
        with part(0.2, 0.4):
            self._scatter()
        with part(0.4, 0.5):
            self._halos()

    def _survey(self) -> None:
        """Count the rows, learn classes, spread and width, and draw a sample."""
        rng = np.random.default_rng(self.seed)
        n, classes = 0, np.empty(0)
        low: Any = None
        high: Any = None
        sums = squares = 0.0
        sample, keys = np.empty((0, 0), dtype=np.float32), np.empty(0)
        for X, y in self.source.blocks():
            check_classification_targets(y)
            low = X.min(axis=0) if low is None else np.minimum(low, X.min(axis=0))
            high = X.max(axis=0) if high is None else np.maximum(high, X.max(axis=0))
            sums, squares = (
                sums + X.sum(dtype=np.float64),
                squares + np.square(X, dtype=np.float64).sum(),
            )
            classes = np.unique(y) if not n else np.union1d(classes, y)
            drawn = rng.random(len(X))
            sample = np.concatenate([sample, X]) if n else X
            keys = np.concatenate([keys, drawn])
            if len(keys) > SAMPLE:  # the rows with the smallest keys are a uniform sample
                kept = np.argpartition(keys, SAMPLE)[:SAMPLE]
                sample, keys = sample[kept], keys[kept]
            n += len(X)
            report(0.5, f"{n:,} rows counted")
        if low is None or len(classes) < 2:
            raise ValueError("y holds one class only; a classifier needs at least two classes.")
        self.n, self.d, self.classes = n, len(low), classes
        width = width_of(np.stack([low, high]))
        mean = sums / (n * self.d)
        spread = squares / (n * self.d) - mean**2
        scale = {"scale": 1.0 / (self.d * spread) if spread > 0 else 1.0, "auto": 1.0 / self.d}
        gamma = scale.get(str(self.local.gamma), self.local.gamma)
        self.kernel, self.gamma = resolve_kernel(self.local.kernel, gamma, sample)
        self.unit = unit_of(width, self.kernel)
        self.k = min(int(self.local.n_neighbors), n)
        n_cover = self.k // 2 if self.local.n_cover is None else int(self.local.n_cover)
        self.n_cover = max(1, min(n_cover, self.k))
        room = max(int(self.memory / (ROW + COORDINATE * self.d)), FEWEST * self.k)
        self.boxes = Boxes(sample, max(1, -(-n // room)))

    def _scatter(self) -> None:
        """Write every row to its cell, with its class and its place in the random order."""
        order = np.empty(self.n, dtype=np.int32)
        visited = np.random.default_rng(self.seed).permutation(np.arange(self.n, dtype=np.int32))
        order[visited] = np.arange(self.n, dtype=np.int32)  # as `FaLKClassifier` visits them
        del visited
        self.sizes, start = np.zeros(len(self.boxes), dtype=np.intp), 0
        for X, y in self.source.blocks():
            labels = np.searchsorted(self.classes, y).astype(np.int32)
            ranks = order[start : start + len(X)]
            box = self.boxes.of(X)
            for cell in np.unique(box):
                there = box == cell
                self.scratch.append(cell, "rows", X[there])
                self.scratch.append(cell, "labels", labels[there])
                self.scratch.append(cell, "order", ranks[there])
            self.sizes += np.bincount(box, minlength=len(self.boxes))
            start += len(X)
            report(start / self.n, f"{start:,} rows written to {len(self.boxes)} cells")
        if start != self.n:
            raise ValueError(f"X had {self.n:,} rows at first and {start:,} when read again.")

    def _own(self, cell: int) -> NDArray[np.float32]:
        return self.scratch.read(cell, "rows", np.float32, self.d)

    def _halos(self) -> None:
        """Write rows near a box to its halo, as far as its neighbourhoods reach."""
        n_cells = len(self.boxes)
        self.reach = np.zeros(n_cells)
        for cell in range(n_cells if n_cells > 1 else 0):
            rows = self._own(cell)
            some = rows[:: max(1, len(rows) // ASKED)]
            farthest = EuclideanIndex(rows).query(some, min(self.k, len(rows)), self.n_jobs)[:, -1]
            beyond = np.linalg.norm(rows[farthest] - some, axis=1) - self.boxes.inside(some, cell)
            if (beyond > 0).any():
                self.reach[cell] = np.quantile(beyond[beyond > 0], REACHED)
            report(0.5 * cell / n_cells, f"how far cell {cell + 1} of {n_cells} reaches")
        for home in range(n_cells):
            near = [
                c for c in range(n_cells) if c != home and self.boxes.gap(home, c) <= self.reach[c]
            ]
            rows = self._own(home) if near else np.empty((0, self.d), dtype=np.float32)
            for cell in near:
                there = np.flatnonzero(self.boxes.distance(rows, cell) <= self.reach[cell])
                where = np.empty(len(there), dtype=HOME)
                where["cell"], where["row"] = home, there
                self.scratch.append(cell, "halo_rows", rows[there])
                self.scratch.append(cell, "halo_home", where)
                for name in ("labels", "order"):
                    values = self.scratch.read(home, name, np.int32)[there]
                    self.scratch.append(cell, f"halo_{name}", values)
            report(0.5 + 0.5 * home / n_cells, f"halos around cell {home + 1} of {n_cells}")

    def _all(self, cell: int, name: str, *shape: int) -> NDArray[Any]:
        """Return an array of a cell's rows and, behind them, of its halo's."""
        dtype = np.float32 if name == "rows" else np.int32
        own, halo = (
            self.scratch.read(cell, prefix + name, dtype, *shape) for prefix in ("", "halo_")
        )
        return np.concatenate([own, halo])

    def write(self, archive: Archive) -> None:
        """Cover all cells, then train each and write it."""
        n_cells = len(self.boxes)
        self.inexact, self.n_models = 0, 0
        for cell in range(n_cells):
            with part(
                0.5 + 0.2 * cell / n_cells, 0.5 + 0.2 * (cell + 1) / n_cells, f"cell {cell + 1}: "
            ):
                self._cover(cell)
        owned = [self._settled(cell) for cell in range(n_cells)]
        self.n_models = sum(owned)
        halos = [len(self.scratch.read(cell, "halo_home", HOME)) for cell in range(n_cells)]
        archive.write_about(
            {
                "rows": self.n, "models": self.n_models, "halo": sum(halos),
                "inexact": self.inexact, "kernel": self.local.kernel, "n_jobs": self.local.n_jobs,
            },
            self.boxes, self.classes,
        )  # fmt: skip
        for cell in range(n_cells):
            with part(
                0.7 + 0.3 * cell / n_cells, 0.7 + 0.3 * (cell + 1) / n_cells, f"cell {cell + 1}: "
            ):
                self._train(cell, archive)

    def _cover(self, cell: int) -> None:
        """Choose a cell's centres; tell other cells what ranks their rows have among them.

        Rows of the halo are visited too, in their turn, so that they cover what their own cell
        will have them cover; centres among them are left to that cell.
        """
        n = int(self.sizes[cell])
        rows, order = self._all(cell, "rows", self.d), self._all(cell, "order")
        index = EuclideanIndex(rows)
        k = min(self.k, len(rows))
        n_cover = min(self.n_cover, k)
        cover = find_cover(rows, index, np.argsort(order, kind="stable"), k, n_cover, self.n_jobs)
        own = cover.centers < n
        centers, neighbors = cover.centers[own], np.ascontiguousarray(cover.neighbors[own])
        rank, center_of = np.full((2, len(rows)), -1, dtype=np.int32)
        group = equal_rows(rows)
        accept(
            centers, neighbors, n_cover, group, rank, center_of, 0, np.empty(len(centers), np.bool_)
        )
        rank, center_of = rank[group], center_of[group]
        self._inexact(cell, rows, centers, neighbors)
        self.scratch.append(cell, "centers", centers.astype(np.int32))
        self.scratch.append(cell, "neighbors", neighbors)
        self._say(cell, cell, np.arange(n), rank[:n], center_of[:n], order[centers])
        home = self.scratch.read(cell, "halo_home", HOME)
        for other in np.unique(home["cell"]):
            there = np.flatnonzero(home["cell"] == other)
            self._say(
                cell,
                other,
                home["row"][there],
                rank[n:][there],
                center_of[n:][there],
                order[centers],
            )

    def _inexact(self, cell: int, rows: Any, centers: Any, neighbors: Any) -> None:
        """Count centres whose farthest neighbour is farther than what is known around the box."""
        if len(self.boxes) == 1 or not len(centers):
            return
        at = rows[centers]
        farthest = np.linalg.norm(rows[neighbors[:, -1]] - at, axis=1)
        self.inexact += int(np.sum(farthest > self.boxes.inside(at, cell) + self.reach[cell]))

    def _say(self, cell: int, other: int, row: Any, rank: Any, center_of: Any, order: Any) -> None:
        known = np.flatnonzero(rank >= 0)
        said = np.empty(len(known), dtype=RANK)
        said["row"], said["rank"], said["cell"] = row[known], rank[known], cell
        said["model"] = center_of[known]
        said["order"] = order[center_of[known]]
        self.scratch.append(other, "said", said)

    def _settled(self, cell: int) -> int:
        """Give each row of a cell the centre of lowest rank (eq. 11); returns its models.

        Rows that no cell covers, for each left them to the other, become centres in their turn.
        """
        n = int(self.sizes[cell])
        said = self.scratch.read(cell, "said", RANK)
        said = said[np.lexsort((said["order"], said["rank"]))[::-1]]  # the last one written stays
        owner_cell, owner_model, rank = np.full((3, n), -1, dtype=np.int32)
        for array, name in ((owner_cell, "cell"), (owner_model, "model"), (rank, "rank")):
            array[said["row"]] = said[name]
        n_models = len(self.scratch.read(cell, "centers", np.int32))
        left = np.flatnonzero(rank < 0)
        if len(left):
            n_models = self._add_centers(cell, left, rank, owner_cell, owner_model, n_models)
        self.scratch.append(cell, "owner_cell", owner_cell)
        self.scratch.append(cell, "owner_model", owner_model)
        self.scratch.drop(cell, "said")
        return n_models

    def _add_centers(self, cell, left, rank, owner_cell, owner_model, n_models) -> int:
        rows, order = self._all(cell, "rows", self.d), self._all(cell, "order")
        index, k = EuclideanIndex(rows), min(self.k, len(rows))
        left = left[np.argsort(order[left])].astype(np.int32)
        ranks = np.concatenate([rank, np.zeros(len(rows) - len(rank), dtype=np.int32)])
        center_of, kept = (
            np.full(len(rows), -1, dtype=np.int32),
            np.empty(len(left), dtype=np.bool_),
        )
        neighbors = index.query(rows[left], k, self.n_jobs)
        group = np.arange(len(rows), dtype=np.int32)
        n_models = accept(
            left, neighbors, min(self.n_cover, k), group, ranks, center_of, n_models, kept
        )
        new = np.flatnonzero(center_of[: len(rank)] >= 0)
        owner_cell[new], owner_model[new] = cell, center_of[new]
        self.scratch.append(cell, "centers", left[kept])
        self.scratch.append(cell, "neighbors", neighbors[kept])
        return n_models

    def _train(self, cell: int, archive: Archive) -> None:
        rows, labels = self._all(cell, "rows", self.d), self._all(cell, "labels")
        neighbors = self.scratch.read(cell, "neighbors", np.int32, min(self.k, len(rows)))
        models = train_models(
            rows, labels, len(self.classes), neighbors, self.kernel, self.gamma,
            float(self.local.percentile), float(self.local.C), self.local.n_jobs, self.unit,
        )  # fmt: skip
        home = self.scratch.read(cell, "halo_home", HOME)
        owners = {}
        for name in ("owner_cell", "owner_model"):
            halo = np.empty(len(home), dtype=np.int32)
            for other in np.unique(home["cell"]):
                there = home["cell"] == other
                halo[there] = self.scratch.rows(other, name, np.int32, home["row"][there])
            owners[name] = np.concatenate([self.scratch.read(cell, name, np.int32), halo])
        archive.write_cell(cell, {"rows": rows, **owners}, models)
        self.scratch.drop(cell, "neighbors", "labels", "order", "halo_labels", "halo_order")
