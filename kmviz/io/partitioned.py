"""Local models of every row as files: `.falk`, with how rows of a table become theirs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from sklearn.pipeline import make_pipeline

from kmviz.io.storage import StorageError, load
from kmviz.io.table import TableClassifier
from kmviz.io.whole import written_whole
from kmviz.methods.falk import PartitionedFaLK

#: The entry that holds the encoder of a table and the scaler behind it.
TABLE = "table.skops"


def save_partitioned(clf: PartitionedFaLK, path: str | os.PathLike[str]) -> None:
    """Store a fitted `PartitionedFaLK`: a copy of its file."""
    if Path(path).suffix != ".falk":
        raise StorageError(f"A PartitionedFaLK is a .falk file; got {Path(path).name!r}.")
    with written_whole(Path(path)) as place:
        shutil.copyfile(clf.place_, place)


def load_partitioned(path: str | os.PathLike[str]) -> Any:
    """Open a `.falk` file; behind its table's encoder, where it was trained on a table."""
    try:
        clf = PartitionedFaLK.load(path)
        with ZipFile(path) as file:
            stored = file.read(TABLE) if TABLE in file.namelist() else None
    except (BadZipFile, KeyError, ValueError, TypeError) as error:
        raise StorageError(f"{Path(path).name} cannot be read as local models: {error}") from error
    if stored is None:
        return clf
    table = load(stored)
    return TableClassifier(
        table.encoder, clf if table.classifier is None else make_pipeline(table.classifier, clf)
    )
