"""Nearest support vectors, several classes: who leads in all pairs, and by how much.

`kmviz.methods.nsv.shared.leads` is the NumPy twin.
"""

from __future__ import annotations

import numpy as np

from kmviz.loops.compile import compiled


@compiled
def output_of(outputs, n_classes, one, other):
    """What a pair says for one class against another: above 0 it wins, at 0 the lower one does."""
    if one < other:
        return outputs[one * (2 * n_classes - one - 1) // 2 + other - one - 1]
    return -outputs[other * (2 * n_classes - other - 1) // 2 + one - other - 1]


@compiled
def leader(outputs, n_classes):
    """The class that wins all its pairs and its smallest output; -1 and -inf where none does.

    Classes meet one after the other and the winner stays: the last alone can have won all.
    """
    champion = 0
    for other in range(1, n_classes):
        if output_of(outputs, n_classes, champion, other) < 0:
            champion = other
    least = np.inf
    for other in range(n_classes):
        if other == champion:
            continue
        value = output_of(outputs, n_classes, champion, other)
        if not (value > 0 or (value == 0 and champion < other)):  # nan wins nothing
            return -1, -np.inf
        least = min(least, np.float64(value))
    return champion, least


@compiled
def lead_rows(outputs, n_classes, winner, lead):
    """The leader of each row of outputs, one for each pair of classes, all in one scale."""
    for r in range(outputs.shape[0]):
        winner[r], lead[r] = leader(outputs[r], n_classes)


def warm() -> None:
    """Compile for the types in use."""
    for dtype in (np.float32, np.float64):
        lead_rows(np.ones((1, 3), dtype), 3, np.empty(1, np.int64), np.empty(1))
