"""Several classes, a machine for each pair: who has most votes, and who can still win."""

from __future__ import annotations

import numpy as np

from kmviz.loops.compile import compiled_strict, part_strict


@part_strict
def first_wins(output, zero_first):
    """Whether a pair's output stands for its first class; at 0 the model's own rule decides."""
    return output > 0 or (zero_first and output == 0)


@compiled_strict
def first_with_most_votes(outputs, n_classes, zero_first, out):
    """libsvm's own vote: of classes with as many votes the first wins."""
    votes = np.empty(n_classes, np.int64)
    for r in range(outputs.shape[0]):
        votes[:] = 0
        q = 0
        for i in range(n_classes):
            for j in range(i + 1, n_classes):
                votes[i if first_wins(outputs[r, q], zero_first) else j] += 1
                q += 1
        best = 0
        for i in range(1, n_classes):
            if votes[i] > votes[best]:
                best = i
        out[r] = best


@compiled_strict
def contenders(outputs, known, rows, scale, n_classes, zero_first, best, asks):
    """Of the classes that no known output beats, the one that all outputs put furthest ahead.

    `best` takes it for each of these rows (-1 where all are beaten), `asks` which of its pairs are
    guessed.
    """
    lead, is_beaten = np.empty(n_classes), np.empty(n_classes, np.bool_)
    for a in range(rows.shape[0]):
        r, q = rows[a], 0
        lead[:], is_beaten[:] = np.inf, False
        for i in range(n_classes):
            for j in range(i + 1, n_classes):
                ahead = outputs[r, q] * scale[q]
                lead[i], lead[j] = min(lead[i], ahead), min(lead[j], -ahead)
                if known[r, q]:
                    is_beaten[j if first_wins(outputs[r, q], zero_first) else i] = True
                q += 1
        best[a] = -1
        for i in range(n_classes):
            if not is_beaten[i] and (best[a] < 0 or lead[i] > lead[best[a]]):
                best[a] = i
        q = 0
        for i in range(n_classes):
            for j in range(i + 1, n_classes):
                asks[a, q] = (best[a] == i or best[a] == j) and not known[r, q]
                q += 1


def warm() -> None:
    """Compile for the types in use."""
    places, flags = np.zeros(2, dtype=np.intp), np.zeros((2, 3), dtype=bool)
    first_with_most_votes(np.ones((2, 3)), 3, True, places)
    contenders(np.ones((2, 3)), flags, places, np.ones(3), 3, True, places.copy(), flags.copy())
