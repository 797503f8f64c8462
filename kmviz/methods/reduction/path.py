"""A machine for every number of vectors, along one path.

Vectors are added one at a time; at a few sizes all of them are moved together (the paper's last
phase, a descent in all variables at once). Between two such sizes the path holds the moved
vectors and those added since, always with exact weights, so that rho never rises with n.

`grow` spends its time on the last size. `grow_every` spends it on all of them, and no size knows
of the later ones: the machine of n vectors is the same however far the path goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import OptimizeResult, minimize
from threadpoolctl import threadpool_limits

from kmviz.machines import KernelMachine
from kmviz.methods.progress import report
from kmviz.methods.reduction import search
from kmviz.methods.reduction.basis import Basis
from kmviz.methods.reduction.objective import (
    Distance,
    Floats,
    Target,
    exact_weights,
    lower_factor,
)
from kmviz.methods.reduction.space import OpaqueSpace, Space

#: The joint phase ends after this much work, n m (d + 200) a step (a kernel value costs as much as
#: 200 products), or after so many steps: some ten seconds.
WORK, FEWEST, MOST = 1e11, 25, 500

#: Where there is time left: how often the least useful vectors are sought anew, what share of
#: them, and the steps of the descent after each time.
RENEWALS, RENEWED, BRIEF = 4, 0.2, 100

#: A path through every size moves all together at each size up to the first, then at every size an
#: eighth larger; a 150th of WORK for each, within these steps.
DENSE, GAP, SHARE, STEPS_OF_EVERY = 16, 8, 150, (10, 100)

#: Growth ends where a vector explains less than this share of ||Psi||^2; vectors that leave less
#: than the second of it are taken as they are.
NOTHING, LITTLE = 1e-14, 1e-6

SEARCHES: dict[str, search.Search] = {
    "joint": search.by_gradient,
    "incremental": search.by_gradient,
    "fixed_point": search.by_fixed_point,
    "selection": search.by_selection,
}


@dataclass(frozen=True, eq=False)
class Stage:
    """Nested vectors that serve every size from `first` on.

    Attributes
    ----------
    first : int
    vectors : array of shape (n, d)
        Input rows.
    K : array of shape (n, n)
        Kernel values among them, at unit length where the kernel is homogeneous.
    b : array of shape (n,)
        <Psi, Phi(z_k)>, likewise.
    scale : array of shape (n,)
        What divides the weights for the vectors' own length.
    """

    first: int
    vectors: Floats
    K: Floats
    b: Floats
    scale: Floats

    def weights(self, n: int) -> Floats:
        """Return the best weights of the first n vectors."""
        return exact_weights(self.K[:n, :n], self.b[:n]) / self.scale[:n]

    def nested(self, n: int) -> Floats:
        """Return the best weights of the first 1, 2, ..., n vectors, a row each.

        With K = LL' and c = L^-1 b the first k weights are sum_(j <= k) c_j (L^-T)_j.
        """
        return self._unscaled(n)[0] / self.scale[:n]

    def explained(self) -> Floats:
        """Return ||Psi||^2 - F for the first 1, 2, ... vectors.

        The weights solve a system with a little jitter D on its diagonal, so that
        g'b + g'Dg = ||Psi||^2 - F.
        """
        weights, sums, jitter = self._unscaled(len(self.b))
        return sums + weights**2 @ jitter

    def _unscaled(self, n: int) -> tuple[Floats, Floats, Floats]:
        """Return the nested weights at unit length, their g'b, and the jitter they rest on."""
        factor = lower_factor(self.K[:n, :n])
        coordinates = solve_triangular(factor, self.b[:n], lower=True)
        columns = solve_triangular(factor, np.eye(n), lower=True, trans=1)
        jitter = np.einsum("ij,ij->i", factor, factor) - np.diag(self.K)[:n]
        weights = np.cumsum((columns * coordinates).T, axis=0)
        return weights, np.cumsum(coordinates**2), np.maximum(jitter, 0.0)


