"""Algorithm 2: grow a tree greedily, from the root down.

A branch knows its rows, the columns asked on the way to it and what they leave unexplained. Two
ways of fitting share the growth: `ColumnFit` is the paper's, each node adds its own scaled column
to what stands; `PathFit` fits all columns of the path again at each node.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from kmviz.methods.svtree.split import Gain, Split
from kmviz.methods.svtree.tree import SVTree

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Branch:
    """A node as it is grown.

    Attributes
    ----------
    rows : array of shape (n,)
        Training rows that reach it.
    path : tuple of int
        Columns asked on the way, its own last.
    coefficients : array of shape (len(path),)
        Of the kernel values on the path.
    offset : float
    residual : array of shape (n,)
        What the output at this node leaves of its rows' targets.
    weight : float
        The node's score is weight * K.
    nearness : array
        Weight of every training row in this branch's fit; empty where it has none.
    """

    rows: Ints
    path: tuple[int, ...]
    coefficients: Floats
    offset: float
    residual: Floats
    weight: float
    nearness: Floats = field(default_factory=lambda: np.empty(0))


class Fit(Protocol):
    """How a branch explains its rows."""

    gain: Gain
    smallest: int

    def trunk(self) -> Branch:
        """What stands before any column is asked."""

    def columns(self, branch: Branch) -> Floats:
        """Candidate columns over the branch's rows, as a split should see them."""

    def child(self, branch: Branch, inside: NDArray[np.bool_], column: int) -> Branch:
        """Send the rows `inside` on to a node that asks `column`."""


class ColumnFit:
    """Each node adds c_N X_{j_N} to the sum; the residual is handed down (Algorithm 2)."""

    smallest = 1  # rows on a side of a split

    def __init__(
        self, values: Floats, beta: Floats, exact: Floats, bias: float, scaled: bool = True
    ) -> None:
        self.contributions = values * beta  # X_ij = a_j g(x_i, s_j)
        self.target = exact + bias  # r_i, the machine's row sums
        self.beta, self.bias = beta, bias
        self.gain = Gain(scaled=scaled)

    def trunk(self) -> Branch:
        rows = np.arange(len(self.contributions))
        return Branch(rows, (), np.empty(0), -self.bias, self.target, 0.0)

    def columns(self, branch: Branch) -> Floats:
        return self.contributions[branch.rows]

    def child(self, branch: Branch, inside: NDArray[np.bool_], column: int) -> Branch:
        rows, residual = branch.rows[inside], branch.residual[inside]
        asked = self.contributions[rows, column]
        c = self.gain.scale(asked, residual)
        weight = c * self.beta[column]
        coefficients = np.append(branch.coefficients, weight)
        left = residual - c * asked
        return Branch(rows, (*branch.path, column), coefficients, branch.offset, left, weight)


class PathFit:
    """All coefficients of the path and the offset are fitted again at each node, by ridge.

    The branch's own rows count 1; rows that left the path one split ago count `fading`, two
    splits ago `fading`^2, and so on, which steadies nodes of few rows. Columns are chosen
    orthogonally to the path and the offset (orthogonal matching pursuit), since wide kernels make
    columns that are nearly constant and nearly alike.
    """

    smallest = 3  # a column and an offset fit any two rows

    def __init__(
        self, values: Floats, exact: Floats, bias: float, fading: float = 0.1, ridge: float = 1e-6
    ) -> None:
        self.values, self.exact, self.bias = values, exact, bias
        self.fading, self.ridge = fading, ridge
        spread = float(np.mean(values.var(axis=0))) or 1.0
        self.gain = Gain(centered=True, ridge=0.01 * spread)

    def trunk(self) -> Branch:
        n = len(self.values)
        residual = self.exact + self.bias
        return Branch(np.arange(n), (), np.empty(0), -self.bias, residual, 0.0, np.ones(n))

    def columns(self, branch: Branch) -> Floats:
        rows = branch.rows
        return _beyond(_block(self.values, rows, branch.path), self.values[rows])

    def child(self, branch: Branch, inside: NDArray[np.bool_], column: int) -> Branch:
        rows = branch.rows[inside]
        nearness = branch.nearness
        if not inside.all():
            nearness = nearness * self.fading
            nearness[rows] = 1.0
        path = (*branch.path, column)
        coefficients, offset = self._solve(path, nearness)
        residual = self.exact[rows] - offset - _block(self.values, rows, path) @ coefficients
        weight = coefficients[-1] or 1.0
        return Branch(rows, path, coefficients, offset, residual, weight, nearness)

    def _solve(self, path: tuple[int, ...], nearness: Floats) -> tuple[Floats, float]:
        """Minimise sum_i w_i (f_i - offset - K_i c)^2 + ridge, columns in units of their spread."""
        near = np.flatnonzero(nearness > 1e-4)
        w = nearness[near] / nearness[near].sum()
        K, f = _block(self.values, near, path), self.exact[near]
        mean, level = w @ K, w @ f
        K = K - mean
        spread = np.sqrt(w @ (K * K))
        spread[spread == 0] = 1.0
        K /= spread
        normal = (K.T * w) @ K
        normal[np.diag_indices_from(normal)] += self.ridge
        c = cho_solve(cho_factor(normal), K.T @ (w * (f - level))) / spread
        return c, float(level - mean @ c)


