"""FaLK-SVM on more rows than memory holds: a `FaLKClassifier` for each box of rows and its halo.

This goes beyond the paper, which keeps all rows in memory. One pass over the rows draws a sample,
whose medians cut space into boxes of about equally many rows. A second pass writes each row to the
shard of its box, and to the shards of boxes that it is near to: their halos. A `FaLKClassifier` is
then trained on each shard. A query goes to the classifier of its box.

Departures from a fit of all rows at once. Rows are float32. A halo reaches as far as most of the
neighbourhoods near it, and no farther than lets it hold as many rows as its box; neighbourhoods
that reach farther lack rows. Near borders, centres are others. With `tune`, each box chooses its
own k, C and width.

What is written before the model is complete stands in a folder beside it, `PATH.parts`. A fit of
the same files with the same parameters continues what it finds there.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import OrderedDict
from collections.abc import Callable, Iterator
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar
from weakref import finalize
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_array, check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from kmviz.kernels import is_known
from kmviz.machines.soundness import shaped, within
from kmviz.methods.falk.boxes import Boxes, Halos
from kmviz.methods.falk.classifier import FaLKClassifier
from kmviz.methods.falk.selection import sizes_for
from kmviz.methods.progress import part, report
from kmviz.methods.sampling import smallest_keys

#: Rows of a block and of the sample, at most.
BLOCK, SAMPLE = 200_000, 200_000
#: Bytes that training takes for a row, and for each coordinate; rows of a box at least, in k.
ROW, COORDINATE, FEWEST = 200, 24, 20
#: The form of the files, and the entry that describes the boxes.
SCHEMA, PLAN = 2, "plan.json"
#: What the classifier of a box may consist of.
TRUSTED = [
    *(f"kmviz.kernels.{name}" for name in ("Linear", "Normalized", "Polynomial", "RBF")),
    "kmviz.methods.falk.classifier.FaLKClassifier",
    "kmviz.methods.falk.models.LocalModels",
    *(f"kmviz.methods.falk.neighbors.{name}" for name in ("CoverTreeIndex", "EuclideanIndex")),
]

#: A function that yields blocks of rows, (n, d), and their classes, (n,).
Blocks = Callable[[], Iterator[tuple[NDArray[Any], NDArray[Any]]]]


class PartitionedFaLK(ClassifierMixin, BaseEstimator):
    """FaLK-SVM trained on all rows of a file, within a limit of memory.

    Parameters
    ----------
    estimator : FaLKClassifier, default=None
        What is trained on each box and its halo. Its kernel is one of kmviz's own.
    path : str or path, default=None
        The `.falk` file to keep the model in; `PartitionedFaLK.load` opens it again. Unfinished
        work stands in the folder `PATH.parts`, where a fit of the same files with the same
        parameters continues. None is a temporary file that goes with the classifier.
    memory : int, default=2**30
        Bytes that training on a box may take, and that answering may keep boxes in. It determines
        how many boxes there are. Halos add as much again at most, and a fit some 40 MB.

    Attributes
    ----------
    boxes_ : Boxes
    n_rows_, n_models_ : int
        Training rows and local models, over all boxes.
    parameters_ : array of shape (boxes that hold rows, 3)
        k, C and the percentile of each, which `tune` chooses.
    halo_ : int
        Rows that boxes have beside their own.
    halo_share_ : float
        1, or less where whole halos would hold more rows than boxes: the share of a
        neighbourhood's reach that they cover.

    Notes
    -----
    Boxes are trained one after the other, or by the backend that `joblib.parallel_config` names:
    its workers must see the folder of `path`.

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

    def fit(self, X: Any, y: Any = None) -> PartitionedFaLK:
        """Write the rows to a shard for each box, and train a `FaLKClassifier` on each.

        Parameters
        ----------
        X : path of a Parquet file or of a folder of them, array of shape (n, d), or function
            A function yields blocks of rows and their classes, the same ones whenever it is called.
            Where it has an attribute `identity`, which JSON can hold, a fit with an equal one
            continues; what it has as `entries`, bytes by name, is stored with the model.
        y : name of the column of the classes, or array of shape (n,)
        """
        self._validate_params()
        local = FaLKClassifier() if self.estimator is None else self.estimator
        local._validate_params()
        if not (isinstance(local.kernel, str) or is_known(local.kernel)):
            raise ValueError(
                f"kernel must be a name or one of kmviz.kernels, which a file can hold; got "
                f"{local.kernel!r}."
            )
        place = self._temporary_file() if self.path is None else Path(self.path)
        if not callable(X):
            is_path = isinstance(X, str | PathLike)
            X = (ParquetBlocks if is_path else ArrayBlocks)(X, y, self.memory)
        training = Training(place, local, self.memory, X)
        if not training.is_scattered():
            training.scatter()
        training.train()
        training.store()
        return self._open(place)

    def _temporary_file(self) -> Path:
        """Return a file in a folder that goes with this object."""
        folder = tempfile.mkdtemp(prefix="kmviz-boxes-")
        finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return Path(folder) / "boxes.falk"

    @classmethod
    def load(cls, path: Any, memory: int = 2**30) -> PartitionedFaLK:
        """Open a file that `fit` wrote; its boxes are read, and checked, when they are needed."""
        return cls(path=path, memory=memory)._open(Path(path))

    def _open(self, place: Path) -> PartitionedFaLK:
        with ZipFile(place) as file:
            if PLAN not in file.namelist():
                raise ValueError(f"{place.name} holds no boxes that this version of kmviz reads.")
            plan = json.loads(file.read(PLAN))
        if plan["schema"] != SCHEMA:
            raise ValueError(
                f"{place.name} has form {plan['schema']}; this version of kmviz reads {SCHEMA}. "
                "Fit again, or use the version that wrote it."
            )
        self.place_, self.n_features_in_ = place, int(plan["columns"])
        self.boxes_, self.classes_ = Boxes(plan["axis"], plan["cut"]), _classes_of(plan)
        shaped("axis", self.boxes_.axis, len(self.boxes_) - 1)
        within("axis", self.boxes_.axis, 0, self.n_features_in_)
        shaped("cut", self.boxes_.cut, len(self.boxes_) - 1, finite=False)
        self.n_rows_, self.n_models_ = int(plan["rows"]), int(plan["models"])
        self.parameters_ = np.array(plan["parameters"], dtype=np.float64)
        self.halo_, self.halo_share_ = int(plan["halo"]), float(plan["halo_share"])
        self._opened: OrderedDict[int, tuple[int, FaLKClassifier]] = OrderedDict()
        return self

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the output of each row's local model, (n,) for two classes, else (n, n_classes).

        It is what `FaLKClassifier.decision_function` returns.
        """
        return self._by_box("decision_function", X)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of each row."""
        return self._by_box("predict", X)

    def steps(self, X: ArrayLike) -> NDArray[np.intp]:
        """Return how many kernel values each row takes: the support vectors of its model."""
        return self._by_box("steps", X)

    def _by_box(self, method: str, X: ArrayLike) -> NDArray[Any]:
        """Return what the classifiers of the rows' boxes answer."""
        check_is_fitted(self)
        rows = validate_data(self, X, reset=False, dtype=np.float32)
        box = self.boxes_.of(rows)
        numbers = np.unique(box).tolist()
        found = [getattr(self.box(number), method)(rows[box == number]) for number in numbers]
        out = np.empty((len(rows), *found[0].shape[1:]), dtype=found[0].dtype)
        for number, answers in zip(numbers, found):
            out[box == number] = answers
        return out

    def box(self, number: int) -> FaLKClassifier:
        """Return the classifier of a box; it has the records of its local models.

        The boxes that were used last stay in memory, as far as `memory` allows.
        """
        if number not in self._opened:
            fitted, size = read_box(self.place_, number)
            if fitted.n_features_in_ != self.n_features_in_ or not np.array_equal(
                fitted.classes_, self.classes_
            ):
                raise ValueError(f"Box {number} of {self.place_.name} is of another model.")
            while self._opened and self._bytes() + size > self.memory:
                self._opened.popitem(last=False)
            self._opened[number] = size, fitted
        self._opened.move_to_end(number)
        return self._opened[number][1]

    def _bytes(self) -> int:
        return sum(size for size, _ in self._opened.values())


