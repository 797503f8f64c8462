"""Local models by size: who answers where, the answering neighbourhood, what each size comes to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kmviz.charts import geometry, maps, theme
from kmviz.charts.chart import Axis, Chart, Images, Layer, Line, Points, Regions, Rule, marks, xy
from kmviz.charts.plane import Plane
from kmviz.traces import LocalModel

#: Images of a neighbourhood that are drawn at most.
MOST_IMAGES = 16
_GAP = np.full((1, 2), np.nan)


@dataclass(frozen=True, eq=False)
class Models:
    """What the models of one size say over the plane.

    Attributes
    ----------
    owner, steps : arrays (cells, cells)
        The model that answers in each cell, and the kernel evaluations that it takes.
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


@dataclass(frozen=True, eq=False)
class Home:
    """The model of one size that answers the query, and what is drawn around it.

    Attributes
    ----------
    model : LocalModel
    nearest : int
        The training row nearest to the query.
    lines : array
        The boundaries of this model and its neighbours, each inside its own circle.
    removed : array
        Training rows that noise reduction would remove; empty where not asked for.
    """

    model: LocalModel
    nearest: int
    lines: NDArray[Any]
    removed: NDArray[Any]


def local_map(
    plane: Plane,
    grid: tuple[NDArray, NDArray],
    models: Sequence[Models],
    homes: Sequence[Home],
    sizes: Sequence[int],
    query: int,
) -> Chart:
    """Return the paper's figures 1 and 2 by size: regions, boundaries, the answering circles.

    Parameters
    ----------
    grid : the two axes of the cells
    models, homes : for each size k
    """
    x, y = grid
    borders = [geometry.borders(one.owner, x, y) for one in models]
    return Chart(
        key="local_map",
        alt="Training points, the boundary that local models compose, the global SVM's, and the "
        "neighbourhood that answers the query; the pointer shows who answers there.",
        title=[f"{len(one.centers):,} local models of {k} points" for one, k in zip(models, sizes)],
        layers=[
            Regions(
                owner=[one.owner for one in models], x=x, y=y,
                at_x=[one.centers[:, 0] for one in models],
                at_y=[one.centers[:, 1] for one in models],
                radius=[one.radii for one in models], text=[one.words for one in models],
            ),
            maps.rows_by_class(plane, len(plane.points), 3.5, opacity=0.6),
            Line(**xy(borders), width=0.7, opacity=0.35),
            *maps.boundary_line(plane, name="global SVM", color=theme.COLORS[6], width=1.5),
            Line(**xy([home.lines for home in homes]), name="each local model nearby", width=1.2,
                   color=theme.GOOD, opacity=0.75),
            Line(**xy([one.line for one in models]), name="local models composed", width=2.5),
            _circles(plane, homes, "outer", name="k points it is trained on", width=3.0),
            _circles(plane, homes, "inner", name="k' points it answers for", dashed=True),
            *_around(plane, homes, query),
        ],
        **maps.axes(plane),
    )  # fmt: skip


def own_effort(
    plane: Plane, point: Any, grid: tuple[NDArray, NDArray], models: Sequence[Models]
) -> Chart:
    """Return the effort map with the boundary of those who make the effort: the local models'."""
    own = Line(**xy([one.line for one in models]), name="local models", width=2.5)
    steps = np.array([one.steps for one in models])
    return maps.effort_map(plane, point, *grid, steps, line=own)


def local_points(plane: Plane, homes: Sequence[Home], query: int) -> Chart:
    """Return the answering neighbourhood in a projection, where circles mean nothing, by size."""
    inside = [plane.points[home.model.members] for home in homes]
    links = [_links(plane, home.model) for home in homes]
    return Chart(
        key="local_map",
        alt="Training points on their principal components, with the neighbourhood that answers.",
        title=plane.title or "",
        layers=[
            marks(inside, "who answers", theme.QUERY, size=10),
            Line(**xy(links), name="centre to its k' points", width=0.7, opacity=0.5),
            maps.rows_by_class(plane, len(plane.points), 4.0),
            *_around(plane, homes, query),
            maps.queries_of(plane, None),
        ],
        **maps.axes(plane),
    )


