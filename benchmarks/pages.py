"""The pages: what a live slider costs while it moves, and how soon a page shows its picture.

A position is timed in the browser, from the event that asks for it to the frame in which the
slider says that it is drawn. What is sent meanwhile is counted, and what the page received before.
The first visit after the server has started is cold: data, machine and method are made for it.
Browser times are wall time, so that they want a quiet machine.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import pandas as pd
from playwright.sync_api import Browser, sync_playwright

from tests.browser import chromium
from tests.browser.harness import FLAGS, serve, settle

#: Page, its address, and its live slider.
LIVE = (
    ("Nearest support vectors", "/Nearest_Support_Vectors", "w"),
    ("Anytime bounds", "/Anytime_Bounds", "step"),
    ("Reduced set", "/Reduced_Set", "vectors"),
    ("Local models", "/Local_Models", "k"),
    ("Support vector tree", "/Support_Vector_Tree", "height"),
)
#: What is looked at: banana for a quick run, MNIST beside it for a whole one.
DATA = {"banana": "data=banana", "MNIST 3v8": "data=mnist&pair=3-8&n=1000"}

_MOVE = """async (input) => {
    const root = input.closest('[data-kmviz-live]'), spent = [];
    const frame = () => new Promise(requestAnimationFrame);
    const there = Number(input.value), last = Math.min(Number(input.max), 60);
    for (let i = Number(input.min); i <= last; i++) {
        if (i === there && i === Number(input.value)) continue;
        const before = root.dataset.value, start = performance.now();
        input.value = i;
        input.dispatchEvent(new Event('input', { bubbles: true }));
        for (let n = 0; root.dataset.value === before && n < 120; n++) await frame();
        spent.push(performance.now() - start);
    }
    return spent;
}"""


def tables(quick: bool) -> dict[str, pd.DataFrame]:
    """Return the tables of this benchmark."""
    path = chromium.find()
    if path is None:
        raise RuntimeError(chromium.HELP)
    rows = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        for data in list(DATA)[: 1 if quick else None]:
            for name, place, param in LIVE:
                with (
                    tempfile.TemporaryDirectory() as folder,
                    serve(Path(folder) / "log.txt") as address,  # a server of its own: cold
                ):
                    url = f"{address}{place}?{DATA[data]}"
                    rows.append({"page": name, "data": data, **visited(browser, url, param)})
        browser.close()
    return {"pages": pd.DataFrame(rows)}


def visited(browser: Browser, url: str, param: str) -> dict[str, Any]:
    """Return the figures of one page: its first picture, cold and warm, and its slider."""
    cold, warm = (_visit(browser, url, param, move=move) for move in (False, True))
    return {
        "slider": param,
        "first_picture_cold_s": cold["seconds"],
        "first_picture_warm_s": warm["seconds"],
        "first_load_kB": warm["received"],
        "positions": len(warm["spent"]),
        "median_ms": statistics.median(warm["spent"]),
        "worst_ms": max(warm["spent"]),
        "messages_while_moving": warm["sent"],
    }


def _visit(browser: Browser, url: str, param: str, move: bool) -> dict[str, Any]:
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    received: list[int] = []
    sent: list[int] = []

    def watch(socket: Any) -> None:
        socket.on("framereceived", lambda frame: received.append(len(frame)))
        socket.on("framesent", lambda frame: sent.append(len(frame)))

    page.on("websocket", watch)
    start = time.perf_counter()
    page.goto(url)
    page.locator(f'[data-kmviz-live="{param}"][data-value]').wait_for(timeout=300_000)
    seconds = time.perf_counter() - start
    settle(page)
    found = {"seconds": seconds, "received": sum(received) / 1e3, "spent": [], "sent": 0}
    if move:
        sent.clear()
        slider = page.locator(f'[data-kmviz-live="{param}"] input[type=range]')
        found |= {"spent": slider.evaluate(_MOVE), "sent": len(sent)}
    page.close()
    return found
