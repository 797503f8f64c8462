"""The pages: what moving a slider costs, in the script and in a real browser.

A move is one key press on a slider whose values have been seen before; the rerun it is compared
with is Streamlit's own (key R), which changes nothing on the same page. Browser times are wall
time from the key press to the last change of the page, so that they want a quiet machine.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
from playwright.sync_api import Page, sync_playwright

from tests.browser import chromium
from tests.browser.harness import FLAGS, serve, settle, slider
from tests.pages.helpers import open_page, run

#: Page, its file, its address on banana, a slider that only reads again, and two of its values.
MOVES = (
    ("Start", "app.py", "/", "C", (1.0, 10.0)),
    ("Nearest support vectors", "pages/1_Nearest_Support_Vectors.py",
     "/Nearest_Support_Vectors", "w", (10, 11)),
    ("Anytime bounds", "pages/2_Anytime_Bounds.py", "/Anytime_Bounds", "step", (5, 6)),
    ("Reduced set", "pages/3_Reduced_Set.py", "/Reduced_Set", "vectors", (10, 11)),
    ("Support vector tree", "pages/5_Support_Vector_Tree.py",
     "/Support_Vector_Tree", "height", (5, 6)),
)  # fmt: skip

_WATCH = """() => {
    const app = document.querySelector('[data-testid="stApp"]');
    window.moved = { start: performance.now(), last: null, ended: false };
    window.watcher?.disconnect();
    window.watcher = new MutationObserver((changes) => {
        moved.last = performance.now();
        moved.ended ||= changes.some((change) => change.target === app
            && change.attributeName === 'data-test-script-state'
            && app.getAttribute('data-test-script-state') === 'notRunning');
    });
    watcher.observe(app, { subtree: true, childList: true, attributes: true });
}"""
_QUIET = "() => moved.ended && performance.now() - moved.last > 400"


def tables(quick: bool) -> dict[str, pd.DataFrame]:
    """Return the tables of this benchmark."""
    repeats = 6 if quick else 15
    table = pd.DataFrame({"page": [move[0] for move in MOVES], "slider": [m[3] for m in MOVES]})
    table["script_cpu_ms"] = [script_time(file, key, v, repeats) for _, file, _, key, v in MOVES]
    return {"pages": table.join(browser_times(repeats))}


def script_time(file: str, key: str, values: tuple, repeats: int) -> float:
    """Return the CPU milliseconds of a page's script after a move, the least of the repeats."""
    app = open_page(file, data="banana")
    spent = []
    for i in range(2 * repeats):
        widget = next(w for w in (*app.slider, *app.select_slider) if w.key == key)
        widget.set_value(values[i % 2])
        start = time.process_time()
        app.run()
        spent.append(time.process_time() - start)
    run(app)
    return 1e3 * min(spent[2:])


def browser_times(repeats: int) -> pd.DataFrame:
    """Return the time of a move and of a rerun (medians), and what a move sends to the browser."""
    path = chromium.find()
    if path is None:
        raise RuntimeError(chromium.HELP)
    rows = []
    with (
        tempfile.TemporaryDirectory() as folder,
        serve(Path(folder) / "log.txt") as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        for _, _, place, key, _ in MOVES:
            page = browser.new_page(viewport={"width": 1400, "height": 1000})
            received: list[int] = []
            page.on("websocket", lambda socket, seen=received: _count(socket, seen))
            page.goto(f"{address}{place}?data=banana")
            settle(page)
            rows.append(_times(page, key, repeats, received))
            page.close()
        browser.close()
    return pd.DataFrame(rows)


def _count(socket, received: list[int]) -> None:
    socket.on("framereceived", lambda frame: received.append(len(frame)))


def _times(page: Page, key: str, repeats: int, received: list[int]) -> dict[str, float]:
    handle = slider(page, key)
    handle.wait_for(timeout=300_000)  # the first visit may search for vectors
    settle(page)

    def move(i: int) -> None:
        handle.focus()
        page.keyboard.press(("ArrowRight", "ArrowLeft")[i % 2])

    def rerun(_: int) -> None:
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("r")

    for i in range(2):
        _timed(page, move, i)  # now both values are cached
    received.clear()
    moves = [_timed(page, move, i) for i in range(repeats)]
    sent = sum(received) / repeats / 1e3
    reruns = [_timed(page, rerun, i) for i in range(repeats)]
    moved, idle = statistics.median(moves), statistics.median(reruns)
    return {"move_ms": moved, "rerun_ms": idle, "ratio": moved / idle, "move_kB": sent}


def _timed(page: Page, act: Callable[[int], None], i: int) -> float:
    """Return the milliseconds from an act to the last change it makes to the page."""
    page.evaluate(_WATCH)
    act(i)
    page.wait_for_function(_QUIET, timeout=60_000)
    return float(page.evaluate("() => moved.last - moved.start"))
