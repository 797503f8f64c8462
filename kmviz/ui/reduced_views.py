"""A reduced set at every size: what the live slider draws."""

from __future__ import annotations

from typing import Any

import streamlit as st

from kmviz.charts import reduced as charts
from kmviz.ui import pictures, reduced
from kmviz.ui.runtime.jobs import Cache
from kmviz.views.problem import Problem

#: Sizes that stand on the slider where all of them would be too many images to send.
SIZES = (*range(1, 17), 18, 20, 24, 28, 32, 40, 48)

_read = Cache("reduced_views read")


def slider(problem: Problem, page: reduced.Page) -> int:
    """Draw the slider over sizes with all that follows it; return the size chosen."""
    here, sizes = st.session_state["vectors"], list(range(1, page.n_vectors + 1))
    if problem.image_shape:
        sizes = sorted({*(n for n in SIZES if n in sizes), here, page.n_vectors})
    key = (page.shown.key, tuple(sizes))
    text = "Reduced set: every size"
    read = _read.get(key, lambda: reduced.read_sizes(problem, page, sizes), text)
    error = float(page.before["error %"].iloc[-1])
    views = [
        *reduced.charts_of(problem, page, read, sizes),
        charts.error(page.curves, error, sizes, len(page.shown.rows)),
        charts.rho(page.curves, sizes),
    ]
    return pictures.show(
        "vectors", "Vectors n", sizes, here, views,
        numbers=_numbers(page, sizes),
        columns=2,
        front="boundary" if problem.is_plane else "",
        help="Reads the path again; nothing is searched anew.",
        on_click=pictures.pick,
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
