"""Mercer kernels: values of K and its diagonal.

Every kernel here is a function of dot products. A normalised kernel
K(u, v) / sqrt(K(u, u) K(v, v)) equals a plain one on rows that are embedded once:
(g u.v + a)^p becomes the dot product to the power p of the unit-length augmented rows
[sqrt(g) u, sqrt(a)] / sqrt(g u.u + a). So `kernel(X, Z)` is always
`kernel.plain(kernel.embed(X), kernel.embed(Z))`, and compiled loops need to know only the
three plain kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kmviz.loops.embed import unit_rows
from kmviz.loops.kernel import squared_distances
from kmviz.loops.rounding import gamma_of

LINEAR, POLYNOMIAL, RADIAL = 0, 1, 2

#: What products may take from an exponent at most; where it might be more, distances are computed
#: by differences. No certificate reads such values (docs/guides/error_bounds.md).
BLUR = {np.dtype(np.float32): 1e-2, np.dtype(np.float64): 1e-10}

#: What compiled loops read of a plain kernel: kind, gamma, coef0, degree.
Code = tuple[int, float, float, int]


def as_rows(X: ArrayLike) -> NDArray[Any]:
    """Return X as a two-dimensional float array; float32 stays, everything else is float64."""
    rows = np.asarray(X)
    if rows.dtype != np.float32:
        rows = rows.astype(np.float64, copy=False)
    if rows.ndim != 2:
        raise ValueError(f"A kernel takes rows, a 2-d array; got {rows.ndim} dimension(s).")
    return rows


def power(base: NDArray[Any], degree: int) -> NDArray[Any]:
    """Raise to a whole power by repeated multiplication, several times faster than `**`."""
    result, square = None, base
    while degree:
        if degree & 1:
            result = square if result is None else result * square
        degree >>= 1
        if degree:
            square = square * square
    return np.ones_like(base) if result is None else result


def _is_finite(value: object) -> bool:
    return isinstance(value, Real) and isfinite(value)


def _check_gamma(gamma: float) -> None:
    if not _is_finite(gamma) or gamma <= 0:
        raise ValueError(f"gamma must be a positive number; got {gamma!r}.")


@dataclass(frozen=True)
class Linear:
    """K(u, v) = u.v

    Examples
    --------
    >>> from kmviz.kernels import Linear
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    @property
    def plain(self) -> Linear:
        return self

    @property
    def code(self) -> Code:
        return LINEAR, 1.0, 0.0, 1

    def embed(self, X: ArrayLike) -> NDArray[Any]:
        return as_rows(X)

    def __call__(self, X: ArrayLike, Z: ArrayLike) -> NDArray[Any]:
        return as_rows(X) @ as_rows(Z).T

    def diag(self, X: ArrayLike) -> NDArray[Any]:
        X = as_rows(X)
        return np.einsum("ij,ij->i", X, X)


