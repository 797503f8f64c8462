"""One machine a pair of classes: how their outputs become one output a class."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray


def by_votes(outputs: NDArray[Any], n_classes: int) -> NDArray[np.float64]:
    """Return scikit-learn's one-against-one aggregation of one column for each pair of classes.

    A class has its votes plus, to break ties, its summed outputs s brought within a third of a
    vote, s / (3 (|s| + 1)). The same as `sklearn.utils.multiclass` computes, by two products in
    place of a loop over pairs, which takes longer than a fast machine does.

    Parameters
    ----------
    outputs : array of shape (n, n_classes (n_classes - 1) / 2)
        Pairs in the order of `itertools.combinations`; one that is not negative speaks for the
        pair's first class.

    Examples
    --------
    >>> import numpy as np
    >>> from kmviz.machines.votes import by_votes
    >>> by_votes(np.array([[1.0, 1.0, -0.5]]), 3).argmax(axis=1)
    array([0])
    """
    speaks, most = _sides(n_classes)
    lost = (outputs < 0).astype(np.float64)
    sums = outputs @ speaks
    return most - lost @ speaks + sums / (3.0 * (np.abs(sums) + 1.0))


@lru_cache
def _sides(n_classes: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return +1 for the first and -1 for the second class of a pair, and votes if all first win."""
    first, second = np.triu_indices(n_classes, 1)
    each = np.eye(n_classes)
    return each[first] - each[second], each[first].sum(axis=0)
