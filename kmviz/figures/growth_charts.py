"""Charts of tables over growing training sets: figures 3 to 8 of the FaLK-SVM paper, from ours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kmviz.figures import theme

#: The systems of the paper's figures 3 to 5, and of 6 to 8.
SYSTEMS = ("FaLK-SVM", "LibSVM", "BVM", "CVM", "LASVM", "USVM", "CPSP", "SVM-B", "SVM-Bs")
VARIANTS = ("FaLK-SVM", "FaLK-SVMc", "FaLK-SVMl")
#: What the figures draw: the column, its axis, whether on a log scale.
MEASURES = (
    ("ours", "accuracy (%)", False), ("train", "training (CPU s)", True),
    ("test", "testing (CPU s)", True),
)  # fmt: skip
TITLES = ("Accuracy", "Training time", "Testing time")


def rivals(frame: pd.DataFrame) -> dict[str, tuple[go.Figure, str]]:
    """Figures 3 to 8: accuracy and times of FaLK-SVM, its rivals and its variants, by title."""
    found = {}
    for first, names in ((3, SYSTEMS), (6, VARIANTS)):
        whose = "FaLK-SVM and its rivals" if first == 3 else "the FaLK-SVMs"
        for i, (title, measure) in enumerate(zip(TITLES, MEASURES, strict=True)):
            alt = (
                f"{title} of {whose} against training rows, a panel for each data set, a line for "
                "each system; one that was cut off ends before the others."
            )
            part = frame[frame["method"].isin(names)]
            drawn = panels(part, names, "method", *measure, title=f"{title} of {whose}")
            found[f"figure {first + i}"] = (drawn, alt)
    return found


def growth(frame: pd.DataFrame) -> dict[str, tuple[go.Figure, str]]:
    """Training and testing time of FaLK-SVM as the training set grows, by title."""
    names = tuple(frame["data"].unique())
    whole = frame.assign(everything="FaLK-SVM")
    measures = (("ours", "training (CPU s)", True), ("test", "testing (CPU s per 1,000)", True))
    return {
        title: (
            panels(whole, names, "data", *measure, title=title, by="everything"),
            f"{title} against training rows, a line for each data set.",
        )
        for title, measure in zip(TITLES[1:], measures, strict=True)
    }


def panels(
    frame: pd.DataFrame, names: tuple[str, ...], line: str, column: str, axis: str, log: bool,
    title: str, by: str = "data", across: int = 3,
) -> go.Figure:  # fmt: skip
    """Draw a column against `rows`: a panel for each value of `by`, a line for each of `line`.

    Parameters
    ----------
    names : the lines in the order of their colours, ten at most
    """
    each = list(dict.fromkeys(frame[by]))
    across = min(across, len(each))
    down = -(-len(each) // across)
    traces: list[theme.Trace] = []
    axes: dict[str, Any] = {}
    notes: list[dict[str, Any]] = []
    for place, value in enumerate(each):
        number = "" if place == 0 else str(place + 1)
        here = _domain(place % across, across), _domain(down - 1 - place // across, down)
        axes |= _axes(number, here, axis if place % across == 0 else "", log)
        if len(each) > 1:
            notes.append({
                "text": str(value), "xref": "paper", "yref": "paper", "showarrow": False,
                "x": here[0][0], "y": here[1][1], "xanchor": "left", "yanchor": "bottom",
            })  # fmt: skip
        for i, name in enumerate(names):
            own = frame[(frame[by] == value) & (frame[line] == name)].sort_values("rows")
            traces.append(_line(own, column, i, name, number, shown=place == 0))
    return theme.figure(
        traces, "training rows", axis, title, 90 + 250 * down, annotations=notes, **axes
    )


def _domain(place: int, count: int) -> list[float]:
    """The share of the width (or height) that a panel takes, from 0 to 1."""
    room = 0.09 if count > 1 else 0.0
    each = (1.0 - room * (count - 1)) / count
    return [place * (each + room), min(1.0, place * (each + room) + each)]


def _axes(
    number: str, here: tuple[list[float], list[float]], title: str, log: bool
) -> dict[str, Any]:
    return {
        f"xaxis{number}": {
            "domain": here[0], "anchor": f"y{number}", "type": "log", "automargin": True,
            "title": {"text": "training rows" if here[1][0] == 0.0 else ""},
        },
        f"yaxis{number}": {
            "domain": here[1], "anchor": f"x{number}", "automargin": True, "title": {"text": title},
            **({"type": "log"} if log else {}),
        },
    }  # fmt: skip


def _line(
    own: pd.DataFrame, column: str, i: int, name: str, number: str, shown: bool
) -> theme.Trace:
    values = np.asarray(own[column], dtype=np.float64)
    return theme.trace(
        "scatter", x=theme.light(own["rows"]), y=theme.light(values), mode="lines+markers",
        xaxis=f"x{number}", yaxis=f"y{number}", name=name, legendgroup=name, showlegend=shown,
        line={"color": theme.COLORS[i], "width": 2.5 if i == 0 else 1.5},
        marker={"color": theme.COLORS[i], "symbol": theme.SYMBOLS[i], "size": 8},
        hovertemplate=f"{name}, %{{x:,}} rows: %{{y:.4g}}<extra></extra>",
    )  # fmt: skip
