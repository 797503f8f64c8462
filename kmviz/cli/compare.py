"""`kmviz compare`: every method on one file, a row as soon as it is known."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import pandas as pd

from kmviz.cli import data as data_command
from kmviz.cli.console import Console
from kmviz.cli.files import safe_cell
from kmviz.cli.machine import machine
from kmviz.evaluation.advice import advice
from kmviz.evaluation.compare import as_table, compare_rows
from kmviz.io.whole import check_place, written_whole

SHOWN = {
    "accuracy": "{:.4f}", "disagreements": "{:.0f}", "disagreement_high": "{:.3%}",
    "steps_mean": "{:.1f}", "honest_speedup": "{:.1f}", "batch_ratio": "{:.1f}",
    "single_ratio": "{:.1f}", "batch_vs_blas": "{:.2f}", "single_vs_blas": "{:.2f}",
    "fit_seconds": "{:.2f}", "size_bytes": "{:,.0f}",
}  # fmt: skip


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.description = (
        "Train, ask and time every method and the usual alternatives on one file. "
        "Ratios are times faster than SVC.decision_function (and than its float32 BLAS form) in "
        "this run, in CPU time on one thread."
    )
    data_command.add_problem_options(parser)
    parser.add_argument("--methods", help="comma-separated names (default: all)")
    parser.add_argument("--no-time", action="store_true", help="leave the times out")
    parser.add_argument("--out", type=Path, help="write the whole table as CSV")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, console: Console) -> int:
    """Compare, print, advise; a run that is stopped keeps its finished rows in --out."""
    if options.out:
        check_place(options.out)
    given = data_command.read(options)
    data = given.data
    console.say(data.about)
    estimator = machine(options, scaled=given.encoder is not None and not options.no_scale)
    names = [n.strip() for n in options.methods.split(",")] if options.methods else None
    rows: dict[str, dict[str, Any]] = {}
    try:
        for name, row in compare_rows(
            estimator, data.X_train, data.y_train, data.X_test, data.y_test, names,
            time=not options.no_time,
        ):  # fmt: skip
            rows[name] = row
            if row["error"]:
                console.warn(f"{name} failed: {row['error']}")
    finally:
        if options.out and rows:
            _write(as_table(rows), options.out)
    table = as_table(rows)
    print(as_text(table))
    print()
    print(advice(table))
    return 0 if (table["error"] == "").any() else 1


def _write(table: pd.DataFrame, path: Path) -> None:
    safe = table.rename(index=safe_cell)
    safe["error"] = safe["error"].map(safe_cell)
    with written_whole(path) as place:
        safe.to_csv(place)


def as_text(table: pd.DataFrame) -> str:
    """Return the figures that fit a terminal, aligned."""
    shown = pd.DataFrame(index=table.index)
    for column, form in SHOWN.items():
        shown[column] = [
            "" if pd.isna(value) else form.format(value) for value in table[column].astype(float)
        ]
    if table["note"].any():
        shown["note"] = table["note"]
    sys.stdout.flush()
    return shown.to_string()
