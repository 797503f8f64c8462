"""Support vector trees: the partition, the tree with the query's path, every height's accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kmviz.charts import geometry, theme
from kmviz.charts.chart import Axis, Chart, Heat, Images, Line, Points, Regions, Rule, marks, xy
from kmviz.charts.maps import axes, boundary_line, queries_of
from kmviz.charts.plane import Plane, thinned

#: Outputs beyond it are drawn alike: no sign is in doubt there, and a leaf's may be huge.
STRONG = 1.5
#: So many nodes are drawn small; queries and training rows drawn on a map at most.
_MANY, _QUERIES, _ROWS = 400, 60, 1500
_ALT = "The tree's answer over the plane, its leaves, and the support vectors on the query's path."


def tree_map(
    plane: Plane,
    grid: tuple[NDArray, NDArray],
    leaves: NDArray,
    outputs: NDArray,
    inside: NDArray,
    asked: Sequence[NDArray],
    nodes: pd.DataFrame,
    name: str,
    query: int,
) -> Chart:
    """Return the plane by class and strength, by height, with the borders of leaves.

    Parameters
    ----------
    grid : its two axes
    leaves, outputs, inside : the leaf of each cell, what the tree says there, and whether a node
        has it, (heights, rows, columns)
    asked : the vectors on the query's path, (k, 2) at each height
    nodes : `SVTree.to_frame()`
    name : of the node
    """
    x, y = grid
    own = [geometry.contour(output, x, y) for output in outputs]
    between, around = (
        xy([geometry.borders(labels, x, y) for labels in every]) for every in (leaves, inside)
    )
    look: dict[str, Any] = {"scale": "diverging", "range": (-STRONG, STRONG), "opacity": 0.8}
    return Chart(
        key="tree_map",
        alt=_ALT,
        title="The tree's answer",
        layers=[
            Heat(values=np.clip(outputs, -STRONG, STRONG), x=x, y=y, title="output", **look),
            Line(**between, width=1.5, opacity=0.25),
            *boundary_line(plane),
            Line(**xy(own), name="the tree's boundary", color=theme.COLORS[3], dashed=True),
            Line(**around, width=2.5, color=theme.QUERY, name=name),
            Regions(owner=leaves, x=x, y=y, text=_words(nodes)),
            queries_of(plane, query, _QUERIES),
            _asked(asked),
        ],
        **axes(plane),
    )


def tree_points(
    plane: Plane,
    leaves: NDArray,
    outputs: NDArray,
    inside: NDArray,
    asked: Sequence[NDArray],
    nodes: pd.DataFrame,
    name: str,
    query: int,
) -> Chart:
    """Return the training rows of a projection, coloured by the tree's answer, by height.

    Parameters
    ----------
    leaves, outputs, inside : as those of `tree_map`, (heights, training rows)
    """
    rows = thinned(len(plane.points), _ROWS)
    spots = plane.points[rows].astype(np.float32)
    strength = np.clip((outputs[:, rows] / STRONG + 1) * 5, 0, 9).astype(np.uint8)
    side = 10 * (plane.labels[rows] > 0).astype(np.uint8)
    words = _words(nodes)
    rings = [np.flatnonzero(part) for part in inside[:, rows]]
    return Chart(
        key="tree_map", alt=_ALT, title=f"Colour: the tree's answer. {plane.title or ''}",
        layers=[
            Points(**xy(spots), group=strength + side, names=("",) * 20, colors=theme.DIVERGING,
                   symbols=(theme.SYMBOLS[0],) * 10 + (theme.SYMBOLS[1],) * 10, opacity=1.0,
                   text=[[words[k] for k in leaf] for leaf in leaves[:, rows]]),
            marks([spots[k] for k in rings], name, theme.QUERY, "ring", size=12),
            queries_of(plane, query, _QUERIES),
            _asked(asked),
        ],
        **axes(plane),
    )  # fmt: skip


def tree_path(
    nodes: pd.DataFrame, path: NDArray, heights: Sequence[int], chosen: int | None = None
) -> Chart:
    """Return the whole tree by height: what lies below it faint, the query's path lit.

    Parameters
    ----------
    path : the nodes on the query's way, from the root
    chosen : a node to ring
    """
    x, depth = places(nodes), nodes["depth"].to_numpy()
    upto = [path[:height] for height in heights]
    edges_x, edges_y = _edges(nodes["parent"].to_numpy(), x, -depth)
    at = np.array([] if chosen is None else [chosen], np.intp)
    return Chart(
        key="tree_path",
        alt="The tree, root at the top, with the query's path lit.",
        title="The tree, and the query's path",
        x=Axis(hidden=True),
        y=Axis(hidden=True),
        layers=[
            Line(x=edges_x, y=edges_y, color=theme.FAINT),
            Line(x=[x[p] for p in upto], y=[-depth[p] for p in upto], width=5.0,
                 color=theme.QUERY, name="path of the query"),
            Points(
                x=x, y=-depth, group=(depth <= np.array(heights)[:, None]).astype(np.uint8),
                names=("cut off", "node"), colors=(theme.FAINT, theme.INK), symbols=("circle",),
                size=6.0 if len(nodes) < _MANY else 4.0, id=nodes.index.to_numpy(), linked=False,
                text=_words(nodes),
            ),
            marks(np.column_stack([x, -depth])[at], "chosen node", symbol="ring", size=20),
        ],
    )  # fmt: skip


def tree_digits(images: NDArray, sums: NDArray, heights: Sequence[int]) -> Images:
    """Return the vectors on the query's path as images; those that the height cuts off are faint.

    Parameters
    ----------
    images, sums : the vectors asked, (k, height, width), and the partial sum after each
    """
    return Images(
        key="tree_digits",
        alt="The support vectors on the query's path as images, with the partial sum.",
        title="Support vectors on the path, and the partial sum",
        bank=images,
        shown=np.arange(len(sums)),
        captions=[f"{value:.2g}" for value in sums],
        groups=(sums > 0).astype(np.uint8),
        faint_after=np.minimum(heights, len(sums)),
        size=56 if len(sums) <= 12 else 40,  # a long path still fits the screen
    )


def tree_heights(
    curves: pd.DataFrame, linear: float, full: float, height: int
) -> tuple[Chart, Chart]:
    """Return accuracy and mean path length against height.

    Parameters
    ----------
    curves : indexed by height: `accuracy`, `path_length`, and `reduced`, the accuracy of a reduced
        set of as many vectors as the mean path asks
    linear, full : the accuracy of a linear SVM and of the exact one
    """
    x, here = curves.index.to_numpy(), Rule(x=float(height), dashed=False, color=theme.QUERY)
    tree, rival = (100 * curves[name].to_numpy() for name in ("accuracy", "reduced"))
    levels = (
        (x, rival, "reduced set of as many vectors", theme.COLORS[3]),
        (x[[0, -1]], np.full(2, 100 * full), f"exact SVM ({full:.1%})", theme.INK),
        (x[[0, -1]], np.full(2, 100 * linear), f"linear SVM ({linear:.1%})", theme.COLORS[7]),
    )
    accuracy = [
        Line(x=x, y=tree, name="tree", color=theme.QUERY, width=3.0, markers=True),
        *(Line(x=k, y=y, name=name, color=color, dashed=True) for k, y, name, color in levels),
    ]
    length = Line(x=x, y=curves["path_length"].to_numpy(), markers=True, color=theme.GOOD)
    across = Axis("height: most kernel evaluations on a path", whole=True)
    return (
        Chart(
            key="tree_heights",
            alt="Test accuracy against height, with a reduced set of as many vectors, the linear "
            "and the exact SVM as lines.",
            title="Test accuracy by height",
            x=across,
            y=Axis("test accuracy in %"),
            layers=[*accuracy, here],
        ),
        Chart(
            key="tree_lengths",
            alt="Mean path length against height.",
            title="Kernel evaluations by height",
            x=across,
            y=Axis("kernel evaluations per query"),
            layers=[length, here],
        ),
    )


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


def _words(nodes: pd.DataFrame) -> list[str]:
    """Return what the pointer says of each node."""
    columns = zip(nodes.index, nodes["sv_index"], nodes["n_rows"], nodes["threshold"])
    return [
        f"node {k}: vector {vector}, {n:,} training rows\n"
        + (f"left where the score is at most {t:.3g}" if np.isfinite(t) else "does not split")
        for k, vector, n, t in columns
    ]


def _asked(asked: Sequence[NDArray]) -> Points:
    """Return the vectors on the path with their steps; one that is asked again has all of them."""
    found = [_numbered(spots.astype(np.float32)) for spots in asked]
    labels = [words for _, words in found]
    text = [[f"step {word}" for word in words] for words in labels]
    look: dict[str, Any] = {"size": 9, "opacity": 1.0, "labels": labels, "text": text}
    return marks([spots for spots, _ in found], "on the path, by step", **look)


def _numbered(spots: NDArray) -> tuple[NDArray, list[str]]:
    steps: dict[tuple[float, float], list[str]] = {}
    for k, (across, up) in enumerate(spots.tolist(), start=1):
        steps.setdefault((across, up), []).append(str(k))
    places = np.array(list(steps), dtype=np.float32).reshape(-1, 2)
    return places, [", ".join(own) for own in steps.values()]
