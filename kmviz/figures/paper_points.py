"""Ours against theirs: a point for each cell of a paper's table, and the diagonal."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kmviz.figures import papers, theme

#: A colour and a symbol for each verdict.
MARKS = {
    "as published": (theme.COLORS[2], "circle"),
    "better": (theme.COLORS[0], "triangle-up"),
    "near": (theme.COLORS[4], "square"),
    "worse": (theme.COLORS[1], "diamond"),
    "different": (theme.COLORS[8], "cross"),
}
#: Fewer cells are read faster in the table.
FEWEST = 3
#: Figures further apart than this factor stand on logarithmic axes.
FAR = 20.0


def cells(frame: pd.DataFrame, table: str = "") -> pd.DataFrame:
    """Return the cells that both have as rows: what it is, `paper`, `ours`, and the verdict."""
    words, found = papers.verdicts(frame, table), []
    for paper, ours, difference in papers.pairs(frame):
        if difference not in words:
            continue
        theirs, mine = (pd.to_numeric(frame[c], errors="coerce") for c in (paper, ours))
        own = paper.replace("paper", "").strip("_").replace("_", " ")
        said = [", ".join([*_names(row), *([own] if own else [])]) for _, row in frame.iterrows()]
        part = {"what": said, "paper": theirs, "ours": mine, "verdict": words[difference]}
        found.append(pd.DataFrame(part))
    if not found:
        return pd.DataFrame(columns=["what", "paper", "ours", "verdict"])
    whole = pd.concat(found, ignore_index=True)
    return whole[
        np.isfinite(whole["paper"]) & np.isfinite(whole["ours"]) & (whole["verdict"] != "")
    ]


def diagonal(frame: pd.DataFrame, table: str = "", height: int = 360) -> go.Figure | None:
    """Draw ours against the paper's figures; None where a table has too few of both.

    Axes are logarithmic where figures lie far apart: a table may mix shares and counts.
    """
    points = cells(frame, table)
    if len(points) < FEWEST:
        return None
    both = points[["paper", "ours"]].to_numpy(float)
    is_log = bool((both > 0).all() and both.max() > FAR * both.min())
    low, high = float(both.min()), float(both.max())
    room = 0.04 * ((high - low) or 1.0)
    ends = [low / 1.15, high * 1.15] if is_log else [low - room, high + room]
    traces = [
        theme.trace("scatter", x=ends, y=ends, mode="lines", name="the same",
                    line={"color": theme.INK, "width": 1, "dash": "dot"}, hoverinfo="skip"),
        *(_of_verdict(word, points[points["verdict"] == word])
          for word in MARKS if (points["verdict"] == word).any()),
    ]  # fmt: skip
    scale = {"type": "log"} if is_log else {}
    unit = " (log scale)" if is_log else ""
    return theme.figure(
        traces, f"the paper's figure{unit}", f"ours{unit}", height=height, xaxis=scale, yaxis=scale
    )


def _of_verdict(word: str, points: pd.DataFrame) -> theme.Trace:
    color, symbol = MARKS[word]
    return theme.trace(
        "scatter", x=theme.light(points["paper"]), y=theme.light(points["ours"]),
        text=points["what"].tolist(), mode="markers", name=word,
        marker={"color": color, "symbol": symbol, "size": 9, "opacity": 0.85},
        hovertemplate="%{text}<br>paper %{x:.4g}, ours %{y:.4g}<extra></extra>",
    )  # fmt: skip


def _names(row: pd.Series) -> list[str]:
    """The words of a row: what it is about."""
    return [str(value) for value in row if isinstance(value, str)]
