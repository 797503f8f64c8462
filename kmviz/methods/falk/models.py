"""Local SVMs in flat arrays: no Python object a model, training in blocks on any joblib backend."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import numpy as np
from joblib import delayed
from numpy.typing import NDArray

from kmviz.kernels import RBF, Linear, is_known
from kmviz.loops import threads
from kmviz.loops.falk_answer import answers
from kmviz.loops.falk_smo import PAD
from kmviz.loops.falk_train import train_given, train_radial
from kmviz.machines.soundness import shaped, within
from kmviz.methods.falk.cluster import block_size, local_threads, on_cluster, results
from kmviz.methods.progress import report

#: Models a task. Fewer make a cluster spend its time on messages.
BLOCK = 64
#: LibSVM's own stopping tolerance, which the paper keeps.
TOLERANCE = 1e-3
#: Steps after which a model is taken as it is, to begin with and for each of its points: a hundred
#: times what one takes that settles.
FIRST_STEPS, STEPS_A_POINT, MAX_STEPS = 10_000, 500, 1_000_000
#: Of rows brought to a width of 1, a kernel this narrow knows no neighbours.
NARROWEST = 1e30
#: Gamma that stands for "each model its own".
LOCAL = -1.0
#: Widths of data whose squares float32 holds well; and float64.
NARROW, WIDE, WIDEST = 1e-15, 1e15, 1e150


class LocalModels:
    """M models, each with one binary machine a pair of classes.

    Attributes
    ----------
    starts : array of shape (M P + 1,)
        Vectors of model m and pair p stand at `starts[m P + p]` up to the next start.
    index : array of shape (S,)
        Their training rows.
    weight : array of shape (S,)
        Their weights beta.
    bias : array of shape (M, P)
        b in f(x) = sum beta K - b. Without vectors it is the answer of a one-class neighbourhood.
    gammas : array of shape (M,)
        The kernel's gamma of each model.
    short : int
        How many models ran out of steps.
    """

    def __init__(
        self, counts: NDArray[Any], bias: NDArray[Any], gammas: NDArray[Any], index: NDArray[Any],
        weight: NDArray[Any], short: int,
    ) -> None:  # fmt: skip
        self.starts = np.concatenate([[0], np.cumsum(counts.ravel())])
        self.bias, self.gammas, self.index, self.weight = bias, gammas, index, weight
        self.short = short

    def __len__(self) -> int:
        return len(self.bias)

    def check(self) -> None:
        """Refuse arrays that do not fit together (ValueError)."""
        M, P = np.shape(self.bias)
        size = len(self.index)
        shaped("starts", self.starts, M * P + 1)
        within("starts", self.starts, 0, size + 1)
        if (np.diff(self.starts) < 0).any() or self.starts[0] != 0 or self.starts[-1] != size:
            raise ValueError("starts does not lead from the first vector to the last.")
        shaped("weight", self.weight, size)
        shaped("gammas", self.gammas, M)

    @property
    def n_pairs(self) -> int:
        """P, the number of pairs of classes."""
        return self.bias.shape[1]

    def sizes(self) -> NDArray[np.intp]:
        """Return how many vectors each model has, over all pairs."""
        return np.diff(self.starts[:: self.n_pairs])

    def all_vectors(self, model: int) -> slice:
        """Return where the vectors of a model stand, over all pairs."""
        first = model * self.n_pairs
        return slice(int(self.starts[first]), int(self.starts[first + self.n_pairs]))

    def vectors(self, model: int, pair: int = 0) -> slice:
        """Return where the vectors of one machine stand in `index` and `weight`."""
        place = model * self.n_pairs + pair
        return slice(int(self.starts[place]), int(self.starts[place + 1]))


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
    blocks, done, seconds = [], 0, 1.0
    if on_cluster():  # one block here, to know how large tasks should be
        began = time.perf_counter()
        blocks.append(train_block(rows, labels, (neighbors[:BLOCK],), *rest))
        done = len(blocks[0][0])
        seconds = (time.perf_counter() - began) / done
    block = block_size(len(neighbors) - done, n_jobs, BLOCK, seconds)
    # a tuple travels with its task; bare arrays would be scattered one by one
    calls = [
        delayed(train_block)(rows, labels, (neighbors[s : s + block],), *rest)
        for s in range(done, len(neighbors), block)
    ]
    for result in results(calls, (rows, labels), n_jobs):
        blocks.append(result)
        done += len(result[0])
        report(0.5 + 0.5 * done / len(neighbors), f"{done} models")
    counts, bias, gammas, index, weight, short = zip(*blocks, strict=True)
    return LocalModels(
        np.concatenate(counts), np.concatenate(bias), np.concatenate(gammas) * unit**2,
        np.concatenate(index), np.concatenate(weight), int(sum(short)),
    )  # fmt: skip


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
    counts = np.zeros((n_models, n_classes * (n_classes - 1) // 2), dtype=np.int64)
    bias, gammas = np.zeros(counts.shape), np.full(n_models, gamma)
    index = np.empty(n_models * k * (n_classes - 1), dtype=np.int32)
    weight = np.empty(len(index))
    if is_radial(kernel):
        filled, short = train_radial(
            rows, labels, n_classes, neighbors, gamma, percentile, C, TOLERANCE, most_steps(k),
            counts, bias, gammas, index, weight,
        )  # fmt: skip
        return counts, bias, gammas, index[:filled].copy(), weight[:filled].copy(), short
    filled, short = 0, 0
    plain = kernel.plain if is_known(kernel) else kernel
    for m in range(n_models):
        members, center = centred(plain, rows[neighbors[m]])
        K, diagonal = padded_kernel(plain, members)
        added, missed = train_given(
            neighbors[m], labels, n_classes, K, diagonal, C, TOLERANCE, most_steps(k), counts[m],
            bias[m], index[filled:], weight[filled:],
        )  # fmt: skip
        if center is not None:
            _uncentre(rows, center, counts[m], bias[m], index[filled:], weight[filled:])
        filled, short = filled + added, short + missed
    return counts, bias, gammas, index[:filled].copy(), weight[:filled].copy(), short


def centred(kernel: Any, members: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Return members about their mean, and it, where the kernel is linear: float32 keeps more.

    For other kernels, which notice, they stay as they are.
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


def answer(
    models: LocalModels, which: NDArray[Any], X: NDArray[Any], rows: NDArray[Any], kernel: Any,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:  # fmt: skip
    """Return f(x) of the model that each query is given to, all pairs of classes.

    Queries are grouped by model; each is computed as it would be alone.
    """
    out = np.empty((len(X), models.n_pairs))
    order = np.argsort(which, kind="stable")
    which = np.ascontiguousarray(which[order], dtype=np.int32)
    if not is_known(kernel):
        _answer_called(models, which, order, X, rows, kernel, out)
        return out
    Q = np.ascontiguousarray(kernel.embed(X.astype(np.float64, copy=False))[order])
    sorted_out = np.empty_like(out)
    kind, _, coef0, degree = kernel.plain.code

    def work(start: int, stop: int) -> None:
        part = slice(start, stop)
        answers(
            kind, models.gammas, coef0, degree, Q[part], which[part], rows, models.starts,
            models.index, models.weight, models.bias, sorted_out[part],
        )  # fmt: skip

    with threads.limited(min(threads.n_threads(), local_threads(n_jobs, len(X)))):
        threads.over_chunks(work, len(Q), chunk=2048)
    out[order] = sorted_out
    return out


def _answer_called(models, which, order, X, rows, kernel, out) -> None:
    """Call the kernel for exactly the values that `steps` reports."""
    bounds = np.flatnonzero(np.diff(which, prepend=-1, append=-1))
    for start, stop in pairwise(bounds):
        queries, model = order[start:stop], which[start]
        for pair in range(models.n_pairs):
            there = models.vectors(model, pair)
            out[queries, pair] = -models.bias[model, pair]
            if there.stop > there.start:
                values = np.asarray(kernel(X[queries], rows[models.index[there]]))
                out[queries, pair] += values @ models.weight[there]
