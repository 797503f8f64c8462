"""Cells of a partitioned training set: what lies on disk while they are made, and afterwards."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile

import numpy as np
from numpy.typing import NDArray

from kmviz.machines.soundness import shaped, within
from kmviz.methods.falk.boxes import Boxes
from kmviz.methods.falk.models import LocalModels
from kmviz.methods.falk.neighbors import EuclideanIndex

#: The entry of a stored partition that says what it is, and the form of the rest.
ABOUT, SCHEMA = "about.json", 1


class Scratch:
    """Arrays in a folder that grow at their end, a name and a cell each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def append(self, cell: int, name: str, array: NDArray[Any]) -> None:
        """Write rows behind those that are there."""
        with (self.folder / f"{cell}.{name}").open("ab") as file:
            file.write(np.ascontiguousarray(array).data)

    def put(self, cell: int, name: str, array: NDArray[Any]) -> None:
        """Write rows in place of those that are there."""
        (self.folder / f"{cell}.{name}").write_bytes(np.ascontiguousarray(array).data)

    def read(self, cell: int, name: str, dtype: Any, *shape: int) -> NDArray[Any]:
        """Return what was written, none where nothing was; `shape` is that of a row.

        Blocks that were put as `name.0`, `name.1`, ... are read one after the other.
        """
        path = self.folder / f"{cell}.{name}"
        blocks = [path] if path.exists() else self.folder.glob(f"{cell}.{name}.*")
        found = [np.fromfile(p, dtype) for p in sorted(blocks, key=lambda p: (len(p.name), p))]
        return np.concatenate([np.empty(0, dtype=dtype), *found]).reshape(-1, *shape)

    def rows(self, cell: int, name: str, dtype: Any, which: NDArray[np.intp]) -> NDArray[Any]:
        """Return some rows of a flat array without reading the others."""
        return np.array(np.memmap(self.folder / f"{cell}.{name}", dtype=dtype, mode="r")[which])


class Cell:
    """The rows of a box and of its halo, and the local models whose centres stand in the box.

    Attributes
    ----------
    rows : array of shape (n, d)
    owner_cell, owner_model : arrays of shape (n,)
        The cell and the number there of the model that answers for each row (eq. 11).
    models : LocalModels
        Their vectors are rows of this cell.
    """

    def __init__(
        self, rows: NDArray[Any], owner_cell: NDArray[Any], owner_model: NDArray[Any],
        models: LocalModels,
    ) -> None:  # fmt: skip
        self.rows, self.owner_cell, self.owner_model = rows, owner_cell, owner_model
        self.models = models
        self.index = EuclideanIndex(rows)

    @property
    def nbytes(self) -> int:
        """What it takes, the search tree included."""
        arrays = [self.rows, self.owner_cell, self.owner_model, *vars(self.models).values()]
        tree = 8 * self.rows.size + 32 * len(self.rows)  # float64 rows, row numbers, nodes
        return sum(np.asarray(array).nbytes for array in arrays) + tree

    def check(self, n_cells: int, d: int) -> None:
        """Refuse arrays that do not fit together (ValueError)."""
        n = len(self.rows)
        shaped("rows", self.rows, n, d)
        shaped("owner_cell", self.owner_cell, n)
        within("owner_cell", self.owner_cell, 0, n_cells)
        shaped("owner_model", self.owner_model, n)
        self.models.check()
        within("models.index", self.models.index, 0, n)


class Archive:
    """A partition in one file: a zip of plain arrays and a line of text, no code, no objects."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write_about(self, about: dict[str, Any], boxes: Boxes, classes: NDArray[Any]) -> None:
        """Begin the file."""
        with ZipFile(self.path, "w", ZIP_STORED) as file:
            file.writestr(ABOUT, json.dumps({"schema": SCHEMA, **about}))
            self._put(file, "boxes", vars(boxes))
            self._put(file, "classes", {"classes": classes})

    def write_cell(self, number: int, arrays: dict[str, Any], models: LocalModels) -> None:
        """Add a cell."""
        with ZipFile(self.path, "a", ZIP_STORED) as file:
            self._put(file, f"cell/{number}", arrays)
            self._put(file, f"models/{number}", vars(models))

    def adopt(self, place: Path) -> None:
        """Add what another file holds, which goes."""
        with ZipFile(self.path, "a", ZIP_STORED) as file, ZipFile(place) as other:
            for name in other.namelist():
                with other.open(name) as source, file.open(name, "w", force_zip64=True) as entry:
                    shutil.copyfileobj(source, entry, 2**20)
        place.unlink()

    def write_entry(self, name: str, content: bytes) -> None:
        """Add something of the caller's own."""
        with ZipFile(self.path, "a", ZIP_STORED) as file:
            file.writestr(name, content)

    def read_entry(self, name: str) -> bytes | None:
        """Return it; None where there is none."""
        with ZipFile(self.path) as file:
            return file.read(name) if name in file.namelist() else None

    def read_about(self) -> tuple[dict[str, Any], Boxes, NDArray[Any]]:
        """Return what `write_about` was given."""
        with ZipFile(self.path) as file:
            if ABOUT not in file.namelist():
                raise ValueError(f"{self.path.name} holds no partitioned local models.")
            about = json.loads(file.read(ABOUT))
            if about.get("schema") != SCHEMA:
                raise ValueError(
                    f"{self.path.name} has form {about.get('schema')}; this kmviz reads {SCHEMA}. "
                    "Fit again, or use the kmviz that wrote it."
                )
            boxes = Boxes.__new__(Boxes)
            vars(boxes).update(self._get(file, "boxes"))
            boxes.check()
            return about, boxes, self._get(file, "classes")["classes"]

    def read_cell(self, number: int, n_cells: int) -> Cell:
        """Return one cell, its arrays checked."""
        with ZipFile(self.path) as file:
            arrays = self._get(file, f"cell/{number}")
            models = LocalModels.__new__(LocalModels)
            vars(models).update(self._get(file, f"models/{number}"))
        models.short, models.n_classes = int(models.short), int(models.n_classes)
        cell = Cell(**arrays, models=models)
        cell.check(n_cells, cell.rows.shape[1])
        return cell

    @staticmethod
    def _put(file: ZipFile, folder: str, arrays: dict[str, Any]) -> None:
        for name, array in arrays.items():
            with file.open(f"{folder}/{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.asanyarray(array), allow_pickle=False)

    @staticmethod
    def _get(file: ZipFile, folder: str) -> dict[str, Any]:
        found = {}
        for name in file.namelist():
            if name.startswith(f"{folder}/"):
                with file.open(name) as entry:
                    array = np.lib.format.read_array(entry, allow_pickle=False)
                found[name[len(folder) + 1 : -len(".npy")]] = array
        return found
