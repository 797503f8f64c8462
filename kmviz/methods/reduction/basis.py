"""A growing set of vectors, orthonormalised, and what it leaves unexplained.

With the Cholesky factor L of K_zz, c = L^-1 b holds the coordinates of Psi's projection, so
that F = ||Psi||^2 - sum_k c_k^2 falls by c_k^2 with vector k.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from kmviz.methods.reduction.objective import JITTER, Floats, Target, lower_factor


class Basis:
    """Vectors z_1, z_2, ... and the residual Psi - Psi' seen from the support vectors.

    Attributes
    ----------
    vectors : array of shape (n, d)
    b : array of shape (n,)
        <Psi, Phi(z_k)>.
    gains : array of shape (n,)
        c_k^2: by how much vector k lowers F.
    residual : array of shape (m,)
        <Psi - Psi', Phi(s_i)>.
    own_sq : array of shape (m,)
        Squared distance of Phi(s_i) from the span of the vectors.
    """

    def __init__(self, target: Target, capacity: int) -> None:
        m, d = target.rows.shape
        self.target, self.n = target, 0
        self._vectors = np.empty((capacity, d))
        self._b, self._coordinates = np.empty(capacity), np.empty(capacity)
        self._factor = np.zeros((capacity, capacity))
        self._projections = np.empty((m, capacity), order="F")
        self.residual = target.outputs.copy()
        self.own_sq = target.plain.diag(target.rows)
        self._floor = JITTER * np.maximum(self.own_sq, np.finfo(float).tiny)

    @property
    def vectors(self) -> Floats:
        return self._vectors[: self.n]

    @property
    def b(self) -> Floats:
        return self._b[: self.n]

    @property
    def factor(self) -> Floats:
        """L"""
        return self._factor[: self.n, : self.n]

    @property
    def coordinates(self) -> Floats:
        """c = L^-1 b"""
        return self._coordinates[: self.n]

    @property
    def gains(self) -> Floats:
        return self.coordinates**2

    @property
    def weights(self) -> Floats:
        """g: L' g = c."""
        return np.asarray(solve_triangular(self.factor, self.coordinates, lower=True, trans=1))

    def scores(self) -> Floats:
        """By how much each support vector would lower F."""
        free = self.own_sq > 1e3 * self._floor
        safe = np.where(free, self.own_sq, 1.0)
        return np.where(free, self.residual**2 / safe, 0.0)

    def losses(self) -> Floats:
        """By how much F would rise without each of the vectors: g_k^2 / (K_zz^-1)_kk."""
        inverse = self.solve(np.eye(self.n))
        return self.weights**2 / np.einsum("ij,ij->j", inverse, inverse)

    def append(self, z: Floats) -> None:
        """Take one more vector."""
        target, n, row = self.target, self.n, z[None]
        values = target.plain(row, target.rows)[0]
        own = float(target.plain.diag(row)[0])
        side = self.solve(target.plain(row, self.vectors)[0]) if n else np.empty(0)
        length = np.sqrt(max(own * (1.0 + JITTER) - float(side @ side), JITTER * own))
        b = float(values @ target.beta)
        coordinate = (b - side @ self.coordinates) / length
        column = (values - self._projections[:, :n] @ side) / length
        self._vectors[n], self._b[n], self._coordinates[n] = z, b, coordinate
        self._factor[n, :n], self._factor[n, n] = side, length
        self._projections[:, n] = column
        self.residual -= coordinate * column
        self.own_sq = np.maximum(self.own_sq - column**2, 0.0)
        self.n += 1

    def replace(self, Z: Floats) -> None:
        """Take other vectors instead, in the order that lowers F fastest."""
        target, n = self.target, len(Z)
        K_zs, K_zz = target.plain(Z, target.rows), target.plain(Z, Z)
        b = K_zs @ target.beta
        order = fastest_order(K_zz, b)
        self.n = n
        self._vectors[:n], self._b[:n] = Z[order], b[order]
        self._factor[:n, :n] = lower_factor(K_zz[np.ix_(order, order)])
        self._coordinates[:n] = self.solve(self.b)
        self._projections[:, :n] = self.solve(K_zs[order]).T
        used = self._projections[:, :n]
        self.residual = target.outputs - used @ self.coordinates
        own = target.plain.diag(target.rows) - np.einsum("ij,ij->i", used, used)
        self.own_sq = np.maximum(own, 0.0)

    def explain(self, values: Floats) -> Floats:
        """Return K_zz^-1 times the kernel values of a vector with those of the basis."""
        inner = solve_triangular(self.factor, values, lower=True)
        return np.asarray(solve_triangular(self.factor, inner, lower=True, trans=1))

    def solve(self, right: Floats) -> Floats:
        """Return L^-1 times the right-hand side."""
        return np.asarray(solve_triangular(self.factor, right, lower=True))


def fastest_order(K_zz: Floats, b: Floats) -> np.ndarray:
    """Order vectors greedily: next is the one that lowers F most."""
    n = len(b)
    left, own = b.astype(np.float64).copy(), np.diag(K_zz).astype(np.float64).copy()
    floor = JITTER * np.maximum(own, np.finfo(float).tiny)
    columns, order = np.empty((n, n)), []
    free = np.ones(n, dtype=bool)
    for k in range(n):
        best = int(np.argmax(np.where(free, left**2 / np.maximum(own, floor), -1.0)))
        order.append(best)
        free[best] = False
        length = np.sqrt(max(own[best], floor[best]))
        column = (K_zz[:, best] - columns[:, :k] @ columns[best, :k]) / length
        columns[:, k] = column
        left = left - column * (left[best] / length)
        own = np.maximum(own - column**2, 0.0)
    return np.array(order, dtype=np.intp)
