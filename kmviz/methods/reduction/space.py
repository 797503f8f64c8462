"""Rows on which a kernel is simple, and the way back to rows that its machine can read.

(g u.v + c)^p with c >= 0 is the homogeneous polynomial (r.s)^p of the rows
r = [sqrt(g) u, sqrt(c)]; a normalised kernel takes the same rows at unit length. Reduced
vectors are sought there, as directions: their length is absorbed by the weights. A direction
goes back to the input row whose augmented row points the same way (or the opposite way, which
changes at most the sign of a weight).

exp(-g ||u - v||^2) is exp(-||r - s||^2 / 2) of the rows r = (u - o) / sigma, sigma^2 = 1 / (2 g),
about any origin o. With the mean as origin a descent sees the same whatever the units and the zero
of the input.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.kernels import RBF, Known, Linear, Normalized, Polynomial, diagonal

Rows = NDArray[np.float64]

#: How far out a reduced vector may lie, in multiples of the furthest support vector, so that its
#: kernel values stay well inside float32: REACH^(1 / degree), and at least ten times.
REACH = 1e8


@dataclass(frozen=True, eq=False)
class Space:
    """Where the vectors of one kernel are sought.

    Attributes
    ----------
    kernel : kernel
        What the machine computes on input rows.
    plain : kernel
        The same values on the rows of this space.
    is_homogeneous : bool
        Whether K(t u, v) = t^p K(u, v) in this space: vectors are directions.
    origin : array of shape (d,)
        The input row that stands at 0 where the kernel is radial.
    """

    kernel: Any
    origin: Any = 0.0

    @property
    def plain(self) -> Linear | Polynomial | RBF:
        inner = self.kernel.plain
        if isinstance(inner, RBF):
            return RBF(0.5)
        if isinstance(inner, Polynomial) and inner.coef0 >= 0:
            return Polynomial(degree=inner.degree, gamma=1.0, coef0=0.0)
        return inner

    @property
    def is_homogeneous(self) -> bool:
        plain = self.plain
        return isinstance(plain, Linear) or (isinstance(plain, Polynomial) and plain.coef0 == 0)

    @property
    def degree(self) -> int:
        """p of a homogeneous kernel."""
        return self.plain.code[3]

    @property
    def _sigma(self) -> float:
        """The width of a radial kernel."""
        return float(1.0 / np.sqrt(2.0 * self.kernel.plain.gamma))

    def rows(self, X: NDArray[Any]) -> Rows:
        """Bring input rows here."""
        X = np.asarray(X, dtype=np.float64)
        if isinstance(self.kernel, Polynomial) and self.kernel.coef0 >= 0:
            return _augmented(X, self.kernel)
        if isinstance(self.plain, RBF):
            return (X - self.origin) / self._sigma
        return self.kernel.embed(X)

    def directions(self, X: NDArray[Any]) -> tuple[Rows, Rows]:
        """Bring input rows here at unit length, and tell what divides their weights by it."""
        rows = self.rows(X)
        if not self.is_homogeneous:
            return rows, np.ones(len(rows))
        lengths = np.linalg.norm(rows, axis=1)
        lengths[lengths == 0] = 1.0
        return rows / lengths[:, None], lengths**self.degree

    def back(self, Z: Rows, near: Rows) -> Rows:
        """Return input rows for vectors of this space; `near` are rows of it that exist.

        Of a direction and its opposite, which say the same, it is the one on the rows' side.
        """
        if isinstance(self.plain, RBF):
            return Z * self._sigma + self.origin
        if self.is_homogeneous:
            Z = np.where(Z @ near.mean(axis=0) < 0, -1.0, 1.0)[:, None] * Z
        return _input_rows(self.kernel, Z, near)


@dataclass(frozen=True)
class Opaque:
    """Any callable as a plain kernel: values, no formula."""

    kernel: Any

    def __call__(self, X: Rows, Z: Rows) -> Rows:
        return np.asarray(self.kernel(X, Z), dtype=np.float64)

    def diag(self, X: Rows) -> Rows:
        return diagonal(self.kernel, X)


class OpaqueSpace(Space):
    """Input rows as they are: vectors can be chosen there, not moved."""

    @property
    def plain(self) -> Any:
        return Opaque(self.kernel)

    @property
    def is_homogeneous(self) -> bool:
        return False

    def rows(self, X: NDArray[Any]) -> Rows:
        return np.asarray(X, dtype=np.float64)

    def back(self, Z: Rows, near: Rows) -> Rows:
        return Z


def space_of(kernel: Any, vectors: NDArray[Any]) -> Space:
    """Return the space of a kernel, an `OpaqueSpace` where its formula is not known.

    A subclass of a known kernel is taken for its parent if it gives the parent's values on a
    few of the vectors.
    """
    parent = _parent(kernel)
    if parent is None:
        return OpaqueSpace(kernel)
    if parent is not kernel:
        few = np.asarray(vectors[:8], dtype=np.float64)
        if not np.allclose(kernel(few, few), parent(few, few)):
            return OpaqueSpace(kernel)
    return Space(parent, np.mean(vectors, axis=0, dtype=np.float64) if len(vectors) else 0.0)


def _parent(kernel: Any) -> Known | None:
    """Return the kernel of `kmviz.kernels` that this one is, or is derived from."""
    if isinstance(kernel, Normalized):
        inner = _parent(kernel.kernel)
        same = inner is kernel.kernel and type(kernel) is Normalized
        return kernel if same else None if inner is None else Normalized(inner)
    for kind in (Linear, Polynomial, RBF):
        if type(kernel) is kind:
            return kernel
    if isinstance(kernel, Linear):
        return Linear()
    if isinstance(kernel, Polynomial):
        return Polynomial(kernel.degree, kernel.gamma, kernel.coef0)
    return RBF(kernel.gamma) if isinstance(kernel, RBF) else None


def _augmented(X: Rows, kernel: Polynomial) -> Rows:
    scaled = X * np.sqrt(kernel.gamma)
    if not kernel.coef0:
        return scaled
    return np.hstack([scaled, np.full((len(X), 1), np.sqrt(kernel.coef0))])


def _input_rows(kernel: Known, Z: Rows, near: Rows) -> Rows:
    if isinstance(kernel, Normalized):
        inner = kernel.kernel.plain
        if isinstance(inner, Polynomial):
            Z, near = _without_column(Z, near, inner)
        return _input_rows(kernel.kernel, Z, near) if isinstance(kernel.kernel, Normalized) else Z
    if isinstance(kernel, Polynomial) and kernel.coef0 > 0:
        return _without_column(Z, near, kernel)[0]
    if isinstance(kernel, Polynomial) and kernel.coef0 == 0:
        return Z / np.sqrt(kernel.gamma)
    return Z


def _without_column(Z: Rows, near: Rows, kernel: Polynomial) -> tuple[Rows, Rows]:
    """Undo [sqrt(g) u, sqrt(c)] up to length: u = z[:-1] / z[-1] sqrt(c / g)."""
    if not kernel.coef0:
        return Z[:, :-1] / np.sqrt(kernel.gamma), near[:, :-1] / np.sqrt(kernel.gamma)
    unit = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    least = (near[:, -1] / np.linalg.norm(near, axis=1)).min() / max(
        10.0, REACH ** (1.0 / kernel.degree)
    )
    last = np.where(unit[:, -1] < 0, -1.0, 1.0) * np.maximum(np.abs(unit[:, -1]), least)
    scale = np.sqrt(kernel.coef0 / kernel.gamma)
    return unit[:, :-1] / last[:, None] * scale, near[:, :-1] / near[:, -1:] * scale
