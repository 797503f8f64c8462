"""The distance a reduced set minimises, its exact weights and its gradient.

Burges (1996) and Burges and Schoelkopf (1997, section 4). With Psi = sum_i a_i Phi(s_i) and
Psi' = sum_k g_k Phi(z_k),

    F = ||Psi - Psi'||^2 = a'K_ss a - 2 g'b + g'K_zz g,    b = K_zs a.

For given z the best weights solve K_zz g = b, which leaves F = a'K_ss a - g'b; by the envelope
theorem the gradient in z is that of F with g held. All rows are those of a `Space`.

Several machines may share their vectors: a and g then have a column each, and F sums over them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

from kmviz.kernels import RBF, power

Floats = NDArray[np.float64]

#: Added to the diagonal of K_zz, relative to it: two vectors may meet on their way.
JITTER = 1e-10

#: From this many entries of the support vectors on, kernel products are taken in float32.
SINGLE_PRECISION = 1 << 18

#: Kernel values in one block.
BLOCK = 1 << 22


@dataclass(frozen=True, eq=False)
class Target:
    """Psi = sum_i a_i Phi(s_i), what a reduced set approaches.

    Attributes
    ----------
    plain : kernel
    rows : array of shape (m, d)
        The s_i.
    beta : array of shape (m,), or (m, c) for c machines
        The a_i.
    outputs : array shaped as beta
        K_ss a.
    norm_sq : float
        ||Psi||^2 = a'K_ss a.
    homogeneous : bool
        Whether vectors are directions, kept at unit length.
    """

    plain: Any
    rows: Floats
    beta: Floats
    outputs: Floats
    homogeneous: bool

    @classmethod
    def of(
        cls, plain: Any, rows: Floats, beta: Floats, homogeneous: bool, dtype: Any = np.float64
    ) -> Target:
        """Sum K_ss a in blocks of rows."""
        height, near = max(1, BLOCK // len(rows)), rows.astype(dtype, copy=False)
        outputs = [plain(near[i : i + height], near) @ beta for i in range(0, len(rows), height)]
        return cls(plain, rows, beta, np.concatenate(outputs), homogeneous)

    @property
    def norm_sq(self) -> float:
        return max(float(np.vdot(self.beta, self.outputs)), 0.0)

    @property
    def working_rows(self) -> NDArray[Any]:
        """The s_i in the precision that suits their number."""
        return self.rows.astype(working_type(self.rows), copy=False)


def working_type(rows: Floats) -> Any:
    """Return the precision that suits the number of rows."""
    return np.float32 if rows.size >= SINGLE_PRECISION else np.float64


def exact_weights(K_zz: Floats, b: Floats) -> Floats:
    """Solve K_zz g = b, the best weights of given vectors."""
    if not len(K_zz):
        return np.zeros_like(b)
    return np.asarray(dpotrs(lower_factor(K_zz), b, lower=1)[0])


def lower_factor(K_zz: Floats) -> Floats:
    """Return the Cholesky factor of K_zz, with as little jitter as it takes.

    Of small matrices, by the thousand, LAPACK takes a tenth of what SciPy's checks do.
    """
    jitter, n = JITTER, len(K_zz)
    if not n:
        return K_zz.copy()
    diagonal = np.maximum(K_zz.diagonal(), np.finfo(float).tiny)
    while jitter <= 1.0:
        raised = K_zz.copy(order="F")
        raised.flat[:: n + 1] += jitter * diagonal
        factor, missed = dpotrf(raised, lower=1, overwrite_a=1)
        if missed == 0:
            return np.asarray(factor)
        jitter *= 100.0
    raise np.linalg.LinAlgError("Kernel values among the vectors are none of a Mercer kernel.")


def values_and_slopes(
    plain: Any, Z: NDArray[Any], S: NDArray[Any], squares: NDArray[Any] | None = None
) -> tuple[Any, Any]:
    """Return K(z, s) and T(z, s), where dK(z, s)/dz = T (s - z) if radial, else T s.

    Parameters
    ----------
    squares : ||s||^2 of each s, where it is known
    """
    if isinstance(plain, RBF):
        K = Z @ S.T  # exp(-q ||z - s||^2), without the kernel's care for tiny distances
        K *= 2.0
        K -= np.einsum("ij,ij->i", Z, Z)[:, None]
        K -= np.einsum("ij,ij->i", S, S) if squares is None else squares
        np.minimum(K, 0.0, out=K)
        K *= K.dtype.type(plain.gamma)
        np.exp(K, out=K)
        return K, K * K.dtype.type(2.0 * plain.gamma)
    _, gamma, coef0, degree = plain.code
    base = Z @ S.T
    if gamma != 1.0 or coef0 != 0.0:
        base = base * base.dtype.type(gamma) + base.dtype.type(coef0)
    lower = power(base, degree - 1)
    return lower * base, lower * lower.dtype.type(gamma * degree)


def pull(plain: Any, Z: NDArray[Any], S: NDArray[Any], slopes: NDArray[Any]) -> NDArray[Any]:
    """Return sum_i T(z, s_i) (s_i - z) if radial, else sum_i T(z, s_i) s_i, a row a z."""
    toward = slopes @ S
    if isinstance(plain, RBF):
        toward = toward - slopes.sum(axis=1)[:, None] * Z
    return toward


class Distance:
    """F / ||Psi||^2 and its gradient as a function of all vectors at once, for an optimiser."""

    def __init__(self, target: Target) -> None:
        self.target, self.scale = target, target.norm_sq
        self.working_rows = target.working_rows
        self.squares = np.einsum("ij,ij->i", self.working_rows, self.working_rows)
        columns = target.beta.reshape(len(target.beta), -1)
        self.working_beta = columns.astype(self.working_rows.dtype)

    def __call__(self, flat: Floats) -> tuple[float, Floats]:
        target, S = self.target, self.working_rows
        Z = flat.reshape(-1, target.rows.shape[1])
        if target.homogeneous:
            lengths = np.linalg.norm(Z, axis=1, keepdims=True)
            Z = Z / lengths
        near = Z.astype(S.dtype, copy=False)
        K_zs, T_zs = values_and_slopes(target.plain, near, S, self.squares)
        K_zz, T_zz = values_and_slopes(target.plain, Z, Z)
        b = (K_zs @ self.working_beta).astype(np.float64)
        g = exact_weights(K_zz, b)
        # dF/dz_k = 2 g_k [ sum_l g_l dK(z_k, z_l)/dz_k - sum_i a_i dK(z_k, s_i)/dz_k ]
        T_zs *= g.astype(S.dtype) @ self.working_beta.T
        gradient = pull(target.plain, Z, Z, T_zz * (g @ g.T)) - pull(target.plain, near, S, T_zs)
        gradient *= 2.0
        if target.homogeneous:  # only turning counts: F does not depend on the lengths
            gradient -= np.einsum("ij,ij->i", gradient, Z)[:, None] * Z
            gradient /= lengths
        return 1.0 - float(np.vdot(g, b)) / self.scale, gradient.ravel() / self.scale
