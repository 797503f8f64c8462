"""Transformations that leave a class unchanged: rows in, as many rows out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Shift:
    """Move images; what leaves the frame is lost, what enters is 0.

    Parameters
    ----------
    image_shape : (height, width)
    down, right : int
        Pixels; negative moves up or left.

    Examples
    --------
    >>> from kmviz.methods.transforms import Shift
    >>> Shift((2, 2), down=1, right=0)([[1.0, 2.0, 3.0, 4.0]])
    array([[0., 0., 1., 2.]])
    """

    image_shape: tuple[int, int]
    down: int
    right: int

    def __call__(self, X: Any) -> Any:
        rows = np.asarray(X)
        height, width = self.image_shape
        images = rows.reshape(-1, height, width)
        moved = np.zeros_like(images)
        to = (_stretch(self.down, height), _stretch(self.right, width))
        source = (_stretch(-self.down, height), _stretch(-self.right, width))
        moved[:, *to] = images[:, *source]
        return like(X, moved.reshape(rows.shape))


@dataclass(frozen=True)
class FlipSign:
    """Change the sign of some columns, for problems that are symmetric in them.

    Examples
    --------
    >>> from kmviz.methods.transforms import FlipSign
    >>> FlipSign((1,))([[1.0, 2.0]])
    array([[ 1., -2.]])
    """

    columns: tuple[int, ...]

    def __call__(self, X: Any) -> Any:
        rows = np.array(X)
        rows[:, list(self.columns)] *= -1
        return like(X, rows)


@dataclass(frozen=True)
class Permute:
    """Put columns in another order, for features that could change places.

    Examples
    --------
    >>> from kmviz.methods.transforms import Permute
    >>> Permute((1, 0))([[1.0, 2.0]])
    array([[2., 1.]])
    """

    order: tuple[int, ...]

    def __call__(self, X: Any) -> Any:
        return like(X, np.asarray(X)[:, list(self.order)])


def shifts(image_shape: tuple[int, int], pixels: int) -> list[Shift]:
    """Return the shifts by so many pixels in the four directions."""
    height, width = image_shape
    shape = (int(height), int(width))
    ways = ((-pixels, 0), (pixels, 0), (0, -pixels), (0, pixels))
    return [Shift(shape, down, right) for down, right in ways]


def like(X: Any, rows: Any) -> Any:
    """Return rows as the kind of table that X is."""
    return type(X)(rows, columns=X.columns) if hasattr(X, "iloc") else rows


def _stretch(by: int, size: int) -> slice:
    return slice(max(by, 0), size + min(by, 0))
