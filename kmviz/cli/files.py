"""Where results go, and cells that no spreadsheet takes for a formula."""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from kmviz.cli.console import BadInput

_NUMBER = re.compile(r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def safe_cell(value: Any) -> str:
    """Return a cell that a spreadsheet shows and does not compute.

    Examples
    --------
    >>> from kmviz.cli.files import safe_cell
    >>> safe_cell("=1+1"), safe_cell("-1"), safe_cell("plain")
    ("'=1+1", '-1', 'plain')
    """
    text = str(value)
    if text[:1] in ("=", "+", "-", "@", "\t", "\r") and not _NUMBER.match(text):
        return f"'{text}"
    return text


def bytes_of(text: str) -> int:
    """Read a size such as 500MB, 2G or 1048576.

    Examples
    --------
    >>> from kmviz.cli.files import bytes_of
    >>> bytes_of("1.5GB")
    1610612736
    """
    match = re.fullmatch(r"\s*(\d+\.?\d*)\s*([KMGT]?)i?B?\s*", text, flags=re.IGNORECASE)
    if not match or float(match[1]) <= 0:
        raise BadInput(f"{text!r} is not a size; write it as 500MB or 2GB.")
    return int(float(match[1]) * _UNITS[match[2].upper()])


class Writer(Protocol):
    """Where predictions go: rows in order, a block at a time."""

    def write(self, rows: Any, labels: NDArray[Any], outputs: NDArray[Any] | None) -> None:
        """Add a block; a label of None is a row that could not be read."""

    def close(self) -> None:
        """Finish the file."""


class CsvWriter:
    """`row,label` (and `output`) lines; the delimiter follows the file's name.

    The header comes with the first block: input that is refused at once leaves no output.
    """

    def __init__(self, path: Path | None, with_outputs: bool) -> None:
        self._stream = sys.stdout if path is None else path.open("w", encoding="utf-8", newline="")
        self._owned = path is not None
        delimiter = "\t" if path is not None and ".tsv" in path.suffixes else ","
        self._lines = csv.writer(self._stream, delimiter=delimiter, lineterminator="\n")
        self._header = ["row", "label", *(["output"] if with_outputs else [])]

    def write(self, rows: Any, labels: NDArray[Any], outputs: NDArray[Any] | None) -> None:
        if self._header:
            self._lines.writerow(self._header)
            self._header = []
        named = {value: safe_cell(value) for value in set(labels.tolist()) - {None}}
        named[None] = ""
        cells = [named[value] for value in labels.tolist()]
        if outputs is None:
            self._lines.writerows(zip(rows, cells, strict=True))
        else:
            shown = ["" if np.isnan(value) else f"{value:.9g}" for value in outputs.tolist()]
            self._lines.writerows(zip(rows, cells, shown, strict=True))

    def close(self) -> None:
        self._stream.flush()
        if self._owned:
            self._stream.close()


class ParquetWriter:
    """The same columns as Parquet."""

    def __init__(self, path: Path, with_outputs: bool) -> None:
        columns = [("row", pa.int64()), ("label", pa.string())]
        if with_outputs:
            columns.append(("output", pa.float64()))
        self._schema = pa.schema(columns)
        self._file = pq.ParquetWriter(path, self._schema)

    def write(self, rows: Any, labels: NDArray[Any], outputs: NDArray[Any] | None) -> None:
        texts = [None if value is None else str(value) for value in labels.tolist()]
        columns: list[Any] = [pa.array(list(rows), pa.int64()), pa.array(texts, pa.string())]
        if outputs is not None:
            columns.append(pa.array(outputs, pa.float64(), from_pandas=True))
        self._file.write_batch(pa.record_batch(columns, schema=self._schema))

    def close(self) -> None:
        self._file.close()


def writer_for(path: Path | None, with_outputs: bool) -> Writer:
    """Choose a writer by the name of the file; None is standard output."""
    if path is not None and ".parquet" in path.suffixes:
        return ParquetWriter(path, with_outputs)
    return CsvWriter(path, with_outputs)
