"""Take a grown tree back to a mean path length, as cost-complexity pruning does.

Not in the paper, which lets a tree grow until nodes are small. A split costs its rows one kernel
value each and saves them some error; the splits that save least a kernel value go first, so that
what a budget leaves is asked where it matters.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from kmviz.methods.svtree.growth import Branch

Floats = NDArray[np.float64]
Grown = list[tuple[Branch, int, float]]


def trim(grown: Grown, exact: Floats, max_mean: float) -> Grown:
    """Return the tree with the least useful ends taken back, `max_mean` values a row at most.

    Parameters
    ----------
    grown : list of (Branch, parent, threshold)
        As `Growth.grow` returns it.
    exact : array of shape (n,)
        f of the training rows.
    max_mean : float
        At least 1: the root is always asked.
    """
    rows = [len(branch.rows) for branch, _, _ in grown]
    errors = [_error(branch, exact) for branch, _, _ in grown]
    children: list[list[int]] = [[] for _ in grown]
    for node, (_, parent, _) in enumerate(grown):
        if parent >= 0:
            children[parent].append(node)

    def saved(node: int) -> float:
        """What a node's children save, a kernel value."""
        return (errors[node] - sum(errors[child] for child in children[node])) / rows[node]

    def is_last(node: int) -> bool:
        return bool(children[node]) and not any(children[child] for child in children[node])

    last = [(saved(node), node) for node in range(len(grown)) if is_last(node)]
    heapify(last)
    asked = sum(rows)
    while last and asked > max_mean * rows[0]:
        node = heappop(last)[1]
        asked -= sum(rows[child] for child in children[node])
        children[node] = []
        parent = grown[node][1]
        if parent >= 0 and is_last(parent):
            heappush(last, (saved(parent), parent))
    return _kept(grown, children)


def _error(branch: Branch, exact: Floats) -> float:
    """Squared error of a node's rows within the margin: beyond it no sign is in doubt."""
    target = np.clip(exact[branch.rows], -1.0, 1.0)
    output = np.clip(exact[branch.rows] - branch.residual, -1.0, 1.0)
    return float(np.sum((target - output) ** 2))


def _kept(grown: Grown, children: list[list[int]]) -> Grown:
    """Number the nodes that are left anew."""
    left = {0}
    for node, after in enumerate(children):
        if node in left:
            left.update(after)
    number = {node: i for i, node in enumerate(sorted(left))}
    return [
        (grown[node][0], number.get(grown[node][1], -1), grown[node][2] if after else np.inf)
        for node, after in enumerate(children)
        if node in left
    ]
