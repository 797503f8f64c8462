"""Rows that challenge the thresholds (5.2).

"Generating data which falls within the convex hull of the training data (i.e. plausibility) and
occurs close to a large cluster of SVs from one class and yet is on the other side of the
discriminant border."
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from kmviz.machines import KernelMachine

#: Support vectors of one class whose mean is the middle of a cluster.
CLUSTER = 5

#: Halvings of the way to the border.
HALVINGS = 12


def challenging_rows(
    machine: KernelMachine, X: ArrayLike, n_rows: int, random_state: Any = None
) -> NDArray[np.float64]:
    """Make rows near a cluster of support vectors of one class, just across the border.

    From the middle of a cluster of near support vectors of one class, go straight towards a
    training row of the other side until the machine changes its mind, and stop there. Every
    such row is a mean of training rows, so it lies in their convex hull.

    Parameters
    ----------
    machine : KernelMachine
    X : array of shape (n, d)
        Training rows.
    n_rows : int
        At most how many rows to make; fewer where a cluster lies across the border itself.
    random_state : int or RandomState, optional

    Returns
    -------
    array of shape (n_made, d)

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.svm import SVC
    >>> from kmviz.machines import KernelMachine
    >>> from kmviz.papers.generated import challenging_rows
    >>> X, y = make_moons(100, noise=0.1, random_state=0)
    >>> machine = KernelMachine.from_estimator(SVC().fit(X, y))
    >>> rows = challenging_rows(machine, X, 20, random_state=0)
    >>> bool(abs(machine.decision_function(rows)).max() < 0.1)
    True
    """
    rng = check_random_state(random_state)
    rows = np.asarray(X, dtype=np.float64)
    seeds = rng.randint(machine.n_vectors, size=n_rows)
    middles = _cluster_means(machine)[seeds]
    side = np.where(machine.beta[seeds] > 0, 1.0, -1.0)
    positive = machine.decision_function(rows) > 0
    across = np.where(side > 0, _pick(rng, ~positive, n_rows), _pick(rng, positive, n_rows))
    kept = (machine.decision_function(middles) * side > 0) & (across >= 0)
    if not kept.any():
        return np.empty((0, rows.shape[1]))
    middles, side, targets = middles[kept], side[kept], rows[across[kept]]
    near, far = np.zeros(len(side)), np.ones(len(side))  # f has the cluster's sign at `near` only
    for _ in range(HALVINGS):
        half = (near + far) / 2
        stays = machine.decision_function(_between(middles, targets, half)) * side > 0
        near, far = np.where(stays, half, near), np.where(stays, far, half)
    return _between(middles, targets, far)


def _between(start: NDArray[Any], end: NDArray[Any], share: NDArray[Any]) -> NDArray[Any]:
    return start + share[:, None] * (end - start)


def _pick(rng: Any, mask: NDArray[np.bool_], n: int) -> NDArray[np.intp]:
    """Pick n of the rows in `mask` at random; -1 where there is none."""
    among = np.flatnonzero(mask)
    return rng.choice(among, n) if len(among) else np.full(n, -1)


def _cluster_means(machine: KernelMachine) -> NDArray[np.float64]:
    """Return, for each support vector, the mean of its nearest ones of the same class."""
    vectors = np.asarray(machine.vectors, dtype=np.float64)
    means = vectors.copy()
    for members in (np.flatnonzero(machine.beta > 0), np.flatnonzero(machine.beta <= 0)):
        own = vectors[members]
        squares = np.einsum("ij,ij->i", own, own)
        for start in range(0, len(own), 512):
            part = slice(start, start + 512)
            distances = squares[None] - 2 * own[part] @ own.T
            nearest = np.argsort(distances, axis=1)[:, :CLUSTER]
            means[members[part]] = own[nearest].mean(axis=1)
    return means
