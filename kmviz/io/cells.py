"""Partitioned local models as files: their archive of cells, and how to read tables for them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from sklearn.pipeline import make_pipeline

from kmviz.datasets import TableEncoder
from kmviz.io.storage import StorageError, dumps, load
from kmviz.io.table import TableClassifier
from kmviz.io.whole import written_whole
from kmviz.methods.falk import PartitionedFaLK
from kmviz.methods.falk.cells import Archive

#: The entry that holds the encoder of a table and the scaler behind it.
TABLE = "table.skops"


def save_cells(clf: PartitionedFaLK, path: str | os.PathLike[str]) -> None:
    """Store a fitted `PartitionedFaLK`: a copy of its cells."""
    if Path(path).suffix != ".falk":
        raise StorageError(f"Local models in cells are a .falk file; got {Path(path).name!r}.")
    with written_whole(Path(path)) as place:
        shutil.copyfile(clf.archive_.path, place)


def add_table(path: Path, encoder: TableEncoder, scaler: Any) -> None:
    """Keep beside the cells how rows of a table become theirs; `scaler` may be None."""
    Archive(path).write_entry(TABLE, dumps(TableClassifier(encoder, scaler)))


def load_cells(path: str | os.PathLike[str]) -> Any:
    """Open a `.falk` file; behind its table's encoder, where it was trained on a table."""
    try:
        clf = PartitionedFaLK.load(path)
        stored = Archive(Path(path)).read_entry(TABLE)
    except (BadZipFile, KeyError, ValueError) as error:
        raise StorageError(f"{Path(path).name} cannot be read as local models: {error}") from error
    if stored is None:
        return clf
    table = load(stored)
    return TableClassifier(
        table.encoder, clf if table.classifier is None else make_pipeline(table.classifier, clf)
    )
