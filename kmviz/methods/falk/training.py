"""Training local SVMs: in blocks of neighbourhoods, on any joblib backend."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray

from kmviz.kernels import RBF, Linear, is_known
from kmviz.loops.falk_smo import PAD
from kmviz.loops.falk_train import train_given, train_radial
from kmviz.methods.falk.models import LocalModels, ends_of
from kmviz.methods.progress import report

#: Models in a task, at least and at most, and tasks for each worker: a task that is sent to a
#: cluster takes some 10 milliseconds beside its work.
FEWEST, MOST, TASKS = 64, 1024, 16
#: LibSVM's own stopping tolerance, which the paper keeps.
TOLERANCE = 1e-3
#: Steps after which a model is taken as it is, to begin with and for each of its points: a hundred
#: times what one takes that settles.
FIRST_STEPS, STEPS_A_POINT, MAX_STEPS = 10_000, 500, 1_000_000
#: Of rows scaled to a width of 1, a kernel this narrow has no neighbours.
NARROWEST = 1e30
#: Gamma that stands for "each model its own".
LOCAL = -1.0
#: Widths of data whose squares float32 holds well; and float64.
NARROW, WIDE, WIDEST = 1e-15, 1e15, 1e150


def train_models(
    rows: NDArray[Any], labels: NDArray[np.int32], n_classes: int, neighbors: NDArray[np.int32],
    kernel: Any, gamma: float, percentile: float, C: float, n_jobs: int | None = None,
    unit: float = 1.0,
) -> LocalModels:  # fmt: skip
    """Train one model a row of `neighbors`.

    Blocks of models go to joblib: threads by default (the loops release the GIL), or whatever
    `joblib.parallel_config` names, processes of a cluster included. Models do not depend on it.

    Parameters
    ----------
    rows : array of shape (N, d)
        Training rows; embedded ones when a compiled loop knows the kernel.
    labels : array of shape (N,)
        Codes 0, 1, ... of the classes.
    gamma, percentile : float
        RBF width; `LOCAL` takes each neighbourhood's own from its percentile of distances.
    unit : float
        What rows are multiplied by before they are made float32, see `unit_of`; RBF only.
    """
    rows = scaled(rows, unit)
    gamma = gamma if gamma == LOCAL else min(gamma / unit**2, NARROWEST)
    rest = (n_classes, kernel, gamma, percentile, C)
    block = int(np.clip(len(neighbors) // (TASKS * effective_n_jobs(n_jobs)), FEWEST, MOST))
    # a tuple travels with its task; bare arrays would be scattered one by one
    calls = [
        delayed(train_block)(rows, labels, (neighbors[start : start + block],), *rest)
        for start in range(0, len(neighbors), block)
    ]
    parallel = Parallel(n_jobs=n_jobs, prefer="threads", batch_size=1, return_as="generator")
    trained, done = [], 0
    for models in parallel(calls):
        trained.append(models)
        done += len(models[0])
        report(0.5 + 0.5 * done / len(neighbors), f"{done} models")
    *arrays, short = zip(*trained, strict=True)
    n_local, classes, counts, bias, gammas, index, weight = map(np.concatenate, arrays)
    return LocalModels(
        n_classes, n_local, classes, counts, bias, gammas * unit**2, index, weight, int(sum(short))
    )


def most_steps(k: int) -> int:
    """Return the steps after which a model of k points is taken as it is."""
    return min(FIRST_STEPS + STEPS_A_POINT * k, MAX_STEPS)


def width_of(X: NDArray[Any]) -> float:
    """Return how wide the widest column is, after checking that distances are finite."""
    width = float((X.max(axis=0).astype(np.float64) - X.min(axis=0)).max(initial=0.0))
    if width > WIDEST:
        raise ValueError(
            f"X is up to {width:.0e} wide in a column: squared distances are not finite. Scale the "
            "features."
        )
    return width


def refuse_overflow(kernel: Any, X: NDArray[Any]) -> None:
    """Refuse rows whose own kernel values are not finite, before models that cannot answer."""
    with np.errstate(over="ignore"):
        if is_known(kernel) and not np.isfinite(kernel.diag(X.astype(np.float64))).all():
            raise ValueError(f"Values of {kernel!r} are not finite on X: scale the features.")


def is_radial(kernel: Any) -> bool:
    """Tell whether a kernel is an RBF, normalised or not."""
    return is_known(kernel) and isinstance(kernel.plain, RBF)


def unit_of(width: float, kernel: Any) -> float:
    """Return what RBF rows must be multiplied by, a power of two, so that float32 holds them."""
    if not is_radial(kernel) or NARROW < width < WIDE or width < 1.0 / WIDEST:
        return 1.0
    return float(2.0 ** -np.round(np.log2(width)))


def scaled(rows: NDArray[Any], unit: float) -> NDArray[Any]:
    """Return rows times `unit`; the same rows where it is 1."""
    return rows if unit == 1.0 else rows * rows.dtype.type(unit)


def train_block(
    rows: NDArray[Any], labels: NDArray[np.int32], neighborhoods: tuple[NDArray[np.int32]],
    n_classes: int, kernel: Any, gamma: float, percentile: float, C: float,
) -> tuple[Any, ...]:  # fmt: skip
    """Train a block of models: a plain function that any worker can import."""
    (neighbors,) = neighborhoods
    n_models, k = neighbors.shape
    n_local, classes = classes_in(labels, neighbors)
    ends, is_binary = ends_of(n_local), n_classes == 2
    counts = np.zeros(int((n_local * (n_local - 1) // 2).sum()), dtype=np.int64)
    bias, gammas = np.zeros(counts.shape), np.full(n_models, gamma)
    index = np.empty(k * int((n_local - 1).sum()), dtype=np.int32)
    weight = np.empty(len(index))
    filled, short, done = 0, 0, 0
    if is_radial(kernel):
        filled, short = train_radial(
            rows, labels, ends, classes, is_binary, neighbors, gamma, percentile, C, TOLERANCE,
            most_steps(k), counts, bias, gammas, index, weight,
        )  # fmt: skip
        n_models = 0
    plain = kernel.plain if is_known(kernel) else kernel
    for m in range(n_models):
        seen = classes[ends[m] : ends[m + 1]]
        here = slice(done, done := done + len(seen) * (len(seen) - 1) // 2)
        if len(seen) == 1:
            continue
        members, center = centred(plain, rows[neighbors[m]])
        K, diagonal = padded_kernel(plain, members)
        added, missed = train_given(
            neighbors[m], labels, seen, is_binary, K, diagonal, C, TOLERANCE, most_steps(k),
            counts[here], bias[here], index[filled:], weight[filled:],
        )  # fmt: skip
        if center is not None:
            _uncentre(rows, center, counts[here], bias[here], index[filled:], weight[filled:])
        filled, short = filled + added, short + missed
    return (
        n_local,
        classes,
        counts,
        bias,
        gammas,
        index[:filled].copy(),
        weight[:filled].copy(),
        short,
    )


def classes_in(
    labels: NDArray[np.int32], neighbors: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return how many classes each neighbourhood holds, and which, rising, one after the other."""
    members = np.sort(labels[neighbors], axis=1)
    is_new = np.diff(members, axis=1, prepend=-1) > 0
    return is_new.sum(axis=1), members[is_new]


