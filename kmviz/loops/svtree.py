"""Support vector trees: the walk of a query, and the sweep that finds the best split."""

from __future__ import annotations

import numpy as np

from kmviz.loops.compile import compiled
from kmviz.loops.kernel import RADIAL, kernel_value

#: Columns of the two node tables that a walk reads.
VECTOR, LEFT, RIGHT, START = range(4)
WEIGHT, THRESHOLD, OFFSET = range(3)


@compiled
def follow(kind, gamma, coef0, degree, x, vectors, links, numbers, height, nodes, values):
    """Walk one embedded query down the tree; fill the nodes and kernel values of its path.

    Returns the number of kernel values computed, at most `height`.
    """
    node, k = 0, 0
    while True:
        value = kernel_value(kind, gamma, coef0, degree, x, vectors[links[node, VECTOR]])
        nodes[k] = node
        values[k] = value
        k += 1
        if k == height:
            return k
        # Definition 2: left where score_N(x) <= t_N
        left = numbers[node, WEIGHT] * value <= numbers[node, THRESHOLD]
        node = links[node, LEFT] if left else links[node, RIGHT]
        if node < 0:
            return k


@compiled
def walk(kind, gamma, coef0, degree, X, vectors, links, numbers, coefficients, height, output,
         steps):  # fmt: skip
    """Output and path length of each embedded query."""
    nodes = np.empty(height, dtype=np.intp)
    values = np.empty(height)
    for i in range(X.shape[0]):
        k = follow(kind, gamma, coef0, degree, X[i], vectors, links, numbers, height, nodes, values)
        node = nodes[k - 1]
        start, total = links[node, START], numbers[node, OFFSET]
        for j in range(k):
            total += coefficients[start + j] * values[j]
        output[i] = total
        steps[i] = k


@compiled
def walk_paths(kind, gamma, coef0, degree, X, vectors, links, numbers, height, nodes, values,
               steps):  # fmt: skip
    """The whole path of each embedded query: nodes and kernel values, (n, height)."""
    for i in range(X.shape[0]):
        steps[i] = follow(kind, gamma, coef0, degree, X[i], vectors, links, numbers, height,
                          nodes[i], values[i])  # fmt: skip


@compiled
def sweep(columns, residual, order, scaled, centered, ridge, gains):
    """Largest drop of the squared error that one column gives the first k + 1 rows of `order`.

    With running sums P_j = sum x r, Q_j = sum x^2 over the rows so far, column j lowers
    sum (r - c x)^2 by P^2 / (Q + ridge) at its best c, by 2 P - Q at c = 1. `centered` fits an
    offset beside it. O(nm) for all k together.
    """
    n, m = columns.shape[0], columns.shape[1]
    P, Q, S = np.zeros(m), np.zeros(m), np.zeros(m)
    total = 0.0
    for k in range(n):
        i = order[k]
        r = np.float64(residual[i])
        total += r
        best = -np.inf
        if centered:
            share = 1.0 / (k + 1)
            for j in range(m):
                x = np.float64(columns[i, j])
                P[j] += x * r
                Q[j] += x * x
                S[j] += x
                p = P[j] - S[j] * total * share
                q = max(Q[j] - S[j] * S[j] * share, 0.0) + ridge
                best = max(best, p * p / q)
            best += total * total * share
        elif scaled:
            for j in range(m):
                x = np.float64(columns[i, j])
                P[j] += x * r
                Q[j] += x * x
                best = max(best, P[j] * P[j] / (Q[j] + ridge))
        else:
            for j in range(m):
                x = np.float64(columns[i, j])
                P[j] += x * r
                Q[j] += x * x
                best = max(best, 2.0 * P[j] - Q[j])
        gains[k] = best


def warm() -> None:
    """Compile for the types in use."""
    links, numbers = np.array([[0, -1, -1, 0]], dtype=np.intp), np.ones((1, 3))
    steps, nodes = np.empty(2, dtype=np.intp), np.empty((2, 1), dtype=np.intp)
    for dtype in (np.float32, np.float64):
        rows = np.ones((2, 2), dtype=dtype)
        tree = (RADIAL, 1.0, 0.0, 1, rows, rows, links, numbers)
        walk(*tree, np.ones(1), 1, np.empty(2), steps)
        walk_paths(*tree, 1, nodes, np.empty((2, 1)), steps)
    sweep(np.ones((2, 2)), np.ones(2), np.arange(2), True, False, 1e-300, np.empty(2))
    sweep(np.ones((2, 2)), np.ones(2), np.arange(2)[::-1], True, False, 1e-300, np.empty(2))
