"""Recorded sets: the values in `sample_data/`, split by a seed."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from kmviz.datasets.catalogue import SHIPPED
from kmviz.datasets.record import Dataset, split_rows

_PACKAGE = Path(__file__).resolve().parents[1]
# beside the package in a checkout, inside it in an installed wheel
FOLDERS = (_PACKAGE.parent / "sample_data", _PACKAGE / "sample_data")


def sample_file(name: str) -> Path:
    """Where the values of a shipped set are."""
    for folder in FOLDERS:
        path = folder / f"{name}.npz"
        if path.is_file():
            return path
    places = " or ".join(str(folder) for folder in FOLDERS)
    raise FileNotFoundError(
        f"The values of {name!r} are missing: no {name}.npz in {places}. "
        "Reinstall kmviz, or copy sample_data/ from its repository there."
    )


def recorded(name: str, n: int | None = None, seed: int = 0, whole: bool = False) -> Dataset:
    """A recorded two-class set.

    Parameters
    ----------
    n : int, optional
        Training rows; the rest are test rows. Default: the size that the benchmark uses, or
        two thirds where there is none.
    seed : int
        Which of the random, stratified splits: 0, 1, 2, ...
    whole : bool
        No split: training and test rows are both all rows, in the order of the file.
    """
    entry = SHIPPED[name]
    with np.load(sample_file(name), allow_pickle=False) as stored:
        X, y = stored["X"].astype(np.float64), stored["y"].astype(np.int64)
    if whole:
        if n is not None:
            raise ValueError("whole=True takes all rows: leave out n.")
        train = test = np.arange(len(y))
        rows = "All rows in file order, for training and test alike."
    else:
        size = _train_size(name, n, entry.n_train, len(y))
        train, test = split_rows(y, size, seed)
        rows = f"Split {seed}: {size:,} training and {len(y) - size:,} test rows, stratified."
    return Dataset(
        X[train],
        y[train],
        X[test],
        y[test],
        name=name,
        feature_names=entry.feature_names,
        class_names=entry.class_names,
        image_shape=None,
        about=f"{entry.about} {rows}",
        source=entry.source,
        licence=entry.licence,
    )


def banana(n: int | None = None, noise: float = 0.0, seed: int = 0, whole: bool = False) -> Dataset:
    """The banana set; `noise` moves every point by that deviation, 0 leaves it as recorded."""
    data = recorded("banana", n, seed, whole)
    if noise == 0:
        return data
    rng = np.random.default_rng(seed)
    return replace(
        data,
        X_train=data.X_train + rng.normal(scale=noise, size=data.X_train.shape),
        X_test=data.X_test + rng.normal(scale=noise, size=data.X_test.shape),
        about=f"{data.about} Gaussian noise of {noise:g} added.",
    )


def _train_size(name: str, n: int | None, official: int | None, total: int) -> int:
    if n is None:
        return official or round(total * 2 / 3)
    if not 2 <= n <= total - 2:
        raise ValueError(
            f"n={n!r} training rows do not fit {name!r}, which has {total}: "
            f"choose 2 to {total - 2}, or whole=True for all rows."
        )
    return n
