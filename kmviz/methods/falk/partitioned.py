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

With `joblib.parallel_config("dask")` around `fit`, cells are covered and trained on the workers,
each of which reads its cell and its halo from the folder of `path`, which all must see; no worker
holds more than that. Of a Dask array or DataFrame blocks are surveyed and written to their cells
where they are, and its own cluster trains the cells: nothing but the sample, counts and the places
of rows in the random order is sent. Answers on Dask collections are collections, a block at a time.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import OrderedDict
from functools import lru_cache
from numbers import Integral
from pathlib import Path
from threading import get_ident
from typing import Any, ClassVar
from weakref import finalize

import numpy as np
from joblib import parallel_config
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_array
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from kmviz.machines.named import named_kernel
from kmviz.methods.falk.answering import answer
from kmviz.methods.falk.cells import Archive, Cell, Scratch
from kmviz.methods.falk.classifier import FaLKClassifier
from kmviz.methods.falk.cluster import local_threads, own_cluster
from kmviz.methods.falk.partition import Partition
from kmviz.methods.falk.sources import is_dask, source_of


class PartitionedFaLK(ClassifierMixin, BaseEstimator):
    """FaLK-SVM trained on all rows of a file, within a limit of memory.

    Parameters
    ----------
    estimator : FaLKClassifier, default=None
        Its parameters are those of the local models. Neighbourhoods must be Euclidean and exact
        (`kernel="rbf"` or "linear", no `projection`), rows visited in random order and models
        picked by training point. With `tune`, k, C and the width are chosen from neighbourhoods
        in all cells, each within its cell.
    path : str or path, default=None
        The file to keep the cells in; `PartitionedFaLK.load` opens it again. None is a
        temporary one that goes with the classifier.
    memory : int, default=2**30
        Bytes that the rows of one cell and their search tree may take, and that answering may keep
        cells in. It settles how many cells there are. With halos, ranks and models a fit takes up
        to twice as much beside what the process has, and some 40 MB.

    Attributes
    ----------
    boxes_ : Boxes
    n_rows_, n_models_, halo_ : int
        Training rows, local models, and rows that stand in a halo as well, over all cells.
    inexact_ : int
        Models of which the halo may lack a neighbour.
    n_neighbors_, n_cover_, C_, percentile_ : the values in use; None in a file of kmviz 0.2

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
        X : array of shape (n, d), path of a Parquet file, pyarrow Dataset, Dask array or
            DataFrame, or Source
        y : array of shape (n,) (a Dask array with a Dask array), or the name of the column of the
            classes
        """
        self._validate_params()
        local = FaLKClassifier() if self.estimator is None else self.estimator
        local._validate_params()
        _refuse(local)
        place = self._own_place() if self.path is None else Path(self.path)
        source = source_of(X, y)
        folders = tempfile.TemporaryDirectory(prefix="kmviz-fit-", dir=place.parent)
        with folders as folder, own_cluster(source):
            made = Partition(local, source, Scratch(Path(folder)), self.memory)
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
        self.n_neighbors_, self.n_cover_ = about.get("n_neighbors"), about.get("n_cover")
        self.C_, self.percentile_ = about.get("C"), about.get("percentile")
        self.n_features_in_ = self.boxes_.low.shape[1]
        self.kernel_ = named_kernel(about["kernel"])  # each model has its gamma
        self.n_jobs_ = about["n_jobs"]
        self._cells: OrderedDict[int, Cell] = OrderedDict()
        return self

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the output of each row's local model, (n,) for two classes, else (n, n_classes).

        Parameters
        ----------
        X : array of shape (n, d), or Dask array or DataFrame
        """
        n = len(self.classes_)
        if is_dask(X):
            return self._by_blocks("decision_function", X, np.dtype(float), 1 if n == 2 else n)
        rows, cells, models = self._owners(X)
        outputs = np.empty((len(rows), 1 if n == 2 else n))
        for number in np.unique(cells):
            there, cell = np.flatnonzero(cells == number), self._cell(int(number))
            outputs[there] = answer(
                cell.models, models[there], rows[there], cell.rows, self.kernel_, self.n_jobs_
            )
        return outputs[:, 0] if n == 2 else outputs

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of each row.

        Parameters
        ----------
        X : array of shape (n, d), or Dask array or DataFrame
            Answers on Dask collections are computed where their blocks are, when asked for.
        """
        if is_dask(X):
            return self._by_blocks("predict", X, self.classes_.dtype, 1)
        output = self.decision_function(X)
        return self.classes_[
            output.argmax(axis=1) if output.ndim == 2 else (output > 0).astype(int)
        ]

    def _by_blocks(self, method: str, X: Any, dtype: np.dtype[Any], width: int) -> Any:
        """Return a Dask array of answers. Workers open the file of the cells: all must see it."""
        check_is_fitted(self)
        rows = X.to_dask_array() if hasattr(X, "to_dask_array") else X.rechunk({1: -1})
        shape: dict[str, Any] = {"chunks": (rows.chunks[0], (width,))}
        empty = np.empty((0, width), dtype)
        if width == 1:
            empty, shape = empty[:, 0], {"drop_axis": 1}
        place = str(self.archive_.path.resolve())
        return rows.map_blocks(
            answered, place, self.memory, method, dtype=dtype, meta=empty, **shape
        )

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


def answered(rows: NDArray[Any], place: str, memory: int, method: str) -> NDArray[Any]:
    """Answer one block: a plain function that any worker can import."""
    written = Path(place).stat().st_mtime_ns
    with parallel_config("sequential"):
        return getattr(_opened(place, memory, written, get_ident()), method)(rows)


@lru_cache(maxsize=8)
def _opened(place: str, memory: int, written: int, thread: int) -> PartitionedFaLK:
    """Return the classifier of a file, one for each thread, with the cells that it holds."""
    return PartitionedFaLK.load(place, memory)


def _refuse(local: FaLKClassifier) -> None:
    """Say what of `FaLKClassifier` needs all rows at once."""
    asked = {
        "kernel": local.kernel in ("rbf", "linear"),
        "projection": local.projection is None,
        "cover": local.cover == "random",
        "select": local.select == "point",
    }
    wrong = [name for name, fits in asked.items() if not fits]
    if wrong:
        shown = ", ".join(f"{name}={getattr(local, name)!r}" for name in wrong)
        raise ValueError(
            f"A partitioned fit cannot have {shown}: it takes kernel 'rbf' or 'linear', exact "
            "neighbours and the random order."
        )
