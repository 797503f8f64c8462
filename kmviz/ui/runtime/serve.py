"""Start the app with everything imported: the first visitor does not wait for it.

    python -m kmviz.ui.runtime.serve app.py --server.port 8501

takes what `streamlit run` takes. Imports, and what each process does but once, come before the port
opens. What the pages open with is computed in the background as soon as it is open.

Two things that Streamlit does after every run of a page cost a class as much as the page. It looks
for garbage among all objects: here Python does, when there are many new ones, and leaves those of
the imports aside. It looks whether a source has changed: `--server.fileWatcherType auto` is for
those who write one.
"""

from __future__ import annotations

import ctypes
import gc
import inspect
import logging
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from pkgutil import walk_packages
from threading import Thread

from streamlit.web.cli import main

from kmviz import loops, ui
from kmviz.io import storage
from kmviz.kernels import Linear
from kmviz.ui.handout import METHODS
from kmviz.ui.plane import plane
from kmviz.ui.runtime import jobs
from kmviz.ui.runtime.problem import load_chosen, trained
from kmviz.ui.shell import menu, url

logger = logging.getLogger(__name__)
MNIST = {"data": "mnist", "pair": "3-8"}

#: Seconds after which free memory is given back.
GIVE_BACK = 10.0
_ASIDE = ("kmviz.ui.runtime.serve",)
_M_ARENA_MAX = -8  # of malloc.h
_QUIET = ("--server.fileWatcherType", "none", "--runner.postScriptGC", "false")


def preload() -> None:
    """Import all that any page imports, and do what the first page would be the first to do."""
    for module in walk_packages(ui.__path__, f"{ui.__name__}."):
        if module.name not in _ASIDE:
            import_module(module.name)
    import_module("streamlit.emojis")  # which the first page icon is looked up in
    inspect.stack()  # Streamlit looks once who called it: now Python knows where all sources are
    storage.dumps(Linear())  # the first file imports what writes files
    loops.warm("kernel")  # the first compiled loop that is read takes a second, the others none


def share_heaps() -> None:
    """Let all threads take memory from two heaps, and give back again and again what is free there.

    One heap for each thread would never shrink, and two shrink by themselves at their ends alone:
    what a class of visitors leaves free between things that are kept would stay with the server.
    """
    if sys.platform == "linux" and hasattr(library := ctypes.CDLL(None), "malloc_trim"):  # of glibc
        library.mallopt(_M_ARENA_MAX, 2)
        Thread(target=_give_back, args=(library.malloc_trim,), daemon=True).start()


def _give_back(trim: Callable[[int], int]) -> None:
    while True:
        time.sleep(GIVE_BACK)
        trim(0)


def compute_openings() -> None:
    """Compute what each page opens with, then with MNIST: data, SVM, fitted method and study."""
    for view in ({}, MNIST):
        for page in (one for one in menu.PAGES if one.opening):
            try:
                jobs.in_background(partial(compute_opening, page, view))
            except Exception:  # a visitor of that page meets it, and is told
                logger.exception("The opening view of %s could not be computed.", page.title)


def compute_opening(page: menu.Page, view: Mapping[str, str]) -> None:
    """Compute one page's view, given as a URL would say it."""
    method = METHODS.get(page.title)
    values = url.values_of(view, page.opening, method.own if method else ())
    problem = trained(load_chosen(values), values)
    plane(problem)
    if method is not None:
        method.view(problem, values)


if __name__ == "__main__":
    share_heaps()
    preload()
    gc.freeze()
    Thread(target=compute_openings, daemon=True, name="kmviz-openings").start()
    sys.argv = ["streamlit", "run", *_QUIET, *sys.argv[1:]]
    main()
