"""`kmviz export`: a stored classifier for where there is no Python."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from kmviz.cli.console import BadInput, Console
from kmviz.io.export import ExportError, export
from kmviz.io.storage import load
from kmviz.io.table import TableClassifier


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "export",
        help="write a stored classifier as C99 or ONNX",
        description="Write an exact, reduced or tree classifier as one C99 file that needs the C "
        "library alone, or (not a tree) as ONNX, which takes skl2onnx.",
    )
    parser.add_argument("model", type=Path, help="a .skops file that kmviz.save wrote")
    parser.add_argument("out", type=Path, help="a file that ends in .c or .onnx")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, console: Console) -> int:
    """Load, write, say so."""
    model = load(options.model)
    try:
        export(model, options.out)
    except (ExportError, ImportError, TypeError) as error:
        raise BadInput(str(error)) from error
    print(f"written     {options.out}")
    if isinstance(model, TableClassifier):
        print(f"columns     {', '.join(model.encoder.feature_names)}")
    return 0
