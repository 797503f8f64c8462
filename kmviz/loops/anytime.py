"""Bounds that close on f(x), one basis vector or one eigenvector at a time."""

from __future__ import annotations

import numpy as np

from kmviz.loops.compile import compiled, part
from kmviz.loops.kernel import POLYNOMIAL, kernel_value

#: Rows that are read in one go before the first of them takes a step: memory delivers what comes in
#: a row much faster than a row now and then.
AHEAD = 16

#: What subtracting the bias can lose, as a share of it.
BIAS = 4.0 * float(np.finfo(np.float64).eps)


@compiled
def factor_rows(kernel_matrix, extra, factor):
    """V' of K + diag(extra), row by row, each from the rows above it alone.

    Returns the first row whose pivot is not positive, or -1.
    """
    for i in range(kernel_matrix.shape[0]):
        square = 0.0
        for j in range(i):
            known = 0.0
            for t in range(j):
                known += factor[i, t] * factor[j, t]
            factor[i, j] = (kernel_matrix[i, j] - known) / factor[j, j]
            square += factor[i, j] * factor[i, j]
        pivot = kernel_matrix[i, i] + extra[i] - square
        if not pivot > 0.0:
            return i
        factor[i, i] = np.sqrt(pivot)
    return -1


@part
def next_coord(factor, k, value, coords):
    """Eq. 16: coordinate k of what has the kernel value `value` with Z_k."""
    known = 0.0
    for j in range(k):
        known += factor[k, j] * coords[j]
    return (value - known) / factor[k, k]


@compiled
def coordinates(factor, values, coords):
    """All coordinates of what has kernel values `values` with the basis."""
    for k in range(values.shape[0]):
        coords[k] = next_coord(factor, k, values[k], coords)


@part
def exact_sum(kind, gamma, coef0, degree, x, vectors, beta, bias, values, asked):
    """f(x), asking for the kernel values that are not known yet; vectors in their own order."""
    total = 0.0
    for j in range(vectors.shape[0]):
        if not asked[j]:
            values[j] = kernel_value(kind, gamma, coef0, degree, x, vectors[j])
            asked[j] = True
        total += beta[j] * values[j]
    return total - bias


@compiled
def close_bounds(
    kind, gamma, coef0, degree, X, self_values, basis, index, spans, factor, w_coords, w_rest,
    vectors, beta, bias, widen, round_off, bias_lost, share, tolerance, output, exact, stop,
    decided, partials, gaps,
):  # fmt: skip
    """Run stages 2 and 3 on each embedded row until its sign is certain.

    `output` receives f_k at the step `stop` where |f_k| exceeds `share` of the gap, or the gap is
    no more than `tolerance` (`decided`), or else the exact sum, for which the values known of the
    machine's own vectors (`index`) are not asked again. Where the basis `spans` W, the exact sum
    is what its last step knows.

    Rounding may take `widen[k]` of K(x, x) from what is left of it, `round_off[k]` of its root
    and `bias_lost` from f_k. With room in `partials` and `gaps` for every step, steps are recorded
    up to the one that decides, after which nothing changes any more, and `exact` receives the
    exact sum of every row.
    """
    last = basis.shape[0]
    records = partials.shape[0] > 0
    q_coords = np.empty(last)
    values = np.empty(vectors.shape[0])
    asked = np.empty(vectors.shape[0], dtype=np.bool_)
    for i in range(X.shape[0]):
        asked[:] = False
        partial = -bias  # eq. 17: f_0 = -b
        residual = self_values[i]  # eq. 19: R_0^2 = K(x, x)
        length = np.sqrt(residual)
        gap = length * (np.sqrt(1.0 + widen[0]) * w_rest[0] + round_off[0]) + bias_lost
        k = 0
        sure = abs(partial) > share * gap or gap <= tolerance
        output[i], stop[i] = partial, 0
        if records:
            partials[i, 0], gaps[i, 0] = partial, gap
        while k < last and not sure:
            value = kernel_value(kind, gamma, coef0, degree, X[i], basis[k])
            if index[k] >= 0:
                values[index[k]], asked[index[k]] = value, True
            q = next_coord(factor, k, value, q_coords)  # eq. 16
            q_coords[k] = q
            partial += w_coords[k] * q  # eq. 17
            residual -= q * q  # eq. 19
            k += 1
            left = np.sqrt(max(residual, 0.0) + widen[k] * self_values[i])
            gap = left * w_rest[k] + round_off[k] * length + bias_lost  # eqs. 21-23
            whole = spans and k == last
            if whole:
                partial = exact_sum(
                    kind, gamma, coef0, degree, X[i], vectors, beta, bias, values, asked
                )
            sure = whole or abs(partial) > share * gap or gap <= tolerance
            output[i], stop[i] = partial, k
            if records:
                partials[i, k], gaps[i, k] = partial, gap
        if records:
            partials[i, k + 1 :], gaps[i, k + 1 :] = partial, gap
        decided[i] = sure
        if records or not sure:
            exact[i] = exact_sum(
                kind, gamma, coef0, degree, X[i], vectors, beta, bias, values, asked
            )
        if not sure:
            output[i] = exact[i]


