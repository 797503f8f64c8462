"""From an order's name to an ordered basis Z (DeCoste 2003, section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.kernels import RBF, Linear, Normalized, Polynomial, diagonal, is_known
from kmviz.loops.anytime import factor_rows
from kmviz.loops.rounding import DOUBLE, gamma_of
from kmviz.machines import KernelMachine
from kmviz.machines.certified import precise, share_lost
from kmviz.methods.anytime import orderings

#: Orders that list every vector of the machine, and nothing else.
OWN = ("given", "sgma", "min_wz")
#: Orders that may also take training rows the machine gives no weight.
WIDER = ("min_wz_n", "mean_lh_n", "hybrid")

#: At most this many rows stand for "all queries" when no sample is given.
SAMPLE = 2000


class NotMercerError(ValueError):
    """The kernel is no Mercer kernel, or nobody says that it is one: nothing can be bound."""

    def __init__(self, words: str = "") -> None:
        super().__init__(
            words
            or "The kernel matrix of the vectors is not positive semi-definite, so nothing can be "
            "bound: use a Mercer kernel (a polynomial needs coef0 >= 0)."
        )


@dataclass(frozen=True, eq=False)
class Basis:
    """An ordered basis, and what stage 1 needs of it.

    The kernel matrix of all candidates is computed once, so that the numbers of the first k
    vectors do not depend on how many are taken.

    Attributes
    ----------
    rows : array of shape (K, d)
        The Z_k.
    index : array of shape (K,)
        Which vector of the machine each one is; -1 for other training rows.
    spans : bool
        Whether every vector of the machine is among them.
    K_zz, K_zw : arrays of shape (K, K) and (K,)
        Eqs. 6 and 7, of W divided by `scale`.
    K_ww : float
        Eq. 8, likewise.
    scale : float
        Sum of |beta| (eq. 9).
    """

    rows: NDArray[np.float64]
    index: NDArray[np.intp]
    spans: bool
    K_zz: NDArray[np.float64]
    K_zw: NDArray[np.float64]
    K_ww: float
    scale: float


def refuse_uncertain(kernel: Any) -> None:
    """Refuse a kernel that is no Mercer kernel, and one that nobody vouches for.

    A few vectors may have a positive definite matrix under any function: no matrix proves a
    kernel.
    """
    inner = kernel
    while isinstance(inner, Normalized):
        inner = inner.kernel
    if isinstance(inner, Polynomial) and inner.coef0 < 0:
        raise NotMercerError
    if isinstance(inner, Linear | Polynomial | RBF) or getattr(kernel, "is_mercer", False):
        return
    name = getattr(kernel, "__name__", repr(kernel))
    raise NotMercerError(
        f"Bounds hold for Mercer kernels only, and whether {name} is one cannot be told from its "
        "values: use a kernel of kmviz.kernels, or vouch for yours by setting is_mercer = True "
        "on it."
    )


def extra_diagonal(self_values: NDArray[np.float64], jitter: float) -> NDArray[np.float64]:
    """The jitter of each basis vector: a share of its own kernel value."""
    largest = self_values.max(initial=0.0)
    return jitter * np.where(self_values > 0, self_values, largest if largest > 0 else 1.0)


def refuse_overflow(kernel_matrix: NDArray[np.float64]) -> None:
    """Refuse vectors whose kernel values are beyond what a float holds."""
    if not np.isfinite(kernel_matrix).all():
        raise ValueError(
            "Kernel values of the machine's vectors overflow, so nothing can be bound: scale the "
            "columns of X, for instance by StandardScaler in a pipeline."
        )


def factorise(
    kernel_matrix: NDArray[Any], jitter: float, lost: float
) -> tuple[NDArray[np.float64], float]:
    """V' of K + jitter, which outweighs what rounding does to K and V' (16).

    The jitter grows tenfold while the factorisation breaks down all the same.
    """
    kernel_matrix = np.ascontiguousarray(kernel_matrix, dtype=np.float64)
    n = len(kernel_matrix)
    jitter = max(jitter, 1e-13, 2.2 * n * (lost + gamma_of(n + 2, DOUBLE)))
    while jitter < 1e-2:
        factor = np.zeros_like(kernel_matrix)
        extra = extra_diagonal(kernel_matrix.diagonal(), jitter)
        if factor_rows(kernel_matrix, extra, factor) < 0:
            return factor, jitter
        jitter *= 10.0
    raise NotMercerError


@dataclass(frozen=True, eq=False)
class Candidates:
    """Rows that a basis may take, the machine's vectors first, and their kernel matrix."""

    rows: NDArray[np.float64]
    K: NDArray[np.float64]
    jitter: float


