"""Algorithm 1: the cheapest of the balanced trees, by trying every column at every node.

It is exact for columns as they are (`scale_columns=False`), of which Algorithm 1 speaks. With the
scaling of Section 4.3 each column's scale is the best for its own node, whatever is asked below:
a tree whose scales were chosen together may be cheaper, and usually is.

Its work grows like (2m)^(height - 1), so it takes small inputs only and says which.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

import numpy as np
from numpy.typing import NDArray

from kmviz.methods.svtree.growth import Branch, ColumnFit
from kmviz.methods.svtree.split import cuts, threshold_at

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

#: Nodes it is willing to try: some seconds.
MAX_NODES = 100_000


@dataclass(frozen=True)
class Node:
    """A subtree and its cost (eq. 4)."""

    cost: float
    column: int
    threshold: float = np.inf
    children: tuple[Node, ...] = ()


def grow_balanced(
    fit: ColumnFit, values: Floats, min_rows: int, max_height: int | None
) -> list[tuple[Branch, int, float]]:
    """Return the branches of the tree of least cost, as `Growth.grow` does."""
    trunk = fit.trunk()
    height = _height(len(trunk.rows), min_rows, max_height)
    _refuse_large(len(trunk.rows), fit.contributions.shape[1], height, min_rows)
    best = _best(fit, trunk.rows, trunk.residual, height, min_rows)
    root = fit.child(trunk, np.ones(len(trunk.rows), dtype=bool), best.column)
    return _listed(fit, values, best, root)


def _best(fit: ColumnFit, rows: Ints, residual: Floats, height: int, min_rows: int) -> Node:
    """eq. 4: the least cost over columns j, each split at its median, or of no split at all."""
    columns = fit.contributions[rows]
    gains = fit.gain.of(columns, residual)
    best = Node(float(residual @ residual - gains.max()), int(gains.argmax()))
    if height == 1 or len(rows) <= min_rows:
        return best
    for j in range(columns.shape[1]):
        score = fit.gain.scale(columns[:, j], residual) * columns[:, j]
        order, possible = cuts(score)
        if not len(possible):
            continue
        k = int(possible[np.abs(2 * possible - len(rows)).argmin()])  # |L| = |R|, or nearly
        left_over = residual - score
        sides = tuple(
            _best(fit, rows[side], left_over[side], height - 1, min_rows)
            for side in (order[:k], order[k:])
        )
        cost = sides[0].cost + sides[1].cost
        if cost < best.cost:
            best = Node(cost, j, threshold_at(score, order, k), sides)
    return best


def _listed(
    fit: ColumnFit, values: Floats, top: Node, root: Branch
) -> list[tuple[Branch, int, float]]:
    """List a tree level by level."""
    grown = []
    waiting = [(top, root, -1)]
    for here, (node, branch, parent) in enumerate(waiting):
        grown.append((branch, parent, node.threshold))
        left = branch.weight * values[branch.rows, node.column] <= node.threshold
        for child, inside in zip(node.children, (left, ~left)):
            waiting.append((child, fit.child(branch, inside, child.column), here))
    return grown


def _height(n: int, min_rows: int, max_height: int | None) -> int:
    """Return the height that halving allows."""
    height = 1
    while n > max(min_rows, 1) and height != max_height:
        n, height = (n + 1) // 2, height + 1
    return height


def _refuse_large(n: int, m: int, height: int, min_rows: int) -> None:
    if _tried(m, height) <= MAX_NODES:
        return
    possible = max(h for h in range(1, height) if _tried(m, h) <= MAX_NODES)
    columns = max((c for c in range(1, m) if _tried(c, height) <= MAX_NODES), default=0)
    fewer = f", or at most {columns} vectors" if columns else ""
    raise ValueError(
        f"split='balanced' tries every column at every node: with {n} rows, {m} vectors and "
        f"height {height} about 10^{log2(_tried(m, height)) / log2(10):.0f} nodes. It could take "
        f"max_height={possible} here{fewer}, or min_rows={-(-n // 2 ** (possible - 1))} at any "
        f"height. split='exact' has no such limit."
    )


def _tried(m: int, height: int) -> int:
    """Nodes tried, from eq. 5: T(h) = 2m T(h - 1) + 1."""
    return sum((2 * m) ** level for level in range(height))
