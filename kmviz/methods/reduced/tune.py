"""Fine-tuning of a reduced machine towards answers instead of distance.

Beyond the paper. The distance ||Psi - Psi'|| counts every direction of feature space alike, also
those that no query ever lies in, and a machine of many heavy vectors has a long Psi that few
vectors come nowhere near. What has to be right is the side of each query: so vectors and weights
are moved together, by L-BFGS, towards the machine's output clipped at the margin,

    L = mean_x r(x)^2 / 2,    r(x) = sum_k g_k K(z_k, x) - b - min(max(f(x), -1), 1),

where r counts as 0 beyond the margin on the right side (f >= 1 and r > 0, or f <= -1 and r < 0).
No labels enter: f is the machine's. Whether it helps, rows say that a first tuning did not see: it
is kept where fewer of them change sides than with the reduced set as it was, and then done again
with all rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

from kmviz.machines import KernelMachine
from kmviz.methods.progress import report
from kmviz.methods.reduction.objective import (
    Floats,
    Target,
    pull,
    values_and_slopes,
    working_type,
)
from kmviz.methods.reduction.path import ReducedPath, target_of
from kmviz.methods.reduction.space import OpaqueSpace, Space

#: The weights' mean square, in units of that at the start, costs so much beside L.
RIDGE = 1e-4

#: Rows that tune, and a third as many that judge; with fewer than the second in all, none do.
MOST_ROWS, FEWEST_ROWS = 6_000, 8

#: A descent ends after this much work, n rows (d + 200) a step, or after so many steps. Where
#: every size is tuned, each has a twentieth of it.
WORK, FEWEST_STEPS, MOST_STEPS, EVERY = 2e10, 25, 1_000, 20


class MarginTuning:
    """The tuned machine of any size of one path, and whether it is the better one.

    Parameters
    ----------
    path : ReducedPath
    X : array of shape (n, d)
        Rows without labels: three quarters tune what the others judge; then all of them tune.
    seed : int
        Which rows do what.
    is_every : bool
        Whether many sizes are to be tuned.
    """

    def __init__(self, path: ReducedPath, X: NDArray[Any], seed: int, is_every: bool) -> None:
        order = np.random.RandomState(seed).permutation(len(X))[: MOST_ROWS * 4 // 3]
        cut = len(order) * 3 // 4
        self.path, self.rows, self.held = path, X[order[:cut]], X[order[cut:]]
        self._work = WORK / EVERY if is_every else WORK
        self._found: dict[tuple[int, bool], KernelMachine] = {}
        self._target: Target | None = None

    def machine(self, n: int, by_all: bool = True) -> KernelMachine:
        """Return the machine of n vectors that all rows tune, or the one to be judged; once."""
        if (n, by_all) not in self._found:
            rows = np.concatenate([self.rows, self.held]) if by_all else self.rows
            with threadpool_limits(1):
                start = self.path.machine(n)
                self._found[n, by_all] = tuned(start, self.path, rows, self._work)
        return self._found[n, by_all]

    def is_better(self, tuned: KernelMachine, plain: KernelMachine) -> bool:
        """Whether fewer of the judging rows change sides with a machine that they did not tune."""
        return self._changed(tuned) < self._changed(plain)

    def rho(self, machine: KernelMachine) -> float:
        """Return ||Psi - Psi'|| / ||Psi|| of a machine, wherever its vectors come from."""
        space = self.path.space
        self._target = self._target or target_of(self.path.original, space)
        units, scale = space.directions(machine.vectors)
        g, b = machine.beta * scale, space.plain(units, self._target.rows) @ self._target.beta
        # F = a'K_ss a - 2 g'b + g'K_zz g
        left = self._target.norm_sq - 2.0 * g @ b + g @ space.plain(units, units) @ g
        return float(np.sqrt(max(left, 0.0) / (self._target.norm_sq or 1.0)))

    def _changed(self, machine: KernelMachine) -> int:
        wanted = self.path.original.decision_function(self.held) > 0
        return int(np.sum((machine.decision_function(self.held) > 0) != wanted))


