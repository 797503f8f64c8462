"""Local models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from kmviz.traces.record import Ints, Reading, Record
from kmviz.traces.sums import SumTrace


@dataclass(frozen=True, eq=False)
class LocalTrace(SumTrace):
    """The sum over the vectors of one local model.

    `index` holds training rows. A neighbourhood of one class has no vectors: K is 0.

    Attributes
    ----------
    nearest : int
        The training row nearest to the query, in feature space.
    center : int
        The training row at the centre of the model that answered; -1 where the query itself is.
    model : int
        That model's number.
    """

    nearest: int
    center: int
    model: int


@dataclass(frozen=True, eq=False)
class LocalReading(Reading):
    """Which local model answers each row, and what it says.

    Attributes
    ----------
    model : array of shape (n,)
        The answering model's number.
    nearest : array of shape (n,)
        The training row that the search found: the nearest, or the nearest among the centres.
    center : array of shape (n,)
        The training row at the centre of the answering model.
    """

    model: Ints
    nearest: Ints
    center: Ints


@dataclass(frozen=True, eq=False)
class LocalModel(Record):
    """One local model and the neighbourhood that it was trained on.

    Attributes
    ----------
    model : int
        Its number.
    center : int
        The training row at its centre.
    members : array of shape (k,)
        The training rows that it was trained on, nearest to the centre first.
    n_cover : int
        k': so many of them the centre answers for.
    vectors : array of shape (s,)
        Its support vectors, training rows, over all pairs of classes.
    inner, outer : float
        Distances of the k'-th and of the k-th member from the centre.
    error : float
        nu, the share of the members that the model itself puts into the wrong class.
    """

    model: int
    center: int
    members: NDArray[Any]
    n_cover: int
    vectors: Ints
    inner: float
    outer: float
    error: float
