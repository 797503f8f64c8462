"""Seeded, stratified choice of training rows."""

import numpy as np


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
