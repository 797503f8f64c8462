"""Reduced sets by size: the vectors, how near they come, the boundary they draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kmviz.charts import theme
from kmviz.charts.chart import Axis, Chart, Heat, Images, Line, Points, Rule, xy
from kmviz.charts.maps import axes, boundary_line, queries_of
from kmviz.charts.plane import Plane

#: How support vectors are drawn that others replace: small, without a word in the legend.
_SMALL: dict[str, Any] = {"names": ("", ""), "symbols": ("circle",), "size": 4, "opacity": 0.6}


@dataclass(frozen=True, eq=False)
class Sizes:
    """What there is to draw of a reduced set at each size.

    Attributes
    ----------
    rows : array
        The queries asked: cells of the map, or test rows.
    exact, outputs : arrays (rows,) and (sizes, rows)
        What the SVM and the reduced one say.
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


def vectors_on_map(plane: Plane, read: Sizes, query: int, n_vectors: int) -> Chart:
    """Return the reduced vectors beside the support vectors that they replace, over f, by size.

    Parameters
    ----------
    n_vectors : support vectors of the SVM that is reduced
    """
    return Chart(
        key="reduced_vectors",
        alt="Reduced vectors beside the support vectors that they replace, by size.",
        title=plane.title or f"Exact: {n_vectors:,} vectors",
        layers=[
            *_heat(plane, read.exact, read, "f(x)"),
            Points(**xy(plane.vectors), group=plane.weights > 0, **_SMALL),
            *boundary_line(plane),
            _marks(plane, read),
            queries_of(plane, query),
        ],
        **axes(plane),
    )


def boundary(plane: Plane, read: Sizes, query: int) -> Chart:
    """Return the reduced decision function over the plane, its vectors and boundary, by size."""
    return Chart(
        key="boundary",
        alt="The reduced decision function over the plane, its vectors and boundary, by size.",
        title=[f"Reduced: {_counted(len(weights))}" for weights in read.weights],
        layers=[
            *_heat(plane, read.outputs, read, "reduced f(x)"),
            Line(**xy(read.lines), name="its boundary", width=2.5),
            _marks(plane, read),
            queries_of(plane, query),
        ],
        **axes(plane),
    )


def outputs(read: Sizes, query: int) -> Chart:
    """Return the reduced output of each query against the exact one, by size."""
    ends = [float(np.percentile(np.abs(a), 99)) * 1.1 or 1.0 for a in (read.exact, read.outputs)]
    least = min(ends)
    return Chart(
        key="boundary",
        alt="Output of the reduced SVM against the exact one, query by query, by size.",
        title=f"{len(read.rows):,} queries: reduced f against f",
        x=Axis("exact f(x)", (-ends[0], ends[0])),
        y=Axis("reduced f(x)", (-ends[1], ends[1])),
        layers=[
            Line(x=[-least, least], y=[-least, least], dashed=True, width=1.0),
            Points(
                x=read.exact.astype(np.float32), y=read.outputs, size=5, opacity=0.6,
                group=(read.outputs > 0) == (read.exact > 0), names=("sign changed", "same sign"),
                symbols=("x", "circle"), colors=(theme.ERROR, theme.GOOD), id=read.rows,
                picked=query, hover={"query": read.rows},
            ),
            Rule(x=0.0, dashed=False),
            Rule(y=0.0, dashed=False),
        ],
    )  # fmt: skip


def vectors_as_images(read: Sizes, sizes: Sequence[int], shape: tuple[int, int]) -> Images:
    """Return the heaviest reduced vectors as images, in colours that part at nothing, by size."""
    images = np.concatenate(read.vectors).reshape(-1, *shape)
    brightest = np.abs(images).max(axis=(1, 2), keepdims=True).clip(1e-12)
    ends = np.cumsum([len(weights) for weights in read.weights])
    return Images(
        key="reduced_vectors",
        alt="The heaviest reduced vectors as images in diverging colours, framed by class.",
        title=[_title(n, len(weights)) for n, weights in zip(sizes, read.weights)],
        bank=images / brightest,
        shown=[np.arange(end - len(w), end) for end, w in zip(ends, read.weights)],
        groups=[(weights > 0).astype(int) for weights in read.weights],
        text=[[f"weight {w:+.3g}" for w in weights] for weights in read.weights],
        scale="diverging",
        range=(-1.0, 1.0),
        size=54,
    )


