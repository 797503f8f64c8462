"""Blocks of local models: gather a neighbourhood, find its width, solve one SVM a pair of classes.

Only pairs of classes that a neighbourhood holds are solved and kept: `classes` lists those of each
model, rising, and its machines follow in the order of `itertools.combinations`. Models come out
flat: how many vectors each machine has, and one long list of training rows and weights in that
order. With two classes in all +1 is the second; with more, +1 is the first of the pair, as
scikit-learn has it.
"""

from __future__ import annotations

import numpy as np

from kmviz.loops.compile import compiled_finite, part_finite
from kmviz.loops.falk_smo import PAD, solve, workspace
from kmviz.loops.sorting import select

#: Pairs of points that a width is taken from: all of up to 256 points.
SAMPLED_PAIRS = 1 << 15


@compiled_finite
def gather(rows, members, points):
    """Copy members' coordinates, seen from the first of them, a coordinate a row.

    Distances keep and float32 loses less. Places past the members repeat the first.
    """
    d = rows.shape[1]
    center = rows[members[0]]
    for t in range(points.shape[1]):
        row = rows[members[t]] if t < members.shape[0] else center
        for f in range(d):
            points[f, t] = row[f] - center[f]


@compiled_finite
def local_gamma(points, n, percentile, scratch):
    """gamma = 1 / sigma, sigma the percentile of squared distances between members (section
    4.3.1; the paper's RBF is exp(-||x - x'||^2 / sigma)), over up to SAMPLED_PAIRS pairs spread
    evenly over all. Pairs of equal points do not count."""
    total = n * (n - 1) // 2
    wanted = min(total, SAMPLED_PAIRS)
    count = 0
    for s in range(wanted):
        # the s-th of `wanted` pairs in the order (1,0), (2,0), (2,1), (3,0), ...
        place = (s * total) // wanted
        i = np.int64((1.0 + np.sqrt(1.0 + 8.0 * place)) / 2.0)
        while i * (i - 1) // 2 > place:
            i -= 1
        while (i + 1) * i // 2 <= place:
            i += 1
        j = place - i * (i - 1) // 2
        square = 0.0
        for f in range(points.shape[0]):
            square += np.float64(points[f, i] - points[f, j]) ** 2
        if square > 0.0:
            scratch[count] = square
            count += 1
    if count == 0:
        return 1.0
    place = min(count - 1, int(percentile / 100.0 * count))
    return 1.0 / select(scratch[:count], place)


@part_finite
def boxes(members, labels, first, second, C, y, lower, upper):
    """Sides and boxes for +1 = `first` against -1 = `second`; others get no room. Returns whether
    the two classes are there: 3 both, 1 only the first, 2 only the second, 0 none."""
    present = 0
    for t in range(members.shape[0]):
        label = labels[members[t]]
        if label == first:
            y[t], lower[t], upper[t] = 1.0, 0.0, C
            present |= 1
        elif label == second:
            y[t], lower[t], upper[t] = -1.0, -C, 0.0
            present |= 2
        else:
            y[t], lower[t], upper[t] = 0.0, 0.0, 0.0
    return present


@part_finite
def one_class_bias(present):
    """-f of a neighbourhood without a boundary: the predominant (only) class, or no vote."""
    if present == 1:
        return -1.0
    if present == 2:
        return 1.0
    return 0.0


@part_finite
def append(members, beta, index, weight, filled):
    """Add the members with a weight to the flat list; returns its new length."""
    for t in range(members.shape[0]):
        if beta[t] != 0.0:
            index[filled] = members[t]
            weight[filled] = beta[t]
            filled += 1
    return filled


