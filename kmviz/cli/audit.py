"""`kmviz audit`: a fast model's answers beside those of the model that it replaces."""

from __future__ import annotations

import argparse

from kmviz.cli.accelerate import add_inputs, rows_for
from kmviz.cli.console import BadInput, Console
from kmviz.evaluation.audit import audit
from kmviz.io.storage import load
from kmviz.io.table import TableClassifier


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.description = (
        "Ask the model that a fast one replaces about a sample of rows. The exit code is 1 where "
        "more answers differ than was promised."
    )
    add_inputs(parser)
    parser.add_argument("--share", type=float, default=1.0, help="of the rows to audit")
    parser.add_argument("--seed", type=int, default=0, help="which rows those are")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, console: Console) -> int:
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
