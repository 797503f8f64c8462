"""Support vector trees: the walk of a query, and the sweep that finds the best split."""

from __future__ import annotations

import numpy as np

from kmviz.loops.compile import compiled
from kmviz.loops.kernel import RADIAL, kernel_value


@compiled
def follow(kind, gamma, coef0, degree, x, vectors, column, weight, threshold, left, right,
           height, nodes, values):  # fmt: skip
    """Walk one embedded query down the tree; fill the nodes and kernel values of its path.

    Returns the number of kernel values computed, at most `height`.
    """
    node, k = 0, 0
    while True:
        value = kernel_value(kind, gamma, coef0, degree, x, vectors[column[node]])
        nodes[k] = node
        values[k] = value
        k += 1
        if k == height:
            return k
        # Definition 2: left where score_N(x) <= t_N
        node = left[node] if weight[node] * value <= threshold[node] else right[node]
        if node < 0:
            return k


@compiled
def sum_of_path(coefficients, start, offset, values, k):
    """The output at a node whose path has k kernel values."""
    total = offset
    for i in range(k):
        total += coefficients[start + i] * values[i]
    return total


@compiled
def walk(kind, gamma, coef0, degree, X, vectors, column, weight, threshold, left, right, height,
         coefficients, start, offset, output, steps):  # fmt: skip
    """Output and path length of each embedded query."""
    nodes = np.empty(height, dtype=np.intp)
    values = np.empty(height)
    for i in range(X.shape[0]):
        k = follow(kind, gamma, coef0, degree, X[i], vectors, column, weight, threshold, left,
                   right, height, nodes, values)  # fmt: skip
        node = nodes[k - 1]
        output[i] = sum_of_path(coefficients, start[node], offset[node], values, k)
        steps[i] = k


@compiled
def walk_paths(kind, gamma, coef0, degree, X, vectors, column, weight, threshold, left, right,
               height, nodes, values, steps):  # fmt: skip
    """The whole path of each embedded query: nodes and kernel values, (n, height)."""
    for i in range(X.shape[0]):
        steps[i] = follow(kind, gamma, coef0, degree, X[i], vectors, column, weight, threshold,
                          left, right, height, nodes[i], values[i])  # fmt: skip


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
    column, ends = np.zeros(1, dtype=np.intp), np.full(1, -1, dtype=np.intp)
    one, zero = np.ones(1), np.zeros(1, dtype=np.intp)
    steps = np.empty(2, dtype=np.intp)
    paths = np.empty((2, 1), dtype=np.intp)
    for dtype in (np.float32, np.float64):
        rows = np.ones((2, 2), dtype=dtype)
        tree = (RADIAL, 1.0, 0.0, 1, rows, rows, column, one, one, ends, ends, 1)
        walk(*tree, one, zero, one, np.empty(2), steps)
        walk_paths(*tree, paths, np.empty((2, 1)), steps)
        sweep(rows, np.ones(2), np.arange(2), True, False, 1e-300, np.empty(2))
