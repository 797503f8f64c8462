"""From a choice to a two-class problem: rows, pair, scale, each change said in a note."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from kmviz import datasets
from kmviz.datasets import DataError, Dataset

#: More test rows than this are not drawn.
MOST_TEST = 2_000
#: Training rows of a large set unless asked for more.
MOST_TRAIN = 5_000
DEFAULT_ROWS = {"mnist": 2_000}
DEFAULT_PAIR = {"mnist": "3-8", "digits": "3-8"}
#: The noise of a set that is no distance: the share of labels flipped.
MOST_NOISE = {"checkerboard": 1.0, "sketch": 1.0}
#: Features whose deviations differ by more than this factor are standardised.
UNEVEN = 10.0
#: Rows that differ by less in every feature, or by more in one, are refused.
SMALLEST, LARGEST = 1e-100, 1e100


@dataclass(frozen=True, eq=False)
class Prepared:
    """A two-class data set with labels -1 and +1, and what was done to make it."""

    data: Dataset
    pair: str
    notes: tuple[str, ...]
    scaler: StandardScaler | None


def literal(text: str) -> str:
    r"""Return a name of the visitor's so that Markdown shows it letter by letter.

    Examples
    --------
    >>> literal("$10 to $20")
    '\\$10 to \\$20'
    """
    return re.sub(r"([\\`*_\[\]<>$~:#|&])", r"\\\1", text)


def pairs(class_names: tuple[str, ...]) -> list[str]:
    """Return every pair of classes as the URL writes it.

    Examples
    --------
    >>> pairs(("a", "b", "c"))
    ['a-b', 'a-c', 'b-c']
    """
    return [f"{a}-{b}" for a, b in combinations(class_names, 2)]


def spoken(class_names: tuple[str, ...]) -> dict[str, str]:
    """Return every pair as the URL writes it and as it is read out.

    Examples
    --------
    >>> spoken(("a-b", "c"))
    {'a-b-c': 'a-b against c'}
    """
    read_out = [f"{a} against {b}" for a, b in combinations(class_names, 2)]
    return dict(zip(pairs(class_names), read_out))


def load(name: str, noise: float | None, seed: int, n: int | None, drawn: str = "") -> Dataset:
    """Load a data set with those of the options that it takes and that fit it."""
    known = datasets.options(name)
    chosen: dict[str, Any] = {}
    if "noise" in known and noise is not None:
        chosen["noise"] = noise
    if "seed" in known:
        chosen["seed"] = seed
    if n is not None and known.get("n") is not None:
        chosen["n"] = n  # a generator: as many as asked for
    if "drawn" in known:
        chosen["drawn"] = drawn
    return datasets.load(name, **chosen)


def find_pair(data: Dataset, pair: str) -> tuple[int, int]:
    """Return the positions of two classes; a text that names no pair is the set's default."""
    names = data.class_names
    known = dict(zip(pairs(names), combinations(range(len(names)), 2)))
    reverse = {f"{names[j]}-{names[i]}": (i, j) for i, j in known.values()}
    default = known[DEFAULT_PAIR.get(data.name, next(iter(known)))]
    return (known | reverse).get(pair, default)


def pair_text(data: Dataset, pair: str) -> str:
    """Return the pair as the URL writes it; empty where there are two classes only."""
    if len(data.class_names) == 2:
        return ""
    return "-".join(data.class_names[i] for i in find_pair(data, pair))


def two_classes(data: Dataset, pair: str) -> Dataset:
    """Keep one pair of classes, with labels -1 and +1."""
    names, chosen = data.class_names, find_pair(data, pair)
    labels = np.unique(np.concatenate([data.y_train, data.y_test]))
    low, high = labels[list(chosen)]
    parts = {}
    for part in ("train", "test"):
        X, y = getattr(data, f"X_{part}"), getattr(data, f"y_{part}")
        keep = (y == low) | (y == high)
        parts[f"X_{part}"] = X if keep.all() else X[keep]
        parts[f"y_{part}"] = np.where(y[keep] == high, 1, -1)
    return replace(data, class_names=(names[chosen[0]], names[chosen[1]]), **parts)


def prepare(data: Dataset, pair: str, n: int | None, is_scaled: bool = True) -> Prepared:
    """Make the two-class problem that every page shows.

    Parameters
    ----------
    is_scaled : whether features of widely different scales are standardised
    """
    two, pair = two_classes(data, pair), pair_text(data, pair)
    named = " against ".join(map(literal, two.class_names))
    notes = [f"{named} of {len(data.class_names)} classes"]
    notes = notes if pair else []
    rows = n or DEFAULT_ROWS.get(data.name, MOST_TRAIN)
    if len(np.unique(two.y_train[:rows])) < 2:
        rows = len(two.y_train)  # a sorted table: its first rows are all of one class
    if rows < len(two.y_train):
        notes.append(f"first {rows:,} of {len(two.y_train):,} training rows")
    if len(two.y_test) > MOST_TEST:
        notes.append(f"first {MOST_TEST:,} of {len(two.y_test):,} test rows")
    two = replace(
        two,
        X_train=two.X_train[:rows],
        y_train=two.y_train[:rows],
        X_test=two.X_test[:MOST_TEST],
        y_test=two.y_test[:MOST_TEST],
    ).scaled()
    _refuse_extreme(two.X_train)
    scaler = None
    if is_scaled and two.image_shape is None and _uneven(two.X_train):
        scaler = StandardScaler().fit(two.X_train)
        scaled = {part: scaler.transform(getattr(two, part)) for part in ("X_train", "X_test")}
        two = replace(two, **scaled)
        notes.append("features standardised: their scales differ widely")
    return Prepared(two, pair, tuple(notes), scaler)


def _refuse_extreme(X: np.ndarray) -> None:
    """Refuse rows that differ by next to nothing, or by so much that no square is a number."""
    low, high = X.min(axis=0).astype(float), X.max(axis=0).astype(float)
    with np.errstate(over="ignore"):
        apart = float((high - low).max())
    if apart and not SMALLEST < apart < LARGEST:
        raise DataError(
            f"The rows are {apart:.0e} apart: squares of such numbers cannot be held. Give the "
            "features in another unit, so that they are of a usual size."
        )


def _uneven(X: np.ndarray) -> bool:
    spread = X.std(axis=0)
    spread = spread[spread > 0]
    return bool(len(spread) and spread.max() > UNEVEN * spread.min())
