"""What the browser tests share: a server, and how to wait for a page to come to rest."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.server import free_port, wait_until_healthy

ROOT = Path(__file__).resolve().parents[2]
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync", "--disable-quic"]

_AT_REST = """() => {
    const app = document.querySelector('[data-testid="stApp"]');
    const charts = document.querySelectorAll('[data-testid="stPlotlyChart"]');
    if (document.querySelector('[data-testid="stException"]')) return true;
    const missing = [...charts].filter(c => !c.querySelector('.main-svg'));
    return app && app.getAttribute('data-test-script-state') === 'notRunning'
        && document.querySelector('h1') && missing.length === 0
        && !document.querySelector('[data-testid="stSkeleton"]');
}"""


@contextmanager
def serve(log: Path, script: str = "app.py") -> Iterator[str]:
    """Run the app, or another script, on a free port; gives its address."""
    with serve_process(log, script) as (address, _):
        yield address


@contextmanager
def serve_process(
    log: Path, script: str = "app.py"
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run the app, or another script, on a free port; gives its address and the process."""
    port = free_port()
    command = [sys.executable, "-m", "kmviz.ui.runtime.serve", script, "--server.port", str(port)]
    env = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    env["PYTHONPATH"] = str(ROOT)  # this checkout, whatever is installed
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=output, stderr=output)
        try:
            wait_until_healthy(f"http://localhost:{port}", process, log)
            yield f"http://localhost:{port}", process
        finally:
            process.terminate()
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:  # a busy machine: pages end where they draw
                process.kill()
                process.wait(timeout=30)


def settle(page: Page) -> Page:
    """Wait until the script has run and every chart is drawn."""
    for _ in range(2):  # a run may start just after the first look
        page.wait_for_timeout(250)
        page.wait_for_function(_AT_REST, timeout=60_000)
    return page


def click_point(page: Page, key: str, trace: int, point: int) -> None:
    """Click a marker of a chart where it stands on the screen."""
    chart = page.locator(f".st-key-{key}").first
    chart.scroll_into_view_if_needed()
    spot = chart.evaluate(
        """(element, [trace, point]) => {
            const plot = element.querySelector('.js-plotly-plot');
            const { xaxis, yaxis } = plot._fullLayout;
            const box = plot.getBoundingClientRect();
            const data = plot.calcdata[trace][point];
            return [box.x + xaxis._offset + xaxis.c2p(data.x),
                    box.y + yaxis._offset + yaxis.c2p(data.y)];
        }""",
        [trace, point],
    )
    page.mouse.move(*spot)
    page.wait_for_timeout(200)
    page.mouse.click(*spot)
    settle(page)


def drawn(page: Page, key: str) -> Locator:
    """Return a picture on the canvas, once it is drawn."""
    live = page.locator(f'[data-kmviz-live]:has([data-kmviz-view="{key}"])')
    expect(live).to_have_attribute("data-value", re.compile("."))
    return live


def click_spot(page: Page, key: str, layer: int, point: int) -> None:
    """Click a point of a picture on the canvas where it stands on the screen."""
    live = drawn(page, key)
    live.locator(f'[data-kmviz-view="{key}"] canvas').scroll_into_view_if_needed()
    script = "(root, [key, layer, k]) => root.kmviz.place(key, layer, k)"
    spot = live.evaluate(script, [key, layer, point])
    page.mouse.move(*spot)
    page.mouse.click(*spot)
    page.mouse.move(2, 2)  # what the pointer says there is no text of the page
    settle(page)


def slider(page: Page, key: str) -> Locator:
    """Return the slider of a widget; its `aria-valuetext` is what it shows."""
    return page.locator(f".st-key-{key}").get_by_role("slider").first


def shown(page: Page, key: str) -> str | None:
    """Return the value that a slider shows."""
    return slider(page, key).get_attribute("aria-valuetext")


def press(page: Page, key: str, keys: str, times: int = 1) -> None:
    """Press a key on the slider of a widget, as often as said."""
    for _ in range(times):
        slider(page, key).press(keys)
    settle(page)


def parameters(page: Page) -> dict[str, str]:
    """Return the URL parameters that the address bar shows."""
    return page.evaluate("() => Object.fromEntries(new URLSearchParams(location.search))")


def parameter(page: Page, name: str, value: str | None = None) -> str:
    """Wait until the address bar shows a parameter (with that value, if one is given)."""
    page.wait_for_function(
        """([name, value]) => {
            const told = new URLSearchParams(location.search).get(name);
            return told !== null && (value === null || told === value);
        }""",
        arg=[name, value],
    )
    return parameters(page)[name]


def clipped(page: Page) -> list[str]:
    """Return the chosen words that do not fit their list, in a small window or on a phone."""
    found: list[str] = []
    for size in ({"width": 1280, "height": 720}, {"width": 390, "height": 844}):
        page.set_viewport_size(size)
        page.wait_for_timeout(200)
        found += page.get_by_test_id("stMain").evaluate(
            """(main) => [...main.querySelectorAll('.st-key-controls [role=combobox]')]
                .filter((input) => input.scrollWidth > input.clientWidth)
                .map((input) => `${innerWidth}: ${input.value}`)"""
        )
    return found
