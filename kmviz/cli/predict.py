"""`kmviz predict`: label a file of any length, a block of rows at a time."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pandas.api.types import is_numeric_dtype

from kmviz.cli.console import BadInput, Console
from kmviz.cli.files import Writer, bytes_of
from kmviz.datasets import DataError, TableEncoder, iter_frames
from kmviz.datasets.content import open_array
from kmviz.io.storage import load
from kmviz.io.table import TableClassifier
from kmviz.io.whole import written_whole
from kmviz.methods.falk import PartitionedFaLK


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.description = (
        "Label the rows of a CSV, TSV, Parquet, Arrow or .npy file of any length. "
        "Rows keep their order; the output names each by its number in the input."
    )
    parser.add_argument(
        "model", type=Path, help="a .skops or .falk file that 'fit' or kmviz.save wrote"
    )
    parser.add_argument("data", type=Path, help="rows with the columns of the training table")
    parser.add_argument(
        "--out", type=Path, help="CSV, TSV or Parquet by its name (default: CSV to stdout)"
    )
    parser.add_argument(
        "--on-error",
        choices=("stop", "skip"),
        default="stop",
        help="a bad row ends the run and leaves no output (stop), or gets an empty label and a "
        "message with its number (skip)",
    )
    parser.add_argument("--decision", action="store_true", help="write the output f(x) as well")
    parser.add_argument("--memory", metavar="SIZE", default="256MB", help="for rows, as 500MB")
    parser.add_argument(
        "--chunk", type=int, metavar="ROWS", help="rows at a time (default: what --memory holds)"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, console: Console) -> int:
    """Stream, label, write; nothing is left behind unless all of it could be written."""
    if options.chunk is not None and options.chunk < 1:
        raise BadInput(f"--chunk takes a number of rows from 1 up; got {options.chunk}.")
    memory = bytes_of(options.memory)
    model = load(options.model)
    if not hasattr(model, "predict"):
        raise BadInput(f"{options.model.name} holds a {type(model).__name__}, not a classifier.")
    options.chunk = options.chunk or _rows_within(memory, model)
    _keep_boxes_within(memory // 2, model)
    whole = written_whole(options.out) if options.out else nullcontext(None)
    with whole as place:
        writer = Writer(place, options.decision)
        try:
            counts = _label(model, options, writer, console)
        finally:
            writer.close()
    bad = f", {counts.bad:,} of them without a label" if counts.bad else ""
    console.say(f"{counts.rows:,} rows labelled{bad}")
    return 0


def _rows_within(memory: int, model: Any) -> int:
    """How many rows a memory limit holds: as text, as numbers, and as answers are computed."""
    clf = _classifier_of(model)
    width = int(getattr(clf, "n_features_in_", 100))
    # each block of rows opens boxes anew: few long ones
    most = 1_000_000 if isinstance(clf, PartitionedFaLK) else 10_000
    return int(np.clip(memory // (128 * width + 512), 1, most))


def _keep_boxes_within(memory: int, model: Any) -> None:
    """Let partitioned local models keep no more of their boxes in memory than that."""
    clf = _classifier_of(model)
    if isinstance(clf, PartitionedFaLK):
        clf.set_params(memory=memory)


def _classifier_of(model: Any) -> Any:
    """Return the classifier behind a table's encoder and a scaler."""
    clf = model.classifier if isinstance(model, TableClassifier) else model
    return clf[-1] if hasattr(clf, "named_steps") else clf


@dataclass
class _Counts:
    rows: int = 0
    bad: int = 0


def _label(model: Any, options: argparse.Namespace, writer: Writer, console: Console) -> _Counts:
    counts = _Counts()
    for block in _blocks(options.data, model, options.chunk, options.on_error):
        for row, message in sorted(block.bad.items()):
            counts.bad += 1
            if counts.bad <= 20:
                console.warn(f"row {row} skipped: {message}")
            elif counts.bad == 21:
                console.warn("more rows are skipped; they are counted at the end")
        numbers, labels, outputs = _answers(model, block, options.decision)
        writer.write(numbers, labels, outputs)
        counts.rows += len(numbers)
        console.progress(block.share, f"{counts.rows:,} rows")
    if not counts.rows:  # a header all the same
        writer.write([], np.empty(0, dtype=object), np.empty(0) if options.decision else None)
    return counts


@dataclass
class _Block:
    """Rows that could be read, with their numbers, and those that could not."""

    X: NDArray[Any]
    numbers: NDArray[np.intp]
    share: float = 0.0  # of the file that is read, about
    bad: dict[int, str] = field(default_factory=dict)


