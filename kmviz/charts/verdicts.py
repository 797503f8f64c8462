"""A paper's table beside ours, with the differences coloured."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

#: Relative differences up to which a figure counts as met, and as near.
MET, NEAR = 0.05, 0.2

#: Words of a figure of which less is better, and of one of which more is.
LESS = ("error", "disagreement", "kernel values", "kernel_values", "steps", "vectors", "rho",
        "min", "median", "max", "differ")  # fmt: skip
MORE = ("accuracy", "accuracies", "speedup", "m/k", "faster")

#: Backgrounds that read on light and on dark pages alike.
_SHADES = {
    "as published": "rgba(0,158,115,0.25)",
    "better": "rgba(0,114,178,0.25)",
    "near": "rgba(230,159,0,0.25)",
    "worse": "rgba(213,94,0,0.35)",
    "different": "rgba(130,130,150,0.25)",
}


def beside(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with a `difference` column after each `paper`/`ours` pair of numbers.

    Columns come as `paper` and `ours`, or with more to the name (`paper_steps`, `ours_steps`).
    The difference is relative: (ours - paper) / |paper|.
    """
    result = frame.drop(columns=[names[2] for names in pairs(frame)], errors="ignore")
    for paper, ours, difference in pairs(frame):
        theirs, found = (pd.to_numeric(frame[name], errors="coerce") for name in (paper, ours))
        relative = (found - theirs) / theirs.abs().replace(0.0, np.nan)
        if relative.notna().any():
            result.insert(result.columns.get_loc(ours) + 1, difference, relative)
    return result


def pairs(frame: pd.DataFrame) -> list[tuple[str, str, str]]:
    """Return the columns that stand beside one another: paper's, ours, and their difference."""
    named = [
        (name, name.replace("paper", "ours"), name.replace("paper", "difference"))
        for name in map(str, frame.columns)
    ]
    return [names for names in named if "paper" in names[0] and names[1] in frame]


def verdicts(frame: pd.DataFrame, table: str = "") -> pd.DataFrame:
    """Return a word for each difference: as published, better, near, worse, or only different.

    Parameters
    ----------
    table : what it is, which may say of which kind its figures are

    Notes
    -----
    Within 5% is as published. Beyond, what is better counts as better however far it lies;
    otherwise within 20% is near. Where neither row, column nor table says whether more or less
    is better, a figure further off is only different.

    Examples
    --------
    >>> import pandas as pd
    >>> from kmviz.charts.verdicts import verdicts
    >>> found = verdicts(pd.DataFrame({"measure": ["errors"], "paper": [20.0], "ours": [10.0]}))
    >>> found["difference"].tolist()
    ['better']
    """
    shown = beside(frame)
    found = pd.DataFrame(index=frame.index)
    for paper, _, difference in pairs(frame):
        if difference in shown:
            own = paper.replace("paper", "").strip("_")
            found[difference] = [
                _verdict(value, _direction(row, own, table))
                for value, (_, row) in zip(shown[difference], frame.iterrows(), strict=True)
            ]
    return found


def _direction(row: pd.Series, column: str, table: str) -> int:
    """1 where more is better, -1 where less is, 0 where nothing says: the nearest word decides."""
    said = " ".join(str(row[name]) for name in ("measure", "quantity", "phase") if name in row)
    for text in (column, said, table):
        words = text.lower()
        if any(word in words for word in LESS):
            return -1
        if any(word in words for word in MORE):
            return 1
    return 0


def _verdict(value: float, direction: int) -> str:
    if pd.isna(value):
        return ""
    if abs(value) <= MET:
        return "as published"
    if value * direction > 0:
        return "better"
    if abs(value) <= NEAR:
        return "near"
    return "worse" if direction else "different"


def coloured(frame: pd.DataFrame, table: str = "") -> Any:
    """Return a styled frame: differences as percentages, on the colour of their verdict."""
    shown, words = beside(frame), verdicts(frame, table)
    shades = words.map(lambda word: f"background-color: {_SHADES[word]}" if word else "")
    marked = list(words.columns)
    styler = shown.style.apply(lambda column: shades[column.name], subset=marked)
    styler = styler.format("{:+.1%}", marked, na_rep="")
    numbers = [c for c in shown.select_dtypes("number") if c not in marked]
    return styler.format(_number, subset=numbers, na_rep="")


def _number(value: Any) -> str:
    if not np.isfinite(value):  # a ratio to a time too short to be measured
        return "∞" if value > 0 else "-∞"
    if float(value) == int(value):
        return f"{int(value):,}"
    return f"{value:.4g}"


def summary(frame: pd.DataFrame, table: str = "") -> dict[str, int]:
    """Return how many figures have each verdict."""
    words = verdicts(frame, table).to_numpy().ravel().tolist()
    return {word: words.count(word) for word in _SHADES}
