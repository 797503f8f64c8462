"""Make what the pages open with, once, so that no visitor waits for it.

    python -m kmviz.ui.warm

opens every page as a visitor would: with its own opening view, with MNIST, 3 against 8, and with
the views of all lessons. What takes long is kept on disk (`kmviz.ui.store`), where the app finds
it; a second call has nothing to do.
"""

from __future__ import annotations

import logging
import sys
import time

from streamlit.testing.v1 import AppTest

from kmviz.io.places import app_folder
from kmviz.lessons import load, names
from kmviz.ui import menu, store

_LONGEST = 600


def views(page: menu.Page, lessons: bool = True) -> dict[str, dict[str, str]]:
    """Return what is prepared of a page, as the URL says it, by what it is."""
    found: dict[str, dict[str, str]] = {"as it opens": {}}
    if page.opening:
        found["MNIST"] = {"data": "mnist", "pair": "3-8"}
    for lesson in map(load, names() if lessons else ()):
        for number, part in enumerate(lesson.parts, 1):
            if part.page == page.title:
                found[f"{lesson.title} {number}"] = dict(part.view)
    return found


def warm(lessons: bool = True) -> int:
    """Open all pages, a line for each; return how many could not be drawn.

    Parameters
    ----------
    lessons : whether to open the views of lessons too
    """
    logging.getLogger("streamlit").setLevel(logging.ERROR)  # it misses its server
    failed = 0
    for page in menu.PAGES:
        for about, view in views(page, lessons).items():
            start = time.perf_counter()
            app = AppTest.from_file(str(app_folder() / "app.py"), default_timeout=_LONGEST)
            if page.file != "app.py":
                app.switch_page(page.file)
            app.query_params.update(view)
            app.run()
            seconds = time.perf_counter() - start
            said = "; ".join(error.value for error in app.exception)
            failed += bool(said)
            print(f"{page.title}, {about}: {said or f'{seconds:.1f} s'}", flush=True)
    return failed


if __name__ == "__main__":
    if store.folder() is None:
        sys.exit("Nothing can be kept: KMVIZ_CACHE is empty, or others can write to its folder.")
    sys.exit(1 if warm() else 0)
