"""Local models of every size: what the live slider draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from kmviz.charts import Axis, Chart, Images, Line, Points, Regions, Rule, geometry, theme
from kmviz.charts.maps import axes, boundary_line, effort_map, effort_strip
from kmviz.traces import LocalModel
from kmviz.ui import falk, falk_words, maps, pictures, state
from kmviz.ui.plane import grid, plane
from kmviz.ui.problem import Problem
from kmviz.ui.why import counted
from kmviz.ui.work import Shelf

#: Images of a neighbourhood that are drawn at most.
MOST_IMAGES = 16

_grids = Shelf()


@dataclass(frozen=True, eq=False)
class Asked:
    """What the models of one size say over the plane.

    Attributes
    ----------
    owner, steps : arrays (cells, cells)
        The model that answers in each cell, and the kernel values that it takes.
    line : array
        The boundary that they compose.
    centers, radii : arrays
        Of each model: its centre, and how far its k points reach.
    words : list of str
        What the pointer says of each.
    """

    owner: NDArray[Any]
    steps: NDArray[Any]
    line: NDArray[Any]
    centers: NDArray[Any]
    radii: NDArray[Any]
    words: list[str]


def slider(problem: Problem, page: falk.Page) -> None:
    """Draw the slider over k with all that follows it."""
    sizes = falk.sizes(problem, page)
    steps = np.array([falk.read(problem, page, size).steps for size in sizes])
    homes = [_home(problem, page, size) for size in sizes]
    views: list[Any] = []
    asked: list[Asked] = []
    if problem.is_plane:
        asked = [_asked_of(problem, page, size) for size in sizes]
        x, y, _ = grid(problem, maps.CELLS)
        effort = effort_map(plane(problem), problem.x, x, y, np.array([one.steps for one in asked]))
        views = [_map(problem, asked, homes, sizes), _with_own_line(effort, asked)]
    elif problem.image_shape:
        strip = effort_strip(maps.test_images(problem), page.shown.rows, steps)
        views = [_images(problem, homes), strip]
    else:
        views = [_projected(problem, homes)]
    table = falk.sweep(problem, page)
    here = st.session_state["k"]
    centers = {size.k: one.centers for size, one in zip(sizes, asked)}

    def clicked(view: str, number: int) -> None:
        if view == "local_map":  # a neighbourhood: its centre's nearest test row becomes the query
            gaps = np.linalg.norm(problem.data.X_test - centers[here][number], axis=1)
            number = int(np.argmin(gaps))
        state.put(query=number)

    pictures.show(
        "k", "Neighbours k", [size.k for size in sizes], here, [*views, _sweep(problem, table)],
        numbers=_numbers(problem, table),
        columns=len(views) + 1,
        help="Points that each local SVM is trained on. k' is half of it unless you choose one.",
        on_release=falk.put_k,
        on_click=clicked,
    )  # fmt: skip


def _home(problem: Problem, page: falk.Page, size: falk.Size) -> LocalModel:
    """Return the model that answers the query."""
    clf = size.study.classifier(select=page.select)
    return clf.local_model(int(clf.apply(problem.x[None])[0]))


def _asked_of(problem: Problem, page: falk.Page, size: falk.Size) -> Asked:
    clf = size.study.classifier(select=page.select)
    key = (problem.key, tuple(sorted(clf.get_params(deep=False).items())))
    return _grids.get(key, lambda: _over_plane(problem, clf))


def _over_plane(problem: Problem, clf: Any) -> Asked:
    x, y, rows = grid(problem, maps.CELLS)
    shape = (len(y), len(x))
    owner, counts = clf.apply(rows), clf.models_.sizes()
    return Asked(
        owner=owner.reshape(shape),
        steps=counts[owner].reshape(shape),
        line=geometry.contour(clf.decision_function(rows).reshape(shape), x, y),
        centers=clf.rows_[clf.centers_].astype(np.float32),
        radii=clf.radii()[:, 1].astype(np.float32),
        words=[_said(count, clf.n_neighbors_) for count in counts.tolist()],
    )


def _map(
    problem: Problem, asked: list[Asked], homes: list[LocalModel], sizes: list[falk.Size]
) -> Chart:
    x, y, _ = grid(problem, maps.CELLS)
    view, where = plane(problem), problem.data.X_train
    angle = np.linspace(0, 2 * np.pi, 60)
    rings = [
        where[home.center] + home.outer * np.column_stack([np.cos(angle), np.sin(angle)])
        for home in homes
    ]
    return Chart(
        key="local_map",
        alt="Training points, the boundary that local models compose, the global SVM's, and the "
        "neighbourhood that answers the query; the pointer shows who answers there.",
        title=[f"{len(one.centers):,} local models of {size.k} points"
               for one, size in zip(asked, sizes)],
        layers=[
            Regions(
                owner=[one.owner for one in asked], x=x, y=y,
                at_x=[one.centers[:, 0] for one in asked],
                at_y=[one.centers[:, 1] for one in asked],
                radius=[one.radii for one in asked], text=[one.words for one in asked],
            ),
            Points(x=where[:, 0], y=where[:, 1], group=view.labels > 0, size=3.5,
                        opacity=0.6, names=("", ""), symbols=("circle", "circle"), hover={}),
            *boundary_line(view, name="global SVM", color=theme.COLORS[6], width=1.5),
            _line([one.line for one in asked], "local models", 2.5),
            _line(rings, "who answers", 3.0, theme.COLORS[4]),
            _query(problem),
        ],
        **axes(view),
    )  # fmt: skip


def _with_own_line(effort: Chart, asked: list[Asked]) -> Chart:
    """Return the effort map with the boundary of those who make the effort: the local models'."""
    heat, halo, line, *rest = (cast("Any", layer) for layer in effort.layers)
    own = _line([one.line for one in asked], "local models", line.width)
    return replace(effort, layers=[heat, replace(halo, x=own.x, y=own.y), own, *rest])