class Training:
    """A fit, step by step, each of which leaves what it makes in a folder.

    Parameters
    ----------
    place : path
        Of the model.
    local : FaLKClassifier
    memory : int
    blocks : Blocks
    """

    def __init__(self, place: Path, local: FaLKClassifier, memory: int, blocks: Any) -> None:
        self.place, self.folder = place, place.with_name(f"{place.name}.parts")
        self.local, self.memory, self.blocks = local, memory, blocks
        known = getattr(blocks, "identity", None)
        parameters = {name: repr(value) for name, value in local.get_params().items()}
        self.identity = None if known is None else [SCHEMA, known, int(memory), parameters]

    def is_scattered(self) -> bool:
        """Tell whether the folder holds all shards of an earlier try; if not, empty it."""
        written = self.folder / PLAN
        if self.identity is not None and written.exists():
            self.plan = json.loads(written.read_text("utf-8"))
            if self.plan["identity"] == json.loads(json.dumps(self.identity)):
                return True
        self.folder.mkdir(exist_ok=True)
        self._empty()
        return False

    def _empty(self) -> None:
        for file in self.folder.iterdir():
            if file.suffix in (".rows", ".skops", ".json", ".new"):
                file.unlink()

    def _remove_folder(self) -> None:
        self._empty()
        if not any(self.folder.iterdir()):
            self.folder.rmdir()

    def _numbered(self, suffix: str) -> list[Path]:
        """Return the files of the boxes, in the order of their numbers."""
        return sorted(self.folder.glob(f"*{suffix}"), key=lambda file: int(file.stem))

    def scatter(self) -> None:
        """Write each row to the shards of the boxes that need it; of a try that fails, nothing."""
        try:
            self._scatter()
        except BaseException:
            self._remove_folder()
            raise

    def _scatter(self) -> None:
        seed = self.local.random_state
        if not isinstance(seed, Integral):  # the same one in all boxes, and when a fit continues
            seed = check_random_state(seed).randint(np.iinfo(np.int32).max)
        with part(0.0, 0.15):
            survey = Survey(self._checked(), seed, self.memory)
        k, n, d = self.local.n_neighbors, survey.n, survey.sample.shape[1]
        largest = sizes_for(k, n)[-1] if self.local.tune or k == "auto" else min(int(k), n)
        room = max(self.memory / (ROW + COORDINATE * d), FEWEST * largest)
        depth = max(0, int(np.ceil(np.log2(n / room))))
        halos = Halos(survey.sample, depth, largest * len(survey.sample) / n)
        with part(0.15, 0.3):
            halo = self._write_shards(halos, survey)
        self.plan = {
            "schema": SCHEMA, "identity": self.identity, "rows": n, "columns": d, "seed": int(seed),
            "classes": survey.classes.tolist(), "type": survey.classes.dtype.str,
            "axis": halos.boxes.axis.tolist(), "cut": halos.boxes.cut.tolist(),
            "gamma": survey.gamma(self.local.gamma), "halo": halo, "halo_share": halos.share,
        }  # fmt: skip
        _write_whole(self.folder / PLAN, json.dumps(self.plan).encode())

    def _checked(self) -> Iterator[tuple[NDArray[np.float32], NDArray[Any]]]:
        """Yield the blocks, checked, as float32."""
        for X, y in self.blocks():
            check_classification_targets(y)
            yield check_array(X, dtype=np.float32), y.astype(str) if y.dtype == object else y

    def _write_shards(self, halos: Halos, survey: Survey) -> int:
        """Write the rows; returns how many of them stand in halos."""
        start = written = 0
        for X, y in self._checked():
            row, box = halos.needing(X)
            labelled = np.column_stack([X, np.searchsorted(survey.classes, y).astype(np.float32)])
            for number in np.unique(box):
                with (self.folder / f"{number}.rows").open("ab") as shard:
                    labelled[row[box == number]].tofile(shard)
            start, written = start + len(X), written + len(row)
            report(start / survey.n, f"{start:,} rows written for {len(halos.boxes)} boxes")
        if start != survey.n:
            raise ValueError(f"X had {survey.n:,} rows at first and {start:,} when read again.")
        return written - start

    def train(self) -> None:
        """Train the classifiers of all boxes that have none."""
        local = clone(self.local).set_params(
            gamma=self.plan["gamma"], random_state=self.plan["seed"]
        )
        calls = [(shard, local, _classes_of(self.plan)) for shard in self._numbered(".rows")]
        for done, _ in enumerate(_each(calls)):
            report(0.3 + 0.65 * (done + 1) / len(calls), f"box {done + 1} of {len(calls)} trained")

    def store(self) -> None:
        """Put the classifiers into one file, each read once more, and empty the folder."""
        files, models, parameters = self._numbered(".skops"), 0, []
        whole = self.folder / "model.new"
        with ZipFile(whole, "w", ZIP_STORED) as file:
            for done, stored in enumerate(files):
                box = checked_box(stored.read_bytes())
                models += len(box.models_)
                parameters.append([box.n_neighbors_, float(box.C_), float(box.percentile_)])
                file.write(stored, stored.name)
                report(0.95 + 0.05 * done / len(files), "storing")
            for name, content in getattr(self.blocks, "entries", {}).items():
                file.writestr(name, content)
            trained = {"models": models, "parameters": parameters, "identity": None}
            file.writestr(PLAN, json.dumps(self.plan | trained))
        whole.replace(self.place)
        self._remove_folder()


