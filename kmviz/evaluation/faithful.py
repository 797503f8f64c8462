"""Whether a machine, as it was read, is the model that was handed in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.methods.base import dense

#: Rows that a message names.
NAMED = 5

#: Rows that are looked at together.
BLOCK = 512


class ReadingError(ValueError):
    """The machine that was read from a model answers otherwise than the model does."""


def refuse_unlike(exact: Any, X: Any, labels: NDArray[Any]) -> None:
    """Refuse a model whose own answers are not those of the machine read from it.

    Parameters
    ----------
    exact : ExactClassifier
        The reading, fitted on the frozen model.
    X : array or frame of shape (n, d)
        The rows at hand.
    labels : array of shape (n,)
        What the model's own `predict` answers to them.

    Raises
    ------
    ReadingError
        Where even one row differs.
    """
    refuse_rows(exact.estimator_, exact.predict(X), labels)


def refuse_rows(model: Any, answers: Any, own: Any, tolerance: float = 0.0) -> None:
    """Refuse a model of which the machines, as they were read, answer a row otherwise.

    Parameters
    ----------
    answers, own : arrays of length n
        The answers of the reading, and the model's own.
    tolerance : float
        Numbers that differ by no more are the same.
    """
    wrong = rows_unlike(answers, own, tolerance)
    if not len(wrong):
        return
    some = ", ".join(f"{row} ({answers[row]!s} for {own[row]!s})" for row in wrong[:NAMED])
    raise ReadingError(
        f"Read as a kernel machine, this {type(model).__name__} answers {len(wrong):,} of "
        f"{len(own):,} rows otherwise than its own predict: rows {some}"
        f"{' and others' if len(wrong) > NAMED else ''}. It applies a threshold, a step or a rule "
        "that the machine inside does not hold, so a promise would be about another model. Give "
        "the estimator whose predict is the machine's own, and apply the rest to its answers."
    )


def rows_unlike(answers: Any, own: Any, tolerance: float = 0.0) -> NDArray[np.intp]:
    """Return the rows whose answers differ, numbers by more than a tolerance."""
    answers, own = np.asarray(answers), np.asarray(own)
    if answers.shape != own.shape:
        return np.arange(min(len(answers), len(own)))
    if tolerance:
        return np.flatnonzero(np.abs(answers - own) > tolerance)
    return np.flatnonzero(answers != own)


def known_vectors(exact: Any, X: Any) -> float:
    """Return the share of the machine's support vectors that stand among the rows X.

    Rows count as the same to six digits: the steps before a machine may round otherwise than in
    its training.
    """
    vectors = np.concatenate([machine.vectors for machine in exact.machines_]).astype(np.float64)
    if not len(vectors):
        return 0.0
    unit = np.abs(vectors).max(axis=0) * 1e-6
    unit[unit == 0] = 1.0
    known, rows = _keys(vectors / unit), exact.machine_rows(X)
    blocks = range(0, rows.shape[0], BLOCK)
    found = set().union(*(known & _keys(dense(rows[top : top + BLOCK]) / unit) for top in blocks))
    return len(found) / len(known)


def _keys(rows: NDArray[np.float64]) -> set[bytes]:
    whole = np.rint(rows.clip(-1e15, 1e15)).astype(np.int64)
    return {row.tobytes() for row in whole}
