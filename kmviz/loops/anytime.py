"""Bounds that close on f(x), one basis vector or one eigenvector at a time."""

from __future__ import annotations

import numpy as np

from kmviz.loops.compile import compiled
from kmviz.loops.kernel import POLYNOMIAL, kernel_value

#: Rows that are read in one go before the first of them takes a step: memory delivers what comes in
#: a row much faster than a row now and then.
AHEAD = 16

#: What subtracting the bias can lose, as a share of it.
BIAS = 4.0 * float(np.finfo(np.float64).eps)


@compiled
def close_bounds(
    kind, gamma, coef0, degree, X, self_values, basis, factor, w_coords, w_rest,
    beta, spans, bias, widen, round_off, output, stop, decided,
):  # fmt: skip
    """Run stages 2 and 3 on each embedded row until its sign is certain.

    `output` receives f_k at the step `stop` where both bounds share a sign (`decided`), or at
    the last step. Where the basis `spans` W, its kernel values are those of the exact sum (with
    weights `beta`): that sum is the answer of the last step.
    """
    q_coords = np.empty(basis.shape[0])
    for i in range(X.shape[0]):
        partial = -bias  # eq. 17: f_0 = -b
        total = -bias
        residual = self_values[i]  # eq. 19: R_0^2 = K(x, x)
        pad = widen * self_values[i]
        slack = round_off * np.sqrt(self_values[i]) + BIAS * abs(bias)
        gap = np.sqrt(residual + pad) * w_rest[0] + slack
        k = 0
        while abs(partial) <= gap and k < basis.shape[0]:
            value = kernel_value(kind, gamma, coef0, degree, X[i], basis[k])
            total += beta[k] * value
            known = 0.0
            for j in range(k):
                known += factor[k, j] * q_coords[j]
            q = (value - known) / factor[k, k]  # eq. 16
            q_coords[k] = q
            partial += w_coords[k] * q  # eq. 17
            residual -= q * q  # eq. 19
            k += 1
            gap = np.sqrt(max(residual, 0.0) + pad) * w_rest[k] + slack  # eqs. 21-23
        whole = spans and k == basis.shape[0]
        output[i] = total if whole else partial
        stop[i] = k
        decided[i] = whole or abs(partial) > gap


@compiled
def squared_lengths(X, squares):
    """x.x of each row, in float64."""
    for i in range(X.shape[0]):
        total = 0.0
        for j in range(X.shape[1]):
            total += np.float64(X[i, j]) * X[i, j]
        squares[i] = total


@compiled
def close_spectral(
    X, first, directions, offsets, values, lowest, highest, gamma, coef0, normalized, bias,
    widen, round_off, smallest, largest, output, stop, decided,
):  # fmt: skip
    """The same for a quadratic form: one eigenvector a step, raw rows in.

    The rest of the form lies between `lowest[k]` and `highest[k]` times what is left of the
    squared length of the augmented query. `directions` start at column `first`; their products
    with a row are sums in the type of both, whose rounding after k steps is within `widen[k]` of
    what is left and `round_off[k]` of the form, as shares of the squared length. A row whose
    squared length is not between `smallest` and `largest` (nor 0) is left undecided; one that is
    not finite is answered by NaN.
    """
    squares = np.empty(AHEAD)
    for i in range(X.shape[0]):
        if i % AHEAD == 0:
            squared_lengths(X[i : i + AHEAD], squares)
        row = X[i, first : first + directions.shape[1]]
        square = gamma * squares[i % AHEAD] + coef0
        if not square < np.inf:  # NaN as well
            output[i], stop[i], decided[i] = np.nan, 0, True
            continue
        if square > largest or 0.0 < square < smallest:
            output[i], stop[i], decided[i] = -bias, 0, False
            continue
        scale = 1.0
        if normalized:
            scale = 1.0 / square if square > 0.0 else 0.0
            square = 1.0 if square > 0.0 else 0.0
        partial = -bias
        residual = square
        slack = round_off[0] * square + BIAS * abs(bias)
        left = residual + widen[0] * square
        k = 0
        while k < values.shape[0] and (
            partial + lowest[k] * left <= slack and partial + highest[k] * left >= -slack
        ):
            total = directions.dtype.type(0)
            for j in range(directions.shape[1]):
                total += directions[k, j] * row[j]
            dot = offsets[k] + total
            part = dot * dot * scale
            partial += values[k] * part
            residual -= part
            k += 1
            slack = round_off[k] * square + BIAS * abs(bias)
            left = max(residual, 0.0) + widen[k] * square
        output[i] = partial
        stop[i] = k
        decided[i] = partial + lowest[k] * left > slack or partial + highest[k] * left < -slack


@compiled
def lookahead_costs(cross, pivots, w_next, partial, residual, rest, sides, costs):
    """Eq. 26 for each candidate: how far the bounds of the sample would still miss their sign.

    `cross[i, x]` is what candidate i and query x have in common beyond the basis so far,
    `w_next[i]` the coordinate W would get, `rest` the squared remainder of W.
    """
    for i in range(cross.shape[0]):
        root = 1.0 / np.sqrt(pivots[i])
        w = w_next[i]
        w_left = np.sqrt(max(rest - w * w, 0.0))
        cost = 0.0
        for x in range(cross.shape[1]):
            q = cross[i, x] * root
            gap = np.sqrt(max(residual[x] - q * q, 0.0)) * w_left
            # H_k of a negative query above 0, or L_k of a positive one below it
            cost += max(gap - sides[x] * (partial[x] + w * q), 0.0)
        costs[i] = cost


def warm() -> None:
    """Compile for the types in use."""
    one, two = np.ones(1), np.ones(2)
    matrix = np.ones((1, 1))
    stop, decided = np.empty(1, dtype=np.intp), np.empty(1, dtype=np.bool_)
    close_bounds(
        POLYNOMIAL, 1.0, 0.0, 1, matrix, one, matrix, matrix, one, two,
        one, True, 0.0, 0.0, 0.0, np.empty(1), stop, decided,
    )  # fmt: skip
    for dtype in (np.float32, np.float64):
        close_spectral(
            matrix.astype(dtype), 0, matrix.astype(dtype), one, one, two, two, 1.0, 1.0, True, 0.0,
            two, two, 0.0, np.inf, np.empty(1), stop, decided,
        )  # fmt: skip
    lookahead_costs(matrix, one, one, one, one, 1.0, one, np.empty(1))
