"""The pages: how soon they show their picture, what a live slider costs, what other controls do.

A cold visit is the first one to a server that was started ten seconds ago, as `make run` starts it:
imports done, opening views and MNIST 3 against 8 being computed in the background. A warm visit is
the next one. A position of a live slider is timed in the browser, from
the event that asks for it to the frame in which the slider says that it is drawn; what is sent
meanwhile is counted. Another control is moved and moved back: `first_ms` is a value that nobody
asked for before, `warm_ms` the one that was there, both from the key or click that chooses it to
the last change of the page.

Browser times are wall time, so that they want a quiet machine; `server_cpu_s` is what the server
computed until the page came to rest. Each row is printed when it is known. What takes longer than
`LIMIT` seconds stands as empty figures with the reason in `note`.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
from playwright.sync_api import Browser, Error, Locator, Page, TimeoutError, sync_playwright

from tests.browser import chromium
from tests.browser.harness import FLAGS, serve_process, settle

#: Page, its address, its live slider, and its other controls.
PAGES: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("Start", "/", "", ("C", "gamma")),
    ("Nearest support vectors", "/Nearest_Support_Vectors", "w", ("filter", "q", "order", "start")),
    ("Anytime bounds", "/Anytime_Bounds", "step", ("basis",)),
    ("Reduced set", "/Reduced_Set", "vectors", ("method",)),
    ("Local models", "/Local_Models", "k", ("kp", "select", "cover")),
    ("Support vector tree", "/Support_Vector_Tree", "height", ("split", "refit")),
    ("Compare", "/Compare", "", ("cost",)),
    ("Papers", "/Papers", "", ("table",)),
)
#: What is looked at: banana for a quick run, MNIST beside it for a whole one.
DATA = {"banana": "data=banana", "MNIST 3v8": "data=mnist&pair=3-8"}
#: Seconds after a server's start at which it is visited for the first time.
STARTED = 10.0
#: Seconds that one step of one page may take.
LIMIT = 60.0
#: Where a number begins that stands empty.
_FROM = 10

#: Notes the frame in which the first picture is on the page.
_LOOK = """() => {
    const live = '[class*="st-key-live_"] *', drawn = '[data-kmviz-live][data-value]';
    const isThere = () => document.querySelector('.js-plotly-plot .main-svg')
        || [...document.querySelectorAll(live)].some((e) => e.shadowRoot?.querySelector(drawn));
    const look = () => (isThere() ? performance.mark('picture') : requestAnimationFrame(look));
    requestAnimationFrame(look);
}"""
_SEEN = "() => performance.getEntriesByName('picture')[0]?.startTime"
_MOVE = """async (input) => {
    const root = input.closest('[data-kmviz-live]'), spent = [];
    const frame = () => new Promise(requestAnimationFrame);
    const last = Math.min(Number(input.max), Number(input.min) + 40);
    for (let i = Number(input.min); i <= last; i++) {
        if (i === Number(input.value)) continue;
        const before = root.dataset.value, start = performance.now();
        input.value = i;
        input.dispatchEvent(new Event('input', { bubbles: true }));
        for (let n = 0; root.dataset.value === before && n < 120; n++) await frame();
        spent.push(performance.now() - start);
    }
    return spent;
}"""
#: Resolves with the time of the last change once nothing changed for a while after a run, or with
#: nothing where patience ends.
_REST = """(patience) => new Promise((done) => {
    const app = document.querySelector('[data-testid="stApp"]');
    const begun = performance.now();
    let last = begun, ran = false;
    const isRunning = () => app.getAttribute('data-test-script-state') !== 'notRunning';
    const watch = new MutationObserver(() => {
        last = performance.now();
        ran = ran || isRunning();
    });
    watch.observe(app, { subtree: true, childList: true, attributes: true });
    const look = setInterval(() => {
        ran = ran || isRunning();
        const quiet = !isRunning() && performance.now() - last > 400;
        const late = performance.now() - begun > patience;
        if (late || (quiet && ran)) {
            clearInterval(look); watch.disconnect(); done(late ? null : last - begun);
        }
    }, 10);
})"""


def tables(quick: bool) -> dict[str, Callable[[], pd.DataFrame]]:
    """Return the tables of this benchmark."""
    found: dict[str, pd.DataFrame] = {}

    def make(name: str) -> pd.DataFrame:
        if not found:
            found.update(_measured(list(DATA)[: 1 if quick else None]))
        return found[name]

    return {name: lambda name=name: make(name) for name in ("pages", "pages_controls")}


def _measured(data: list[str]) -> dict[str, pd.DataFrame]:
    path = chromium.find()
    if path is None:
        raise RuntimeError(chromium.HELP)
    pages, controls = [], []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        for name, place, param, others in PAGES:
            for about in data if name != "Papers" else data[:1]:
                row, moved = visited(browser, f"{place}?{DATA[about]}", param, others)
                pages.append(_said({"page": name, "data": about, **row}))
                controls += [_said({"page": name, "data": about, **one}) for one in moved]
        browser.close()
    return {"pages": pd.DataFrame(pages), "pages_controls": pd.DataFrame(controls)}


def _said(row: dict[str, Any]) -> dict[str, Any]:
    cells = (
        value if isinstance(value, str) else f"{key} {value:.4g}"
        for key, value in row.items()
        if value != ""
    )
    print(", ".join(cells), flush=True)
    return row


def visited(
    browser: Browser, place: str, param: str, others: tuple[str, ...]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a page's figures, cold and warm, its slider's, and those of its other controls."""
    row: dict[str, Any] = {"slider": param}
    with (
        tempfile.TemporaryDirectory() as folder,
        serve_process(Path(folder) / "log.txt") as (address, process),
    ):
        time.sleep(STARTED)
        try:
            row |= _cold(browser, address + place, process.pid)
            row |= _warm(browser, address + place, param)
        except TimeoutError as error:
            row["note"] = f"not within {LIMIT:.0f} s: {str(error).splitlines()[0]}"
        return row, [_control(browser, address + place, key) for key in others]


