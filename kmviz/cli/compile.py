"""`kmviz compile`: every loop compiled now, so that no answer waits for a compiler."""

from __future__ import annotations

import argparse

from kmviz.cli.console import Console
from kmviz.loops import compile_all, modules
from kmviz.loops.cache import PACKAGE, folders
from kmviz.methods import progress


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.description = (
        "Compile every loop for this machine and keep the result on disk. Once after "
        "an installation: without it, the first answer of each method waits some seconds."
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, console: Console) -> int:
    """Compile, a process for each core."""
    names = modules()
    for done, name in enumerate(compile_all(names), start=1):
        progress.report(done / len(names), f"compiled the loops of {name}")
    if not folders():
        console.warn(
            "Nothing was kept: every folder for it can be written by others. Close "
            f"{PACKAGE} or your own cache folder to them."
        )
        return 1
    print(f"kept in     {folders()[0]}")
    return 0