class Survey:
    """What one pass over the rows learns: their number, classes and variance, and a sample.

    Parameters
    ----------
    blocks : iterable of rows and their classes
    seed : int
    memory : int
        Bytes that a box may take, and so the sample.
    """

    def __init__(self, blocks: Any, seed: int, memory: int) -> None:
        self.n, total, squares = 0, 0.0, 0.0
        self.classes = self.keys = np.empty(0)
        rng = np.random.default_rng(seed)
        for X, y in blocks:
            if not self.n:
                self.classes, self.sample = np.unique(y), X[:0]
                size = min(SAMPLE, max(1000, memory // (ROW + COORDINATE * X.shape[1])))
            self.classes = np.union1d(self.classes, y)
            keys = np.concatenate([self.keys, rng.random(len(X))])
            self.sample, self.keys = smallest_keys(np.concatenate([self.sample, X]), keys, size)
            self.n += len(X)
            total += X.sum(dtype=np.float64)
            squares += np.square(X, dtype=np.float64).sum()
            report(0.5, f"{self.n:,} rows counted")
        if len(self.classes) < 2:
            raise ValueError("y holds one class only; a classifier needs at least two classes.")
        entries = self.n * self.sample.shape[1]
        self.variance = squares / entries - (total / entries) ** 2

    def gamma(self, gamma: float | str) -> float | str:
        """Return gamma as a number that is the same in all boxes, but "local", their own."""
        d = self.sample.shape[1]
        scale = {"scale": 1.0 / (d * self.variance) if self.variance > 0 else 1.0, "auto": 1.0 / d}
        return scale.get(gamma, gamma) if isinstance(gamma, str) else float(gamma)


def _each(calls: list[tuple[Any, ...]]) -> Iterator[None]:
    """Train boxes one after the other, or as joblib's backend spreads them."""
    if effective_n_jobs(None) > 1:
        spread = [delayed(train_alone)(*call) for call in calls]
        yield from Parallel(batch_size=1, return_as="generator")(spread)
        return
    for number, call in enumerate(calls):
        width = 0.65 / len(calls)
        with part(0.3 + number * width, 0.3 + (number + 1) * width, f"box {number + 1}"):
            train_box(*call)
        yield


def train_alone(shard: Path, local: FaLKClassifier, classes: NDArray[Any]) -> None:
    """Train a box on one thread: the other workers have boxes of their own."""
    with parallel_config("sequential"):
        train_box(shard, local, classes)


def train_box(shard: Path, local: FaLKClassifier, classes: NDArray[Any]) -> None:
    """Train the classifier of a box, unless an earlier try has; any worker can import this."""
    from skops import io as skops

    stored = shard.with_suffix(".skops")
    if stored.exists():
        return
    columns = json.loads((shard.parent / PLAN).read_text("utf-8"))["columns"]
    labelled = np.fromfile(shard, dtype=np.float32).reshape(-1, columns + 1)
    rows, labels = np.ascontiguousarray(labelled[:, :-1]), classes[labelled[:, -1].astype(np.intp)]
    del labelled
    fitted = clone(local).partial_fit(rows, labels, classes)  # a box may lack a class
    _write_whole(stored, skops.dumps(fitted, compression=ZIP_STORED))


def _write_whole(place: Path, content: bytes) -> None:
    """Write a file that is there as a whole or not at all, though several write it at once."""
    with tempfile.NamedTemporaryFile(dir=place.parent, suffix=".new", delete=False) as file:
        file.write(content)
    Path(file.name).replace(place)


def _classes_of(plan: dict[str, Any]) -> NDArray[Any]:
    kind = np.dtype(plan["type"])
    if kind.kind not in "biufU":
        raise ValueError(f"Classes of type {kind} are no numbers and no text.")
    return np.array(plan["classes"], dtype=kind)


def read_box(place: Path, number: int) -> tuple[FaLKClassifier, int]:
    """Return the classifier of a box from a file, and about how many bytes it takes."""
    try:
        with ZipFile(place) as file:
            content = file.read(f"{number}.skops")
        return checked_box(content), 3 * len(content)  # its search tree is as large again, twice
    except (BadZipFile, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"Box {number} of {place.name} cannot be read: {error}") from error


def checked_box(content: bytes) -> FaLKClassifier:
    """Return a stored classifier, of the types that it may consist of, its arrays checked."""
    from skops import io as skops

    fitted = skops.loads(content, trusted=TRUSTED)
    if not isinstance(fitted, FaLKClassifier):
        raise TypeError(f"a {type(fitted).__name__} is no FaLKClassifier")
    for stored in (fitted, fitted.models_, fitted.index_):
        if hasattr(stored, "check"):
            stored.check()
    return fitted


class ParquetBlocks:
    """Every column but the target of a Parquet file, or of all Parquet files of a folder."""

    def __init__(self, path: Any, target: Any, memory: int) -> None:
        from pyarrow.dataset import dataset
        from pyarrow.types import is_floating, is_integer

        self.data, self.target = dataset(path, format="parquet"), target
        schema = self.data.schema
        if target not in schema.names:
            raise ValueError(
                f"y names the column of the classes, one of {schema.names}; got {target!r}."
            )
        self.columns = [name for name in schema.names if name != target]
        for name in self.columns:
            kind = schema.field(name).type
            if not (is_floating(kind) or is_integer(kind)):
                raise ValueError(
                    f"Column {name!r} holds {kind}, no numbers: leave it out or encode it."
                )
        self.most = block_rows(memory, len(self.columns))
        self.identity = [target, *map(stamp_of, self.data.files)]

    def __call__(self) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Yield blocks of rows and their classes."""
        batches = self.data.to_batches(
            columns=[*self.columns, self.target], batch_size=self.most, batch_readahead=1,
            fragment_readahead=1, use_threads=False,
        )  # fmt: skip
        for batch in batches:
            if batch.column(self.target).null_count:
                raise ValueError(
                    f"Column {self.target!r} has rows without a class: leave them out."
                )
            if batch.num_rows:
                *columns, y = (column.to_numpy(zero_copy_only=False) for column in batch.columns)
                yield np.column_stack(columns), y


class ArrayBlocks:
    """Blocks of an array, which may be a mapped file (`np.load(..., mmap_mode="r")`)."""

    identity: Any = None

    def __init__(self, X: Any, y: Any, memory: int) -> None:
        self.X, self.y = X, np.asanyarray(y)
        if np.ndim(X) != 2 or np.shape(X)[0] != len(self.y):
            raise ValueError(
                f"X has shape {np.shape(X)} and y {self.y.shape}: a row of X and a class for each "
                "training row are needed."
            )
        self.most = block_rows(memory, np.shape(X)[1])

    def __call__(self) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Yield blocks of rows and their classes."""
        for start in range(0, len(self.y), self.most):
            there = slice(start, start + self.most)
            yield self.X[there], np.asarray(self.y[there])


def block_rows(memory: int, n_columns: int) -> int:
    """Return how many rows to read at a time: their arrays take less than a box may."""
    return int(np.clip(memory / (ROW + COORDINATE * n_columns) / 2, 100, BLOCK))


def stamp_of(path: Any) -> list[Any]:
    """Return what tells a file from others, and from itself before it was changed."""
    place = Path(path).resolve()
    return [str(place), place.stat().st_size, place.stat().st_mtime_ns]
