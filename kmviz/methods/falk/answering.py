"""Answers of local SVMs: each query by the models that it is given to."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.kernels import is_known
from kmviz.loops import threads
from kmviz.loops.falk_answer import answers, local_scores
from kmviz.methods.falk.models import LocalModels
from kmviz.methods.falk.neighbors import search_threads

#: Outputs of machines that are held at a time, for each thread.
ENTRIES = 1 << 20


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
    with threads.limited(search_threads(n_jobs, len(X)) if is_known(kernel) else 1):
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