def error(curves: pd.DataFrame, machine: float, sizes: Sequence[int], n_queries: int) -> Chart:
    """Return the test error against the number of vectors, a mark at each size.

    Parameters
    ----------
    curves : indexed by size: the test errors in percent with the SVM's threshold, `error`, and
        with the one found anew, `bayes_error`
    machine : the error of the SVM that is reduced
    """
    n, least = curves.index.to_numpy(), 50.0 / n_queries  # half a query, where none is wrong
    drawn = curves[["error", "bayes_error"]].clip(lower=least)
    ends = (0.8 * float(min(drawn.min().min(), machine or least)), 1.2 * float(drawn.max().max()))
    lines = [("reduced", "error", 2), ("with the Bayes threshold", "bayes_error", 3)]
    return Chart(
        key="reduced_error",
        alt="Test error against the number of vectors, with the SVM's own error as a line.",
        title="Test error by size",
        x=Axis("vectors n", (0.0, 1.03 * n[-1]), whole=True),
        y=Axis("test error in % (log scale)", ends, log=True),
        layers=[
            Line(x=n[[0, -1]], y=np.full(2, max(machine, least)), width=1.5, dashed=True,
                 name=f"exact: {machine:.1f}%"),
            *(Line(x=n, y=drawn[column].to_numpy(), name=name, color=theme.COLORS[slot],
                   dashed=slot == 3) for name, column, slot in lines),
            Rule(x=np.array(sizes), dashed=False),
            *(_at_each(sizes, drawn[column], theme.COLORS[slot], theme.SYMBOLS[slot - 2])
              for _, column, slot in lines),
        ],
    )  # fmt: skip


def rho(curves: pd.DataFrame, sizes: Sequence[int]) -> Chart:
    """Return the distance that is left to the SVM, ||Psi - Psi'|| / ||Psi||, by size."""
    n, left = curves.index.to_numpy(), curves["rho"].clip(lower=1e-6)
    return Chart(
        key="reduced_rho",
        alt="The distance rho that is left, against the number of vectors.",
        title="What is still missing, by size",
        x=Axis("vectors n", (0.0, 1.03 * n[-1]), whole=True),
        y=Axis("ρ = ‖Ψ − Ψ′‖ / ‖Ψ‖ (log scale)", log=True),
        layers=[
            Line(x=n, y=left.to_numpy(), color=theme.QUERY),
            Rule(x=np.array(sizes), dashed=False),
            _at_each(sizes, left, theme.QUERY, "circle"),
        ],
    )


def virtual_strip(images: NDArray[Any], captions: Sequence[str]) -> Images:
    """Return one support vector and its virtual copies, (n, height, width)."""
    return Images(
        key="virtual_strip",
        alt="A support vector and its four shifted copies.",
        title="One support vector and its virtual copies",
        bank=images,
        shown=np.arange(len(images)),
        captions=list(captions),
    )


def _heat(plane: Plane, values: NDArray[Any], read: Sizes, title: str) -> list[Heat]:
    """Return f or its likeness over the cells of a map, both on one scale of colours."""
    if plane.x is None or plane.y is None:
        return []
    cells = int(len(read.rows) ** 0.5)
    x, y = (np.linspace(axis[0], axis[-1], cells) for axis in (plane.x, plane.y))
    reach = float(f"{np.percentile(np.abs(read.exact), 95):.1g}") or 1.0
    grid = values.reshape(*values.shape[:-1], cells, cells)
    look: dict[str, Any] = {"scale": "diverging", "range": (-reach, reach), "opacity": 0.75}
    return [Heat(values=grid, x=x, y=y, title=title, **look)]


def _marks(plane: Plane, read: Sizes) -> Points:
    """Return the reduced vectors, by the class that they speak for."""
    return Points(
        **xy(read.vectors), group=[(weights > 0).astype(int) for weights in read.weights],
        names=tuple(f"for {name}" for name in plane.class_names),
        symbols=("square", "diamond"), size=12, opacity=1.0,
        hover={"weight": [weights.astype(np.float32) for weights in read.weights]},
    )  # fmt: skip


def _at_each(sizes: Sequence[int], curve: pd.Series, color: str, symbol: str) -> Points:
    """Return a mark at each size on a curve."""
    return Points(
        x=np.array(sizes)[:, None], y=curve.loc[list(sizes)].to_numpy()[:, None], size=10,
        opacity=1.0, colors=(color,), symbols=(symbol,),
    )  # fmt: skip


def _counted(n: int) -> str:
    return f"{n:,} vector{'s' if n != 1 else ''}"


def _title(n: int, shown: int) -> str:
    what = f"Its {_counted(n)}" if shown == n else f"The {shown} heaviest of {n} vectors"
    return f"{what}, framed by class"
