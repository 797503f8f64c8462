"""Nearest support vectors, several classes: who leads in all pairs, and by how much.

`kmviz.methods.nsv.landmarks` is the NumPy twin.
"""

from __future__ import annotations

import numpy as np

from kmviz.loops.compile import compiled, part
from kmviz.loops.exponential import exp32, exp64
from kmviz.loops.kernel import RADIAL, dot
from kmviz.loops.nsv_stages import copy_row, powers

#: Rows that go through the stages together, each stage by two matrix products.
GROUP = 128


@part
def output_of(outputs, n_classes, one, other):
    """What a pair says for one class against another: above 0 it is ahead."""
    if one < other:
        return outputs[one * (2 * n_classes - one - 1) // 2 + other - one - 1]
    return -outputs[other * (2 * n_classes - other - 1) // 2 + one - other - 1]


@part
def leader(outputs, n_classes):
    """The class ahead in all its pairs and its smallest output; -1 and -inf where none is.

    Classes meet one after the other and the winner stays: the last alone can have won all. At 0
    neither of two is ahead: there the model's own rule decides, and not a stage.
    """
    champion = 0
    for other in range(1, n_classes):
        if output_of(outputs, n_classes, champion, other) < 0:
            champion = other
    least = np.inf
    for other in range(n_classes):
        if other == champion:
            continue
        value = output_of(outputs, n_classes, champion, other)
        if not value > 0:  # nan wins nothing
            return -1, -np.inf
        least = min(least, np.float64(value))
    return champion, least


@compiled
def lead_rows(outputs, n_classes, winner, lead):
    """The leader of each row of outputs, one for each pair of classes, all in one scale."""
    for r in range(outputs.shape[0]):
        winner[r], lead[r] = leader(outputs[r], n_classes)


@part
def read_rows(kind, gamma, is_unit, X, into, shift, left):
    """Bring queries to what the vectors are multiplied by; `left` takes which are finite."""
    along = np.dot(X, into) if into.shape[0] > 0 else X
    n, q, found = along.shape[0], along.shape[1], 0
    rows = np.empty((n, q + 2 if kind == RADIAL else q), X.dtype)
    for r in range(n):
        row = rows[found, :q]
        for j in range(q):
            row[j] = along[r, j] + shift[j]
        square = dot(row, row)
        if not square < np.inf:
            continue
        if is_unit:
            size = max(np.sqrt(square), X.dtype.type(1e-30))
            for j in range(q):
                row[j] /= size
        if kind == RADIAL:  # -g||x - z||^2 = 2g x.z - g||x||^2 - g||z||^2
            rows[found, q], rows[found, q + 1] = X.dtype.type(-gamma) * square, X.dtype.type(1.0)
        left[found] = r
        found += 1
    return rows[:found]


@part
def kernels_of_products(kind, coef0, degree, products):
    """Turn products of queries and vectors into kernel values."""
    values, zero = products.reshape(-1), products.dtype.type(0.0)
    if kind != RADIAL:
        powers(degree, products.dtype.type(1.0), products.dtype.type(coef0), values, values)
    elif values.itemsize == 4:
        for i in range(values.shape[0]):
            values[i] = exp32(min(values[i], zero))
    else:
        for i in range(values.shape[0]):
            values[i] = exp64(min(values[i], zero))


@part
def say(said, bias, scale, n_classes, output):
    """Take the biases off and write what each pair puts out; return who leads, and by how much."""
    for k in range(said.shape[0]):
        said[k] -= bias[k]
        output[k] = said[k] / scale[k]
    return leader(said, n_classes)


@part
def decide_group(
    kind, coef0, degree, rows, left, n_classes, blocks, ends, weights, bias, scale, needed,
    outputs, stage, winner,
):  # fmt: skip
    """Let the stages decide a few rows, as they are read, and say of which."""
    width, begin, known = rows.shape[1], 0, rows
    for s in range(ends.shape[0]):
        end, n = ends[s], left.shape[0]
        right = blocks[width * begin : width * end].reshape((width, end - begin))
        fresh = np.dot(rows, right)
        kernels_of_products(kind, coef0, degree, fresh)
        values = np.empty((n, end), rows.dtype)
        for i in range(n):
            copy_row(known[i], values[i, :begin])
            copy_row(fresh[i], values[i, begin:])
        z, n_kept = np.dot(values, weights[s, :end]), 0
        for i in range(n):
            r = left[i]
            winner[r], lead = say(z[i], bias[s], scale[s], n_classes, outputs[r])
            stage[r] = s if lead > needed[s] else -1
            if stage[r] < 0:
                left[n_kept] = r
                copy_row(rows[i], rows[n_kept])
                copy_row(values[i], values[n_kept])
                n_kept += 1
        if n_kept == 0:
            break
        left, rows, known, begin = left[:n_kept], rows[:n_kept], values[:n_kept], end


@compiled
def decide_shared(
    kind, gamma, coef0, degree, is_unit, into, shift, n_classes, blocks, ends, weights, bias,
    scale, needed, X, outputs, stage, winner,
):  # fmt: skip
    """Answer the rows that a stage decides; return how many no stage does.

    Parameters
    ----------
    kind, gamma, coef0, degree : the plain kernel's code; the vectors hold gamma already
    is_unit : whether rows are brought to length 1
    into : array of shape (d, q), or of (0, 0) where rows are taken as they are
    shift : array of shape (q,)
    blocks : array of shape (width * n,)
        The vectors, one a column, those of each stage a table of their own.
    ends : array of shape (s,)
    weights : array of shape (s, n, p)
    bias, scale : arrays of shape (s, p)
    needed : array of shape (s,)
    X : array of shape (rows, d)
    outputs, stage, winner : arrays of shape (rows, p), (rows,), (rows,)
        What pairs put out, the stage that decides (-1: none) and who leads then (-1: nobody).
    """
    places, left = np.empty(min(GROUP, X.shape[0]), np.int64), 0
    for first in range(0, X.shape[0], GROUP):
        part = slice(first, first + GROUP)
        output, by, who = outputs[part], stage[part], winner[part]
        output[:], by[:], who[:] = 0.0, -1, -1
        rows = read_rows(kind, gamma, is_unit, X[part], into, shift, places)
        if rows.shape[0] > 0:
            decide_group(
                kind, coef0, degree, rows, places[: rows.shape[0]], n_classes, blocks, ends,
                weights, bias, scale, needed, output, by, who,
            )  # fmt: skip
        for r in range(by.shape[0]):
            left += by[r] < 0
    return left


def warm() -> None:
    """Compile for the types in use."""
    code, table, places = (RADIAL, 1.0, 0.0, 1), np.ones((1, 3)), np.empty(1, np.int64)
    for dtype in (np.float32, np.float64):
        row, block = np.ones((1, 1), dtype), np.ones((1, 3), dtype)
        lead_rows(block, 3, places, np.empty(1))
        decide_shared(
            *code, False, row, row[0], 3, block[0], np.ones(1, np.int64), block[None], block,
            block, np.ones(1), row, table, places, places.copy(),
        )  # fmt: skip
