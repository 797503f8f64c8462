"""Machines of one kernel, evaluated together in float32, with the signs of float64.

The machines of several pairs of classes have most of their vectors in common: each distinct one
is asked once, and a matrix of weights serves all pairs. A row whose output lies so near 0 that
float32 might miss its sign is computed again in float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from kmviz.kernels import RBF, Linear, Normalized, Polynomial, as_rows, is_known, power
from kmviz.loops.shared import LOST, LOST_BY_COLUMN, MOST_LOST, SHARE, UNIT, shared_outputs
from kmviz.machines.machine import BLOCK_BYTES, LOOP_ROWS, KernelMachine

#: Float32 kernel values that stay in a core's own cache, and the fewest rows worth a product.
CACHED, FEWEST = 2**18, 64

Floats = NDArray[np.float64]


class SharedMachines:
    """Several kernel machines on the union of their vectors.

    Parameters
    ----------
    machines : list of KernelMachine
        Of one kernel.

    Attributes
    ----------
    vectors : array of shape (m, d)
        Every distinct vector once.
    weights : array of shape (m, p)
        A column for each machine.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from kmviz.machines import KernelMachine
    >>> from kmviz.machines.shared import SharedMachines
    >>> X, y = load_iris(return_X_y=True)
    >>> svc = SVC().fit(X, y)
    >>> shared = SharedMachines(KernelMachine.pairwise(svc))
    >>> len(shared.vectors) <= len(svc.support_), shared.outputs(X).shape
    (True, (150, 3))
    """

    machines: list[KernelMachine]

    def __init__(self, machines: list[KernelMachine]) -> None:
        self.machines = list(machines)
        self.kernel = machines[0].kernel
        self.bias = np.array([machine.bias for machine in machines])
        self.vectors, self.weights = _union(self.machines)
        self._is_known, self._embeds = is_known(self.kernel), isinstance(self.kernel, Normalized)
        self._fits = self._is_known and all(machine.fits_float32 for machine in machines)
        if self._fits and len(self.vectors):
            self._prepare()

    def __getstate__(self) -> dict[str, Any]:
        return {"machines": self.machines}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["machines"])  # type: ignore[misc]

    def outputs(self, X: Any, wide: bool = False) -> Floats:
        """Return f of each machine (a column) for each row of an array or a sparse array.

        Parameters
        ----------
        wide : bool
            Whether every value is computed in float64, not the signs alone.
        """
        if issparse(X):
            return self._of_sparse(X.tocsr(), wide)
        if len(self.vectors) == 0:
            return np.tile(-self.bias, (len(X), 1))
        if self._is_known and X.shape[1] != self.vectors.shape[1]:
            raise ValueError(
                f"X has {X.shape[1]} columns, the machine's vectors have {self.vectors.shape[1]}."
            )
        if wide or not self._fits:
            return self._exactly(X)
        rows = self.kernel.embed(X) if self._embeds else X
        if self._slope is not None:
            return rows @ self._slope - self.bias
        if len(X) > LOOP_ROWS:
            return self._in_blocks(X, rows)
        output = np.empty((len(X), len(self.bias)))
        rows = rows if rows.flags.carray else np.require(rows, requirements=["C", "A", "W"])
        near = shared_outputs(
            *self._code, rows, self._center, self._columns, self._radius, self.weights,
            self._spread, self.bias, output,
        )  # fmt: skip
        return self._exactly(X) if near else output

    def _of_sparse(self, X: Any, wide: bool) -> Floats:
        """Sparse rows: plain kernels by sparse-dense products, others in small dense blocks."""
        if wide or not self._fits or self._embeds or not len(self.vectors):
            height = max(1, BLOCK_BYTES // (8 * X.shape[1]))
            parts = [X[top : top + height].toarray() for top in range(0, X.shape[0], height)]
            return np.concatenate([self.outputs(part, wide) for part in parts])
        if self._slope is not None:
            return X @ self._slope - self.bias
        squares = np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
        lost = self._lost(np.sqrt(squares) + float(np.linalg.norm(self._center)))
        output, unsure = np.empty((X.shape[0], len(self.bias))), np.empty(X.shape[0], dtype=bool)
        height, narrow = max(FEWEST, CACHED // len(self.vectors)), X.astype(np.float32)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            for top in range(0, X.shape[0], height):
                part = slice(top, top + height)
                values = self._sparse_dots(X[part], narrow[part], squares[part])
                unsure[part] = self._sum(self._of_dots(values), lost[part], output[part])
        if unsure.any():
            output[unsure] = self._exactly(X[unsure].toarray())
        return output

    def _sparse_dots(self, X: Any, narrow: Any, squares: Floats) -> NDArray[np.float32]:
        """What `_of_dots` reads: exponents, or the base of a power."""
        kernel, values = self.kernel.plain, narrow @ self._columns
        if isinstance(kernel, Polynomial):
            return values * np.float32(kernel.gamma) + np.float32(kernel.coef0)
        # ||x - z||^2 about the centre c of the vectors: x - c is not sparse, but x.c is a number
        moved = squares - 2.0 * (X @ self._center) + self._center @ self._center
        values -= (self._center @ self._columns).astype(np.float32)
        values *= np.float32(2.0 * kernel.gamma)
        values -= (kernel.gamma * moved).astype(np.float32)[:, None]
        values += self._right[-1]
        return values

    def _prepare(self) -> None:
        """Lay out what each query is multiplied by."""
        kernel, vectors = self.kernel.plain, self.kernel.embed(self.vectors.astype(np.float64))
        self._slope = vectors.T @ self.weights if isinstance(kernel, Linear) else None
        is_radial = isinstance(kernel, RBF)
        self._center = vectors.mean(axis=0) if is_radial else np.zeros(vectors.shape[1])
        moved = vectors - self._center
        squares = np.einsum("ij,ij->i", moved, moved)
        self._radius = float(np.sqrt(squares.max()))
        self._spread = np.abs(self.weights).sum(axis=0)
        self._code = self.kernel.code
        self._unit = UNIT * (LOST + LOST_BY_COLUMN * np.sqrt(vectors.shape[1]))
        # One product then gives the exponents, -g||x||^2 - g||z||^2 + 2g x.z, or g x.z + a.
        last = [np.ones(len(moved))] + ([-kernel.gamma * squares] if is_radial else [])
        self._right = np.ascontiguousarray(np.column_stack([moved, *last]).T, dtype=np.float32)
        self._columns = self._right[: moved.shape[1]]  # the vectors alone
        self._narrow = self.weights.astype(np.float32)
        self._sizes = np.abs(self._narrow)
        self._rounding = UNIT * LOST_BY_COLUMN * np.sqrt(len(moved))  # of the sum itself

    def _in_blocks(self, X: NDArray[Any], rows: NDArray[Any]) -> Floats:
        """Products in float32; what they cannot tell, again in float64."""
        height = max(FEWEST, CACHED // len(self.vectors))
        output, unsure = np.empty((len(rows), len(self.bias))), np.empty(len(rows), dtype=bool)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            for top in range(0, len(rows), height):
                part = slice(top, top + height)
                left, lost = self._left(rows[part])
                unsure[part] = self._sum(self._of_dots(left @ self._right), lost, output[part])
        if unsure.any():
            output[unsure] = self._exactly(X[unsure])
        return output

    def _left(self, rows: NDArray[Any]) -> tuple[NDArray[np.float32], Floats]:
        """Rows as `_right` wants them, and what float32 may move their kernel values by."""
        kernel = self.kernel.plain
        moved = rows - self._center if isinstance(kernel, RBF) else rows
        squares = np.einsum("ij,ij->i", moved, moved).astype(np.float64)
        left = np.empty((len(rows), len(self._right)), dtype=np.float32)
        left[:, : rows.shape[1]] = moved
        reach = np.sqrt(squares)
        if isinstance(kernel, RBF):
            left[:, : rows.shape[1]] *= np.float32(2.0 * kernel.gamma)
            left[:, -2], left[:, -1] = -kernel.gamma * squares, 1.0
            return left, self._lost(reach)
        left[:, : rows.shape[1]] *= np.float32(kernel.gamma)
        left[:, -1] = kernel.coef0
        return left, self._lost(reach)

    def _lost(self, reach: Floats) -> Floats:
        """What float32 may move a kernel value by, for queries of these lengths."""
        kernel = self.kernel.plain
        if isinstance(kernel, RBF):
            return self._unit * (1.0 + kernel.gamma * (reach + self._radius) ** 2)
        largest = power(kernel.gamma * reach * self._radius + abs(kernel.coef0), kernel.degree)
        return self._unit * (kernel.degree + 1.0) * largest

    def _sum(self, values: NDArray[np.float32], lost: Floats, output: Floats) -> NDArray[np.bool_]:
        """Sum kernel values; return which rows float32 does not tell, or has no number for."""
        np.subtract(values @ self._narrow, self.bias, out=output)
        size, told = np.abs(output), np.isfinite(output)
        unsure = ~(told & (size > lost[:, None] * self._spread)).all(axis=1)
        if isinstance(self.kernel.plain, RBF):  # an exponent off by so much says nothing
            unsure |= ~(lost < MOST_LOST)
            some = np.flatnonzero(unsure & (lost < MOST_LOST))
            if len(some):  # vectors far away move a sum by next to nothing
                most = SHARE * (lost[some] + self._rounding)[:, None] * (values[some] @ self._sizes)
                unsure[some] = ~(told[some] & (size[some] > most)).all(axis=1)
        elif unsure.any():
            some = np.flatnonzero(unsure)
            most = self._moved(np.abs(values[some]) @ self._sizes, lost[some, None])
            unsure[some] = ~(told[some] & (size[some] > most)).all(axis=1)
        return unsure

    def _moved(self, summed: NDArray[Any], lost: Floats) -> Floats:
        """What float32 may move sums of powers v^p by, given sum |w| |v|^p.

        A base is moved by s at most, so a sum by p s sum |w| (|v| + s)^(p - 1): by Hoelder and
        Minkowski at most p s W^(1/p) ((sum |w| |v|^p)^(1/p) + s W^(1/p))^(p - 1), W = sum |w|.
        """
        p = self.kernel.plain.degree
        step = self._unit * (lost / (self._unit * (p + 1.0))) ** (1.0 / p)
        whole, mean = self._spread ** (1.0 / p), summed.astype(np.float64) ** (1.0 / p)
        moved = (p + 1.0) * step * whole * (mean + step * whole) ** (p - 1)
        return moved + SHARE * (self._rounding + p * UNIT) * summed

    def _of_dots(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        kernel = self.kernel.plain
        if isinstance(kernel, Polynomial):
            return power(values, kernel.degree)
        return np.exp(values, out=values)

    def _exactly(self, X: NDArray[Any]) -> Floats:
        """The kernel's own values; in float64 under a kernel that is known."""
        rows, vectors, kernel = as_rows(X), self.vectors, self.kernel
        if self._is_known:
            rows, vectors = (a.astype(np.float64, copy=False) for a in (rows, vectors))
        height = max(1, BLOCK_BYTES // 8 // len(vectors))
        blocks = [
            np.asarray(kernel(rows[top : top + height], vectors), dtype=np.float64) @ self.weights
            for top in range(0, len(rows), height)
        ]
        return np.concatenate(blocks) - self.bias


def _union(machines: list[KernelMachine]) -> tuple[NDArray[Any], Floats]:
    """Return every distinct vector, in the order they come, and each machine's weights on them."""
    if len(machines) == 1:
        return machines[0].vectors, machines[0].beta[:, None].copy()
    seen: dict[bytes, int] = {}
    kept: list[NDArray[Any]] = []
    columns = []
    for machine in machines:
        before = len(seen)
        places = [seen.setdefault(row.tobytes(), len(seen)) for row in machine.vectors]
        fresh = {place: i for i, place in enumerate(places) if place >= before}
        kept.append(machine.vectors[list(fresh.values())])
        columns.append(places)
    weights = np.zeros((len(seen), len(machines)))
    for column, (machine, places) in enumerate(zip(machines, columns, strict=True)):
        np.add.at(weights[:, column], places, machine.beta)
    return np.concatenate(kept), weights
