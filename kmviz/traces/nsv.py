"""Nearest support vectors."""

from __future__ import annotations

from dataclasses import dataclass

from kmviz.traces.record import Bools, Floats, Ints, Reading, Trace


@dataclass(frozen=True, eq=False)
class NSVTrace(Trace):
    """Nearest support vectors: the walk of one query, and where it would have gone.

    `stop` is the number of support vectors touched: 0 where the filter, reduced vectors or the
    approximation decided.

    Attributes
    ----------
    filtered : bool
        Whether the linear filter decided.
    filter_output, filter_low, filter_high : float
        The filter's output and its thresholds; nan without a filter.
    partial : array of shape (K + 1,)
        g_k. `partial[0]` is the start: -b, or the approximation of the whole sum.
    low, high : array of shape (K + 1,)
        L_k and H_k; the walk stops at the first k with g_k < L_k or g_k > H_k.
    index : array of shape (K + 1,)
        Which vector of the machine step k touches; -1 at the start.
    value, score : array of shape (K + 1,)
        Its exact and its approximate kernel value; 0 at the start.
    stages : array of shape (s, 4)
        Of each stage: reduced vectors or components of the approximation, output, low, high.
        Empty when the sum starts empty. The last stage is step 0.
    n_reduced : int
        How many of the stages, the first ones, are of reduced vectors.
    """

    filtered: bool
    filter_output: float
    filter_low: float
    filter_high: float
    partial: Floats
    low: Floats
    high: Floats
    index: Ints
    value: Floats
    score: Floats
    stages: Floats
    n_reduced: int = 0

    @property
    def deciding(self) -> int:
        """The stage that decided, counted from 0; -1 where the filter or the walk did."""
        if self.filtered or self.stop or not len(self.stages):
            return -1
        _, output, low, high = self.stages.T
        return int(((output < low) | (output > high)).argmax())


@dataclass(frozen=True, eq=False)
class NSVReading(Reading):
    """Nearest support vectors under one choice of thresholds.

    `outputs` holds g at the stop. With more than two classes the arrays below have one axis more,
    the pairs' axis: the last of those over rows, the first of the thresholds.

    Attributes
    ----------
    stop : array of shape (n,)
        Vectors touched.
    filtered : array of shape (n,)
        Whether the linear filter decided.
    stage : array of shape (n,)
        The stage that decided, those of reduced vectors first; -1 where none did.
    low, high : array of shape (m + 1,)
        L_k and H_k, which a walk stops beyond; filled up with nan where pairs differ in m.
    """

    stop: Ints
    filtered: Bools
    stage: Ints
    low: Floats
    high: Floats
