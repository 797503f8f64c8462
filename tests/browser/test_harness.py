"""The harness itself: a skipped browser test fails."""

import subprocess
import sys
from pathlib import Path

CONFTEST = Path(__file__).with_name("conftest.py")


def test_a_skipped_browser_test_fails(tmp_path):
    folder = tmp_path / "browser"
    folder.mkdir()
    hook = "pytest_runtest_makereport"
    (folder / "conftest.py").write_text(
        f"from runpy import run_path\n{hook} = run_path({str(CONFTEST)!r})[{hook!r}]\n"
    )
    (folder / "test_one.py").write_text(
        "import pytest\n"
        "def test_skipped(): pytest.skip('no time')\n"
        "@pytest.mark.skip(reason='not today')\ndef test_marked(): pass\n"
        "@pytest.mark.xfail(strict=True)\ndef test_known(): assert False\n"
        "def test_fine(): pass\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)],
        cwd=CONFTEST.parents[2], capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout
    assert "no time" in done.stdout
    assert "not today" in done.stdout
    assert "1 passed" in done.stdout
    assert "1 xfailed" in done.stdout
    assert "skipped" not in done.stdout.splitlines()[-1]
