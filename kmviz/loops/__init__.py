"""Compiled loops: arrays in, arrays out, no classes.

Each has a plain NumPy twin that tests compare it with. They are compiled once, at set-up, by
`python -m kmviz.loops`, and kept on disk.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

__all__ = ["warm_up"]


def warm_up() -> list[str]:
    """Compile every loop for the types in use; return the modules that had any."""
    warmed = []
    for found in iter_modules(__path__):
        if found.name.startswith("__"):
            continue
        module = import_module(f"{__name__}.{found.name}")
        if hasattr(module, "warm"):
            module.warm()
            warmed.append(found.name)
    return warmed
