"""Columns of a table as numbers, the same way for training and for later rows."""

import json
from dataclasses import asdict, dataclass, field

import numpy as np
import pandas as pd

from kmviz.datasets.record import DataError

MAX_CATEGORIES = 50  # a text column with more is taken for names or free text
LARGEST = 1e15  # beyond it neighbouring integers merge and float32 kernels overflow

_DATE = r"^\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})([T ].*)?\s*$"
_COUNTS = {"", "id", "index", "row", "row_id", "rownum", "nr", "no", "unnamed: 0", "column 1"}

_MISSING = {"", "na", "n/a", "#n/a", "nan", "null", "none", "?", "-"}


@dataclass(frozen=True)
class TableEncoder:
    """How a table becomes a matrix, learnt from training rows; plain values, so JSON keeps it.

    A column of numbers is taken as it is, gaps filled with the median. A column of text becomes
    a 0/1 column a category (one for two categories), gaps and unseen categories filled with the
    most frequent one.

    Attributes
    ----------
    columns : list of str
        The columns used, in order.
    categories : list of list of str
        The categories of each; empty for a column of numbers.
    fills : list of float or str
        What stands in for a missing cell of each.
    target : str or None
        The column to predict.
    classes : list of str
        Its values; their order is that of the sorted labels.
    dropped : dict of str to str
        Columns left out, and why.

    Examples
    --------
    >>> frame = pd.DataFrame({"a": [1.0, 2.0], "b": ["u", "v"], "y": ["no", "yes"]})
    >>> encoder = TableEncoder.fit(frame, "y")
    >>> encoder.transform(frame)
    array([[1., 0.],
           [2., 1.]])
    """

    columns: list[str]
    categories: list[list[str]]
    fills: list[float | str]
    target: str | None = None
    classes: list[str] = field(default_factory=list)
    dropped: dict[str, str] = field(default_factory=dict)

    @classmethod
    def fit(cls, frame: pd.DataFrame, target: str | None = None) -> "TableEncoder":
        """Learn kinds, categories and fill values from the rows of `frame`."""
        encoder = cls([], [], [], target, [] if target is None else _classes(frame[target]))
        for name in frame.columns.drop([] if target is None else [target]):
            text, numbers = read_cells(frame[name])
            reason = _useless(text, numbers, len(frame))
            if reason:
                encoder.dropped[name] = reason
                continue
            encoder.columns.append(name)
            if is_numeric(text, numbers):
                encoder.categories.append([])
                encoder.fills.append(float(np.nanmedian(numbers)))
            else:
                counts = text.value_counts()
                encoder.categories.append(sorted(counts.index))
                encoder.fills.append(str(min(counts.index[counts == counts.max()])))
        return encoder

    @property
    def feature_names(self) -> tuple[str, ...]:
        """A name a column of the matrix: `height`, or `colour=red`."""
        names: list[str] = []
        for column, categories in zip(self.columns, self.categories, strict=True):
            shown = categories[1:] if len(categories) == 2 else categories
            names += [f"{column}={value}" for value in shown] if shown else [column]
        return tuple(names)

    def transform(self, frame: pd.DataFrame) -> np.ndarray:
        """The matrix of the rows of `frame`; columns that were not learnt are ignored."""
        absent = [name for name in self.columns if name not in frame.columns]
        if absent:
            raise DataError(
                f"The table has no column {', '.join(map(repr, absent[:5]))}. "
                "Give it the columns of the training table."
            )
        X = np.empty((len(frame), len(self.feature_names)))
        at = 0
        for name, categories, fill in zip(self.columns, self.categories, self.fills, strict=True):
            block = _one_hot(frame[name], categories, fill) if categories else None
            if block is None:
                block = _filled_numbers(frame[name], float(fill))[:, None]
            X[:, at : at + block.shape[1]] = block
            at += block.shape[1]
        return X

    def labels(self, frame: pd.DataFrame) -> np.ndarray:
        """-1 and +1 for two classes, else 0, 1, 2, ... in the order of `classes`."""
        codes = pd.Index(self.classes).get_indexer(class_text(frame[self.target]))
        if (codes < 0).any():
            row = frame.index[np.argmax(codes < 0)]
            raise DataError(
                f"Row {row} of column {self.target!r} is none of {', '.join(self.classes[:10])}. "
                "Correct it or leave the row out."
            )
        return 2 * codes - 1 if len(self.classes) == 2 else codes

    def to_json(self) -> str:
        """All that `from_json` needs."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "TableEncoder":
        """The encoder that `to_json` wrote."""
        return cls(**json.loads(text))


def read_cells(column: pd.Series) -> tuple[pd.Series, np.ndarray]:
    """Cells as stripped text (missing ones left out) and as numbers (NaN where none).

    A column that has a number type already keeps it.

    Raises
    ------
    DataError
        If a number is infinite or beyond 1e15.
    """
    if _has_number_type(column):
        numbers = column.to_numpy(dtype=float, na_value=np.nan)
        text = column.dropna()
    else:
        text = column.dropna().astype(str)
        numbers = _parsed(text)
        if len(text) < len(column) or np.isnan(numbers).any():  # look closer, at more cost
            text = text.str.strip()
            text = text[~text.str.lower().isin(_MISSING)]
            parsed = pd.Series(_parsed(text), index=text.index)
            numbers = parsed.reindex(column.index).to_numpy(dtype=float)
    with np.errstate(invalid="ignore"):
        large = np.abs(numbers) > LARGEST
    if large.any():
        at = int(np.argmax(large))
        what = (
            "infinite" if np.isinf(numbers[at]) else f"{numbers[at]:g}, too large to compute with"
        )
        raise DataError(
            f"Row {column.index[at]} of column {column.name!r} is {what}. Correct or empty the "
            "cell; if the column only identifies rows, remove it."
        )
    return text, numbers


def _has_number_type(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def _parsed(text: pd.Series) -> np.ndarray:
    return pd.to_numeric(text.astype(object), errors="coerce").to_numpy(dtype=float)


def is_numeric(text: pd.Series, numbers: np.ndarray) -> bool:
    """Whether every cell that is not missing is a number."""
    return bool(np.isfinite(numbers).sum() == len(text))


def class_text(column: pd.Series) -> pd.Series:
    """Class names: text as it is, whole numbers without a decimal point, None if missing."""
    text, numbers = read_cells(column)
    if is_numeric(text, numbers):
        values = pd.Series(numbers, index=column.index).loc[text.index]
        text = values.map(lambda value: str(int(value)) if value == int(value) else repr(value))
    return text.reindex(column.index)


def _classes(column: pd.Series) -> list[str]:
    found = class_text(column).dropna().unique().tolist()
    numbers = pd.to_numeric(pd.Series(found, dtype=object), errors="coerce")
    if numbers.notna().all():
        return [found[j] for j in np.argsort(numbers.to_numpy(dtype=float))]
    return sorted(found)


def _useless(text: pd.Series, numbers: np.ndarray, n_rows: int) -> str:
    """Why a column cannot be used, empty if it can; mixed columns raise."""
    if text.empty:
        return "it has no values"
    if is_numeric(text, numbers):
        if np.nanmin(numbers) == np.nanmax(numbers):
            return "it has one value only"
        return "it numbers the rows" if _counts_rows(str(text.name), numbers, n_rows) else ""
    distinct = text.nunique()
    if distinct > 1 and text.str.match(_DATE).mean() > 0.9:
        return "it holds dates; give what matters of them (year, weekday, days since) as numbers"
    finite = numbers[np.isfinite(numbers)]
    # 1, 2, 3+ are categories; 12.5, 13.1, abc is a measurement gone wrong
    if len(finite) >= len(text) / 2 and (len(np.unique(finite)) > 10 or (finite % 1 != 0).any()):
        _refuse_text(text, numbers)
    if distinct == 1:
        return "it has one value only"
    if distinct > MAX_CATEGORIES or (distinct > 10 and distinct > n_rows / 2):
        return f"it is text with {distinct} different values"
    return ""


def _counts_rows(name: str, numbers: np.ndarray, n_rows: int) -> bool:
    """Whether a column of numbers tells rows apart and nothing else: an id, or 1, 2, 3, ...

    Training rows are a part of the table, so that a count may have gaps.
    """
    whole = numbers[np.isfinite(numbers)]
    is_unique = len(whole) == n_rows > 10 and len(np.unique(whole)) == n_rows
    if not is_unique or (whole % 1 != 0).any():
        return False
    return whole.max() - whole.min() < 4 * n_rows and name.strip().lower() in _COUNTS


def _refuse_text(text: pd.Series, numbers: np.ndarray) -> None:
    is_text = pd.to_numeric(text.astype(object), errors="coerce").isna()
    row = is_text.index[is_text.to_numpy()][0]
    raise DataError(
        f"Row {row} of column {text.name!r} is {text[row][:40]!r} among numbers. "
        "Correct the cell, or leave it empty if the value is not known."
    )


def _filled_numbers(column: pd.Series, fill: float) -> np.ndarray:
    text, numbers = read_cells(column)
    if not is_numeric(text, numbers):
        _refuse_text(text, numbers)
    return np.where(np.isnan(numbers), fill, numbers)


def _one_hot(column: pd.Series, categories: list[str], fill: float | str) -> np.ndarray:
    text = class_text(column) if _has_number_type(column) else read_cells(column)[0]
    codes = pd.Index(categories).get_indexer(text.reindex(column.index))
    codes[codes < 0] = categories.index(str(fill))
    shown = np.arange(1 if len(categories) == 2 else 0, len(categories))
    return (codes[:, None] == shown).astype(float)
