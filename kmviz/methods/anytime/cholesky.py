"""Stages 1 to 3: embed W, embed the query, bound f(x) (DeCoste 2003, section 3)."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from kmviz.kernels import diagonal, is_known
from kmviz.loops.anytime import close_bounds, coordinates
from kmviz.loops.rounding import DOUBLE, gamma_of
from kmviz.loops.threads import over_chunks
from kmviz.machines import KernelMachine
from kmviz.machines.certified import precise, share_lost
from kmviz.machines.soundness import shaped, within
from kmviz.methods.anytime.basis import Basis, factorise
from kmviz.methods.anytime.bounds import NONE, Bools, Bounds, Floats, Ints, Steps
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
    widen, round_off : arrays of shape (K + 1,)
        What rounding may take from K(x, x) - sum_{i<=k} Q_i^2, as a share of K(x, x), and from
        f_k, as a multiple of its root, and `bias_lost` beside (docs/guides/error_bounds.md).
    """

    basis: Floats
    index: Ints
    embedded: Floats | None
    vectors: Floats | None
    factor: Floats
    w_coords: Floats
    w_rest: Floats
    jitter: float
    widen: Floats
    round_off: Floats
    bias_lost: float
    known: bool
    spans: bool

    def __init__(
        self, machine: KernelMachine, basis: Basis, jitter: float, share: float = 1.0
    ) -> None:
        self.machine, self.share = machine, share
        self.basis, self.index, self.spans = basis.rows, basis.index, basis.spans
        self.known = is_known(machine.kernel)
        self.embedded = _embed(machine.kernel, basis.rows) if self.known else None
        self.vectors = _embed(machine.kernel, machine.vectors) if self.known else None
        self._embed_machine(basis, jitter)
        # K(x, x) is one kernel value where only the kernel itself can tell it.
        self.self_cost = 0 if hasattr(machine.kernel, "diag") else 1

    def _embed_machine(self, basis: Basis, jitter: float) -> None:
        """Stage 1: V and W_1 .. W_K, once."""
        machine, kernel = self.machine, self.machine.kernel
        vectors, m = machine.vectors.astype(np.float64), machine.n_vectors
        lost = share_lost(kernel, machine.n_features)
        self.factor, self.jitter = factorise(basis.K_zz, jitter, lost)
        solved = np.empty(len(basis.rows))
        coordinates(self.factor, basis.K_zw, solved)
        lengths = np.sqrt(np.maximum(diagonal(kernel, vectors), 0.0)) if m else np.empty(0)
        reach = float(np.abs(machine.beta) @ lengths) / basis.scale  # sum |beta| |phi(X_i)|
        length = np.sqrt(np.concatenate([[0.0], np.cumsum(solved**2)]))  # of k coordinates of W
        sums = gamma_of(4 * m + 8, DOUBLE)
        q_lost, w_lost = self._lost_by_step(lost, lost + gamma_of(m + 2, DOUBLE))
        squares = np.maximum(basis.K_ww - length**2, 0.0) + sums * length**2  # (18)
        squares += (lost + sums) * reach**2 + 2.0 * length * w_lost * reach
        rest = (1.0 + sums) * np.sqrt(squares + (w_lost * reach) ** 2)
        self.widen = lost + 2.0 * q_lost + q_lost**2 + sums  # (19)
        off = length * (q_lost + sums) + (w_lost + lost + sums) * reach  # (20)
        self.round_off, self.bias_lost = 1.01 * basis.scale * off, sums * abs(machine.bias)
        if self.spans:
            # all of W: the last step knows every value of the exact sum, and takes that
            rest[-1], self.round_off[-1] = 0.0, 1.01 * basis.scale * (lost + sums) * reach
        self.w_coords, self.w_rest = basis.scale * solved, basis.scale * rest

    def _lost_by_step(self, *lost: float) -> list[Floats]:
        """What k coordinates of a vector of length 1 lose whose kernel values are off so (17)."""
        steps = np.arange(1, len(self.factor) + 1)
        lengths = np.sqrt(np.einsum("ij,ij->i", self.factor, self.factor))
        inverse = solve_triangular(self.factor / lengths[:, None], np.eye(len(steps)), lower=True)
        grown = 1.01 * np.sqrt(np.cumsum(np.einsum("ij,ij->i", inverse, inverse)) * steps)
        return [np.append(0.0, grown * (each + 1.1 * (steps + 1) * DOUBLE)) for each in lost]

    def cut(self, n_steps: int) -> CholeskyEngine:
        """Return the engine that gives up after `n_steps`: the first vectors of this one's."""
        if n_steps >= self.n_steps:
            return self
        short = copy(self)
        short.basis, short.index = self.basis[:n_steps], self.index[:n_steps]
        short.spans = False
        short.embedded = None if self.embedded is None else self.embedded[:n_steps]
        short.factor = np.ascontiguousarray(self.factor[:n_steps, :n_steps])
        short.w_coords, short.w_rest = self.w_coords[:n_steps], self.w_rest[: n_steps + 1]
        short.widen, short.round_off = self.widen[: n_steps + 1], self.round_off[: n_steps + 1]
        short.stops = np.minimum(self.stops, n_steps)
        return short

    def check(self) -> None:
        """Refuse arrays that do not fit together (ValueError)."""
        K, m = self.n_steps, self.machine.n_vectors
        shaped("basis", self.basis, K, self.machine.n_features)
        shaped("factor", self.factor, K, K)
        shaped("w_coords", self.w_coords, K)
        for name in ("w_rest", "widen", "round_off"):
            shaped(name, getattr(self, name), K + 1)
        shaped("index", self.index, K)
        within("index", self.index, -1, m)
        if self.known:
            shaped("embedded", self.embedded, K, None)
            width = np.shape(np.asarray(self.embedded))[1]
            shaped("vectors", self.vectors, m, width)

    @property
    def overhead(self) -> float:
        """Eq. 16 beside its kernel values: k (k - 1) / 2 products, d of them a kernel value."""
        if not len(self.stops):
            return 0.0
        stops = self.stops.astype(np.float64)
        return float(np.mean(stops * (stops - 1.0) / 2.0)) / max(self.machine.n_features, 1)

    @property
    def missing(self) -> Ints:
        known = np.concatenate([[0], np.cumsum(self.index >= 0)])
        return self.machine.n_vectors - known

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
        return output, stop + self.self_cost + np.where(decided, 0, self.missing[-1])

    def records(self, X: NDArray[Any]) -> Steps:
        """Return what each row would come to after every number of steps."""
        n, K = len(X), self.n_steps
        partial, gap = np.empty((n, K + 1)), np.empty((n, K + 1))
        exact = np.empty(n)
        output, stop, decided = self._close(X.astype(np.float64, copy=False), exact, partial, gap)
        every = np.broadcast_to(np.arange(K + 1) + self.self_cost, (n, K + 1))
        missing = np.broadcast_to(self.missing, (n, K + 1))
        upper = np.minimum.accumulate(partial + gap, axis=1)
        lower = np.maximum.accumulate(np.subtract(partial, gap, out=gap), axis=1)
        return Steps(lower, upper, stop, decided, output, exact, every, missing)

    def trace(self, x: NDArray[Any]) -> AnytimeTrace:
        """Record one query over all K steps."""
        return self._trace_of(x, self.w_rest, self.index)

    def _close(
        self, X: Floats, exact: Floats | None = None, partial: Floats = NONE, gap: Floats = NONE
    ) -> tuple[Floats, Ints, Bools]:
        """Stages 2 and 3, compiled."""
        rows = _embed(self.machine.kernel, X)
        with np.errstate(over="ignore"):
            self_values = self.machine.kernel.plain.diag(rows)
        output, stop = np.empty(len(X)), np.empty(len(X), dtype=np.intp)
        exact = np.empty(len(X)) if exact is None else exact
        decided = np.empty(len(X), dtype=np.bool_)

        def work(a: int, b: int) -> None:
            close_bounds(
                *self.machine.kernel.code, rows[a:b], self_values[a:b], self.embedded, self.index,
                self.spans, self.factor, self.w_coords, self.w_rest, self.vectors,
                self.machine.beta, self.machine.bias, self.widen, self.round_off, self.bias_lost,
                self.share, self.tolerance, output[a:b], exact[a:b], stop[a:b], decided[a:b],
                partial[a:b], gap[a:b],
            )  # fmt: skip

        over_chunks(work, len(X))
        return output, stop, decided

    def _close_plainly(self, X: Floats) -> tuple[Floats, Ints, Bools]:
        """The same for any kernel, which is asked for exactly the values of `steps`."""
        n, K, machine = len(X), self.n_steps, self.machine
        self_values = diagonal(machine.kernel, X)
        partial, residual = np.full(n, -machine.bias), self_values.copy()
        coords, stop = np.zeros((K, n)), np.zeros(n, dtype=np.intp)
        values = np.zeros((n, machine.n_vectors + 1))  # the last column for rows not its own
        gap = self._gap(residual, self_values, 0)
        going = np.flatnonzero(~self._is_sure(partial, gap))
        for k in range(K):
            if not len(going):
                break
            value = _values(machine.kernel, X[going], self.basis[k : k + 1])[:, 0]
            values[going, self.index[k]] = value
            q = (value - self.factor[k, :k] @ coords[:k, going]) / self.factor[k, k]  # eq. 16
            coords[k, going] = q
            partial[going] += self.w_coords[k] * q  # eq. 17
            residual[going] = np.maximum(residual[going] - q * q, 0.0)  # eq. 19
            stop[going] += 1
            gap[going] = self._gap(residual[going], self_values[going], k + 1)
            going = going[~self._is_sure(partial[going], gap[going])]
        late = np.flatnonzero(stop == K) if self.spans else going
        asked = np.isin(np.arange(machine.n_vectors), self.index)
        if len(late) and not asked.all():
            others = machine.vectors[~asked].astype(np.float64)
            values[np.ix_(late, np.flatnonzero(~asked))] = _values(machine.kernel, X[late], others)
        partial[late] = values[late, :-1] @ machine.beta - machine.bias  # eq. 3
        decided = np.ones(n, dtype=bool)
        decided[going] = self.spans
        return partial, stop, decided

    def _is_sure(self, partial: Floats, gap: Floats) -> Bools:
        return (np.abs(partial) > self.share * gap) | (gap <= self.tolerance)

    def _gap(self, residual: Floats, self_values: Floats, k: Any) -> Floats:
        """Eqs. 21 to 23, which are R_k(x) sqrt(W_y^2 + W_z^2), and what rounding may take (21)."""
        left = np.sqrt(np.maximum(residual, 0.0) + self.widen[k] * self_values)
        return left * self.w_rest[k] + self.round_off[k] * np.sqrt(self_values) + self.bias_lost

    def _read(self, X: NDArray[Any], count: int) -> dict[str, Floats]:
        """Every quantity of the paper over k = 0 .. count for each query."""
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
        if self.spans and count == self.n_steps:
            partial[:, -1] = value @ self.machine.beta[self.index] - bias  # eq. 3
        some = slice(count + 1)
        gap = self._gap(residual, self_values[:, None], some)
        return {
            "partial": partial,
            "gap": gap,
            "lower": np.maximum.accumulate(partial - gap, axis=1),  # eq. 22
            "upper": np.minimum.accumulate(partial + gap, axis=1),
            "residual_sq": np.maximum(residual, 0.0) + self.widen[some] * self_values[:, None],
            "q_coords": np.hstack([start, q]),
            "value": np.hstack([start, value]),
        }


def _embed(kernel: Any, rows: NDArray[Any]) -> Floats:
    embedded = kernel.embed(rows.astype(np.float64, copy=False))
    return np.require(embedded, requirements=["C", "A", "W"])  # what loops are compiled for


def _values(kernel: Any, X: NDArray[Any], Z: NDArray[Any]) -> Floats:
    if not len(X) or not len(Z):
        return np.empty((len(X), len(Z)))
    return precise(kernel, X, Z)
