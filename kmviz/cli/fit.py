"""`kmviz fit`: train on a file, store a fast classifier together with how to read such files."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from kmviz.cli import data as data_command
from kmviz.cli.console import BadInput, Console
from kmviz.cli.files import bytes_of
from kmviz.cli.fit_partitioned import fit_partitioned
from kmviz.cli.machine import machine, method
from kmviz.cli.sample import LOCAL, SVM_ROWS, Sample, read_sample
from kmviz.cli.threads import interruptibly
from kmviz.datasets.content import MAX_BYTES
from kmviz.evaluation.accelerate import accelerate
from kmviz.evaluation.catalogue import settings
from kmviz.io.storage import readable_bytes
from kmviz.io.table import TableClassifier
from kmviz.io.whole import written_whole
from kmviz.methods import progress


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "fit",
        help="train a fast classifier on a file and store it",
        description="Train a method on a table and store it, with the table's encoding, as a "
        ".skops file. A share of the rows is held out to report what it gets right and what it "
        "answers differently from the exact machine.",
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
        help="as 500MB: read a Parquet, CSV or .npy file of any length, train within that much "
        "extra memory, on a uniform sample of the rows where not all fit (1GB for long files)",
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
        sample = _sample(options, console)
        progress.report(0.3, f"training {options.method} on {len(sample.y_train):,} rows")
        _warn_of_many(options, len(sample.y_train), console)
        with progress.part(0.3, 0.9):
            fitted = interruptibly(lambda: _trained(options, sample))
        progress.report(0.9, "storing")
        model = fitted if sample.encoder is None else TableClassifier(sample.encoder, fitted)
        place.write_bytes(readable_bytes(model))
    _report(options, sample, fitted)
    return 0


def _sample(options: argparse.Namespace, console: Console) -> Sample:
    place = Path(options.data)
    too_long = place.is_file() and place.stat().st_size > MAX_BYTES
    if options.memory or too_long or place.suffix == ".npy":
        sample = read_sample(options, bytes_of(options.memory or "1GB"))
    else:
        given = data_command.read(options)
        data = given.data
        console.say(data.about)
        sample = Sample(
            data.X_train, data.y_train, data.X_test, data.y_test, given.encoder,
            rows=len(data.X_train) + len(data.X_test),
        )  # fmt: skip
    if len(np.unique(sample.y_train)) < 2:
        raise BadInput("The training rows hold one class only; there is nothing to tell apart.")
    return sample


def _warn_of_many(options: argparse.Namespace, rows: int, console: Console) -> None:
    if rows > SVM_ROWS and options.method not in LOCAL:
        console.warn(
            f"note: one SVM on {rows:,} rows takes a time that grows with their square (hours, "
            "from some 50,000 on). --method falk trains many small ones; --memory trains on a "
            "sample. Ctrl-C stops at once."
        )


def _trained(options: argparse.Namespace, sample: Sample) -> Any:
    scaled = not options.no_scale and sample.is_table
    cache = sample.cache_megabytes
    if options.method == "auto":
        if options.set:
            raise BadInput("--set name=value is for a method by name: give --method too.")
        fitted = clone(machine(options, scaled, cache)).fit(sample.X_train, sample.y_train)
        if not len(sample.y_test):  # nothing to show a rate on
            return accelerate(fitted, sample.X_train[:1], method="exact")
        return accelerate(fitted, sample.X_test, max_disagreement=options.max_disagreement)
    return method(options, scaled, cache).fit(sample.X_train, sample.y_train)


def _report(options: argparse.Namespace, sample: Sample, fitted: Any) -> None:
    """The result, on standard output."""
    print(f"method      {type(fitted).__name__}")
    print(f"rows        {len(sample.y_train):,} to train on, of {sample.rows:,} in the file")
    if len(sample.y_test):
        answers = fitted.predict(sample.X_test)
        right = float(np.mean(answers == sample.y_test))
        print(f"accuracy    {right:.4f} on {len(sample.y_test):,} rows held out")
        last = fitted[-1] if hasattr(fitted, "named_steps") else fitted
        rows = fitted[:-1].transform(sample.X_test) if last is not fitted else sample.X_test
        if hasattr(last, "steps"):
            mean = float(np.mean(last.steps(rows)))
            print(f"steps       {mean:.1f} kernel values per query, mean")
    if getattr(fitted, "promise_", None) is not None:
        print(f"promise     {fitted.promise_}")
    print(f"stored      {options.out} ({options.out.stat().st_size:,} bytes)")
