"""f(x) = sum_i beta_i K(X_i, x) - b, and how it is read from a fitted estimator."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from kmviz.kernels import Code, as_rows, is_known
from kmviz.loops.kernel import machine_outputs
from kmviz.machines.certified import precise
from kmviz.machines.soundness import shaped

#: No block of kernel values grows past this many bytes.
BLOCK_BYTES = 16 * 2**20

#: Lengths whose squares float32 holds well; kernel values that it holds.
SHORTEST, LONGEST, LARGEST = 1e-15, 1e15, 1e30

#: float32 may move f by this share of its size.
CLOSE = 1e-2

#: Up to this many queries go through the compiled loop, each as it would come alone.
LOOP_ROWS = 16


@dataclass(frozen=True, eq=False)
class KernelMachine:
    """A kernel machine f(x) = sum_i beta_i K(X_i, x) - b.

    Parameters
    ----------
    vectors : array of shape (m, d)
        The X_i. They stand in file order when read from an estimator.
    beta : array of shape (m,)
        Their weights, y_i alpha_i in an SVM.
    bias : float
        b. scikit-learn's `intercept_` is -b.
    kernel : callable
        `kernel(X, Z)` gives the matrix of kernel values.

    Examples
    --------
    >>> from kmviz.kernels import Linear
    >>> from kmviz.machines import KernelMachine
    >>> machine = KernelMachine([[1.0, 0.0], [0.0, 1.0]], [2.0, -1.0], 0.5, Linear())
    >>> machine.decision_function([[1.0, 1.0]])
    array([0.5])
    """

    vectors: NDArray[Any]
    beta: NDArray[np.float64]
    bias: float
    kernel: Any

    def __post_init__(self) -> None:
        vectors = as_rows(self.vectors)
        beta = np.asarray(self.beta, dtype=np.float64)
        if beta.shape != (len(vectors),):
            raise ValueError(
                f"beta must hold one weight a vector: got shape {beta.shape} for "
                f"{len(vectors)} vectors."
            )
        if not callable(self.kernel):
            raise TypeError(
                f"kernel must be callable, like those of kmviz.kernels; got {self.kernel!r}."
            )
        for name, value in (("vectors", vectors), ("beta", beta), ("bias", float(self.bias))):
            object.__setattr__(self, name, value)

    @property
    def n_vectors(self) -> int:
        """m, the number of vectors every exact answer touches."""
        return len(self.vectors)

    @property
    def n_features(self) -> int:
        """d, the number of columns of a query."""
        return self.vectors.shape[1]

    @classmethod
    def from_estimator(cls, fitted: Any) -> KernelMachine:
        """Read the machine of a fitted binary estimator; see `kmviz.machines.reading`."""
        from kmviz.machines.reading import read_binary

        return read_binary(fitted)

    @staticmethod
    def pairwise(svc: Any) -> list[KernelMachine]:
        """Read one machine a pair of classes, in `itertools.combinations(classes_, 2)` order.

        Machine p equals column p of the SVC's `decision_function` under
        `decision_function_shape="ovo"`: positive speaks for the pair's first class (and, with
        two classes, for the second, as scikit-learn has it).
        """
        from kmviz.machines.reading import read_pairs

        return read_pairs(svc)

    def decision_function(self, X: ArrayLike, dtype: DTypeLike | None = None) -> NDArray[Any]:
        """Return f(x) for each row, touching every vector.

        Parameters
        ----------
        X : array of shape (n, d)
        dtype : dtype, optional
            None computes in float64. float32 is several times faster with, in practice, the
            same labels; a few queries at a time go through a compiled loop. What is out of its
            range is computed in float64 all the same.
        """
        dtype = np.dtype(dtype or np.float64)
        if len(self.beta) == 0:
            return np.full(len(as_rows(X)), -self.bias, dtype=dtype)
        if not is_known(self.kernel):
            rows, vectors = as_rows(X), self.vectors
            if dtype == np.float64:
                rows, vectors = (a.astype(dtype, copy=False) for a in (rows, vectors))
            return self._in_blocks(rows, self.kernel, vectors, self.beta, dtype)
        if dtype == np.float64:
            return self._evaluated(X, dtype)
        if self.fits_float32:
            output = self._evaluated(X, dtype)
            wide = output.astype(np.float64, copy=False)
            if wide.dot(wide) < LARGEST**2:
                return output.astype(dtype, copy=False)
        most = np.finfo(dtype).max
        return self._evaluated(X, np.dtype(np.float64)).clip(-most, most).astype(dtype)

    @cached_property
    def fits_float32(self) -> bool:
        """Whether float32 holds the vectors, their squares and their kernel values, and tells f.

        It tells too little where columns lie far from 0, as dates do, or where large weights
        cancel: f of some of the vectors is compared.
        """
        longest = float(np.abs(self.vectors).max(initial=0.0))
        if longest and not SHORTEST < longest < LONGEST:
            return False
        if not hasattr(self.kernel, "diag"):
            return True
        with np.errstate(over="ignore"):
            own = self.kernel.diag(self.vectors.astype(np.float64))
        if not float(np.max(own, initial=0.0)) < LARGEST:
            return False
        if not (is_known(self.kernel) and len(self.beta)):
            return True
        some = self.vectors[:: -(-len(self.vectors) // LOOP_ROWS)]
        exact = self._evaluated(some, np.dtype(np.float64))
        single = self._evaluated(some, np.dtype(np.float32), loop_rows=0)  # summed in it as well
        return bool(np.abs(single - exact).max() <= CLOSE * np.abs(exact).max())

    def _evaluated(self, X: ArrayLike, dtype: np.dtype, loop_rows: int = LOOP_ROWS) -> NDArray[Any]:
        """f(x) under a kernel that loops know, computed in `dtype`; a few in float64 at the end."""
        # Writable: a loop is compiled for one kind of array, and a mapped file is another.
        if not (type(X) is np.ndarray and X.dtype == dtype and X.flags.carray):
            X = np.require(X, dtype=dtype, requirements=["C", "W"])
        rows = self.kernel.embed(X)
        vectors, beta = self.embedded(dtype)
        if rows.shape[1] != vectors.shape[1]:
            raise ValueError(
                f"X has {np.shape(X)[1]} columns, the machine's vectors have {self.n_features}."
            )
        if len(rows) <= loop_rows:
            output = np.empty(len(rows))
            code: Code = self.kernel.code
            machine_outputs(*code, rows, vectors, self.beta, self.bias, output)
            return output
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is noticed
            plain = self.kernel.plain
            values = plain if dtype != np.float64 else partial(precise, plain)
            return self._in_blocks(rows, values, vectors, beta, dtype)

    @cached_property
    def radius(self) -> float:
        """The length of the longest vector."""
        vectors = self.vectors.astype(np.float64, copy=False)
        return float(np.sqrt(np.einsum("ij,ij->i", vectors, vectors).max(initial=0.0)))

    def embedded(self, dtype: np.dtype) -> tuple[NDArray[Any], NDArray[Any]]:
        """Vectors as the plain kernel reads them, and beta, kept for the next call."""
        if dtype not in self._kept:
            vectors = np.ascontiguousarray(self.kernel.embed(self.vectors.astype(dtype)))
            self._kept[dtype] = (vectors, self.beta.astype(dtype))
        return self._kept[dtype]

    @cached_property
    def _kept(self) -> dict[np.dtype, tuple[NDArray[Any], NDArray[Any]]]:
        return {}

    def check(self) -> None:
        """Refuse arrays that do not fit together (ValueError)."""
        shaped("vectors", self.vectors, None, None)
        shaped("beta", self.beta, len(self.vectors))
        shaped("bias", self.bias)

    def __getstate__(self) -> dict[str, Any]:
        """What is stored: the four fields, nothing that can be computed again."""
        return {name: getattr(self, name) for name in ("vectors", "beta", "bias", "kernel")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        arrays = {n: np.require(state[n], requirements="W") for n in ("vectors", "beta")}
        self.__dict__.update(state | arrays)
        self.check()  # what else is stored may be computed from it at once

    def _in_blocks(self, rows, kernel, vectors, beta, dtype) -> NDArray[Any]:
        """Sum the kernel values in blocks of rows, then of vectors, none over BLOCK_BYTES."""
        values = max(1, BLOCK_BYTES // 8)
        width = min(len(vectors), values)
        height = max(1, values // width)
        output = np.full(len(rows), -self.bias, dtype=dtype)
        for top in range(0, len(rows), height):
            part = slice(top, top + height)
            for left in range(0, len(vectors), width):
                across = slice(left, left + width)
                output[part] += kernel(rows[part], vectors[across]) @ beta[across]
        return output
