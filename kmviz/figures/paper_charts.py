"""Charts of the papers' tables: what a page draws above a stored table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kmviz.figures import growth_charts, theme

#: Columns by which a table says that it is cells of matrices, a frontier, or over growing sets.
CELLS = {"setting", "row", "column", "measure"}
FRONTIER = {"setting", "margin", "speedup", "honest_speedup"}
RIVALS = {"data", "rows", "method", "ours", "train", "test"}
GROWTH = {"data", "rows", "ours", "test", "exponent"}

#: The paper's m/k, which counts vectors touched, and its disagreements.
PAPER_POINT = (111.0, 6.0)


def charts(frame: pd.DataFrame) -> dict[str, tuple[go.Figure, str]]:
    """Return the charts of a table by title, each with what it shows in words; most have none."""
    if set(frame.columns) >= CELLS:
        alt = "A matrix of ten by ten digits: one figure of each pair above the diagonal, another "
        return {name: (matrix(frame, name), f"{alt}below it.") for name in _settings(frame)}
    if set(frame.columns) >= FRONTIER:
        alt = "Disagreements against speedup, all counted: a line for each setting, and the paper."
        return {"frontier": (frontier(frame), alt)}
    if set(frame.columns) >= RIVALS:
        return growth_charts.rivals(frame)
    return growth_charts.growth(frame) if set(frame.columns) >= GROWTH else {}


def _settings(frame: pd.DataFrame) -> list[str]:
    return list(dict.fromkeys(frame["setting"]))


def matrix(frame: pd.DataFrame, setting: str, height: int = 430) -> go.Figure:
    """Draw the cells of one setting: a matrix of digits, each triangle on a scale of its own.

    Parameters
    ----------
    frame : DataFrame
        Columns `setting`, `row`, `column` (digits, or a word for what they come to), `measure`,
        `paper` and `ours`. A cell that the paper gives is written "ours (paper)".
    """
    own = frame[frame["setting"] == setting]
    is_cell = own["row"].astype(str).str.fullmatch(r"\d")
    cells, totals = own[is_cell], own[~is_cell]
    above = cells["row"].astype(int) < cells["column"].astype(int)
    scales = ((above, theme.sequential_scale()), (~above, [[0, theme.FAINT], [1, theme.FAINT]]))
    traces = [_triangle(cells[part], scale) for part, scale in scales if part.any()]
    notes = [
        {"x": int(cell["column"]), "y": int(cell["row"]), "showarrow": False,
         "text": _beside(cell), "font": {"size": 11, "color": theme.INK}}
        for _, cell in cells.iterrows()
    ]  # fmt: skip
    ends = "".join(f", {c['row']} {_beside(c, 'paper ')}" for _, c in totals.iterrows())
    names = [str(trace["name"]) for trace in traces]
    said = f"above the diagonal {names[0]}{ends}; below it {names[-1]}"
    axis = {"dtick": 1, "range": [-0.5, 9.5], "showgrid": False}
    return theme.figure(
        traces, said, "", setting, height, half=True, annotations=notes, xaxis=axis,
        yaxis=axis | {"range": [9.5, -0.5]},
    )  # fmt: skip


def _triangle(cells: pd.DataFrame, scale: list[list[Any]]) -> theme.Trace:
    values = np.full((10, 10), np.nan, dtype=np.float32)
    values[cells["row"].astype(int), cells["column"].astype(int)] = cells["ours"]
    shown = np.log1p(values) if np.nanmax(values) > 50 else values
    name = str(cells["measure"].iloc[0])
    return theme.trace(
        "heatmap", z=shown, customdata=values, name=name, colorscale=scale, showscale=False,
        opacity=0.4, xgap=2, ygap=2,
        hovertemplate=f"%{{y}} against %{{x}}: {name} %{{customdata:,.4g}}<extra></extra>",
    )  # fmt: skip


def _beside(cell: pd.Series, word: str = "") -> str:
    ours = f"{cell['ours']:,.0f}"
    return ours if pd.isna(cell["paper"]) else f"{ours} ({word}{cell['paper']:,.0f})"


def frontier(frame: pd.DataFrame, height: int = 460) -> go.Figure:
    """Draw disagreements against m/k with ordering and approximation counted, by setting."""
    traces: list[theme.Trace] = []
    for slot, (name, part) in enumerate(frame.groupby("setting", sort=False)):
        traces.append(
            theme.trace(
                "scatter", x=theme.light(part["honest_speedup"]), y=theme.light(part["ours"]),
                text=[choice_of(row) for _, row in part.iterrows()],
                customdata=theme.light(part["speedup"]),
                mode="lines+markers", name=str(name),
                line={"color": theme.COLORS[slot], "width": 1},
                marker={"color": theme.COLORS[slot], "symbol": theme.SYMBOLS[slot], "size": 10},
                hovertemplate="%{text}: %{y:,} differ<br>m/k %{x:.3g} counted, %{customdata:.3g} "
                "as the paper counts<extra></extra>",
            )
        )  # fmt: skip
    shapes = []
    if frame["paper"].notna().any():
        traces.append(theme.star(*PAPER_POINT, "the paper, which counts vectors touched alone"))
        shapes = [theme.line_at(x=PAPER_POINT[0]), theme.line_at(y=PAPER_POINT[1])]
    queries = int(frame["queries"].max())
    return theme.figure(
        traces, "mean m/k, ordering and approximation counted (log scale)",
        f"answers that differ, of {queries:,}", height=height, shapes=shapes,
        xaxis={"type": "log"}, yaxis={"rangemode": "tozero"},
    )  # fmt: skip


def choice_of(row: pd.Series) -> str:
    """What a row of a frontier chose: its margin, or the rate that is promised."""
    rate = row.get("promised", np.nan)
    return f"margin {row['margin']:g}" if pd.isna(rate) else f"at most {rate:.1%} promised"
