"""`kmviz fit --out model.falk`: local models of every row of a file, however long.

The encoding of a table and the scale of its columns are learnt from a uniform sample of its rows;
the local models are trained on all of them.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from kmviz.cli.blocks import block_rows, labelled, learnt_encoder
from kmviz.cli.console import BadInput, Console
from kmviz.cli.data import open_classes
from kmviz.cli.files import bytes_of
from kmviz.cli.machine import method
from kmviz.datasets import TableEncoder, iter_frames
from kmviz.io.partitioned import TABLE
from kmviz.io.storage import dumps
from kmviz.io.table import TableClassifier
from kmviz.io.whole import check_place
from kmviz.methods.falk import FaLKClassifier, PartitionedFaLK
from kmviz.methods.falk.partitioned import ArrayBlocks, stamp_of

#: At most so many rows are held out to report on.
HELD = 20_000

#: Of a memory limit, the share that boxes may take; reading and writing them take the rest.
SHARE = 0.5

Block = tuple[NDArray[Any], NDArray[Any]]


class TableBlocks:
    """The labelled rows of a table, encoded and scaled."""

    def __init__(self, path: str, encoder: TableEncoder, scaler: Any, most: int) -> None:
        self.path, self.encoder, self.scaler, self.most = path, encoder, scaler, most
        learnt = None if scaler is None else [scaler.mean_.tolist(), scaler.scale_.tolist()]
        files = sorted(Path(path).rglob("*.parquet")) if Path(path).is_dir() else [path]
        self.identity = [*map(stamp_of, files), encoder.to_json(), learnt]

    def __call__(self) -> Iterator[Block]:
        """Yield blocks of rows and their classes."""
        for frame in iter_frames(self.path, self.most):
            known = labelled(frame, self.encoder)
            if len(known):
                X = self.encoder.transform(known).astype(np.float32)
                yield (
                    X if self.scaler is None else self.scaler.transform(X),
                    self.encoder.labels(known),
                )


class TrainingBlocks:
    """Blocks without some of their rows, which are held out.

    `entries` is stored with the model.
    """

    def __init__(self, blocks: Any, held: NDArray[np.intp], entries: dict[str, bytes]) -> None:
        self.blocks, self.held, self.entries = blocks, held, entries
        self.identity = [blocks.identity, len(held), int(held.sum())]
        self._held_out: list[Block] = []

    def __call__(self) -> Iterator[Block]:
        """Yield blocks of the other rows."""
        start, self._held_out = 0, []
        for X, y in self.blocks():
            first, last = np.searchsorted(self.held, [start, start + len(X)])
            is_held = np.zeros(len(X), dtype=bool)
            is_held[self.held[first:last] - start] = True
            self._held_out.append((X[is_held], y[is_held]))
            start += len(X)
            yield X[~is_held], y[~is_held]

    def held_out(self) -> Block:
        """Return the rows that are held out, and their classes."""
        if not self._held_out:  # a fit that continued read no rows
            for _ in self():
                pass
        X, y = zip(*self._held_out)
        return np.concatenate(X), np.concatenate(y)


def fit_partitioned(options: argparse.Namespace, console: Console) -> int:
    """Train, store and report."""
    memory = bytes_of(options.memory or "1GB")
    local = method(options, scaled=False)
    if not isinstance(local, FaLKClassifier):
        raise BadInput("--out with .falk keeps local models: it goes with --method falk.")
    local.set_params(random_state=options.seed)
    check_place(options.out)
    blocks = _blocks(options, memory)
    clf = PartitionedFaLK(local, path=options.out, memory=int(SHARE * memory))
    try:
        clf.fit(blocks)
    except BaseException:
        folder = Path(f"{options.out}.parts")
        if folder.is_dir():
            console.warn(f"what is done stays in {folder}: the same command continues from there")
        raise
    _report(clf, *blocks.held_out())
    print(f"stored      {options.out} ({options.out.stat().st_size:,} bytes)")
    return 0


def _blocks(options: argparse.Namespace, memory: int) -> TrainingBlocks:
    if Path(options.data).suffix == ".npy":
        X, y = open_classes(options)
        array = ArrayBlocks(X, y, int(SHARE * memory))
        array.identity = [stamp_of(options.data), stamp_of(options.target)]
        return TrainingBlocks(array, _drawn(len(y), options), {})
    most = block_rows(options.data, memory)
    encoder, learnt, rows = learnt_encoder(options, most)
    scaler = None if options.no_scale else StandardScaler().fit(encoder.transform(learnt))
    table = dumps(TableClassifier(encoder, scaler))
    blocks = TableBlocks(options.data, encoder, scaler, most)
    return TrainingBlocks(blocks, _drawn(rows, options), {TABLE: table})


def _drawn(rows: int, options: argparse.Namespace) -> NDArray[np.intp]:
    """Return which rows are held out, rising."""
    count = min(HELD, round(options.test_share * rows))
    return np.sort(np.random.default_rng(options.seed).choice(rows, size=count, replace=False))


def _report(clf: PartitionedFaLK, X: NDArray[Any], y: NDArray[Any]) -> None:
    print(f"method      {type(clf).__name__}")
    print(f"rows        {clf.n_rows_:,} to train on: all but those held out")
    print(f"boxes       {len(clf.boxes_):,}, with {clf.halo_:,} rows in halos as well")
    k, C = (_range_of(column) for column in clf.parameters_.T[:2])
    print(f"models      {clf.n_models_:,} of k = {k}, C = {C}")
    if len(y):
        right = float(np.mean(clf.predict(X) == y))
        print(f"accuracy    {right:.4f} on {len(y):,} rows held out")
        print(f"steps       {float(np.mean(clf.steps(X))):.1f} kernel values per query, mean")


def _range_of(values: NDArray[np.float64]) -> str:
    ends = dict.fromkeys((values.min(), values.max()))
    return " to ".join(f"{end:,g}" for end in ends)
