"""One more vector: by gradient, by fixed point, or by choice among the support vectors.

- gradient: L-BFGS on the gain of a single vector (Burges 1996's first phase), started at the
  support vector that would lower F most.
- fixed point: Schoelkopf, Mika, Burges, Knirsch, Mueller, Raetsch and Smola (1999), "Input
  space versus feature space in kernel-based methods", eq. 20, radial kernels only. It fails
  often (the denominator passes through zero), so it is restarted from the next best start.
- selection: the support vector itself, greedily.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from kmviz.methods.reduction.basis import Basis
from kmviz.methods.reduction.objective import Floats, pull, values_and_slopes

Search = Callable[[Basis], Floats]

#: Iterations for one new vector; the joint phase moves it again.
ITERATIONS = 30

#: Fixed point: iterations, and starts before the best support vector itself is taken.
FIXED_POINT_ITERATIONS, STARTS = 100, 5


def best_start(basis: Basis) -> Floats:
    """Return the support vector that lowers F most."""
    return basis.target.rows[int(np.argmax(basis.scores()))]


def by_selection(basis: Basis) -> Floats:
    """Take a support vector as it is."""
    return best_start(basis)


def by_gradient(basis: Basis) -> Floats:
    """Move the best support vector to where it lowers F most."""
    gain = _Gain(basis)
    start = best_start(basis)
    options = {"maxiter": ITERATIONS, "maxcor": 10}
    found = minimize(gain, start, jac=True, method="L-BFGS-B", options=options)
    better = found.fun < gain(start)[0]
    return _at_unit_length(basis, found.x if better else start)


def by_fixed_point(basis: Basis) -> Floats:
    """Iterate z <- sum_i c_i K(x_i, z) x_i / sum_i c_i K(x_i, z) over the residual's terms."""
    target = basis.target
    rows = np.vstack([target.rows, basis.vectors])
    terms = np.concatenate([target.beta, -basis.weights]) if basis.n else target.beta
    gain, scores = _Gain(basis), basis.scores()
    best = target.rows[int(np.argmax(scores))]
    lowest = gain(best)[0]
    for start in np.argsort(-scores, kind="stable")[:STARTS]:
        z = _iterate(target.plain, target.rows[start], rows, terms)
        if z is not None and (value := gain(z)[0]) < lowest:
            best, lowest = z, value
            break
    return best


def _iterate(plain, z: Floats, rows: Floats, terms: Floats) -> Floats | None:
    for _ in range(FIXED_POINT_ITERATIONS):
        pulls = terms * values_and_slopes(plain, z[None], rows)[0][0]  # eq. 20
        total = pulls.sum()
        if abs(total) < 1e-8 * np.abs(pulls).sum() or not np.abs(pulls).sum():
            return None
        moved = pulls @ rows / total
        if not np.isfinite(moved).all():
            return None
        if np.linalg.norm(moved - z) <= 1e-7 * (1.0 + np.linalg.norm(z)):
            return moved
        z = moved
    return z


class _Gain:
    """Minus the share of ||Psi||^2 that one more vector z explains, and its gradient.

    gain(z) = r(z)^2 / D(z), with r(z) = <Psi - Psi', Phi(z)> and
    D(z) = K(z, z) - k'K_zz^-1 k, the squared distance of Phi(z) from the span so far.
    """

    def __init__(self, basis: Basis) -> None:
        self.target, self.basis = basis.target, basis
        self.working_rows = basis.target.working_rows
        self.beta = basis.target.beta.astype(self.working_rows.dtype)
        self.weights = basis.weights if basis.n else np.empty(0)

    def __call__(self, z: Floats) -> tuple[float, Floats]:
        target, basis, S = self.target, self.basis, self.working_rows
        length = np.linalg.norm(z) if target.homogeneous else 1.0
        row = (z / length)[None]
        near = row.astype(S.dtype, copy=False)
        K_s, T_s = values_and_slopes(target.plain, near, S)
        K_own, T_own = values_and_slopes(target.plain, row, row)
        r, own = float((K_s @ self.beta)[0]), float(K_own[0, 0])
        dr = pull(target.plain, near, S, T_s * self.beta)[0].astype(np.float64)
        d_own = 2.0 * pull(target.plain, row, row, T_own)[0]
        if basis.n:
            K_z, T_z = values_and_slopes(target.plain, row, basis.vectors)
            r -= float(K_z[0] @ self.weights)
            dr -= pull(target.plain, row, basis.vectors, T_z * self.weights)[0]
            explained = basis.explain(K_z[0])  # K_zz^-1 k
            own -= float(K_z[0] @ explained)
            d_own -= 2.0 * pull(target.plain, row, basis.vectors, T_z * explained)[0]
        own = max(own, 1e-8)
        gain = r * r / own
        gradient = 2.0 * r / own * dr - gain / own * d_own
        if target.homogeneous:
            gradient = (gradient - (gradient @ row[0]) * row[0]) / length
        return -gain / target.norm_sq, -gradient / target.norm_sq


def _at_unit_length(basis: Basis, z: Floats) -> Floats:
    return z / np.linalg.norm(z) if basis.target.homogeneous else z
