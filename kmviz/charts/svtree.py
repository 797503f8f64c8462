"""Support vector trees: the tree itself, with the query's path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kmviz.charts import theme
from kmviz.charts.chart import Axis, Chart, Line, Points
from kmviz.traces import TreeTrace

#: So many nodes are drawn small.
_MANY = 400


def tree_path(nodes: pd.DataFrame, trace: TreeTrace, heights: Sequence[int]) -> Chart:
    """Return the whole tree by height: what lies below it faint, the query's path lit.

    Parameters
    ----------
    nodes : `SVTree.to_frame()`
    """
    x, depth = places(nodes), nodes["depth"].to_numpy()
    path = [trace.node[1 : height + 1] for height in heights]
    edges_x, edges_y = _edges(nodes["parent"].to_numpy(), x, -depth)
    return Chart(
        key="tree_path",
        alt="The tree, root at the top, with the query's path lit.",
        title="The tree, and the query's path",
        x=Axis(hidden=True),
        y=Axis(hidden=True),
        layers=[
            Line(x=edges_x, y=edges_y, color=theme.FAINT),
            Line(x=[x[p] for p in path], y=[-depth[p] for p in path], width=5.0,
                 color=theme.QUERY, name="path of the query"),
            Points(
                x=x, y=-depth, group=(depth <= np.array(heights)[:, None]).astype(np.uint8),
                names=("cut off", "node"), colors=(theme.FAINT, theme.INK), symbols=("circle",),
                size=6.0 if len(nodes) < _MANY else 4.0, id=nodes.index.to_numpy(), linked=False,
                text=[f"node {k}: {n:,} training rows" for k, n in nodes["n_rows"].items()],
            ),
        ],
    )  # fmt: skip


def places(nodes: pd.DataFrame) -> NDArray[np.float64]:
    """Return where nodes stand: leaves side by side, others above the middle of their children."""
    children: dict[int, list[int]] = {node: [] for node in nodes.index}
    for node, parent in nodes["parent"].items():
        if parent >= 0:
            children[parent].append(node)
    x: dict[int, float] = {}
    leaves = 0
    waiting = [nodes.index[0]]
    while waiting:  # from the left: a node is placed once its children are
        node = waiting[-1]
        left_to_place = [child for child in children[node] if child not in x]
        if left_to_place:
            waiting += reversed(left_to_place)
            continue
        below = [x[child] for child in children[node]]
        x[waiting.pop()] = float(np.mean(below)) if below else leaves
        leaves += not below
    return np.array([x[node] for node in nodes.index])


def _edges(parent: NDArray, x: NDArray, y: NDArray) -> tuple[Any, Any]:
    """Return lines from parents to nodes, broken between one and the next."""
    nodes = np.flatnonzero(parent >= 0)
    gap = np.full(len(nodes), np.nan)
    ends = [np.column_stack([a[parent[nodes]], a[nodes], gap]).ravel() for a in (x, y)]
    return ends[0], ends[1]
