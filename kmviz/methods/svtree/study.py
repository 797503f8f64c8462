"""A support vector tree read at every height: one walk through the whole tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kmviz.methods.study import Study, Values
from kmviz.methods.svtree.tree import last_nodes
from kmviz.traces import TreeReading


class TreeStudy(Study):
    """The rows X under every `max_height`.

    A row's path under a lower height is the beginning of its whole path: all heights are read
    from one walk. A fresh fit with that `max_height` grows the same nodes, save where the height
    decides how the tree is grown: a `stem` is a share of it, `max_mean` takes back other splits
    of a lower tree, and `split="balanced"` finds the best tree of that very height.
    """

    def __init__(self, fitted: Any, X: Any) -> None:
        super().__init__(fitted, X)
        rows = fitted._rows(X)
        walks = [tree.paths(rows) for tree in fitted.trees_]
        self._nodes = [nodes for nodes, _, _ in walks]
        self._steps = [steps for _, _, steps in walks]
        trees = zip(fitted.trees_, walks, strict=True)
        self._outputs = [tree.running(nodes, values) for tree, (nodes, values, _) in trees]

    @property
    def readings(self) -> Mapping[str, Values]:
        """`max_height`, from 1 to the height of the tree, or of the highest."""
        height = max(nodes.shape[1] for nodes in self._nodes)
        return {"max_height": range(1, max(height, 1) + 1)}

    def _read(self, max_height: int | None) -> TreeReading:
        limit = self.readings["max_height"][-1] if max_height is None else int(max_height)
        steps = [np.minimum(steps, limit) for steps in self._steps]
        outputs = [outputs[:, min(limit, outputs.shape[1] - 1)] for outputs in self._outputs]
        ends = [last_nodes(*walk) for walk in zip(self._nodes, steps, strict=True)]
        paths = np.full((len(ends), len(ends[0]), limit), -1, dtype=np.intp)
        for path, nodes in zip(paths, self._nodes, strict=True):
            path[:, : nodes.shape[1]] = nodes[:, :limit]
        one = len(ends) == 1
        return TreeReading(
            **self._common(
                self.fitted.rule_.scores(np.column_stack(outputs)), np.sum(steps, axis=0),
                self.fitted.overhead_,
            ),
            leaf=ends[0] if one else np.column_stack(ends),
            path=paths[0] if one else paths.swapaxes(0, 1),
        )  # fmt: skip

    def _classifier(self, max_height: int | None) -> Any:
        if max_height is None or max_height == self.fitted.max_height:
            return self.fitted
        return self.fitted.cut(int(max_height))
