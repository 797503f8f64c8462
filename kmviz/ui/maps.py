"""Effort maps: how many kernel values a query takes, wherever it is.

In the plane a study of a grid gives steps(x) everywhere, on one colour scale from 1 to m, with the
machine's boundary on top. For images the easiest and the hardest queries stand in a strip.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from kmviz.charts import Axis, Chart, Heat, Images, Line, Points, geometry, theme
from kmviz.ui.fitted import Shown, frames, kept_rows
from kmviz.ui.plane import grid
from kmviz.ui.problem import Problem
from kmviz.ui.work import Shelf

#: Cells on each side of a map that moves with a slider; images at each end of a strip.
CELLS, ENDS = 60, 6
#: Bytes that the sums of all cells may take: a large machine has a coarser map.
MOST_BYTES = 64 * 2**20

_steps, _lines = Shelf(), Shelf()


def effort_view(
    now: Shown, name: str, values: Sequence[Any], here: Any = None, **choice: Any
) -> Any:
    """Return the view of effort under every value of a choice; None where there is no picture.

    Parameters
    ----------
    name, values : the choice that a slider moves, and where it may stand
    here : one place more, which another query may not share
    **choice : the others
    """
    problem = now.problem
    if problem.is_plane:
        side = min(CELLS, int(kept_rows(problem, MOST_BYTES) ** 0.5))
        x, y, rows = grid(problem, side)

        def found() -> NDArray[Any]:
            study = now.study.fitted.study(rows)
            steps = study.frames(name, values, **choice).steps.astype(np.int32)
            return steps.reshape(len(values), side, side)

        key = (*now.key, name, tuple(values), tuple(sorted(choice.items())))
        steps = _steps.get(key, found, f"{now.method.title}: a map")
        if here is not None and here not in values:
            one = now.study.classifier(**{name: here}, **choice).steps(rows)
            steps = np.insert(steps, bisect(values, here), one.reshape(side, side), axis=0)
        return effort_map(problem, x, y, steps)
    if problem.image_shape:
        return effort_strip(problem, now.rows, frames(now, name, values, here, **choice).steps)
    return None


def boundary_line(problem: Problem, size: int = 100, **options: Any) -> Line:
    """Return the machine's own boundary as a layer of a map; a page may name it otherwise."""

    def found() -> NDArray[Any]:
        x, y, rows = grid(problem, size)
        f = problem.machine.decision_function(rows, dtype=np.float32).reshape(size, size)
        return geometry.contour(f, x, y)

    line = _lines.get((problem.key, size), found)
    return Line(x=line[:, 0], y=line[:, 1], **({"name": "exact boundary"} | options))


def axes(problem: Problem) -> dict[str, Any]:
    """Return the two axes of a map, by the features' names."""
    x, y, _ = grid(problem, 2)
    across, up = problem.data.feature_names[:2]
    return {"x": Axis(across, (x[0], x[-1])), "y": Axis(up, (y[0], y[-1]))}


def effort_map(problem: Problem, x: NDArray, y: NDArray, steps: NDArray) -> Chart:
    """Return the map of the steps that each cell takes, (positions, rows upwards, columns)."""
    m = max(problem.n_vectors, 2)
    star = problem.x[None]
    line = boundary_line(problem, width=2.5)
    halo = replace(line, name="", color=theme.PAPER, width=6.0)  # to be seen on dark cells
    return Chart(
        key="effort_map",
        alt="Kernel values that a query takes, over the plane, with the exact boundary.",
        title="Effort map",
        equal=True,
        layers=[
            Heat(values=np.clip(steps, 1, None), x=x, y=y, range=(1, m), log=True,
                      title="kernel values"),
            halo,
            line,
            Points(x=star[:, 0], y=star[:, 1], names=("the query",), size=14, opacity=1.0,
                        colors=(theme.COLORS[4],), symbols=("star",)),
            _queries(problem),
        ],
        **axes(problem),
    )  # fmt: skip


def small_map(whole: Chart, name: str, title: str, steps: NDArray) -> Chart:
    """Return a map like another, of other steps (cells, cells): small, without legend or axes."""
    heat, halo, line, star, queries = (cast("Any", layer) for layer in whole.layers)
    layers = [
        replace(heat, values=np.clip(steps, 1, None), title="values"),
        halo,
        replace(line, name=""),
        replace(star, names=("",), size=11),
        queries,
    ]
    x, y = replace(whole.x, hidden=True), replace(whole.y, hidden=True)
    key = f"effort_map_{name}"
    return replace(whole, key=key, title=title, layers=layers, height=200, x=x, y=y)


def _queries(problem: Problem) -> Points:
    """Every query, unseen: a click picks it, and pointed at in another picture it is ringed."""
    X = problem.data.X_test.astype(np.float32)
    return Points(x=X[:, 0], y=X[:, 1], id=np.arange(len(X)), opacity=0.0, fits=False)


def effort_strip(problem: Problem, tested: NDArray, steps: NDArray) -> Images:
    """Return the queries that take fewest and most steps, (positions, queries).

    Parameters
    ----------
    tested : which test rows the queries are
    """
    assert problem.image_shape is not None
    order = np.argsort(steps, axis=1, kind="stable")
    ends = np.hstack([order[:, :ENDS], order[:, -ENDS:]])
    bank, place = np.unique(ends, return_inverse=True)
    rows = tested[bank]
    captions = [[f"{k:,}" for k in counts[found]] for counts, found in zip(steps, ends)]
    return Images(
        key="effort_map",
        alt="The queries that take fewest kernel values, then those that take most.",
        title=f"Kernel values: the {ENDS} easiest, the {ENDS} hardest",
        bank=problem.data.X_test[rows].reshape(-1, *problem.image_shape),
        shown=place.reshape(ends.shape),
        captions=captions,
        id=rows,
        size=48,
        together=ENDS,
    )