def candidates(
    machine: KernelMachine, order: str, jitter: float, X: NDArray[Any], rng: np.random.RandomState
) -> Candidates:
    """Return what an order chooses from.

    Parameters
    ----------
    X : array of shape (n, d)
        Rows that `WIDER` orders may choose beside the machine's vectors.
    """
    m = machine.n_vectors
    rows = machine.vectors.astype(np.float64, copy=False)
    refuse_uncertain(machine.kernel)
    if order in WIDER and m:
        others = _unlike(X, rows)
        rows = np.vstack([rows, others[orderings.candidates(len(others), m, rng)]])
    with np.errstate(over="ignore"):
        K = precise(machine.kernel, rows, rows) if m else np.empty((0, 0))
    refuse_overflow(K)
    if not is_known(machine.kernel) and m:  # vouched for: a function may still compute badly
        jitter = factorise(K[:m, :m], jitter, share_lost(machine.kernel, rows.shape[1]))[1]
    return Candidates(rows, K, jitter)


def ordered(
    machine: KernelMachine, order: str, n_steps: int, among: Candidates,
    queries: NDArray[Any], rng: np.random.RandomState,
) -> Basis:  # fmt: skip
    """Return the first `n_steps` vectors of a basis.

    Parameters
    ----------
    machine : KernelMachine
    order : str
        One of `OWN` or `WIDER`.
    n_steps : int
        At most the machine's number of vectors.
    among : Candidates
    queries : array of shape (n, d)
        The sample that "mean_lh_n" and "hybrid" are tuned on.
    rng : RandomState
    """
    if order == "given" or machine.n_vectors == 0:
        chosen = np.arange(machine.n_vectors)[:n_steps]
    else:
        chosen = _chosen(machine, order, n_steps, among, queries, rng)
    return _basis(machine, among.rows, among.K, chosen)


def _chosen(
    machine: KernelMachine, order: str, n_steps: int, among: Candidates,
    queries: NDArray[Any], rng: np.random.RandomState,
) -> NDArray[np.intp]:  # fmt: skip
    """Return the candidates that make the basis, in their order."""
    m = machine.n_vectors
    factor = _factor(machine, among.rows, among.K, among.jitter, n_steps)
    if order == "min_wz":
        return orderings.min_wz(factor, n_steps)
    if order == "sgma":
        return orderings.sgma(factor, n_steps)
    if order == "min_wz_n":
        return orderings.min_wz_n(factor, n_steps, m, rng)
    sample = _sample(machine, among.rows, queries, rng)
    return orderings.query_tuned(factor, n_steps, m, rng, sample, order == "hybrid")


def _basis(
    machine: KernelMachine, rows: NDArray[Any], K: NDArray[Any], chosen: NDArray[np.intp]
) -> Basis:
    m = machine.n_vectors
    scale = float(np.abs(machine.beta).sum()) or 1.0  # eq. 9
    k_zw = K[:, :m] @ (machine.beta / scale)
    index = np.where(chosen < m, chosen, -1)
    return Basis(
        rows=rows[chosen],
        index=index,
        spans=bool(np.count_nonzero(index >= 0) == m),
        K_zz=K[np.ix_(chosen, chosen)],  # eq. 6
        K_zw=k_zw[chosen],  # eq. 7
        K_ww=max(float(machine.beta / scale @ k_zw[:m]), 0.0),  # eq. 8
        scale=scale,
    )


def _factor(
    machine: KernelMachine, rows: NDArray[Any], K: NDArray[Any], jitter: float, n_steps: int
) -> orderings.PivotedFactor:
    m = machine.n_vectors
    k_zw = K[:, :m] @ machine.beta  # eq. 7
    k_ww = float(machine.beta @ k_zw[:m])  # eq. 8
    extra = extra_diagonal(K.diagonal(), max(jitter, 1e-10))
    return orderings.PivotedFactor(K, k_zw, k_ww, extra, n_steps)


def _sample(
    machine: KernelMachine, rows: NDArray[Any], queries: NDArray[Any], rng: np.random.RandomState
) -> orderings.QuerySample:
    if len(queries) > SAMPLE:
        queries = queries[np.sort(rng.choice(len(queries), SAMPLE, replace=False))]
    queries = queries.astype(np.float64)
    return orderings.QuerySample(
        precise(machine.kernel, rows, queries),
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
