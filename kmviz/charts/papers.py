"""Charts of the papers' tables: what a page draws above a stored table."""

from __future__ import annotations

import numpy as np
import pandas as pd

from kmviz.charts import theme, verdicts
from kmviz.charts.chart import Axis, Chart, Heat, Line, Points, Rule
from kmviz.charts.maps import star

#: Columns by which a table says that it is cells of matrices, a frontier, or over growing sets.
CELLS = {"setting", "row", "column", "measure"}
FRONTIER = {"setting", "margin", "speedup", "honest_speedup"}
RIVALS = {"data", "rows", "method", "ours", "train", "test"}
GROWTH = {"data", "rows", "ours", "test", "exponent"}

#: The paper's m/k, which counts vectors touched, and its disagreements.
PAPER_POINT = (111.0, 6.0)
#: The systems of the FaLK-SVM paper's figures 3 to 5, and of 6 to 8.
SYSTEMS = ("FaLK-SVM", "LibSVM", "BVM", "CVM", "LASVM", "USVM", "CPSP", "SVM-B", "SVM-Bs")
VARIANTS = ("FaLK-SVM", "FaLK-SVMc", "FaLK-SVMl")
#: What they draw: the column, its axis, whether on a log scale.
Measure = tuple[str, str, bool]
MEASURES: tuple[Measure, ...] = (
    ("ours", "accuracy (%)", False),
    ("train", "training (CPU s)", True),
    ("test", "testing (CPU s)", True),
)
TITLES = ("Accuracy", "Training time", "Testing time")
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


def charts(frame: pd.DataFrame) -> dict[str, list[Chart]]:
    """Return the charts of a table by title, most have none; those of one title are panels."""
    if set(frame.columns) >= CELLS:
        return {name: [matrix(frame, name)] for name in dict.fromkeys(frame["setting"])}
    if set(frame.columns) >= FRONTIER:
        return {"frontier": [frontier(frame)]}
    if set(frame.columns) >= RIVALS:
        return rivals(frame)
    return growth(frame) if set(frame.columns) >= GROWTH else {}


