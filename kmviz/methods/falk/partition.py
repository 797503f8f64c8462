"""The fit of a partitioned FaLK-SVM, once its rows stand in cells: cover, settle, train."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.loops.falk_cover import accept
from kmviz.methods.falk.cells import Archive
from kmviz.methods.falk.cover import equal_rows, find_cover
from kmviz.methods.falk.layout import HOME, Layout
from kmviz.methods.falk.neighbors import EuclideanIndex
from kmviz.methods.falk.training import train_models

#: What one cell writes to another about a row of its halo: the row there, its rank and its centre.
RANK = np.dtype([(name, "<i4") for name in ("row", "rank", "order", "cell", "model")])


class Partition(Layout):
    """A fit: its layout, then for each cell cover, settle and train."""

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
