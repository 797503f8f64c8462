"""As many rows of a long file as a memory limit lets a method train on, drawn uniformly.

Two passes: the first counts the rows and learns the encoding from a sample, the second encodes
and keeps the rows that were drawn. Nothing larger than a block of rows, the kept rows and what
training makes of them is ever in memory.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kmviz.cli.console import BadInput
from kmviz.cli.data import refuse_embedded_options
from kmviz.cli.predict import open_array
from kmviz.datasets import DataError, TableEncoder, iter_frames
from kmviz.methods import progress
from kmviz.methods.sampling import smallest_keys

#: Rows from which the encoding is learnt.
LEARNT_FROM = 20_000

#: An SVM's training time grows with the square of its rows: no more than this are given to one.
SVM_ROWS = 20_000

#: Methods that train no machine on all rows.
LOCAL = ("falk", "falk_100", "knnsvm")

#: Of a memory limit: the share for the kernel rows that libsvm keeps.
CACHE_SHARE = 0.2


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows to train on, rows held out, and where they come from."""

    X_train: NDArray[Any]
    y_train: NDArray[Any]
    X_test: NDArray[Any]
    y_test: NDArray[Any]
    encoder: TableEncoder | None
    rows: int
    is_table: bool = True
    cache_megabytes: float = 200.0


def rows_within(memory: int, n_features: int, local: bool) -> int:
    """Return how many rows a method can be trained on within `memory` bytes.

    A row is held in float32 and, while a machine is trained on it, up to five more times in
    float64; local models add neighbour lists and a search tree. Methods on one machine compare
    every row with every support vector, in the worst case with every row, three times over.
    """
    per_row = 48 * n_features + (400 if local else 200)
    rows = int(memory * (1 - CACHE_SHARE) / 2 / per_row)
    return rows if local else min(rows, int((memory / 48) ** 0.5), SVM_ROWS)


def read_sample(options: argparse.Namespace, memory: int) -> Sample:
    """Draw the rows that `fit --memory` trains on."""
    refuse_embedded_options(options)
    local = options.method in LOCAL
    if Path(options.data).suffix == ".npy":
        found = _from_array(options, memory, local)
    else:
        found = _from_table(options, memory, local)
    X, y, encoder, rows = found
    held = max(1, round(options.test_share * len(y))) if options.test_share else 0
    order = np.random.default_rng(options.seed).permutation(len(y))
    train, test = np.sort(order[held:]), np.sort(order[:held])
    cache = max(1.0, CACHE_SHARE * memory / 2**20)
    return Sample(
        X[train], y[train], X[test], y[test], encoder, rows, encoder is not None, min(200.0, cache)
    )


def _drawn(rows: int, budget: int, seed: int) -> NDArray[np.intp]:
    """Which rows to keep, ascending: all of them, or a uniform draw."""
    if rows <= budget:
        return np.arange(rows)
    return np.sort(np.random.default_rng(seed).choice(rows, size=budget, replace=False))


