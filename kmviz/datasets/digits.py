"""Images of digits: MNIST and scikit-learn's small ones, as 8-bit pixels."""

from functools import lru_cache

import numpy as np
from sklearn.datasets import load_digits

from kmviz.datasets.record import Dataset, split_rows
from kmviz.datasets.shipped import sample_file

Pair = tuple[int, int]


def mnist(pair: Pair | None = None, n: int | None = None) -> Dataset:
    """MNIST, 60,000 training and 10,000 test images, raw pixels 0..255.

    Pixels stay 8-bit (`Dataset.scaled` makes floats) and are read once a process: without a
    pair the arrays are read-only views of the one copy. `pair=(3, 8)` keeps two digits,
    `n` the first n training rows.
    """
    X_train, y_train, X_test, y_test = _mnist_pixels()
    if pair is not None:
        keep, keep_test = _of_pair(y_train, pair), _of_pair(y_test, pair)
        X_train, y_train = X_train[keep], y_train[keep]
        X_test, y_test = X_test[keep_test], y_test[keep_test]
    if n is not None and not 2 <= n <= len(y_train):
        raise ValueError(f"n={n!r} training rows do not fit: choose 2 to {len(y_train)}.")
    return Dataset(
        X_train[:n],
        y_train[:n],
        X_test,
        y_test,
        name="mnist",
        feature_names=_pixel_names(28),
        class_names=_digit_names(pair),
        image_shape=(28, 28),
        about=f"Handwritten digits, {_which(pair)}, 28 x 28 pixels from 0 to 255, raw.",
        source="MNIST, Y. LeCun, C. Cortes and C. J. C. Burges",
        licence="CC BY-SA 3.0",
    )


def digits(pair: Pair | None = None, n: int | None = None, seed: int = 0) -> Dataset:
    """scikit-learn's 1,797 digits of 8 x 8 pixels, 0..16, two thirds of them for training.

    `n` sets the number of training rows instead; `seed` picks the stratified split.
    """
    pixels, y = load_digits(return_X_y=True)
    X, y = pixels.astype(np.uint8), y.astype(np.int64)
    if pair is not None:
        keep = _of_pair(y, pair)
        X, y = X[keep], y[keep]
    size = round(len(y) * 2 / 3) if n is None else n
    if not 2 <= size <= len(y) - 2:
        raise ValueError(f"n={n!r} training rows do not fit: choose 2 to {len(y) - 2}.")
    train, test = split_rows(y, size, seed)
    return Dataset(
        X[train],
        y[train],
        X[test],
        y[test],
        name="digits",
        feature_names=_pixel_names(8),
        class_names=_digit_names(pair),
        image_shape=(8, 8),
        about=f"Handwritten digits, {_which(pair)}, 8 x 8 pixels from 0 to 16, raw. "
        f"Split {seed}: {size:,} training and {len(y) - size:,} test rows, stratified.",
        source="scikit-learn's load_digits; UCI, Optical Recognition of Handwritten Digits",
        licence="CC BY 4.0",
    )


@lru_cache(maxsize=1)
def _mnist_pixels() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    with np.load(sample_file("mnist"), allow_pickle=False) as stored:
        arrays = stored["Xtr"], stored["ytr"].astype(int), stored["Xte"], stored["yte"].astype(int)
    for array in arrays:
        array.setflags(write=False)  # every caller sees the same copy
    return arrays


def _of_pair(y: np.ndarray, pair: Pair) -> np.ndarray:
    first, second = _check_pair(pair)
    return (y == first) | (y == second)


def _check_pair(pair: Pair) -> Pair:
    chosen = tuple(pair)
    if len(set(chosen)) != 2 or not set(chosen) <= set(range(10)):
        raise ValueError(f"pair={pair!r}: give two different digits, such as pair=(3, 8).")
    return chosen[0], chosen[1]


def _digit_names(pair: Pair | None) -> tuple[str, ...]:
    return tuple(str(digit) for digit in (range(10) if pair is None else sorted(pair)))


def _which(pair: Pair | None) -> str:
    return "all ten" if pair is None else " against ".join(_digit_names(pair))


def _pixel_names(side: int) -> tuple[str, ...]:
    return tuple(f"pixel_{row}_{col}" for row in range(side) for col in range(side))
