"""One server and one browser for all tests of a run; a clean page for each."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import pytest
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, expect, sync_playwright

from tests.browser import chromium
from tests.browser.harness import FLAGS, serve, settle


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Open a page once more where a test failed: a busy machine keeps pages waiting.

    The summary names every test that needed it.
    """
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """A browser test that is passed over has failed: without it nobody has looked at the page."""
    return counted(item.nodeid, (yield))


def counted(name: str, report: Any) -> Any:
    """Return the report of a test, a skip turned into a failure."""
    if report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{name} was skipped, which no browser test may be: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the running app."""
    with serve(tmp_path_factory.mktemp("server") / "log.txt") as address:
        yield address


@pytest.fixture(scope="session")
def context() -> Iterator[BrowserContext]:
    """A real browser. Without one the tests fail: they are not to be passed over."""
    path = chromium.find()
    if path is None:
        pytest.fail(chromium.HELP)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        # one context: pages share what they have fetched, and each has a session of its own
        context = browser.new_context(viewport={"width": 1400, "height": 1000})
        context.set_default_timeout(30_000)
        expect.set_options(timeout=30_000)
        yield context
        browser.close()


@pytest.fixture
def visit(address: str, context: BrowserContext) -> Iterator[Callable[..., Page]]:
    """Open a path of the app in a fresh session and wait until it is drawn (`rest`).

    What `before` does with the page it does before anything is fetched.
    At the end of the test no page may have raised, logged an error or asked another host.
    """
    complaints: list[str] = []
    pages: list[Page] = []

    def opened(
        path: str = "/",
        dark: bool = False,
        rest: bool = True,
        before: Callable[[Page], object] = lambda page: None,
    ) -> Page:
        page = context.new_page()
        pages.append(page)
        page.emulate_media(color_scheme="dark" if dark else "light")
        page.on("console", lambda message: _note_console(message, complaints))
        page.on("pageerror", lambda error: complaints.append(f"page error: {error}"))
        page.on("request", lambda request: _note_request(request.url, complaints))
        before(page)
        page.goto(address + path)
        return settle(page) if rest else page

    yield opened
    for page in pages:
        raised = page.locator('[data-testid="stException"]').all_inner_texts()
        complaints.extend(f"exception on the page: {text}" for text in raised)
        page.close()
    assert not complaints, complaints


def _note_console(message: ConsoleMessage, complaints: list[str]) -> None:
    own = "/_stcore/" in message.location.get("url", "") and "404" in message.text
    if message.type == "error" and not own:
        complaints.append(f"console: {message.text} ({message.location.get('url')})")


def _note_request(url: str, complaints: list[str]) -> None:
    if urlparse(url).hostname not in (None, "", "localhost", "127.0.0.1"):
        complaints.append(f"leaves this machine: {url}")


@pytest.fixture
def sample_csv(tmp_path: Path) -> Path:
    """A small table of two classes, whose names would fetch a picture if they were Markdown."""
    path = tmp_path / "flowers.csv"
    picture = "![rose](https://example.org/rose.png)"
    rows = [f"{i % 7},{(i * 3) % 11},{picture if i % 7 < 3 else 'tulip'}" for i in range(80)]
    path.write_text(f"{picture},height,kind\n" + "\n".join(rows) + "\n")
    return path
