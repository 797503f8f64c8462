"""f in float64 as libsvm computes it, and how far any such computation may be from the true f.

Numbers in brackets are those of docs/guides/error_bounds.md, which proves what is used here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from kmviz.kernels import RBF, Normalized, Sigmoid, as_rows, diagonal, differences, is_known
from kmviz.loops.rounding import AROUND, DOUBLE, EXPONENTIAL, LEAST, SHARE, gamma_of

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

#: No block of kernel values grows past so many numbers.
BLOCK = 2**21

#: The share of sum_i |beta_i| |K(X_i, x)| + |b| by which scalers and projections before the machine
#: may move f, where they round otherwise than one map for all of them (24). Assumed, not proved.
THROUGH_STEPS = 1e-9

#: What a kernel of one's own is assumed to lose of a value: so many roundings, and one a column.
OWN = 64

#: No rows.
NONE = np.empty(0, dtype=np.intp)


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
    kernel: Any,
    X: NDArray[Any],
    vectors: NDArray[Any],
    weights: Floats,
    bias: Floats,
    error: Floats | None = None,
    allowed: float = 0.0,
) -> Floats:
    """Return f of machines on the same vectors, a column of `weights` and of the result each.

    Parameters
    ----------
    error : array of the result's shape, optional
        Takes what float64 may be off by in f (10 to 12).
    allowed : float
        What transformers before the machine may do: 0 or `THROUGH_STEPS` (24).
    """
    m, output = len(vectors), np.empty((len(X), len(bias)))
    height, summing = max(1, BLOCK // max(m, 1)), gamma_of(m + 4, DOUBLE) + allowed
    sizes, fixed = np.abs(weights), summing * np.abs(bias) + LEAST * np.abs(weights).sum(axis=0)
    for top in range(0, len(X), height):
        rows = X[top : top + height]
        values = precise(kernel, rows, vectors)
        output[top : top + height] = values @ weights - bias
        if error is None:
            continue
        with np.errstate(all="ignore"):  # a bound that is no number proves nothing
            values = np.abs(values, out=values)
            lost = _value_errors(kernel, values, rows, vectors)
            lost += summing * values
            error[top : top + height] = lost @ sizes + fixed
    return output


def rounding_error(machine: Any, X: Any, allowed: float = 0.0) -> Floats:
    """Return, for each row, what float64 may be off by in f of a kernel machine (10 to 12).

    It holds for every order of sums, libsvm's too. Where abs(f) is no more than twice that, two
    computations may differ in its sign. Kernels that are not of `kmviz.kernels` are assumed to lose
    no more than a sum over all columns does.

    Examples
    --------
    >>> from kmviz.kernels import RBF
    >>> from kmviz.machines import KernelMachine, rounding_error
    >>> machine = KernelMachine([[0.0], [1.0]], [1.0, -1.0], 0.0, RBF(1.0))
    >>> bool((rounding_error(machine, [[0.5], [0.2]]) < 1e-14).all())
    True
    """
    X = as_rows(X)
    error = np.empty((len(X), 1))
    weights, bias = machine.beta[:, None], np.array([machine.bias])
    exact_outputs(machine.kernel, X, machine.vectors, weights, bias, error, allowed)
    return error[:, 0]


class Rounding:
    """Rows of which rounding decides an output of some machines (13).

    Parameters
    ----------
    machines : list of KernelMachine
        Of one Mercer kernel.
    allowed : float
        What transformers before the machine may do: 0 or `THROUGH_STEPS`.

    Examples
    --------
    >>> import numpy as np
    >>> from kmviz.kernels import RBF
    >>> from kmviz.machines import KernelMachine
    >>> from kmviz.machines.certified import Rounding
    >>> rounding = Rounding([KernelMachine([[0.0], [1.0]], [1.0, -1.0], 0.0, RBF(1.0))])
    >>> rounding.near(np.array([[0.5], [0.501]]), np.array([[1e-17], [1e-3]]), np.asarray)
    array([0])
    """

    machines: list[Any]
    allowed: float
    _length: float | None
    _share: Floats
    _fixed: Floats

    def __init__(self, machines: list[Any], allowed: float = 0.0) -> None:
        self.machines, self.allowed = machines, allowed
        self.kernel = machines[0].kernel
        lost = share_lost(self.kernel, machines[0].n_features)
        most = np.array([gamma_of(machine.n_vectors + 4, DOUBLE) for machine in machines])
        share = 2.02 * (lost + most + allowed)  # (15)
        lengths = [np.sqrt(diagonal(self.kernel, one.vectors)) for one in machines]
        reach = [np.abs(one.beta) @ each for one, each in zip(machines, lengths, strict=True)]
        # |phi(x)| is 1, or read from the row; of a kernel of one's own it would cost a kernel value
        self._length = 1.0 if isinstance(self.kernel, RBF | Normalized) else None
        if not is_known(self.kernel):
            self._length = max(float(each.max(initial=0.0)) for each in lengths)
        self._share = share * (np.array(reach) + LEAST)
        self._fixed = share * np.abs([machine.bias for machine in machines])

    def near(
        self, X: Any, outputs: Floats, read: Callable[[Any], NDArray[Any]], rest: bool = False
    ) -> Ints:
        """Return the rows of which some output is 0 within rounding.

        Parameters
        ----------
        X : rows, of any kind that `read` takes
        outputs : array of shape (n, p)
            f of each machine, or a partial sum with its sign.
        read : callable
            Returns rows as the machines read them.
        rest : bool
            Whether the largest output decides: then rows of which the two largest are the same.
        """
        if rest:
            top = np.partition(outputs, -2, axis=1)[:, -2:]
            outputs = (top[:, 1:] - top[:, :1]) / 2.0  # each may be off
        length: Any = self._length
        if length is None:
            length = np.sqrt(diagonal(self.kernel, read(X)))[:, None]
        some = _within(outputs, length * self._share + self._fixed)
        if not len(some):
            return some
        rows = read(_safe_indexing(X, some))
        limits = [2.0 * rounding_error(one, rows, self.allowed) for one in self.machines]
        return some[_within(outputs[some], np.column_stack(limits))]


def _within(outputs: Floats, limits: Floats) -> Ints:
    """Return the rows with an output no further from 0 than its limit."""
    if outputs.shape[1] < limits.shape[-1]:
        limits = limits.max(axis=-1, keepdims=True)
    near = ~(np.abs(outputs) > limits)  # what is no number, too
    return np.flatnonzero(near.any(axis=1)) if near.any() else NONE


def share_lost(kernel: Any, d: int) -> float:
    """Return what float64 may take from K(x, z), as a share of |phi(x)| |phi(z)| (15)."""
    if not is_known(kernel):
        return gamma_of(d + OWN, DOUBLE)
    return gamma_of((1 + isinstance(kernel, Normalized)) * kernel.code[3] * (d + 12), DOUBLE)


def _value_errors(kernel: Any, values: Floats, X: NDArray[Any], Z: NDArray[Any]) -> Floats:
    """What each computed kernel value may be off by, given its size (10, 11)."""
    if not (is_known(kernel) or isinstance(kernel, Sigmoid)):
        return share_lost(kernel, X.shape[1]) * values
    share = gamma_of((1 + isinstance(kernel, Normalized)) * (X.shape[1] + AROUND), DOUBLE)
    if is_known(kernel) and isinstance(kernel.plain, RBF):
        exponents = -np.log(np.maximum(values, LEAST))
        return values * (SHARE * share * exponents + EXPONENTIAL * DOUBLE)
    embed = getattr(kernel, "embed", np.asarray)
    lengths = (np.linalg.norm(embed(a.astype(np.float64)), axis=1) for a in (X, Z))
    if isinstance(kernel, Sigmoid):  # tanh moves by no more than its argument
        return share * (abs(kernel.gamma) * np.outer(*lengths) + abs(kernel.coef0)) + (
            EXPONENTIAL * DOUBLE * values
        )
    _, gamma, coef0, degree = kernel.code
    lost = share * (gamma * np.outer(*lengths) + abs(coef0))
    most = values ** (1.0 / degree) + lost
    return most ** (degree - 1) * (degree * lost + gamma_of(degree, DOUBLE) * most)
