"""The walk of one query in NumPy: the twin of `kmviz.loops.nsv_walk`.

It also serves kernels that compiled code must not stand in for: the exact kernel values come
from a function that is called for the vectors touched and for no others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.kernels import RBF, Linear, Polynomial, power
from kmviz.loops.kernel import POLYNOMIAL, RADIAL
from kmviz.loops.nsv_stages import BY_FILTER, BY_WALK, EXACT, TUG_OF_WAR, Limits, Start
from kmviz.loops.nsv_walk import Tables

Values = Callable[[NDArray[np.intp]], NDArray[np.float64]]
Between = Callable[[int, int], NDArray[np.float64]]


def walk(t: Tables, limits: Limits, x: NDArray[Any], values: Values) -> tuple[float, int, int]:
    """Answer one embedded query that filter and reduced vectors left.

    Returns
    -------
    output, touched, stage
        What was answered, how many kernel values were computed, and what decided: see
        `kmviz.loops.nsv_walk`.
    """
    g, stage, _, approximation = approach(t, limits, x)
    if stage != BY_WALK:
        return g, t.asked, stage
    total = -t.bias
    for k, i in enumerate(arrange(t, x, approximation), start=1):
        exact = float(values(np.array([i]))[0])
        total += t.beta[i] * exact
        g += t.beta[i] * (exact - approximation[i] if t.approximate else exact)
        g = total if k == len(t.beta) else g
        if g < limits.low[k] or g > limits.high[k]:
            return g, t.asked + k, stage
    return g, t.asked + len(t.beta), stage


def decide_start(
    e: Start, limits: Limits, x: NDArray[Any], values: Between
) -> tuple[float, int, int, NDArray[np.float64]]:
    """Evaluate the filter and the reduced vectors: the twin of `kmviz.loops.nsv_stages`.

    Parameters
    ----------
    x : array of shape (d,)
        A query as an input row.
    values : callable
        Kernel values of the reduced vectors from one number up to another.

    Returns
    -------
    output, touched, stage, outputs
        As `walk` returns them, and the outputs of filter and stages.
    """
    outputs, known = np.full(1 + len(e.ends), np.nan), np.empty(0)
    outputs[0] = (float(x @ e.rows[0]) + e.linear_offset) * unit_factor(e, x) - e.linear_bias
    if outputs[0] < limits.filter_low or outputs[0] > limits.filter_high:
        return outputs[0], 0, BY_FILTER, outputs
    for s, end in enumerate(e.ends):
        known = np.concatenate([known, values(len(known), int(end))])
        output = float(e.weights[s, :end] @ known) + e.lines[s, 0] * outputs[0] - e.lines[s, 1]
        outputs[1 + s] = output
        if output < limits.stage_low[s] or output > limits.stage_high[s]:
            return output, int(end), s, outputs
    return outputs[-1], len(known), BY_WALK, outputs


def unit_factor(e: Start, x: NDArray[Any]) -> float:
    """What a normalised kernel multiplies the products of a query by."""
    square = e.unit_gamma * float(x @ x) + e.unit_coef0
    return 1.0 / np.sqrt(square) if square > 0 else 0.0


def whole_walk(
    t: Tables, x: NDArray[Any], values: Values
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.intp], NDArray[np.float64]]:
    """Walk to the end. Return the outputs of the stages, g_0 .. g_m, the order, the values."""
    g, _, outputs, approximation = approach(t, endless(t), x)
    order = arrange(t, x, approximation)
    exact = values(order)
    corrections = exact - approximation[order] if t.approximate else exact
    partial = np.cumsum(np.concatenate([[g], t.beta[order] * corrections]))
    if len(order):
        partial[-1] = np.cumsum(np.concatenate([[-t.bias], t.beta[order] * exact]))[-1]
    return outputs, partial, order, exact


def approach(
    t: Tables, limits: Limits, x: NDArray[Any]
) -> tuple[float, int, NDArray[np.float64], NDArray[np.float64]]:
    """The stages: the output, what decided, the output of each, the approximation."""
    outputs, approximation = np.zeros(len(t.ends)), np.zeros(len(t.beta))
    output = -t.bias
    for s, end in enumerate(t.ends):
        approximation = approximate_kernel(t, x, end)
        if t.approximate:
            output = float(t.beta @ approximation) - t.bias
            outputs[s], place = output, t.before + s
            if output < limits.stage_low[place] or output > limits.stage_high[place]:
                return output, place, outputs, approximation
    return output, BY_WALK, outputs, approximation


def approximate_kernel(t: Tables, x: NDArray[Any], end: int) -> NDArray[np.float64]:
    """Kernel values of the first `end` components of query and vectors: eq. 11."""
    along = t.basis[:end] @ x
    if t.unit:  # which changes no order
        along = along / max(float(np.linalg.norm(along)), 1e-300)
    dots = along @ t.coordinates[:end]
    if t.kind == RADIAL:
        length = x @ x if t.approximate else along @ along
        return np.exp(-t.gamma * np.maximum(length + t.lengths - 2 * dots, 0)).astype(np.float64)
    base = np.asarray(t.gamma * dots + t.coef0, dtype=np.float64)
    return power(base, t.degree) if t.kind == POLYNOMIAL else base


def arrange(t: Tables, x: NDArray[Any], approximation: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the order in which the vectors are touched."""
    scores = approximation
    if t.order == EXACT:
        scores = plain_kernel(t)(x[None], t.vectors)[0]
        if t.approximate:  # the largest corrections first
            scores = np.abs(t.beta * (scores - approximation))
    elif t.approximate:  # the largest terms first
        scores = np.abs(t.beta * approximation)
    elif t.kind == RADIAL:  # distances tell apart what exp rounds to 0
        along = t.basis[: t.ends[-1]] @ x
        scores = 2 * (along @ t.coordinates[: t.ends[-1]]) - t.lengths
    order = np.argsort(-scores, kind="stable")
    return tug_of_war(order, scores, t.beta) if t.order == TUG_OF_WAR else order


def tug_of_war(
    order: NDArray[np.intp], scores: NDArray[Any], beta: NDArray[np.float64]
) -> NDArray[np.intp]:
    """Merge both sides so that their sums of |beta| stay as equal as possible (4.2)."""
    ups, downs = list(order[beta[order] > 0]), list(order[beta[order] <= 0])
    up, down = 0.0, 0.0
    merged = []
    while ups or downs:
        takes_up = not downs
        if ups and downs:
            after_up, after_down = abs(up + beta[ups[0]] - down), abs(up - down + beta[downs[0]])
            tie = (-scores[ups[0]], ups[0]) < (-scores[downs[0]], downs[0])
            takes_up = tie if after_up == after_down else after_up < after_down
        i = (ups if takes_up else downs).pop(0)
        up, down = (up + beta[i], down) if takes_up else (up, down - beta[i])
        merged.append(i)
    return np.array(merged, dtype=np.intp)


def endless(t: Tables) -> Limits:
    """Limits that nothing passes."""
    s, m = t.before + len(t.ends), len(t.beta)
    return Limits(
        -np.inf, np.inf, np.full(s, -np.inf), np.full(s, np.inf),
        np.full(m + 1, -np.inf), np.full(m + 1, np.inf),
    )  # fmt: skip


def plain_kernel(t: Tables) -> Any:
    """Return the kernel that `t` describes, for embedded rows."""
    if t.kind == RADIAL:
        return RBF(t.gamma)
    return Polynomial(t.degree, t.gamma, t.coef0) if t.kind == POLYNOMIAL else Linear()
