"""`make fuzz MINUTES=30`, or `python -m tests.fuzz CATEGORY '{...}'` to replay one case.

Draws cases of every category for so long, and prints how many were tried, how many failed, and
each failure as the line that replays it. A case that takes more than two minutes of CPU ends the
run, with its line in `fuzz-last-case.txt`.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import shlex
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzz.cases import CATEGORIES, Case

#: CPU seconds after which a case is one that never ends.
NEVER = 120
LAST = Path(tempfile.gettempdir()) / "fuzz-last-case.txt"


def line_of(category: str, case: Case) -> str:
    """Return the command that tries a case again."""
    return f"python -m tests.fuzz {category} {shlex.quote(json.dumps(case))}"


def tried(category: str, seconds: float, start: int) -> tuple[int, dict[str, str]]:
    """Try cases for so many seconds; return how many, and the failures by their lines."""
    draw, check = CATEGORIES[category]
    count, failures, kinds = 0, {}, Counter[str]()
    end, round_ = time.monotonic() + seconds, start
    options = settings(
        max_examples=500, database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip

    def one(case: Case) -> None:
        nonlocal count
        if time.monotonic() > end:
            return
        count += 1
        LAST.write_text(line_of(category, case) + "\n", encoding="utf-8")
        signal.setitimer(signal.ITIMER_PROF, NEVER)  # on a busy machine minutes may pass
        try:
            check(case)
        except Exception as error:
            what = f"{type(error).__name__}: {str(error)[:200]}"
            kinds[what] += 1
            if kinds[what] <= 3:  # a few of each kind say enough
                failures[line_of(category, case)] = what
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    while time.monotonic() < end:
        seed(round_)(options(given(draw)(one)))()
        round_ += 1
    print(f"{category}: {count} tried, {kinds.total()} failed", flush=True)
    for line, what in failures.items():
        print(f"  {what}\n    {line}", flush=True)
    return count, failures


def main() -> int:
    """Run as the command line says; 1 where something failed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("category", nargs="?", choices=CATEGORIES)
    parser.add_argument("case", nargs="?", help="one case, as JSON")
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.case:
        CATEGORIES[options.category].check(json.loads(options.case))
        print("passed")
        return 0
    faulthandler.register(signal.SIGPROF, chain=True)  # says where it was; then the process ends
    chosen = [options.category] if options.category else list(CATEGORIES)
    seconds = 60 * options.minutes / len(chosen)
    found = [tried(category, seconds, options.seed) for category in chosen]
    return 1 if any(failures for _, failures in found) else 0


if __name__ == "__main__":
    sys.exit(main())
