"""The problem in two dimensions: as it is, or as a projection, computed once for each problem."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.charts.plane import Plane, grid_over, principal_axes
from kmviz.ui.runtime.jobs import Cache
from kmviz.views.problem import Problem

GRID = 100
_planes, _axes = Cache("plane planes"), Cache("plane axes")


def plane(problem: Problem, size: int = GRID) -> Plane:
    """Return what charts draw of a problem."""
    return _planes.get((problem.key, size), lambda: _plane(problem, size))


def grid(problem: Problem, size: int = GRID) -> tuple[NDArray, NDArray, NDArray]:
    """Return the axes of a grid over two-dimensional data, and its rows (size * size, 2)."""
    rows = np.vstack([problem.data.X_train, problem.data.X_test])
    return grid_over(rows, size)


def _plane(problem: Problem, size: int) -> Plane:
    data, machine = problem.data, problem.machine
    parts: dict[str, Any] = {
        "labels": data.y_train,
        "weights": machine.beta,
        "class_names": data.class_names,
    }
    if problem.is_plane:
        x, y, rows = grid(problem, size)
        values = machine.decision_function(rows, dtype=np.float32).reshape(size, size)
        return Plane(
            points=data.X_train,
            vectors=machine.vectors,
            queries=data.X_test,
            axes=(data.feature_names[0], data.feature_names[1]),
            x=x,
            y=y,
            values=values,
            **parts,
        )
    centre, directions, share = axes_of(problem)
    d = data.X_train.shape[1]
    axes = ("first principal component", "second principal component")
    title = f"PCA projection of {d} dimensions, {share:.0%} of the variance"
    if d == 1:
        axes, title = (f"{data.feature_names[0]}, centred", ""), "One feature: only across counts"
    return Plane(
        points=(data.X_train - centre) @ directions,
        vectors=on_plane(problem, machine.vectors),
        queries=(data.X_test - centre) @ directions,
        axes=axes,
        title=title,
        **parts,
    )


def on_plane(problem: Problem, vectors: NDArray[Any]) -> NDArray[Any]:
    """Return vectors as they are drawn: in their place, or projected."""
    if problem.is_plane:
        return vectors
    centre, directions, _ = axes_of(problem)
    return (vectors - centre) @ directions


def axes_of(problem: Problem) -> tuple[NDArray, NDArray, float]:
    """Return the principal axes of the training rows, computed once for each problem."""
    return _axes.get(problem.key, lambda: principal_axes(problem.data.X_train))
