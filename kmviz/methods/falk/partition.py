"""The fit of a partitioned FaLK-SVM: survey the rows, scatter them to cells, cover, settle, train.

Every step after the scattering works on one cell at a time and leaves what it found in the folder
of the fit, so that cells may be worked on by other processes that see the same folder.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from joblib import delayed, parallel_config
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from kmviz.loops.falk_cover import accept
from kmviz.methods.falk.boxes import Boxes, Reach
from kmviz.methods.falk.cells import Archive, Scratch
from kmviz.methods.falk.classifier import FaLKClassifier
from kmviz.methods.falk.cluster import local_threads, on_cluster, results
from kmviz.methods.falk.cover import equal_rows, find_cover
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
from kmviz.methods.falk.training import (
    LOCAL,
    is_radial,
    scaled,
    train_models,
    unit_of,
    width_of,
)
from kmviz.methods.progress import part, report

#: Rows of a cell that tell how far its halo reaches, in as many pieces of the cell, each with a
#: reach of its own; and how many rows of a long cell one may stand for when it is told.
ASKED, PIECES, THINNED = 4_000, 64, 8
#: Bytes that a row of a cell takes while it is trained: its coordinates three times, the search
#: tree's share, ranks and neighbour lists.
ROW, COORDINATE = 200, 24
#: Rows of a cell, in neighbourhoods: smaller cells would be mostly halo.
FEWEST = 20

#: What one cell writes to another about a row of its halo: the row there, its rank and its centre.
RANK = np.dtype([(name, "<i4") for name in ("row", "rank", "order", "cell", "model")])
#: Where a row of a halo is at home.
HOME = np.dtype([("cell", "<i4"), ("row", "<i4")])


class Partition:
    """A fit: survey the rows, scatter them to cells, reach into halos, cover, settle, train."""

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

    def write(self, archive: Archive) -> None:
        """Cover all cells, settle who owns which row, train each and write it."""
        n_cells = len(self.boxes)
        inexact = sum(self._each("cover", 0.5, 0.7))
        n_models = sum(self._each("settle", 0.7, 0.75))
        halos = [len(self.scratch.read(cell, "halo_home", HOME)) for cell in range(n_cells)]
        archive.write_about(
            {
                "rows": self.n, "models": n_models, "halo": sum(halos), "inexact": inexact,
                "kernel": self.local.kernel, "n_jobs": self.local.n_jobs, "n_neighbors": self.k,
                "n_cover": self.n_cover, "C": self.C, "percentile": self.percentile,
            },
            self.boxes, self.classes,
        )  # fmt: skip
        for trained in self._each("train", 0.75, 1.0):
            archive.adopt(trained)

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
            with part(start + cell * width, start + (cell + 1) * width, f"cell {cell + 1}: "):
                yield getattr(self, work)(cell)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "source"}

    def cover(self, cell: int) -> int:
        """Choose a cell's centres; tell other cells what ranks their rows have among them.

        Returns how many may lack a neighbour.

        Rows of the halo are visited too, in their turn, so that they cover what their own cell
        will have them cover; centres among them are left to that cell.
        """
        n = int(self.sizes[cell])
        rows, order = self._all(cell, "rows", self.d), self._all(cell, "order")
        index = EuclideanIndex(rows)
        k = min(self.k, len(rows))
        n_cover = min(self.n_cover, k)
        group = equal_rows(rows)
        cover = find_cover(rows, index, np.argsort(order), k, n_cover, self.n_jobs, group)
        own = cover.centers < n
        centers, neighbors = cover.centers[own], np.ascontiguousarray(cover.neighbors[own])
        rank, center_of = np.full((2, len(rows)), -1, dtype=np.int32)
        accept(
            centers, neighbors, n_cover, group, rank, center_of, 0, np.empty(len(centers), np.bool_)
        )
        rank, center_of = rank[group], center_of[group]
        self.scratch.put(cell, "centers", centers.astype(np.int32))
        self.scratch.put(cell, "neighbors", neighbors)
        known = np.flatnonzero(rank >= 0)
        said = np.empty(len(known), dtype=RANK)
        said["rank"], said["cell"], said["model"] = rank[known], cell, center_of[known]
        said["order"] = order[centers[center_of[known]]]
        home = self._homes(cell, n)[known]
        said["row"] = home["row"]
        for other in np.unique(home["cell"]):
            self.scratch.put(other, f"said_{cell}", said[home["cell"] == other])
        return self._inexact(cell, rows[centers], rows[neighbors[:, -1]])

    def _homes(self, cell: int, n: int) -> NDArray[Any]:
        """Return where each row of a cell and its halo is at home."""
        own = np.empty(n, dtype=HOME)
        own["cell"], own["row"] = cell, np.arange(n)
        return np.concatenate([own, self.scratch.read(cell, "halo_home", HOME)])

    def _inexact(self, cell: int, centers: NDArray[Any], farthest: NDArray[Any]) -> int:
        """Count centres whose farthest neighbour is farther than what is known around the box."""
        if len(self.boxes) == 1:
            return 0
        radius = np.linalg.norm(farthest - centers, axis=1)
        around = np.minimum(*[reach.around(centers) for reach in self.reaches[cell]])
        return int(np.sum(radius > np.maximum(self.boxes.inside(centers, cell), around)))

    def settle(self, cell: int) -> int:
        """Give each row of a cell the centre of lowest rank (eq. 11); returns its models.

        Rows that no cell covers, for each left them to the other, become centres in their turn.
        """
        n = int(self.sizes[cell])
        owner_cell, owner_model, rank, order = np.full((4, n), -1, dtype=np.int32)
        for other in range(len(self.boxes)):
            said = self.scratch.read(cell, f"said_{other}", RANK)
            before, turn = rank[said["row"]], order[said["row"]]
            is_first = (before < 0) | (said["rank"] < before)
            said = said[is_first | ((said["rank"] == before) & (said["order"] < turn))]
            for array, name in (
                (rank, "rank"), (order, "order"), (owner_cell, "cell"), (owner_model, "model")
            ):  # fmt: skip
                array[said["row"]] = said[name]
        n_models = len(self.scratch.read(cell, "centers", np.int32))
        left = np.flatnonzero(rank < 0)
        if len(left):
            n_models = self._add_centers(cell, left, rank, owner_cell, owner_model, n_models)
        self.scratch.put(cell, "owner_cell", owner_cell)
        self.scratch.put(cell, "owner_model", owner_model)
        return n_models

    def _add_centers(self, cell, left, rank, owner_cell, owner_model, n_models) -> int:
        rows, order = self._all(cell, "rows", self.d), self._all(cell, "order")
        index, k = EuclideanIndex(rows), min(self.k, len(rows))
        left = left[np.argsort(order[left])].astype(np.int32)
        ranks = np.concatenate([rank, np.zeros(len(rows) - len(rank), dtype=np.int32)])
        center_of = np.full(len(rows), -1, dtype=np.int32)
        kept = np.empty(len(left), dtype=np.bool_)
        neighbors = index.query(rows[left], k, self.n_jobs)
        group = np.arange(len(rows), dtype=np.int32)
        n_models = accept(
            left, neighbors, min(self.n_cover, k), group, ranks, center_of, n_models, kept
        )
        new = np.flatnonzero(center_of[: len(rank)] >= 0)
        owner_cell[new], owner_model[new] = cell, center_of[new]
        self.scratch.put(cell, "more_neighbors", neighbors[kept])
        return n_models

    def train(self, cell: int) -> Path:
        """Train a cell's local SVMs; returns the file that holds the cell."""
        rows, labels = self._all(cell, "rows", self.d), self._all(cell, "labels")
        k = min(self.k, len(rows))
        neighbors = np.concatenate([
            self.scratch.read(cell, name, np.int32, k) for name in ("neighbors", "more_neighbors")
        ])  # fmt: skip
        models = train_models(
            rows, labels, len(self.classes), neighbors, self.kernel, self.gamma,
            self.percentile, self.C, self.local.n_jobs, self.unit,
        )  # fmt: skip
        home = self.scratch.read(cell, "halo_home", HOME)
        owners = {}
        for name in ("owner_cell", "owner_model"):
            halo = np.empty(len(home), dtype=np.int32)
            for other in np.unique(home["cell"]):
                there = home["cell"] == other
                halo[there] = self.scratch.rows(other, name, np.int32, home["row"][there])
            owners[name] = np.concatenate([self.scratch.read(cell, name, np.int32), halo])
        place = self.scratch.folder / f"{cell}.cell"
        place.unlink(missing_ok=True)
        Archive(place).write_cell(cell, {"rows": rows, **owners}, models)
        return place


def work_on(partition: Partition, work: str, cell: int) -> Any:
    """Do one piece of work for one cell: a plain function that any worker can import."""
    with parallel_config("sequential"):
        return getattr(partition, work)(cell)
