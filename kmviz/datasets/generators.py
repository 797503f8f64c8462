"""Artificial problems: `n` training rows, `noise` and a `seed` make each of them anew.

References
----------
L. Breiman. Bias, variance and arcing classifiers. TR 460, Univ. of California, 1996
(twonorm, ringnorm). L. Breiman et al. Classification and Regression Trees, 1984 (waveform).
N. Segata and E. Blanzieri. Fast and scalable local kernel machines. JMLR 11, 2010, section 5
(two spirals, checkerboard, NDCC). The papers do not print these generators; the defaults of
`noise` here give the accuracy levels that they report.
"""

from collections.abc import Callable

import numpy as np

from kmviz.datasets.record import Dataset

Draw = Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]


def two_moons(n: int = 400, noise: float = 0.2, seed: int = 0, n_test: int = 2000) -> Dataset:
    """Two interleaving half circles of radius 1; `noise` is the deviation of each coordinate."""

    def draw(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
        y = _labels(rng, rows)
        t = rng.uniform(0, np.pi, rows)
        X = np.column_stack([np.cos(t), np.sin(t)])
        X[y > 0] = [1.0, 0.5] - X[y > 0]
        return X + rng.normal(scale=noise, size=X.shape), y

    about = f"Two interleaving half circles with Gaussian noise of {noise:g}."
    return _generated("two_moons", draw, n, n_test, seed, about)


def two_spirals(n: int = 2000, noise: float = 0.59, seed: int = 0, n_test: int = 2000) -> Dataset:
    """Two arms +-t^2.5 (sin t, cos t) / 500, t in [0, 10 pi].

    `noise` is the deviation as a share of half the distance between the arms at t, so that the
    inner turns are as hard as the outer ones; at 0.59 a local method tops out near 88.5%.
    """

    def draw(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
        y = _labels(rng, rows)
        t = rng.uniform(0, 10 * np.pi, rows)
        arm = (y * t**2.5 / 500)[:, None] * np.column_stack([np.sin(t), np.cos(t)])
        half_gap = 2.5 * t**1.5 / 500 * np.pi / 2  # the other arm is half a turn away
        return arm + rng.normal(size=arm.shape) * (noise * half_gap)[:, None], y

    about = f"Two spiral arms of five turns; noise of {noise:g} times half the gap between them."
    return _generated("two_spirals", draw, n, n_test, seed, about)


def checkerboard(
    n: int = 2000, noise: float = 0.058, seed: int = 0, n_test: int = 2000, jitter: float = 0.0
) -> Dataset:
    """A 4 x 4 board on [0, 4)^2 with labels (-1)^(floor x1 + floor x2).

    `noise` is the share of flipped labels (0.058 puts the ceiling at 94.2%); `jitter` moves
    the points afterwards by that deviation, in cells.
    """
    if not 0 <= noise <= 1:
        raise ValueError(f"noise is a share of flipped labels: between 0 and 1, got {noise!r}.")

    def draw(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
        X = rng.uniform(0, 4, size=(rows, 2))
        y = np.where(np.floor(X).sum(axis=1) % 2 == 0, 1, -1)
        y[rng.random(rows) < noise] *= -1
        return X + rng.normal(scale=jitter, size=X.shape), y

    about = f"A 4 x 4 checkerboard, {noise:.1%} of the labels flipped, points moved by {jitter:g}."
    return _generated("checkerboard", draw, n, n_test, seed, about)


def ndcc(n: int = 2000, noise: float = 68.0, seed: int = 0, n_test: int = 2000) -> Dataset:
    """Normal clusters in five dimensions, centred on the axes at +-100, +-300 and +-500.

    18 of the 30 centres belong to class +1, dealt once: every seed draws from one problem.
    `noise` is the deviation of a cluster; at 68 about 86% are reachable.
    """
    axes = np.vstack([np.eye(5), -np.eye(5)])
    centres = np.vstack([radius * axes for radius in (100, 300, 500)])
    owners = np.random.default_rng(0).permutation(np.repeat([-1, 1], [12, 18]))

    def draw(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
        which = rng.integers(len(centres), size=rows)
        return centres[which] + rng.normal(scale=noise, size=(rows, 5)), owners[which]

    about = f"30 normal clusters of deviation {noise:g} on the axes of a five-dimensional space."
    return _generated("ndcc", draw, n, n_test, seed, about)


def twonorm(n: int = 400, noise: float = 1.0, seed: int = 0, n_test: int = 7000) -> Dataset:
    """N(a, I) against N(-a, I), a = 2/sqrt(20), in 20 dimensions; `noise` scales the deviation."""

    def draw(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
        y = _labels(rng, rows)
        mean = y[:, None] * (2 / np.sqrt(20))
        return mean + rng.normal(scale=noise, size=(rows, 20)), y

    about = f"Two normal classes in 20 dimensions, means +-2/sqrt(20), deviation {noise:g}."
    return _generated("twonorm", draw, n, n_test, seed, about)


def ringnorm(n: int = 400, noise: float = 1.0, seed: int = 0, n_test: int = 7000) -> Dataset:
    """N(0, 4I), class +1, around N(a, I), a = 1/sqrt(20), in 20 dimensions.

    `noise` scales both deviations.
    """

    def draw(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
        y = _labels(rng, rows)
        wide = (y > 0)[:, None]
        spread = noise * np.where(wide, 2.0, 1.0)
        return np.where(wide, 0.0, 1 / np.sqrt(20)) + spread * rng.normal(size=(rows, 20)), y

    about = f"A wide normal class around a narrow one in 20 dimensions, deviations x {noise:g}."
    return _generated("ringnorm", draw, n, n_test, seed, about)


def waveform(n: int = 400, noise: float = 1.0, seed: int = 0, n_test: int = 4600) -> Dataset:
    """Random mixtures of two of three triangular waves at 21 points, plus N(0, noise^2).

    The mixtures of the early and the middle wave are class +1 (a third), the others -1.
    """
    place = np.arange(1, 22)
    early, middle, late = (np.maximum(6 - abs(place - peak), 0) for peak in (7, 11, 15))
    first = np.array([early, early, middle])
    second = np.array([middle, late, late])

    def draw(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
        kind = rng.integers(3, size=rows)
        share = rng.random((rows, 1))
        X = share * first[kind] + (1 - share) * second[kind]
        return X + rng.normal(scale=noise, size=X.shape), np.where(kind == 0, 1, -1)

    about = f"Mixtures of two of three triangular waves at 21 points, noise of {noise:g}."
    return _generated("waveform", draw, n, n_test, seed, about)


def _labels(rng: np.random.Generator, rows: int) -> np.ndarray:
    return rng.permutation(np.where(np.arange(rows) % 2 == 0, 1, -1))


def _generated(name: str, draw: Draw, n: int, n_test: int, seed: int, about: str) -> Dataset:
    for option, count in (("n", n), ("n_test", n_test)):
        if count < 2:
            raise ValueError(f"{option}={count!r} is too few rows; ask for at least 2.")
    rng = np.random.default_rng(seed)
    X_train, y_train = draw(rng, n)
    X_test, y_test = draw(rng, n_test)
    return Dataset(
        X_train,
        y_train,
        X_test,
        y_test,
        name=name,
        feature_names=tuple(f"x{j + 1}" for j in range(X_train.shape[1])),
        class_names=("class -1", "class +1"),
        image_shape=None,
        about=f"{about} Drawn with seed {seed}: {n} training and {n_test} test rows.",
        source="generated by kmviz",
        licence="as kmviz",
    )
