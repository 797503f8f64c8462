"""A support vector tree at every height: what the live slider draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from kmviz.charts import Axis, Chart, Heat, Images, Line, Points, Regions, Rule, geometry, theme
from kmviz.charts.maps import axes, boundary_line
from kmviz.charts.plane import thinned
from kmviz.charts.svtree import tree_path
from kmviz.figures import svtree as figures
from kmviz.figures.svtree import STRONG
from kmviz.traces import TreeTrace
from kmviz.ui import parts, pictures, state, svtree
from kmviz.ui.fitted import Shown, study_of
from kmviz.ui.maps import CELLS, effort_view
from kmviz.ui.plane import grid, plane
from kmviz.ui.work import Shelf

#: Heights up to which each has its place on the slider; then every second, then every fourth.
EACH, SECOND = 20, 40
#: Test queries drawn on the map, to be clicked.
DRAWN = 60

_views = Shelf()


def slider(now: Shown) -> int:
    """Draw the height's slider with all that follows it, and return the height."""
    heights = positions(svtree.highest(now), st.session_state["height"])
    record = svtree.trace(now, svtree.highest(now))
    node = st.session_state["node"]
    key = (now.key, heights, now.problem.query, node)
    views, numbers = _views.get(key, lambda: _made(now, heights, record, node), "Every height")
    return pictures.show(
        "height",
        "Height",
        heights,
        st.session_state["height"],
        views,
        numbers=numbers,
        note=[sentence(now, record, height) for height in heights],
        columns=len(views),
        help="Most kernel values on a path. Cuts the same tree; nothing is grown again.",
        on_click=_clicked,
    )


def positions(highest: int, here: int) -> tuple[int, ...]:
    """Return the heights at which the slider may stand; where it stands is among them."""
    found = {*range(1, EACH + 1), *range(EACH, SECOND + 1, 2), *range(SECOND, highest + 1, 4)}
    return tuple(sorted(h for h in {*found, highest, here} if h <= highest))


def sentence(now: Shown, record: TreeTrace, height: int) -> str:
    """Say what happens to the query in the tree cut at a height."""
    problem, k = now.problem, min(record.stop, height)
    output, exact = float(record.partial[k]), float(record.exact)
    answer, full = (problem.names[int(value > 0)] for value in (output, exact))
    agrees = "as the exact machine does" if answer == full else f"the exact machine says {full}"
    return (
        f"Cut at this height the tree says {answer}, {agrees}: {output:#.3g} after {k} support "
        f"vector{'s' * (k != 1)}, and f(x) is {exact:#.3g}."
    )


def _made(now: Shown, heights: tuple[int, ...], record: TreeTrace, node: int) -> Any:
    """Return the views, and the figures in a line."""
    views: list[Any] = [tree_path(svtree.nodes(now), record, heights)]
    if now.problem.is_plane:
        views.insert(0, _map(now, heights, record, node))
    elif now.problem.image_shape:
        views.append(_digits(now, heights, record))
    else:
        views.append(_sum(heights, record))
    effort = effort_view(now, "max_height", heights)
    return views + [effort] * (effort is not None), _numbers(now, heights)


def _numbers(now: Shown, heights: tuple[int, ...]) -> dict[str, Any]:
    m, labels = now.problem.n_vectors, now.problem.data.y_test[now.rows] > 0
    readings = [now.study.read(max_height=height) for height in heights]
    mean = [float(reading.steps.mean()) for reading in readings]
    right = [np.mean((reading.outputs > 0) == labels) for reading in readings]
    return {
        "Mean kernel values": [f"{k:.1f} of {m:,}" for k in mean],
        "Fewer by": [f"{m / max(k, 1e-9):.0f}x" for k in mean],
        "Accuracy": [f"{share:.1%}" for share in right],
        "Full SVM": f"{1 - now.problem.test_error:.1%}",
        "Same answer": [f"{reading.agrees.mean():.1%}" for reading in readings],
    }


def _map(now: Shown, heights: tuple[int, ...], record: TreeTrace, node: int) -> Chart:
    """The plane by class and strength, with the borders of leaves and the query's way."""
    problem = now.problem
    x, y, rows = grid(problem, CELLS)
    readings = [study_of(now, rows, "map").read(max_height=height) for height in heights]
    leaves = [reading.leaf.reshape(CELLS, CELLS) for reading in readings]
    lines = [geometry.borders(leaf, x, y) for leaf in leaves]
    ends = record.node[np.minimum(heights, record.stop)]
    inside = [(r.path == (node or end)).any(axis=1) for r, end in zip(readings, ends)]
    region = [geometry.borders(part.reshape(CELLS, CELLS), x, y) for part in inside]
    sizes = svtree.nodes(now)["n_rows"]
    output = np.stack([reading.outputs.reshape(CELLS, CELLS) for reading in readings])
    return Chart(
        key="tree_map",
        alt="The tree's answer over the plane by colour, the borders of its leaves, the exact "
        "boundary, and the support vectors on the query's path.",
        title="The tree's answer",
        layers=[
            Heat(values=np.clip(output, -STRONG, STRONG), x=x, y=y, scale="diverging",
                      range=(-STRONG, STRONG), title="output", opacity=0.8),
            Line(x=_across(lines), y=_up(lines), width=1.5, opacity=0.25),
            *boundary_line(plane(problem)),
            Line(x=_across(region), y=_up(region), width=2.5, color=theme.COLORS[4],
                      name=f"node {node}" if node else "its leaf"),
            Regions(owner=np.stack(leaves), x=x, y=y,
                       text=[f"node {k}: {n:,} training rows" for k, n in sizes.items()]),
            _queries(now),
            _asked(now, heights, record),
        ],
        **axes(plane(problem)),
    )  # fmt: skip


