"""Transformations that leave a class unchanged: rows in, as many rows out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

#: Images straightened in one go.
BLOCK = 1024


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
class Rotate:
    """Turn images about their middle; between pixels ink is shared linearly.

    Named by the paper's discussion as a further invariance, not used in it.

    Parameters
    ----------
    image_shape : (height, width)
    degrees : float
        Positive turns to the left.

    Examples
    --------
    >>> from kmviz.methods.transforms import Rotate
    >>> bar = [[0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0]]
    >>> Rotate((3, 3), degrees=90)(bar).round().reshape(3, 3) + 0.0
    array([[0., 0., 0.],
           [1., 1., 1.],
           [0., 0., 0.]])
    """

    image_shape: tuple[int, int]
    degrees: float = 10.0

    def __call__(self, X: Any) -> Any:
        rows = np.asarray(X)
        images = rows.reshape(-1, *self.image_shape).astype(_floating(rows), copy=False)
        turned = ndimage.rotate(images, self.degrees, axes=(2, 1), reshape=False, order=1)
        return like(X, turned.reshape(rows.shape))


@dataclass(frozen=True)
class Thicken:
    """Make the strokes of images thicker, or thinner where the amount is negative.

    Each pixel goes towards the strongest (the weakest) of itself and its four neighbours. Named by
    the paper's discussion as a further invariance, not used in it.

    Parameters
    ----------
    image_shape : (height, width)
    amount : float
        The share of the way: from -1 to 1, where a stroke gains about two pixels in width.

    Examples
    --------
    >>> from kmviz.methods.transforms import Thicken
    >>> Thicken((1, 5), amount=0.5)([[0.0, 0.0, 1.0, 0.0, 0.0]])
    array([[0. , 0.5, 1. , 0.5, 0. ]])
    """

    image_shape: tuple[int, int]
    amount: float = 0.5

    def __call__(self, X: Any) -> Any:
        rows = np.asarray(X)
        images = rows.reshape(-1, *self.image_shape).astype(_floating(rows), copy=False)
        cross = ndimage.generate_binary_structure(2, 1)[None]
        extreme = ndimage.grey_dilation if self.amount > 0 else ndimage.grey_erosion
        # outside the frame there is no ink to gain, and none to lose
        edge = "constant" if self.amount > 0 else "nearest"
        far = extreme(images, footprint=cross, mode=edge)
        return like(X, (images + abs(self.amount) * (far - images)).reshape(rows.shape))


@dataclass(frozen=True)
class Straighten:
    """Take the slant out of images: shear each about its centre until its ink leans neither way.

    Beyond the paper, and not a virtual copy: every image is brought to the one upright form, so
    put it before the machine, `make_pipeline(FunctionTransformer(Straighten(shape)), SVC())`. An
    image row moves sideways by a share of its height above the centre of the ink, the share being
    the covariance of the ink's two coordinates over the variance of its height; between pixels
    ink is shared linearly. An image without ink, or with ink in one row only, stays as it is.

    Parameters
    ----------
    image_shape : (height, width)

    Examples
    --------
    >>> from kmviz.methods.transforms import Straighten
    >>> Straighten((3, 3))([[0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]]).reshape(3, 3)
    array([[0., 1., 0.],
           [0., 1., 0.],
           [0., 1., 0.]])
    """

    image_shape: tuple[int, int]

    def __call__(self, X: Any) -> Any:
        rows = np.asarray(X)
        upright = np.empty(rows.shape, dtype=_floating(rows))
        for top in range(0, len(rows), BLOCK):
            part = slice(top, top + BLOCK)
            images = rows[part].reshape(-1, *self.image_shape).astype(np.float64)
            upright[part] = _upright(images).reshape(len(images), -1)
        return like(X, upright)


def shifts(image_shape: tuple[int, int], pixels: int) -> list[Shift]:
    """Return the shifts by so many pixels in the four directions."""
    height, width = image_shape
    shape = (int(height), int(width))
    ways = ((-pixels, 0), (pixels, 0), (0, -pixels), (0, pixels))
    return [Shift(shape, down, right) for down, right in ways]


def like(X: Any, rows: Any) -> Any:
    """Return rows as the kind of table that X is."""
    return type(X)(rows, columns=X.columns) if hasattr(X, "iloc") else rows


def _upright(images: NDArray[np.float64]) -> NDArray[np.float64]:
    _, height, width = images.shape
    ink = images.sum(axis=(1, 2))
    ink[ink == 0] = 1.0
    by_row, by_column = images.sum(axis=2), images.sum(axis=1)
    up = np.arange(height) - (by_row @ np.arange(height) / ink)[:, None]
    along = np.arange(width) - (by_column @ np.arange(width) / ink)[:, None]
    variance = np.einsum("nr,nr->n", by_row, up**2)
    covariance = np.einsum("nrc,nr,nc->n", images, up, along)
    slant = np.divide(
        covariance, variance, out=np.zeros_like(covariance), where=variance > 1e-9 * ink
    )
    source = np.arange(width) + (slant[:, None] * up)[:, :, None]
    left = np.floor(source).astype(np.intp)
    right_share = source - left
    framed = np.pad(images, ((0, 0), (0, 0), (1, 1)))

    def ink_at(column: NDArray[np.intp]) -> NDArray[np.float64]:
        return np.take_along_axis(framed, np.clip(column + 1, 0, width + 1), axis=2)

    return (1.0 - right_share) * ink_at(left) + right_share * ink_at(left + 1)


def _floating(rows: NDArray[Any]) -> Any:
    """Return a kind of number that holds shares of ink."""
    return np.result_type(rows.dtype, np.float32)


def _stretch(by: int, size: int) -> slice:
    return slice(max(by, 0), max(size + min(by, 0), 0))
