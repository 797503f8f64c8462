"""`kmviz accelerate`: a stored model made fast, with a promise."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pandas as pd

from kmviz.cli.console import BadInput, Console
from kmviz.cli.predict import plain_numbers
from kmviz.cli.threads import interruptibly
from kmviz.datasets import iter_frames
from kmviz.evaluation.accelerate import accelerate
from kmviz.io.storage import load, readable_bytes
from kmviz.io.table import TableClassifier
from kmviz.io.whole import written_whole


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.description = (
        "Read a fitted model, try what answers in its place on rows it has not seen, "
        "and store the fastest that keeps the promise. The rows need no labels."
    )
    add_inputs(parser)
    parser.add_argument("--out", type=Path, required=True, help="the .skops file to write")
    parser.add_argument("--method", default="auto", help="auto, or a method by name")
    parser.add_argument("--max-disagreement", type=float, default=0.001, metavar="RATE")
    parser.add_argument("--queries", choices=("batch", "single"), default="batch")
    parser.add_argument("--threshold", type=float, help="cut the score here, not at 0")
    parser.add_argument(
        "--tolerance", type=float, help="of a regressor's values, or of scores: --target score"
    )
    parser.add_argument("--target", choices=("label", "score"), default="label")
    parser.add_argument(
        "--slim", action="store_true", help="leave out the model itself: no audit, a smaller file"
    )
    parser.set_defaults(run=run)


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """Declare the stored model and the rows."""
    parser.add_argument("model", type=Path, help="a .skops file of kmviz.save or skops")
    parser.add_argument("data", type=Path, help="rows with the columns of the training table")


def run(options: argparse.Namespace, console: Console) -> int:
    """Read, try, store, report."""
    if options.out.suffix != ".skops":
        raise BadInput(f"--out names a .skops file; got {options.out.name!r}.")
    model = load(options.model)
    inner = model.classifier if isinstance(model, TableClassifier) else model
    rows = rows_for(model, options.data)
    with written_whole(options.out) as place:
        fast = interruptibly(lambda: _made_fast(inner, rows, options))
        kept = TableClassifier(model.encoder, fast) if inner is not model else fast
        place.write_bytes(readable_bytes(kept, slim=options.slim))
    print(f"method      {type(fast).__name__}")
    print(f"promise     {fast.promise_}")
    print(f"stored      {options.out} ({options.out.stat().st_size:,} bytes)")
    return 0


def _made_fast(model: Any, rows: Any, options: argparse.Namespace) -> Any:
    try:
        return accelerate(
            model, rows, options.method, options.max_disagreement, queries=options.queries,
            threshold=options.threshold, tolerance=options.tolerance, target=options.target,
        )  # fmt: skip
    except TypeError as error:  # no machine that can be read
        raise BadInput(str(error)) from error


def rows_for(model: Any, path: Path) -> Any:
    """Return the rows of a file as a model takes them: encoded, named, or plain numbers."""
    frame = pd.concat(list(iter_frames(path)))
    if isinstance(model, TableClassifier):
        return model.encoder.transform(frame)
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return plain_numbers(frame)
    absent = [str(name) for name in names if name not in frame.columns]
    if absent:
        raise BadInput(f"{path.name} has no column {', '.join(map(repr, absent[:5]))}.")
    return pd.DataFrame(plain_numbers(frame[list(names)]), columns=names)
