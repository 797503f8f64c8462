"""The page of the support vector tree: what it says, and the order of its pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from kmviz.charts import Chart, svtree as charts
from kmviz.methods.study import Study
from kmviz.ui import pictures
from kmviz.ui.maps import CELLS, effort_view
from kmviz.ui.pages import Live, MethodPage
from kmviz.ui.plane import grid, on_plane, plane
from kmviz.ui.runtime.fitted import show, study_of, view_of
from kmviz.ui.runtime.jobs import Cache
from kmviz.ui.shell import url
from kmviz.ui.shell.controls import draw, row
from kmviz.ui.shell.parts import look_for
from kmviz.views import svtree
from kmviz.views.fitted import MethodView, Shown
from kmviz.views.problem import Problem

SENTENCE = (
    "Each node uses one support vector: its score says where to go next, and adds to the sum."
)
HEIGHTS = "How high should it be?"
FIRST = "The first {n} of them."
ROWS, IMAGES = 200, 16

_ROW = ("split", "refit", "stem", "mean", "candidates")
_curves, _charts = Cache("tree heights"), Cache("tree pictures")


def draw_controls(problem: Problem) -> None:
    """Draw the page's choices."""
    for name, place in zip(_ROW, row(1, 1, 1, 1, 1)):
        draw(name, place)


def view(problem: Problem, values: Mapping[str, Any]) -> MethodView:
    """Return the tree that the controls choose, cut at their height."""
    now = show(problem, "svtree", svtree.fitted_by(values))
    return view_of(now, {"max_height": min(values["height"], svtree.highest(now))}, values)


def limit(at: MethodView) -> None:
    """Keep height and node within this tree."""
    url.limit("height", 1, svtree.highest(at.now))
    url.limit("node", 0, len(svtree.nodes(at.now)) - 1)


def live(at: MethodView) -> Live:
    """Return what follows the height."""
    now, here = at.now, at.choice["max_height"]
    heights = svtree.positions(svtree.highest(now), here)
    whole, node = _whole(at), svtree.clicked(at)

    def made() -> list[Any]:
        end, shape = node or int(whole.node[-1]), now.problem.image_shape
        found: list[Any] = [_map(at, heights, node)]
        found.append(charts.tree_path(svtree.nodes(now), whole.node[1:], heights, end))
        if shape:
            rows = svtree.vectors(at)[whole.index[1:]].reshape(-1, *shape)
            found.append(charts.tree_digits(rows, whole.partial[1:], heights))
        return [*found, *effort_view(now, "max_height", heights)]

    key = (*now.key, heights, now.problem.query, node)
    note = [svtree.sentence(now, whole, height) for height in heights]
    numbers = _curves.get((*now.key, heights), lambda: svtree.numbers(now, heights))
    return Live(heights, here, lambda: _charts.get(key, made, "Every height"), numbers, note)


def picture(at: MethodView) -> Chart:
    """Return the map at the height chosen."""
    return _map(at, [at.choice["max_height"]], 0)


def _whole(at: MethodView) -> Any:
    """Return the query's path in the whole tree."""
    return view_of(at.now, {"max_height": svtree.highest(at.now)}, at.values).trace


def _map(at: MethodView, heights: Sequence[int], node: int) -> Chart:
    now, problem, whole = at.now, at.now.problem, _whole(at)
    spots = on_plane(problem, svtree.vectors(at)[whole.index[1:]])
    study, cells = _trained(now), None
    if problem.is_plane:
        x, y, rows = grid(problem, CELLS)
        study, cells = study_of(now, rows, "map"), (x, y)
    return svtree.map_chart(at, whole, heights, node, study, plane(problem), spots, cells)


def _trained(now: Shown) -> Study:
    """Return the study of the training rows."""
    return study_of(now, now.problem.data.X_train, "training rows")


def hint(at: MethodView) -> str:
    """Say what to notice on the map."""
    height = at.choice["max_height"]
    n = len(np.unique(_trained(at.now).read(max_height=height).leaf))
    return svtree.hint_map(at.now.problem, n, height)


def own_part(at: MethodView) -> None:
    """Draw the query's path, a node, and what each height comes to."""
    look_for(svtree.hint_path(at))
    table = svtree.path_table(at.trace)
    short = st.column_config.NumberColumn(format="%.4g")  # kernel values may be tiny
    columns = dict.fromkeys(table.columns[table.dtypes == np.float64], short)
    st.dataframe(table, hide_index=True, placeholder="", column_config=columns)
    _draw_node(at, svtree.clicked(at) or int(at.trace.node[-1]))
    st.subheader(HEIGHTS, anchor=False)
    curves, full = _heights(at.now), 1 - at.now.problem.test_error
    key = (at.now.problem.key, "linear")
    linear = _curves.get(key, lambda: svtree.linear(at.now.problem), "A linear SVM beside it")
    drawn = charts.tree_heights(curves, linear, full, at.choice["max_height"])
    pictures.still(*drawn, columns=2, on_click=None)
    look_for(svtree.hint_heights(curves, linear, full))


def _heights(now: Shown) -> pd.DataFrame:
    """Return accuracy by height; a reduced set beside it is found once the page is drawn."""
    table = _curves.get((*now.key, "curve"), lambda: svtree.curve(now), "Reading every height")
    length = int(np.ceil(table["path_length"].max()))
    most = min(svtree.MOST_REDUCED, now.problem.n_vectors, length)

    def rival() -> list[float]:
        reduced = show(now.problem, "reduced", {"n_vectors": most, "random_state": 0})
        return svtree.rival(now, table, reduced.study)

    found = _curves.later((*now.key, "reduced"), rival, "A reduced set beside it")
    return table.assign(reduced=np.nan if found is None else found)


def _draw_node(at: MethodView, node: int) -> None:
    """Draw the training rows of a node."""
    problem, data = at.now.problem, at.now.problem.data
    rows = np.flatnonzero((_trained(at.now).read().path == node).any(axis=1))
    high, names = int((data.y_train[rows] > 0).sum()), problem.names
    counts = {"n": len(rows), "n_low": len(rows) - high, "n_high": high}
    title = svtree.NODE.format(node=node, low=names[0], high=names[1], **counts)
    with st.expander(title, icon=":material/account_tree:"):
        if problem.image_shape:
            first = [data.X_train[i].reshape(problem.image_shape) for i in rows[:IMAGES]]
            st.image(first, width=56, clamp=True)
            st.caption(FIRST.format(n=len(first)))
            return
        rows = rows[:ROWS]
        table = pd.DataFrame(data.X_train[rows], columns=list(data.feature_names))
        table.insert(0, "class", [data.class_names[int(v > 0)] for v in data.y_train[rows]])
        st.dataframe(table, hide_index=True, height=240)


def click(chart: str, found: int) -> None:
    """A node of the tree is the one to look at; a point is the query."""
    if chart == "tree_path":
        url.put(node=found)
    else:
        url.put(query=found, node=0)


PAGE = MethodPage(
    title="Support vector tree",
    own=("height", *_ROW, "a", "node"),
    sentence=SENTENCE,
    terms=("query", "support vector", "β", "f(x)", "height"),
    slider="height",
    label="Height",
    help="Most kernel evaluations on a path. Cuts the same tree; nothing is grown again.",
    draw_controls=draw_controls,
    view=view,
    notice=limit,
    live=live,
    click=click,
    picture=picture,
    hint=hint,
    vectors=svtree.vectors,
    own_part=own_part,
    code=svtree.code,
)
