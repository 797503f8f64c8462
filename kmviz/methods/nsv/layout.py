"""What a walk reads of one machine: principal components (4.3), sides (4.2), storage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from kmviz import kernels
from kmviz.loops.kernel import LINEAR, POLYNOMIAL, RADIAL
from kmviz.loops.nsv_stages import EXACT, NEAREST, TUG_OF_WAR, Start
from kmviz.loops.nsv_walk import Tables
from kmviz.machines import KernelMachine

Floats = NDArray[np.float64]

ORDERS = {"nearest": NEAREST, "tug_of_war": TUG_OF_WAR, "exact": EXACT}

#: From the approximation, the stages that may be: .4, .8, 1.6 and 3.2 n_components, which is 8, 16,
#: 32 and 64 out of 20. The last always is one.
STAGES = (0.4, 0.8, 1.6, 3.2)

#: What the parts of a walk took on one computer, in nanoseconds: stages are chosen and `overhead_`
#: is said by these, so that a fit does not depend on how busy a computer is.
TOUCH = {LINEAR: 27.0, POLYNOMIAL: 32.0, RADIAL: 34.0}  # a kernel value, and for each column:
COLUMN = {8: 0.35, 4: 0.12}  # by the bytes of a number
TERM = {LINEAR: 1.2, POLYNOMIAL: 1.2, RADIAL: 2.0}  # an approximate kernel value, and
COMPONENT = 0.08  # for each component
ORDER = 5.0  # putting a vector in its place
REDUCED = {8: 0.09, 4: 0.04}  # a kernel value of a reduced vector, for each column, and
STAGE = 20.0  # a stage of them

#: Vectors of more values than this are stored in float32, where it holds them: they no longer fit
#: a core's cache.
SMALL = 2**17


@dataclass(frozen=True)
class Options:
    """How the vectors of a machine are put in order, and where the sum starts."""

    order: str = "nearest"
    n_components: int = 20
    start: str = "empty"

    @property
    def approximate(self) -> bool:
        """Whether the walk starts from the approximation of all terms."""
        return self.start != "empty"


def known_form(kernel: Any) -> Any:
    """Return the plain formula of a kernel, or None.

    A subclass of a kmviz kernel (one that counts, say) has its parent's: ordering reads the
    formula and never calls the kernel.
    """
    if isinstance(kernel, kernels.Normalized):
        inner = known_form(kernel.kernel)
        return None if inner is None else kernels.Normalized(inner)
    if isinstance(kernel, kernels.RBF):
        return kernels.RBF(kernel.gamma)
    if isinstance(kernel, kernels.Polynomial):
        return kernels.Polynomial(kernel.degree, kernel.gamma, kernel.coef0)
    return kernels.Linear() if isinstance(kernel, kernels.Linear) else None


def ordering_kernel(kernel: Any, options: Options) -> Any:
    """Return the formula to order by; a kernel without one is ordered by distance."""
    form = known_form(kernel)
    if form is None and options.approximate:
        raise ValueError(
            f"start={options.start!r} approximates the kernel, and {kernel!r} has no known "
            "formula: use a kernel of kmviz.kernels (or a subclass of one), or start='empty'."
        )
    return kernels.RBF(1.0) if form is None else form


def principal_directions(rows: NDArray[Any], q: int) -> NDArray[np.float64]:
    """Return the top right singular vectors of the rows as rows: eq. 10, not centred."""
    rows = rows.astype(np.float64, copy=False)
    wide = len(rows) < rows.shape[1]
    gram = rows @ rows.T if wide else rows.T @ rows
    q = min(q, len(gram))
    squares, axes = eigh(gram, subset_by_index=(len(gram) - q, len(gram) - 1))
    squares, axes = squares[::-1], axes[:, ::-1]
    keep = squares > 1e-12 * max(squares[0], 1e-300)
    keep[0] = True
    squares, axes = squares[keep], axes[:, keep]
    if not wide:
        return np.ascontiguousarray(axes.T)
    return (axes / np.sqrt(np.maximum(squares, 1e-300))).T @ rows


def nearby_directions(rows: NDArray[Any], near: NDArray[Any]) -> NDArray[Any]:
    """Return the same by a step of subspace iteration from directions of nearly the same rows.

    That takes a fraction of the time. What lies between the last directions and the next may
    differ; the span hardly tells less of the rows.
    """
    axes = np.linalg.qr(rows.T @ (rows @ near.T))[0]
    along = rows @ axes
    turn = np.linalg.eigh(along.T @ along)[1][:, ::-1]  # the longest first
    return np.ascontiguousarray((axes @ turn).T)


def is_normalised(form: Any, embedded: NDArray[Any]) -> bool:
    """Tell whether a kernel is a power of the cosine: K(x, x) = 1 because rows have length 1.

    So has a homogeneous kernel on rows that were brought to length 1 beforehand.
    """
    kind, _, coef0, _ = form.code
    if kind == RADIAL or coef0:
        return False
    squares = np.einsum("ij,ij->i", embedded, embedded)
    return bool(np.abs(squares - 1.0).max(initial=0.0) < 1e-5)


def build_tables(
    machine: KernelMachine, options: Options, near: NDArray[Any] | None = None
) -> Tables:
    """Lay out a machine for the walk.

    `near` are principal directions of a machine that is nearly the same, where there is one.
    """
    form = ordering_kernel(machine.kernel, options)
    wide = np.dtype(np.float64) if near is None else near.dtype
    embedded = form.embed(machine.vectors.astype(wide, copy=False))
    dtype = wide
    if near is None:
        narrow = embedded.size > SMALL and machine.fits_float32
        dtype = np.dtype(np.float32 if narrow else np.float64)
    q = options.n_components
    wanted = [max(1, round(q * share)) for share in STAGES] if options.approximate else [q]
    if near is not None and len(near) == max(wanted) < len(embedded):
        basis = nearby_directions(embedded, near)
    else:
        basis = principal_directions(embedded, max(wanted))
    ends = np.unique(np.minimum(wanted, len(basis)))
    coordinates = embedded @ basis.T
    unit = not options.approximate and is_normalised(form, embedded)
    if unit:  # the kernel of the projections is normalised as the kernel is
        coordinates /= np.maximum(np.linalg.norm(coordinates, axis=1, keepdims=True), 1e-300)
    # The control variate knows the lengths of query and vector and lacks only their product;
    # eq. 11 as published knows the projections alone.
    measured = embedded if options.approximate else coordinates
    kind, gamma, coef0, degree = form.code
    sides, n_first = np.arange(len(embedded)), len(embedded)
    if options.order == "tug_of_war":
        positive = machine.beta > 0
        sides = np.concatenate([np.flatnonzero(positive), np.flatnonzero(~positive)])
        n_first = int(positive.sum())
    return Tables(
        kind=kind,
        gamma=gamma,
        coef0=coef0,
        degree=degree,
        order=ORDERS[options.order],
        approximate=options.approximate,
        bias=machine.bias,
        vectors=np.ascontiguousarray(embedded, dtype=dtype),
        beta=machine.beta,
        weights=machine.beta.astype(dtype),
        basis=np.ascontiguousarray(basis, dtype=dtype),
        coordinates=np.ascontiguousarray(coordinates.T, dtype=dtype),
        lengths=np.einsum("ij,ij->i", measured, measured).astype(dtype),
        ends=ends.astype(np.int64),
        sides=sides,
        n_first=n_first,
        unit=unit,
        before=0,
        asked=0,
    )


def stage_costs(t: Tables, ends: NDArray[np.int64]) -> NDArray[np.float64]:
    """What each stage that ends with these components costs, and then ordering: in kernel values.

    The paper counts q + m q / d for both: multiplications alone. An exponential, a place in the
    order and a vector fetched from memory cost more than a multiplication.
    """
    m, d = t.vectors.shape
    column = COLUMN[t.vectors.itemsize]
    value = TOUCH[t.kind] + column * d
    costs = np.diff(ends, prepend=0) * (column * d + COMPONENT * m)
    if t.approximate:
        costs = costs + TERM[t.kind] * m
    elif t.order == EXACT:  # which orders by the kernel alone
        costs = 0.0 * costs
    ordering = (ORDER + (value if t.order == EXACT else 0.0)) * m
    return np.append(costs, ordering) / value


def reduced_costs(t: Tables, sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """What stages of so many more reduced vectors cost, in kernel values of the walk.

    They are computed four at a time for two queries, which no vector of the walk can be.
    """
    d = t.vectors.shape[1]
    value = TOUCH[t.kind] + COLUMN[t.vectors.itemsize] * d
    own = TERM[t.kind] + REDUCED[t.vectors.itemsize] * d
    return (STAGE + own * sizes) / value


def unit_scale(form: Any) -> tuple[float, float] | None:
    """Return g and c where products are divided by sqrt(g x.x + c): 0 and 1 where they are not.

    None where rows have to be embedded first.
    """
    inner = form.kernel if isinstance(form, kernels.Normalized) else None
    if inner is None or isinstance(inner, kernels.RBF):
        return 0.0, 1.0
    if isinstance(inner, kernels.Polynomial):
        return float(inner.gamma), float(inner.coef0)
    return (1.0, 0.0) if isinstance(inner, kernels.Linear) else None


def input_form(rows: Floats, gamma: float, coef0: float, d: int) -> tuple[Floats, Floats]:
    """Return what multiplies input rows in place of embedded ones, and what is added.

    [sqrt(g) x, sqrt(c)].v = x.(sqrt(g) v[:d]) + sqrt(c) v[d]
    """
    if gamma == 0.0:
        return rows, np.zeros(len(rows))
    last = np.sqrt(coef0) * rows[:, d] if rows.shape[1] > d else np.zeros(len(rows))
    return np.sqrt(gamma) * rows[:, :d], last


def build_start(
    form: Any, t: Tables, vectors: Any, weights: Floats, ends: Any, bias: float
) -> Start:
    """Lay out reduced vectors as the reduced machines of each size, without a filter.

    Parameters
    ----------
    vectors : array of shape (n, d)
        Input rows; none, where the filter comes alone.
    weights : array of shape (s, n)
        Of the reduced machine of each size.
    ends : array of shape (s,)
        The sizes.
    """
    n, d = np.shape(vectors)
    embedded = np.zeros((1 + n, t.vectors.shape[1]))
    if n:
        embedded[1:] = form.embed(vectors)
    unit_gamma, unit_coef0 = unit_scale(form) or (0.0, 1.0)
    rows, offsets = input_form(embedded, unit_gamma, unit_coef0, d)
    dtype = t.vectors.dtype
    return Start(
        t.kind, t.gamma, t.coef0, t.degree, unit_gamma, unit_coef0, 0.0, 0.0,
        rows=np.ascontiguousarray(rows, dtype=dtype),
        offsets=offsets.astype(dtype),
        lengths=np.einsum("ij,ij->i", embedded, embedded).astype(dtype),
        weights=weights.astype(dtype),
        lines=np.column_stack([np.zeros(len(ends)), np.full(len(ends), bias)]),
        ends=np.array(ends, dtype=np.int64),
    )  # fmt: skip


def with_linear(start: Start, linear: Any) -> Start:
    """Return the same with another filter: weights on embedded rows and bias, or None."""
    rows, offset, bias = start.rows.copy(), 0.0, 0.0
    rows[0] = 0.0
    if linear is not None:
        d, (weights, bias) = rows.shape[1], linear
        found, last = input_form(weights[None], start.unit_gamma, start.unit_coef0, d)
        rows[0], offset = found[0], last[0]
    return start._replace(rows=rows, linear_offset=float(offset), linear_bias=float(bias))


def of_sizes(start: Start, stages: NDArray[np.intp]) -> Start:
    """Return the same with these stages and no others, and the vectors that they take."""
    ends = start.ends[stages]
    n = int(ends[-1]) if len(ends) else 0
    return start._replace(
        rows=start.rows[: 1 + n],
        offsets=start.offsets[: 1 + n],
        lengths=start.lengths[: 1 + n],
        weights=np.ascontiguousarray(start.weights[stages, :n]),
        lines=start.lines[stages],
        ends=ends,
    )
