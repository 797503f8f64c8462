"""Reduced sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kmviz.traces.record import Floats, Ints, Reading, Trace


@dataclass(frozen=True, eq=False)
class ReducedTrace(Trace):
    """Reduced set: the machines of 1, 2, ... vectors, asked in turn.

    `exact` is f of the original machine.

    Attributes
    ----------
    partial : array of shape (K + 1,)
        Output of the first k vectors with the weights that are best for k; `partial[0]` is -b.
    index : array of shape (K + 1,)
        Which reduced vector step k added; -1 at the start.
    value : array of shape (K + 1,)
        Its kernel value; 0 at the start.
    low, high : array of shape (K + 1,)
        A partial output outside of them is safe; infinite where nothing stops early.
    """

    partial: Floats
    index: Ints
    value: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class ReducedReading(Reading):
    """A reduced machine, and what it makes of the rows.

    With more than two classes vectors and weights stand one pair of classes after the other (of
    shared vectors every pair has a row of weights), and rho and bias have an entry for each pair.

    Attributes
    ----------
    vectors : array of shape (n_vectors, d)
        As the machine reads them.
    weights : array of shape (n_vectors,)
    rho : float
        ||Psi - Psi'|| / ||Psi||.
    bias : float
        The threshold.
    """

    vectors: Floats
    weights: Floats
    rho: Any
    bias: Any
