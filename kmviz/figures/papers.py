"""A paper's table beside ours, with the differences coloured."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

#: Relative differences up to which a figure counts as met, and as near.
MET, NEAR = 0.05, 0.2

#: Backgrounds that read on light and on dark pages alike.
_MET, _NEAR, _FAR = "rgba(0,158,115,0.25)", "rgba(230,159,0,0.25)", "rgba(213,94,0,0.35)"


def beside(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with a `difference` column after each `paper`/`ours` pair of numbers.

    Columns come as `paper` and `ours`, or with a common ending (`paper_steps`, `ours_steps`).
    The difference is relative: (ours - paper) / |paper|.

    Examples
    --------
    >>> import pandas as pd
    >>> from kmviz.figures.papers import beside
    >>> beside(pd.DataFrame({"paper": [2.0], "ours": [2.2]})).columns.tolist()
    ['paper', 'ours', 'difference']
    """
    result = frame.copy()
    for paper, ours, difference in pairs(frame):
        theirs = pd.to_numeric(frame[paper], errors="coerce").astype(float)
        found = pd.to_numeric(frame[ours], errors="coerce").astype(float)
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = (found - theirs) / theirs.abs().replace(0.0, np.nan)
        if relative.notna().any():
            result.insert(result.columns.get_loc(ours) + 1, difference, relative)
    return result


def pairs(frame: pd.DataFrame) -> list[tuple[str, str, str]]:
    """Return the columns that stand beside one another: paper's, ours, and their difference."""
    found = []
    for column in map(str, frame.columns):
        if column.startswith("paper") and (ours := "ours" + column[len("paper") :]) in frame:
            found.append((column, ours, "difference" + column[len("paper") :]))
        elif column.endswith("_paper") and (ours := column[: -len("paper")] + "ours") in frame:
            found.append((column, ours, column[: -len("paper")] + "difference"))
    return found


def coloured(frame: pd.DataFrame) -> Any:
    """Return a styled frame: differences as percentages, green met, amber near, red far."""
    shown = beside(frame)
    marked = [column for column in shown if str(column).startswith("difference")
              or str(column).endswith("_difference")]  # fmt: skip
    styler = shown.style.map(_background, subset=marked).format("{:+.1%}", marked, na_rep="")
    numbers = [c for c in shown.select_dtypes("number") if c not in marked]
    return styler.format(_number, subset=numbers, na_rep="")


def _background(value: Any) -> str:
    if pd.isna(value):
        return ""
    size = abs(float(value))
    return f"background-color: {_MET if size <= MET else _NEAR if size <= NEAR else _FAR}"


def _number(value: Any) -> str:
    if float(value) == int(value):
        return f"{int(value):,}"
    return f"{value:.4g}"


def summary(frame: pd.DataFrame) -> tuple[int, int, int]:
    """Return how many figures are met (within 5%), near (20%) and further off."""
    shown = beside(frame)
    sizes = [
        shown[difference].abs().dropna() for _, _, difference in pairs(frame) if difference in shown
    ]
    values = pd.concat(sizes) if sizes else pd.Series(dtype=float)
    met, near = int((values <= MET).sum()), int(((values > MET) & (values <= NEAR)).sum())
    return met, near, len(values) - met - near
