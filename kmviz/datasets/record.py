"""The record in which every data set arrives."""

from dataclasses import dataclass, replace

import numpy as np

_DARKEST = {"digits": 16}  # scikit-learn's digits count 0..16 dots; other images are 8-bit


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
