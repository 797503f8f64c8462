"""Nearest neighbours in feature space (section 3.3, eq. 3).

For linear and RBF kernels the order of distances is the Euclidean one, and SciPy's kd-tree is the
fastest exact index known to us, except where rows are so long that it looks at most of them: there
one matrix product finds all distances. For other polynomial kernels it is not, and a cover tree
(section 3.4) searches with sqrt(K(x,x) + K(y,y) - 2 K(x,y)).

Departures. The paper uses cover trees throughout. A kernel that is none of kmviz's own is never
called for the search: neighbourhoods are then Euclidean.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from kmviz.kernels import Linear, Normalized, Polynomial
from kmviz.loops import covertree, threads
from kmviz.machines.soundness import shaped, within

LEAF = 32

#: Rows whose search is counted.
PROBES = 8

#: From so many columns on, where the tree looks at more than this share of at most so many rows,
#: distances are found by matrix products: a row then costs an eighth of what it costs in a tree.
MANY_COLUMNS, LARGE_SHARE, MOST_ROWS = 32, 0.125, 200_000

#: Distances computed at a time; candidates beyond the k nearest; bits of a distance that count.
BLOCK, SPARE, BITS = 1 << 18, 8, 40


def search_rows(kernel: Any, X: NDArray[Any]) -> NDArray[Any]:
    """Return X as distances between its rows are taken."""
    return kernel.embed(X) if hasattr(kernel, "embed") else X


def is_euclidean(kernel: Any) -> bool:
    """Tell whether feature space orders embedded rows as Euclidean distance does.

    True for linear and RBF kernels and, on unit-length rows, for odd powers.
    """
    plain = getattr(kernel, "plain", None)
    if not isinstance(plain, Polynomial) or plain.degree == 1:
        return True
    return isinstance(kernel, Normalized) and plain.degree % 2 == 1


def build_index(kernel: Any, rows: NDArray[Any], seed: int) -> EuclideanIndex | CoverTreeIndex:
    """Index embedded rows for the distances of `kernel`."""
    if is_euclidean(kernel):
        return EuclideanIndex(rows)
    return CoverTreeIndex(rows, kernel.plain, seed)


def search_threads(n_jobs: int | None, n_queries: int = 0) -> int:
    """Return how many threads of this process to use; workers of a cluster are elsewhere.

    A single query needs one: to ask joblib would take a quarter of its time.
    """
    return 1 if n_queries == 1 else min(effective_n_jobs(n_jobs), threads.n_threads())


class EuclideanIndex:
    """A kd-tree over rows. The tree itself is not stored with a model but built again.

    Where it would look at so many rows that matrix products are faster (`is_wide`), there is none:
    the rows about their mean, which take as much memory, are searched.
    """

    rows: NDArray[np.floating]
    is_wide: bool
    center_: NDArray[np.floating]
    centred_: NDArray[np.floating]
    squares_: NDArray[np.floating]

    def __init__(self, rows: NDArray[Any]) -> None:
        self.rows = rows
        self._build()

    def _build(self) -> None:
        self.tree_: Any = cKDTree(self.rows, leafsize=LEAF, balanced_tree=False)
        n, d = self.rows.shape
        self.is_wide = d >= MANY_COLUMNS and n <= MOST_ROWS and self.overhead > LARGE_SHARE * n
        if self.is_wide:
            self.tree_ = None
            self.center_ = self.rows.mean(axis=0, dtype=np.float64)
            self.centred_ = self.rows - self.center_
            self.squares_ = np.einsum("ij,ij->i", self.centred_, self.centred_)

    def query(self, Q: NDArray[Any], k: int, n_jobs: int = 1) -> NDArray[np.int32]:
        """Return the k nearest rows of each embedded query, nearest first."""
        if self.is_wide:
            return self._by_products(Q, k)
        _, found = self.tree_.query(Q, k=k, workers=n_jobs)
        found = found.reshape(len(Q), k).astype(np.int32)
        # a query so far away that no distance is finite has no neighbours: any will do
        return np.minimum(found, len(self.rows) - 1, out=found)

    def _by_products(self, Q: NDArray[Any], k: int) -> NDArray[np.int32]:
        """Find neighbours by |x|^2 - 2 q.x about the mean; of equals the first in the file."""
        center, rows, squares = self.center_, self.centred_, self.squares_
        found, n = np.empty((len(Q), k), dtype=np.int32), len(rows)
        for start in range(0, len(Q), max(1, BLOCK // n)):
            part = slice(start, start + max(1, BLOCK // n))
            queries = Q[part] - center
            with np.errstate(over="ignore", invalid="ignore"):  # far away any neighbours will do
                gaps = squares - 2.0 * (queries @ rows.T)
            some = np.argpartition(gaps, min(k + SPARE, n) - 1, axis=1)[:, : k + SPARE]
            near = np.take_along_axis(gaps, some, axis=1)
            # how a product is blocked moves its last bits: what differs in them only is equal
            size = np.frexp(squares.max(initial=1.0) + np.einsum("ij,ij->i", queries, queries))[1]
            near = np.rint(np.ldexp(near, BITS - size[:, None]))
            order = np.lexsort((some, near), axis=1)[:, :k]
            found[part] = np.take_along_axis(some, order, axis=1)
        return found

    @cached_property
    def overhead(self) -> float:
        """Distances that one nearest neighbour takes: rows in the leaves that must be looked at.

        A mean over some of the rows and the nearest other row of each.
        """
        some = self.rows[np.unique(np.linspace(0, len(self.rows) - 1, PROBES).astype(np.intp))]
        gaps = self.tree_.query(some, k=min(2, len(self.rows)))[0].reshape(len(some), -1)[:, -1]
        return float(np.mean([_looked_at(self.tree_, x, gap) for x, gap in zip(some, gaps)]))

    def __getstate__(self) -> dict[str, Any]:
        return {"rows": self.rows}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.rows = state["rows"]
        self._build()


class CoverTreeIndex:
    """A cover tree over rows, with the distances of a plain kernel.

    Attributes
    ----------
    level : array of shape (n,)
        The highest level each row stands at: the sets S_i of eq. 7.
    parent, child, sibling : arrays of shape (n,)
        Parent, first child and next sibling; -1 where there is none.
    reach : array of shape (n,)
        Distance to the farthest row below.
    """

    rows: NDArray[np.floating]
    own: NDArray[np.float64]
    reach: NDArray[np.float64]
    level: NDArray[np.int32]
    parent: NDArray[np.int32]
    child: NDArray[np.int32]
    sibling: NDArray[np.int32]
    root: int

    def __init__(self, rows: NDArray[Any], kernel: Any, seed: int) -> None:
        n = len(rows)
        self.rows, self.kernel = np.ascontiguousarray(rows), kernel
        self.own = np.asarray(kernel.diag(rows), dtype=np.float64)
        order = np.random.default_rng(seed).permutation(n)
        self.root = int(order[0])
        self.level, self.parent, self.child, self.sibling = np.empty((4, n), dtype=np.int32)
        self.reach = np.empty(n)
        kind, gamma, coef0, degree = kernel.code
        covertree.build(
            kind, gamma, coef0, degree, self.rows, self.own, order, self.level, self.parent,
            self.child, self.sibling, self.reach,
        )  # fmt: skip

    def check(self) -> None:
        """Refuse arrays that do not fit together (ValueError): every row is met once on the way."""
        n = len(self.rows)
        shaped("rows", self.rows, n, None)
        shaped("own", self.own, n)
        shaped("reach", self.reach, n)
        within("root", self.root, 0, n)
        met, left = np.zeros(n, dtype=bool), [self.root]
        for name in ("child", "sibling"):
            shaped(name, getattr(self, name), n)
            within(name, getattr(self, name), -1, n)
        while left:
            row = left.pop()
            if met[row]:
                raise ValueError("child and sibling lead in a circle.")
            met[row] = True
            left += [int(after[row]) for after in (self.child, self.sibling) if after[row] >= 0]

    def query(self, Q: NDArray[Any], k: int, n_jobs: int = 1) -> NDArray[np.int32]:
        """Return the k nearest rows of each embedded query, nearest first."""
        Q = np.require(Q, self.rows.dtype, ["C", "A", "W"])  # what the loop is compiled for
        own = np.asarray(self.kernel.diag(Q), dtype=np.float64)
        found, gaps = np.empty((len(Q), k), dtype=np.int32), np.empty((len(Q), k))

        kind, gamma, coef0, degree = self.kernel.code

        def work(start: int, stop: int) -> None:
            part = slice(start, stop)
            covertree.nearest(
                kind, gamma, coef0, degree, self.rows, self.own, self.child, self.sibling,
                self.reach, self.root, Q[part], own[part], found[part], gaps[part],
            )  # fmt: skip

        with threads.limited(n_jobs):
            threads.over_chunks(work, len(Q))
        return found

    @property
    def overhead(self) -> float:
        """Distances that one nearest neighbour takes, about a leaf a level of the tree."""
        n = len(self.rows)
        return float(min(n, LEAF * (1 + np.log2(max(n / LEAF, 1.0)))))


def _looked_at(tree: cKDTree, x: NDArray[Any], reach: float) -> int:
    """Return how many rows stand in leaves that begin within `reach` of a query.

    The distance to a box is known coordinate by coordinate; a split changes one of them.
    """
    x = np.asarray(x, dtype=np.float64)
    sides = np.maximum(np.maximum(tree.mins - x, x - tree.maxes), 0.0) ** 2
    count, left = 0, [(tree.tree, dict[int, float](), float(sides.sum()))]
    while left:
        node, changed, square = left.pop()
        if node.split_dim == -1:
            count += node.end_idx - node.start_idx
            continue
        axis, gap = node.split_dim, float(x[node.split_dim] - node.split)
        near, far = (node.lesser, node.greater) if gap < 0 else (node.greater, node.lesser)
        left.append((near, changed, square))
        further = square - changed.get(axis, float(sides[axis])) + gap * gap
        if further <= reach * reach:
            left.append((far, {**changed, axis: gap * gap}, further))
    return count


def cover_order(rows: NDArray[Any], index: Any, seed: int) -> NDArray[np.intp]:
    """Return rows in falling cover-tree level, then in file order (eq. 9: choose(S_l), highest l).

    `choose` takes the smallest index, as the paper suggests.
    """
    tree = index if isinstance(index, CoverTreeIndex) else CoverTreeIndex(rows, Linear(), seed)
    return np.lexsort((np.arange(len(rows)), -tree.level))
