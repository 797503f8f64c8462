"""Cells and halos: what dividing a training set over machines would send and hold twice.

The points nearest to each of some coarse centres, the top of a cover tree, are a cell; a machine
takes one cell, or several small ones so that machines get equally many points. Its centres need k
neighbours, some of them elsewhere: the halo. For n points in a ball of d dimensions it is at most
n ((1 + (k/n)^(1/d))^d - 1), a shell as thick as the radius that holds k points; never more than
the neighbours themselves, M k, or all other points.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial import cKDTree

from kmviz import datasets
from kmviz.kernels import RBF, Linear
from kmviz.methods.falk.cover import find_cover
from kmviz.methods.falk.neighbors import CoverTreeIndex, build_index, cover_order

K = 250
#: Rows that the coarse centres are chosen among.
COARSE = 5_000


def tables(quick: bool = True) -> dict[str, pd.DataFrame]:
    """Return one row a data set and number of machines."""
    n = 30_000 if quick else 300_000
    rows = []
    for name, X in (
        ("two spirals", datasets.load("two_spirals", n=n).X_train),
        ("uniform", np.random.default_rng(0).random((n, 2))),
        ("uniform", np.random.default_rng(0).random((n, 5))),
        ("uniform", np.random.default_rng(0).random((n // 3, 10))),
    ):
        rows += measure(name, X)
    return {"halo": pd.DataFrame(rows)}


def most(n: float, total: int, centers: int, d: int) -> float:
    """Return an upper bound of the halo of one cell of n points with so many centres."""
    shell = n * ((1 + (K / n) ** (1 / d)) ** d - 1)
    return min(shell, centers * K, total - n)


def measure(name: str, X: Any) -> list[dict[str, Any]]:
    """Cover once, then divide the centres among machines and count."""
    n, d = X.shape
    order = np.random.default_rng(0).permutation(n)
    cover = find_cover(X, build_index(RBF(1.0), X, 0), order, K, K // 2)
    some = X[order[:COARSE]]
    coarse = some[cover_order(some, CoverTreeIndex(some, Linear(), 0), 0)]
    rows = []
    for machines, cells in ((4, 1), (16, 1), (64, 1), (4, 16), (16, 16)):
        cell = cKDTree(coarse[: machines * cells]).query(X)[1]
        in_cell = np.bincount(cell, minlength=machines * cells)
        centers = np.bincount(cell[cover.centers], minlength=machines * cells)
        bounds = [most(size, n, m, d) for size, m in zip(in_cell, centers) if size]
        owner = pack(in_cell, machines)[cell]
        sizes = np.bincount(owner, minlength=machines)
        halos = [_halo(cover, owner, machine) for machine in range(machines)]
        rows.append({
            "data": name, "dimension": d, "points": n, "machines": machines,
            "cells_a_machine": cells, "largest_over_mean": sizes.max() / sizes.mean(),
            "halo_share": float(np.sum(halos)) / n, "bound_share": float(np.sum(bounds)) / n,
            "centers_a_cover": len(cover.centers) * (K // 2) / n,
        })  # fmt: skip
    return rows


def pack(sizes: Any, machines: int) -> Any:
    """Return a machine for each cell: the largest cells first, each to the emptiest machine."""
    owner, load = np.empty(len(sizes), dtype=np.intp), np.zeros(machines)
    for cell in np.argsort(-sizes, kind="stable"):
        owner[cell] = np.argmin(load)
        load[owner[cell]] += sizes[cell]
    return owner


def _halo(cover: Any, owner: Any, machine: int) -> int:
    """Points of other machines among the neighbours of this machine's centres."""
    needed = np.unique(cover.neighbors[owner[cover.centers] == machine])
    return int(np.sum(owner[needed] != machine))
