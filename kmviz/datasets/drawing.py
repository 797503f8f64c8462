"""Points drawn by hand, or a region painted by hand that points are sampled from, as a short text.

The text is what a link carries. Places on the board are counted from 0 to `LAST` on either axis,
and a place takes three letters: 18 bits, nine for each axis. A drawing of points is the places of
class -1, a full stop, the places of class +1. A painted region is a tilde and the cells of a
32 x 32 board, six to a letter, row by row from below: a cell that is set belongs to class +1.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from kmviz.datasets.record import DataError, Dataset
from kmviz.datasets.shipped import banana

#: The last place on an axis; what it stands for; points in all; points of each class at least.
LAST, REACH, MOST, LEAST = 511, 3.0, 400, 5
#: Cells on each side of a painted board; queries; how far one is from the point it stands for.
CELLS, QUERIES, STRAY = 32, 600, 0.15
PAINTED = "~"  #: what the text of a painted region begins with
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_VALUES = {letter: value for value, letter in enumerate(_LETTERS)}


@dataclass(frozen=True, eq=False)
class Drawing:
    """What stands on the board.

    Attributes
    ----------
    places : int array of shape (n, 2)
        Points, from 0 to `LAST` on either axis.
    labels : int array of shape (n,)
        Their classes, -1 and +1.
    cells : bool array of shape (CELLS, CELLS) or None
        The painted region of class +1, rows upwards; then there are no points.
    """

    places: np.ndarray
    labels: np.ndarray
    cells: np.ndarray | None = None


def read_drawing(text: str) -> Drawing:
    """Return the drawing that a text stands for; the empty text is the one to start from.

    Examples
    --------
    >>> read_drawing("AAA.___").places.tolist()
    [[0, 0], [511, 511]]
    """
    if not text:
        return start()
    if text.startswith(PAINTED):
        bits = _bits(text[1:])
        if len(text) != 1 + -(-(CELLS**2) // 6) or bits[CELLS**2 :].any():
            raise DataError(f"A painted board has {CELLS} x {CELLS} cells: this text has others.")
        none = np.empty((0, 2), dtype=int), np.empty(0, dtype=int)
        return Drawing(*none, bits[: CELLS**2].reshape(CELLS, CELLS))
    classes = text.split(".")
    if len(classes) != 2 or any(len(part) % 3 for part in classes):
        raise DataError("A drawing is two classes of points, three letters each, and a full stop.")
    if len(text) - 1 > 3 * MOST:
        raise DataError(f"A drawing holds at most {MOST} points.")
    powers = 2 ** np.arange(8, -1, -1)
    places = _bits("".join(classes)).reshape(-1, 2, 9) @ powers
    return Drawing(places, np.repeat([-1, 1], [len(part) // 3 for part in classes]))


def write_drawing(drawing: Drawing) -> str:
    """Return a drawing as a text.

    Examples
    --------
    >>> write_drawing(read_drawing("AAA.___"))
    'AAA.___'
    """
    if drawing.cells is not None:
        return PAINTED + _text(drawing.cells.ravel())
    shifts = np.arange(8, -1, -1)
    bits = (drawing.places[:, :, None] >> shifts) & 1
    return ".".join(_text(bits[drawing.labels == label].ravel()) for label in (-1, 1))


def place_rows(X: np.ndarray) -> np.ndarray:
    """Return the places on the board nearest to rows of features."""
    return np.clip(np.rint((X + REACH) / (2 * REACH) * LAST), 0, LAST).astype(int)


@cache
def start() -> Drawing:
    """The drawing to start from: some points of the banana set."""
    data = banana()
    return Drawing(place_rows(data.X_train[:120]), data.y_train[:120])


def sketch(drawn: str = "", n: int = 200, noise: float = 0.0, seed: int = 0) -> Dataset:
    """Points drawn by hand, all of them training rows.

    The test rows are drawn points, taken at random and moved a little, with the class of the point.
    Of a painted region, `n` points are sampled evenly over the board for training, a share `noise`
    of them with the wrong class, and others, with the right one, for testing.
    """
    drawing, rng = read_drawing(drawn), np.random.default_rng(seed)
    if drawing.cells is None:
        X, y, X_test, y_test = _of_points(drawing, rng)
        about = f"{len(y)} points drawn by hand; each test row is one of them, moved by {STRAY:g}."
    else:
        X, y, X_test, y_test = _of_region(drawing.cells, n, noise, rng)
        about = (
            f"{len(y)} points over a region painted by hand, {noise:.0%} of them with the wrong "
            f"class; {len(y_test)} test rows with the right one."
        )
    _refuse_few(X, y)
    return Dataset(
        X, y, X_test, y_test, name="sketch", feature_names=("x1", "x2"),
        class_names=("class -1", "class +1"), image_shape=None, about=about,
        source="drawn by hand", licence="as you like",
    )  # fmt: skip


def _refuse_few(X: np.ndarray, y: np.ndarray) -> None:
    """Say that a class has too few places that the other has not."""
    places = {label: set(map(tuple, X[y == label].tolist())) for label in (-1, 1)}
    for label, name in ((-1, "class -1 (●)"), (1, "class +1 (◆)")):
        apart = len(places[label] - places[-label])
        if apart < LEAST:
            raise DataError(
                f"Draw at least {LEAST} points of each class, apart from one another: {name} has "
                f"{apart or 'none'} so far."
            )


def _of_points(drawing: Drawing, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    mixed = rng.permutation(len(drawing.labels))  # first rows of both classes
    X, y = _rows(drawing.places[mixed]), drawing.labels[mixed]
    which = rng.integers(max(len(y), 1), size=QUERIES if len(y) else 0)
    moved = X[which] + rng.normal(scale=STRAY, size=(len(which), 2))
    return X, y, np.clip(moved, -REACH, REACH), y[which]


def _of_region(
    cells: np.ndarray, n: int, noise: float, rng: np.random.Generator
) -> tuple[np.ndarray, ...]:
    X = rng.uniform(-REACH, REACH, size=(n + QUERIES, 2))
    column, row = ((X + REACH) / (2 * REACH) * CELLS).astype(int).clip(0, CELLS - 1).T
    y = np.where(cells[row, column], 1, -1)
    wrong = rng.random(n) < noise
    return X[:n], np.where(wrong, -y[:n], y[:n]), X[n:], y[n:]


def _rows(places: np.ndarray) -> np.ndarray:
    return places / LAST * 2 * REACH - REACH


def _bits(text: str) -> np.ndarray:
    values = [_VALUES.get(letter, -1) for letter in text]
    if -1 in values:
        raise DataError(f"{text[values.index(-1)]!r} is no letter of a drawing.")
    array = np.array(values, dtype=int)
    return ((array[:, None] >> np.arange(5, -1, -1)) & 1).astype(bool).ravel()


def _text(bits: np.ndarray) -> str:
    filled = np.append(bits, np.zeros(-len(bits) % 6, dtype=int)).astype(int).reshape(-1, 6)
    return "".join(_LETTERS[value] for value in filled @ (2 ** np.arange(5, -1, -1)))
