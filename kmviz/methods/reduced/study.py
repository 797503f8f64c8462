"""The path of a reduced set, read again: every size, and both thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kmviz.methods.study import Study, Values
from kmviz.traces import ReducedReading

THRESHOLDS = ("machine", "bayes")


class ReducedStudy(Study):
    """Choices `n_vectors`, from 1 to as many as were found, and `threshold`.

    Where a share of each machine was found, that is as many as for the smallest of them.

    A classifier fitted with `every_size=True` is, at every size, what a fresh fit with that
    `n_vectors` gives, to the bit. Without it a fresh fit with another `n_vectors` spends all its
    time on that number of vectors, and comes nearer than the reading, whose vectors were only a
    start for the larger set.

    A stored classifier keeps no path, nor the rows that find a threshold: studied after loading
    it reads its own choice alone. So do shared vectors (`shared=True`), which only their own number
    was moved for.
    """

    def __init__(self, fitted: Any, X: ArrayLike) -> None:
        super().__init__(fitted, X)
        self._made: dict[tuple[Any, str], Any] = {}

    @property
    def readings(self) -> Mapping[str, Values]:
        own = self.fitted
        if own.vectors_ is not None or any(engine.path is None for engine in own.engines_):
            return {"n_vectors": (own.n_vectors,), "threshold": (own.threshold,)}
        sizes = [engine.path.n_vectors for engine in own.engines_]
        last = max(sizes) if isinstance(own.n_vectors, Integral) else min(sizes)
        return {"n_vectors": range(1, last + 1), "threshold": THRESHOLDS}

    def _classifier(self, **choice: Any) -> Any:
        key = (choice["n_vectors"], choice["threshold"])
        if choice == self.choice:
            return self.fitted
        if key not in self._made:
            self._made[key] = self.fitted.resized(**choice)
        return self._made[key]

    def _read(self, **choice: Any) -> ReducedReading:
        fitted = self._classifier(**choice)
        outputs, steps = fitted._answers(self.X)
        machines = fitted.machines_
        if fitted.vectors_ is not None:
            vectors = fitted.vectors_
            weights = np.array([machine.beta for machine in machines])
        else:
            vectors = np.vstack([machine.vectors for machine in machines])
            weights = np.concatenate([machine.beta for machine in machines])
        bias = np.array([machine.bias for machine in machines])
        is_pair = len(fitted.classes_) == 2
        return ReducedReading(
            **self._common(outputs, steps, fitted.overhead_),
            vectors=vectors,
            weights=weights,
            rho=fitted.rho_,
            bias=float(bias[0]) if is_pair else bias,
        )