@dataclass(frozen=True)
class Polynomial:
    """K(u, v) = (gamma u.v + coef0)^degree

    Examples
    --------
    >>> from kmviz.kernels import Polynomial
    >>> Polynomial(degree=2)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    degree: int = 3
    gamma: float = 1.0
    coef0: float = 1.0

    def __post_init__(self) -> None:
        if not _is_finite(self.degree) or int(self.degree) != self.degree or self.degree < 1:
            raise ValueError(f"degree must be a whole number from 1 up; got {self.degree!r}.")
        _check_gamma(self.gamma)
        if not _is_finite(self.coef0):
            raise ValueError(f"coef0 must be a number; got {self.coef0!r}.")
        object.__setattr__(self, "degree", int(self.degree))

    @property
    def plain(self) -> Polynomial:
        return self

    @property
    def code(self) -> Code:
        return POLYNOMIAL, float(self.gamma), float(self.coef0), self.degree

    def embed(self, X: ArrayLike) -> NDArray[Any]:
        return as_rows(X)

    def __call__(self, X: ArrayLike, Z: ArrayLike) -> NDArray[Any]:
        return self._of_dots(as_rows(X) @ as_rows(Z).T)

    def diag(self, X: ArrayLike) -> NDArray[Any]:
        return self._of_dots(Linear().diag(X))

    def _of_dots(self, dots: NDArray[Any]) -> NDArray[Any]:
        scaled = dots if self.gamma == 1.0 else dots * dots.dtype.type(self.gamma)
        if self.coef0:
            scaled = scaled + dots.dtype.type(self.coef0)
        return power(scaled, self.degree)


@dataclass(frozen=True)
class RBF:
    """K(u, v) = exp(-gamma ||u - v||^2), gamma = 1 / (2 sigma^2)

    Examples
    --------
    >>> from kmviz.kernels import RBF
    >>> RBF(gamma=0.5)([[1.0, 2.0]], [[1.0, 2.0]])
    array([[1.]])
    """

    gamma: float

    def __post_init__(self) -> None:
        _check_gamma(self.gamma)

    @property
    def plain(self) -> RBF:
        return self

    @property
    def code(self) -> Code:
        return RADIAL, float(self.gamma), 0.0, 1

    def embed(self, X: ArrayLike) -> NDArray[Any]:
        return as_rows(X)

    def __call__(self, X: ArrayLike, Z: ArrayLike) -> NDArray[Any]:
        X, Z = as_rows(X), as_rows(Z)
        dtype = np.result_type(X, Z)
        X, Z = X.astype(dtype, copy=False), Z.astype(dtype, copy=False)
        values = _squared_distances(X, Z, self.gamma)
        values *= dtype.type(-self.gamma)
        return np.exp(values, out=values)

    def diag(self, X: ArrayLike) -> NDArray[Any]:
        X = as_rows(X)
        return np.ones(len(X), dtype=X.dtype)


@dataclass(frozen=True)
class Normalized:
    """K(u, v) / sqrt(K(u, u) K(v, v)): the kernel of unit-length feature vectors.

    A row whose own kernel value is 0 (a row of zeros under a homogeneous kernel) has no
    direction; its kernel values are 0.

    Examples
    --------
    >>> from kmviz.kernels import Normalized, Polynomial
    >>> Normalized(Polynomial(degree=9))([[1.0, 2.0]], [[1.0, 2.0]])
    array([[1.]])
    """

    kernel: Linear | Polynomial | RBF | Normalized

    def __post_init__(self) -> None:
        inner = self.kernel
        if not isinstance(inner, Linear | Polynomial | RBF | Normalized):
            raise TypeError(
                f"Normalized takes a kernel of kmviz.kernels or a subclass of one; got {inner!r}. "
                "Divide by the lengths inside a kernel of your own."
            )
        if isinstance(inner, Polynomial) and inner.coef0 < 0:
            raise ValueError("A normalised polynomial needs coef0 >= 0; with a negative one "
                             "K(u, u) can be negative and has no square root.")  # fmt: skip

    @property
    def plain(self) -> Linear | Polynomial | RBF:
        inner = self.kernel.plain
        if isinstance(inner, Polynomial):
            return Polynomial(degree=inner.degree, gamma=1.0, coef0=0.0)
        return inner

    @property
    def code(self) -> Code:
        return self.plain.code

    def embed(self, X: ArrayLike) -> NDArray[Any]:
        rows, inner = self.kernel.embed(X), self.kernel.plain
        if isinstance(inner, RBF):
            return rows
        gamma, coef0 = 1.0, 0.0
        if isinstance(inner, Polynomial):
            gamma, coef0 = inner.gamma, inner.coef0
        units = np.empty((len(rows), rows.shape[1] + isinstance(inner, Polynomial)), rows.dtype)
        # Loops are compiled for arrays that can be written.
        rows = rows if rows.flags.carray else np.require(rows, requirements=["C", "A", "W"])
        unit_rows(rows, float(gamma), float(coef0), units)
        return units

    def __call__(self, X: ArrayLike, Z: ArrayLike) -> NDArray[Any]:
        if is_known(self.kernel):
            return self.plain(self.embed(X), self.embed(Z))
        X, Z = as_rows(X), as_rows(Z)  # a subclass may compute, or count, something else
        return (
            self.kernel(X, Z)
            * _inverse_lengths(self.kernel, X)[:, None]
            * _inverse_lengths(self.kernel, Z)
        )

    def diag(self, X: ArrayLike) -> NDArray[Any]:
        if is_known(self.kernel):
            return self.plain.diag(self.embed(X))
        return (_inverse_lengths(self.kernel, as_rows(X)) > 0).astype(as_rows(X).dtype)


@dataclass(frozen=True)
class Sigmoid:
    """tanh(gamma u.v + coef0), which libsvm has too. No Mercer kernel: nothing can be bound.

    Loops do not know it; methods ask for its values as for those of a kernel of one's own.

    Examples
    --------
    >>> from kmviz.kernels import Sigmoid
    >>> Sigmoid(gamma=0.5)([[1.0, 2.0]], [[0.0, 0.0]])
    array([[0.]])
    """

    gamma: float
    coef0: float = 0.0

    def __post_init__(self) -> None:
        if not (_is_finite(self.gamma) and _is_finite(self.coef0)):
            raise ValueError(f"gamma and coef0 must be numbers; got {self!r}.")

    def __call__(self, X: ArrayLike, Z: ArrayLike) -> NDArray[Any]:
        values = as_rows(X) @ as_rows(Z).T
        values *= self.gamma
        values += self.coef0
        return np.tanh(values, out=values)

    def diag(self, X: ArrayLike) -> NDArray[Any]:
        return np.tanh(self.gamma * Linear().diag(X) + self.coef0)


Known = Linear | Polynomial | RBF | Normalized
Kernel = Callable[[Any, Any], NDArray[Any]]


def is_known(kernel: object) -> bool:
    """Tell whether a compiled loop may stand in for `kernel`.

    True for the four kernels of this module only, not for their subclasses: a subclass may
    compute, or count, something else.
    """
    if type(kernel) is Normalized:
        return is_known(kernel.kernel)
    return type(kernel) in _PLAIN


def diagonal(kernel: Any, X: NDArray[Any]) -> NDArray[Any]:
    """Return K(x, x) for each row, through `kernel.diag` where the kernel has one."""
    if hasattr(kernel, "diag"):
        return np.asarray(kernel.diag(X))
    return np.array([np.asarray(kernel(x[None], x[None]))[0, 0] for x in X])


def _inverse_lengths(kernel: Known, X: NDArray[Any]) -> NDArray[Any]:
    """1 / sqrt(K(x, x)) for each row; 0 where K(x, x) is 0."""
    squares = np.asarray(kernel.diag(X))
    return np.divide(1.0, np.sqrt(squares), out=np.zeros_like(squares), where=squares > 0)


@np.errstate(over="ignore", invalid="ignore")  # what overflows is taken again
def _squared_distances(X: NDArray[Any], Z: NDArray[Any], gamma: float) -> NDArray[Any]:
    """||x - z||^2 by one matrix product, about the mean of Z: what cancels is then small.

    Where that may lose more than BLUR of an exponent, by differences.
    """
    center = Z.mean(axis=0) if len(Z) else 0
    A, B = X - center, Z - center
    x_sq, z_sq = np.einsum("ij,ij->i", A, A), np.einsum("ij,ij->i", B, B)
    reach = np.sqrt(x_sq.max(initial=0.0)) + np.sqrt(z_sq.max(initial=0.0))
    lost = gamma_of(X.shape[1] + 8, float(np.finfo(A.dtype).eps) / 2.0) * gamma * reach**2
    if not lost <= BLUR[A.dtype]:
        return differences(X, Z)
    squares = A @ B.T
    squares *= squares.dtype.type(-2)
    squares += x_sq[:, None]
    squares += z_sq[None, :]
    return np.maximum(squares, 0, out=squares)


def differences(X: NDArray[Any], Z: NDArray[Any]) -> NDArray[Any]:
    """Return ||x - z||^2 of all pairs by differences, as libsvm computes them."""
    squares = np.empty((len(X), len(Z)), dtype=X.dtype)
    X, Z = (np.require(a, requirements=["C", "A", "W"]) for a in (X, Z))
    squared_distances(X, Z, squares)
    return squares


_PLAIN = (Linear, Polynomial, RBF)
