"""The fitted tree: arrays over nodes, and the walk of a query through them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kmviz.kernels import is_known
from kmviz.loops.svtree import HEIGHT, ROOT, ROW, outputs_along, walk, walk_one, walk_paths
from kmviz.loops.threads import over_chunks
from kmviz.machines.soundness import shaped, within

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

#: Rows a thread takes at a time.
CHUNK = 1024

#: What makes a tree; everything else is computed from it.
FIELDS = (
    "kernel", "vectors", "bias", "sv_index", "weight", "threshold", "children_left",
    "children_right", "parent", "depth", "n_rows", "offset", "start", "coefficients", "limit",
)  # fmt: skip

#: What a node keeps when the tree is cut below it.
OF_NODES = ("sv_index", "weight", "depth", "n_rows", "offset", "start")


@dataclass(frozen=True, eq=False)
class SVTree:
    """A support vector tree (Definition 1), nodes level by level, from the left.

    Every node can be the last of a path: it keeps the coefficients of all kernel values on the
    way to it, so the same tree answers at any height. Cut at one, it is its first nodes, under
    the same numbers.

    Attributes
    ----------
    kernel : callable
    vectors : array of shape (m, d)
        The machine's vectors, then any further candidates.
    bias : float
        b of the machine; a tree without nodes answers -b.
    sv_index : array of shape (n_nodes,)
        j_N: which of the vectors node N asks.
    weight, threshold : arrays of shape (n_nodes,)
        A query goes left where score = weight * K(x, s_N) <= threshold.
    children_left, children_right : arrays of shape (n_nodes,)
        -1 where there is none. A node that asks without splitting has a left child only.
    parent : array of shape (n_nodes,)
    depth : array of shape (n_nodes,)
        Kernel values computed when the node has been asked; 1 at the root.
    n_rows : array of shape (n_nodes,)
        Training rows that reached it.
    offset : array of shape (n_nodes,)
    start : array of shape (n_nodes,)
        The output at node N is `offset[N]` plus the sum over the path, root first, of
        `coefficients[start[N] + i]` times the i-th kernel value.
    coefficients : array
    limit : float
        No output is larger than this, either way: fitted coefficients may be huge, and a query
        unlike all training rows would be answered with any number.
    """

    kernel: Any
    vectors: NDArray[Any]
    bias: float
    sv_index: Ints
    weight: Floats
    threshold: Floats
    children_left: Ints
    children_right: Ints
    parent: Ints
    depth: Ints
    n_rows: Ints
    offset: Floats
    start: Ints
    coefficients: Floats
    limit: float = np.inf

    @property
    def n_nodes(self) -> int:
        return len(self.sv_index)

    @cached_property
    def height(self) -> int:
        """Kernel values on the longest path."""
        return int(self.depth.max(initial=0))

    def run(self, X: NDArray[Any], height: int | None = None) -> tuple[Floats, Ints]:
        """Return the output and the path length of each row, the tree cut at `height`."""
        height = self._capped(height)
        if height == 0 or not is_known(self.kernel):
            nodes, values, steps = self.paths(X, height)
            return self.running(nodes, values)[:, -1], steps
        rows, plan, vectors = self._ready(X)
        output, steps = np.empty(len(rows)), np.empty(len(rows), dtype=np.intp)

        def chunk(first: int, last: int) -> None:
            part = slice(first, last)
            walk(rows[part], plan, vectors, height, output[part], steps[part])

        over_chunks(chunk, len(rows), chunk=CHUNK)
        return np.clip(output, -self.limit, self.limit, out=output), steps

    @cached_property
    def alone(self) -> Callable[[NDArray[Any]], Floats | None]:
        """Answer a query that comes alone, as a (1, d) array, in a microsecond or two.

        A function of that array: it returns its output, or None where it takes more than a glance
        to see that the row is fine or can be answered so. `run` must have met the type before.
        """
        if self.height == 0 or not is_known(self.kernel) or self.kernel.plain != self.kernel:
            return lambda row: None
        shape, plan, walked, empty = (1, self.vectors.shape[1]), self._plan, self._walked, np.empty
        limit = self.limit

        def answer(row: NDArray[Any]) -> Floats | None:
            vectors = walked.get(row.dtype)
            if vectors is None or row.shape != shape or not row.flags.carray:
                return None
            value = walk_one(row, plan, vectors)
            if value != value:
                return None
            output = empty(1)
            output[0] = value if -limit < value < limit else limit if value > 0 else -limit
            return output

        return answer

    def paths(self, X: NDArray[Any], height: int | None = None) -> tuple[Ints, Floats, Ints]:
        """Return the whole paths.

        Returns
        -------
        nodes : array of shape (n, height)
            The nodes asked, -1 past a path's end.
        values : array of shape (n, height)
            Their kernel values, 0 past a path's end.
        steps : array of shape (n,)
        """
        height = self._capped(height)
        nodes, values = np.full((len(X), height), -1, dtype=np.intp), np.zeros((len(X), height))
        steps = np.zeros(len(X), dtype=np.intp)
        if height == 0:
            return nodes, values, steps
        if not is_known(self.kernel):
            self._level_by_level(X, nodes, values)
            return nodes, values, (nodes >= 0).sum(axis=1)
        rows, plan, vectors = self._ready(X)
        walk_paths(rows, plan, vectors, height, nodes, values, steps)
        return nodes, values, steps

    def cut(self, height: int) -> SVTree:
        """Return the tree whose paths end after `height` kernel values."""
        kept = self.depth <= height
        number = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1)  # the last for no child
        left, right = number[self.children_left[kept]], number[self.children_right[kept]]
        return replace(
            self,
            **{name: getattr(self, name)[kept] for name in OF_NODES},
            threshold=np.where(left < 0, np.inf, self.threshold[kept]),
            children_left=left,
            children_right=right,
            parent=number[self.parent[kept]],
        )

    def running(self, nodes: Ints, values: Floats) -> Floats:
        """Return the outputs along paths, (n, height + 1): column k is the tree cut at height k.

        Column 0 is -b. Past its end a path keeps its last output.
        """
        outputs = np.full((len(nodes), nodes.shape[1]), -self.bias)
        nodes, values = np.ascontiguousarray(nodes), np.ascontiguousarray(values)
        outputs_along(self._plan, nodes, values, outputs)
        np.clip(outputs, -self.limit, self.limit, out=outputs)
        return np.column_stack([np.full(len(nodes), -self.bias), outputs])

    def to_frame(self) -> pd.DataFrame:
        """Return the nodes as a table."""
        import pandas as pd

        names = "parent depth n_rows sv_index weight threshold children_left children_right"
        arrays = {name: getattr(self, name) for name in names.split()}
        return pd.DataFrame(arrays).rename_axis("node")

    def _level_by_level(self, X: NDArray[Any], nodes: Ints, values: Floats) -> None:
        """Ask the kernel about the rows of each node together, and about nothing else."""
        here = np.zeros(len(X), dtype=np.intp)
        for k in range(nodes.shape[1]):
            for node in np.unique(here[here >= 0]):
                rows = np.flatnonzero(here == node)
                vector = self.vectors[self.sv_index[node]][None]
                column = np.asarray(self.kernel(X[rows], vector), dtype=np.float64)[:, 0]
                nodes[rows, k], values[rows, k] = node, column
                left = self.weight[node] * column <= self.threshold[node]
                here[rows] = np.where(left, self.children_left[node], self.children_right[node])

    def _capped(self, height: int | None) -> int:
        return self.height if height is None else min(int(height), self.height)

    def _ready(self, X: NDArray[Any]) -> tuple[NDArray[Any], Floats, NDArray[Any]]:
        """Return what a walk reads: embedded rows, the tree as one array, embedded vectors."""
        if np.ndim(X) != 2 or np.shape(X)[1] != self.vectors.shape[1]:
            raise ValueError(
                f"X must be rows of {self.vectors.shape[1]} columns, as the machine reads them; "
                f"got an array of shape {np.shape(X)}."
            )
        rows = self.kernel.embed(X)
        if not (rows.flags.c_contiguous and rows.flags.writeable):  # types compiled for
            rows = rows.copy(order="C")
        if rows.dtype not in self._walked:
            vectors = self.kernel.embed(self.vectors[self._used[0]].astype(rows.dtype))
            self._walked[rows.dtype] = np.ascontiguousarray(vectors)
        return rows, self._plan, self._walked[rows.dtype]

    @cached_property
    def _used(self) -> tuple[Ints, Ints]:
        """The vectors that some node asks, and which of these each node asks."""
        used, vector = np.unique(self.sv_index, return_inverse=True)
        return used, vector

    @cached_property
    def _plan(self) -> Floats:
        """The tree as one array, since every array that a compiled loop is given takes time."""
        coefficients = ROOT + ROW * self.n_nodes
        left, right = (
            np.where(child < 0, 0, ROOT + ROW * child)
            for child in (self.children_left, self.children_right)
        )
        nodes = np.column_stack(
            [self._used[1], left, right, self.weight, self.threshold, self.offset,
             coefficients + self.start]
        )  # fmt: skip
        code = self.kernel.code if is_known(self.kernel) else np.zeros(HEIGHT)
        head = [*code, self.height]
        return np.concatenate([head, nodes.ravel(), self.coefficients])

    @cached_property
    def _walked(self) -> dict[np.dtype, NDArray[Any]]:
        """The vectors asked, embedded, in each type that queries came in."""
        return {}

    def check(self) -> None:
        """Refuse arrays that do not fit together (ValueError): children come after their parent,
        each a level further down, so that every walk ends.
        """
        n, m = self.n_nodes, len(self.vectors)
        shaped("vectors", self.vectors, None, None)
        for name in OF_NODES + ("threshold", "children_left", "children_right", "parent"):
            shaped(name, getattr(self, name), n, finite=name != "threshold")
        shaped("coefficients", self.coefficients, None)
        within("sv_index", self.sv_index, 0, m)
        within("depth", self.depth, 1, n + 1)
        within("start", self.start, 0, len(self.coefficients) + 1)
        within("start", self.start + self.depth, 0, len(self.coefficients) + 1)
        for name in ("children_left", "children_right"):
            child = getattr(self, name)
            within(name, child, -1, n)
            on = np.flatnonzero(child >= 0)
            if (child[on] <= on).any() or (self.depth[child[on]] != self.depth[on] + 1).any():
                raise ValueError(f"{name} does not lead down the tree.")

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in FIELDS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def last_nodes(nodes: Ints, steps: Ints) -> Ints:
    """Return the node where each path of so many steps ends; -1 where it asks none."""
    if not nodes.shape[1]:
        return np.full(len(nodes), -1, dtype=np.intp)
    return np.where(steps > 0, nodes[np.arange(len(nodes)), steps - 1], -1)