def _from_array(options: argparse.Namespace, memory: int, local: bool) -> tuple[Any, ...]:
    X, y = open_classes(options)
    kept = _drawn(len(X), rows_within(memory, X.shape[1], local), options.seed)
    rows = np.empty((len(kept), X.shape[1]), dtype=np.float32)
    block = max(1, memory // 16 // (8 * X.shape[1]))
    for start in range(0, len(kept), block):
        rows[start : start + block] = X[kept[start : start + block]]
        progress.report(0.3 * start / len(kept), f"reading {len(kept):,} of {len(X):,} rows")
    if not np.isfinite(rows).all():
        raise BadInput(f"{options.data} holds values that are not finite.")
    return rows, np.array(y[kept]), None, len(X)


def open_classes(options: argparse.Namespace) -> tuple[NDArray[Any], NDArray[Any]]:
    """Map the rows of a .npy file, and the classes of the one that --target names."""
    X = open_array(Path(options.data))
    if not options.target:
        raise BadInput("With a .npy file, --target names the .npy file that holds the classes.")
    place = Path(options.target)
    if not place.is_file():
        raise BadInput(f"There is no file {options.target!r} with the classes.")
    try:
        y = np.load(place, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        raise BadInput(f"{place.name} is not a plain .npy array: {error}") from error
    if y.shape != (len(X),):
        raise BadInput(f"{place.name} has shape {y.shape}; {len(X):,} classes are needed.")
    return X, y


def _from_table(options: argparse.Namespace, memory: int, local: bool) -> tuple[Any, ...]:
    block = block_rows(options.data, memory)
    encoder, _, rows = learnt_encoder(options, block)
    kept = _drawn(rows, rows_within(memory, len(encoder.feature_names), local), options.seed)
    X = np.empty((len(kept), len(encoder.feature_names)), dtype=np.float32)
    y = np.empty(len(kept), dtype=np.intp)
    done = filled = 0
    for frame in iter_frames(options.data, block):
        chosen = kept[np.searchsorted(kept, done) : np.searchsorted(kept, done + len(frame))]
        part = labelled(frame.iloc[chosen - done], encoder)
        X[filled : filled + len(part)] = encoder.transform(part)
        y[filled : filled + len(part)] = encoder.labels(part)
        filled += len(part)
        done += len(frame)
        progress.report(0.1 + 0.2 * done / rows, f"reading {len(kept):,} of {rows:,} rows")
    return X[:filled], y[:filled], encoder, rows


def learnt_encoder(
    options: argparse.Namespace, block: int
) -> tuple[TableEncoder, pd.DataFrame, int]:
    """Return a table's encoder, the rows that it was learnt from, and how many rows there are."""
    learnt, rows = _first_pass(options, block)
    target = options.target
    if target is None or target not in learnt.columns:
        shown = ", ".join(map(str, learnt.columns[:10]))
        raise BadInput(f"--target names the column to predict, one of {shown}.")
    known = learnt[learnt[target].astype(str) != ""]
    encoder = TableEncoder.fit(known, target)
    if not encoder.columns:
        raise BadInput("No column can be used to predict from.")
    return encoder, known, rows


def labelled(frame: pd.DataFrame, encoder: TableEncoder) -> pd.DataFrame:
    """The rows that have a class; an unknown class is the encoder's to refuse."""
    text = frame[encoder.target].astype(str).str.strip()
    return frame[frame[encoder.target].notna() & (text != "")]


def block_rows(path: str, memory: int) -> int:
    """Rows a block, so that their cells as text take about a sixteenth of the limit."""
    first = next(_frames(path, 100), None)
    if first is None:
        raise BadInput(f"{path} has no rows.")
    per_row = int(first.memory_usage(deep=True).sum()) / len(first)
    return int(np.clip(memory / 16 / max(per_row, 1.0), 100, 20_000))


def _frames(path: str, rows: int) -> Iterator[pd.DataFrame]:
    return iter_frames(path, rows)


def _first_pass(options: argparse.Namespace, block: int) -> tuple[pd.DataFrame, int]:
    """Count the rows and draw a uniform sample of them (reservoir sampling, by blocks)."""
    rng = np.random.default_rng(options.seed)
    size = min(LEARNT_FROM, block)  # is held three times over while it is drawn
    pool, keys, rows = pd.DataFrame(), np.empty(0), 0
    for frame in iter_frames(options.data, block):
        rows += len(frame)
        drawn = rng.random(len(frame))
        keys = np.concatenate([keys, drawn])
        pool = pd.concat([pool, frame]) if len(pool) else frame
        pool, keys = smallest_keys(pool, keys, size)
        progress.report(0.0, f"counting rows: {rows:,}")
    if not rows:
        raise DataError(f"{options.data} has no rows.")
    return pool, rows
