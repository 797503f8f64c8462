"""The one place that knows where the browser is, and how to get one.

    python tests/browser/chromium.py [--install | --system]

prints its path; with ``--install`` it is fetched first where there is none: Debian's own package
for root on Debian or Ubuntu, Playwright's build otherwise. ``--system`` does the first of the two
and no more, which any Python can do while packages are still being installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

#: The one without windows is the lightest.
SHELL = "chromium-headless-shell"
NAMES = (SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HELP = (
    "No Chromium found. Debian or Ubuntu: apt-get install chromium-headless-shell. "
    "Elsewhere: python -m playwright install chromium. "
    "Or name one: KMVIZ_CHROMIUM=/path/to/chromium."
)


def find() -> str | None:
    """Path of a browser: the one named, then the system's, then Playwright's."""
    named = os.environ.get("KMVIZ_CHROMIUM")
    if named:
        return named if Path(named).exists() else None
    return _systems_own() or _playwrights_own()


def install() -> None:
    """Get a browser; leaves it to the caller to look whether that worked."""
    install_system()
    if find() is None:
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)


def install_system() -> None:
    """Get Debian's browser where that is possible, and not the printers and daemons around it."""
    if _is_debian() and hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        _apt("update")
        wanted = ("install", "-y", "--no-install-recommends", "fonts-liberation")
        if not _apt(*wanted, SHELL):  # not every release has it
            _apt(*wanted, "chromium")


def _apt(*arguments: str) -> bool:
    env = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(
        ["apt-get", "-qq", *arguments], env=env, check=False, stdout=subprocess.DEVNULL
    )
    return done.returncode == 0


def _systems_own() -> str | None:
    found = filter(None, map(shutil.which, NAMES))
    return next((path for path in found if _runs(path)), None)


def _runs(path: str) -> bool:
    """Whether it starts: Ubuntu's ``chromium-browser`` may only say "install the snap"."""
    try:
        answer = subprocess.run([path, "--version"], capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0


def _playwrights_own() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def _is_debian() -> bool:
    release = Path("/etc/os-release")
    text = release.read_text() if release.exists() else ""
    return "ID=debian" in text or "ID=ubuntu" in text or "ID_LIKE=debian" in text


def main() -> int:
    """Print the path; exit code 1 and one line of help without a browser."""
    if "--system" in sys.argv[1:]:
        if not (os.environ.get("KMVIZ_CHROMIUM") or _systems_own()):
            install_system()
        return 0
    if find() is None and "--install" in sys.argv[1:]:
        install()
    path = find()
    print(path or HELP, file=sys.stdout if path else sys.stderr)
    return 0 if path else 1


if __name__ == "__main__":
    raise SystemExit(main())
