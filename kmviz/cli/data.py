"""`kmviz data list`, and the data that `fit` and `compare` take."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from kmviz import datasets
from kmviz.cli.console import BadInput, Console
from kmviz.datasets import Dataset, TableEncoder
from kmviz.datasets.content import MAX_BYTES, open_array
from kmviz.datasets.record import TooLarge, split_rows
from kmviz.machines.named import NAMES


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
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
        "data",
        help="a CSV or TSV (also as .gz), Parquet, Arrow or .npy file, or an embedded data set",
    )
    parser.add_argument(
        "--target",
        help="the column to predict (default: found by its name); the .npy file of classes",
    )
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


def read(options: argparse.Namespace, limit: int | None = None) -> Given:
    """Read the file, of at most `limit` bytes, or load the embedded set that the options name."""
    is_file = Path(options.data).exists()
    if options.data in datasets.names() and not is_file:
        return Given(_embedded(options), None)
    if not is_file:
        raise BadInput(
            f"There is no file {options.data!r}, and no data set of that name in 'kmviz data list'."
        )
    refuse_embedded_options(options)
    if Path(options.data).suffix == ".npy":
        return Given(_arrays(options, limit), None)
    data, encoder = datasets.encode_table(
        options.data, options.target, options.test_share, options.seed, limit
    )
    return Given(data, encoder)


def _arrays(options: argparse.Namespace, limit: int | None) -> Dataset:
    """Return the rows of a .npy file and the classes of another as a data set."""
    X, y = open_classes(options)
    if X.nbytes > (limit or MAX_BYTES):
        raise TooLarge(
            f"{options.data} is larger than {(limit or MAX_BYTES) / 2**20:,.3g} MB. Keep a sample "
            "of its rows and try again."
        )
    rows = np.asarray(X, dtype=np.float32)
    if not np.isfinite(rows).all():
        raise BadInput(f"{options.data} holds values that are not finite. Fill or remove them.")
    train, test = split_rows(y, len(y) - round(options.test_share * len(y)), options.seed)
    names = tuple(f"x{j + 1}" for j in range(rows.shape[1]))
    return Dataset(
        rows[train], y[train], rows[test], y[test], name=Path(options.data).stem,
        feature_names=names, class_names=tuple(map(str, np.unique(y))), image_shape=None,
        about=f"{len(y):,} rows of {options.data}.", source=options.data, licence="yours",
    )  # fmt: skip


def open_classes(options: argparse.Namespace) -> tuple[np.ndarray, np.ndarray]:
    """Map the rows of a .npy file, and the classes of the one that --target names."""
    X = open_array(options.data)
    if not options.target:
        raise BadInput("With a .npy file, --target names the .npy file that holds the classes.")
    place = Path(options.target)
    if not place.is_file():
        raise BadInput(f"There is no file {options.target!r} with the classes.")
    try:
        y = np.load(place, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        raise BadInput(f"{place.name} is not a plain .npy array: {error}") from error
    if y.shape != (len(X),):
        raise BadInput(f"{place.name} has shape {y.shape}; {len(X):,} classes are needed.")
    return X, y


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
