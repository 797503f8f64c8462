"""A user's own table as pandas frames. Text cells stay text; the encoder decides what is a number.

The index of a frame counts rows as a spreadsheet does, so that messages can name them.
"""

import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, dropwhile, islice
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from kmviz.datasets.arrow import BATCH_ROWS, arrow_frames
from kmviz.datasets.content import (
    MAX_BYTES,
    SAVE_AS_CSV,
    File,
    encoding_of,
    is_packed,
    kind_of,
    open_array,
    read_bytes,
)
from kmviz.datasets.record import DataError

MAX_COLUMNS = 10_000
MAX_DECODED = 8 * MAX_BYTES  # compressed files may unfold to much more than their size

#: Bytes from which the kind, the encoding and the delimiter of a long file are told.
HEAD = 2**20

_DELIMITERS = "\t;,"  # the first wins a tie: decimal commas look like separators
_DECIMAL_COMMA = re.compile(r"^\s*[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+([eE][+-]?\d+)?\s*$")

_END = ["\x1e", "\x1e"]  # a row after the last; where a quotation mark is open it is none

OnBad = Callable[[int, str], None]


class _Dialect(NamedTuple):
    delimiter: str
    names: list[str]
    has_header: bool


def read_frame(file: File, limit: int | None = None) -> tuple[pd.DataFrame, list[str]]:
    """Return a whole table and notes on how it was read.

    Parameters
    ----------
    file : path, bytes, or binary file
    limit : int, optional
        Bytes of the file; it may unfold to eight times as many. Default: MAX_BYTES, 50 MB.

    Raises
    ------
    DataError
        If the file is no table, or too large, or its rows differ in length.
    """
    content, name = read_bytes(file, limit or MAX_BYTES)
    most = MAX_DECODED if limit is None else 8 * limit
    notes: list[str] = []
    frames = [*_frames(io.BytesIO(content), content, name, BATCH_ROWS, None, notes, most)]
    if not any(map(len, frames)):
        raise DataError(f"{name} has no rows. Add rows below the header and try again.")
    return pd.concat(frame for frame in frames if len(frame)), notes


def iter_frames(
    file: str | Path, rows: int = 10_000, on_bad: OnBad | None = None
) -> Iterator[pd.DataFrame]:
    """Yield a table or a .npy array of any length, `rows` rows at a time.

    A folder stands for all its Parquet files, in the order of their names. A row with too few or
    too many cells raises, unless `on_bad(row, message)` takes it.
    """
    path = Path(file)
    if path.is_dir():
        yield from _folder_frames(path, rows)
        return
    if not path.is_file():
        raise DataError(f"There is no file {str(path)!r}. Check the path.")
    with path.open("rb") as stored:
        packed = is_packed(stored.read(2))
        stored.seek(0)
        stream: Any = gzip.GzipFile(fileobj=stored) if packed else stored
        try:
            head = stream.read(HEAD)
            if kind_of(head[:16], path.name) == "array":
                yield from _array_frames(path, rows)
            else:
                yield from _frames(stream, head, path.name, rows, on_bad, [])
        except UnicodeDecodeError as error:
            message = f"{path.name} mixes encodings. Save it again as CSV UTF-8."
            raise DataError(message) from error
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise DataError(f"{path.name} is damaged: {error}. Pack it again.") from error


def _folder_frames(folder: Path, rows: int) -> Iterator[pd.DataFrame]:
    """Yield the rows of all Parquet files of a folder, numbered through."""
    files, before = sorted(folder.rglob("*.parquet")), 0
    if not files:
        raise DataError(f"The folder {str(folder)!r} holds no Parquet files. Name a file.")
    for file in files:
        last = before
        for frame in iter_frames(file, rows):
            frame.index += before
            last = int(frame.index[-1])
            yield frame
        before = last


def _array_frames(path: Path, rows: int) -> Iterator[pd.DataFrame]:
    X = open_array(path)
    names = [f"x{j + 1}" for j in range(X.shape[1])]
    for start in range(0, len(X), rows):
        block = X[start : start + rows].astype("f4")
        yield pd.DataFrame(block, index=range(start + 1, start + 1 + len(block)), columns=names)


def _frames(
    stream: Any, head: bytes, name: str, rows: int, on_bad: OnBad | None, notes: list[str],
    most: int | None = None,
) -> Iterator[pd.DataFrame]:  # fmt: skip
    """Yield the parts of an open table that begins with `head`; `notes` grows on the way."""
    kind = kind_of(head[:16], name)
    if kind == "array":
        raise DataError(f"{name} is a NumPy array without a class column. {SAVE_AS_CSV}")
    stream.seek(0)
    if kind == "text":
        yield from _text_frames(stream, head, name, rows, on_bad, notes)
        return
    for frame in arrow_frames(stream, kind, name, rows, most):
        frame.columns = pd.Index(_column_names([str(title) for title in frame.columns], name))
        yield frame


