"""Outputs of local models for queries that are grouped by model."""

from __future__ import annotations

import numpy as np

from kmviz.loops.compile import compiled, compiled_strict, part, part_finite
from kmviz.loops.exponential import exp64
from kmviz.loops.kernel import POLYNOMIAL, RADIAL, whole_power


@part_finite
def gather_vectors(rows, index, vectors):
    """Copy the rows of a model's vectors, a coordinate a row."""
    for t in range(index.shape[0]):
        row = rows[index[t]]
        for f in range(rows.shape[1]):
            vectors[f, t] = row[f]


@part
def kernel_values(kind, gamma, coef0, degree, x, vectors, values):
    """K(x, v_t) for all vectors of a model."""
    for t in range(values.shape[0]):
        values[t] = 0.0
    for f in range(vectors.shape[0]):
        here, column = np.float64(x[f]), vectors[f]
        if kind == RADIAL:
            for t in range(values.shape[0]):
                values[t] += (column[t] - here) * (column[t] - here)
        else:
            for t in range(values.shape[0]):
                values[t] += column[t] * here
    if kind == RADIAL:
        for t in range(values.shape[0]):
            values[t] = exp64(-gamma * values[t])
    elif kind == POLYNOMIAL:
        for t in range(values.shape[0]):
            values[t] = whole_power(gamma * values[t] + coef0, degree)


@part
def weighted_sum(weight, values):
    total = 0.0
    for t in range(weight.shape[0]):
        total += weight[t] * values[t]
    return total


@compiled
def answers(
    kind, gammas, coef0, degree, X, model, rows, machines, starts, index, weight, bias, out
):
    """f(x) of every machine of each query's model, one for each pair of its classes.

    Parameters
    ----------
    kind, coef0, degree : the kernel's code; its gamma comes from `gammas`, one a model
    X, model : (n, d) and (n,)
        Embedded queries and their models, equal models side by side.
    rows : (N, d)
        Embedded training rows.
    machines : (M + 1,)
        The machines of model m are `machines[m]` up to the next.
    starts, index, weight, bias : (T + 1,), (S,), (S,), (T,)
        Vectors of machine t stand at `starts[t]` up to the next start.
    out : (n, at least the most machines a model has)
    """
    room = 0
    for q in range(X.shape[0]):
        m = model[q]
        room = max(room, starts[machines[m + 1]] - starts[machines[m]])
    vectors, values = np.empty((rows.shape[1], room)), np.empty(room)
    for q in range(X.shape[0]):
        m = model[q]
        start, stop = starts[machines[m]], starts[machines[m + 1]]
        if q == 0 or model[q - 1] != m:
            gather_vectors(rows, index[start:stop], vectors)
        kernel_values(kind, gammas[m], coef0, degree, X[q], vectors, values[: stop - start])
        for t in range(machines[m], machines[m + 1]):
            low, high = starts[t], starts[t + 1]
            total = weighted_sum(weight[low:high], values[low - start : high - start])
            out[q, t - machines[m]] = total - bias[t]


@compiled_strict
def local_scores(model, class_starts, classes, outputs, scores):
    """What `decision_function` returns, from the outputs of each query's own machines.

    With two classes a model that saw one of them says +1 or -1 for it. With more, the aggregation
    of `machines.votes.by_votes`, in which a class that the model saw wins with 1 against each that
    it did not, and of two that it did not see the first wins with 0.

    Parameters
    ----------
    outputs : (n, at least the most machines a model has)
    scores : (n, number of classes), or (n, 1) with two
    """
    n_classes = scores.shape[1]
    sums = np.empty(n_classes)
    for q in range(model.shape[0]):
        own = classes[class_starts[model[q]] : class_starts[model[q] + 1]]
        if n_classes == 1:
            scores[q, 0] = outputs[q, 0] if own.shape[0] == 2 else 2.0 * own[0] - 1.0
            continue
        unseen, after = n_classes - own.shape[0], own.shape[0] - 1
        for c in range(n_classes - 1, -1, -1):
            if after >= 0 and own[after] == c:
                scores[q, c], sums[c] = unseen, unseen
                after -= 1
            else:  # it wins against the unseen behind it
                scores[q, c] = n_classes - 1 - c - (own.shape[0] - 1 - after)
                sums[c] = -own.shape[0]
        t = 0
        for a in range(own.shape[0]):
            for b in range(a + 1, own.shape[0]):
                output = outputs[q, t]
                scores[q, own[b] if output < 0.0 else own[a]] += 1.0
                sums[own[a]] += output
                sums[own[b]] -= output
                t += 1
        for c in range(n_classes):
            scores[q, c] += sums[c] / (3.0 * (abs(sums[c]) + 1.0))


def warm() -> None:
    """Compile for the types in use."""
    zero, both = np.zeros(1, dtype=np.int32), np.arange(2, dtype=np.int32)
    starts, out = np.array([0, 1]), np.empty((1, 1))
    for dtype in (np.float32, np.float64):
        answers(
            RADIAL, np.ones(1), 0.0, 1, np.ones((1, 1)), zero, np.ones((1, 1), dtype=dtype), starts,
            starts, zero, np.ones(1), np.zeros(1), out,
        )  # fmt: skip
    local_scores(zero, np.array([0, 2]), both, out, np.empty((1, 1)))
