"""A user's own table as a `Dataset`."""

from pathlib import Path

import numpy as np
import pandas as pd

from kmviz.datasets.content import File
from kmviz.datasets.encoder import TableEncoder, class_text, is_numeric, read_cells
from kmviz.datasets.frames import read_frame
from kmviz.datasets.record import DataError, Dataset, split_rows

MAX_CLASSES = 50
FEW_VALUES = 20  # a column with no more may be the target, if none is named so

_TARGET_NAMES = ("target", "label", "class", "y")


def read_table(
    file: File, target: str | None = None, test_share: float = 0.3, seed: int = 0
) -> Dataset:
    """A CSV, TSV, Parquet or Arrow table as a classification problem.

    Parameters
    ----------
    file : path, bytes, or binary file
        At most 50 MB and 10,000 columns. Told by its content; nothing is unpickled.
    target : str, optional
        The column to predict. Default: one named target, label, class or y, else the last
        column with few values.
    test_share : float
        Share of the rows held out, class by class; 0 holds out none.
    seed : int
        Which rows those are.

    Returns
    -------
    Dataset
        Its `about` says what was chosen, filled, encoded and left out.

    Raises
    ------
    DataError
        With what is wrong and what to do.

    Examples
    --------
    >>> rows = b"1,red,a\\n2,red,b\\n3,blue,a\\n4,blue,b\\n"
    >>> data = read_table(b"height,colour,class\\n" + 5 * rows)
    >>> data.feature_names, data.class_names
    (('height', 'colour=red'), ('a', 'b'))
    """
    return encode_table(file, target, test_share, seed)[0]


def encode_table(
    file: File,
    target: str | None = None,
    test_share: float = 0.3,
    seed: int = 0,
    limit: int | None = None,
) -> tuple[Dataset, TableEncoder]:
    """Return what `read_table` does, and the encoder that gives later rows the same columns.

    `limit` is the bytes that the file may have; see `read_frame`.
    """
    if not 0 <= test_share < 1:
        raise ValueError(f"test_share={test_share!r}: give a share from 0 up, below 1.")
    frame, notes = read_frame(file, limit)
    name = "table"
    if isinstance(file, str | Path) or hasattr(file, "name"):
        name = Path(str(getattr(file, "name", file))).name
    chosen = _find_target(frame, target)
    if target is None:
        notes.append(f"Column {chosen!r} was taken as the class to predict.")
    frame, y = _labelled(_parsed_once(frame), chosen, notes)
    train, test = split_rows(y, _train_size(len(y), len(np.unique(y)), test_share), seed)
    encoder = TableEncoder.fit(frame.iloc[train], chosen)
    if not encoder.columns:
        _refuse_columns(encoder)
    notes += _encoding_notes(frame, encoder)
    dataset = Dataset(
        encoder.transform(frame.iloc[train]),
        encoder.labels(frame.iloc[train]),
        encoder.transform(frame.iloc[test]),
        encoder.labels(frame.iloc[test]),
        name=Path(name).stem,
        feature_names=encoder.feature_names,
        class_names=tuple(encoder.classes),
        image_shape=None,
        about=" ".join(
            [
                *notes,
                f"Split {seed}: {len(train):,} training and {len(test):,} test rows, stratified.",
            ]
        ),
        source=f"your file {name}",
        licence="yours",
    )
    return dataset, encoder


def _find_target(frame: pd.DataFrame, target: str | None) -> str:
    names = list(frame.columns)
    if target is not None:
        if target not in names:
            shown = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
            raise DataError(f"There is no column {target!r} to predict. Choose one of {shown}.")
        return target
    by_lower = {name.lower(): name for name in reversed(names)}
    for usual in _TARGET_NAMES:
        if usual in by_lower:
            return by_lower[usual]
    for name in reversed(names):
        distinct = class_text(frame[name]).nunique()
        if 2 <= distinct <= FEW_VALUES and distinct <= max(2, len(frame) / 2):
            return name
    if all(class_text(frame[name]).nunique() == 0 for name in names):
        raise DataError("All cells are missing. Choose a file with values.")
    raise DataError(
        "No column looks like a class to predict: each has one value only, or more than "
        f"{FEW_VALUES}. Name the class column 'target', or group its values."
    )


