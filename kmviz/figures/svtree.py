"""Support vector trees: the partition, the path through the tree, the sum along it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from kmviz.charts import geometry
from kmviz.figures import theme
from kmviz.figures.boundary import Plane, click_layer, equal_axes, query_mark, training_points
from kmviz.traces import Partition, TreeTrace

#: Outputs beyond it are drawn alike: no sign is in doubt there, and a leaf's may be huge.
STRONG = 1.5


def tree_map(plane: Plane, partition: Partition, nodes: pd.DataFrame, query: int) -> go.Figure:
    """Draw the partition by class and strength, the boundaries over it, the query's path, numbered.

    `nodes` is `SVTree.to_frame()`.
    """
    rows = nodes["n_rows"].to_numpy()
    layout: dict[str, Any] = {}
    if plane.x is None or plane.y is None:
        traces: list[Any] = _points_by_leaf(plane, partition, rows)
    else:
        traces = [_regions(plane.x, plane.y, partition, rows)]
        traces.append(_borders(plane.x, plane.y, partition))
        traces += [*training_points(plane, 400), *_lines(plane, partition)]
        layout["xaxis"] = {"range": [float(plane.x[0]), float(plane.x[-1])]}
        layout["yaxis"] = {"range": [float(plane.y[0]), float(plane.y[-1])]}
    layout |= equal_axes(plane.points, layout)
    traces += [click_layer(plane.queries), _path_marks(partition.path)]
    traces.append(query_mark(plane.queries[query]))
    return theme.figure(traces, *plane.axes, title=plane.title, height=520, **layout)


def tree_path(nodes: pd.DataFrame, trace: TreeTrace, height: int, chosen: int) -> go.Figure:
    """Draw the tree cut at `height`, the query's path lit, node `chosen` ringed.

    `nodes` is `SVTree.to_frame()`; a marker's customdata is its node.
    """
    shown = nodes[nodes["depth"] <= height]
    x = places(shown)
    y = shown["depth"].to_numpy()
    path = trace.node[1 : height + 1]
    branches = theme.scatter(
        0, **_edges(shown.index.to_numpy(), shown["parent"].to_numpy(), x, y),
        mode="lines", name="branches", hoverinfo="skip", line={"color": theme.FAINT, "width": 1.5},
    )  # fmt: skip
    lit = pd.Series(x, index=shown.index)[path].to_numpy()
    on_path = theme.trace(
        "scatter", x=theme.light(lit), y=theme.light(np.arange(1, len(path) + 1)),
        mode="lines", name="the query's path", hoverinfo="skip",
        line={"color": theme.COLORS[4], "width": 5},
    )  # fmt: skip
    traces = [branches, on_path, _node_marks(shown, x), _asked(trace, lit, path)]
    if chosen in shown.index:
        traces.append(_ring(float(x[shown.index.get_loc(chosen)]), float(nodes["depth"][chosen])))
    return theme.figure(
        traces, "leaves, from left to right", "kernel values asked", height=430, half=True,
        xaxis={"showticklabels": False, "showgrid": False},
        yaxis={"autorange": "reversed", "dtick": 1 if height < 16 else 5},
    )  # fmt: skip


def tree_sum(trace: TreeTrace, height: int, images: NDArray[Any] | None = None) -> go.Figure:
    """Draw the running sum against the exact f(x), step by step.

    `images` (k, rows, columns) are the vectors asked, drawn under their steps.
    """
    last = min(height, trace.stop)
    steps = np.arange(last + 1)
    score = theme.light(trace.score[: last + 1])
    bars = theme.trace(
        "bar", x=steps, y=score, name="node score", opacity=0.6, marker={"color": theme.COLORS[8]},
        hovertemplate="step %{x}<br>score %{y:.3g}<extra></extra>",
    )  # fmt: skip
    line = theme.trace(
        "scatter", x=steps, y=theme.light(trace.partial[: last + 1]), mode="lines+markers",
        name="running sum", line={"color": theme.COLORS[4], "width": 3},
        marker={"symbol": theme.QUERY_SYMBOL, "size": 9},
        hovertemplate="after %{x} kernel values<br>output %{y:.4g}<extra></extra>",
    )  # fmt: skip
    exact = theme.trace(
        "scatter", x=[0, last], y=theme.light([trace.exact, trace.exact]), mode="lines",
        name=f"exact f(x) = {trace.exact:.3g}", hoverinfo="skip",
        line={"color": theme.INK, "dash": "dash", "width": 2},
    )  # fmt: skip
    traces = [bars, line, exact]
    layout: dict[str, Any] = {}
    if images is not None:
        traces.append(_strip(images[:last]))
        layout["yaxis"] = {"domain": [0.45, 1.0]}
        layout["yaxis2"] = {"domain": [0.0, 0.25], "autorange": "reversed", "visible": False}
    return theme.figure(
        traces, "kernel values asked", "output", height=430, half=True,
        shapes=[theme.line_at(y=0.0)], xaxis={"dtick": 1 if last < 16 else 5}, **layout,
    )  # fmt: skip


def tree_heights(curves: pd.DataFrame, linear: float, full: float, height: int) -> go.Figure:
    """Draw accuracy and mean path length against height.

    `curves` is indexed by height: `accuracy`, `path_length`, and `reduced`, the accuracy of a
    reduced set of as many vectors as the mean path asks.
    """
    x = curves.index.to_numpy()
    accuracy = theme.trace(
        "scatter",
        x=x, y=theme.light(curves["accuracy"]), name="tree, accuracy", mode="lines+markers",
        line={"color": theme.COLORS[4], "width": 3}, marker={"symbol": "circle"},
        hovertemplate="height %{x}<br>accuracy %{y:.1%}<extra></extra>",
    )  # fmt: skip
    reduced = theme.trace(
        "scatter",
        x=x, y=theme.light(curves["reduced"]), name="reduced set of as many vectors",
        mode="lines", line={"color": theme.COLORS[3], "width": 2, "dash": "dashdot"},
        hovertemplate="height %{x}<br>reduced set %{y:.1%}<extra></extra>",
    )  # fmt: skip
    length = theme.trace(
        "scatter",
        x=x, y=theme.light(curves["path_length"]), name="mean path length (right)", yaxis="y2",
        mode="lines+markers", line={"color": theme.COLORS[2], "dash": "dot"},
        marker={"symbol": "square", "size": 5},
        hovertemplate="height %{x}<br>%{y:.1f} kernel values<extra></extra>",
    )  # fmt: skip
    ends = [int(x[0]), int(x[-1])]
    levels = [
        theme.trace(
            "scatter",
            x=ends, y=theme.light([level, level]), name=f"{name} ({level:.1%})", mode="lines",
            hoverinfo="skip", line={"color": color, "dash": dash, "width": 2},
        )
        for name, level, color, dash in (
            ("full SVM", full, theme.INK, "dash"), ("linear SVM", linear, theme.COLORS[7], "dot")
        )
    ]  # fmt: skip
    return theme.figure(
        [accuracy, reduced, *levels, length], "height: most kernel values on a path",
        "test accuracy", height=340, shapes=[theme.line_at(x=float(height))],
        yaxis={"tickformat": ".0%"},
        yaxis2={"title": {"text": "kernel values per query"}, "overlaying": "y", "side": "right",
                "showgrid": False, "rangemode": "tozero", "automargin": True,
                "tickmode": "auto"},
    )  # fmt: skip


def _regions(
    x: NDArray[Any], y: NDArray[Any], partition: Partition, rows: NDArray[Any]
) -> theme.Trace:
    """The tree's answer everywhere: the colour of the class, deeper where it is surer."""
    return theme.trace(
        "heatmap", x=theme.light(x), y=theme.light(y), z=_strength(partition.output),
        zmin=-100, zmax=100, zmid=0, colorscale=theme.diverging_scale(), showscale=False,
        opacity=0.8, name="leaves", zsmooth=False,
        customdata=np.stack([partition.leaf, rows[partition.leaf]], axis=-1).astype(np.int16),
        hovertemplate="node %{customdata[0]}: %{customdata[1]} training rows<extra></extra>",
    )  # fmt: skip


