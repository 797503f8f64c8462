"""Where the rows of a partitioned FaLK-SVM go: boxes from a sample, cells, halos.

Every step after the scattering works on one cell at a time and leaves what it found in the folder
of the fit, so that cells may be worked on by other processes that see the same folder.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
from joblib import delayed, parallel_config
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from kmviz.methods.falk.boxes import Boxes, Reach
from kmviz.methods.falk.cells import Scratch
from kmviz.methods.falk.classifier import FaLKClassifier
from kmviz.methods.falk.cluster import local_threads, on_cluster, results
from kmviz.methods.falk.local import resolve_kernel
from kmviz.methods.falk.neighbors import EuclideanIndex
from kmviz.methods.falk.selection import (
    best_row,
    choose_parameters,
    inner_of,
    judges_of,
    sizes_for,
)
from kmviz.methods.falk.sources import DaskSource, Source, over_blocks
from kmviz.methods.falk.survey import Survey, largest_key, scattered, surveyed
from kmviz.methods.falk.training import LOCAL, is_radial, scaled, unit_of, width_of
from kmviz.methods.progress import part, report

#: Rows of a cell that tell how far its halo reaches, in as many pieces of the cell, each with a
#: reach of its own; and how many rows of a long cell one may stand for when it is told.
ASKED, PIECES, THINNED = 4_000, 64, 8
#: Bytes that a row of a cell takes while it is trained: its coordinates three times, the search
#: tree's share, ranks and neighbour lists.
ROW, COORDINATE = 200, 24
#: Rows of a cell, in neighbourhoods: smaller cells would be mostly halo.
FEWEST = 20

#: Where a row of a halo is at home.
HOME = np.dtype([("cell", "<i4"), ("row", "<i4")])


class Layout:
    """Survey the rows, scatter them to cells, choose what is to be chosen, reach into halos."""

    def __init__(
        self, local: FaLKClassifier, source: Source | DaskSource, scratch: Scratch, memory: int
    ) -> None:
        self.local, self.source, self.scratch, self.memory = local, source, scratch, memory
        self.seed = int(check_random_state(local.random_state).randint(np.iinfo(np.int32).max))
        self.n_jobs = local_threads(local.n_jobs)
        with part(0.0, 0.2):
            self._survey()
        with part(0.2, 0.4):
            self._scatter()
        self._choose()
        with part(0.4, 0.5):
            self._halos()

    def _survey(self) -> None:
        """Count the rows, learn classes, spread and width, and draw a sample."""
        found, most = Survey(), 1.0
        if isinstance(self.source, DaskSource):  # what cannot be in the sample stays where it is
            most = largest_key(sum(self.source.lengths))
        for some in over_blocks(self.source, surveyed, lambda start, *_: (self.seed, start, most)):
            found.add(some)
            report(0.5, f"{found.n:,} rows counted")
        if found.classes is None or len(found.classes) < 2:
            raise ValueError("y holds one class only; a classifier needs at least two classes.")
        n, d, self.classes = found.n, found.sample.shape[1], found.classes
        self.n, self.d = n, d
        width = width_of(np.stack([found.low, found.high]))
        mean = found.sums / (n * d)
        spread = found.squares / (n * d) - mean**2
        scale = {"scale": 1.0 / (d * spread) if spread > 0 else 1.0, "auto": 1.0 / d}
        gamma = scale.get(str(self.local.gamma), self.local.gamma)
        self.kernel, self.gamma = resolve_kernel(self.local.kernel, gamma, found.sample)
        self.unit = unit_of(width, self.kernel)
        self.C, self.percentile = float(self.local.C), float(self.local.percentile)
        k = self.local.n_neighbors
        self.tried = sizes_for(k, n) if self.local.tune or k == "auto" else [min(int(k), n)]
        self.k = self.tried[-1]
        room = max(int(self.memory / (ROW + COORDINATE * d)), FEWEST * self.k)
        self.boxes = Boxes(found.sample, max(1, -(-n // room)))

    def _scatter(self) -> None:
        """Write every row to its cell, with its class and its place in the random order."""
        order = np.empty(self.n, dtype=np.int32)
        visited = np.random.default_rng(self.seed).permutation(np.arange(self.n, dtype=np.int32))
        order[visited] = np.arange(self.n, dtype=np.int32)  # as `FaLKClassifier` visits them
        del visited
        self.sizes, start = np.zeros(len(self.boxes), dtype=np.intp), 0
        rest = self.boxes, self.classes, self.scratch

        def given(first: int, stop: int, number: int | None) -> tuple[Any, ...]:
            return order[first:stop], *rest, number

        for sizes in over_blocks(self.source, scattered, given):
            self.sizes += sizes
            start += int(sizes.sum())
            report(start / self.n, f"{start:,} rows written to {len(self.boxes)} cells")
        if start != self.n:
            raise ValueError(f"X had {self.n:,} rows at first and {start:,} when read again.")

    def _choose(self) -> None:
        """Settle k, k', C and the width, with `tune` by some neighbourhoods of every cell."""
        if self.local.tune or self.local.n_neighbors == "auto":
            found = sorted(chain(*self._each("judges", 0.4, 0.4)), key=lambda judge: judge[0])
            if is_radial(self.kernel):
                self.gamma = LOCAL
            tried = choose_parameters(
                lambda m, k: [(X[:k], y[:k]) for at, X, y in found if at < m and len(X) >= k],
                self.n, self.kernel, self.tried, self.local.n_cover, self.local.n_jobs,
            )  # fmt: skip
            best = best_row(tried)
            self.k, self.C = int(best["n_neighbors"]), float(best["C"])
            self.percentile = float(best["percentile"])
        self.n_cover = self.n if self.k == self.n else inner_of(self.k, self.local.n_cover)

    def judges(self, cell: int) -> list[tuple[int, NDArray[Any], NDArray[np.int32]]]:
        """Return the neighbourhoods within a cell that choose: place in the order, rows, classes.

        Those of the first rows in the random order, as `FaLKClassifier` takes them: few are wide.
        """
        order, rows = self.scratch.read(cell, "order", np.int32), self._own(cell)
        labels = self.scratch.read(cell, "labels", np.int32)
        many = [judges_of(self.n, k, self.local.n_cover) for k in self.tried]
        index, found = EuclideanIndex(rows), []
        for row in np.flatnonzero(order < max(many)):
            k = max(k for k, m in zip(self.tried, many) if order[row] < m)
            near = index.query(rows[[row]], min(k, len(rows)))[0]
            found.append((int(order[row]), scaled(rows[near], self.unit), labels[near]))
        return found

    def _own(self, cell: int) -> NDArray[np.float32]:
        return self.scratch.read(cell, "rows", np.float32, self.d)

    def _halos(self) -> None:
        """Write rows near a box to its halo, as far as its neighbourhoods reach."""
        n_cells = len(self.boxes)
        self.reaches = []
        for cell in range(n_cells if n_cells > 1 else 0):
            self.reaches.append(self._reach(cell))
            report(0.5 * cell / n_cells, f"how far cell {cell + 1} of {n_cells} reaches")
        for home in range(n_cells):
            rows = self._own(home)
            for cell, reaches in enumerate(self.reaches):
                if cell == home or self.boxes.gap(home, cell) > reaches[0].reach[0]:
                    continue
                there = np.arange(len(rows))
                for reach in reaches:
                    there = there[reach.holds(rows[there])]
                where = np.empty(len(there), dtype=HOME)
                where["cell"], where["row"] = home, there
                self.scratch.append(cell, "halo_rows", rows[there])
                self.scratch.append(cell, "halo_home", where)
                for name in ("labels", "order"):
                    values = self.scratch.read(home, name, np.int32)[there]
                    self.scratch.append(cell, f"halo_{name}", values)
            report(0.5 + 0.5 * home / n_cells, f"halos around cell {home + 1} of {n_cells}")

    def _reach(self, cell: int) -> list[Reach]:
        """Tell from some rows of a cell how far neighbourhoods that leave it reach.

        Out of the cell, which is less where they are wide, in many dimensions; and out of each of
        its pieces, which is less where some places are thinly populated. A halo is in both.
        """
        rows = self._own(cell)
        times = max(1, len(rows) // ASKED)
        some, thinned = rows[::times], min(times, THINNED)
        thin = rows[::thinned]
        k = min(-(-self.k // thinned), len(thin))
        farthest = EuclideanIndex(thin).query(some, k, self.n_jobs)[:, -1]
        radius = np.linalg.norm(thin[farthest] - some, axis=1)
        leaves = radius > self.boxes.inside(some, cell)
        pieces = [self.boxes.part(cell, some, n) for n in (1, PIECES)]
        return [Reach(divided, some[leaves], radius[leaves]) for divided in pieces]

    def _all(self, cell: int, name: str, *shape: int) -> NDArray[Any]:
        """Return an array of a cell's rows and, behind them, of its halo's."""
        dtype = np.float32 if name == "rows" else np.int32
        own, halo = (
            self.scratch.read(cell, prefix + name, dtype, *shape) for prefix in ("", "halo_")
        )
        return np.concatenate([own, halo])

    def _each(self, work: str, start: float, stop: float) -> Iterator[Any]:
        """Do one piece of work for every cell: here in turn, or each on a worker of a cluster.

        On a cluster the folder must be one that every worker sees. A worker reads its cell and the
        halo from there; nothing but the number of a cell is sent.
        """
        n_cells = len(self.boxes)
        if on_cluster():
            calls = [delayed(work_on)(self, work, cell) for cell in range(n_cells)]
            for done, result in enumerate(results(calls, (), self.local.n_jobs)):
                report(start + (stop - start) * done / n_cells, f"{work}: {done + 1} of {n_cells}")
                yield result
            return
        width = (stop - start) / n_cells
        for cell in range(n_cells):
            with part(start + cell * width, start + (cell + 1) * width, f"cell {cell + 1}"):
                yield getattr(self, work)(cell)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "source"}


def work_on(layout: Layout, work: str, cell: int) -> Any:
    """Do one piece of work for one cell: a plain function that any worker can import."""
    with parallel_config("sequential"):
        return getattr(layout, work)(cell)
