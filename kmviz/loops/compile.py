"""How loops are compiled: without the GIL, kept on disk where a disk lets us."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

from kmviz.loops.cache import LoopCache

Loop = Callable[..., Any]


def _jit(loop: Loop, **options: Any) -> Loop:
    made = numba.njit(nogil=True, error_model="numpy", **options)(loop)
    made._cache = LoopCache(loop)  # what `cache=True` sets, in a folder that is looked at first
    return made


def compiled(loop: Loop) -> Loop:
    """Compile a loop: GIL released, kept on disk, free to reorder sums so that they vectorise."""
    return _jit(loop, fastmath={"reassoc", "contract", "arcp", "nsz"})


def compiled_strict(loop: Loop) -> Loop:
    """Compile a loop whose sums must keep their order (bounds, forward substitution)."""
    return _jit(loop)


def compiled_finite(loop: Loop) -> Loop:
    """Compile a loop that meets no NaN and no infinity, so that maxima vectorise; sums keep their
    order, and results do not depend on how a loop is split."""
    return _jit(loop, fastmath={"contract", "nsz", "nnan", "ninf"})
