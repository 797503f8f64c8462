"""An order of its own for each region of the input space: beyond the paper, and as certain.

The paper tunes one order on a sample of queries (eq. 26). Here k-means cuts the rows that stand for
queries into cells, each cell's rows tune an order, and a query takes the order of the nearest
centre. Any order's bounds hold for any query, so no certificate depends on the cells.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from kmviz.machines import KernelMachine
from kmviz.machines.soundness import shaped
from kmviz.methods.anytime.bounds import Bounds, Floats, Ints, Steps
from kmviz.methods.anytime.cholesky import CholeskyEngine
from kmviz.traces import AnytimeTrace


class ClusteredEngine(Bounds):
    """Bounds from the order of the cell that a query falls in.

    Attributes
    ----------
    centers : array of shape (cells, d)
    engines : list of CholeskyEngine
        One for each cell.
    """

    centers: Floats
    engines: list[CholeskyEngine]

    def __init__(
        self, machine: KernelMachine, centers: Floats, engines: list[CholeskyEngine]
    ) -> None:
        self.machine, self.centers, self.engines = machine, centers, engines
        self.self_cost = engines[0].self_cost
        self.share = engines[0].share

    def check(self) -> None:
        """Refuse arrays that do not fit together (ValueError)."""
        shaped("centers", self.centers, len(self.engines), None)

    @property
    def n_steps(self) -> int:
        """K, the size of the largest basis."""
        return max(engine.n_steps for engine in self.engines)

    @property
    def missing(self) -> Ints:
        """The most, over cells, that the exact sum wants beside what is known."""
        each = [_padded(engine.missing[None], self.n_steps + 1)[0] for engine in self.engines]
        return np.max(each, axis=0)

    @property
    def overhead(self) -> float:
        """The triangular system on average, and a distance for each centre."""
        rows = [len(engine.stops) for engine in self.engines]
        system = sum(n * engine.overhead for n, engine in zip(rows, self.engines, strict=True))
        return system / max(sum(rows), 1) + len(self.centers)

    def usual(self, X: NDArray[Any]) -> ClusteredEngine:
        """Return a copy that knows where the rows X, which stand for queries, stop."""
        known = copy(self)
        cells = self.cells(X)
        known.engines = [e.usual(X[cells == c]) for c, e in enumerate(self.engines)]
        return known

    def cut(self, n_steps: int) -> ClusteredEngine:
        """Return the engine that gives up after `n_steps`."""
        short = copy(self)
        short.engines = [engine.cut(n_steps) for engine in self.engines]
        return short

    def cells(self, X: NDArray[Any]) -> Ints:
        """Return the cell of each row: that of the nearest centre."""
        rows = X.astype(np.float64, copy=False)
        squares = np.einsum("ij,ij->i", self.centers, self.centers)
        return np.array([(squares - 2.0 * (self.centers @ x)).argmin() for x in rows], np.intp)

    def run(self, X: NDArray[Any]) -> tuple[Floats, Ints]:
        """Answer each row: f_k where the sign is certain, else the exact sum."""
        output, steps = np.empty(len(X)), np.empty(len(X), dtype=np.intp)
        for rows, engine in self._parts(X):
            output[rows], steps[rows] = engine.run(X[rows])
        return output, steps

    def records(self, X: NDArray[Any]) -> Steps:
        """Return what each row would come to after every number of steps."""
        arrays: dict[str, Any] = {}
        for rows, engine in self._parts(X):
            for name, found in vars(engine.records(X[rows])).items():
                wide = _padded(found, self.n_steps + 1) if found.ndim == 2 else found
                if name not in arrays:
                    arrays[name] = np.empty((len(X), *wide.shape[1:]), dtype=wide.dtype)
                arrays[name][rows] = wide
        return Steps(**arrays)

    def trace(self, x: NDArray[Any]) -> AnytimeTrace:
        """Record one query over all steps of its cell's basis."""
        return self.engines[self.cells(x[None])[0]].trace(x)

    def _parts(self, X: NDArray[Any]) -> list[tuple[Ints, CholeskyEngine]]:
        """The rows of each cell that has some, and its engine."""
        cells = self.cells(X)
        return [(np.flatnonzero(cells == c), self.engines[c]) for c in np.unique(cells)]

    def _read(self, X: NDArray[Any], count: int) -> dict[str, Floats]:
        arrays: dict[str, Any] = {}
        for rows, engine in self._parts(X):
            for name, found in engine._read(X[rows], min(count, engine.n_steps)).items():
                wide = _padded(found, count + 1)
                arrays.setdefault(name, np.empty((len(X), count + 1)))[rows] = wide
        return arrays


def cells_of(X: NDArray[Any], n_clusters: int, rng: Any) -> tuple[Floats, Ints]:
    """Return the centres of k-means cells, none of them empty, and each row's cell."""
    rows = np.asarray(X, dtype=np.float64)
    n_clusters = min(n_clusters, len(np.unique(rows, axis=0)))
    found = KMeans(n_clusters, n_init=1, random_state=rng).fit(rows)
    return found.cluster_centers_, found.labels_


def _padded(array: NDArray[Any], width: int) -> NDArray[Any]:
    """Repeat the last column up to a width."""
    return np.pad(array, ((0, 0), (0, width - array.shape[1])), "edge")