def _strength(output: NDArray[Any]) -> NDArray[np.int8]:
    """How strong an answer is, in percent, its sign the class."""
    return np.round(100.0 * np.clip(output / STRONG, -1.0, 1.0)).astype(np.int8)


def _borders(x: NDArray[Any], y: NDArray[Any], partition: Partition) -> theme.Trace:
    """The lines between leaves, broken between one and the next."""
    line = geometry.borders(partition.leaf, x, y)
    return theme.trace(
        "scatter", x=theme.light(line[:, 0]), y=theme.light(line[:, 1]), mode="lines",
        name="borders of leaves", hoverinfo="skip", opacity=0.35,
        line={"color": theme.INK, "width": 1},
    )  # fmt: skip


def _lines(plane: Plane, partition: Partition) -> list[theme.Trace]:
    x, y, values, output = (
        np.asarray(a) for a in (plane.x, plane.y, plane.values, partition.output)
    )
    grid = {"x": theme.light(x), "y": theme.light(y), "hoverinfo": "skip"}

    def level(z: Any, value: float, name: str, **line: Any) -> theme.Trace:
        return theme.trace(
            "contour", **grid, z=z, name=name, showlegend=True, line=line,
            contours={"type": "constraint", "operation": "=", "value": value},
        )  # fmt: skip

    lines = [level(theme.light(values), 0.0, "exact boundary", width=2.5, color=theme.INK)]
    clipped = theme.light(np.clip(output, -2, 2))
    lines.append(
        level(clipped, 0.0, "the tree's boundary", width=2, color=theme.COLORS[3], dash="dot")
    )
    if partition.region.any() and not partition.region.all():
        mask = partition.region.astype(np.float32)
        lines.append(level(mask, 0.5, partition.name, width=3, color=theme.COLORS[4]))
    return lines


