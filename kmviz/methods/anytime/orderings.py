"""Which vector comes next: greedy orders of the basis (DeCoste 2003, section 4).

All of them walk down one pivoted Cholesky factorisation of the candidates. A step costs
O(c k) for c candidates and k vectors chosen so far; "sgma" also multiplies by the kernel
matrix, O(c^2).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.loops.anytime import lookahead_costs
from kmviz.methods.progress import report

Floats = NDArray[np.float64]

TRICK = 59  # candidates drawn a step: one of 59 is among the best 5% with 95% confidence
TIES = 1.01  # footnote 5: costs within 1% of the best are ties


class PivotedFactor:
    """Candidates, factorised one chosen pivot at a time.

    Positions k, k + 1, ... of every array are the candidates still free, so that no work goes
    to the chosen ones.

    Attributes
    ----------
    order : array of shape (c,)
        Candidate at each position; the first k are chosen.
    pivots : array of shape (c,)
        What is left of K(Z, Z) of each, jitter included.
    common : array of shape (c,)
        What is left of K(Z, W) of each: <Phi(Z), W> beyond the basis.
    rest : float
        What is left of ||W||^2.
    rows : array of shape (n_steps, c)
        V' of the paper: row k holds every candidate's coordinate k.
    """

    def __init__(
        self, kernel_matrix: Floats, k_zw: Floats, k_ww: float, extra: Floats, n_steps: int
    ) -> None:
        c = len(kernel_matrix)
        self.kernel_matrix = kernel_matrix
        self.order = np.arange(c)
        self.extra = extra
        self.pivots = kernel_matrix.diagonal() + extra
        self.common = k_zw.copy()
        self.rest = k_ww
        self.rows = np.empty((n_steps, c))
        self.k = 0

    def gains(self) -> Floats:
        """How much of ||W||^2 each free candidate would explain: its W_k^2."""
        return self.common[self.k :] ** 2 / self.pivots[self.k :]

    def take(self, choice: int) -> None:
        """Make the free candidate `choice` (counted from 0) the next basis vector."""
        k = self.k
        for array in (self.order, self.pivots, self.common, self.extra):
            array[[k, k + choice]] = array[[k + choice, k]]
        done = self.rows[:k]
        done[:, [k, k + choice]] = done[:, [k + choice, k]]
        root = np.sqrt(self.pivots[k])
        column = self.kernel_matrix[self.order[k], self.order[k:]]
        column -= done[:, k] @ done[:, k:]
        column /= root
        column[0] = root
        self.rows[k, k:] = column
        w = self.common[k] / root
        self.common[k + 1 :] -= w * column[1:]
        self.pivots[k + 1 :] -= column[1:] ** 2
        np.maximum(self.pivots[k + 1 :], self.extra[k + 1 :], out=self.pivots[k + 1 :])
        self.rest = max(self.rest - w * w, 0.0)
        self.k += 1


def min_wz(factor: PivotedFactor, n_steps: int) -> NDArray[np.intp]:
    """Eq. 25: the candidate that leaves the least of W, of all candidates."""
    for _ in range(n_steps):
        factor.take(int(np.argmax(factor.gains())))
        _say(factor.k, n_steps)
    return factor.order[:n_steps]


def sgma(factor: PivotedFactor, n_steps: int) -> NDArray[np.intp]:
    """Sparse greedy matrix approximation: the candidate that leaves the least of K.

    A candidate explains ||E_i||^2 / E_ii of the remaining matrix E = K - V V'. The squared row
    lengths follow E -> E - v v' without E itself: ||E_i||^2 - 2 v_i (E v)_i + v_i^2 ||v||^2.
    """
    K = factor.kernel_matrix
    lengths = np.einsum("ij,ij->i", K, K)
    for k in range(n_steps):
        free = factor.order[k:]
        factor.take(int(np.argmax(lengths[free] / factor.pivots[k:])))
        v = np.zeros(len(K))
        v[factor.order[k:]] = factor.rows[k, k:]
        # Chosen rows of E are 0 up to the jitter; E v of the free ones needs only free columns.
        free = factor.order[k:]
        part = factor.rows[:k, k:]
        e_v = (K @ v)[free] - (part @ v[free]) @ part
        lengths[free] += v[free] ** 2 * (v @ v) - 2.0 * v[free] * e_v
        np.maximum(lengths, 0.0, out=lengths)
        _say(factor.k, n_steps)
    return factor.order[:n_steps]


def drawn(factor: PivotedFactor, n_vectors: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """The "59-trick": all free support vectors, and at most 59 other free rows at random."""
    free = factor.order[factor.k :]
    others = np.flatnonzero(free >= n_vectors)
    if len(others) > TRICK:
        others = rng.choice(others, TRICK, replace=False)
    return np.concatenate([np.flatnonzero(free < n_vectors), others])


def min_wz_n(
    factor: PivotedFactor, n_steps: int, n_vectors: int, rng: np.random.RandomState
) -> NDArray[np.intp]:
    """Eq. 25 over support vectors and drawn training rows."""
    for _ in range(n_steps):
        allowed = drawn(factor, n_vectors, rng)
        factor.take(int(allowed[np.argmax(factor.gains()[allowed])]))
        _say(factor.k, n_steps)
    return factor.order[:n_steps]


class QuerySample:
    """Where a sample of queries stands: f_k, R_k^2 and coordinates of the undecided ones.

    Parameters
    ----------
    k_zq : array of shape (c, n)
        Kernel values of candidates and queries.
    self_values : array of shape (n,)
        K(x, x).
    exact : array of shape (n,)
        f(x), whose signs the bounds are to reach.
    """

    def __init__(self, k_zq: Floats, self_values: Floats, exact: Floats, bias: float) -> None:
        self.k_zq = k_zq
        self.partial = np.full(len(exact), -bias)
        self.residual = self_values.astype(np.float64)
        self.sides = np.where(exact > 0, 1.0, -1.0)
        self.coords = np.empty((0, len(exact)))

    def cross(self, factor: PivotedFactor, positions: NDArray[np.intp]) -> Floats:
        """What candidates and queries have in common beyond the basis."""
        at = factor.k + positions
        return self.k_zq[factor.order[at]] - factor.rows[: factor.k, at].T @ self.coords

    def costs(self, factor: PivotedFactor, positions: NDArray[np.intp]) -> Floats:
        """Eq. 26 of each candidate."""
        at = factor.k + positions
        pivots, costs = factor.pivots[at], np.empty(len(at))
        lookahead_costs(
            self.cross(factor, positions), pivots, factor.common[at] / np.sqrt(pivots),
            self.partial, self.residual, factor.rest, self.sides, costs,
        )  # fmt: skip
        return costs

    def step(self, factor: PivotedFactor, position: int) -> None:
        """Move on by the chosen candidate, and forget the queries it decides."""
        pivot = factor.pivots[factor.k + position]
        w = factor.common[factor.k + position] / np.sqrt(pivot)
        q = self.cross(factor, np.array([position]))[0] / np.sqrt(pivot)  # eq. 16
        self.partial = self.partial + w * q  # eq. 17
        self.residual = np.maximum(self.residual - q * q, 0.0)  # eq. 19
        self.coords = np.vstack([self.coords, q])
        gap = np.sqrt(self.residual * max(factor.rest - w * w, 0.0))
        open_ = self.sides * self.partial <= gap
        if open_.mean() < 0.9:  # bounds are nested: what is decided stays decided
            self.k_zq, self.coords = self.k_zq[:, open_], self.coords[:, open_]
            self.partial, self.residual = self.partial[open_], self.residual[open_]
            self.sides = self.sides[open_]


def query_tuned(
    factor: PivotedFactor, n_steps: int, n_vectors: int, rng: np.random.RandomState,
    sample: QuerySample, ties_only: bool,
) -> NDArray[np.intp]:  # fmt: skip
    """Eq. 26 among all drawn candidates, or ("hybrid") among those that tie in eq. 25.

    Once every query of the sample is decided, eq. 25 goes on alone.
    """
    for _ in range(n_steps):
        allowed = drawn(factor, n_vectors, rng)
        gains = factor.gains()[allowed]
        choice = int(allowed[np.argmax(gains)])
        if len(sample.sides):
            if ties_only:
                costs = np.sqrt(np.maximum(factor.rest - gains, 0.0))  # eq. 25
                allowed = allowed[costs <= TIES * costs.min()]
            if len(allowed) > 1:
                choice = int(allowed[np.argmin(sample.costs(factor, allowed))])
            sample.step(factor, choice)
        factor.take(choice)
        _say(factor.k, n_steps)
    return factor.order[:n_steps]


def _say(k: int, n_steps: int) -> None:
    if k % 16 == 0 or k == n_steps:
        report(k / n_steps, f"ordering the basis: {k} of {n_steps}")


def candidates(n_rows: int, n_vectors: int, rng: Any) -> NDArray[np.intp]:
    """Rows beside the support vectors that orders may draw from: at most max(m, 1000)."""
    most = max(n_vectors, 1000)
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(rng.choice(n_rows, most, replace=False))