def _across(lines: list[NDArray]) -> list[NDArray]:
    return [line[:, 0].astype(np.float32) for line in lines]


def _up(lines: list[NDArray]) -> list[NDArray]:
    return [line[:, 1].astype(np.float32) for line in lines]


def _queries(now: Shown) -> Points:
    """Some test queries, to be clicked; the one in question wears the star."""
    data, query = now.problem.data, now.problem.query
    rows = np.unique(np.append(thinned(len(data.X_test), DRAWN), query))
    return Points(
        x=data.X_test[rows, 0].astype(np.float32), y=data.X_test[rows, 1].astype(np.float32),
        group=(data.y_test[rows] > 0).astype(np.uint8), names=tuple(data.class_names), size=5,
        id=rows, picked=query, hover={"query": rows},
    )  # fmt: skip


def _asked(now: Shown, heights: tuple[int, ...], record: TreeTrace) -> Points:
    """The support vectors that the query asks, in their order."""
    spots = svtree.asked(now, record).astype(np.float32)
    asked = [min(height, record.stop) for height in heights]
    return Points(
        x=[spots[:k, 0] for k in asked], y=[spots[:k, 1] for k in asked], names=("asked",),
        colors=(theme.INK,), symbols=("circle",), size=9, opacity=1.0,
        text=[[f"asked at step {i + 1}" for i in range(k)] for k in asked],
    )  # fmt: skip


def _digits(now: Shown, heights: tuple[int, ...], record: TreeTrace) -> Images:
    """The images on the query's path; those that the height cuts off are faint."""
    bank = svtree.images(now, record)
    sums = record.partial[1:]
    return Images(
        key="tree_digits",
        alt="The support vectors on the query's path as images, with the running sum.",
        title="Asked on the path, and the sum so far",
        bank=bank,
        shown=np.arange(len(sums)),
        captions=[f"{value:.2g}" for value in sums],
        groups=(sums > 0).astype(np.uint8),
        faint_after=np.minimum(heights, len(sums)),
        size=56 if len(sums) <= 12 else 40,  # a long path still fits the screen
    )


def _sum(heights: tuple[int, ...], record: TreeTrace) -> Chart:
    """The running sum against the exact output."""
    k = np.arange(record.stop + 1)
    return Chart(
        key="tree_sum",
        alt="The running sum along the path against the exact output.",
        title="The sum along the path",
        x=Axis("kernel values asked", whole=True),
        y=Axis("output"),
        layers=[
            Line(
                x=k, y=record.partial[k].astype(np.float32), color=theme.COLORS[4], markers=True,
                name="running sum", dim_after=np.minimum(heights, record.stop),
            ),
            Rule(y=float(record.exact), text=f"f(x) = {record.exact:.3g}"),
            Rule(y=0.0, dashed=False),
        ],
    )  # fmt: skip


def path(now: Shown, record: TreeTrace, height: int) -> None:
    """Draw the query's path in the tree and its sums, large, and the node in question."""
    node = svtree.chosen(record)
    tree, sums = st.columns(2)
    with tree:
        parts.chart(
            figures.tree_path(svtree.nodes(now), record, height, node), "tree_path",
            "The tree, root at the top, with the query's path lit.", on_select=svtree.choose_node,
        )  # fmt: skip
    with sums:
        parts.chart(
            figures.tree_sum(record, height, svtree.images(now, record)), "tree_sum",
            "The running sum along the path against the exact output, step by step.",
        )  # fmt: skip
    parts.look_for(svtree.look_at_path(record, now.parameters["refit"]))
    svtree.show_path(record)
    svtree.node_card(now, node)


def how_high(now: Shown, height: int) -> None:
    """Draw what each height comes to."""
    st.subheader("How high should it be?", anchor=False)
    curves, linear = svtree.curves(now), svtree.linear(now.problem)
    full = 1 - now.problem.test_error
    parts.chart(
        figures.tree_heights(curves, linear, full, height), "tree_heights",
        "Test accuracy and mean path length against height, with a reduced set of as many vectors, "
        "linear and full SVM as lines.",
    )  # fmt: skip
    parts.look_for(svtree.look_at_heights(curves, linear, full))


def _clicked(view: str, found: int) -> None:
    """A node of the tree, or a leaf of the map, is the one to look at; a point is the query."""
    if view == "tree_path":
        state.put(node=found)
    else:
        state.put(query=found, node=0)