@part_finite
def train_pairs(
    members, labels, classes, is_binary, C, tol, steps, points, gamma, K, known, diagonal, work,
    room, counts, bias, index, weight, filled,
):  # fmt: skip
    """Train one neighbourhood, all pairs of its classes; returns the new length of the flat list
    and whether every solution was reached."""
    n = members.shape[0]
    y, lower, upper, exact, beta = work[0], work[1], work[2], work[3], work[4]
    machine, reached = 0, True
    for a in range(classes.shape[0]):
        for b in range(a + 1, classes.shape[0]):
            first, second = (classes[b], classes[a]) if is_binary else (classes[a], classes[b])
            boxes(members, labels, first, second, C, y, lower, upper)
            intercept, _, is_solved = solve(
                n, points, gamma, K, known, diagonal, y, lower, upper, tol, steps, room, exact,
                beta,
            )  # fmt: skip
            bias[machine] = -intercept
            reached = reached and is_solved
            before = filled
            filled = append(members, beta, index, weight, filled)
            counts[machine] = filled - before
            machine += 1
    return filled, reached


@compiled_finite
def train_radial(
    rows, labels, class_starts, classes, is_binary, neighbors, gamma, percentile, C, tol, steps,
    counts, bias, gammas, index, weight,
):  # fmt: skip
    """Train a block of models with RBF kernels; gamma <= 0 takes each its own width.

    `classes[class_starts[m] : class_starts[m + 1]]` are those of model m. Fills `counts`, `bias`
    (machines,), `gammas` (models,), `index` and `weight` (flat); returns the length of the flat
    list and how many models ran out of steps.
    """
    n_models, n = neighbors.shape
    width = (n + PAD - 1) // PAD * PAD
    points = np.empty((rows.shape[1], width), dtype=np.float32)
    K = np.empty((width, width), dtype=np.float32)
    known = np.empty(width, dtype=np.bool_)
    diagonal = np.ones(width, dtype=np.float32)
    work, room = np.zeros((5, width)), workspace(width)
    scratch = np.empty(SAMPLED_PAIRS)
    filled, short, machine = 0, 0, 0
    for m in range(n_models):
        members = neighbors[m]
        own = classes[class_starts[m] : class_starts[m + 1]]
        gammas[m] = gamma
        if own.shape[0] > 1 or gamma <= 0.0:
            gather(rows, members, points)
            if gamma <= 0.0:
                gammas[m] = local_gamma(points, n, percentile, scratch)
        known[:] = False
        filled, reached = train_pairs(
            members, labels, own, is_binary, C, tol, steps, points, np.float32(gammas[m]), K, known,
            diagonal, work, room, counts[machine:], bias[machine:], index, weight, filled,
        )  # fmt: skip
        machine += own.shape[0] * (own.shape[0] - 1) // 2
        short += not reached
    return filled, short


@compiled_finite
def train_given(
    members, labels, classes, is_binary, K, diagonal, C, tol, steps, counts, bias, index, weight
):
    """Train one neighbourhood whose kernel matrix (float32, padded) is given."""
    width = K.shape[0]
    known = np.ones(width, dtype=np.bool_)
    work, room = np.zeros((5, width)), workspace(width)
    points = np.empty((1, width), dtype=np.float32)
    filled, reached = train_pairs(
        members, labels, classes, is_binary, C, tol, steps, points, np.float32(1.0), K, known,
        diagonal, work, room, counts, bias, index, weight, 0,
    )  # fmt: skip
    return filled, 1 - reached


def warm() -> None:
    """Compile for the types in use."""
    members, labels = np.arange(2, dtype=np.int32), np.arange(2, dtype=np.int32)
    counts, bias = np.zeros(1, dtype=np.int64), np.zeros(1)
    flat = np.empty(2, dtype=np.int32), np.empty(2)
    starts = np.array([0, 2])
    for dtype in (np.float32, np.float64):
        rows = np.arange(2, dtype=dtype)[:, None]
        train_radial(
            rows, labels, starts, labels, True, members[None], -1.0, 50.0, 1.0, 1e-3, 100, counts,
            bias, np.ones(1), *flat,
        )  # fmt: skip
    K = np.eye(PAD, dtype=np.float32)
    train_given(members, labels, labels, True, K, K[0].copy(), 1.0, 1e-3, 100, counts, bias, *flat)
