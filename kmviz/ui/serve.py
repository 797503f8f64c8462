"""Start the app with everything imported: the first visitor does not wait for it.

    python -m kmviz.ui.serve app.py --server.port 8501

takes what `streamlit run` takes. What comes before the port opens is imports alone; what the pages
open with is made by `python -m kmviz.ui.warm`, once.

Two things that Streamlit does after every run of a page cost a class as much as the page. It looks
for garbage among all objects: here Python does, when there are many new ones, and leaves those of
the imports aside. It looks whether a source has changed: `--server.fileWatcherType auto` is for
those who write one.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from importlib import import_module
from pkgutil import iter_modules

from streamlit.web.cli import main

from kmviz import ui

_ASIDE = ("kmviz.ui.serve", "kmviz.ui.warm")
_M_ARENA_MAX = -8  # of malloc.h
_QUIET = ("--server.fileWatcherType", "none", "--runner.postScriptGC", "false")


def preload() -> None:
    """Import all that any page imports."""
    for module in iter_modules(ui.__path__, f"{ui.__name__}."):
        if module.name not in _ASIDE:
            import_module(module.name)


def share_heaps() -> None:
    """Let all threads take memory from two heaps: one of each thread's own would never shrink."""
    if sys.platform == "linux" and hasattr(library := ctypes.CDLL(None), "mallopt"):
        library.mallopt(_M_ARENA_MAX, 2)


if __name__ == "__main__":
    share_heaps()
    preload()
    gc.freeze()
    sys.argv = ["streamlit", "run", *_QUIET, *sys.argv[1:]]
    main()
