"""Several classes by elimination: a class that wins all its pairs cannot be overtaken.

Every other class has lost to it, so it alone has a vote from each of its pairs: whatever the other
pairs say, and however ties are broken, the vote of all pairs comes to the same. Of c classes
c - 1 to 2 c pairs are asked in place of c (c - 1) / 2; where no class wins all its pairs, all are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.loops.shared import contenders

Ints = NDArray[np.intp]

#: Outputs of a pair of classes, by its place among `itertools.combinations`, for some rows.
Ask = Callable[[int, Ints], NDArray[Any]]


def unbeaten(n_rows: int, n_classes: int, ask: Ask) -> Ints:
    """Return the class that wins all its pairs, for each row; -1 where there is none.

    Classes meet one after the other, and the winner stays. The last one then meets those that lost
    to others.

    Examples
    --------
    >>> import numpy as np
    >>> from kmviz.methods.elimination import unbeaten
    >>> outputs = np.array([[1.0, -2.0, -1.0], [1.0, -1.0, 1.0]])  # 0-1, 0-2, 1-2
    >>> unbeaten(2, 3, lambda pair, rows: outputs[rows, pair])
    array([ 2, -1])
    """
    place = np.zeros((n_classes, n_classes), dtype=np.intp)
    place[np.triu_indices(n_classes, 1)] = np.arange(n_classes * (n_classes - 1) // 2)
    champion = np.zeros(n_rows, dtype=np.intp)
    has_beaten = np.zeros((n_rows, n_classes), dtype=bool)
    for challenger in range(1, n_classes):
        for other in range(challenger):
            rows = np.flatnonzero(champion == other)
            if not len(rows):
                continue
            has_beaten[rows, challenger] = True
            lost = rows[ask(int(place[other, challenger]), rows) < 0]  # 0 is the first one's
            champion[lost] = challenger
            has_beaten[lost] = False
            has_beaten[lost, other] = True
    for first in range(n_classes):
        for second in range(first + 1, n_classes):
            for own, other in ((first, second), (second, first)):
                rows = np.flatnonzero((champion == own) & ~has_beaten[:, other])
                if len(rows):
                    lost = (ask(int(place[first, second]), rows) < 0) == (own == first)
                    champion[rows[lost]] = -1
    return champion


def settle(
    outputs: NDArray[Any], known: NDArray[np.bool_], n_classes: int, ask: Ask, scale: Any = 1.0
) -> Ints:
    """Return the class that wins all its pairs, where some outputs are known and others guessed.

    Of the classes that no known output beats, the one that the guesses put furthest ahead is asked
    for: its guessed pairs become known, until one has won all of them, or all classes are beaten
    (-1). `outputs` and `known` take what was asked.

    Parameters
    ----------
    outputs : array of shape (n, p)
        Of each pair of classes, in the order of `itertools.combinations`.
    known : array of shape (n, p)
    scale : array of shape (p,)
        What guesses are compared in.

    Examples
    --------
    >>> import numpy as np
    >>> from kmviz.methods.elimination import settle
    >>> guesses, asked = np.array([[1.0, 0.1, -3.0]]), np.array([[1.0, -2.0, -3.0]])
    >>> settle(guesses, np.array([[True, False, True]]), 3, lambda pair, i: asked[i, pair])
    array([2])
    """
    n, p = outputs.shape
    scale = np.full(p, scale, dtype=np.float64)
    winner, rows = np.full(n, -1), np.arange(n)
    while len(rows):
        best, asks = np.empty(len(rows), dtype=np.intp), np.empty((len(rows), p), dtype=bool)
        contenders(outputs, known, rows, scale, n_classes, best, asks)
        is_open = asks.any(axis=1)
        winner[rows] = np.where(is_open, -1, best)
        for pair in np.flatnonzero(asks.any(axis=0)):
            asked = rows[asks[:, pair]]
            outputs[asked, pair], known[asked, pair] = ask(int(pair), asked), True
        rows = rows[is_open]
    return winner
