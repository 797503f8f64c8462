"""Where results go, and cells that no spreadsheet takes for a formula."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
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


class Writer:
    """Where predictions go: a table of `row`, `label` (and `output`), a block at a time.

    CSV, TSV or Parquet by the name of the file; None is CSV on standard output. A header comes with
    the first block: input that is refused at once leaves no output.
    """

    def __init__(self, path: Path | None, with_outputs: bool) -> None:
        suffixes = [] if path is None else path.suffixes
        self._parquet = _parquet_writer(path, with_outputs) if ".parquet" in suffixes else None
        self._stream: Any = sys.stdout
        if path is not None and self._parquet is None:
            self._stream = path.open("w", encoding="utf-8", newline="")
        self._delimiter = "\t" if ".tsv" in suffixes else ","
        self._has_header = False

    def write(self, rows: Any, labels: NDArray[Any], outputs: NDArray[Any] | None) -> None:
        """Add a block; a label of None is a row that could not be read."""
        texts = pd.Series(labels, dtype=object).map(str, na_action="ignore")
        frame = pd.DataFrame({"row": np.asarray(rows, dtype=np.int64), "label": texts})
        if outputs is not None:
            frame["output"] = outputs
        if self._parquet is not None:
            block = pa.Table.from_pandas(frame, self._parquet.schema, preserve_index=False)
            self._parquet.write_table(block)
            return
        frame["label"] = texts.map(safe_cell, na_action="ignore")
        frame.to_csv(
            self._stream, sep=self._delimiter, index=False, header=not self._has_header,
            float_format="%.9g", lineterminator="\n",
        )  # fmt: skip
        self._has_header = True

    def close(self) -> None:
        """Finish the file."""
        if self._parquet is not None:
            self._parquet.close()
        self._stream.flush()
        if self._stream is not sys.stdout:
            self._stream.close()


def _parquet_writer(path: Path | None, with_outputs: bool) -> pq.ParquetWriter:
    columns = [("row", pa.int64()), ("label", pa.string())]
    if with_outputs:
        columns.append(("output", pa.float64()))
    return pq.ParquetWriter(path, pa.schema(columns))