def matrix(frame: pd.DataFrame, setting: str) -> Chart:
    """Return the cells of one setting: a matrix of digits, each triangle on a scale of its own.

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
    scales = ((above, "sequential", 0.5), (~above, "grey", 0.1))
    parts = [_triangle(cells[part], scale, light) for part, scale, light in scales if part.any()]
    ends = "".join(f", {c['row']} {_beside(c, 'paper ')}" for _, c in totals.iterrows())
    words = Points(
        x=cells["column"].astype(int).to_numpy(), y=cells["row"].astype(int).to_numpy(),
        opacity=0.0, labels=[_beside(cell) for _, cell in cells.iterrows()],
        sides=["middle center"] * len(cells),
    )  # fmt: skip
    digits = tuple((float(k), str(k)) for k in range(10))
    said = f"above the diagonal {parts[0].title}{ends}; below it {parts[-1].title}"
    return Chart(
        key=setting,
        alt="A matrix of ten by ten digits: one figure of each pair above the diagonal, another "
        "below it.",
        title=setting,
        x=Axis(said, (-0.5, 9.5), ticks=digits),
        y=Axis("", (9.5, -0.5), ticks=digits),
        layers=[*parts, words],
        height=430,
    )


def frontier(frame: pd.DataFrame) -> Chart:
    """Return disagreements against m/k with ordering and approximation counted, by setting."""
    names = tuple(map(str, dict.fromkeys(frame["setting"])))
    group = np.array([names.index(str(name)) for name in frame["setting"]])
    x, y = frame["honest_speedup"].to_numpy(float), frame["ours"].to_numpy(float)
    lines = [
        Line(x=x[group == k], y=y[group == k], width=1.0, color=theme.COLORS[k])
        for k in range(len(names))
    ]
    marks = Points(
        x=x, y=y, group=group, names=names, size=10, symbols=theme.ALL_SYMBOLS,
        text=[choice_of(row) for _, row in frame.iterrows()],
        hover={"differ": y, "m/k counted": x, "m/k as the paper counts": frame["speedup"]},
    )  # fmt: skip
    return Chart(
        key="frontier",
        alt="Disagreements against speedup, all counted: a line for each setting, and the paper.",
        x=Axis("mean m/k, ordering and approximation counted (log scale)", log=True),
        y=Axis(f"answers that differ, of {int(frame['queries'].max()):,}"),
        layers=[*lines, marks, *(_paper() if frame["paper"].notna().any() else [])],
        height=460,
    )


def choice_of(row: pd.Series) -> str:
    """Return what a row of a frontier chose: its margin, or the rate that is promised."""
    rate = row.get("promised", np.nan)
    return f"margin {row['margin']:g}" if pd.isna(rate) else f"at most {rate:.1%} promised"


def rivals(frame: pd.DataFrame) -> dict[str, list[Chart]]:
    """Return figures 3 to 8: accuracy and times of FaLK-SVM, its rivals and its variants."""
    found = {}
    for first, names in ((3, SYSTEMS), (6, VARIANTS)):
        part = frame[frame["method"].isin(names)]
        for i, measure in enumerate(MEASURES):
            found[f"figure {first + i}"] = [
                panel(own, names, "method", measure, f"{TITLES[i]}: {data}")
                for data, own in part.groupby("data", sort=False)
            ]
    return found


def growth(frame: pd.DataFrame) -> dict[str, list[Chart]]:
    """Return training and testing time of FaLK-SVM as the training set grows, by title."""
    names = tuple(frame["data"].unique())
    measures = (("ours", "training (CPU s)", True), ("test", "testing (CPU s per 1,000)", True))
    return {
        title: [panel(frame, names, "data", measure, title)]
        for title, measure in zip(TITLES[1:], measures, strict=True)
    }


def panel(
    frame: pd.DataFrame, names: tuple[str, ...], by: str, measure: Measure, title: str
) -> Chart:
    """Return a measure against `rows`, a line for each of the `names` in the column `by`."""
    column, axis, log = measure
    parts = [frame[frame[by] == name].sort_values("rows") for name in names]
    lines = [
        Line(x=part["rows"].to_numpy(), y=part[column].to_numpy(float), name=name, markers=True,
             width=2.5 if i == 0 else 1.5, color=theme.COLORS[i])
        for i, (name, part) in enumerate(zip(names, parts)) if len(part)
    ]  # fmt: skip
    return Chart(
        key=title,
        alt=f"{title}, against training rows, a line for each system; one that was cut off ends "
        "before the others.",
        title=title,
        x=Axis("training rows (log scale)", log=True),
        y=Axis(axis, log=log),
        layers=lines,
        height=340,
    )


def cells(frame: pd.DataFrame, table: str = "") -> pd.DataFrame:
    """Return the cells that both have as rows: what it is, `paper`, `ours`, and the verdict."""
    words, found = verdicts.verdicts(frame, table), []
    for paper, ours, difference in verdicts.pairs(frame):
        own = paper.replace("paper", "").strip("_").replace("_", " ")
        for word, (_, row) in zip(words.get(difference, ()), frame.iterrows()):
            if word and np.isfinite(float(row[ours])):
                names = [value for value in [*row, own] if isinstance(value, str) and value]
                found.append((", ".join(names), float(row[paper]), float(row[ours]), word))
    return pd.DataFrame(found, columns=["what", "paper", "ours", "verdict"])


def diagonal(frame: pd.DataFrame, table: str = "") -> Chart | None:
    """Return ours against the paper's figures; None where a table has too few of both.

    Axes are logarithmic where figures lie far apart: a table may mix shares and counts.
    """
    points = cells(frame, table)
    if len(points) < FEWEST:
        return None
    both = points[["paper", "ours"]].to_numpy(float)
    is_log = bool((both > 0).all() and both.max() > FAR * both.min())
    low, high = float(both.min()), float(both.max())
    room = 0.04 * ((high - low) or 1.0)
    ends = (low / 1.15, high * 1.15) if is_log else (low - room, high + room)
    present = tuple(word for word in MARKS if (points["verdict"] == word).any())
    colors, symbols = zip(*(MARKS[word] for word in present))
    unit = " (log scale)" if is_log else ""
    return Chart(
        key="points",
        alt="Ours against the paper's, a point for each cell, and the diagonal where both agree.",
        x=Axis(f"the paper's figure{unit}", ends, log=is_log),
        y=Axis(f"ours{unit}", ends, log=is_log),
        layers=[
            Line(x=list(ends), y=list(ends), name="the same", width=1.0, dashed=True),
            Points(
                x=both[:, 0], y=both[:, 1], names=present, colors=colors, symbols=symbols, size=9,
                group=np.array([present.index(word) for word in points["verdict"]]),
                text=points["what"].tolist(), hover={"paper": both[:, 0], "ours": both[:, 1]},
            ),
        ],
        height=360,
    )  # fmt: skip


def _triangle(cells: pd.DataFrame, scale: str, opacity: float) -> Heat:
    values = np.full((10, 10), np.nan)
    values[cells["row"].astype(int), cells["column"].astype(int)] = cells["ours"]
    is_far = bool(np.nanmax(values) > 50)
    return Heat(
        values=np.clip(values, 1.0, None) if is_far else values, x=np.arange(10), y=np.arange(10),
        scale=scale, log=is_far, title=str(cells["measure"].iloc[0]), opacity=opacity,
    )  # fmt: skip


def _beside(cell: pd.Series, word: str = "") -> str:
    ours = f"{cell['ours']:,.0f}"
    return ours if pd.isna(cell["paper"]) else f"{ours} ({word}{cell['paper']:,.0f})"


def _paper() -> list[Points | Rule]:
    mark = star(PAPER_POINT, "the paper, which counts vectors touched alone", 16)
    return [mark, Rule(x=PAPER_POINT[0]), Rule(y=PAPER_POINT[1])]
