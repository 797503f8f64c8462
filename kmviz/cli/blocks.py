"""A table that is read in blocks of rows: their size, their classes, their encoding."""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

from kmviz.cli.console import BadInput
from kmviz.datasets import DataError, TableEncoder, iter_frames
from kmviz.methods import progress
from kmviz.methods.sampling import smallest_keys

#: Rows from which the encoding is learnt.
LEARNT_FROM = 20_000


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
    first = next(iter_frames(path, 100), None)
    if first is None:
        raise BadInput(f"{path} has no rows.")
    per_row = int(first.memory_usage(deep=True).sum()) / len(first)
    return int(np.clip(memory / 16 / max(per_row, 1.0), 100, 20_000))


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
