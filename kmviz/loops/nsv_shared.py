"""Nearest support vectors, several classes: reduced vectors that all pairs of classes share.

One kernel value serves every pair. A row is answered as soon as a class leads far enough in all of
its own pairs: no other can overtake it then. `kmviz.methods.nsv.shared` holds the NumPy twin.
"""

from __future__ import annotations

import numpy as np

from kmviz.loops.compile import compiled
from kmviz.loops.kernel import RADIAL, dot
from kmviz.loops.nsv_reduced import GROUP, Early, multiply, unit_factor, values_of_products


@compiled
def leader(outputs, scale, n_classes, least):
    """The class that wins all its pairs and by how much at least; -1 where there is none.

    `least` takes, for each class, the smallest lead in its pairs so far.
    """
    least[:] = np.inf
    p = 0
    for i in range(n_classes):
        for j in range(i + 1, n_classes):
            lead = np.float64(outputs[p]) * scale[p]
            if outputs[p] < 0:  # 0 is the first one's
                least[i] = -np.inf
                least[j] = min(least[j], -lead)
            else:
                least[j] = -np.inf
                least[i] = min(least[i], lead)
            p += 1
    for i in range(n_classes):
        if least[i] >= 0.0:
            return i, least[i]
    return -1, -np.inf


@compiled
def decide_shared(e, weights, bias, scale, needed, n_classes, X, outputs, stage, winner, heard):
    """Answer the rows on which a class leads by more than `needed` of a stage.

    Parameters
    ----------
    e : Early
        The reduced vectors; its own weights are not read.
    weights : array of shape (s, n, p)
        Of the kernel values in each stage and pair.
    bias, scale : arrays of shape (s, p)
        What is subtracted, and what leads are multiplied by.
    outputs : array of shape (rows, p)
    stage, winner : arrays of shape (rows,)
        The stage that decides, or -1, and the class.
    heard : array of shape (rows, s), or empty
        The lead at each stage.
    """
    n_vectors, n_pairs = weights.shape[1], weights.shape[2]
    size = min(GROUP, X.shape[0])
    products = np.empty((size + 1, n_vectors), X.dtype)
    values, left = np.empty_like(products), np.empty(size, np.int64)
    sums, least = np.empty(n_pairs, X.dtype), np.empty(n_classes)
    for first in range(0, X.shape[0], GROUP):
        rows = np.arange(first, min(first + GROUP, X.shape[0]))
        n_left, begin = rows.shape[0], 0
        left[:n_left] = np.arange(n_left)
        for s in range(e.ends.shape[0]):
            end = e.ends[s]
            multiply(e, X, rows, left, n_left, begin, end, products)
            before, n_left = n_left, 0
            for i in range(before):
                a, r = left[i], rows[left[i]]
                factor = X.dtype.type(unit_factor(e.unit_gamma, e.unit_coef0, X[r]))
                for j in range(begin, end):
                    products[a, j] = (products[a, j] + e.offsets[1 + j]) * factor
                length = dot(X[r], X[r]) if e.kind == RADIAL else factor
                values_of_products(e, products[a], begin, end, length, values[a])
                sums[:] = 0
                for j in range(end):
                    for p in range(n_pairs):
                        sums[p] += values[a, j] * weights[s, j, p]
                for p in range(n_pairs):
                    outputs[r, p] = np.float64(sums[p]) - bias[s, p]
                winner[r], lead = leader(outputs[r], scale[s], n_classes, least)
                if heard.shape[0] > 0:
                    heard[r, s] = lead
                stage[r] = s
                if not lead > needed[s]:
                    stage[r] = -1
                    left[n_left] = a
                    n_left += 1
            begin = end


def warm() -> None:
    """Compile for the types in use."""
    stage, winner = np.empty(2, np.int64), np.empty(2, np.int64)
    for dtype in (np.float32, np.float64):
        rows, ones = np.ones((2, 2), dtype=dtype), np.ones(2, dtype=dtype)
        early = Early(
            kind=RADIAL, gamma=1.0, coef0=0.0, degree=1, unit_gamma=0.0, unit_coef0=1.0,
            linear_bias=0.0, linear_offset=0.0, rows=rows, offsets=ones, lengths=ones,
            weights=rows[:1, :1].copy(), lines=np.zeros((1, 2)), ends=np.ones(1, np.int64),
        )  # fmt: skip
        table = (np.ones((1, 1, 3), dtype), np.zeros((1, 3)), np.ones((1, 3)), np.zeros(1))
        decide_shared(early, *table, 3, rows, np.empty((2, 3)), stage, winner, np.empty((0, 0)))
