"""Probabilities of an SVC that was trained with them, from the outputs of its machines.

Each pair of classes has Platt's sigmoid, 1 / (1 + exp(A f + B)). The pairs are brought together
(as libsvm does even with two classes) by the second method of Wu, Lin and Weng (2004),
"Probability estimates for multi-class classification by pairwise coupling": the p that minimises
the sum over pairs of (r_ji p_i - r_ij p_j)^2, found coordinate by coordinate.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Floats = NDArray[np.float64]

#: A pair is never surer than this.
SUREST = 1e-7


def sigmoids(svc: Any) -> tuple[Floats, Floats] | None:
    """Return A and B of each pair of a fitted SVC or NuSVC; None where it was trained without."""
    a, b = getattr(svc, "_probA", None), getattr(svc, "_probB", None)
    return None if a is None or b is None or not len(a) else (np.asarray(a), np.asarray(b))


def probabilities(outputs: Floats, a: Floats, b: Floats, n_classes: int) -> Floats:
    """Return the probability of each class for each row.

    Parameters
    ----------
    outputs : array of shape (n, pairs)
        Positive for a pair's first class (with two classes, for the second).
    a, b : arrays of shape (pairs,)

    Examples
    --------
    >>> import numpy as np
    >>> from kmviz.machines.platt import probabilities
    >>> probabilities(np.array([[0.0]]), np.array([-1.0]), np.array([0.0]), 2)
    array([[0.5, 0.5]])
    """
    signed = -outputs if n_classes == 2 else outputs
    first = np.clip(expit(-(signed * a + b)), SUREST, 1.0 - SUREST)
    r = np.zeros((len(outputs), n_classes, n_classes))
    for q, (i, j) in enumerate(combinations(range(n_classes), 2)):
        r[:, i, j], r[:, j, i] = first[:, q], 1.0 - first[:, q]
    return _coupled(r)


def _coupled(r: Floats) -> Floats:
    """Solve for p, row by row together; a row that has converged rests."""
    n, k = r.shape[:2]
    turned = r.swapaxes(1, 2)
    Q = -r * turned
    Q[:, range(k), range(k)] = (turned**2).sum(axis=2)
    p = np.full((n, k), 1.0 / k)
    open_rows = np.arange(n)
    for _ in range(max(100, k)):
        q, now = Q[open_rows], p[open_rows]
        Qp = np.einsum("nij,nj->ni", q, now)
        pQp = np.einsum("ni,ni->n", now, Qp)
        unsettled = np.abs(Qp - pQp[:, None]).max(axis=1) >= 0.005 / k
        if not unsettled.any():
            break
        open_rows, q, now = open_rows[unsettled], q[unsettled], now[unsettled]
        p[open_rows] = _swept(q, now, Qp[unsettled], pQp[unsettled])
    return p


def _swept(Q: Floats, p: Floats, Qp: Floats, pQp: Floats) -> Floats:
    """Move each coordinate once to where it is best, and p back to sum 1."""
    for t in range(p.shape[1]):
        step = (pQp - Qp[:, t]) / Q[:, t, t]
        p[:, t] += step
        pQp = (pQp + step * (step * Q[:, t, t] + 2.0 * Qp[:, t])) / (1.0 + step) ** 2
        Qp = (Qp + step[:, None] * Q[:, t]) / (1.0 + step)[:, None]
        p = p / (1.0 + step)[:, None]
    return p
