"""Support vector trees."""

from __future__ import annotations

from dataclasses import dataclass

from kmviz.traces.record import Floats, Ints, Reading, Trace


@dataclass(frozen=True, eq=False)
class TreeTrace(Trace):
    """Support vector tree: the path of one query. `stop` is its length.

    Attributes
    ----------
    partial : array of shape (K + 1,)
        The tree's output if it were cut at height k; `partial[0]` is -b.
    node : array of shape (K + 1,)
        The node that step k asked; -1 at the start.
    index : array of shape (K + 1,)
        Its vector; -1 at the start. Candidates beside the machine's own count on from m.
    value : array of shape (K + 1,)
        The kernel value; 0 at the start.
    score, threshold : array of shape (K + 1,)
        The path goes left where score <= threshold; infinite where a node does not split.
    """

    partial: Floats
    node: Ints
    index: Ints
    value: Floats
    score: Floats
    threshold: Floats


@dataclass(frozen=True, eq=False)
class TreeReading(Reading):
    """Support vector tree: all rows, the tree cut at one height.

    With more than two classes there is a tree for each pair, on an axis after the rows'.

    Attributes
    ----------
    leaf : array of shape (n,), or (n, pairs)
        The node where the row's path ends.
    path : array of shape (n, K), or (n, pairs, K)
        The nodes asked; -1 past a path's end.
    """

    leaf: Ints
    path: Ints