@part
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
    widen, round_off, smallest, largest, share, output, stop, decided, partials, lowers, uppers,
):  # fmt: skip
    """The same for a quadratic form: one eigenvector a step, raw rows in.

    The rest of the form lies between `lowest[k]` and `highest[k]` times what is left of the
    squared length of the augmented query. `directions` start at column `first`; their products
    with a row are sums in the type of both, whose rounding after k steps is within `widen[k]` of
    what is left and `round_off[k]` of the form, as shares of the squared length. A row whose
    squared length is not between `smallest` and `largest` (nor 0) is left undecided; one that is
    not finite is answered by NaN. With room in `partials`, `lowers` and `uppers` for every step,
    all steps are taken and recorded.
    """
    squares = np.empty(AHEAD)
    records = partials.shape[0] > 0
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
            if records:
                partials[i], lowers[i], uppers[i] = -bias, -np.inf, np.inf
            continue
        scale = 1.0
        if normalized:
            scale = 1.0 / square if square > 0.0 else 0.0
            square = 1.0 if square > 0.0 else 0.0
        partial = -bias
        residual = square
        k = 0
        sure = False
        while True:
            slack = round_off[k] * square + BIAS * abs(bias)
            left = max(residual, 0.0) + widen[k] * square
            if not sure:
                low, high = share * (lowest[k] * left - slack), share * (highest[k] * left + slack)
                sure = partial + low > 0.0 or partial + high < 0.0
                output[i], stop[i] = partial, k
            if records:
                partials[i, k] = partial
                lowers[i, k] = partial + lowest[k] * left - slack
                uppers[i, k] = partial + highest[k] * left + slack
            if k == values.shape[0] or (sure and not records):
                break
            total = directions.dtype.type(0)
            for j in range(directions.shape[1]):
                total += directions[k, j] * row[j]
            dot = offsets[k] + total
            part = dot * dot * scale
            partial += values[k] * part
            residual -= part
            k += 1
        decided[i] = sure


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
    matrix, none = np.ones((1, 1)), np.empty((0, 0))
    stop, decided = np.empty(1, dtype=np.intp), np.empty(1, dtype=np.bool_)
    factor_rows(matrix, one, np.empty((1, 1)))
    coordinates(matrix, one, np.empty(1))
    close_bounds(
        POLYNOMIAL, 1.0, 0.0, 1, matrix, one, matrix, np.zeros(1, dtype=np.intp), True, matrix,
        one, two, matrix, one, 0.0, two, two, 0.0, 1.0, -1.0, np.empty(1), np.empty(1), stop,
        decided, none, none,
    )  # fmt: skip
    for dtype in (np.float32, np.float64):
        close_spectral(
            matrix.astype(dtype), 0, matrix.astype(dtype), one, one, two, two, 1.0, 1.0, True, 0.0,
            two, two, 0.0, np.inf, 1.0, np.empty(1), stop, decided, none, none, none,
        )  # fmt: skip
    lookahead_costs(matrix, one, one, one, one, 1.0, one, np.empty(1))