def tuned(start: KernelMachine, path: ReducedPath, X: NDArray[Any], work: float) -> KernelMachine:
    """Return a reduced machine moved towards the clipped outputs of its original on rows X.

    Vectors of a kernel without a formula, and such as were only selected, keep their places.
    """
    original, space = path.original, path.space
    Z = space.directions(start.vectors)[0]
    loss = MarginLoss(space, space.rows(X), original.decision_function(X), original.bias)
    if isinstance(space, OpaqueSpace):
        return replace(start, beta=loss.refitted(Z))
    n, d = Z.shape
    most = int(np.clip(work / (n * len(X) * (d + 200)), FEWEST_STEPS, MOST_STEPS))
    weights = loss.refitted(Z)
    unit = float(np.sqrt(np.mean(weights**2))) or 1.0
    report(0.9, f"{n} vectors: {most} steps towards the margin")
    found = minimize(
        lambda flat: loss.of(flat, n, unit), np.concatenate([Z.ravel(), weights / unit]),
        jac=True, method="L-BFGS-B",
        options={"maxiter": most, "maxfun": 2 * most, "maxcor": 20},
    ).x  # fmt: skip
    if not np.isfinite(found).all():
        return start
    return _back(found[: n * d].reshape(n, d), found[n * d :] * unit, start, space, path)


def _back(
    Z: Floats, weights: Floats, start: KernelMachine, space: Space, path: ReducedPath
) -> KernelMachine:
    """Return the machine of vectors in a space; a direction may go back as its opposite."""
    if space.is_homogeneous:
        Z = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    vectors = space.back(Z, space.directions(path.original.vectors)[0])
    units, scale = space.directions(vectors)
    if space.is_homogeneous:
        weights = weights * np.sign(np.einsum("ij,ij->i", units, Z)) ** space.degree
    return replace(start, vectors=vectors, beta=weights / scale)


class MarginLoss:
    """L and its gradient in all vectors and weights.

    Parameters
    ----------
    space : Space
    S : array of shape (n, d)
        Rows of that space.
    exact : array of shape (n,)
        f of each.
    bias : float
        b.
    """

    def __init__(self, space: Space, S: Floats, exact: Floats, bias: float) -> None:
        self.space, self.bias = space, bias
        self.S = S.astype(working_type(S), copy=False)
        self.wanted = np.clip(exact, -1.0, 1.0)
        self.above, self.below = exact >= 1.0, exact <= -1.0

    def refitted(self, Z: Floats) -> Floats:
        """Return the weights that come nearest to the clipped outputs."""
        K = np.asarray(self.space.plain(Z, self.S), dtype=np.float64)
        normal = K @ K.T
        normal[np.diag_indices_from(normal)] *= 1.0 + 1e-6
        found = np.linalg.lstsq(normal, K @ (self.wanted + self.bias), rcond=1e-12)[0]
        return np.asarray(found, dtype=np.float64)

    def of(self, flat: Floats, n: int, unit: float) -> tuple[float, Floats]:
        """Return L and its gradient; `flat` holds the vectors, then the weights over `unit`."""
        Z, parts = flat[:-n].reshape(n, -1), flat[-n:]
        lengths = np.ones((n, 1))
        if self.space.is_homogeneous:
            lengths = np.linalg.norm(Z, axis=1, keepdims=True)
            Z = Z / lengths
        near, weights = Z.astype(self.S.dtype, copy=False), parts * unit
        K, T = values_and_slopes(self.space.plain, near, self.S)
        r = weights @ K - self.bias - self.wanted
        r[(self.above & (r > 0)) | (self.below & (r < 0))] = 0.0
        # dL/dg_k = mean r K(z_k, x),  dL/dz_k = g_k mean r dK(z_k, x)/dz_k
        T *= r.astype(T.dtype)
        moves = weights[:, None] * pull(self.space.plain, near, self.S, T) / len(r)
        if self.space.is_homogeneous:  # only turning counts: the weights take the lengths
            moves = (moves - np.einsum("ij,ij->i", moves, Z)[:, None] * Z) / lengths
        turns = unit * (K @ r) / len(r) + RIDGE * parts / n
        value = 0.5 * float(np.mean(r * r)) + 0.5 * RIDGE * float(np.mean(parts**2))
        return value, np.concatenate([moves.ravel(), turns]).astype(np.float64)
