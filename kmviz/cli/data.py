"""`kmviz data list`, and the data that `fit` and `compare` take."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from kmviz import datasets
from kmviz.cli.console import BadInput, Console
from kmviz.datasets import Dataset, TableEncoder
from kmviz.machines.named import NAMES


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser("data", help="the embedded data sets")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="list")
    listing = verbs.add_parser("list", help="name, size and origin of each")
    listing.add_argument("--csv", action="store_true", help="as CSV instead of aligned text")
    listing.set_defaults(run=run)


def run(options: argparse.Namespace, console: Console) -> int:
    """Print the catalogue."""
    rows = []
    for name in datasets.names():
        data = datasets.load(name)
        rows.append(
            {
                "name": name,
                "train": len(data.X_train),
                "test": len(data.X_test),
                "features": data.X_train.shape[1],
                "classes": len(data.class_names),
                "options": ",".join(datasets.options(name)),
                "source": data.source,
            }
        )
    frame = pd.DataFrame(rows)
    print(frame.to_csv(index=False) if options.csv else frame.to_string(index=False), end="")
    if not options.csv:
        print()
    return 0


@dataclass(frozen=True)
class Given:
    """Training and test rows, and how a later table becomes such rows (None: it is numbers)."""

    data: Dataset
    encoder: TableEncoder | None


def add_problem_options(parser: argparse.ArgumentParser) -> None:
    """Declare what names the data and the machine, the same for every command."""
    parser.add_argument(
        "data", help="a CSV, TSV, JSON lines (both also as .gz), Parquet or Arrow file, or an "
        "embedded data set",
    )  # fmt: skip
    parser.add_argument("--target", help="the column to predict (default: found by its name)")
    parser.add_argument(
        "--test-share", type=float, default=0.3, help="share of a file's rows held out; 0 for none"
    )
    parser.add_argument("--pair", help="two digits of an embedded image set, as 3-8")
    parser.add_argument("--n", type=int, help="training rows of an embedded data set")
    parser.add_argument("--seed", type=_seed, default=0, help="a whole number from 0 up")
    machine = parser.add_argument_group("the machine")
    machine.add_argument("--kernel", choices=NAMES, default="rbf")
    machine.add_argument("--C", type=float, default=1.0)
    machine.add_argument("--gamma", default="scale", help="a number, or 'scale'")
    machine.add_argument("--degree", type=int, default=3)
    machine.add_argument(
        "--no-scale", action="store_true", help="take the columns of a file as they are"
    )


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 0 up")
    return int(text)


def read(options: argparse.Namespace) -> Given:
    """Read the file or load the embedded set that the options name."""
    is_file = Path(options.data).exists()
    if options.data in datasets.names() and not is_file:
        return Given(_embedded(options), None)
    if not is_file:
        raise BadInput(
            f"There is no file {options.data!r}, and no data set of that name in 'kmviz data list'."
        )
    refuse_embedded_options(options)
    data, encoder = datasets.encode_table(
        options.data, options.target, options.test_share, options.seed
    )
    return Given(data, encoder)


def refuse_embedded_options(options: argparse.Namespace) -> None:
    """Refuse what a file has no use for."""
    for option in ("pair", "n"):
        if getattr(options, option) is not None:
            raise BadInput(f"--{option} is for embedded data sets; leave it out with a file.")


def _embedded(options: argparse.Namespace) -> Dataset:
    if options.target is not None:
        raise BadInput(f"--target is for files; {options.data} has its classes. Leave it out.")
    chosen: dict[str, Any] = {"seed": options.seed, "n": options.n}
    if options.pair:
        try:
            first, second = map(int, options.pair.split("-"))
        except ValueError:
            raise BadInput(f"--pair takes two digits, as 3-8; got {options.pair!r}.") from None
        chosen["pair"] = (first, second)
    known = datasets.options(options.data)
    given = {name: value for name, value in chosen.items() if name in known and value is not None}
    if options.pair and "pair" not in known:
        raise BadInput(f"{options.data} has no pairs of digits; leave --pair out.")
    return datasets.load(options.data, **given).scaled()
