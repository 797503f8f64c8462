"""A reduced set at every size: what the live slider draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from kmviz.charts import Axis, Chart, Heat, Images, Line, Points, Rule, geometry, theme
from kmviz.charts.maps import axes, boundary_line
from kmviz.ui import maps, pictures, reduced
from kmviz.ui.fitted import study_of
from kmviz.ui.plane import grid, plane
from kmviz.ui.problem import Problem
from kmviz.ui.work import Shelf

#: Sizes that stand on the slider where all of them would be too many images to send.
SIZES = (*range(1, 17), 18, 20, 24, 28, 32, 40, 48)
#: Images shown at a size at most; queries drawn at most where there is no map.
MOST_IMAGES, DRAWN = 20, 2_000

_read = Shelf()


@dataclass(frozen=True, eq=False)
class Read:
    """What the views draw of each size.

    Attributes
    ----------
    rows : array
        The queries asked: cells of the map, or test rows.
    exact, outputs : arrays (rows,) and (sizes, rows)
        What the machine and the reduced one say.
    lines : list of arrays
        The boundary at each size, on a map.
    vectors, weights : lists of arrays
        The reduced vectors as places, or as images the heaviest first, and their weights.
    """

    rows: NDArray[Any]
    exact: NDArray[Any]
    outputs: NDArray[Any]
    lines: list[NDArray[Any]]
    vectors: list[NDArray[Any]]
    weights: list[NDArray[Any]]


def slider(problem: Problem, page: reduced.Page) -> int:
    """Draw the slider over sizes with all that follows it; return the size chosen."""
    here, sizes = st.session_state["vectors"], list(range(1, page.n_vectors + 1))
    if problem.image_shape:
        sizes = sorted({*(n for n in SIZES if n in sizes), here, page.n_vectors})
    key = (page.shown.key, tuple(sizes))
    read = _read.get(key, lambda: _asked(problem, page, sizes), "Reduced set: every size")
    views: Any = _maps(problem, page, read) if problem.is_plane else _others(problem, read, sizes)
    return pictures.show(
        "vectors", "Vectors n", sizes, here, [*views, _errors(page, sizes)],
        numbers=_numbers(page, sizes),
        columns=3,
        front="boundary" if problem.is_plane else "",  # the machine's own map does not move
        help="Reads the path again; nothing is searched anew.",
        on_click=pictures.pick,
    )  # fmt: skip


def _asked(problem: Problem, page: reduced.Page, sizes: Any) -> Read:
    """Read every size once."""
    if problem.is_plane:
        x, y, rows = grid(problem, maps.CELLS)
        study, taken = study_of(page.shown, rows, "map"), np.arange(len(rows))
    else:
        study, n = page.shown.study, len(page.shown.rows)
        taken = np.unique(np.linspace(0, n - 1, min(n, DRAWN)).astype(np.intp))
        rows = page.shown.rows[taken]
    read = [study.read(n_vectors=n) for n in sizes]
    outputs = np.array([reading.outputs[taken] for reading in read], dtype=np.float32)
    lines = []
    if problem.is_plane:
        lines = [geometry.contour(row.reshape(len(y), len(x)), x, y) for row in outputs]
    order = [np.argsort(-np.abs(reading.weights), kind="stable") for reading in read]
    if problem.image_shape:
        order = [heaviest[:MOST_IMAGES] for heaviest in order]
    places = [
        reduced.places(problem, reading.vectors[first]) for reading, first in zip(read, order)
    ]
    weights = [reading.weights[first] for reading, first in zip(read, order)]
    return Read(rows, read[0].exact[taken], outputs, lines, places, weights)


def _maps(problem: Problem, page: reduced.Page, read: Read) -> list[Chart]:
    """Both decision functions on one scale of colours, each with its vectors and its boundary."""
    x, y, _ = grid(problem, maps.CELLS)
    view, shape = plane(problem), (len(y), len(x))
    reach = float(f"{np.percentile(np.abs(read.exact), 95):.1g}") or 1.0
    heat: dict[str, Any] = {"x": x, "y": y, "scale": "diverging", "range": (-reach, reach),
                            "opacity": 0.75}  # fmt: skip
    star = Points(
        x=view.queries[:, 0], y=view.queries[:, 1], opacity=0.0, id=np.arange(len(view.queries)),
        picked=problem.query,
    )  # fmt: skip
    vectors = Points(
        x=view.vectors[:, 0], y=view.vectors[:, 1], group=view.weights > 0, size=4, opacity=0.7,
        names=("", ""), symbols=("circle", "circle"),
    )  # fmt: skip
    exact = Chart(
        key="exact",
        alt="The machine's decision function over the plane, its boundary and support vectors.",
        title=f"Exact: {page.base.n_vectors:,} vectors",
        layers=[Heat(values=read.exact.reshape(shape), title="f(x)", **heat), vectors,
                *boundary_line(view), star],
        **axes(view),
    )  # fmt: skip
    own: dict[str, Any] = {"x": [a[:, 0] for a in read.lines], "y": [a[:, 1] for a in read.lines]}
    few = Chart(
        key="boundary",
        alt="The reduced decision function over the plane, its vectors and boundary, by size.",
        title=[f"Reduced: {_vectors(len(w))}" for w in read.weights],
        layers=[
            Heat(values=read.outputs.reshape(-1, *shape), title="reduced f(x)", **heat),
            Line(**own, name="its boundary", width=2.5),
            _marks(problem, read),
            star,
        ],
        **axes(view),
    )  # fmt: skip
    return [exact, few]


def _others(problem: Problem, read: Read, sizes: Any) -> list[Any]:
    """The vectors as images or on the projection, and outputs against outputs."""
    first = _images(problem, read, sizes) if problem.image_shape else _projected(problem, read)
    sides = (read.outputs > 0) == (read.exact > 0)
    ends = {name: float(np.percentile(np.abs(part), 99)) * 1.1 or 1.0
            for name, part in (("x", read.exact), ("y", read.outputs))}  # fmt: skip
    chart = Chart(
        key="boundary",
        alt="Output of the reduced machine against the machine's own, query by query, by size.",
        title=f"{len(read.rows):,} queries: reduced f against f",
        x=Axis("exact f(x)", (-ends["x"], ends["x"])),
        y=Axis("reduced f(x)", (-ends["y"], ends["y"])),
        layers=[
            Points(
                x=read.exact.astype(np.float32), y=read.outputs, group=sides,
                names=("sign changed", "same sign"), symbols=("x", "circle"),
                colors=(theme.COLORS[6], theme.COLORS[2]), size=5, opacity=0.6, id=read.rows,
                picked=problem.query, hover={"query": read.rows},
            ),
            Rule(x=0.0, dashed=False),
            Rule(y=0.0, dashed=False),
        ],
    )  # fmt: skip
    return [first, chart]


def _images(problem: Problem, read: Read, sizes: Any) -> Images:
    assert problem.image_shape is not None
    images = np.concatenate(read.vectors).reshape(-1, *problem.image_shape)
    brightest = np.abs(images).max(axis=(1, 2), keepdims=True).clip(1e-12)
    ends = np.cumsum([len(weights) for weights in read.weights])
    return Images(
        key="reduced_vectors",
        alt="The heaviest reduced vectors as images in diverging colours, framed by class.",
        title=[_title(n, len(weights)) for n, weights in zip(sizes, read.weights)],
        bank=images / brightest,
        shown=[np.arange(end - len(w), end) for end, w in zip(ends, read.weights)],
        groups=[(weights > 0).astype(int) for weights in read.weights],
        scale="diverging",
        range=(-1.0, 1.0),
        size=54,
    )


def _projected(problem: Problem, read: Read) -> Chart:
    view = plane(problem)
    return Chart(
        key="reduced_vectors",
        alt="Reduced vectors beside the support vectors that they replace, by size.",
        title=view.title or "Vectors on the map",
        equal=True,
        x=Axis(view.axes[0]),
        y=Axis(view.axes[1]),
        layers=[
            Points(x=view.vectors[:, 0], y=view.vectors[:, 1], group=view.weights > 0,
                        size=4, opacity=0.4, names=("", ""), symbols=("circle", "circle")),
            _marks(problem, read),
        ],
    )  # fmt: skip


def _marks(problem: Problem, read: Read) -> Points:
    """The reduced vectors, by the class that they speak for."""
    return Points(
        x=[places[:, 0] for places in read.vectors], y=[places[:, 1] for places in read.vectors],
        group=[(weights > 0).astype(int) for weights in read.weights],
        names=tuple(f"for {name}" for name in problem.names),
        symbols=("square", "diamond"), size=12, opacity=1.0,
        hover={"weight": [weights.astype(np.float32) for weights in read.weights]},
    )  # fmt: skip


def _errors(page: reduced.Page, sizes: Any) -> Chart:
    curves, machine = page.curves, float(page.before["error %"].iloc[-1])
    n = curves.index.to_numpy()
    least = 50.0 / len(page.shown.rows)  # half a query: where no error is drawn on a log scale
    drawn = curves[["error", "bayes_error"]].clip(lower=least)
    at = drawn.loc[list(sizes)]
    ends = (0.8 * float(min(drawn.min().min(), machine or least)), 1.2 * float(drawn.max().max()))
    lines = [("reduced", "error", 2), ("with the Bayes threshold", "bayes_error", 3)]
    return Chart(
        key="reduced_error",
        alt="Test error against the number of vectors, with the machine's own error as a line.",
        title="Test error by size",
        x=Axis("vectors n", (0.0, 1.03 * n[-1]), whole=True),
        y=Axis("test error in % (log scale)", ends, log=True),
        layers=[
            Line(x=n[[0, -1]], y=np.full(2, max(machine, least)), width=1.5, dashed=True,
                      name=f"exact: {machine:.1f}%"),
            *(Line(x=n, y=drawn[column].to_numpy(), name=name, color=theme.COLORS[slot],
                        dashed=slot == 3) for name, column, slot in lines),
            Rule(x=np.array(sizes), dashed=False),
            *(Points(x=np.array(sizes)[:, None], y=at[[column]].to_numpy(), size=10,
                          opacity=1.0, colors=(theme.COLORS[slot],),
                          symbols=(("circle", "diamond")[slot - 2],)) for _, column, slot in lines),
        ],
    )  # fmt: skip


def _numbers(page: reduced.Page, sizes: Any) -> dict[str, Any]:
    """Return the figures in a line, by size."""
    m, at, asked = page.base.n_vectors, page.curves.loc[list(sizes)], len(page.shown.rows)
    return {
        "Vectors m": f"{m:,}",
        "Fewer by": [f"{m / n:,.0f}x" for n in sizes],
        "ρ": [f"{rho:.3f}" for rho in at["rho"]],
        "Test error": [f"{error:.2f}%" for error in at["error"]],
        "With Bayes threshold": [f"{error:.2f}%" for error in at["bayes_error"]],
        "Changed answers": [f"{count:,} of {asked:,}" for count in at["changed"]],
    }


def _vectors(n: int) -> str:
    return f"{n:,} vector{'s' if n != 1 else ''}"


def _title(n: int, shown: int) -> str:
    what = f"Its {_vectors(n)}" if shown == n else f"The {shown} heaviest of {n} vectors"
    return f"{what}, framed by class"
