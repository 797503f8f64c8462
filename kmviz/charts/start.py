"""What one answer costs: the support vectors that a query is compared with, one after another."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.charts import theme
from kmviz.charts.chart import Axis, Chart, Images, Line, Rule
from kmviz.charts.maps import axes, boundary_line, queries_of, rows_by_class
from kmviz.charts.plane import Plane, thinned
from kmviz.charts.walk import used_images

#: Lines, and training rows and queries behind them, that are drawn at most.
LINES, POINTS = 300, 800
#: Vertices of the sum at most; images of the vectors used last, which fill two rows with the query.
VERTICES, LATEST = 240, 5
#: So few lines are drawn thick.
FEW = 30


def rays(
    plane: Plane, query: int, counts: NDArray[Any], order: NDArray[Any], key: str, title: str
) -> Chart:
    """Return the query's lines to the support vectors used so far, by count.

    Parameters
    ----------
    order : the support vectors in the order in which they are used
    """
    drawn = thinned(len(order), LINES)
    ends = np.full((len(drawn), 3, 2), np.nan, dtype=np.float32)
    ends[:, 0], ends[:, 1] = plane.queries[query], plane.vectors[order[drawn]]
    flat = ends.reshape(-1, 2)
    upto = [flat[: 3 * int(np.searchsorted(drawn, k))] for k in counts]
    return Chart(
        key=key,
        alt="The query and a line to each support vector that it was compared with so far.",
        title=title,
        layers=[
            rows_by_class(plane, POINTS, 4.0, opacity=0.5),
            Line(x=[part[:, 0] for part in upto], y=[part[:, 1] for part in upto],
                 name="compared with", color=theme.QUERY, width=0.8 if len(order) > FEW else 2.5),
            *boundary_line(plane, width=2.0),
            queries_of(plane, query, POINTS),
        ],
        **axes(plane),
    )  # fmt: skip


def latest(
    images: NDArray[Any], beta: NDArray[Any], counts: NDArray[Any], class_names: tuple[str, str]
) -> Images:
    """Return the query, and the images that it was compared with last, by count.

    Parameters
    ----------
    images : the query, then all support vectors, (1 + m, height, width)
    """
    last, sides = [np.arange(k)[-LATEST:] for k in counts], (beta > 0).astype(int)
    strip = used_images(images[0], images[1:], 0, last, sides, class_names, "payment_images")
    return replace(strip, title="The query, and the vectors used last", size=84, together=3)


def partial_sums(counts: NDArray[Any], sums: NDArray[Any]) -> Chart:
    """Return the sum after each support vector, faint after those used so far.

    Parameters
    ----------
    sums : -b, then the sum after each support vector, (m + 1,)
    """
    at = np.unique(np.linspace(0, len(sums) - 1, min(len(sums), VERTICES)).astype(int))
    return Chart(
        key="payment_sum",
        alt="The sum after each support vector, and f(x), which it ends at.",
        title="The partial sum",
        x=Axis("support vectors used", whole=True),
        y=Axis("partial sum"),
        layers=[
            Line(x=at, y=sums[at], dim_after=np.searchsorted(at, counts, side="right") - 1,
                 color=theme.QUERY),
            Rule(y=0.0, dashed=False),
            Rule(y=float(sums[-1]), text=f"f(x) = {sums[-1]:.3g}"),
        ],
    )  # fmt: skip
