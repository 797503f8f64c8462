"""Make what the pages open with, once, so that no visitor waits for it.

    python -m kmviz.ui.warm

opens every page as a visitor would: with its own opening view, and with MNIST, 3 against 8. What
takes long is kept on disk (`kmviz.ui.store`), where the app finds it; a second call has nothing
to do.
"""

from __future__ import annotations

import logging
import sys
import time

from streamlit.testing.v1 import AppTest

from kmviz.io.places import app_folder
from kmviz.ui import menu, store

#: What is prepared of every page, as the URL says it: its opening view, and the large data set.
VIEWS: tuple[dict[str, str], ...] = ({}, {"data": "mnist", "pair": "3-8"})
_LONGEST = 600


def warm() -> int:
    """Open all pages, a line for each; return how many could not be drawn."""
    logging.getLogger("streamlit").setLevel(logging.ERROR)  # it misses its server
    failed = 0
    for page in menu.PAGES:
        for view in VIEWS if page.opening else VIEWS[:1]:
            start = time.perf_counter()
            app = AppTest.from_file(str(app_folder() / "app.py"), default_timeout=_LONGEST)
            if page.file != "app.py":
                app.switch_page(page.file)
            app.query_params.update(view)
            app.run()
            seconds, about = time.perf_counter() - start, view.get("data", "as it opens")
            said = "; ".join(error.value for error in app.exception)
            failed += bool(said)
            print(f"{page.title}, {about}: {said or f'{seconds:.1f} s'}", flush=True)
    return failed


if __name__ == "__main__":
    if store.folder() is None:
        sys.exit("Nothing can be kept: KMVIZ_CACHE is empty, or others can write to its folder.")
    sys.exit(1 if warm() else 0)
