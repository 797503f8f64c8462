"""Where each method spends its kernel values: small maps beside one another, or images."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from kmviz.charts.maps import effort_map, effort_strip
from kmviz.evaluation.catalogue import title_of
from kmviz.ui import maps, pictures
from kmviz.views.compare import Measurements
from kmviz.ui.plane import grid, plane
from kmviz.views.problem import Problem


def efforts(problem: Problem, known: Measurements, table: pd.DataFrame) -> None:
    """Draw the effort of every compared method on one colour scale, from 1 value to all m.

    Methods that compute no kernel values have no effort to draw; nor have rows that are neither
    points of a plane nor images.
    """
    found = {name: known.efforts[name] for name in map(str, table.index) if name in known.efforts}
    if not found:
        return
    st.subheader("Who works hard where?", anchor=False)
    m = problem.n_vectors
    titles = {name: f"{title_of(name)}: {steps.mean():,.1f}" for name, steps in found.items()}
    if problem.is_plane:
        st.caption(
            f"Kernel values for a query at each spot, from 1 to all {m:,} on one colour scale; "
            "above each map their mean. The line is the exact machine's boundary, where answers "
            "are hard: only some methods spend more there."
        )
        x, y, _ = grid(problem, maps.CELLS)
        cells = {name: steps.reshape(len(y), len(x)) for name, steps in found.items()}
        views: list[Any] = [
            effort_map(plane(problem), problem.x, x, y, cells[name], name, titles[name])
            for name in found
        ]
    else:
        st.caption(
            f"The test images that take fewest and most kernel values of {m:,}, with their count; "
            "beside each name the mean."
        )
        rows = np.arange(len(problem.data.X_test))
        images = maps.test_images(problem)
        strips = {name: effort_strip(images, rows, found[name][None]) for name in found}
        views = [
            replace(strip, key=f"effort_map_{name}", title=titles[name])
            for name, strip in strips.items()
        ]
    columns = 4 if problem.is_plane else 1
    pictures.still(*views, columns=columns, key="effort_map")
