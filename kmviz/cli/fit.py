"""`kmviz fit`: train on a file, store a fast classifier together with how to read such files."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from kmviz.cli import data as data_command
from kmviz.cli.console import BadInput, Console
from kmviz.cli.data import Given
from kmviz.cli.files import bytes_of
from kmviz.cli.fit_partitioned import fit_partitioned
from kmviz.cli.machine import machine, method
from kmviz.cli.threads import interruptibly
from kmviz.datasets import Dataset
from kmviz.datasets.record import TooLarge
from kmviz.evaluation.accelerate import accelerate
from kmviz.io.storage import readable_bytes
from kmviz.io.table import TableClassifier
from kmviz.io.whole import written_whole
from kmviz.methods import progress
from kmviz.methods.register import settings

#: Methods that train no machine on all rows.
LOCAL = ("falk", "falk_100", "knnsvm")

#: Rows from which training one SVM takes minutes or hours.
SVM_ROWS = 20_000

#: Megabytes of the kernel rows that libsvm keeps, and their share of a memory limit.
CACHE, CACHE_SHARE = 200.0, 0.2

#: A file may take this part of a memory limit; as numbers, and in training, it takes more.
FILE_SHARE = 8

EVERY_ROW = "--method falk --out model.falk uses every row of a file of any length."


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.description = (
        "Train a method on a table and store it, with the table's encoding, as a "
        ".skops file. A share of the rows is held out to report what it gets right and what it "
        "answers differently from the exact machine."
    )
    data_command.add_problem_options(parser)
    parser.add_argument(
        "--method", choices=("auto", *settings()), default="auto",
        help="auto (the default) tries several and keeps the fastest that keeps the promise",
    )  # fmt: skip
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE",
        help="a parameter of the method, as window=50; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--max-disagreement", type=float, default=0.001, metavar="RATE",
        help="what --method auto promises at most (held-out rows prove it)",
    )  # fmt: skip
    parser.add_argument(
        "--memory", metavar="SIZE",
        help="as 500MB: train within that much extra memory, or refuse a file that does not fit "
        "(1GB for a .falk file, which fits always)",
    )  # fmt: skip
    parser.add_argument(
        "--out", type=Path, required=True,
        help="the .skops file to write; with --method falk also a .falk "
        "file, for which every row is used however long the data; a run that was ended continues",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, console: Console) -> int:
    """Read, train, report, store."""
    if options.out.suffix == ".falk":
        return fit_partitioned(options, console)
    if options.out.suffix != ".skops":
        raise BadInput(f"--out names a .skops file; got {options.out.name!r}.")
    with written_whole(options.out) as place:
        memory = bytes_of(options.memory) if options.memory else None
        given = _read(options, memory, console)
        progress.report(0.3, f"training {options.method} on {len(given.data.y_train):,} rows")
        _warn_of_many(options, len(given.data.y_train), console)
        with progress.part(0.3, 0.9):
            fitted = interruptibly(lambda: _trained(options, given, memory))
        progress.report(0.9, "storing")
        model = fitted if given.encoder is None else TableClassifier(given.encoder, fitted)
        place.write_bytes(readable_bytes(model))
    _report(options, given.data, fitted)
    return 0


def _read(options: argparse.Namespace, memory: int | None, console: Console) -> Given:
    """Read the data; refuse what does not fit, and say what takes every row."""
    try:
        given = data_command.read(options, max(memory // FILE_SHARE, 1) if memory else None)
    except TooLarge as error:
        raise BadInput(f"{error} {EVERY_ROW}") from error
    rows, columns = given.data.X_train.shape
    if memory and rows > (most := rows_within(memory, columns, options.method in LOCAL)):
        raise BadInput(
            f"{options.data} has {rows:,} rows to train on; --memory {options.memory} holds "
            f"{most:,} of them for --method {options.method}. Give more memory or a sample of the "
            f"rows. {EVERY_ROW}"
        )
    console.say(given.data.about)
    if len(np.unique(given.data.y_train)) < 2:
        raise BadInput("The training rows hold one class only; there is nothing to tell apart.")
    return given


def rows_within(memory: int, n_features: int, is_local: bool) -> int:
    """Return how many rows a method can be trained on within `memory` bytes.

    A row is held in float32 and, while a machine is trained on it, up to five more times in
    float64; local models add neighbour lists and a search tree. Methods on one machine compare
    every row with every support vector, in the worst case with every row, three times over.
    """
    per_row = 48 * n_features + (400 if is_local else 200)
    rows = int(memory * (1 - CACHE_SHARE) / 2 / per_row)
    return rows if is_local else min(rows, int((memory / 48) ** 0.5))


def _warn_of_many(options: argparse.Namespace, rows: int, console: Console) -> None:
    if rows > SVM_ROWS and options.method not in LOCAL:
        console.warn(
            f"note: one SVM on {rows:,} rows takes a time that grows with their square (hours, "
            "from some 50,000 on). --method falk trains many small ones. Ctrl-C stops at once."
        )


def _trained(options: argparse.Namespace, given: Given, memory: int | None) -> Any:
    data, is_array = given.data, Path(options.data).suffix == ".npy"
    scaled = not options.no_scale and not is_array
    cache = CACHE if memory is None else min(CACHE, max(1.0, CACHE_SHARE * memory / 2**20))
    if options.method == "auto":
        if options.set:
            raise BadInput("--set name=value is for a method by name: give --method too.")
        fitted = clone(machine(options, scaled, cache)).fit(data.X_train, data.y_train)
        if not len(data.y_test):  # nothing to show a rate on
            return accelerate(fitted, data.X_train[:1], method="exact")
        return accelerate(fitted, data.X_test, max_disagreement=options.max_disagreement)
    return method(options, scaled, cache).fit(data.X_train, data.y_train)


def _report(options: argparse.Namespace, data: Dataset, fitted: Any) -> None:
    """The result, on standard output."""
    print(f"method      {type(fitted).__name__}")
    print(f"rows        {len(data.y_train):,} to train on")
    if len(data.y_test):
        answers = fitted.predict(data.X_test)
        right = float(np.mean(answers == data.y_test))
        print(f"accuracy    {right:.4f} on {len(data.y_test):,} rows held out")
        last = fitted[-1] if hasattr(fitted, "named_steps") else fitted
        rows = fitted[:-1].transform(data.X_test) if last is not fitted else data.X_test
        if hasattr(last, "steps"):
            mean = float(np.mean(last.steps(rows)))
            print(f"steps       {mean:.1f} kernel values per query, mean")
    if getattr(fitted, "promise_", None) is not None:
        print(f"promise     {fitted.promise_}")
    print(f"stored      {options.out} ({options.out.stat().st_size:,} bytes)")