@dataclass(frozen=True, eq=False)
class ReducedPath:
    """Reduced machines of every size up to `n_vectors`.

    Attributes
    ----------
    original : KernelMachine
    stages : tuple of Stage
    rho : array of shape (n_vectors + 1,)
        ||Psi - Psi'|| / ||Psi|| by size; `rho[0]` is 1.
    space : Space
        Where the vectors were sought.
    """

    original: KernelMachine
    stages: tuple[Stage, ...]
    rho: Floats
    space: Space

    @property
    def n_vectors(self) -> int:
        """The largest size."""
        return len(self.rho) - 1

    def stage(self, n: int) -> Stage:
        """Return the stage of size n: its n vectors alone, so that no later one leaves a trace."""
        found = [stage for stage in self.stages if stage.first <= n][-1]
        if len(found.vectors) == n:
            return found
        rows, scale = self.space.directions(self.original.vectors)
        return _stage_of(
            self.space, found.vectors[:n].copy(), rows, self.original.beta * scale, found.first
        )

    def machine(self, n: int, stage: Stage | None = None) -> KernelMachine:
        """Return the reduced machine of n vectors, with the original's threshold.

        Parameters
        ----------
        stage : `stage(n)`, where it is known already
        """
        stage, original = stage or self.stage(n), self.original
        return KernelMachine(stage.vectors, stage.weights(n), original.bias, original.kernel)


def target_of(machine: KernelMachine, space: Space) -> Target:
    """Return Psi of a machine; for a homogeneous kernel its rows are brought to unit length."""
    rows, scale = space.directions(machine.vectors)
    return Target.of(space.plain, rows, machine.beta * scale, space.is_homogeneous)


def grow(
    machine: KernelMachine,
    space: Space,
    sizes: Iterable[int],
    method: str = "joint",
    max_iter: int | None = None,
) -> ReducedPath:
    """Grow a path to the last of `sizes`, moving all vectors together at each of them.

    Parameters
    ----------
    method : {"joint", "incremental", "fixed_point", "selection"}
        How a vector is found; only "joint" moves all together.
    max_iter : int, optional
        Steps of each joint descent; None lets the size of the problem decide.
    """
    sizes = sorted(set(sizes))

    def move(basis: Basis, is_done: bool) -> None:
        if basis.n == sizes[-1] and not is_done:
            _look_about(basis, SEARCHES[method], max_iter)
        move_together(basis, max_iter=max_iter, share=(basis.n / sizes[-1]))

    return _grown(machine, space, sizes, method, move)


def grow_every(
    machine: KernelMachine, space: Space, last: int, method: str = "joint"
) -> ReducedPath:
    """Grow a path to `last` vectors whose every size has its share of the work.

    Vectors are moved together, briefly, at all sizes up to 16 and at every size an eighth larger
    from there, and no other starts are tried at the end.
    """
    moved = moved_sizes(last)

    def move(basis: Basis, is_done: bool) -> None:
        if basis.n in moved and not is_done:
            steps = _steps(basis.n, *basis.target.rows.shape) / SHARE
            move_together(basis, max_iter=int(np.clip(steps, *STEPS_OF_EVERY)))

    return _grown(machine, space, sorted({*moved, last}), method, move)


