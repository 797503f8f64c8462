"""A stranger's model, tried in a process of its own before a server takes it.

The rules of `kmviz.io.strangers` say what a model may be. What it then takes, or breaks, is seen
where it can do no harm: a child process loads it and asks it about some rows, within limits of
memory and time, and is ended where it goes beyond them. Only words come back. What has passed is
loaded again by who asked: the same bytes give the same model, now known to be harmless.

Limits are those of POSIX; elsewhere a clock alone ends a child.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from threading import BoundedSemaphore

import numpy as np

from kmviz.io.storage import StorageError
from kmviz.io.strangers import checked, read_anew

#: Seconds of CPU, and megabytes, that loading and asking may take beside what Python itself does.
SECONDS, MEGABYTES = 10, 1_024

#: Seconds by the clock that this may last, and that a child may with its start on a busy machine.
CLOCK, PATIENCE = 60, 600

#: Rows that a model is asked about; outputs below so much of the largest may have any sign.
ROWS, ROUNDING = 500, 1e-6

_REFUSED = 3
#: As many as are tried at a time.
_turns = BoundedSemaphore(2)


def refuse_harmful(
    content: bytes, name: str, seconds: int = SECONDS, megabytes: int = MEGABYTES
) -> None:
    """Try the model in a file; it answers within these limits.

    Raises
    ------
    StorageError
        It was refused, took more than it may, or broke; the message says which.
    """
    command = [sys.executable, "-m", "kmviz.io.trial", str(seconds), str(megabytes)]
    package = str(Path(__file__).resolve().parents[2])
    env = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": package}
    try:
        with _turns:
            child = subprocess.run(
                command, input=json.dumps(name).encode() + b"\n" + content, capture_output=True,
                env=env, timeout=PATIENCE, check=False,
            )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise StorageError(_too_long(name, seconds)) from None
    if child.returncode == _REFUSED:
        raise StorageError(json.loads(child.stdout))
    if -child.returncode in (getattr(signal, late, None) for late in ("SIGXCPU", "SIGALRM")):
        raise StorageError(_too_long(name, seconds))
    if child.returncode:
        raise StorageError(
            f"{name} is not taken: asked about {ROWS} rows it broke the process that tried it, or "
            f"took more than {megabytes:,} MB of memory."
        )


def _too_long(name: str, seconds: int) -> str:
    return f"{name} is not taken: to answer {ROWS} rows it took more than {seconds} seconds."


def _limit(seconds: int, megabytes: int) -> None:
    """Let this process take so much more than it has, and no core be written."""
    try:
        import resource
    except ImportError:  # no POSIX
        return
    signal.alarm(CLOCK)
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu = int(used.ru_utime + used.ru_stime) + 1 + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sizes = Path("/proc/self/statm")
    if sizes.exists():
        mapped = int(sizes.read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (mapped + megabytes * 2**20,) * 2)


def _try(content: bytes, name: str) -> None:
    """Load a model, ask it about rows, and see that what pages ask in its place says the same."""
    model = checked(content, name)
    rows = np.random.default_rng(0).standard_normal((ROWS, int(model.n_features_in_)))
    with np.errstate(all="ignore"):
        own = read_anew(model)
        differs, outputs = model.predict(rows) != own.predict(rows), own.decision_function(rows)
    if (np.abs(outputs)[differs] > ROUNDING * np.abs(outputs).max()).any():
        raise ValueError("its own answers are not those of the vectors and weights that it holds.")


def main(seconds: str, megabytes: str) -> int:
    """Try the model that comes on standard input, after its name; say why where it is refused."""
    import_module("skops.io")  # outside of any limit
    _limit(int(seconds), int(megabytes))
    name = json.loads(sys.stdin.buffer.readline())
    try:
        _try(sys.stdin.buffer.read(), name)
        return 0
    except StorageError as error:
        if isinstance(error.__cause__, MemoryError):
            return 1
        said = str(error)
    except (ValueError, ArithmeticError, AttributeError, TypeError, LookupError) as error:
        said = f"{name} is not taken: it cannot be asked: {str(error)[:200]}"
    sys.stdout.write(json.dumps(said))
    return _REFUSED


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