def local_images(query: NDArray, images: NDArray, labels: NDArray, homes: Sequence[Home]) -> Images:
    """Return the query, the centre that answers, and its nearest points, as images, by size.

    Parameters
    ----------
    query, images, labels : of the query, and of all training rows, (n, height, width)
    """
    shown = [home.model.members[: MOST_IMAGES - 1] for home in homes]
    return Images(
        **maps.query_first(query, images, shown, (labels > 0).astype(np.uint8)),
        key="local_map",
        alt="The query, then the centre whose model answers and the points nearest to it, framed "
        "by class.",
        title="The query, then those nearest to its centre",
        size=54,
    )


def local_sweep(table: pd.DataFrame, whole: Mapping[str, float]) -> list[Chart]:
    """Return accuracy, cost of a query and training time against k, the global SVM's as lines.

    Parameters
    ----------
    table : one row for each k: `n_neighbors, accuracy, steps, seconds, models`
    whole : `accuracy`, `steps` and `seconds` of the global SVM
    """
    k, models = table["n_neighbors"].to_numpy(), table["models"].to_numpy()
    panels = (
        ("local_sweep", "Test accuracy by k", "test accuracy in %", "accuracy", 100.0),
        ("local_sweep_steps", "Kernel evaluations by k", "per query (log scale)", "steps", 1.0),
        ("local_sweep_seconds", "Training time by k", "seconds (log scale)", "seconds", 1.0),
    )
    found = []
    for key, title, said, column, scale in panels:
        values, level = scale * table[column].to_numpy(), scale * whole[column]
        look: dict[str, Any] = {"colors": (theme.INK,), "symbols": ("circle",)}
        hover = {"k": k, "models": models, said: values}
        name = f"global SVM: {level:.3g}"
        layers = [
            Line(x=k, y=values),
            Line(x=k[[0, -1]], y=np.full(2, level), name=name, color=theme.COLORS[6], dashed=True),
            Points(x=k, y=values, names=("local models",), size=6, hover=hover, **look),
            Rule(x=k, dashed=False),
            Points(x=k[:, None], y=values[:, None], size=11, opacity=1.0, **look),
        ]
        x, y = Axis("k (log scale)", log=True), Axis(said, log=scale == 1.0)
        alt = f"{title}, with the global SVM's as a line."
        found.append(Chart(key=key, alt=alt, title=title, x=x, y=y, layers=layers))
    return found


def _around(plane: Plane, homes: Sequence[Home], query: int) -> list[Layer]:
    """Return the way from the query to who answers, its vectors, noise, and the query."""
    at, rows = plane.queries[query], plane.points
    ways = [np.stack([at, rows[home.nearest], rows[home.model.center]]) for home in homes]
    vectors = [rows[home.model.vectors].reshape(-1, 2) for home in homes]
    removed = [rows[home.removed].reshape(-1, 2) for home in homes]
    return [
        Line(**xy(ways), name="query, nearest point, centre", color=theme.QUERY, markers=True),
        marks(vectors, "its support vectors", theme.COLORS[3], "ring", size=9),
        *[marks(removed, "noise it would remove", theme.COLORS[7], "x")] * any(map(len, removed)),
        maps.star(at),
    ]


def _circles(plane: Plane, homes: Sequence[Home], radius: str, **look: Any) -> Line:
    angle = np.linspace(0, 2 * np.pi, 60)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    models = [home.model for home in homes]
    circles = [plane.points[model.center] + getattr(model, radius) * ring for model in models]
    return Line(**xy(circles), color=theme.QUERY, **look)


def _links(plane: Plane, model: LocalModel) -> NDArray[Any]:
    center = plane.points[[model.center]]
    members = plane.points[model.members[: model.n_cover]]
    return np.concatenate([part for at in members for part in (center, at[None], _GAP)])
