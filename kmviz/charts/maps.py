"""Maps of the plane: the SVM itself, and what a query costs wherever it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.charts import theme
from kmviz.charts.chart import Axis, Chart, Heat, Images, Layer, Line, Points, Rule, marks, xy
from kmviz.charts.plane import Plane, thinned

#: Training rows drawn behind a map; bands of f on each side of the boundary; vectors above which
#: their rings are small; images at each end of a strip.
POINTS, BANDS, CROWD, ENDS = 1_000, 6, 300, 6
#: Queries drawn against what they cost, at most.
QUERIES = 600


def boundary(plane: Plane, query: int | None = None, title: str = "") -> Chart:
    """Return the SVM: f in bands, the boundary, training rows, support vectors, the query."""
    return base_map(
        plane, query,
        [rows_by_class(plane), _vectors(plane)],
        key="boundary",
        alt="Training points by class, the support vectors ringed, the decision boundary and the "
        "selected query.",
        title=title or plane.title or "The exact SVM", height=400,
    )  # fmt: skip


def base_map(plane: Plane, query: int | None, more: Sequence[Layer], **options: Any) -> Chart:
    """Return a map with these layers over f and its boundary, under the query."""
    found: list[Layer] = [*bands(plane), *more, *boundary_line(plane)]
    return Chart(layers=[*found, queries_of(plane, query)], **axes(plane), **options)


def axes(plane: Plane) -> dict[str, Any]:
    """Return the two axes of a map, on one scale: what looks near is near."""
    x, y = (Axis(name) for name in plane.axes)
    if plane.x is not None and plane.y is not None:
        x = Axis(plane.axes[0], (float(plane.x[0]), float(plane.x[-1])))
        y = Axis(plane.axes[1], (float(plane.y[0]), float(plane.y[-1])))
    return {"x": x, "y": y, "equal": True}


def bands(plane: Plane) -> list[Heat]:
    """Return f over the plane in bands of colour, nothing for a projection."""
    if plane.x is None or plane.y is None or plane.values is None:
        return []
    reach = float(np.percentile(np.abs(plane.values), 95)) or 1.0
    steps = np.clip(np.rint(plane.values / reach * BANDS), -BANDS, BANDS).astype(np.int8)
    heat = Heat(
        values=steps * (reach / BANDS), x=plane.x, y=plane.y, scale="diverging",
        range=(-reach, reach), title="f(x)", opacity=0.8,
    )  # fmt: skip
    return [heat]


def boundary_line(plane: Plane, **options: Any) -> list[Line]:
    """Return where f is zero, nothing for a projection."""
    look: dict[str, Any] = {"name": "exact boundary", "width": 2.5} | options
    return [] if plane.boundary is None else [Line(**xy(plane.boundary), **look)]


def rows_by_class(plane: Plane, most: int = POINTS, size: float = 5.0, **options: Any) -> Points:
    """Return the training rows, a colour and symbol for each class."""
    rows = thinned(len(plane.points), most)
    group = (plane.labels[rows] > 0).astype(np.uint8)
    return Points(
        **xy(plane.points[rows]), names=plane.class_names, size=size, group=group, **options
    )


def _vectors(plane: Plane) -> Points:
    """Return the support vectors as rings, the area in proportion to |beta|."""
    strength = np.abs(plane.weights)
    is_crowded = len(strength) > CROWD
    part = np.sqrt(strength / max(float(strength.max(initial=0.0)), 1e-300))
    size, opacity = (6 + 5 * part, 0.35) if is_crowded else (6 + 10 * part, 0.6)
    look: dict[str, Any] = {"symbol": "ring", "size": size, "opacity": opacity}
    return marks(plane.vectors, "support vector", hover={"β": plane.weights}, **look)


def queries_of(plane: Plane, query: int | None, most: int | None = None) -> Points:
    """Return the queries, unseen but for the one that is marked: a click picks one of them."""
    rows = thinned(len(plane.queries), most or len(plane.queries))
    rows = rows if query is None else np.union1d(rows, query)
    places = plane.queries[rows].astype(np.float32)
    return Points(**xy(places), id=rows, picked=query, opacity=0.0, fits=False)


def star(place: Any, name: str = "the query", size: int = 14) -> Points:
    """Return one place, (x, y), marked as the query is."""
    return marks(np.array([place]), name, theme.QUERY, "star", size=size, opacity=1.0)


def query_first(
    query: NDArray[Any], images: NDArray[Any], shown: Sequence[NDArray[Any]], sides: NDArray[Any]
) -> dict[str, Any]:
    """Return a strip of the query, then the images of each position, framed by class (`sides`)."""
    drawn = [np.asarray(own, np.intp) for own in shown]
    bank, place = np.unique(np.concatenate(drawn), return_inverse=True)
    each = np.split(place + 1, np.cumsum([len(own) for own in drawn])[:-1])
    return {
        "bank": np.concatenate([query[None], images[bank]]),  # those that any position shows
        "shown": [np.append(0, own) for own in each],
        "groups": [np.append(255, sides[own]) for own in drawn],
    }


def effort_map(
    plane: Plane,
    point: Any,
    x: Any,
    y: Any,
    steps: Any,
    name: str = "",
    title: str = "Effort map",
    line: Line | None = None,
) -> Chart:
    """Return the kernel evaluations that a query takes in each cell.

    Parameters
    ----------
    point : where the query is
    x, y, steps : the grid, and the steps on it, (rows upwards, columns) or for each position
    name : of a method: a small map without axes and legend, one of several
    line : the boundary to draw; default: where f is zero
    """
    is_small = bool(name)
    options = {"name": ""} if is_small else {}
    lines = boundary_line(plane, **options) if line is None else [line]
    halo = [replace(own, name="", color=theme.PAPER, width=6.0) for own in lines]  # on dark cells
    where = axes(plane)
    if is_small:
        where |= {n: Axis(where[n].title, where[n].range, hidden=True) for n in "xy"}
        where["height"] = 200
    heat = Heat(
        values=np.clip(steps, 1, None), x=x, y=y, range=(1, max(len(plane.vectors), 2)), log=True,
        title="evaluations" if is_small else "kernel evaluations",
    )  # fmt: skip
    mark = star(point, "", 11) if is_small else star(point)
    return Chart(
        key=f"effort_map_{name}" if is_small else "effort_map",
        alt="Kernel evaluations that a query takes, over the plane, with the exact boundary.",
        title=title, layers=[heat, *halo, *lines, mark, queries_of(plane, None)], **where,
    )  # fmt: skip


def effort_points(X: NDArray[Any], steps: NDArray[Any], names: tuple[str, str]) -> Chart:
    """Return the kernel evaluations of each query where it is: the more, the darker."""
    rows = thinned(len(X))
    part = np.log(np.clip(steps[rows], 1, None)) / np.log(max(float(steps.max()), 2.0))
    return Chart(
        key="effort_map",
        alt="Kernel evaluations of each query, over the plane.",
        title="Effort map: the darker, the more kernel evaluations",
        x=Axis(names[0]),
        y=Axis(names[1]),
        layers=[
            Points(x=X[rows, 0], y=X[rows, 1], group=np.clip(part * 10, 0, 9).astype(np.uint8),
                   names=("",) * 10, colors=theme.SEQUENTIAL, symbols=("circle",), opacity=1.0,
                   hover={"kernel evaluations": steps[rows]}),
        ],
        height=520,
    )  # fmt: skip


def effort_strip(images: NDArray[Any], rows: NDArray[Any], steps: NDArray[Any]) -> Images:
    """Return the queries that take fewest and most steps, as images.

    Parameters
    ----------
    images : of all test rows, (n, height, width)
    rows : which test rows the queries are
    steps : (positions, queries)
    """
    order = np.argsort(steps, axis=1, kind="stable")
    ends = np.hstack([order[:, :ENDS], order[:, -ENDS:]])
    bank, place = np.unique(ends, return_inverse=True)
    return Images(
        key="effort_map",
        alt="The queries that take fewest kernel evaluations, then those that take most.",
        title=f"Kernel evaluations: the {ENDS} easiest, the {ENDS} hardest",
        bank=images[rows[bank]],
        shown=place.reshape(ends.shape),
        captions=[[f"{k:,}" for k in counts[found]] for counts, found in zip(steps, ends)],
        id=rows[bank],
        size=48,
        together=ENDS,
    )


def effort(
    outputs: Any,
    steps: Any,
    labels: Any,
    class_names: tuple[str, str],
    ids: Any = None,
    query: int | None = None,
    n_vectors: int | None = None,
) -> Chart:
    """Return f(x) of each query against what its answer costs.

    Parameters
    ----------
    outputs, steps, labels : f(x), kernel evaluations and true label (-1 or +1) of each query
    ids : what a query is called; default: its position
    n_vectors : what the exact SVM takes, drawn as a line
    """
    f, cost, label = (np.asarray(column) for column in (outputs, steps, labels))
    names = np.arange(len(f)) if ids is None else np.asarray(ids)
    rows = thinned(len(f), QUERIES)
    if query is not None:
        rows = np.union1d(rows, np.flatnonzero(names == query))
    group = np.where((f > 0) == (label > 0), (label > 0).astype(int), 2)[rows]
    top = 1.18 * float(max(np.max(cost, initial=1.0), n_vectors or 0))
    whole = [] if n_vectors is None else [
        Rule(y=float(n_vectors), text=f"all {n_vectors:,} support vectors", at_start=True)
    ]  # fmt: skip
    return Chart(
        key="effort",
        alt="Output f(x) of each query against the kernel evaluations that its answer takes.",
        title=f"A sample of {len(rows):,} queries" if len(rows) < len(f) else "Every query",
        x=Axis("f(x): its sign is the class"),
        y=Axis("kernel evaluations", (-0.03 * top, top)),
        layers=[
            Points(x=f[rows].astype(np.float32), y=cost[rows], group=group, id=names[rows],
                   names=(*class_names, "wrong answer"), symbols=(*theme.SYMBOLS[:2], "x"),
                   colors=(*theme.COLORS[:2], theme.ERROR), size=8, opacity=0.55, picked=query,
                   hover={"query": names[rows], "f(x)": f[rows], "evaluations": cost[rows]}),
            Rule(x=0.0),
            *whole,
        ],
    )  # fmt: skip