def _parsed_once(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with its columns of numbers as numbers, so that text is parsed only here."""
    columns = {}
    for name in frame.columns:
        text, numbers = read_cells(frame[name])
        clean = len(text) > 0 and is_numeric(text, numbers)
        columns[name] = numbers if clean else frame[name].to_numpy()
    return pd.DataFrame(columns, index=frame.index)


def _labelled(
    frame: pd.DataFrame, target: str, notes: list[str]
) -> tuple[pd.DataFrame, np.ndarray]:
    """The rows that have a class, and their classes as text; refuses what is no class column."""
    labels = class_text(frame[target])
    unlabelled = int(labels.isna().sum())
    if unlabelled == len(frame):
        raise DataError(f"Column {target!r} is empty. Choose another column to predict.")
    if unlabelled:
        notes.append(f"{unlabelled} rows without a class were left out.")
        frame, labels = frame[labels.notna()], labels.dropna()
    counts = labels.value_counts()
    if len(frame) == 1:
        raise DataError("The table has one row only. At least two rows of each class are needed.")
    if len(counts) == 1:
        raise DataError(
            f"All rows of column {target!r} are {counts.index[0]!r}: there is one class only. "
            "Add rows of another class, or choose another column to predict."
        )
    _refuse_regression(frame[target], target, len(counts))
    if counts.min() < 2:
        raise DataError(
            f"Class {counts.idxmin()!r} of column {target!r} has one row only. Each needs two, "
            "one to train on and one to test with: add rows or leave that class out."
        )
    return frame, labels.to_numpy(dtype=str)


def _refuse_regression(column: pd.Series, target: str, n_classes: int) -> None:
    text, numbers = read_cells(column)
    measured = is_numeric(text, numbers) and bool((numbers[np.isfinite(numbers)] % 1 != 0).any())
    if n_classes > MAX_CLASSES or n_classes > (FEW_VALUES if measured else len(column) / 2 + 1):
        raise DataError(
            f"Column {target!r} has {n_classes} different values: a quantity or a name rather "
            "than a class. Choose another column to predict, or group its values into classes "
            "(low, high)."
        )


def _train_size(n_rows: int, n_classes: int, test_share: float) -> int:
    """At least a row of each class on either side; all of them where none are held out."""
    if test_share == 0:
        return n_rows
    return int(np.clip(round(n_rows * (1 - test_share)), n_classes, n_rows - n_classes))


def _refuse_columns(encoder: TableEncoder) -> None:
    if not encoder.dropped:
        raise DataError("There is no column to predict from. Add columns of measurements.")
    reasons = [f"{name!r}: {why}" for name, why in list(encoder.dropped.items())[:5]]
    raise DataError(
        f"No column can be used to predict from ({'; '.join(reasons)}). Add columns of numbers "
        "that differ from row to row, or of categories."
    )


def _encoding_notes(frame: pd.DataFrame, encoder: TableEncoder) -> list[str]:
    notes = [f"Column {name!r} was left out: {why}." for name, why in encoder.dropped.items()]
    if len(notes) > 5:
        notes = [*notes[:5], f"{len(notes) - 5} more columns were left out."]
    texts = [c for c, values in zip(encoder.columns, encoder.categories, strict=True) if values]
    if texts:
        notes.append(f"Categories became 0/1 columns: {_listed(texts)}.")
    gaps = {name: len(frame) - len(read_cells(frame[name])[0]) for name in encoder.columns}
    filled = [name for name, count in gaps.items() if count]
    if filled:
        notes.append(
            f"{sum(gaps.values())} missing cells were filled (numbers with the median, "
            f"categories with the most frequent) in {_listed(filled)}."
        )
    return notes


def _listed(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
