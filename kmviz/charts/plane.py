"""A problem of two classes in two dimensions: as it is, or projected."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kmviz.charts.geometry import contour

#: Above so many points a sample of them is drawn.
MOST_POINTS = 50_000
#: Room around the data, as a part of their range.
_ROOM = 0.04


@dataclass(frozen=True, eq=False)
class Plane:
    """What there is to draw of a two-class problem in two dimensions.

    Parameters
    ----------
    points, labels : arrays of shape (n, 2) and (n,)
        Training rows and their labels, -1 or +1.
    vectors, weights : arrays of shape (m, 2) and (m,)
        Support vectors and their beta.
    queries : array of shape (q, 2)
        Test rows; a click on the map picks the nearest.
    class_names : the names of -1 and of +1
    axes : the names of the two axes
    x, y, values : the grid and the decision function on it, (len(y), len(x)); None where the
        plane is a projection of more dimensions
    title : what the plane is, if it is not the whole space
    """

    points: NDArray
    labels: NDArray
    vectors: NDArray
    weights: NDArray
    queries: NDArray
    class_names: tuple[str, str]
    axes: tuple[str, str]
    x: NDArray | None = None
    y: NDArray | None = None
    values: NDArray | None = None
    title: str | None = None

    @cached_property
    def boundary(self) -> NDArray | None:
        """The lines where f is zero, (vertices, 2); None in a projection."""
        if self.x is None or self.y is None or self.values is None:
            return None
        return contour(self.values, self.x, self.y)


def grid_over(rows: NDArray, size: int) -> tuple[NDArray, NDArray, NDArray]:
    """Return the two axes of a grid around rows of two columns, and its (size * size, 2) rows."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    room = _ROOM * np.maximum(high - low, 1e-9)
    x = np.linspace(low[0] - room[0], high[0] + room[0], size)
    y = np.linspace(low[1] - room[1], high[1] + room[1], size)
    return x, y, np.column_stack([a.ravel() for a in np.meshgrid(x, y)])


def principal_axes(X: NDArray) -> tuple[NDArray, NDArray, float]:
    """Return the mean, the two directions of most variance, and their share of it."""
    centre = X.mean(axis=0)
    if X.shape[1] == 1:  # one feature: the second axis is empty
        return centre, np.array([[1.0, 0.0]]), 1.0
    if len(X) < X.shape[1]:  # fewer rows than features: d x d products would be the larger ones
        _, deviations, directions = np.linalg.svd(X - centre, full_matrices=False)
        values, vectors = deviations[::-1] ** 2, directions[::-1].T
    else:
        values, vectors = np.linalg.eigh(np.cov(X.T))
    total = float(values.sum()) or 1.0
    return centre, vectors[:, [-1, -2]], float(values[-2:].sum() / total)


def thinned(n_rows: int, most: int = MOST_POINTS, seed: int = 0) -> NDArray[np.intp]:
    """Return the rows to draw: all of them, or a sorted sample of `most`."""
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(seed).choice(n_rows, most, replace=False))
