"""Nearest support vectors: the approximation of all terms by principal components (eq. 11).

Queries go through it in groups, two by two, so that each number of the tables is read for both;
what a query gets does not depend on its company.
"""

from __future__ import annotations

import numpy as np

from kmviz.loops.compile import part
from kmviz.loops.exponential import exp32, exp64
from kmviz.loops.kernel import RADIAL, dot, whole_power
from kmviz.loops.nsv_order import EXACT

#: Terms that are summed in the type of the tables before float64 takes their sum.
RUN = 256


@part
def copy_row(one, other):
    """Write one into the other, as far as that reaches."""
    for j in range(other.shape[0]):
        other[j] = one[j]


@part
def passes(g, low, high):
    """The stopping rule (figure 2): does an output lie beyond its thresholds?"""
    return g < low or g > high


@part
def powers(degree, gamma, coef0, dots, values):
    """(gamma v + coef0)^degree of each dot product v, by repeated multiplication."""
    if degree > 15:
        for i in range(dots.shape[0]):
            values[i] = whole_power(gamma * dots[i] + coef0, degree)
        return
    one = dots.dtype.type(1.0)
    for i in range(dots.shape[0]):  # no loop inside, so that it vectorises
        first = gamma * dots[i] + coef0
        second = first * first
        fourth = second * second
        low = (first if degree & 1 else one) * (second if degree & 2 else one)
        high = (fourth if degree & 4 else one) * (fourth * fourth if degree & 8 else one)
        values[i] = low * high


@part
def kernels_of_dots(kind, gamma, coef0, degree, approximate, lengths, dots, length, values):
    """Approximate kernel values from approximate dot products."""
    gamma, coef0 = dots.dtype.type(gamma), dots.dtype.type(coef0)
    if kind != RADIAL:
        powers(degree, gamma, coef0, dots, values)
        return
    m, two, zero = dots.shape[0], dots.dtype.type(2.0), dots.dtype.type(0.0)
    for i in range(m):
        values[i] = -gamma * max(length + lengths[i] - two * dots[i], zero)
    if not approximate:  # the order needs no exponential: it is monotone
        return
    if values.itemsize == 4:
        for i in range(m):
            values[i] = exp32(values[i])
    else:
        for i in range(m):
            values[i] = exp64(values[i])


@part
def project(x, y, basis, begin, end, along_x, along_y):
    """Find components begin..end of two queries (eq. 11), four in one reading of them."""
    zero = x.dtype.type(0.0)
    j = begin
    while j + 4 <= end:
        b0, b1, b2, b3 = basis[j], basis[j + 1], basis[j + 2], basis[j + 3]
        x0, x1, x2, x3 = zero, zero, zero, zero
        y0, y1, y2, y3 = zero, zero, zero, zero
        for i in range(x.shape[0]):
            x0 += x[i] * b0[i]
            x1 += x[i] * b1[i]
            x2 += x[i] * b2[i]
            x3 += x[i] * b3[i]
            y0 += y[i] * b0[i]
            y1 += y[i] * b1[i]
            y2 += y[i] * b2[i]
            y3 += y[i] * b3[i]
        along_x[j], along_x[j + 1], along_x[j + 2], along_x[j + 3] = x0, x1, x2, x3
        along_y[j], along_y[j + 1], along_y[j + 2], along_y[j + 3] = y0, y1, y2, y3
        j += 4
    while j < end:
        along_x[j], along_y[j] = dot(x, basis[j]), dot(y, basis[j])
        j += 1


@part
def add_products(along_x, along_y, coordinates, begin, end, dots_x, dots_y):
    """Add what components begin..end tell of the dot products of two queries."""
    j = begin
    while j + 4 <= end:
        x0, x1, x2, x3 = along_x[j], along_x[j + 1], along_x[j + 2], along_x[j + 3]
        y0, y1, y2, y3 = along_y[j], along_y[j + 1], along_y[j + 2], along_y[j + 3]
        c0, c1, c2, c3 = coordinates[j], coordinates[j + 1], coordinates[j + 2], coordinates[j + 3]
        for i in range(dots_x.shape[0]):
            dots_x[i] += x0 * c0[i] + x1 * c1[i] + x2 * c2[i] + x3 * c3[i]
            dots_y[i] += y0 * c0[i] + y1 * c1[i] + y2 * c2[i] + y3 * c3[i]
        j += 4
    while j < end:
        c = coordinates[j]
        for i in range(dots_x.shape[0]):
            dots_x[i] += along_x[j] * c[i]
            dots_y[i] += along_y[j] * c[i]
        j += 1


@part
def weighted_sum(weights, values):
    """Sum the weighted values; float64 takes the sums of runs."""
    total = 0.0
    for start in range(0, values.shape[0], RUN):
        part = values.dtype.type(0.0)
        for i in range(start, min(start + RUN, values.shape[0])):
            part += weights[i] * values[i]
        total += np.float64(part)
    return total


@part
def squared_length(kind, approximate, x, along):
    """What the approximate distance takes for the length of a query."""
    if kind != RADIAL:
        return x.dtype.type(0.0)
    return dot(x, x) if approximate else dot(along, along)  # eq. 11 knows the projections alone


@part
def approach(t, limits, X, rows, room, heard, stage):
    """The stages of the approximation for a group of rows.

    `heard` takes the output of each stage that a row comes to, `stage` the one that decides it,
    or -1.
    """
    along, dots, values = room
    stage[:] = -1
    if t.order == EXACT and not t.approximate:
        return
    dots[:] = dots.dtype.type(0.0)
    n = rows.shape[0]
    left, n_left = np.empty(n, np.int64), n  # which of the rows are undecided
    for a in range(n):
        left[a] = a
    begin = 0
    for s in range(t.ends.shape[0]):
        end = t.ends[s]
        for i in range(0, n_left, 2):
            a, b = left[i], n  # a row without a second goes with itself
            if i + 1 < n_left:
                b = left[i + 1]
            x, y = X[rows[a]], X[rows[b if b < n else a]]
            project(x, y, t.basis, begin, end, along[a], along[b])
            add_products(along[a], along[b], t.coordinates, begin, end, dots[a], dots[b])
        begin = end
        if not t.approximate:
            continue
        before, n_left = n_left, 0
        for i in range(before):
            a = left[i]
            length = squared_length(t.kind, t.approximate, X[rows[a]], along[a])
            kernels_of_dots(
                t.kind, t.gamma, t.coef0, t.degree, True, t.lengths, dots[a], length, values
            )
            heard[a, s] = weighted_sum(t.weights, values) - t.bias
            place = t.before + s
            if passes(heard[a, s], limits.stage_low[place], limits.stage_high[place]):
                stage[a] = s
            else:
                left[n_left] = a
                n_left += 1
