"""What a query costs wherever it is, under every value of a choice."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.charts import Chart, Images, maps
from kmviz.ui.plane import grid, plane
from kmviz.ui.runtime.fitted import frames
from kmviz.ui.runtime.jobs import Cache
from kmviz.views.fitted import Shown, kept_rows
from kmviz.views.problem import Problem

#: Cells on each side of a map that moves with a slider.
CELLS = 60
#: Bytes that the sums of all cells may take: a large machine has a coarser map.
MOST_BYTES = 64 * 2**20

_steps = Cache("maps steps")


def effort_view(
    now: Shown, name: str, values: Sequence[Any], here: Any = None, **choice: Any
) -> list[Chart | Images]:
    """Return the chart of effort under every value of a choice; none where there is no picture.

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
        return [maps.effort_map(plane(problem), problem.x, x, y, steps)]
    if problem.image_shape:
        steps = frames(now, name, values, here, **choice).steps
        return [maps.effort_strip(test_images(problem), now.rows, steps)]
    return []


def test_images(problem: Problem) -> NDArray[Any]:
    """Return all test rows as images."""
    return problem.data.X_test.reshape(-1, *(problem.image_shape or ()))