def _line(lines: Sequence[NDArray], name: str, width: float, color: str = theme.INK) -> Line:
    return Line(
        x=[line[:, 0] for line in lines], y=[line[:, 1] for line in lines], name=name, width=width,
        color=color,
    )  # fmt: skip


def _query(problem: Problem) -> Points:
    at = plane(problem).queries[[problem.query]]
    return Points(x=at[:, 0], y=at[:, 1], names=("the query",), colors=(theme.COLORS[4],),
                       symbols=("star",), size=14, opacity=1.0)  # fmt: skip


def _images(problem: Problem, homes: list[LocalModel]) -> Images:
    """The query, the centre that answers, and its nearest points."""
    assert problem.image_shape is not None
    shown = [home.members[: MOST_IMAGES - 1] for home in homes]
    bank, place = np.unique(np.concatenate(shown), return_inverse=True)
    places = np.split(place + 1, np.cumsum([len(part) for part in shown])[:-1])
    pixels = np.vstack([problem.x[None], problem.data.X_train[bank]])
    classes = np.append(255, problem.data.y_train[bank] > 0)
    return Images(
        key="local_map",
        alt="The query, then the centre whose model answers and the points nearest to it, framed "
        "by class.",
        title="The query, then those nearest to its centre",
        bank=pixels.reshape(-1, *problem.image_shape),
        shown=[np.append(0, part) for part in places],
        groups=[classes[np.append(0, part)] for part in places],
        size=54,
    )


def _projected(problem: Problem, homes: list[LocalModel]) -> Chart:
    view = plane(problem)
    inside = [view.points[home.members] for home in homes]
    return Chart(
        key="local_map",
        alt="Training points on their principal components, with the neighbourhood that answers.",
        title=view.title,
        equal=True,
        x=Axis(view.axes[0]),
        y=Axis(view.axes[1]),
        layers=[
            Points(x=[at[:, 0] for at in inside], y=[at[:, 1] for at in inside],
                        names=("who answers",), colors=(theme.COLORS[4],), size=10, opacity=0.8),
            Points(x=view.points[:, 0], y=view.points[:, 1], group=view.labels > 0, size=4,
                        names=tuple(problem.names), symbols=("circle", "circle")),
            _query(problem),
        ],
    )  # fmt: skip


def _sweep(problem: Problem, table: Any) -> Chart:
    k, share = table["n_neighbors"].to_numpy(), 100 * table["accuracy"].to_numpy()
    svm = 100 * (1 - problem.test_error)
    return Chart(
        key="local_sweep",
        alt="Accuracy against k, with the global SVM's as a line.",
        title="Test accuracy by k",
        x=Axis("k (log scale)", log=True),
        y=Axis("test accuracy in %"),
        layers=[
            Line(x=k, y=share, name="local models", markers=True),
            Line(x=k[[0, -1]], y=np.full(2, svm), name=f"global SVM: {svm:.1f}%",
                      color=theme.COLORS[6], dashed=True),
            Rule(x=k, dashed=False),
            Points(x=k[:, None], y=share[:, None], size=11, opacity=1.0, colors=(theme.INK,),
                        symbols=("circle",)),
        ],
    )  # fmt: skip


def _numbers(problem: Problem, table: Any) -> dict[str, Any]:
    """Return the figures in a line, by k."""
    said = falk_words.seconds
    return {
        "k'": [f"{falk.cover_of(k)}" for k in table["n_neighbors"]],
        "Training": [
            f"{said(spent)} (SVM {said(problem.fit_seconds)})" for spent in table["seconds"]
        ],
        "Accuracy": [
            f"{share:.1%} (SVM {1 - problem.test_error:.1%})" for share in table["accuracy"]
        ],
        "Kernel values": [f"{steps:,.1f} (SVM {problem.n_vectors:,})" for steps in table["steps"]],
    }


def _said(count: int, k: int) -> str:
    """What the pointer says of a model."""
    return f"{counted(count)} of {k} points" if count else f"{k} points, all of one class"
