"""Machines of one kernel, evaluated together in float32, with the signs of float64.

The machines of several pairs of classes have most of their vectors in common: each distinct one
is asked once, and a matrix of weights serves all pairs. A row whose output lies so near 0 that
float32 might miss its sign is computed again in float64, radial kernels by differences. What is
proved about signs stands in docs/guides/error_bounds.md; numbers in brackets are its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from kmviz.kernels import RBF, Linear, Normalized, Polynomial, is_known, power
from kmviz.loops.rounding import (
    AROUND,
    DOUBLE,
    EXPONENTIAL,
    LEAST,
    MOST,
    SHARE,
    SINGLE,
    TINY,
    gamma_of,
    lost_beside,
    lost_by_sum,
    lost_in_base,
    lost_in_exponent,
    most_radial,
    width_of,
)
from kmviz.loops.shared import linear_outputs, shared_outputs
from kmviz.machines.certified import NONE, Ints, exact_outputs
from kmviz.machines.machine import BLOCK_BYTES, LOOP_ROWS, KernelMachine

#: Float32 kernel values that stay in a core's own cache, and the fewest rows worth a product.
CACHED, FEWEST = 2**18, 64

#: Of a machine in float32, the longest vector times gamma: see (7).
MOST_REACH = 1e20

#: No rows, of any machines.
NOWHERE = np.empty((0, 0), dtype=bool)

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Shares = tuple[float, float]


class SharedMachines:
    """Several kernel machines on the union of their vectors.

    Parameters
    ----------
    machines : list of KernelMachine
        Of one kernel.
    allowed : float
        What transformers before them may do to f: see `kmviz.machines.certified`.

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
    allowed: float

    def __init__(self, machines: list[KernelMachine], allowed: float = 0.0) -> None:
        self.machines, self.allowed = list(machines), allowed
        self.kernel = machines[0].kernel
        self.bias = np.array([machine.bias for machine in machines])
        self.vectors, self.weights = union_of(self.machines)
        self._is_known, self._embeds = is_known(self.kernel), isinstance(self.kernel, Normalized)
        self._fits = self._is_known and all(machine.fits_float32 for machine in machines)
        if self._fits and len(self.vectors):
            self._prepare()

    def __getstate__(self) -> dict[str, Any]:
        return {"machines": self.machines, "allowed": self.allowed}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def outputs(self, X: Any, wide: bool = False) -> Floats:
        """Return f of each machine (a column) for each row of an array or a sparse array.

        Parameters
        ----------
        wide : bool
            Whether every value is computed in float64, not the signs alone.
        """
        return self.certain_outputs(X, wide)[0]

    def certain_outputs(self, X: Any, wide: bool = False) -> tuple[Floats, Ints, Bools]:
        """Return f of each machine, and where even float64 cannot tell its sign.

        Returns
        -------
        outputs : array of shape (n, p)
        asked : array of integers
            The rows that float64 was asked about.
        near : array of shape (len(asked), p)
            Of which machines' f rounding decides the sign there (13).
        """
        if issparse(X):
            return self._of_sparse(X.tocsr(), wide)
        if len(self.vectors) == 0:
            return np.tile(-self.bias, (len(X), 1)), NONE, NOWHERE
        if self._is_known and X.shape[1] != self.vectors.shape[1]:
            raise ValueError(
                f"X has {X.shape[1]} columns, the machine's vectors have {self.vectors.shape[1]}."
            )
        if wide or not self._fits:
            return self._again(X, np.empty((len(X), len(self.bias))), np.arange(len(X)))
        rows = self.kernel.embed(X) if self._embeds else X
        if self._slopes is None and len(X) > LOOP_ROWS:
            output, _, unsure = self._of_dense(rows)
            return self._again(X, output, unsure)
        output, error = np.empty((2, len(X), len(self.bias)))
        rows = rows if rows.flags.carray else np.require(rows, requirements=["C", "A", "W"])
        if self._slopes is not None:
            n_unsure = linear_outputs(rows, *self._slopes, output, error)
        else:
            n_unsure = shared_outputs(
                *self._code, rows, self._center, self._columns, self._radius, self._by_machine,
                self._spread, self.bias, self._summing, output, error,
            )  # fmt: skip
        return self._again(X, output, _unsure(output, error) if n_unsure else NONE)

    def _again(self, X: Any, output: Floats, unsure: Ints) -> tuple[Floats, Ints, Bools]:
        """Compute in float64 what float32 cannot tell."""
        if not len(unsure):
            return output, NONE, NOWHERE
        rows, error = X[unsure], np.empty((len(unsure), len(self.bias)))
        rows = rows.toarray() if issparse(X) else rows
        own = exact_outputs(
            self.kernel, rows, self.vectors, self.weights, self.bias, error, self.allowed
        )
        output[unsure] = own
        return output, unsure, ~(np.abs(own) > 2.0 * error)

    def _prepare(self) -> None:
        """Lay out what each query is multiplied by."""
        kernel, vectors = self.kernel.plain, self.kernel.embed(self.vectors.astype(np.float64))
        self._spread, self._code = np.abs(self.weights).sum(axis=0), self.kernel.code
        self._is_radial, (m, d) = isinstance(kernel, RBF), vectors.shape
        self._center = vectors.mean(axis=0) if self._is_radial else np.zeros(d)
        self._height, self._slopes = max(FEWEST, CACHED // m), None
        self._summing = gamma_of(m + 4, DOUBLE) + 2.0 * self.allowed
        if isinstance(kernel, Linear):  # w and |a| of (14)
            reach = np.linalg.norm(np.abs(self.weights).T @ np.abs(vectors), axis=1)
            share = 2.0 * (gamma_of(m + d + AROUND, DOUBLE) + self.allowed)
            self._slopes = self.weights.T @ vectors, self.bias, reach, share
        moved = vectors - self._center
        squares = np.einsum("ij,ij->i", moved, moved)
        self._radius = float(np.sqrt(squares.max()))
        # One product then gives the exponents, -g||x||^2 - g||z||^2 + 2g x.z, or g x.z + a.
        last = [np.ones(m)] + ([-kernel.gamma * squares] if self._is_radial else [])
        self._right = np.ascontiguousarray(np.column_stack([moved, *last]).T, dtype=np.float32)
        self._columns = self._right[:d]  # the vectors alone
        sizes = np.abs(self.weights) / np.maximum(self._spread, LEAST)
        self._by_machine = np.ascontiguousarray(self.weights.T)
        self._narrow = self.weights.astype(np.float32)
        self._tables = (
            (self._narrow, sizes.astype(np.float32), SINGLE), (self.weights, sizes, DOUBLE)
        )  # fmt: skip
        self._fits = kernel.code[1] * self._radius < MOST_REACH  # (7)
        self._least = TINY * (self._spread + m) + self._summing * np.abs(self.bias)

    def _of_sparse(self, X: Any, wide: bool) -> tuple[Floats, Ints, Bools]:
        """Sparse rows: plain kernels by sparse-dense products, others in small dense blocks."""
        if wide or not self._fits or self._embeds or not len(self.vectors):
            height = max(1, BLOCK_BYTES // (8 * X.shape[1]))
            tops = range(0, X.shape[0], height)
            found = [self.certain_outputs(X[t : t + height].toarray(), wide) for t in tops]
            asked = [top + some for top, (_, some, _) in zip(tops, found, strict=True)]
            outputs, _, near = zip(*found, strict=True)
            return np.concatenate(outputs), np.concatenate(asked), np.concatenate(near)
        lengths = _lengths(X)
        if self._slopes is not None:
            slopes, bias, reach, off = self._slopes
            output = X @ slopes.T - bias
            return self._again(
                X, output, _unsure(output, off * (np.outer(lengths, reach) + np.abs(bias)))
            )
        narrow = X.astype(np.float32)
        reach = lengths + float(np.linalg.norm(self._center))
        share = gamma_of(int(np.diff(X.indptr).max(initial=0)) + 2 * AROUND, SINGLE)

        def dots(part: slice) -> NDArray[np.float32]:
            return self._sparse_dots(X[part], narrow[part], lengths[part] ** 2)

        output, _, unsure = self._in_blocks(dots, reach, (share, share))
        return self._again(X, output, unsure)

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

    def _of_dense(self, rows: NDArray[Any]) -> tuple[Floats, Floats, Ints]:
        reach, d = np.empty(len(rows)), len(self._columns)
        shape = min(self._height, len(rows)), len(self.vectors)
        room = np.empty((1 + (width_of(d) < d), *shape), dtype=np.float32)

        def dots(part: slice) -> NDArray[np.float32]:
            left, reach[part] = self._left(rows[part])
            return self._products(left, *room[:, : len(left)])

        return self._in_blocks(dots, reach, (lost_by_sum(d), lost_beside(d)))

    def _left(self, rows: NDArray[Any]) -> tuple[NDArray[np.float32], Floats]:
        """Rows as `_right` wants them, and their lengths."""
        kernel, d = self.kernel.plain, rows.shape[1]
        moved = rows - self._center if self._is_radial else rows
        squares = np.einsum("ij,ij->i", moved, moved, dtype=np.float64)
        left = np.empty((len(rows), len(self._right)), dtype=np.float32)
        left[:, :d] = moved
        left[:, :d] *= np.float32((1.0 + self._is_radial) * kernel.gamma)
        if self._is_radial:
            left[:, -2], left[:, -1] = -kernel.gamma * squares, 1.0
        else:
            left[:, -1] = kernel.coef0
        return left, np.sqrt(squares)

    def _products(
        self, left: NDArray[np.float32], values: NDArray[np.float32], *block: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """left @ right, in blocks of columns (3)."""
        d = len(self._columns)
        width = width_of(d)
        if width == d:  # what stands beside the columns goes into the one block
            return np.matmul(left, self._right, out=values)
        np.matmul(left[:, :width], self._right[:width], out=values)
        for start in range(width, d, width):
            part = slice(start, min(start + width, d))
            values += np.matmul(left[:, part], self._right[part], out=block[0])
        values += np.matmul(left[:, d:], self._right[d:], out=block[0])
        return values

    def _in_blocks(self, dots: Any, reach: Floats, share: Shares) -> tuple[Floats, Floats, Ints]:
        """f by float32 products, what it is off by at most, and the rows this leaves undecided.

        Parameters
        ----------
        dots : callable
            The exponents, or bases of powers, of some rows.
        reach : array of shape (n,)
            Lengths of the rows, which `dots` may write.
        share : pair of floats
            What products are off by, and what is added to them, as a share of their terms (3).
        """
        output, error = np.empty((2, len(reach), len(self.bias)))
        kept: list[NDArray[np.float32]] = []
        rows, unsure, last = [NONE], [NONE], len(reach) - self._height
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            for top in range(0, len(reach), self._height):
                part = slice(top, top + self._height)
                values = self._of_dots(dots(part))
                some = self._sum(values, reach[part], share, output[part], error[part])
                if len(some):
                    rows.append(top + some)
                    kept.append(values[some])
                if kept and (top >= last or sum(map(len, kept)) >= self._height):
                    which = np.concatenate(rows)
                    found = np.concatenate(kept), which, reach, share, output, error
                    unsure.append(self._sum_by_term(*found))
                    rows, kept = [NONE], []
        return output, error, np.concatenate(unsure)

    def _of_dots(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        if self._is_radial:
            return np.exp(values, out=values)
        return power(values, self.kernel.plain.degree)

    def _sum(
        self,
        values: NDArray[np.float32],
        reach: Floats,
        share: Shares,
        output: Floats,
        error: Floats,
    ) -> Ints:
        """Sum kernel values; return the rows that the bound of the longest one leaves unsure."""
        np.subtract(values @ self._narrow, self.bias, out=output)
        lost, size = self._lost(float(reach.max()), share)
        error[:] = self._error(size, lost, gamma_of(len(self.vectors) + 4, SINGLE))
        return _unsure(output, error)

    def _sum_by_term(
        self,
        values: NDArray[np.float32],
        rows: Ints,
        reach: Floats,
        share: Shares,
        output: Floats,
        error: Floats,
    ) -> Ints:
        """Bound what sums are off by, term by term; return the rows that are still unsure.

        Vectors that hardly count hardly move a sum. Then the sum itself is computed in float64.
        """
        for weights, sizes, unit in self._tables:
            some: NDArray[Any] = values.astype(weights.dtype, copy=False)
            summing = gamma_of(len(weights) + 4, unit)
            if unit == DOUBLE:
                output[rows] = some @ weights - self.bias
            if not self._is_radial:
                some = np.abs(some)
            mean = (1.0 + 2.0 * summing) * (some @ sizes)
            lost, _ = self._lost(reach[rows, None], share)
            error[rows] = self._error(mean ** (1.0 / self._code[3]), lost, summing)
            still = _unsure(output[rows], error[rows])
            values, rows = values[still], rows[still]
            if not len(rows):
                break
        return rows

    def _lost(self, reach: Any, share: Shares) -> tuple[Any, Any]:
        """What exponents, or bases, of such long rows are off by, and the largest size (4, 5)."""
        _, gamma, coef0, _ = self._code
        if self._is_radial:
            lost = lost_in_exponent(*share, gamma, reach, self._radius)
            return lost, most_radial(lost)
        lost = lost_in_base(share[0], len(self._columns), gamma, coef0, reach, self._radius)
        return lost, gamma * reach * self._radius + abs(coef0) + lost

    def _error(self, size: Any, lost: Any, summing: float) -> Floats:
        """What f is off by where kernel values, or bases of powers, are so large on average.

        `lost` is what exponents, or bases, are off by; a sum moves its terms by a share (8, 9).
        """
        degree, summing = self._code[3], summing + 2.0 * self.allowed
        if self._is_radial:
            most = np.where(lost <= MOST, SHARE * (lost + EXPONENTIAL * SINGLE + summing), np.inf)
            return most * size * self._spread + self._least
        most = degree * lost + (summing + gamma_of(degree, SINGLE)) * (size + lost)
        return power(size + lost, degree - 1) * most * self._spread + self._least


def _unsure(output: Floats, error: Floats) -> Ints:
    """Return the rows of which some output is not certain, or no number."""
    size = np.abs(output)
    is_sure = (size > error) & (size < np.inf)
    return NONE if is_sure.all() else np.flatnonzero(~is_sure.all(axis=1))


def _lengths(rows: Any) -> Floats:
    """||x|| of each row of an array or a sparse array."""
    if issparse(rows):
        rows = rows.astype(np.float64, copy=False)
        squares = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    else:
        squares = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
    return np.sqrt(squares)


def union_of(machines: list[KernelMachine]) -> tuple[NDArray[Any], Floats]:
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
