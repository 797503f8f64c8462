"""Whether the arrays of an object fit together: asked of every object that came from a file.

Compiled loops trust indices, offsets and lengths. A class whose arrays they read has a method
`check` that says, by these two functions, what must hold; it raises ValueError.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def readable(name: str, array: Any) -> np.dtype:
    """Return the type of numbers, refused where no compiled loop reads it as it is."""
    dtype = np.asarray(array).dtype
    if not dtype.isnative or (dtype.kind == "f" and dtype.itemsize not in (4, 8)):
        raise ValueError(f"{name} is of type {dtype!s}; float32, float64 and integers are read.")
    return dtype


def shaped(name: str, array: Any, *shape: int | None, finite: bool = True) -> None:
    """Refuse an array of another shape (None: any length), or one with what is no number.

    Parameters
    ----------
    finite : whether infinities are refused too

    Examples
    --------
    >>> import numpy as np
    >>> from kmviz.machines.soundness import shaped
    >>> shaped("beta", np.zeros(3), 3)
    >>> shaped("beta", np.zeros(3), 4)
    Traceback (most recent call last):
    ValueError: beta has shape (3,), not (4,).
    """
    found = np.shape(array)
    fits = len(found) == len(shape) and all(b is None or a == b for a, b in zip(found, shape))
    if not fits:
        wanted = ", ".join("any" if n is None else str(n) for n in shape)
        wanted += "," if len(shape) == 1 else ""
        raise ValueError(f"{name} has shape {found}, not ({wanted}).")
    kind = readable(name, array).kind
    if kind not in "fiub":
        raise ValueError(f"{name} holds no numbers.")
    if kind == "f" and not (np.isfinite(array) if finite else ~np.isnan(array)).all():
        raise ValueError(f"{name} holds values that are no finite numbers.")


def within(name: str, indices: Any, low: int, high: int) -> None:
    """Refuse whole numbers that are not all from `low` up to, and without, `high`."""
    found = np.asarray(indices)
    if readable(name, found).kind not in "iu":
        raise ValueError(f"{name} holds no whole numbers.")
    if found.size and not (low <= found.min() and found.max() < high):
        raise ValueError(f"{name} points outside of {low} to {high - 1}.")
