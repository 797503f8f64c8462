"""Compiled loops: arrays in, arrays out, no classes.

Each has a plain NumPy twin that tests compare it with. They are compiled once, at set-up, by
`kmviz compile` (or `python -m kmviz.loops`), and kept on disk.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path

__all__ = ["compile_all", "modules", "warm"]


def modules() -> list[str]:
    """Return the modules that have loops to compile, the longest first."""
    files = sorted(Path(__file__).parent.glob("[!_]*.py"), key=lambda f: -f.stat().st_size)
    return [file.stem for file in files if hasattr(_module(file.stem), "warm")]


def warm(name: str) -> str:
    """Compile every loop of a module for the types in use; return its name."""
    _module(name).warm()
    return name


def compile_all(names: list[str]) -> Iterator[str]:
    """Compile the loops of these modules, a process for each core; give each name when done."""
    # what a compiler makes is kept to the end: looking for garbage in it takes a tenth of the time
    with ProcessPoolExecutor(mp_context=get_context("spawn"), initializer=gc.disable) as pool:
        yield from pool.map(warm, names)


def _module(name: str):
    return import_module(f"{__name__}.{name}")
