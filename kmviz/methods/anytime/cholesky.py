"""Stages 1 to 3: embed W, embed the query, bound f(x) (DeCoste 2003, section 3)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from kmviz.kernels import diagonal, is_known
from kmviz.loops.anytime import BIAS, close_bounds
from kmviz.loops.threads import over_chunks
from kmviz.machines import KernelMachine
from kmviz.methods.anytime.basis import Basis, blur, factorise
from kmviz.methods.anytime.bounds import ULP, Bounds, Floats, Ints
from kmviz.traces import AnytimeTrace


class CholeskyEngine(Bounds):
    """Bounds on one machine's f(x) from an ordered basis.

    Parameters
    ----------
    machine : KernelMachine
    basis : Basis
    jitter : float
        Added to the diagonal of K_ZZ, as a share of it.

    Attributes
    ----------
    basis : array of shape (K, d)
        Z.
    factor : array of shape (K, K)
        V' of the paper: row k holds Z_k's coordinates.
    w_coords : array of shape (K,)
        W_1 to W_K.
    w_rest : array of shape (K + 1,)
        Length of what k coordinates leave of W: sqrt(||W||^2 - sum_{i<=k} W_i^2).
    """

    def __init__(self, machine: KernelMachine, basis: Basis, jitter: float) -> None:
        self.machine = machine
        self.basis, self.index, self.spans = basis.rows, basis.index, basis.spans
        self.beta = np.append(machine.beta, 0.0)[basis.index]  # -1: no weight
        self.known = is_known(machine.kernel)
        self.embedded = _embed(machine.kernel, basis.rows) if self.known else None
        self._embed_machine(jitter)
        # K(x, x) is one kernel value where only the kernel itself can tell it.
        self.self_cost = 0 if hasattr(machine.kernel, "diag") else 1
        self.overhead = 0.0

    def _embed_machine(self, jitter: float) -> None:
        """Stage 1: V and W_1 .. W_K, once."""
        machine, rows = self.machine, self.basis
        vectors = machine.vectors.astype(np.float64)
        kernel, m = machine.kernel, machine.n_vectors
        scale = np.abs(machine.beta).sum() or 1.0  # eq. 9
        weights = machine.beta / scale
        K_zx = _values(kernel, rows, vectors)
        K_zz = _values(kernel, rows, rows)  # eq. 6
        K_zw = K_zx @ weights  # eq. 7
        K_ww = max(float(weights @ (_values(kernel, vectors, vectors) @ weights)), 0.0)  # eq. 8
        self.factor, self.jitter = factorise(K_zz, jitter)
        solved = solve_triangular(self.factor, K_zw, lower=True) if len(K_zw) else K_zw
        # Rounding must not make a bound too tight: squares are widened by what sums of K terms
        # lose, W's also by what beta' K beta loses, outputs by what the exact sum can lose.
        lengths = np.sqrt(np.maximum(diagonal(kernel, vectors), 0.0)) if m else np.empty(0)
        reach = float(np.abs(weights) @ lengths)  # the largest that |f(x) + b| / ||x|| could be
        self.widen = 4.0 * ULP * (float(np.sqrt(len(rows))) + 4.0)
        lost = max(blur(kernel, vectors), blur(kernel, rows))
        self.round_off = 64.0 * ULP * scale * reach * (1.0 + lost)
        squares = K_ww - np.concatenate([[0.0], np.cumsum(solved**2)])
        rest = np.sqrt(np.maximum(squares, 0.0) + self.widen * K_ww + 2.0 * ULP * reach**2)
        if self.spans:
            rest[-1] = 0.0  # all of W: the last step knows every value of the exact sum
        self.w_coords, self.w_rest = scale * solved, scale * rest

    @property
    def n_steps(self) -> int:
        """K, the size of the basis."""
        return len(self.basis)

    @property
    def w_y(self) -> Floats:
        """Eq. 11: W_y(k) = W_{k+1}; at K what is left of W stands in its place."""
        return np.append(self.w_coords, self.w_rest[-1])

    @property
    def w_z(self) -> Floats:
        """Eq. 11: W_z(k), what k + 1 coordinates leave of W."""
        return np.sqrt(np.maximum(self.w_rest**2 - self.w_y**2, 0.0))

    def run(self, X: NDArray[Any]) -> tuple[Floats, Ints]:
        """Answer each row: f_k where the sign is certain, else the exact sum."""
        X = X.astype(np.float64, copy=False)
        output, stop, decided = self._close(X) if self.known else self._close_plainly(X)
        steps = stop + self.self_cost
        if not decided.all():
            output[~decided] = self.machine.decision_function(X[~decided])
            steps[~decided] += self.machine.n_vectors
        return output, steps

    def trace(self, x: NDArray[Any]) -> AnytimeTrace:
        """Record one query over all K steps."""
        output, steps = self.run(x[None])
        read = {name: a[0] for name, a in self._read(x[None], self.n_steps).items()}
        stop = min(int(steps[0]) - self.self_cost, self.n_steps)
        return AnytimeTrace(
            exact=float(self.machine.decision_function(x[None])[0]),
            output=float(output[0]),
            stop=stop,
            **read,
            w_rest=self.w_rest,
            index=np.append(-1, self.index),
        )

    def _close(self, X: Floats) -> tuple[Floats, Ints, NDArray[np.bool_]]:
        """Stages 2 and 3, compiled."""
        rows = _embed(self.machine.kernel, X)
        self_values = self.machine.kernel.plain.diag(rows)
        kind, gamma, coef0, degree = self.machine.kernel.code
        output, stop = np.empty(len(X)), np.empty(len(X), dtype=np.intp)
        decided = np.empty(len(X), dtype=np.bool_)

        def work(a: int, b: int) -> None:
            close_bounds(
                kind, gamma, coef0, degree, rows[a:b], self_values[a:b], self.embedded, self.factor,
                self.w_coords, self.w_rest, self.beta, self.spans, self.machine.bias,
                self.widen, self.round_off, output[a:b], stop[a:b], decided[a:b],
            )  # fmt: skip

        over_chunks(work, len(X))
        return output, stop, decided

    def _close_plainly(self, X: Floats) -> tuple[Floats, Ints, NDArray[np.bool_]]:
        """The same for any kernel, which is asked for exactly the values of `steps`."""
        n, K = len(X), self.n_steps
        self_values = diagonal(self.machine.kernel, X)
        partial, total = np.full((2, n), -self.machine.bias)
        residual = self_values.copy()
        pad, slack = self.widen * self_values, self._slack(self_values)
        coords, stop = np.zeros((K, n)), np.zeros(n, dtype=np.intp)
        gap = np.sqrt(residual + pad) * self.w_rest[0] + slack
        going = np.flatnonzero(np.abs(partial) <= gap)
        for k in range(K):
            if not len(going):
                break
            value = _values(self.machine.kernel, X[going], self.basis[k : k + 1])[:, 0]
            total[going] += self.beta[k] * value
            q = (value - self.factor[k, :k] @ coords[:k, going]) / self.factor[k, k]  # eq. 16
            coords[k, going] = q
            partial[going] += self.w_coords[k] * q  # eq. 17
            residual[going] = np.maximum(residual[going] - q * q, 0.0)  # eq. 19
            stop[going] += 1
            gap[going] = np.sqrt(residual + pad)[going] * self.w_rest[k + 1] + slack[going]
            going = going[np.abs(partial[going]) <= gap[going]]
        whole = self.spans & (stop == K)
        return np.where(whole, total, partial), stop, whole | (np.abs(partial) > gap)

    def _slack(self, self_values: Floats) -> Floats:
        """What rounding can change in an output."""
        return self.round_off * np.sqrt(self_values) + BIAS * abs(self.machine.bias)

    def _read(self, X: NDArray[Any], count: int) -> dict[str, Floats]:
        """Every quantity of the paper over k = 0 .. count, a row a query."""
        X = X.astype(np.float64, copy=False)
        n, bias = len(X), self.machine.bias
        start = np.zeros((n, 1))
        value = _values(self.machine.kernel, X, self.basis[:count])
        self_values = diagonal(self.machine.kernel, X)
        q = np.empty((n, 0))
        if count:
            q = solve_triangular(self.factor[:count, :count], value.T, lower=True).T  # eq. 16
        partial = np.hstack([start, np.cumsum(self.w_coords[:count] * q, axis=1)]) - bias  # eq. 17
        residual = self_values[:, None] - np.hstack([start, np.cumsum(q**2, axis=1)])  # eq. 19
        residual = np.maximum(residual, 0.0) + self.widen * self_values[:, None]
        if self.spans and count == self.n_steps:
            partial[:, -1] = value @ self.beta - bias  # eq. 3
        # Eqs. 21 to 23 are R_k(x) sqrt(W_y^2 + W_z^2): the two residuals multiplied.
        gap = np.sqrt(residual) * self.w_rest[: count + 1]
        gap += self._slack(self_values)[:, None]
        return {
            "partial": partial,
            "gap": gap,
            "lower": partial - gap,  # eq. 22
            "upper": partial + gap,
            "residual_sq": residual,
            "q_coords": np.hstack([start, q]),
            "value": np.hstack([start, value]),
        }


def _embed(kernel: Any, rows: NDArray[Any]) -> Floats:
    return np.ascontiguousarray(kernel.embed(rows.astype(np.float64, copy=False)))


def _values(kernel: Any, X: NDArray[Any], Z: NDArray[Any]) -> Floats:
    if not len(X) or not len(Z):
        return np.empty((len(X), len(Z)))
    return np.asarray(kernel(X, Z), dtype=np.float64)
