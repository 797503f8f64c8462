"""What `kmviz.loops.compile` offers, where numba is not installed: the loops as Python runs them.

They are written in Python, so that they give the same answers; each is slower by a factor of a
hundred or more. What goes through matrix products (an exact machine asked about many rows) is as
fast as ever.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

Loop = Callable[..., Any]


class SlowLoopsWarning(UserWarning):
    """numba is missing: answers are right, and slow."""


def compiled(loop: Loop) -> Loop:
    """Return the loop, with NumPy's silence about what overflows on the way."""

    @wraps(loop)
    def run(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return loop(*arguments)

    return run


compiled_strict = compiled_finite = compiled
part = part_strict = part_finite = compiled


def warn() -> None:
    """Say once what is missing."""
    warnings.warn(
        "numba is not installed, so kmviz runs its loops as plain Python: the same answers, many "
        "times slower. pip install numba mends it.",
        SlowLoopsWarning,
        stacklevel=2,
    )
