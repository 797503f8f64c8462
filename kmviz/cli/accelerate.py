"""`kmviz accelerate` and `kmviz audit`: a stored model made fast, and looked at in its work."""

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
from kmviz.evaluation.audit import audit
from kmviz.io.storage import load, readable_bytes
from kmviz.io.table import TableClassifier
from kmviz.io.whole import written_whole


def add_to(commands: Any) -> None:
    """Declare both commands."""
    parser = commands.add_parser(
        "accelerate",
        help="make a stored model fast, with a promise",
        description="Read a fitted model, try what answers in its place on rows it has not seen, "
        "and store the fastest that keeps the promise. The rows need no labels.",
    )
    _add_inputs(parser)
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
    parser = commands.add_parser(
        "audit",
        help="compare a fast model's answers with those of the model it replaces",
        description="Ask the model that a fast one replaces about a sample of rows. The exit code "
        "is 1 where more answers differ than was promised.",
    )
    _add_inputs(parser)
    parser.add_argument("--share", type=float, default=1.0, help="of the rows to audit")
    parser.add_argument("--seed", type=int, default=0, help="which rows those are")
    parser.set_defaults(run=run_audit)


def _add_inputs(parser: argparse.ArgumentParser) -> None:
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


def run_audit(options: argparse.Namespace, console: Console) -> int:
    """Ask both, and say how often they differ."""
    model = load(options.model)
    inner = model.classifier if isinstance(model, TableClassifier) else model
    if not hasattr(inner, "promise_") and not hasattr(inner, "estimator_"):
        raise BadInput(
            f"{options.model.name} holds a {type(inner).__name__} and not the model that it "
            "replaces: store it with kmviz.save, and not slim."
        )
    found = audit(inner, rows_for(model, options.data), options.share, options.seed)
    print(found)
    if found.promised is not None:
        print(f"promised    {found.promised:.3%}")
    return 1 if found.exceeded else 0


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
