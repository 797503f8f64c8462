"""The solution of an SVM as forces on a sheet."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from kmviz.figures import theme


def balance(
    lever: NDArray[np.float64], force: NDArray[np.float64], names: tuple[str, str]
) -> go.Figure:
    """Draw each support vector's push on the sheet, up for the second class and down for the first.

    Parameters
    ----------
    lever, force : arrays of shape (m,)
        Where along the sheet each vector pushes, and how hard.
    names : the classes, of negative and of positive forces
    """
    traces = []
    for side, name, slot in ((force < 0, names[0], 0), (force > 0, names[1], 1)):
        x, y = lever[side], force[side]
        stems = np.column_stack([x, x, np.full(len(x), np.nan)]).ravel()
        tips = np.column_stack([np.zeros(len(x)), y, np.full(len(x), np.nan)]).ravel()
        traces.append(
            theme.trace(
                "scatter", x=theme.light(stems), y=theme.light(tips), mode="lines",
                hoverinfo="skip", showlegend=False, opacity=0.5,
                line={"color": theme.COLORS[slot], "width": 1},
            )
        )  # fmt: skip
        traces.append(
            theme.scatter(
                len(x), x=theme.light(x), y=theme.light(y), mode="markers", name=f"push of {name}",
                marker={"color": theme.COLORS[slot], "size": 7,
                        "symbol": ("triangle-down", "triangle-up")[slot]},
                hovertemplate="force %{y:.3g} at %{x:.3g}<extra></extra>",
            )
        )  # fmt: skip
    sheet = theme.trace(
        "scatter",
        x=theme.light([lever.min(initial=0.0), lever.max(initial=0.0)]), y=theme.light([0, 0]),
        mode="lines", name="the sheet", hoverinfo="skip",
        line={"color": theme.INK, "width": 4},
    )  # fmt: skip
    return theme.figure([*traces, sheet], "place on the sheet", "force: the weight β", height=300)
