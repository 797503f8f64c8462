"""A file as a pandas frame. Text cells stay text; the encoder decides what is a number.

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
from kmviz.datasets.content import File, encoding_of, is_packed, kind_of, read_bytes
from kmviz.datasets.errors import DataError
from kmviz.datasets.jsonlines import (
    fields_of_start,
    is_json_lines,
    rows as rows_of_json,
    whole_rows,
)
from kmviz.datasets.limits import refuse_wide

MAX_DECODED = 400 * 2**20  # bytes: compressed files may unfold to much more than their size

_DELIMITERS = "\t;,"  # the first wins a tie: decimal commas look like separators
_DECIMAL_COMMA = re.compile(r"^\s*[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+([eE][+-]?\d+)?\s*$")

_END = ["\x1e", "\x1e"]  # a row after the last; where a quotation mark is open it is none

OnBad = Callable[[int, str], None]


class _Dialect(NamedTuple):
    delimiter: str
    names: list[str]
    has_header: bool


def read_frame(file: File) -> tuple[pd.DataFrame, list[str]]:
    """A whole table and what is worth saying about how it was read.

    Raises
    ------
    DataError
        If the file is no table, or too large, or its rows differ in length.
    """
    content, name = read_bytes(file)
    kind = kind_of(content[:16], name)
    if kind != "text":
        parts = _arrow_frames(io.BytesIO(content), kind, name, BATCH_ROWS, MAX_DECODED)
        frames = [frame for frame in parts if len(frame)]
        if not frames:
            raise DataError(f"{name} has no rows. Add rows and try again.")
        return pd.concat(frames), []
    encoding = encoding_of(content, name)
    text = content.decode(encoding).lstrip("\r\n")
    if is_json_lines(text):
        names, numbers, cells = whole_rows(text, name, MAX_DECODED)
        return pd.DataFrame(cells, index=numbers, columns=names, dtype=str), []
    dialect = _dialect(text, name)
    if not sum(1 for _ in _rows(io.StringIO(text, newline=""), dialect, name)):
        raise DataError(f"{name} has a header but no rows. Add the rows below the header.")
    frame = _text_frame(text, dialect)
    notes = [] if dialect.has_header else ["The file has no header: columns are x1, x2, ..."]
    if encoding == "cp1252":
        notes.append("Read as Latin-1, since it is not UTF-8.")
    if dialect.delimiter != "," and _decimal_points(frame):
        notes.append("Decimal commas were read as points.")
    return frame, notes


def iter_frames(
    file: str | Path, rows: int = 10_000, on_bad: OnBad | None = None
) -> Iterator[pd.DataFrame]:
    """A table of any length, `rows` rows at a time, each frame as `read_frame` gives it.

    A folder stands for all its Parquet files, in the order of their names. A row with too few or
    too many cells raises, unless `on_bad(row, message)` takes it.
    """
    path = Path(file)
    if path.is_dir():
        yield from _folder_frames(path, rows)
        return
    if not path.is_file():
        raise DataError(f"There is no file {str(path)!r}. Check the path.")
    try:
        with _opened(path) as stream:
            head = stream.read(2**20)
        if not head:
            read_bytes(path)  # says what is wrong with an empty file
        kind = kind_of(head[:16], path.name)
        if kind != "text":
            with _opened(path) as stream:
                yield from _arrow_frames(stream, kind, path.name, rows)
            return
        encoding = encoding_of(head, path.name, complete=len(head) < 2**20)
        start = head.decode(encoding, errors="ignore").lstrip("\r\n")
        with io.TextIOWrapper(_opened(path), encoding=encoding, newline="") as lines:
            yield from _text_frames(lines, start, path.name, rows, on_bad)
    except UnicodeDecodeError as error:
        raise DataError(f"{path.name} mixes encodings. Save it again as CSV UTF-8.") from error
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


def _opened(path: Path) -> Any:
    """The bytes of a file, unpacked on the way if they are packed."""
    stream = path.open("rb")
    packed = is_packed(stream.read(2))
    stream.seek(0)
    if not packed:
        return stream
    stream.close()
    return gzip.open(path)


def _text_frames(
    lines: Iterable[str], start: str, name: str, rows: int, on_bad: OnBad | None
) -> Iterator[pd.DataFrame]:
    """Lines of cells, or of JSON, in parts; what stands in each is told by the start."""
    if is_json_lines(start):
        names, is_comma = fields_of_start(start, name), True
        cells = rows_of_json(lines, names, name, on_bad)
    else:
        dialect = _dialect(start, name)
        names, is_comma = dialect.names, dialect.delimiter == ","
        cells = _rows(lines, dialect, name, on_bad)
    while part := list(islice(cells, rows)):
        numbers, values = zip(*part, strict=True)
        frame = pd.DataFrame(values, index=numbers, columns=names, dtype=str)
        if not is_comma:
            _decimal_points(frame)
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
    refuse_wide(len(header), name)
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


def _text_frame(text: str, dialect: _Dialect) -> pd.DataFrame:
    """All rows at once, blank ones left out: pandas holds text tighter than lists do."""
    frame = pd.read_csv(
        io.StringIO(text, newline=""),
        sep=dialect.delimiter,
        header=0 if dialect.has_header else None,
        names=dialect.names,
        index_col=False,
        dtype=str,
        na_filter=False,
        skip_blank_lines=False,
    ).fillna("")
    frame.index += 2 if dialect.has_header else 1
    return frame[(frame != "").any(axis=1)].copy()


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


def _arrow_frames(
    stream: Any, kind: str, name: str, rows: int, most: int | None = None
) -> Iterator[pd.DataFrame]:
    """Frames of a Parquet or Arrow file, with the names of columns that a table may have."""
    for frame in arrow_frames(stream, kind, name, rows, most):
        refuse_wide(frame.shape[1], name)
        frame.columns = pd.Index(_column_names([str(title) for title in frame.columns], name))
        yield frame
