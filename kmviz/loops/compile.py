"""How loops are compiled: without the GIL, cached on disk where a disk lets us."""

from __future__ import annotations

import getpass
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def _writable_cache() -> None:
    """Point numba at a folder it can write when the package's own cannot be written."""
    if "NUMBA_CACHE_DIR" in os.environ or os.access(Path(__file__).parent, os.W_OK):
        return
    os.environ["NUMBA_CACHE_DIR"] = str(
        Path(tempfile.gettempdir()) / f"kmviz-loops-{getpass.getuser()}"
    )


_writable_cache()

import numba  # noqa: E402  (reads NUMBA_CACHE_DIR when imported)


def compiled(loop: F) -> F:
    """Compile a loop: GIL released, cached on disk, free to reorder sums so that they vectorise."""
    return numba.njit(
        nogil=True, cache=True, fastmath={"reassoc", "contract", "arcp", "nsz"}, error_model="numpy"
    )(loop)


def compiled_strict(loop: F) -> F:
    """Compile a loop whose sums must keep their order (bounds, forward substitution)."""
    return numba.njit(nogil=True, cache=True, error_model="numpy")(loop)


def compiled_finite(loop: F) -> F:
    """Compile a loop that meets no NaN and no infinity, so that maxima vectorise; sums keep their
    order, and results do not depend on how a loop is split."""
    return numba.njit(
        nogil=True, cache=True, fastmath={"contract", "nsz", "nnan", "ninf"}, error_model="numpy"
    )(loop)
