"""The papers' tables, made again: `make papers`, or `python -m kmviz.papers.run [--full]`.

Each table becomes `benchmarks/papers/NAME.csv`, below a line with the command that made it. A
table that `--full` stored is replaced only by `--full`.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path

import pandas as pd

from kmviz import papers
from kmviz.io.places import tables_folder
from kmviz.io.whole import written_whole
from kmviz.methods import progress

COMMAND = "python -m kmviz.papers.run"


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the tables that are named, all by default; return 1 if one failed.

    A quick run prints what it makes but leaves a stored table of a full run as it is.
    """
    options = parser().parse_args(arguments)
    try:
        names = matching(options.only)
    except ValueError as error:
        parser().error(str(error))
    if options.list:
        print("\n".join(names))
        return 0
    options.out.mkdir(parents=True, exist_ok=True)
    make = make_side_by_side if options.jobs > 1 else make_all
    failures = make(names, options.out, options.full, options.jobs)
    for text in failures:
        print(text, file=sys.stderr, flush=True)
    return 1 if failures else 0


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    made = argparse.ArgumentParser(prog=COMMAND, description=__doc__.split("\n")[0])
    made.add_argument("--only", nargs="+", metavar="NAME", help="these tables or papers")
    made.add_argument(
        "--full", action="store_true", help="near the papers' own sizes: hours of CPU"
    )
    made.add_argument("--jobs", type=int, default=1, help="papers at once, a process for each")
    made.add_argument("--list", action="store_true", help="name the tables and stop")
    made.add_argument("--out", type=Path, default=tables_folder(), help="folder for the tables")
    return made


def matching(only: list[str] | None) -> list[str]:
    """Return the names of the tables that `only` names, one by one or by their paper."""
    names = papers.names()
    if not only:
        return names
    found = [name for name in names if any(name == o or name.startswith(f"{o}_") for o in only)]
    if not found:
        raise ValueError(f"No table matches {' '.join(only)}; choose among {', '.join(names)}.")
    return found


def make_side_by_side(names: list[str], folder: Path, full: bool, jobs: int) -> list[str]:
    """Make each paper's tables, which share their machines, in a process of its own."""
    groups = [[name for name in names if name in tables] for tables in papers.by_paper().values()]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        work = [pool.submit(make_all, group, folder, full) for group in groups if group]
        return [text for done in work for text in done.result()]


def make_all(names: list[str], folder: Path, full: bool, jobs: int = 1) -> list[str]:
    """Make tables one after another; return a line for each that failed."""
    failures = []
    for name in names:
        start, clock_start = time.process_time(), time.monotonic()
        try:
            table = papers.table(name, full=full, progress=progress.report)
        except Exception as error:
            failures.append(f"{name} failed: {type(error).__name__}: {error}")
            continue
        seconds, clock = time.process_time() - start, time.monotonic() - clock_start
        store(table, folder / f"{name}.csv", name, full)
        took = f"{seconds:.0f} CPU seconds, {clock:.0f} by the clock, {datetime.now(UTC):%H:%M} UTC"
        print(f"\n{name} ({took})\n{table.to_string()}", flush=True)
    return failures


def store(table: pd.DataFrame, path: Path, name: str, full: bool) -> None:
    """Write a table as CSV below a line with the command that made it; keep that of a full run."""
    if not full and is_full(path):
        return
    command = f"{COMMAND} --only {name}{' --full' if full else ''}"
    if os.environ.get("KMVIZ_DATA"):  # larger data, official splits: some tables read them
        command = f"KMVIZ_DATA=... {command}"
    named = any(label is not None for label in table.index.names)
    with written_whole(path) as place:
        text = table.to_csv(index=named, lineterminator="\n")
        place.write_text(f"# {command}\n{text}", encoding="utf-8")


def is_full(path: Path) -> bool:
    """Return True if a full run made the stored table."""
    if not path.is_file():
        return False
    with path.open(encoding="utf-8") as stored:
        return stored.readline().rstrip().endswith("--full")


if __name__ == "__main__":
    sys.exit(main())
