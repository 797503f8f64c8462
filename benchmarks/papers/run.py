"""`kmviz papers` and `kmviz bench`: the stored tables, made again."""

from __future__ import annotations

import argparse
import importlib.util
import os
import time
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pandas as pd

from kmviz.cli.console import BadInput, Console
from kmviz.evaluation import papers
from kmviz.io.places import checkout
from kmviz.io.whole import written_whole
from kmviz.methods import progress


def add_to(commands: Any) -> None:
    """Declare both commands."""
    parser = commands.add_parser(
        "papers",
        help="the papers' tables, ours beside theirs",
        description="Make the papers' tables again and store them as CSV.",
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these tables or papers")
    parser.add_argument(
        "--full", action="store_true", help="nearer the papers' own sizes: hours of CPU"
    )
    parser.add_argument("--jobs", type=int, default=1, help="papers at once, a process for each")
    parser.add_argument("--list", action="store_true", help="name the tables and stop")
    parser.add_argument("--out", type=Path, help="folder (default: the checkout's own)")
    parser.set_defaults(run=run_papers)
    parser = commands.add_parser(
        "bench",
        help="the speed tables",
        description="Make the speed tables: ratios in one run, CPU time on one thread.",
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these benchmarks")
    parser.add_argument("--full", action="store_true", help="larger data, more repeats")
    parser.set_defaults(run=run_bench)


def run_papers(options: argparse.Namespace, console: Console) -> int:
    """Make each table, print it, store it; one that fails does not stop the others.

    A quick run prints what it makes but leaves a stored table of a full run as it is.
    """
    names = _chosen(options.only)
    if options.list:
        print("\n".join(names))
        return 0
    folder = options.out or _stored()
    folder.mkdir(parents=True, exist_ok=True)
    if options.jobs > 1:
        failed = _side_by_side(names, folder, options.full, options.jobs)
    else:
        failed = _make(names, folder, options.full)
    for text in failed:
        console.warn(text)
    return 1 if failed else 0


def _side_by_side(names: list[str], folder: Path, full: bool, jobs: int) -> list[str]:
    """Make each paper's tables, which share their machines, in a process of its own."""
    groups = [[name for name in names if name in own] for own in papers.by_paper().values()]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        work = [pool.submit(_make, group, folder, full) for group in groups if group]
        return [text for done in work for text in done.result()]


def _make(names: list[str], folder: Path, full: bool) -> list[str]:
    """Make tables; return what is to be said of those that failed."""
    failed = []
    for done, name in enumerate(names):
        start, began = time.process_time(), time.monotonic()
        with progress.part(done / len(names), (done + 1) / len(names), name):
            try:
                table = papers.table(name, full=full, progress=progress.report)
            except Exception as error:
                failed.append(f"{name} failed: {type(error).__name__}: {error}")
                continue
        seconds, clock = time.process_time() - start, time.monotonic() - began
        _store(table, folder / f"{name}.csv", name, full)
        took = f"{seconds:.0f} CPU seconds, {clock:.0f} by the clock, {datetime.now(UTC):%H:%M} UTC"
        print(f"\n{name} ({took})\n{table.to_string()}", flush=True)
    return failed


def _stored() -> Path:
    root = checkout()
    if root is None:
        raise BadInput("This is no checkout: name a folder for the tables with --out.")
    return root / "benchmarks" / "papers"


def _chosen(only: list[str] | None) -> list[str]:
    known = papers.names()
    if not only:
        return known
    chosen = [name for name in known if any(name == o or name.startswith(f"{o}_") for o in only)]
    if not chosen:
        raise BadInput(f"No table matches {' '.join(only)}; known: {', '.join(known)}.")
    return chosen


def _store(table: pd.DataFrame, path: Path, name: str, full: bool) -> None:
    """Write a table as CSV below a line with the command that made it; keep that of a full run."""
    if not full and _is_full(path):
        return
    command = f"python -m kmviz papers --only {name}{' --full' if full else ''}"
    if os.environ.get("KMVIZ_DATA"):  # larger data, official splits: some tables read them
        command = f"KMVIZ_DATA=... {command}"
    named = any(label is not None for label in table.index.names)
    with written_whole(path) as place:
        text = table.to_csv(index=named, lineterminator="\n")
        place.write_text(f"# {command}\n{text}", encoding="utf-8")


def _is_full(path: Path) -> bool:
    """Whether a full run made the table that is stored."""
    if not path.is_file():
        return False
    with path.open(encoding="utf-8") as stored:
        return stored.readline().rstrip().endswith("--full")


def run_bench(options: argparse.Namespace, console: Console) -> int:
    """Run benchmarks/run.py of the checkout."""
    root = checkout()
    if root is None:
        raise BadInput("The benchmarks are part of the source tree; run this in a checkout.")
    spec = importlib.util.spec_from_file_location(
        "kmviz_benchmarks", root / "benchmarks" / "run.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.run(options.only, full=options.full)
