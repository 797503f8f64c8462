"""The record of a data set, the split of its rows, and the error of a bad table."""

from dataclasses import dataclass, replace

import numpy as np

_DARKEST = {"digits": 16}  # scikit-learn's digits count 0..16 dots; other images are 8-bit


class DataError(ValueError):
    """A table that cannot be used; the message says what is wrong and what to do."""


class TooLarge(DataError):
    """A table that has more bytes than may be read at once."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """A classification problem, split into training and test rows.

    Attributes
    ----------
    X_train, y_train, X_test, y_test : ndarray
        Rows are examples. Labels are -1 and +1 where there are two classes, the digits
        themselves for images of digits, and 0, 1, 2, ... otherwise.
    name : str
    feature_names : tuple of str
        One name for each column of X.
    class_names : tuple of str
        Readable names, in the order of the sorted labels.
    image_shape : tuple of int or None
        (height, width) if a row is an image.
    about : str
        What the values are, how rows were split, what was done to them.
    source, licence : str
    """

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    name: str
    feature_names: tuple[str, ...]
    class_names: tuple[str, ...]
    image_shape: tuple[int, int] | None
    about: str
    source: str
    licence: str

    def scaled(self) -> "Dataset":
        """The same data with 8-bit pixels as float32 in [0, 1]; itself if there are none."""
        if self.image_shape is None or self.X_train.dtype != np.uint8:
            return self
        darkest = np.float32(_DARKEST.get(self.name, 255))
        return replace(
            self,
            X_train=self.X_train / darkest,
            X_test=self.X_test / darkest,
            about=f"{self.about} Pixels divided by {darkest:.0f}.",
        )


def split_rows(y: np.ndarray, n_train: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Training and test rows, each class in proportion; the same seed gives the same rows.

    Shares are rounded by largest remainder, so `n_train` is met exactly. Where the numbers
    allow, every class has a row on either side.

    Examples
    --------
    >>> train, test = split_rows(np.array([0, 0, 0, 0, 1, 1]), 3, seed=0)
    >>> len(train), len(test)
    (3, 3)
    """
    rng = np.random.default_rng(seed)
    members = [rng.permutation(np.flatnonzero(y == label)) for label in np.unique(y)]
    counts = _shares(np.array([len(rows) for rows in members]), n_train)
    pairs = list(zip(members, counts, strict=True))
    train = np.concatenate([rows[:count] for rows, count in pairs])
    test = np.concatenate([rows[count:] for rows, count in pairs])
    return rng.permutation(train), rng.permutation(test)


def _shares(sizes: np.ndarray, n_train: int) -> np.ndarray:
    """How many rows of each class train."""
    ideal = sizes * (n_train / sizes.sum())
    counts = np.clip(np.floor(ideal), 1, np.maximum(sizes - 1, 1)).astype(int)
    while counts.sum() != n_train:
        step = 1 if counts.sum() < n_train else -1
        # a class never leaves the range 0..size; among the others, the one furthest behind
        room = counts < sizes if step > 0 else counts > 0
        need = np.where(room, step * (ideal - counts), -np.inf)
        counts[np.argmax(need)] += step
    return counts