def _points_by_leaf(plane: Plane, partition: Partition, rows: NDArray[Any]) -> list[Any]:
    """Training points of a projection, coloured by the tree's answer; the node's own ringed."""
    shown = theme.thinned(len(plane.points), 1500)
    points, leaf, labels = theme.light(plane.points[shown]), partition.leaf[shown], plane.labels
    strength = _strength(partition.output[shown])
    traces = []
    for i, (label, name) in enumerate(zip((-1, 1), plane.class_names)):
        of = labels[shown] == label
        traces.append(
            theme.trace(
                "scatter",
                x=points[of, 0], y=points[of, 1], mode="markers", name=f"{name} (colour: answer)",
                text=[f"node {n}: {rows[n]} rows" for n in leaf[of]],
                hovertemplate="%{text}<extra></extra>",
                marker={"color": strength[of], "colorscale": theme.diverging_scale(),
                        "cmin": -100, "cmax": 100, "symbol": theme.SYMBOLS[i], "size": 7,
                        "line": {"width": 0.6, "color": theme.INK}},
            )
        )  # fmt: skip
    inside = points[partition.region[shown]]
    traces.append(
        theme.trace(
            "scatter",
            x=inside[:, 0], y=inside[:, 1], mode="markers", name=partition.name, hoverinfo="skip",
            marker={"color": "rgba(0,0,0,0)", "size": 12,
                    "line": {"width": 1.5, "color": theme.COLORS[4]}},
        )
    )  # fmt: skip
    return traces


def _path_marks(path: NDArray[Any]) -> theme.Trace:
    """The vectors asked with their steps; one that is asked again has all of them on one mark."""
    steps: dict[tuple[float, float], list[str]] = {}
    for k, (across, up) in enumerate(theme.light(path).tolist(), start=1):
        steps.setdefault((across, up), []).append(str(k))
    spots, text = theme.light(list(steps)), [", ".join(own) for own in steps.values()]
    size = theme.light([max(19, 14 + 3 * len(words)) for words in text])
    return theme.trace(
        "scatter", x=spots[:, 0], y=spots[:, 1], mode="markers+text", name="asked, in this order",
        text=text, textposition="middle center", textfont={"size": 11, "color": theme.PAPER},
        hovertemplate="step %{text}<extra></extra>",
        marker={"color": theme.INK, "symbol": "circle", "size": size, "opacity": 1.0,
                "line": {"width": 0}},
    )  # fmt: skip


