"""Local SVMs in flat arrays: no Python object a model, training in blocks on any joblib backend."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from joblib import delayed
from numpy.typing import NDArray

from kmviz.kernels import RBF, Linear, is_known
from kmviz.loops import threads
from kmviz.loops.falk_answer import answers, local_scores
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
#: Outputs of machines that are held at a time, for each thread.
ENTRIES = 1 << 20
#: Widths of data whose squares float32 holds well; and float64.
NARROW, WIDE, WIDEST = 1e-15, 1e15, 1e150


class LocalModels:
    """M models, each with one binary machine for each pair of the classes that it saw.

    Attributes
    ----------
    class_starts : array of shape (M + 1,)
        The classes of model m stand in `classes` at `class_starts[m]` up to the next start.
    classes : array of shape (L,)
        Codes of the classes in each neighbourhood, rising.
    machines : array of shape (M + 1,)
        The machines of model m are number `machines[m]` up to the next, in the order of
        `itertools.combinations` of its classes. A model of one class has none.
    starts : array of shape (T + 1,)
        Vectors of machine t stand at `starts[t]` up to the next start.
    index : array of shape (S,)
        Their training rows.
    weight : array of shape (S,)
        Their weights beta.
    bias : array of shape (T,)
        b in f(x) = sum beta K - b.
    gammas : array of shape (M,)
        The kernel's gamma of each model.
    n_classes : int
        Classes in all.
    short : int
        How many models ran out of steps; where models were replaced, those among them too.
    """

    class_starts: NDArray[np.integer]
    classes: NDArray[np.integer]
    machines: NDArray[np.integer]
    starts: NDArray[np.integer]
    index: NDArray[np.integer]
    weight: NDArray[np.float64]
    bias: NDArray[np.float64]
    gammas: NDArray[np.floating]
    n_classes: int
    short: int

    def __init__(
        self, n_classes: int, n_local: NDArray[Any], classes: NDArray[Any], counts: NDArray[Any],
        bias: NDArray[Any], gammas: NDArray[Any], index: NDArray[Any], weight: NDArray[Any],
        short: int,
    ) -> None:  # fmt: skip
        self.n_classes, self.short = n_classes, short
        self.class_starts, self.classes = _ends(n_local), classes
        self.machines = _ends(n_local * (n_local - 1) // 2)
        self.starts, self.index, self.weight = _ends(counts), index, weight
        self.bias, self.gammas = bias, gammas

    def __len__(self) -> int:
        return len(self.gammas)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state if "machines" in state else _seen_pairs(state))

    def check(self) -> None:
        """Refuse arrays that do not fit together (ValueError)."""
        M, T, size = len(self.gammas), len(self.bias), len(self.index)
        for name, ends, length, last in (
            ("class_starts", self.class_starts, M, len(self.classes)),
            ("machines", self.machines, M, T),
            ("starts", self.starts, T, size),
        ):
            shaped(name, ends, length + 1)
            within(name, ends, 0, last + 1)
            if (np.diff(ends) < 0).any() or ends[0] != 0 or ends[-1] != last:
                raise ValueError(f"{name} does not lead from the first place to the last.")
        n_local = np.diff(self.class_starts)
        if (n_local < 1).any() or (np.diff(self.machines) != n_local * (n_local - 1) // 2).any():
            raise ValueError("machines are not one for each pair of a model's classes.")
        within("classes", self.classes, 0, self.n_classes)
        shaped("classes", self.classes, None)
        shaped("gammas", self.gammas, M)
        shaped("bias", self.bias, T)
        shaped("weight", self.weight, size)

    def sizes(self) -> NDArray[np.intp]:
        """Return how many vectors each model has, over all pairs."""
        return np.diff(self.starts[self.machines])

    def all_vectors(self, model: int) -> slice:
        """Return where the vectors of a model stand, over all pairs."""
        first, last = self.machines[model : model + 2]
        return slice(int(self.starts[first]), int(self.starts[last]))

    def vectors(self, machine: int) -> slice:
        """Return where the vectors of one machine stand in `index` and `weight`."""
        return slice(int(self.starts[machine]), int(self.starts[machine + 1]))

    def machine_of(self, model: int, first: int, second: int) -> tuple[int | None, float]:
        """Return the machine of a model for two classes, or None and what stands in for one.

        That is 1 for a class that the model saw against one that it did not, positive for the
        first (with two classes in all, for the second); 0 where it saw neither.
        """
        own = self.classes[self.class_starts[model] : self.class_starts[model + 1]].tolist()
        if first in own and second in own:
            a, b = own.index(first), own.index(second)
            before = a * (2 * len(own) - a - 1) // 2
            return int(self.machines[model]) + before + b - a - 1, 0.0
        sign = -1.0 if self.n_classes == 2 else 1.0
        return None, sign * ((first in own) - (second in own))


def stacked(parts: list[LocalModels]) -> LocalModels:
    """Return the models of several, one after the other."""
    return joined([(part, 0, len(part)) for part in parts])


def spliced(before: LocalModels, more: LocalModels, reused: NDArray[np.intp]) -> LocalModels:
    """Return some models of before, by their numbers in `reused`, and, where it is -1, more."""
    is_new = reused < 0
    number = np.where(is_new, np.cumsum(is_new) - 1, reused)
    cuts = np.flatnonzero((np.diff(number) != 1) | np.diff(is_new)) + 1
    runs = pairwise([0, *cuts.tolist(), len(number)])
    return joined([
        (more if is_new[start] else before, number[start], number[start] + stop - start)
        for start, stop in runs
    ])  # fmt: skip


def joined(runs: list[tuple[LocalModels, int, int]]) -> LocalModels:
    """Return runs of models, from one number up to another, one after the other."""
    parts = []
    for models, start, stop in runs:
        first, last = models.machines[start], models.machines[stop]
        there = slice(models.starts[first], models.starts[last])
        seen = slice(models.class_starts[start], models.class_starts[stop])
        parts.append((
            np.diff(models.class_starts[start : stop + 1]), models.classes[seen],
            np.diff(models.starts[first : last + 1]), models.bias[first:last],
            models.gammas[start:stop], models.index[there], models.weight[there],
        ))  # fmt: skip
    n_local, classes, counts, bias, gammas, index, weight = map(np.concatenate, zip(*parts))
    short = sum({id(models): models.short for models, _, _ in runs}.values())
    return LocalModels(
        runs[0][0].n_classes, n_local, classes, counts, bias, gammas, index, weight, short
    )


def _ends(counts: NDArray[Any]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def _seen_pairs(state: dict[str, Any]) -> dict[str, Any]:
    """Return the arrays of models stored by kmviz 0.2.0, which held every pair of all classes.

    A pair of which a model saw one class alone had no vectors and a bias of -1 (for the class that
    is positive) or 1; a pair of which it saw none had neither.
    """
    bias, counts = state["bias"], np.diff(state["starts"]).reshape(state["bias"].shape)
    n_classes = int((1 + np.sqrt(1 + 8 * bias.shape[1])) / 2)
    first, second = np.triu_indices(n_classes, 1)
    if n_classes == 2:
        first, second = second, first
    seen = np.zeros((len(bias), n_classes), dtype=bool)
    for sides, alone in ((first, -1.0), (second, 1.0)):
        model, pair = np.nonzero((counts > 0) | (bias == alone))
        seen[model, sides[pair]] = True
    kept = seen[:, first] & seen[:, second]
    made = LocalModels(
        n_classes, seen.sum(axis=1), np.nonzero(seen)[1].astype(np.int32), counts[kept],
        bias[kept], state["gammas"], state["index"], state["weight"], state["short"],
    )  # fmt: skip
    return made.__dict__


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
    *arrays, short = zip(*blocks, strict=True)
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
    ends, is_binary = _ends(n_local), n_classes == 2
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
        own = classes[ends[m] : ends[m + 1]]
        here = slice(done, done := done + len(own) * (len(own) - 1) // 2)
        if len(own) == 1:
            continue
        members, center = centred(plain, rows[neighbors[m]])
        K, diagonal = padded_kernel(plain, members)
        added, missed = train_given(
            neighbors[m], labels, own, is_binary, K, diagonal, C, TOLERANCE, most_steps(k),
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
    found = np.sort(labels[neighbors], axis=1)
    is_new = np.diff(found, axis=1, prepend=-1) > 0
    return is_new.sum(axis=1), found[is_new]


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
    """Return what the model that each query is given to says of all classes, (n, n_classes).

    With two classes it is f(x), (n, 1). Queries are grouped by model; each is computed as it would
    be alone.
    """
    order = np.argsort(which, kind="stable")
    which = np.ascontiguousarray(which[order], dtype=np.int32)
    sorted_out = np.empty((len(X), 1 if models.n_classes == 2 else models.n_classes))
    outputs_of = _outputs(models, which, X, order, rows, kernel)

    def work(start: int, stop: int) -> None:
        local_scores(
            which[start:stop], models.class_starts, models.classes, outputs_of(start, stop),
            sorted_out[start:stop],
        )  # fmt: skip

    chunk = int(np.clip(ENTRIES // _most_machines(models), 1, 2048))
    n_threads = min(threads.n_threads(), local_threads(n_jobs, len(X)))
    with threads.limited(n_threads if is_known(kernel) else 1):
        threads.over_chunks(work, len(X), chunk=chunk)
    out = np.empty_like(sorted_out)
    out[order] = sorted_out
    return out


def answer_one(
    models: LocalModels, model: int, x: NDArray[Any], rows: NDArray[Any], kernel: Any
) -> NDArray[np.float64]:
    """Return f(x) of every machine of one model, (machines of the model,): what `answer` reads."""
    which, order = np.array([model], dtype=np.int32), np.zeros(1, dtype=np.intp)
    first, last = models.machines[model : model + 2]
    return _outputs(models, which, x, order, rows, kernel)(0, 1)[0, : last - first]


def _most_machines(models: LocalModels) -> int:
    return max(1, int(np.diff(models.machines).max(initial=0)))


def _outputs(
    models: LocalModels, which: NDArray[np.int32], X: NDArray[Any], order: NDArray[Any],
    rows: NDArray[Any], kernel: Any,
) -> Callable[[int, int], NDArray[np.float64]]:  # fmt: skip
    """Return a function of a part of the queries: the outputs of their models' own machines."""
    room = _most_machines(models)
    if not is_known(kernel):
        return lambda start, stop: _called(
            models,
            which[start:stop],
            X[order[start:stop]],
            rows,
            kernel,
            np.zeros((stop - start, room)),
        )
    Q = np.ascontiguousarray(kernel.embed(X.astype(np.float64, copy=False))[order])
    kind, _, coef0, degree = kernel.plain.code

    def part(start: int, stop: int) -> NDArray[np.float64]:
        out = np.empty((stop - start, room))
        answers(
            kind, models.gammas, coef0, degree, Q[start:stop], which[start:stop], rows,
            models.machines, models.starts, models.index, models.weight, models.bias, out,
        )  # fmt: skip
        return out

    return part


def _called(models, which, X, rows, kernel, out) -> NDArray[np.float64]:
    """Call the kernel for exactly the values that `steps` reports."""
    bounds = np.flatnonzero(np.diff(which, prepend=-1, append=-1))
    for start, stop in pairwise(bounds):
        first, last = models.machines[which[start] : which[start] + 2]
        for machine in range(first, last):
            there = models.vectors(machine)
            values = np.asarray(kernel(X[start:stop], rows[models.index[there]]))
            out[start:stop, machine - first] = values @ models.weight[there] - models.bias[machine]
    return out
