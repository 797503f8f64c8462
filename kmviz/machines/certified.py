"""f in float64 as libsvm computes it, and how far any such computation may be from the true f.

Numbers in brackets are those of docs/guides/error_bounds.md, which proves what is used here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.kernels import RBF, Normalized, as_rows, differences, is_known
from kmviz.loops.rounding import AROUND, DOUBLE, EXPONENTIAL, SHARE, gamma_of

Floats = NDArray[np.float64]

#: No block of kernel values grows past so many numbers.
BLOCK = 2**21

#: What underflow may take from a term, as a share of its weight (7).
LEAST = 1e-290


def precise(kernel: Any, X: NDArray[Any], Z: NDArray[Any]) -> Floats:
    """Return kernel values in float64, radial ones by differences.

    A kernel that is not of `kmviz.kernels` is taken as it comes.
    """
    if not is_known(kernel):
        return np.asarray(kernel(X, Z), dtype=np.float64)
    X, Z = (kernel.embed(np.asarray(a, dtype=np.float64)) for a in (X, Z))
    if not isinstance(kernel.plain, RBF):
        return kernel.plain(X, Z)
    exponents = differences(X, Z)
    exponents *= -kernel.plain.gamma
    return np.exp(exponents, out=exponents)


def exact_outputs(
    kernel: Any, X: NDArray[Any], vectors: NDArray[Any], weights: Floats, bias: Floats
) -> Floats:
    """Return f of machines on the same vectors, a column of `weights` and of the result each."""
    height = max(1, BLOCK // max(len(vectors), 1))
    blocks = [
        precise(kernel, X[top : top + height], vectors) @ weights - bias
        for top in range(0, len(X), height)
    ]
    return np.concatenate(blocks) if blocks else np.empty((0, len(bias)))


def rounding_error(machine: Any, X: Any) -> Floats:
    """Return, for each row, what float64 may be off by in f of a kernel machine (10 to 13).

    It holds for every order of sums, libsvm's too. Where abs(f) is no more than twice that, two
    computations may differ in its sign. Kernels that are not of `kmviz.kernels` are taken to
    compute their own values without an error.

    Examples
    --------
    >>> from kmviz.kernels import RBF
    >>> from kmviz.machines import KernelMachine, rounding_error
    >>> machine = KernelMachine([[0.0], [1.0]], [1.0, -1.0], 0.0, RBF(1.0))
    >>> bool((rounding_error(machine, [[0.5], [0.2]]) < 1e-14).all())
    True
    """
    X, sizes = as_rows(X), np.abs(machine.beta)
    error, summing = np.empty(len(X)), gamma_of(machine.n_vectors + 4, DOUBLE)
    height = max(1, BLOCK // max(machine.n_vectors, 1))
    with np.errstate(all="ignore"):  # a bound that is no number proves nothing
        for top in range(0, len(X), height):
            rows = X[top : top + height]
            values = np.abs(precise(machine.kernel, rows, machine.vectors))
            lost = _value_errors(machine.kernel, values, rows, machine.vectors) + summing * values
            error[top : top + height] = lost @ sizes
    return error + summing * abs(machine.bias) + LEAST * sizes.sum()


def share_lost(kernel: Any, d: int) -> float:
    """Return what float64 may take from K(x, z), as a share of |phi(x)| |phi(z)| (15)."""
    if not is_known(kernel):
        return 64.0 * DOUBLE
    return gamma_of((1 + isinstance(kernel, Normalized)) * kernel.code[3] * (d + 12), DOUBLE)


def _value_errors(kernel: Any, values: Floats, X: NDArray[Any], Z: NDArray[Any]) -> Floats:
    """What each computed kernel value may be off by (10, 11)."""
    if not is_known(kernel):
        return np.zeros_like(values)
    share = gamma_of((1 + isinstance(kernel, Normalized)) * (X.shape[1] + AROUND), DOUBLE)
    if isinstance(kernel.plain, RBF):
        exponents = -np.log(np.maximum(values, LEAST))
        return values * (SHARE * share * exponents + EXPONENTIAL * DOUBLE)
    _, gamma, coef0, degree = kernel.code
    lengths = (np.linalg.norm(kernel.embed(a.astype(np.float64)), axis=1) for a in (X, Z))
    lost = share * (gamma * np.outer(*lengths) + abs(coef0))
    most = values ** (1.0 / degree) + lost
    return most ** (degree - 1) * (degree * lost + gamma_of(degree, DOUBLE) * most)