def _text_frames(
    stream: Any, head: bytes, name: str, rows: int, on_bad: OnBad | None, notes: list[str]
) -> Iterator[pd.DataFrame]:
    """Yield the lines of a text as cells, in parts."""
    encoding = encoding_of(head, name, complete=len(head) != HEAD)
    dialect = _dialect(head.decode(encoding, errors="ignore").lstrip("\r\n"), name)
    if not dialect.has_header:
        notes.append("The file has no header: columns are x1, x2, ...")
    if encoding == "cp1252":
        notes.append("Read as Latin-1, since it is not UTF-8.")
    has_points = False
    with io.TextIOWrapper(stream, encoding=encoding, newline="") as lines:
        cells = _rows(lines, dialect, name, on_bad)
        while part := list(islice(cells, rows)):
            numbers, values = zip(*part, strict=True)
            frame = pd.DataFrame(values, index=numbers, columns=dialect.names, dtype=str)
            if dialect.delimiter != "," and _decimal_points(frame) and not has_points:
                has_points = True
                notes.append("Decimal commas were read as points.")
            yield frame


def _dialect(text: str, name: str) -> _Dialect:
    """The delimiter, the one under which most first lines have as many cells as the header."""
    if not text.strip():
        raise DataError(f"{name} is empty. Choose a file with a header line and rows below it.")
    try:
        delimiter, header = _header(text)
    except csv.Error as error:
        raise DataError(
            f"The first line of {name} is not readable: {str(error).rstrip('.')}. Give its "
            "columns short names and save it as CSV again."
        ) from error
    if len(header) < 2:
        raise DataError(
            f"{name} has only one column. A table needs one column to predict and others to "
            "predict from, separated by commas, semicolons or tabs."
        )
    has_header = not all(_is_number(cell) for cell in header)
    titles = header if has_header else [f"x{j + 1}" for j in range(len(header))]
    return _Dialect(delimiter, _column_names(titles, name), has_header)


def _header(text: str) -> tuple[str, list[str]]:
    """The delimiter and the cells of the first line."""
    sample = text[:100_000].splitlines()[:20]

    def score(delimiter: str) -> tuple[float, int]:
        counts = [len(row) for row in csv.reader(sample, delimiter=delimiter) if row]
        agree = sum(count == counts[0] for count in counts) / len(counts)
        return agree if counts[0] > 1 else 0.0, counts[0]

    delimiter = max(_DELIMITERS, key=score)
    return delimiter, next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True


def _column_names(titles: list[str], name: str) -> list[str]:
    if len(titles) > MAX_COLUMNS:
        raise DataError(
            f"{name} has {len(titles):,} columns; at most {MAX_COLUMNS:,} are read. "
            "Keep the columns that matter."
        )
    names = [title.strip() or f"column {j + 1}" for j, title in enumerate(titles)]
    twice = [title for title, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(
            f"{name} has more than one column named {', '.join(map(repr, twice[:5]))}. "
            "Give every column its own name."
        )
    return names


def _rows(
    lines: Iterable[str], dialect: _Dialect, name: str, on_bad: OnBad | None = None
) -> Iterator[tuple[int, list[str]]]:
    """Rows below the header with their numbers; each must have as many cells as the first."""
    width = len(dialect.names)
    filled = dropwhile(lambda line: not line.strip("\r\n"), lines)
    ended = chain(filled, [dialect.delimiter.join(_END)])
    reader = csv.reader(ended, delimiter=dialect.delimiter)
    try:
        for number, row in enumerate(reader, start=1):
            message = ""
            if row == _END:
                return
            if row and row[-1].endswith(_END[-1]):
                message = "opens a quotation mark that is never closed. Close it"
            elif row and len(row) != width:
                message = (
                    f"has {len(row)} cells, the first row has {width}. Mend that row (a stray "
                    "separator or quotation mark?)"
                )
            if message:
                message = f"Row {number} of {name} {message} and try again."
                if on_bad is None:
                    raise DataError(message)
                on_bad(number, message)
            elif row and (number > 1 or not dialect.has_header):
                yield number, row
    except csv.Error as error:
        raise DataError(
            f"{name} is not a readable table: {str(error).rstrip('.')}. Save it as CSV again."
        ) from error


def _decimal_points(frame: pd.DataFrame) -> bool:
    """Turn 1.234,5 into 1234.5, in place; whether there were any."""
    found = False
    for column in frame.columns:
        cells = frame[column].to_numpy(dtype=object)
        comma = [j for j, cell in enumerate(cells) if "," in cell and _DECIMAL_COMMA.match(cell)]
        if comma:
            for j in comma:
                cells[j] = cells[j].replace(".", "").replace(",", ".")
            frame[column] = cells
            found = True
    return found
