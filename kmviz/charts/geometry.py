"""Lines on a grid of values: where they pass a level, and where labels meet.

A line is an array (vertices, 2) of x and y; a row that is no number stands between two lines.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from numpy.typing import ArrayLike, NDArray

_GAP = np.full((1, 2), np.nan)


def contour(values: ArrayLike, x: ArrayLike, y: ArrayLike, level: float = 0.0) -> NDArray:
    """Return the lines where values on a grid pass a level, interpolated between neighbours.

    Parameters
    ----------
    values : (len(y), len(x)); no line passes a cell with a corner that is no number

    Examples
    --------
    >>> from kmviz.charts.geometry import contour
    >>> contour([[-1, 1], [-1, 1]], [0, 1], [0, 1]).tolist()
    [[0.5, 0.0], [0.5, 1.0]]
    """
    above = np.asarray(values, dtype=np.float64) - level
    places, along, up = _crossings(above, np.asarray(x, float), np.asarray(y, float))
    # The four sides of each cell by number: below, right, above, left; -1 where none is crossed.
    sides = np.stack([along[:-1], up[:, 1:], along[1:], up[:, :-1]], axis=-1).reshape(-1, 4)
    corners = np.stack([above[:-1, :-1], above[:-1, 1:], above[1:, 1:], above[1:, :-1]], axis=-1)
    corners = corners.reshape(-1, 4)
    whole = np.isfinite(corners).all(axis=1)
    count = (sides >= 0).sum(axis=1)
    plain, saddle = sides[whole & (count == 2)], whole & (count == 4)
    pairs = [plain[plain >= 0].reshape(-1, 2)]
    # A saddle joins what its middle does not part.
    turned = (corners[saddle].mean(axis=1) > 0) == (corners[saddle, 0] > 0)
    around = np.where(turned[:, None], sides[saddle], np.roll(sides[saddle], 1, axis=1))
    pairs += [around[:, :2], around[:, 2:]]
    return _joined(np.concatenate(pairs), places)


def borders(labels: ArrayLike, x: ArrayLike, y: ArrayLike) -> NDArray:
    """Return the lines between cells of a grid that have different labels.

    Examples
    --------
    >>> from kmviz.charts.geometry import borders
    >>> borders([[0, 1], [0, 1]], [0, 1], [0, 1]).tolist()
    [[0.5, -0.5], [0.5, 1.5]]
    """
    labels = np.asarray(labels)
    across, upward = _edges(np.asarray(x, float)), _edges(np.asarray(y, float))
    level = _runs(labels[1:] != labels[:-1], upward[1:-1], across)
    upright = _runs((labels[:, 1:] != labels[:, :-1]).T, across[1:-1], upward)[:, ::-1]
    return np.concatenate([level, upright])[:-1]


def _crossings(
    above: NDArray, x: NDArray, y: NDArray
) -> tuple[NDArray, NDArray[np.intp], NDArray[np.intp]]:
    """Places where sides of cells are crossed, and their numbers by side, -1 for none."""
    level = (above[:, 1:] > 0) != (above[:, :-1] > 0)
    upright = (above[1:] > 0) != (above[:-1] > 0)
    along, up = np.full(level.shape, -1, np.intp), np.full(upright.shape, -1, np.intp)
    along[level] = np.arange(level.sum())
    up[upright] = level.sum() + np.arange(upright.sum())
    row, column = np.nonzero(level)
    part = above[row, column] / (above[row, column] - above[row, column + 1])
    first = np.column_stack([x[column] + part * (x[column + 1] - x[column]), y[row]])
    row, column = np.nonzero(upright)
    part = above[row, column] / (above[row, column] - above[row + 1, column])
    second = np.column_stack([x[column], y[row] + part * (y[row + 1] - y[row])])
    return np.concatenate([first, second]), along, up


def _joined(pairs: NDArray[np.intp], places: NDArray) -> NDArray:
    """Join pairs of crossings to lines as long as they go."""
    beside: dict[int, list[int]] = defaultdict(list)
    for a, b in pairs.tolist():
        beside[a].append(b)
        beside[b].append(a)
    lines: list[NDArray] = []
    for start in sorted(beside, key=lambda k: len(beside[k])):  # open ends first, then rings
        line = [start]
        while beside[line[-1]]:
            following = beside[line[-1]].pop()
            beside[following].remove(line[-1])
            line.append(following)
        if len(line) > 1:
            lines += [places[line], _GAP]
    return np.concatenate(lines[:-1]) if lines else np.zeros((0, 2))


def _edges(centres: NDArray) -> NDArray:
    """Edges of cells around their centres."""
    middle = (centres[1:] + centres[:-1]) / 2
    first, last = 2 * centres[0] - middle[0], 2 * centres[-1] - middle[-1]
    return np.concatenate([[first], middle, [last]])


def _runs(differ: NDArray[np.bool_], lines: NDArray, edges: NDArray) -> NDArray:
    """A line from edge to edge for each run of cells that differ across one of the lines."""
    steps = np.diff(np.pad(differ.astype(np.int8), ((0, 0), (1, 1))), axis=1)
    row, begins = np.nonzero(steps == 1)
    _, ends = np.nonzero(steps == -1)
    at = lines[row]
    gap = np.full(len(row), np.nan)
    found = [np.stack(p, axis=1) for p in ((edges[begins], at), (edges[ends], at), (gap, gap))]
    return np.stack(found, axis=1).reshape(-1, 2)