def _opened(browser: Browser, url: str, received: list[int], sent: list[int]) -> Page:
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.set_default_timeout(1_000 * LIMIT)

    def watch(socket: Any) -> None:
        socket.on("framereceived", lambda frame: received.append(len(frame)))
        socket.on("framesent", lambda frame: sent.append(len(frame)))

    page.on("websocket", watch)
    page.add_init_script(f"({_LOOK})()")
    page.goto(url)
    return page


def _first_picture(page: Page) -> float:
    """Return the seconds from asking for a page to its first picture, as the browser took them."""
    return page.wait_for_function(_SEEN).json_value() / 1_000


def _cold(browser: Browser, url: str, pid: int) -> dict[str, Any]:
    spent, start = _cpu_seconds(pid), time.perf_counter()
    page = _opened(browser, url, [], [])
    found = {"first_picture_cold_s": _first_picture(page)}
    settle(page)
    found |= {
        "whole_page_cold_s": time.perf_counter() - start,
        "server_cpu_s": _cpu_seconds(pid) - spent,
    }
    page.close()
    return found


def _warm(browser: Browser, url: str, param: str) -> dict[str, Any]:
    received: list[int] = []
    sent: list[int] = []
    page = _opened(browser, url, received, sent)
    found: dict[str, Any] = {"first_picture_warm_s": _first_picture(page)}
    settle(page)
    found["first_load_kB"] = sum(received) / 1e3
    if param:
        sent.clear()
        slider = page.locator(f'[data-kmviz-live="{param}"] input[type=range]')
        spent = slider.evaluate(_MOVE)
        found |= {
            "positions": len(spent),
            "median_ms": statistics.median(spent),
            "worst_ms": max(spent),
            "messages_while_moving": len(sent),
        }
    page.close()
    return found


def _control(browser: Browser, url: str, key: str) -> dict[str, Any]:
    """Return what moving a control, and moving it back, takes until the page has followed."""
    found: dict[str, Any] = {"control": key}
    page = _opened(browser, url, [], [])
    try:
        settle(page)
        edited = page.locator(f".st-key-{key} input").first
        before = edited.input_value()
        for name, is_back in (("first_ms", False), ("warm_ms", True)):
            choose = _ready(page, edited, before, is_back)
            waiting = page.evaluate_handle(f"(patience) => ({{ rest: ({_REST})(patience) }})",
                                           1_000 * LIMIT)  # fmt: skip
            choose()
            found[name] = page.evaluate("(waiting) => waiting.rest", waiting)
            if found[name] is None:
                raise TimeoutError(f"not within {LIMIT:.0f} s")
            settle(page)
    except Error as error:
        found["note"] = str(error).splitlines()[0]
    page.close()
    return found


def _ready(page: Page, edited: Locator, before: str, is_back: bool) -> Callable[[], None]:
    """Return what moves a slider, a switch, a number or a choice by one, or back, at one stroke."""
    kind = edited.get_attribute("type")
    if kind == "range":
        return lambda: edited.press("ArrowLeft" if is_back else "ArrowRight")
    if kind == "checkbox":
        return lambda: edited.click(force=True)
    if edited.get_attribute("role") == "combobox":
        edited.click()
        edited.fill(before if is_back else "")  # of a long list only some are there
        text = {"has_text": before} if is_back else {"has_not_text": before}
        option = page.get_by_role("option").filter(**text).first
        option.hover()  # the list has come to rest
        return option.click
    edited.fill(before if is_back else str(int(before or _FROM) + 1))
    return lambda: edited.press("Enter")


def _cpu_seconds(pid: int) -> float:
    """Return what a process and its workers have computed (Linux; elsewhere nothing is known)."""
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        return float("nan")
    fields = stat.read_text().rsplit(")", 1)[1].split()
    workers = Path(f"/proc/{pid}/task").glob("*/children")
    below = sum(_cpu_seconds(int(child)) for file in workers for child in file.read_text().split())
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") + below
