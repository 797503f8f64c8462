"""Compiled loops: arrays in, arrays out, no classes.

Each has a plain NumPy twin that tests compare it with. They are compiled once, at set-up, by
`python -m kmviz.loops`, and kept on disk.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

__all__ = ["modules", "warm"]


def modules() -> list[str]:
    """Return the modules that have loops to compile, the longest first."""
    files = sorted(Path(__file__).parent.glob("[!_]*.py"), key=lambda f: -f.stat().st_size)
    return [file.stem for file in files if hasattr(_module(file.stem), "warm")]


def warm(name: str) -> str:
    """Compile every loop of a module for the types in use; return its name."""
    _module(name).warm()
    return name


def _module(name: str):
    return import_module(f"{__name__}.{name}")