def centred(kernel: Any, members: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Return members about their mean, and it, where the kernel is linear: float32 keeps more.

    Other kernels are not the same after a shift: their members stay as they are.
    """
    if type(kernel) is not Linear:
        return members, None
    center = members.mean(axis=0, dtype=np.float64)
    return members - center, center


def _uncentre(rows, center, counts, bias, index, weight) -> None:
    """Correct the biases of machines trained about a centre: w.(x - c) - b is w.x - (b + w.c)."""
    ends = np.cumsum(counts)
    for pair in np.flatnonzero(counts):
        there = slice(int(ends[pair] - counts[pair]), int(ends[pair]))
        w = weight[there] @ (rows[index[there]].astype(np.float64) - center)
        bias[pair] += w @ center


def padded_kernel(kernel: Any, members: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the kernel matrix as the solver wants it, and its diagonal."""
    n = len(members)
    width = -(-n // PAD) * PAD
    K = np.zeros((width, width), dtype=np.float32)
    with np.errstate(over="ignore"):
        K[:n, :n] = kernel(members, members)
    if not np.isfinite(K[:n, :n]).all():
        raise ValueError(
            f"Kernel values of {kernel!r} are beyond the range of float32: scale the features."
        )
    return K, np.ascontiguousarray(np.diag(K))
