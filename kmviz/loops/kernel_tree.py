"""Radial sums bounded over a kd-tree of the vectors, a node at a time, until the sign is certain.

A node of a tree holds vectors of one sign: their box, their summed weight W, their weighted mean
and the weighted mean square of their distances to it. With t_i = ||x - X_i||^2 the weighted mean of
the t_i is then ||x - mean||^2 + spread, and since exp(-g t) is convex in t, its weighted mean lies
between its value there and the chord over the least and the largest t of the box (Chan, Yiu and
U 2019, "KARL: fast kernel aggregation queries").
"""

from __future__ import annotations

import numpy as np

from kmviz.loops.compile import compiled_strict, part_strict
from kmviz.loops.kernel import RADIAL, kernel_value

#: Rounding of a sum of weighted exponentials, in units in the last place.
ROUNDING = 64.0 * float(np.finfo(np.float64).eps)


@part_strict
def mean_bounds(gamma, x, low, high, mean, spread):
    """Bounds on the weighted mean kernel value of a node's vectors."""
    nearest, furthest, middle = 0.0, 0.0, spread
    for j in range(x.shape[0]):
        below, above = low[j] - x[j], x[j] - high[j]
        inside = max(below, above, 0.0)
        far = max(-below, -above)
        gap = x[j] - mean[j]
        nearest += inside * inside
        furthest += far * far
        middle += gap * gap
    at_least = np.exp(-gamma * middle)  # the tangent at the mean: Jensen's inequality
    near, far = np.exp(-gamma * nearest), np.exp(-gamma * furthest)
    share = 1.0
    if furthest > nearest:
        share = min(max((middle - nearest) / (furthest - nearest), 0.0), 1.0)
    return at_least, max(near + share * (far - near), at_least)


@part_strict
def push(keys, nodes, size, key, node):
    """Put a node on the heap, the widest on top."""
    i = size
    while i > 0 and keys[(i - 1) // 2] < key:
        keys[i], nodes[i] = keys[(i - 1) // 2], nodes[(i - 1) // 2]
        i = (i - 1) // 2
    keys[i], nodes[i] = key, node


@part_strict
def pop(keys, nodes, size):
    """Take the widest node off the heap."""
    top, key, node = nodes[0], keys[size - 1], nodes[size - 1]
    i = 0
    while 2 * i + 1 < size - 1:
        child = 2 * i + 1
        if child + 1 < size - 1 and keys[child + 1] > keys[child]:
            child += 1
        if keys[child] <= key:
            break
        keys[i], nodes[i] = keys[child], nodes[child]
        i = child
    keys[i], nodes[i] = key, node
    return top


@compiled_strict
def close_tree(
    gamma, X, vectors, beta, bias, ends, children, low, high, mean, spread, weight, n_roots,
    radius, output, steps, looked, lower, upper,
):  # fmt: skip
    """f(x), or a bound of it that has its sign, for each row.

    `output` receives the bound that is nearer to 0 once both have one sign, or else the exact sum;
    `steps` the kernel values of vectors and `looked` the nodes that it took. With room in `lower`
    and `upper`, what is known after each node is recorded, to the end.

    Parameters
    ----------
    vectors, beta : arrays of shape (m, d) and (m,)
        In the order of the leaves: node i holds those from `ends[i, 0]` to `ends[i, 1]`.
    children : array of shape (nodes, 2)
        -1 for a leaf. The first `n_roots` nodes are roots.
    """
    count = weight.shape[0]
    keys, nodes = np.empty(count + 1), np.empty(count + 1, dtype=np.int64)
    least, most = np.empty(count), np.empty(count)
    total = 0.0
    for i in range(beta.shape[0]):
        total += abs(beta[i])
    records = lower.shape[0] > 0
    for r in range(X.shape[0]):
        x = X[r]
        length = 0.0
        for j in range(x.shape[0]):
            length += x[j] * x[j]
        slack = ROUNDING * ((1.0 + gamma * (np.sqrt(length) + radius) ** 2) * total + abs(bias))
        below, above, size, asked, seen = -bias, -bias, 0, 0, 0
        for node in range(n_roots):
            a, b = mean_bounds(gamma, x, low[node], high[node], mean[node], spread[node])
            w = weight[node]
            least[node], most[node] = (w * a, w * b) if w > 0 else (w * b, w * a)
            below, above = below + least[node], above + most[node]
            push(keys, nodes, size, most[node] - least[node], node)
            size, seen = size + 1, seen + 1
        known = 0
        if records:
            lower[r, 0], upper[r, 0] = below, above
        while size > 0 and (records or (below <= slack and above >= -slack)):
            top = pop(keys, nodes, size)
            size -= 1
            below, above = below - least[top], above - most[top]
            if children[top, 0] < 0:
                part = 0.0
                for i in range(ends[top, 0], ends[top, 1]):
                    part += beta[i] * kernel_value(RADIAL, gamma, 0.0, 1, x, vectors[i])
                below, above = below + part, above + part
                asked += ends[top, 1] - ends[top, 0]
            else:
                for side in range(2):
                    node = children[top, side]
                    a, b = mean_bounds(gamma, x, low[node], high[node], mean[node], spread[node])
                    w = weight[node]
                    least[node], most[node] = (w * a, w * b) if w > 0 else (w * b, w * a)
                    below, above = below + least[node], above + most[node]
                    push(keys, nodes, size, most[node] - least[node], node)
                    size, seen = size + 1, seen + 1
            known += 1
            if records:
                lower[r, known], upper[r, known] = below, above
        if records:
            for k in range(known + 1, lower.shape[1]):
                lower[r, k], upper[r, k] = below, above
        steps[r], looked[r] = asked, seen
        if below > slack:
            output[r] = below
        elif above < -slack:
            output[r] = above
        else:  # so near 0 that the order of the sum matters: the exact machine's own
            output[r] = np.nan


def warm() -> None:
    """Compile for the types in use."""
    one, row, none = np.ones(1), np.ones((1, 1)), np.empty((0, 0))
    counts = np.empty(1, dtype=np.intp)
    ends, leaf = np.array([[0, 1]]), np.array([[-1, -1]])
    for record in (none, np.empty((1, 2))):
        close_tree(
            1.0, row, row, one, 0.0, ends, leaf, row, row, row, one, one, 1, 1.0, np.empty(1),
            counts, counts.copy(), record, record.copy(),
        )  # fmt: skip
