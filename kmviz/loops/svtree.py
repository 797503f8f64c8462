"""Support vector trees: the walk of a query, and the sweep that finds the best split."""

from __future__ import annotations

import numpy as np

from kmviz.loops.compile import compiled, compiled_strict, part
from kmviz.loops.kernel import RADIAL, kernel_value

#: A tree as one array: the kernel's code and the height, then a row a node, then coefficients. A
#: node is named by where its row starts, which is never 0: 0 is no child.
HEIGHT = 4
ROOT = 5
ROW = 7
VECTOR, LEFT, RIGHT, WEIGHT, THRESHOLD, OFFSET, START = range(ROW)


@part
def distance_to(x, vectors, row):
    """||x - v||^2 for one row v of `vectors`; a row taken out first costs a query a tenth more."""
    total = (x[0] - vectors[row, 0]) * (x[0] - vectors[row, 0])
    for i in range(1, x.shape[0]):
        total += (x[i] - vectors[row, i]) * (x[i] - vectors[row, i])
    return total


@part
def turn(plan, node, value):
    """The child that a kernel value leads to. Definition 2: left where score_N(x) <= t_N."""
    left = plan[node + WEIGHT] * value <= plan[node + THRESHOLD]
    return int(plan[node + (LEFT if left else RIGHT)])


@compiled_strict
def path_output(plan, node, values, k):
    """The sum of the k kernel values on the way to a node, in their order: every reading of a
    path comes to the same number, bit for bit."""
    start, output = int(plan[node + START]), plan[node + OFFSET]
    for j in range(k):
        output += plan[start + j] * values[j]
    return output


@part
def follow(x, plan, vectors, height, values):
    """Walk one embedded query down the tree; fill the kernel values of its path.

    Returns their number, at most `height`, and the output where the path ends.
    """
    kind, gamma, coef0, degree = int(plan[0]), plan[1], plan[2], int(plan[3])
    node, after, k = ROOT, ROOT, 0
    while after and k < height:
        node = after
        row = int(plan[node + VECTOR])
        if kind == RADIAL:
            values[k] = np.exp(-gamma * distance_to(x, vectors, row))
        else:
            values[k] = kernel_value(kind, gamma, coef0, degree, x, vectors[row])
        after = turn(plan, node, values[k])
        k += 1
    return k, path_output(plan, node, values, k)


@compiled
def walk(X, plan, vectors, height, output, steps):
    """Output and path length of each embedded query."""
    values = np.empty(height)
    for i in range(X.shape[0]):
        steps[i], output[i] = follow(X[i], plan, vectors, height, values)


@compiled
def walk_one(X, plan, vectors):
    """Output of the one row of X, NaN where the row is not finite.

    A query that comes alone waits for every argument and every check made in Python.
    """
    zero = X[0, 0] * 0
    for j in range(1, X.shape[1]):
        zero += X[0, j] * 0  # NaN as soon as one number is not finite
    if zero != 0:
        return np.nan
    height = int(plan[HEIGHT])
    return follow(X[0], plan, vectors, height, np.empty(height))[1]


@compiled
def walk_paths(X, plan, vectors, height, nodes, values, steps):
    """The whole path of each embedded query: node numbers and kernel values, (n, height)."""
    for i in range(X.shape[0]):
        steps[i], _ = follow(X[i], plan, vectors, height, values[i])
        node = ROOT
        for k in range(steps[i]):
            nodes[i, k] = (node - ROOT) // ROW
            node = turn(plan, node, values[i, k])


@compiled
def outputs_along(plan, nodes, values, outputs):
    """The output of each path cut after 1, 2, ... kernel values, (n, height); past its end a path
    keeps its last."""
    for i in range(nodes.shape[0]):
        for k in range(nodes.shape[1]):
            if nodes[i, k] >= 0:
                outputs[i, k] = path_output(plan, ROOT + ROW * nodes[i, k], values[i], k + 1)
            else:
                outputs[i, k] = outputs[i, k - 1]


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
    plan = np.zeros(ROOT + ROW + 1)
    plan[[0, 1, HEIGHT, ROOT + START]] = RADIAL, 1.0, 1, ROOT + ROW
    steps, nodes = np.empty(2, dtype=np.intp), np.empty((2, 1), dtype=np.intp)
    for dtype in (np.float32, np.float64):
        rows = np.ones((2, 2), dtype=dtype)
        walk(rows, plan, rows, 1, np.empty(2), steps)
        walk_one(rows, plan, rows)
        walk_paths(rows, plan, rows, 1, nodes, np.empty((2, 1)), steps)
    outputs_along(plan, nodes, np.empty((2, 1)), np.empty((2, 1)))
    sweep(np.ones((2, 2)), np.ones(2), np.arange(2), True, False, 1e-300, np.empty(2))
