"""A tree as a chart: which nodes a position shows is said by Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kmviz.figures import theme
from kmviz.ui.live.layers import Layer, Line, Points
from kmviz.ui.live.views import Axis, Chart


def tree(
    *,
    key: str,
    x: ArrayLike,
    y: ArrayLike,
    parent: ArrayLike,
    alt: str,
    visible: ArrayLike | None = None,
    path: Any = None,
    path_name: str = "path of the query",
    nodes: Mapping[str, Any] | None = None,
    **options: Any,
) -> Chart:
    """Return the chart of a tree: edges from parents to nodes, a lit path, and the nodes.

    Parameters
    ----------
    x, y : places of the nodes
    parent : node above each, -1 for the root
    visible : which nodes are drawn, (nodes,) or (positions, nodes); default: all
    path : nodes of the lit path, from the root: for all positions, or a list with one for each
    nodes : what else the `Points` have (`names`, `colors`, `group`, `id`, `text`, `hover`, ...):
        an array over all nodes is cut to those that a position draws
    options : of the chart: `title`, `height`, ...
    """
    x, y, parent = np.asarray(x), np.asarray(y), np.asarray(parent)
    drawn = np.ones(len(parent), bool) if visible is None else np.asarray(visible, bool)
    shown = [np.flatnonzero(row) for row in np.atleast_2d(drawn)]

    def cut(values: Any, rows: list[NDArray[np.intp]], stacked: bool = drawn.ndim > 1) -> Any:
        parts = [np.asarray(values)[row] for row in rows]
        return parts if stacked else parts[0]

    edges = [_edges(rows[parent[rows] >= 0], parent) for rows in shown]
    gaps_x, gaps_y = np.append(x.astype(float), np.nan), np.append(y.astype(float), np.nan)
    layers: list[Layer] = [Line(x=cut(gaps_x, edges), y=cut(gaps_y, edges), color=theme.FAINT)]
    if path is not None:
        several = len(path) > 0 and np.ndim(path[0]) == 1
        way = [np.asarray(p, dtype=np.intp) for p in (path if several else [path])]
        places = {"x": cut(x, way, several), "y": cut(y, way, several)}
        layers.append(Line(**places, name=path_name, color=theme.COLORS[4], width=5.0))
    more = {name: _cut_all(part, len(parent), shown, cut) for name, part in (nodes or {}).items()}
    layers.append(Points(x=cut(x, shown), y=cut(y, shown), **more))
    bare = {"x": Axis(hidden=True), "y": Axis(hidden=True)}
    return Chart(key=key, layers=layers, alt=alt, **(bare | options))


def _edges(rows: NDArray[np.intp], parent: NDArray[Any]) -> NDArray[np.intp]:
    """Parent, node and a gap for each row; the gap is what stands last in the places."""
    return np.column_stack([parent[rows], rows, np.full(len(rows), -1)]).ravel().astype(np.intp)


def _cut_all(value: Any, n_nodes: int, shown: list[NDArray[np.intp]], cut: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _cut_all(part, n_nodes, shown, cut) for name, part in value.items()}
    is_over_nodes = not isinstance(value, tuple) and np.ndim(value) == 1 and len(value) == n_nodes
    return cut(value, shown) if is_over_nodes else value