def _node_marks(shown: pd.DataFrame, x: NDArray[Any]) -> theme.Trace:
    rows = shown["n_rows"].to_numpy()
    split = np.isfinite(shown["threshold"].to_numpy())
    text = [
        f"node {node}: vector {sv}<br>{n} training rows<br>"
        + (f"left where score ≤ {t:.3g}" if cut else "does not split")
        for node, sv, n, t, cut in zip(
            shown.index, shown["sv_index"], rows, shown["threshold"], split
        )
    ]  # fmt: skip
    return theme.scatter(
        len(shown), x=theme.light(x), y=theme.light(shown["depth"]), mode="markers",
        name="node (area: training rows)", customdata=shown.index.to_numpy().astype(np.int32),
        text=text, hovertemplate="%{text}<extra></extra>",
        marker={"color": theme.INK, "symbol": "circle",
                "size": theme.light(5 + 14 * np.sqrt(rows / rows.max()))},
    )  # fmt: skip


def _asked(trace: TreeTrace, x: NDArray[Any], path: NDArray[Any]) -> theme.Trace:
    """The nodes on the path, with what happened there."""
    k = np.arange(1, len(path) + 1)
    text = [
        f"step {i}: vector {trace.index[i]}<br>score {trace.score[i]:.3g}<br>"
        f"threshold {trace.threshold[i]:.3g}<br>running sum {trace.partial[i]:.3g}"
        for i in k
    ]
    return theme.trace(
        "scatter", x=theme.light(x), y=theme.light(k), mode="markers", name="asked on the path",
        customdata=path.astype(np.int32), text=text, hovertemplate="%{text}<extra></extra>",
        marker={"color": theme.COLORS[4], "symbol": theme.QUERY_SYMBOL, "size": 13,
                "line": {"width": 1, "color": theme.INK}},
    )  # fmt: skip


def _ring(x: float, y: float) -> theme.Trace:
    return theme.trace(
        "scatter", x=[x], y=[y], mode="markers", name="chosen node", hoverinfo="skip",
        marker={"color": "rgba(0,0,0,0)", "size": 24, "line": {"width": 2.5, "color": theme.INK}},
    )  # fmt: skip


def places(shown: pd.DataFrame) -> NDArray[np.float64]:
    """Leaves stand side by side, every other node above the middle of its children."""
    children: dict[int, list[int]] = {node: [] for node in shown.index}
    for node, parent in shown["parent"].items():
        if parent >= 0:
            children[parent].append(node)
    x: dict[int, float] = {}
    leaves = 0
    waiting = [shown.index[0]]
    while waiting:  # from the left: a node is placed once its children are
        node = waiting[-1]
        left_to_place = [child for child in children[node] if child not in x]
        if left_to_place:
            waiting += reversed(left_to_place)
            continue
        below = [x[child] for child in children[node]]
        x[waiting.pop()] = float(np.mean(below)) if below else leaves
        leaves += not below
    return np.array([x[node] for node in shown.index])


def _edges(nodes: NDArray, parent: NDArray, x: NDArray, y: NDArray) -> dict[str, NDArray]:
    """Lines from parents to children, broken between one and the next."""
    place = {node: i for i, node in enumerate(nodes)}
    ends = [(place[p], i) for i, p in enumerate(parent) if p >= 0]
    if not ends:
        return {"x": theme.light([]), "y": theme.light([])}
    gap = np.full(len(ends), np.nan)
    above, below = np.array(ends).T
    return {
        name: theme.light(np.column_stack([a[above], a[below], gap]).ravel())
        for name, a in (("x", x), ("y", y))
    }


def _strip(images: NDArray[Any]) -> theme.Trace:
    """The images asked, under their steps, on an axis of their own."""
    count, height, width = images.shape
    strip = np.full((height, count * (width + 2)), np.nan, dtype=np.float32)
    for k, image in enumerate(images):
        strip[:, k * (width + 2) + 1 : k * (width + 2) + 1 + width] = image
    x = 0.5 + (np.arange(strip.shape[1]) + 0.5) / (width + 2)
    return theme.trace(
        "heatmap",
        x=theme.light(x), z=strip, colorscale=theme.sequential_scale(), showscale=False,
        hoverinfo="skip", name="vectors asked", yaxis="y2",
    )  # fmt: skip
