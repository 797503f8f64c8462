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

from kmviz.cli.console import BadInput
from kmviz.cli.files import bytes_of
from kmviz.cli.machine import method
from kmviz.cli.sample import block_rows, labelled, learnt_encoder, open_classes
from kmviz.datasets import TableEncoder, iter_frames
from kmviz.io.cells import add_table
from kmviz.io.whole import written_whole
from kmviz.methods import progress
from kmviz.methods.falk import FaLKClassifier, PartitionedFaLK
from kmviz.methods.falk.sources import Source, source_of

#: At most so many rows are held out to report on.
HELD = 20_000

#: Of a memory limit, the share that cells may take; reading and writing them take the rest.
SHARE = 0.5


class TableSource:
    """The labelled rows of a table, encoded and scaled."""

    def __init__(self, path: str, encoder: TableEncoder, scaler: Any, rows: int) -> None:
        self.path, self.encoder, self.scaler, self.rows = path, encoder, scaler, rows

    def blocks(self) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Yield blocks of rows and their classes."""
        for frame in iter_frames(self.path, self.rows):
            known = labelled(frame, self.encoder)
            if len(known):
                X = self.encoder.transform(known).astype(np.float32)
                yield (
                    X if self.scaler is None else self.scaler.transform(X),
                    self.encoder.labels(known),
                )


class HeldOut:
    """A source without some of its rows, which it keeps."""

    def __init__(self, source: Source, held: NDArray[np.intp]) -> None:
        self.source, self.held = source, held
        self.rows: list[tuple[NDArray[Any], NDArray[Any]]] = []

    def blocks(self) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Yield blocks of the other rows."""
        start, self.rows = 0, []
        for X, y in self.source.blocks():
            first, last = np.searchsorted(self.held, [start, start + len(X)])
            there = np.zeros(len(X), dtype=bool)
            there[self.held[first:last] - start] = True
            self.rows.append((X[there], y[there]))
            start += len(X)
            yield X[~there], y[~there]


def fit_cells(options: argparse.Namespace) -> int:
    """Train, store and report."""
    memory = bytes_of(options.memory or "1GB")
    local = method(options, scaled=False)
    if not isinstance(local, FaLKClassifier):
        raise BadInput("--out with .falk keeps local models: it goes with --method falk.")
    local.set_params(random_state=options.seed)
    with written_whole(options.out) as place:
        source, rows, encoder, scaler = _source(options, memory)
        held = HeldOut(source, _drawn(rows, options))
        clf = PartitionedFaLK(local, path=place, memory=int(SHARE * memory)).fit(held, None)
        if encoder is not None:
            add_table(place, encoder, scaler)
        progress.report(1.0, "stored")
        _report(options, clf, held)
    print(f"stored      {options.out} ({options.out.stat().st_size:,} bytes)")
    return 0


def _source(options: argparse.Namespace, memory: int) -> tuple[Source, int, Any, Any]:
    if Path(options.data).suffix == ".npy":
        X, y = open_classes(options)
        return source_of(X, y), len(y), None, None
    block = block_rows(options.data, memory)
    encoder, learnt, rows = learnt_encoder(options, block)
    scaler = None if options.no_scale else StandardScaler().fit(encoder.transform(learnt))
    return TableSource(options.data, encoder, scaler, block), rows, encoder, scaler


def _drawn(rows: int, options: argparse.Namespace) -> NDArray[np.intp]:
    count = min(HELD, round(options.test_share * rows))
    return np.sort(np.random.default_rng(options.seed).choice(rows, size=count, replace=False))


def _report(options: argparse.Namespace, clf: PartitionedFaLK, held: HeldOut) -> None:
    X = np.concatenate([X for X, _ in held.rows])
    y = np.concatenate([y for _, y in held.rows])
    print(f"method      {type(clf).__name__}")
    print(f"rows        {clf.n_rows_:,} to train on: all but those held out")
    print(f"cells       {len(clf.boxes_):,}, with {clf.halo_:,} rows in halos as well")
    print(f"models      {clf.n_models_:,} of k = {clf.n_neighbors_:,}, C = {clf.C_:g}")
    if len(y):
        right = float(np.mean(clf.predict(X) == y))
        print(f"accuracy    {right:.4f} on {len(y):,} rows held out")
        print(f"steps       {float(np.mean(clf.steps(X))):.1f} kernel values per query, mean")
