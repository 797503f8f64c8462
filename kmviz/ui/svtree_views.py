"""A support vector tree at every height: what the live slider draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from kmviz.charts import svtree as charts
from kmviz.traces import TreeTrace
from kmviz.ui import pictures, svtree
from kmviz.ui.maps import effort_view
from kmviz.ui.runtime.jobs import Cache
from kmviz.ui.shell import parts, url
from kmviz.views.fitted import Shown

#: Heights up to which each has its place on the slider; then every second, then every fourth.
EACH, SECOND = 20, 40

_views = Cache("svtree_views views")


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
        columns=min(3, len(views)),
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
    path, chosen = record.node[1:], node or int(record.node[-1])
    views: list[Any] = [
        svtree.map_chart(now, record, heights, node),
        charts.tree_path(svtree.nodes(now), path, heights, chosen),
    ]
    if now.problem.image_shape:
        views.append(charts.tree_digits(svtree.images(now, record), record.partial[1:], heights))
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


def path(now: Shown, record: TreeTrace) -> None:
    """Draw the query's path as a table, and the node in question."""
    parts.look_for(svtree.look_at_path(record, now.parameters["refit"]))
    svtree.show_path(record)
    svtree.node_card(now, svtree.chosen(record))


def how_high(now: Shown, height: int) -> None:
    """Draw what each height comes to."""
    st.subheader("How high should it be?", anchor=False)
    curves, linear = svtree.curves(now), svtree.linear(now.problem)
    full = 1 - now.problem.test_error
    pictures.still(*charts.tree_heights(curves, linear, full, height), columns=2, on_click=None)
    parts.look_for(svtree.look_at_heights(curves, linear, full))


def _clicked(view: str, found: int) -> None:
    """A node of the tree is the one to look at; a point is the query."""
    if view == "tree_path":
        url.put(node=found)
    else:
        url.put(query=found, node=0)
