"""Local SVMs in flat arrays: no Python object a model."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.machines.soundness import shaped, within


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
        self.class_starts, self.classes = ends_of(n_local), classes
        self.machines = ends_of(n_local * (n_local - 1) // 2)
        self.starts, self.index, self.weight = ends_of(counts), index, weight
        self.bias, self.gammas = bias, gammas

    def __len__(self) -> int:
        return len(self.gammas)

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
        seen = self.classes[self.class_starts[model] : self.class_starts[model + 1]].tolist()
        if first in seen and second in seen:
            a, b = seen.index(first), seen.index(second)
            before = a * (2 * len(seen) - a - 1) // 2
            return int(self.machines[model]) + before + b - a - 1, 0.0
        sign = -1.0 if self.n_classes == 2 else 1.0
        return None, sign * ((first in seen) - (second in seen))


def stacked(parts: list[LocalModels]) -> LocalModels:
    """Return the models of several, in order."""
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


def ends_of(counts: NDArray[Any]) -> NDArray[np.int64]:
    """Return where parts of these sizes begin, one after the other, and where the last ends."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