def _block(values: Floats, rows: Ints, path: tuple[int, ...]) -> Floats:
    """Return the columns of a path over some rows."""
    return values[rows[:, None], np.array(path, dtype=np.intp)]


def _beyond(path: Floats, columns: Floats) -> Floats:
    """Return the columns without what the path and a constant already span."""
    basis = np.linalg.qr(np.column_stack([np.ones(len(path)), path]))[0]
    return columns - basis @ (basis.T @ columns)


@dataclass
class Growth:
    """When to stop, where to split.

    Attributes
    ----------
    search : callable
        `search(columns, residual, score, gain, smallest=)` returns a Split or None.
    min_rows : int
        A node of at most this many rows is not split.
    max_height : int or None
    stem : int
        Nodes from the root down that ask without splitting.
    shared : int
        The last so many columns are the stem's first choice.
    """

    search: Callable[..., Split | None]
    min_rows: int
    max_height: int | None
    stem: int = 0
    shared: int = 0

    def grow(self, fit: Fit, values: Floats, exact: Floats) -> list[tuple[Branch, int, float]]:
        """Return branches level by level, each with its parent and threshold.

        What a search draws for a node then depends on no deeper node: a tree grown to a height is
        the first nodes of any higher one.
        """
        trunk = fit.trunk()
        everyone = np.ones(len(trunk.rows), dtype=bool)
        best = self._best(fit, trunk, fit.columns(trunk))
        grown: list[tuple[Branch, int, float]] = []
        waiting = [(fit.child(trunk, everyone, best), -1)]
        for node, (branch, parent) in enumerate(waiting):
            threshold, children = self._split(fit, branch, values, exact)
            grown.append((branch, parent, threshold))
            waiting += [(child, node) for child in children]
        return grown

    def _split(
        self, fit: Fit, branch: Branch, values: Floats, exact: Floats
    ) -> tuple[float, list[Branch]]:
        if self._is_done(branch, exact, fit.smallest):
            return np.inf, []
        columns = fit.columns(branch)
        score = branch.weight * values[branch.rows, branch.path[-1]]
        if len(branch.path) < self.stem and (children := self._go_on(fit, branch, columns)):
            return np.inf, children
        found = self.search(columns, branch.residual, score, fit.gain, smallest=fit.smallest)
        if found is None:
            return np.inf, self._go_on(fit, branch, columns)
        left = score <= found.threshold
        children = [
            fit.child(branch, left, found.left_column),
            fit.child(branch, ~left, found.right_column),
        ]
        return found.threshold, children

    def _go_on(self, fit: Fit, branch: Branch, columns: Floats) -> list[Branch]:
        """Ask one more column of all rows, if that explains more of them."""
        if len(branch.path) >= columns.shape[1]:
            return []
        everyone = np.ones(len(branch.rows), dtype=bool)
        child = fit.child(branch, everyone, self._best(fit, branch, columns))
        before, after = (b.residual @ b.residual for b in (branch, child))
        return [child] if after < (1.0 - 1e-6) * before else []

    def _best(self, fit: Fit, branch: Branch, columns: Floats) -> int:
        """Return the column that explains most of a branch's rows."""
        first = columns.shape[1] - self.shared
        waiting = [j for j in range(first, columns.shape[1]) if j not in branch.path]
        if len(branch.path) >= self.stem or not waiting:
            waiting = list(range(columns.shape[1]))
        return waiting[int(fit.gain.of(columns[:, waiting], branch.residual).argmax())]

    def _is_done(self, branch: Branch, exact: Floats, smallest: int) -> bool:
        if len(branch.rows) <= self.min_rows or len(branch.path) == self.max_height:
            return True
        if 1 < len(branch.rows) < 2 * smallest and len(branch.path) >= self.stem:
            return True  # too few for two sides
        target = exact[branch.rows]
        return bool(branch.residual @ branch.residual <= 1e-18 * (target @ target))


def assemble(
    grown: list[tuple[Branch, int, float]], kernel: Any, vectors: NDArray[Any], bias: float
) -> SVTree:
    """Write grown branches as the arrays of a tree."""
    parent = np.array([p for _, p, _ in grown], dtype=np.intp)
    children = np.full((2, len(grown)), -1, dtype=np.intp)
    for node, above in enumerate(parent):
        if above >= 0:
            children[int(children[0, above] >= 0), above] = node
    branches = [branch for branch, _, _ in grown]
    depth = np.array([len(b.path) for b in branches], dtype=np.intp)
    return SVTree(
        kernel=kernel,
        vectors=vectors,
        bias=float(bias),
        sv_index=np.array([b.path[-1] for b in branches], dtype=np.intp),
        weight=np.array([b.weight for b in branches], dtype=np.float64),
        threshold=np.array([threshold for _, _, threshold in grown]),
        children_left=children[0],
        children_right=children[1],
        parent=parent,
        depth=depth,
        n_rows=np.array([len(b.rows) for b in branches], dtype=np.intp),
        offset=np.array([b.offset for b in branches]),
        start=np.cumsum(depth) - depth,
        coefficients=np.concatenate([np.empty(0), *(b.coefficients for b in branches)]),
    )
