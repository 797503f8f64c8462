"""`kmviz export`: a stored classifier for where there is no Python."""

from __future__ import annotations

import argparse
from pathlib import Path

from kmviz.cli.accelerate import rows_for
from kmviz.cli.console import BadInput, Console
from kmviz.io.export import ExportError, export
from kmviz.io.storage import load
from kmviz.io.table import TableClassifier


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.description = (
        "Write an exact, reduced or tree classifier as one C99 file that needs the C "
        "library alone, or (not a tree) as ONNX, which takes skl2onnx. A file that would answer "
        "otherwise than the classifier is not written."
    )
    parser.add_argument("model", type=Path, help="a .skops file that kmviz.save wrote")
    parser.add_argument("out", type=Path, help="a file that ends in .c or .onnx")
    parser.add_argument(
        "--data", type=Path, help="rows that the model and its file must answer alike before the "
        "file is written (default: rows drawn around the model's vectors)",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, console: Console) -> int:
    """Load, compare, write, say so."""
    model = load(options.model)
    rows = None if options.data is None else rows_for(model, options.data)
    try:
        agreement = export(model, options.out, rows)
    except (ExportError, ImportError, TypeError) as error:
        raise BadInput(str(error)) from error
    print(f"written     {options.out}")
    print(f"compared    {agreement}")
    if isinstance(model, TableClassifier):
        print(f"columns     {', '.join(model.encoder.feature_names)}")
    return 0
