"""What a stored table says of its own aims, in words made from its rows."""

from __future__ import annotations

import numpy as np
import pandas as pd

from kmviz.charts.papers import FRONTIER, PAPER_POINT, RIVALS, VARIANTS, choice_of

#: Columns by which a table says that it is of sparse SVMs at a tree's budget, or of steps k.
SPARSE = {"data", "method", "paper", "ours", "ours_tree"}
STEPS = {"data", "order", "paper", "ours", "difference"}

#: A rival is as published within a point of accuracy; FaLK-SVM as good as the best within half one.
POINT, HALF = 1.0, 0.5
#: Means of k further off are named.
FAR = 0.2


def reached(frame: pd.DataFrame) -> str:
    """Return what a table says of what was aimed at; nothing of most."""
    columns = set(frame.columns)
    if columns >= FRONTIER:
        return frontier(frame)
    if columns >= RIVALS:
        head = "**FaLK-SVM among its rivals**, each set at its largest size:"
        return "\n".join([head, "", *standings(frame), "", as_published(frame)])
    if columns >= SPARSE:
        return as_published(frame, 0.01)
    return steps(frame) if columns >= STEPS else ""


def frontier(frame: pd.DataFrame) -> str:
    """Say of a frontier what is reached of both aims: the paper's m/k, and its disagreements."""
    if frame["paper"].isna().all():
        return ""
    speedup, differ = PAPER_POINT
    fast = frame[frame["honest_speedup"] >= speedup]
    safe = frame[frame["ours"] <= differ]
    both = fast[fast["ours"] <= differ]
    said = [
        f"m/k of at least {speedup:g} with everything counted, and at most {differ:g} answers that "
        f"differ: {'reached' if len(both) else '**not reached together**'}."
    ]
    if len(fast):
        best = fast.loc[fast["ours"].idxmin()]
        said.append(f"At that speed the fewest are {best['ours']:,} ({_named(best)}).")
    else:
        best = frame.loc[frame["honest_speedup"].idxmax()]
        said.append(f"The most is {best['honest_speedup']:.3g} ({_named(best)}).")
    if len(safe):
        best = safe.loc[safe["honest_speedup"].idxmax()]
        said.append(f"With so few the most is {best['honest_speedup']:.3g} ({_named(best)}).")
    else:
        best = frame.loc[frame["ours"].idxmin()]
        said.append(f"The fewest of all are {best['ours']:,} ({_named(best)}).")
    return " ".join(said)


def _named(row: pd.Series) -> str:
    return (
        f"{row['setting']}, {choice_of(row)}: {row['ours']:,} differ, m/k "
        f"{row['honest_speedup']:.3g} counted, {row['speedup']:.4g} as the paper counts"
    )


def standings(frame: pd.DataFrame) -> list[str]:
    """Say of each set where FaLK-SVM stands at its largest size: in training time and accuracy."""
    said = []
    for data, part in frame.groupby("data", sort=False):
        own = part[part["rows"] == part["rows"].max()].set_index("method")
        if np.isnan(own.loc["FaLK-SVM", "train"]):
            said.append(f"- {data}, {part['rows'].max():,} rows: FaLK-SVM was cut off")
            continue
        rivals = own.drop(list(VARIANTS))
        faster = rivals.index[rivals["train"] < own.loc["FaLK-SVM", "train"]]
        but = f" (not {', '.join(faster)})" if len(faster) else ""
        best, found = rivals["ours"].idxmax(), own["ours"]
        is_near = found[best] - found["FaLK-SVM"] <= HALF
        shown = dict.fromkeys(["FaLK-SVM", found[list(VARIANTS)].idxmax(), best])
        shares = ", ".join(f"{name} {found[name]:.1f}%" for name in shown)
        said.append(
            f"- {data}, {part['rows'].max():,} rows: trains faster than "
            f"{len(rivals) - len(faster)} of {len(rivals)} rivals{but}; "
            f"{'within' if is_near else '**not within**'} {HALF:g} points of the best: {shares}"
        )
    return said


def as_published(frame: pd.DataFrame, point: float = POINT) -> str:
    """Say which accuracies lie within a point of the published ones, of those that have one."""
    known = frame[frame["paper"].notna() & frame["ours"].notna()]
    if known.empty:
        return "No training set has a size for which the paper prints an accuracy."
    off = known[(known["ours"] - known["paper"]).abs() > point]
    named = [
        f"{row['data']} {row['method']} {row['ours']:.4g} (paper {row['paper']:.4g})"
        for _, row in off.iterrows()
    ]
    said = (
        f"**Beside the paper's accuracies:** {len(known) - len(off)} of {len(known)} within "
        f"{point:g}"
    )
    return f"{said}; not {', '.join(named)}." if named else f"{said}."


def steps(frame: pd.DataFrame) -> str:
    """Say which mean k are further than a fifth from the paper's."""
    known = frame[frame["difference"].notna()]
    off = known[known["difference"].abs() > FAR]
    named = [f"{row['data']} {row['order']} {row['difference']:+.0%}" for _, row in off.iterrows()]
    return (
        f"{len(known) - len(off)} of {len(known)} mean k lie within {FAR:.0%} of the paper's; "
        f"further off: {'; '.join(named) or 'none'}."
    )