def _answers(
    model: Any, block: _Block, decision: bool
) -> tuple[list[int], NDArray[Any], NDArray[Any] | None]:
    """Labels (and outputs) of every row of a block in file order, None for the bad ones."""
    inner = model.classifier if isinstance(model, TableClassifier) else model
    numbers = np.concatenate([block.numbers, np.fromiter(block.bad, dtype=np.intp)])
    labels = np.full(len(numbers), None, dtype=object)
    good = len(block.numbers)
    if good:
        answers = inner.predict(block.X)
        labels[:good] = model.names_of(answers) if isinstance(model, TableClassifier) else answers
    outputs = None
    if decision:
        outputs = np.full(len(numbers), np.nan)
        outputs[:good] = _single_output(inner, block.X) if good else []
    order = np.argsort(numbers, kind="stable")
    return numbers[order].tolist(), labels[order], None if outputs is None else outputs[order]


def _single_output(clf: Any, X: NDArray[Any]) -> NDArray[Any]:
    if not hasattr(clf, "decision_function"):
        raise BadInput(f"{type(clf).__name__} has no decision function; leave --decision out.")
    output = clf.decision_function(X)
    return output if output.ndim == 1 else output.max(axis=1)


def _blocks(path: Path, model: Any, rows: int, on_error: str) -> Iterator[_Block]:
    encoder = model.encoder if isinstance(model, TableClassifier) else None
    taken: dict[int, str] = {}
    on_bad = taken.__setitem__ if on_error == "skip" else None
    done, expected = 0, 0.0
    for frame in iter_frames(path, rows, on_bad):
        expected = expected or _expected_rows(path, frame)
        block = _encoded(frame, encoder, on_error)
        block.bad |= {row: taken.pop(row) for row in sorted(taken)}
        done += len(frame)
        block.share = min(done / expected, 1.0)
        yield block
    if taken:  # bad rows at the very end
        empty = np.empty((0, 1))
        yield _Block(empty, np.empty(0, dtype=np.intp), bad=taken)


def _expected_rows(path: Path, frame: pd.DataFrame) -> float:
    """Return about how many rows a file has, for progress only."""
    if path.suffix == ".parquet":
        return max(pq.read_metadata(path).num_rows, 1)
    if path.suffix == ".npy":
        return len(open_array(path))
    sample = frame.head(100)
    text = sample.to_csv(index=False, header=False)
    return max(path.stat().st_size * len(sample) / max(len(text), 1), 1.0)


def _encoded(frame: pd.DataFrame, encoder: TableEncoder | None, on_error: str) -> _Block:
    """A frame as a matrix; with 'skip', the rows that cannot be encoded apart."""
    encode = plain_numbers if encoder is None else encoder.transform
    numbers = frame.index.to_numpy(dtype=np.intp)
    try:
        return _Block(encode(frame), numbers)
    except DataError as error:
        if on_error == "stop" or len(frame) == 0:
            raise
        if len(frame) == 1:
            return _Block(np.empty((0, 1)), numbers[:0], bad={int(numbers[0]): str(error)})
    if encoder is not None and not set(encoder.columns) <= set(frame.columns):
        encoder.transform(frame)  # no single row is to blame: raise for all of them
    half = len(frame) // 2
    parts = [_encoded(part, encoder, on_error) for part in (frame[:half], frame[half:])]
    good = [part for part in parts if len(part.numbers)]
    X = np.concatenate([part.X for part in good]) if good else np.empty((0, 1))
    kept = np.concatenate([part.numbers for part in parts])
    return _Block(X, kept, bad=parts[0].bad | parts[1].bad)


def plain_numbers(frame: pd.DataFrame) -> NDArray[Any]:
    """Every column as numbers: for classifiers that were stored without a table's encoder."""
    if all(map(is_numeric_dtype, frame.dtypes)):
        X = frame.to_numpy(dtype=float)
    else:
        columns = [pd.to_numeric(frame[name].astype(object), errors="coerce") for name in frame]
        X = np.column_stack([column.to_numpy(dtype=float) for column in columns])
    bad = ~np.isfinite(X).all(axis=1)
    if bad.any():
        row = int(frame.index[int(np.argmax(bad))])
        column = frame.columns[int(np.argmax(~np.isfinite(X[np.argmax(bad)])))]
        raise DataError(f"Row {row} of column {column!r} is not a number.")
    return X