def moved_sizes(last: int) -> list[int]:
    """Return the sizes, up to `last`, at which a path through every size moves all together.

    Examples
    --------
    >>> from kmviz.methods.reduction.path import moved_sizes
    >>> moved_sizes(30)[-6:]
    [18, 20, 22, 24, 27, 30]
    """
    sizes = [1]
    while sizes[-1] < last:
        sizes.append(sizes[-1] + max(1, sizes[-1] // GAP if sizes[-1] >= DENSE else 1))
    return [size for size in sizes if size <= last]


def _grown(
    machine: KernelMachine,
    space: Space,
    sizes: list[int],
    method: str,
    move: Callable[[Basis, bool], None],
) -> ReducedPath:
    with threadpool_limits(1):  # between small products BLAS threads mostly wait for each other
        if method == "selection":  # what is only chosen stays as it was given
            space = OpaqueSpace(space.kernel)
        target = target_of(machine, space)
        if space.is_homogeneous and space.degree <= 2 and method == "joint":
            return _solved(machine, space, target, sizes[-1])
        basis, find = Basis(target, sizes[-1]), SEARCHES[method]
        stages: list[Stage] = []
        path = ReducedPath(machine, (), np.ones(1), space)
        for size in sizes:
            is_done = _fill(basis, find, size, sizes[-1])
            grown = _stage(space, target, basis.vectors, stages[-1].first if stages else 0)
            stages = [*stages[:-1], grown]
            if method == "joint" and basis.n > 0:
                move(basis, is_done)
                stages.append(_stage(space, target, basis.vectors, basis.n))
            path = ReducedPath(machine, tuple(stages), _rho(stages, target), space)
            if is_done:
                break
        return path


def move_together(
    basis: Basis, optimizer: str = "L-BFGS-B", max_iter: int | None = None, share: float = 1.0
) -> OptimizeResult:
    """Descend in all vectors at once, with exact weights; keep the result if it is better.

    Parameters
    ----------
    optimizer : {"L-BFGS-B", "CG"}
        CG is the paper's conjugate gradient.
    """
    Z, found = descend(basis.target, basis.vectors, optimizer, max_iter, share)
    if Z is not None:
        basis.replace(Z)
    return found


def _look_about(basis: Basis, find: search.Search, max_iter: int | None) -> None:
    """Before the last descent, try other starts, as far as there is time for them.

    Not in the paper. Support vectors as they are may explain everything, as they do where a
    machine has no more different ones.
    """
    target, (n, d) = basis.target, basis.vectors.shape
    chosen = Basis(target, n)
    _fill(chosen, search.by_selection, n, n)
    if chosen.gains.sum() > (1.0 - LITTLE) * target.norm_sq:
        basis.replace(chosen.vectors)
    elif max_iter is None and n > 1 and _steps(n, len(target.rows), d) >= 2 * MOST:
        for start in (basis, chosen):
            move_together(start, max_iter=BRIEF)
        if chosen.gains.sum() > basis.gains.sum():
            basis.replace(chosen.vectors)
        renew(basis, find)


def renew(basis: Basis, find: search.Search) -> None:
    """Seek the vectors that matter least anew, beside the others, as long as F falls.

    A descent may come to rest where a few vectors hardly matter; how good the place is would then
    depend on chance.
    """
    for _ in range(RENEWALS):
        Z, explained = basis.vectors.copy(), basis.gains.sum()
        basis.replace(Z[np.argsort(basis.losses())[max(1, int(RENEWED * len(Z))) :]])
        is_done = _fill(basis, find, len(Z), len(Z))
        move_together(basis, max_iter=BRIEF)
        if basis.gains.sum() < explained:
            basis.replace(Z)
        if is_done:
            break


def descend(
    target: Target,
    start: Floats,
    optimizer: str = "L-BFGS-B",
    max_iter: int | None = None,
    share: float = 1.0,
) -> tuple[Floats | None, OptimizeResult]:
    """Return vectors nearer to the target than those at the start, None if none were found."""
    distance, (n, d) = Distance(target), start.shape
    if max_iter is None:
        max_iter = int(np.clip(_steps(n, len(target.rows), d), FEWEST, MOST))
    done = 0

    def heard(intermediate_result: OptimizeResult) -> None:
        nonlocal done
        done += 1
        rho = np.sqrt(max(intermediate_result.fun, 0.0))
        report(share * done / max_iter, f"{n} vectors together: rho {rho:.4f}")

    options: dict[str, Any] = {"maxiter": max_iter}
    if optimizer == "L-BFGS-B":
        options |= {"maxcor": 20, "maxfun": 2 * max_iter, "ftol": 1e-12, "gtol": 1e-8}
    flat = start.ravel().copy()
    found = minimize(distance, flat, jac=True, method=optimizer, callback=heard, options=options)
    if found.fun >= distance(flat)[0]:
        return None, found
    Z = found.x.reshape(n, d)
    return Z / np.linalg.norm(Z, axis=1, keepdims=True) if target.homogeneous else Z, found


def _steps(n: int, m: int, d: int) -> float:
    """Return how many steps of a descent WORK pays for."""
    return WORK / (n * m * (d + 200))


def _fill(basis: Basis, find: search.Search, size: int, last: int) -> bool:
    """Add vectors up to `size`; tell whether there was nothing left to explain."""
    norm_sq = basis.target.norm_sq
    while basis.n < size:
        if basis.scores().max() <= NOTHING * norm_sq or norm_sq <= 0:
            return True
        basis.append(find(basis))
        rho = np.sqrt(max(1.0 - basis.gains.sum() / norm_sq, 0.0))
        report(0.5 * basis.n / last, f"vector {basis.n} of {last}: rho {rho:.4f}")
    return False


def _solved(machine: KernelMachine, space: Space, target: Target, n: int) -> ReducedPath:
    """Return the path of a linear or quadratic kernel, which needs no search."""
    stage = _stage(space, target, _solution(target, space.degree)[:n], 0)
    return ReducedPath(machine, (stage,), _rho([stage], target), space)


def _stage(space: Space, target: Target, Z: Floats, first: int) -> Stage:
    """Bring vectors to input rows, and compute what their weights follow from."""
    vectors = space.back(Z, target.rows).copy()
    return _stage_of(space, vectors, target.rows, target.beta, first)


def _stage_of(space: Space, vectors: Floats, rows: Floats, beta: Floats, first: int) -> Stage:
    units, scale = space.directions(vectors)
    b = space.plain(units, rows) @ beta if len(units) else np.empty(0)
    return Stage(first, vectors, space.plain(units, units), b, scale)


def _rho(stages: list[Stage], target: Target) -> Floats:
    """Return sqrt(F) / ||Psi|| of each size, each from the stage that serves it."""
    last = len(stages[-1].vectors)  # a later stage may take fewer
    left = np.ones(last + 1)
    for stage in stages:
        start = max(stage.first, 1)
        if len(stage.vectors) >= start:
            explained = stage.explained()[:last] / max(target.norm_sq, np.finfo(float).tiny)
            left[start : len(explained) + 1] = 1.0 - explained[start - 1 :]
    return np.sqrt(np.minimum.accumulate(np.maximum(left, 0.0)))


def _solution(target: Target, degree: int) -> Floats:
    """Return the best vectors of a linear or homogeneous quadratic kernel, the largest first.

    - Linear: Psi is itself a row, sum_i a_i s_i. One vector is enough.
    - Quadratic: Psi is the symmetric matrix M = sum_i a_i s_i s_i', and <M, z z'> = z'M z. The best
      n vectors are the eigenvectors of the n eigenvalues that are largest in size, their weights
      the eigenvalues (Burges 1996, section 4.1; Eckart and Young).
    """
    if degree == 1:
        psi = target.beta @ target.rows
        length = np.linalg.norm(psi)
        return psi[None] / length if length > 0 else target.rows[:1]
    M = (target.rows * target.beta[:, None]).T @ target.rows
    values, vectors = np.linalg.eigh((M + M.T) / 2.0)
    order = np.argsort(-np.abs(values), kind="stable")
    large = order[np.abs(values[order]) > 1e-12 * max(np.abs(values).max(), 1e-300)]
    return vectors[:, large if len(large) else order[:1]].T
