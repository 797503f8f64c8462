"""Certified bounds for quadratic kernels from the eigenvectors of the machine itself.

A machine with K(u, v) = (g u.v + a)^2 is a quadratic form on augmented rows
u~ = [sqrt(g) u, sqrt(a)]: f(x) = x~' A x~ - b with A = sum_i beta_i X~_i X~_i' (a normalised
kernel divides the rows by their length). With A's eigenvectors v_j ordered by |lambda_j|,

    f_k(x) = sum_{j<=k} lambda_j (v_j . x~)^2 - b,   R_k^2(x) = ||x~||^2 - sum_{j<=k} (v_j . x~)^2,

and f(x) - f_k(x) lies in [min(lambda_rest, 0), max(lambda_rest, 0)] R_k^2(x). No triangular
system is solved at query time, and each (v_j . x~)^2 is one kernel value.

Rows of float32 are decided in float32: |fl(v.x) - v.x| <= g |v| |x| with g = d u / (1 - d u), in
whatever order the d products are summed, so that by Cauchy and Schwarz

    the f_k so computed is within (2 g ||lambda||_2 + g^2 ||lambda||_1) ||x~||^2 of the true one,
    R_k^2 within (2 g sqrt(k) + g^2 k) ||x~||^2,

lambda being the k eigenvalues taken. The bounds are as much wider, and every sign stays certain.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, qr

from kmviz.kernels import Normalized, Polynomial, diagonal, is_known
from kmviz.loops.anytime import BIAS, close_spectral
from kmviz.loops.kernel import machine_outputs
from kmviz.loops.rounding import DOUBLE, gamma_of
from kmviz.loops.threads import over_chunks
from kmviz.machines import KernelMachine
from kmviz.machines.soundness import shaped, within
from kmviz.methods.anytime.bounds import NONE, ULP, Bools, Bounds, Floats, Ints, Steps
from kmviz.traces import AnytimeTrace

#: LAPACK's eigenvectors of n columns are off by so many times n u, as are their right angles (22).
LAPACK = 16

#: Rows a thread takes at a time.
CHUNK = 512


def quadratic(kernel: Any) -> tuple[Polynomial, bool] | None:
    """Return the polynomial of degree 2 in `kernel` and whether it is normalised, or None."""
    normalized = isinstance(kernel, Normalized)
    while isinstance(kernel, Normalized):
        kernel = kernel.kernel
    if isinstance(kernel, Polynomial) and kernel.degree == 2 and kernel.coef0 >= 0:
        return kernel, normalized
    return None


class SpectralEngine(Bounds):
    """Bounds on a quadratic machine's f(x), one eigenvector a step.

    Attributes
    ----------
    values : array of shape (K,)
        The eigenvalues that are not 0, by falling magnitude.
    directions, offsets : arrays of shape (K, width) and (K,)
        v_j . x~ = directions_j . x + offsets_j, before a normalised kernel's division; columns
        of x count from `first`.
    lowest, highest : arrays of shape (K + 1,)
        Range of the eigenvalues that are left after k steps, 0 included.
    """

    directions: Floats
    offsets: Floats
    lowest: Floats
    highest: Floats
    values: Floats
    gamma: float
    coef0: float
    first: int
    known: bool
    normalized: bool
    tells_finite: bool

    def __init__(self, machine: KernelMachine, n_steps: int, share: float = 1.0) -> None:
        found = quadratic(machine.kernel)
        if found is None:
            raise ValueError(
                "order='spectral' needs a polynomial kernel of degree 2 with coef0 >= 0, "
                f"normalised or not; got {machine.kernel!r}. Use order='min_wz' instead."
            )
        self.machine, self.share = machine, share
        (poly, self.normalized), self.known = found, is_known(machine.kernel)
        self.gamma, self.coef0 = float(poly.gamma), float(poly.coef0)
        self._decompose()
        self._keep(min(n_steps, len(self.values)))
        self.tables = {"f": self._table(np.float32), "d": self._table(np.float64)}
        if not self.known:
            self._place_vectors()
        self.tells_finite = self.known

    def check(self) -> None:
        """Refuse arrays that do not fit together (ValueError)."""
        K, width = self.n_steps, np.shape(self.directions)[-1]
        within("first", self.first, 0, self.machine.n_features - width + 1)
        for name, shape in {
            "directions": (K, width), "offsets": (K,), "lowest": (K + 1,), "highest": (K + 1,)
        }.items():  # fmt: skip
            shaped(name, getattr(self, name), *shape)
        for directions, widen, round_off, *_ in self.tables.values():
            shaped("directions", directions, K, width)
            shaped("widen", widen, K + 1)
            shaped("round_off", round_off, K + 1)

    def _decompose(self) -> None:
        rows = self.machine.vectors.astype(np.float64)
        rows = np.column_stack([np.sqrt(self.gamma) * rows, np.full(len(rows), self.coef0**0.5)])
        squares = np.einsum("ij,ij->i", rows, rows)
        beta = self.machine.beta
        if self.normalized:
            beta = np.divide(beta, squares, out=np.zeros_like(beta), where=squares > 0)
        values, vectors = _eigen(rows, beta)
        largest = np.abs(values).max(initial=0.0)
        order = np.argsort(-np.abs(values), kind="stable")
        order = order[np.abs(values[order]) > ULP * len(values) * largest]
        self.values, vectors = values[order], vectors[:, order].T
        self.first, last = _columns_used(rows[:, :-1])
        self.directions = vectors[:, self.first : last] * np.sqrt(self.gamma)
        self.offsets = vectors[:, -1] * np.sqrt(self.coef0)
        total = float(np.abs(beta) @ squares)
        n = rows.shape[1]
        self.widen = gamma_of(LAPACK * n + 64, DOUBLE)  # (22)
        self.round_off = gamma_of(2 * len(rows) + LAPACK * n + 64, DOUBLE) * total  # (23)

    def _keep(self, count: int) -> None:
        after = np.append(self.values, 0.0)[::-1]
        self.lowest = np.minimum.accumulate(np.minimum(after, 0.0))[::-1][: count + 1].copy()
        self.highest = np.maximum.accumulate(np.maximum(after, 0.0))[::-1][: count + 1].copy()
        self.values, self.offsets = self.values[:count], self.offsets[:count]
        self.directions = np.ascontiguousarray(self.directions[:count])

    def _table(self, dtype: type) -> tuple[Any, ...]:
        """What the loop reads for a type: directions, rounding by step, lengths it takes."""
        steps = np.arange(self.n_steps + 1)
        widen, round_off = np.full(len(steps), self.widen), np.full(len(steps), self.round_off)
        range_ = (0.0, np.inf) if dtype is np.float64 else (1e-30, 1e30)
        unit = (self.directions.shape[1] + 1) * float(np.finfo(dtype).eps) / 2.0
        g = unit / (1.0 - unit)
        sizes = np.append(0.0, np.abs(self.values))
        widen += 2.0 * g * np.sqrt(steps) + g**2 * steps
        round_off += 2.0 * g * np.sqrt(np.cumsum(sizes**2)) + g**2 * np.cumsum(sizes)
        return self.directions.astype(dtype), widen, round_off, *range_

    def _place_vectors(self) -> None:
        """Find input rows z_j with K(z_j, x) proportional to (v_j . x~)^2, to ask a kernel for."""
        directions = np.zeros((len(self.values), self.machine.n_features))
        directions[:, self._used] = self.directions / self.gamma
        self.ratio = np.ones(len(self.values))
        if self.coef0 > 0:
            last = self.offsets / np.sqrt(self.coef0)
            if np.any(np.abs(last) < 1e-6):
                raise ValueError(
                    "order='spectral' asks this kernel about eigenvectors that no row of "
                    "features stands for. Use a kernel of kmviz.kernels itself, not a subclass, "
                    "or order='min_wz'."
                )
            directions = directions * (np.sqrt(self.coef0) / last)[:, None]
            self.ratio = last**2 / self.coef0
        if self.normalized:
            self.ratio = np.ones(len(self.values))
        self.places = directions

    @property
    def _used(self) -> slice:
        """The columns that directions speak of."""
        return slice(self.first, self.first + self.directions.shape[1])

    @property
    def n_steps(self) -> int:
        """K, the number of eigenvectors kept."""
        return len(self.values)

    @property
    def overhead(self) -> float:
        """||x~||^2, one product of rows."""
        return 1.0

    def cut(self, n_steps: int) -> SpectralEngine:
        """Return the engine that gives up after `n_steps`: the first eigenvectors of this one's."""
        if n_steps >= self.n_steps:
            return self
        short = copy(self)
        short.lowest, short.highest = self.lowest[: n_steps + 1], self.highest[: n_steps + 1]
        short.values, short.offsets = self.values[:n_steps], self.offsets[:n_steps]
        short.directions = self.directions[:n_steps]
        short.tables = {"f": short._table(np.float32), "d": short._table(np.float64)}
        if not self.known:
            short._place_vectors()
        return short

    def run(self, X: NDArray[Any]) -> tuple[Floats, Ints]:
        """Answer each row: f_k where the sign is certain, else the exact sum."""
        output, stop, decided = self._close(X) if self.known else self._close_plainly(X)
        if not decided.all():
            output[~decided] = self._exact(X[~decided])
            stop[~decided] += self.machine.n_vectors
        return output, stop

    def records(self, X: NDArray[Any]) -> Steps:
        """Return what each row would come to after every number of steps."""
        n, K = len(X), self.n_steps
        partial, lower, upper = (np.empty((n, K + 1)) for _ in range(3))
        output, stop, decided = self._close(X, partial, lower, upper)
        every = np.broadcast_to(np.arange(K + 1), (n, K + 1))
        missing = np.broadcast_to(self.missing, (n, K + 1))
        return Steps(lower, upper, stop, decided, output, self._exact(X), every, missing)

    def trace(self, x: NDArray[Any]) -> AnytimeTrace:
        """Record one query over all K steps."""
        return self._trace_of(x, (self.highest - self.lowest) / 2.0, np.full(self.n_steps, -1))

    def _exact(self, X: NDArray[Any]) -> Floats:
        """The exact sum of each row, as it would come alone: eigenvectors tell no kernel value."""
        if not self.known:
            return self.machine.decision_function(X)
        machine, embed = self.machine, self.machine.kernel.embed
        rows, vectors = (
            np.require(embed(a.astype(np.float64)), requirements=["C", "W"])
            for a in (X, machine.vectors)
        )
        out = np.empty(len(rows))
        machine_outputs(*machine.kernel.code, rows, vectors, machine.beta, machine.bias, out)
        return out

    def _close(
        self, X: NDArray[Any], partial: Floats = NONE, lower: Floats = NONE, upper: Floats = NONE
    ) -> tuple[Floats, Ints, Bools]:
        X = X if X.flags.carray else np.require(X, requirements=["C", "W"])
        output, stop = np.empty(len(X)), np.empty(len(X), dtype=np.intp)
        decided = np.empty(len(X), dtype=np.bool_)

        def work(a: int, b: int) -> None:
            directions, widen, round_off, smallest, largest = self.tables[X.dtype.char]
            close_spectral(
                X[a:b], self.first, directions, self.offsets, self.values, self.lowest,
                self.highest, self.gamma, self.coef0, self.normalized, self.machine.bias, widen,
                round_off, smallest, largest, self.share, output[a:b], stop[a:b], decided[a:b],
                partial[a:b], lower[a:b], upper[a:b],
            )  # fmt: skip

        if len(X) <= CHUNK:  # a query that comes alone should not wait for Python
            work(0, len(X))
        else:
            over_chunks(work, len(X), CHUNK)
        return output, stop, decided

    def _close_plainly(self, X: NDArray[Any]) -> tuple[Floats, Ints, Bools]:
        """The same for a kernel that wants to be asked: exactly the values of `steps`."""
        X = X.astype(np.float64, copy=False)
        square = self._squares(X)
        partial, residual = np.full(len(X), -self.machine.bias), square.copy()
        stop = np.zeros(len(X), dtype=np.intp)
        for k in range(self.n_steps + 1):
            left = residual + self.widen * square
            slack = self.round_off * square + BIAS * abs(self.machine.bias)
            decided = (partial + self.share * (self.lowest[k] * left - slack) > 0.0) | (
                partial + self.share * (self.highest[k] * left + slack) < 0.0
            )
            going = np.flatnonzero(~decided)
            if k == self.n_steps or not len(going):
                break
            part = self._parts(X[going], slice(k, k + 1))[:, 0]
            partial[going] += self.values[k] * part
            residual[going] = np.maximum(residual[going] - part, 0.0)
            stop[going] += 1
        return partial, stop, decided

    def _squares(self, X: Floats) -> Floats:
        """||x~||^2, of which K(x, x) is the square."""
        return np.sqrt(np.maximum(diagonal(self.machine.kernel, X), 0.0))

    def _parts(self, X: Floats, steps: slice) -> Floats:
        """(v_j . x~)^2 of the eigenvectors in `steps`."""
        if not self.known:
            values = np.asarray(self.machine.kernel(X, self.places[steps]), dtype=np.float64)
            return values * self.ratio[steps]
        parts = (X[:, self._used] @ self.directions[steps].T + self.offsets[steps]) ** 2
        if self.normalized:
            lengths = (self.gamma * np.einsum("ij,ij->i", X, X) + self.coef0)[:, None]
            parts = np.divide(parts, lengths, out=np.zeros_like(parts), where=lengths > 0)
        return parts

    def _read(self, X: NDArray[Any], count: int) -> dict[str, Floats]:
        X = X.astype(np.float64, copy=False)
        start, square = np.zeros((len(X), 1)), self._squares(X)[:, None]
        parts = self._parts(X, slice(0, count)) if count else np.empty((len(X), 0))
        partial = np.hstack([start, np.cumsum(self.values[:count] * parts, axis=1)])
        partial -= self.machine.bias
        residual = square - np.hstack([start, np.cumsum(parts, axis=1)])
        residual = np.maximum(residual, 0.0) + self.widen * square
        slack = self.round_off * square + BIAS * abs(self.machine.bias)
        lower = partial + self.lowest[: count + 1] * residual - slack
        upper = partial + self.highest[: count + 1] * residual + slack
        return {
            "partial": partial,
            "gap": (upper - lower) / 2.0,
            "lower": lower,
            "upper": upper,
            "residual_sq": residual,
            "q_coords": np.hstack([start, np.sqrt(parts)]),
            "value": np.hstack([start, parts]),
        }


def _columns_used(rows: Floats) -> tuple[int, int]:
    """The columns between which rows are not 0, as many as fill whole vector registers.

    A column that is 0 in every row (the rim of an image) is 0 in every eigenvector.
    """
    used = np.flatnonzero(rows.any(axis=0))
    first, last = (int(used[0]), int(used[-1]) + 1) if len(used) else (0, 1)
    width = min(-(-(last - first) // 16) * 16, rows.shape[1])
    first = min(first, rows.shape[1] - width)
    return first, first + width


def _eigen(rows: Floats, beta: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues and eigenvectors (columns) of sum_i beta_i rows_i rows_i'."""
    if len(rows) >= rows.shape[1]:
        return eigh((rows.T * beta) @ rows)
    base, small = qr(rows.T, mode="economic")  # fewer rows than features: only their span matters
    values, vectors = eigh((small * beta) @ small.T)
    return values, base @ vectors
