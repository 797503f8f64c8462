"""From an order's name to an ordered basis Z (DeCoste 2003, section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky

from kmviz.kernels import RBF, Polynomial, diagonal, is_known
from kmviz.machines import KernelMachine
from kmviz.methods.anytime import orderings
from kmviz.methods.anytime.bounds import ULP

#: Orders that list every vector of the machine, and nothing else.
OWN = ("given", "sgma", "min_wz")
#: Orders that may also take training rows the machine gives no weight.
WIDER = ("min_wz_n", "mean_lh_n", "hybrid")

#: At most this many rows stand for "all queries" when no sample is given.
SAMPLE = 2000


class NotMercerError(ValueError):
    """The kernel is no Mercer kernel, so nothing can be bound."""

    def __init__(self) -> None:
        super().__init__(
            "The kernel matrix of the vectors is not positive semi-definite, so nothing can be "
            "bound: use a Mercer kernel (a polynomial needs coef0 >= 0)."
        )


@dataclass(frozen=True, eq=False)
class Basis:
    """An ordered basis.

    Attributes
    ----------
    rows : array of shape (K, d)
        The Z_k.
    index : array of shape (K,)
        Which vector of the machine each one is; -1 for other training rows.
    spans : bool
        Whether every vector of the machine is among them.
    """

    rows: NDArray[np.float64]
    index: NDArray[np.intp]
    spans: bool


def extra_diagonal(self_values: NDArray[np.float64], jitter: float) -> NDArray[np.float64]:
    """The jitter of each basis vector: a share of its own kernel value."""
    largest = self_values.max(initial=0.0)
    return jitter * np.where(self_values > 0, self_values, largest if largest > 0 else 1.0)


def blur(kernel: Any, rows: NDArray[np.float64]) -> float:
    """How much more than a sum an RBF value can lose: its squared distances are differences."""
    plain = getattr(kernel, "plain", None)
    if not isinstance(plain, RBF) or not len(rows):
        return 0.0
    return float(plain.gamma * np.square(rows - rows.mean(axis=0)).sum(axis=1).max())


def factorise(kernel_matrix: NDArray[Any], jitter: float) -> tuple[NDArray[np.float64], float]:
    """V' of K + jitter; the jitter grows tenfold while rounding spoils the factorisation."""
    jitter = max(jitter, 1e-13)
    while jitter < 1e-2:
        padded = kernel_matrix + np.diag(extra_diagonal(kernel_matrix.diagonal(), jitter))
        try:
            return np.ascontiguousarray(cholesky(padded, lower=True)), jitter
        except LinAlgError:
            jitter *= 10.0
    raise NotMercerError


def workable_jitter(kernel: Any, vectors: NDArray[np.float64], jitter: float) -> float:
    """Return the jitter that the kernel matrix of a machine's vectors takes.

    A kernel that is no Mercer kernel is refused: a short basis may have a factor all the same,
    and its bounds would be wrong.
    """
    if not len(vectors):
        return jitter
    if not is_known(kernel):
        return factorise(np.asarray(kernel(vectors, vectors), dtype=np.float64), jitter)[1]
    if isinstance(kernel, Polynomial) and kernel.coef0 < 0:
        raise NotMercerError
    return jitter


def ordered(
    machine: KernelMachine, order: str, n_steps: int, jitter: float,
    X: NDArray[Any], queries: NDArray[Any], rng: np.random.RandomState,
) -> Basis:  # fmt: skip
    """Return the first `n_steps` vectors of a basis.

    Parameters
    ----------
    machine : KernelMachine
    order : str
        One of `OWN` or `WIDER`.
    n_steps : int
        At most the machine's number of vectors.
    jitter : float
    X : array of shape (n, d)
        Rows that `WIDER` orders may choose beside the machine's vectors.
    queries : array of shape (n, d)
        The sample that "mean_lh_n" and "hybrid" are tuned on.
    rng : RandomState
    """
    m = machine.n_vectors
    rows = machine.vectors.astype(np.float64, copy=False)
    jitter = workable_jitter(machine.kernel, rows, jitter)
    if order == "given" or m == 0:
        chosen = np.arange(m)[:n_steps]
        return Basis(rows[chosen], chosen, n_steps == m)
    if order in WIDER:
        others = _unlike(X, rows)
        rows = np.vstack([rows, others[orderings.candidates(len(others), m, rng)]])
    factor = _factor(machine, rows, jitter, n_steps)
    if order == "min_wz":
        chosen = orderings.min_wz(factor, n_steps)
    elif order == "sgma":
        chosen = orderings.sgma(factor, n_steps)
    elif order == "min_wz_n":
        chosen = orderings.min_wz_n(factor, n_steps, m, rng)
    else:
        sample = _sample(machine, rows, queries, rng)
        chosen = orderings.query_tuned(factor, n_steps, m, rng, sample, order == "hybrid")
    index = np.where(chosen < m, chosen, -1)
    return Basis(rows[chosen], index, bool(np.count_nonzero(index >= 0) == m))


def _factor(
    machine: KernelMachine, rows: NDArray[Any], jitter: float, n_steps: int
) -> orderings.PivotedFactor:
    K = np.asarray(machine.kernel(rows, rows), dtype=np.float64)
    m = machine.n_vectors
    k_zw = K[:, :m] @ machine.beta  # eq. 7
    k_ww = float(machine.beta @ k_zw[:m])  # eq. 8
    lost = 64.0 * ULP * blur(machine.kernel, rows)  # pivots below it are rounding
    extra = extra_diagonal(K.diagonal(), max(jitter, 1e-10, min(lost, 1e-3)))
    return orderings.PivotedFactor(K, k_zw, k_ww, extra, n_steps)


def _sample(
    machine: KernelMachine, rows: NDArray[Any], queries: NDArray[Any], rng: np.random.RandomState
) -> orderings.QuerySample:
    if len(queries) > SAMPLE:
        queries = queries[np.sort(rng.choice(len(queries), SAMPLE, replace=False))]
    queries = queries.astype(np.float64)
    return orderings.QuerySample(
        np.asarray(machine.kernel(rows, queries), dtype=np.float64),
        diagonal(machine.kernel, queries),
        machine.decision_function(queries),
        machine.bias,
    )


def _unlike(X: NDArray[Any], vectors: NDArray[np.float64]) -> NDArray[Any]:
    """The rows of X that are no vectors of the machine, each once."""
    taken = {row.tobytes() for row in np.ascontiguousarray(vectors)}
    fresh = []
    for i, row in enumerate(np.ascontiguousarray(X, dtype=np.float64)):
        if (key := row.tobytes()) not in taken:
            taken.add(key)
            fresh.append(i)
    return X[fresh]
