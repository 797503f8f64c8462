"""The speed tables: `make bench`, or `python benchmarks/run.py [--full] [NAME ...]`.

Every module beside this one that has `tables(quick)` contributes; each of its tables becomes
`benchmarks/results/NAME.csv` and `.md`, with the machine and the versions they were made on. A
table may be a function that makes it: it is then stored as soon as it is made, and `--table` makes
it alone. A table that `--full` stored is replaced only by `--full`; benchmarks with `ONE_SIZE` make
the same tables either way.
Times are CPU time on one thread and are only ever said as ratios within one run.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import sys
import time
from collections.abc import Callable
from importlib.metadata import distributions, version
from pathlib import Path
from types import ModuleType

import pandas as pd

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")
#: Named where they are installed.
PEERS = ("scikit-learn-intelex", "onnxruntime")


def names() -> list[str]:
    """Return the benchmarks beside this file."""
    return [
        path.stem
        for path in sorted(HERE.glob("*.py"))
        if path.stem not in ("run", "__init__") and "def tables(" in path.read_text("utf-8")
    ]


def load(name: str) -> ModuleType:
    """Import one benchmark."""
    parent = str(HERE.parent)  # kmviz of this checkout, and benchmarks that share code
    if parent not in sys.path:
        sys.path.insert(0, parent)
    path = HERE / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"benchmarks_{name}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def machine() -> str:
    """Return what the figures depend on: processor, system, versions."""
    from kmviz import __version__  # of this checkout: what was installed may say another

    there = {dist.name for dist in distributions()}
    named = (*PACKAGES, *(name for name in PEERS if name in there))
    versions = ", ".join([f"kmviz {__version__}", *(f"{name} {version(name)}" for name in named)])
    return f"{processor()}, {platform.system()}, Python {platform.python_version()}, {versions}"


def processor() -> str:
    """Return the processor's own name where the system tells it."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def store(name: str, table: pd.DataFrame, command: str, smaller: bool = False) -> None:
    """Write one table as CSV (command and machine in comment lines) and as Markdown.

    What a full run has stored is not replaced by a `smaller` table.
    """
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.csv"
    stored = path.read_text("utf-8").partition("\n")[0] if path.exists() else ""
    if smaller and " --full " in stored:
        print(f"{name} stays as `{stored[2:]}` stored it.", file=sys.stderr, flush=True)
        return
    named = any(label is not None for label in table.index.names)
    head = f"# {command}\n# {machine()}\n"
    text = table.to_csv(index=named, lineterminator="\n")
    path.write_text(head + text, encoding="utf-8")
    (RESULTS / f"{name}.md").write_text(
        f"# {name.replace('_', ' ')}\n\n{markdown(table.reset_index() if named else table)}\n"
        f"\nMade by `{command}` on {machine()}.\n",
        encoding="utf-8",
    )


def markdown(table: pd.DataFrame) -> str:
    """Return a frame as a Markdown table, numbers to three digits."""

    def cell(value: object) -> str:
        if isinstance(value, float):
            if value != value:
                return ""
            return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
        return str(value).replace("|", "\\|").replace("\n", " ")

    rows = [list(map(str, table.columns)), ["---"] * table.shape[1]]
    rows += [[cell(value) for value in row] for row in table.itertuples(index=False)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def run(only: list[str] | None = None, full: bool = False, table: str | None = None) -> int:
    """Run the benchmarks named (all of them by default); return 1 if one failed.

    With `table`, only the table of that name, or those whose names start so.
    """
    known = names()
    unknown = sorted(set(only or ()) - set(known))
    if unknown:
        raise ValueError(f"No benchmark {', '.join(unknown)}; known: {', '.join(known)}.")
    failed = False
    for name in only or known:
        cpu, start = spent(), time.perf_counter()
        print(f"{name} ...", file=sys.stderr, flush=True)
        try:
            module = load(name)
            sized = not getattr(module, "ONE_SIZE", False)
            command = f"python benchmarks/run.py{' --full' if full and sized else ''} {name}"
            for title, made in module.tables(quick=not full).items():
                if title.startswith(table or ""):
                    _make(title, made, command, sized and not full)
        except Exception as error:
            print(f"{name} failed: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            failed = True
            continue
        cpu, wall = spent() - cpu, time.perf_counter() - start
        print(f"{name}: {cpu:.0f} CPU s in {wall:.0f} s", file=sys.stderr, flush=True)
    return 1 if failed else 0


def spent() -> float:
    """Return the CPU seconds of this process and of those that it started and that have ended."""
    return sum(os.times()[:4])


def _make(
    title: str,
    made: pd.DataFrame | Callable[[], pd.DataFrame | None],
    command: str,
    smaller: bool,
) -> None:
    """Store and print one table; one whose data is not at hand is None, and left alone."""
    frame = made
    if not isinstance(made, pd.DataFrame):
        frame, command = made(), f"{command} --table {title}"
    if isinstance(frame, pd.DataFrame):
        store(title, frame, command, smaller)
        print(f"\n## {title}\n\n{markdown(frame.reset_index())}\n", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("only", nargs="*", metavar="NAME", help="these benchmarks only")
    parser.add_argument("--table", help="this table of theirs only, or those whose names start so")
    parser.add_argument("--full", action="store_true", help="larger data, more repeats")
    options = parser.parse_args()
    sys.exit(run(options.only or None, options.full, options.table))
