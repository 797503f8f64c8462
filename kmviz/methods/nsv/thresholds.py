"""The threshold envelope: how far the outputs of each step can mislead (4.1).

Each calibration row gives a row of outputs: the filter's, that of each stage, then the partial sums
g_1 .. g_m. An envelope holds, for each column, the largest outputs on the wrong side of 0, and how
far the column scatters around f.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter1d, minimum_filter1d

from kmviz.loops.nsv_stages import Limits
from kmviz.methods.nsv.linear_filter import filter_thresholds

Floats = NDArray[np.float64]


def of_stages(limits: Limits, stages: NDArray[np.intp]) -> Limits:
    """Return the limits of a walk that takes these stages and no others."""
    return limits._replace(stage_low=limits.stage_low[stages], stage_high=limits.stage_high[stages])


class Envelope:
    """Simple thresholds of every column, from calibration rows added bit by bit.

    Parameters
    ----------
    n_stages : int
        Columns between the filter and the first vector.
    n_vectors : int
        m.
    """

    low: Floats
    high: Floats
    spread: Floats
    early: NDArray[np.float32]
    n_stages: int
    n_rows: int

    def __init__(self, n_stages: int, n_vectors: int) -> None:
        self.n_stages = n_stages
        columns = 1 + n_stages + n_vectors
        self.low, self.high = np.zeros(columns), np.zeros(columns)
        self.spread = np.zeros(columns)
        self.n_rows = 0
        self._sums = np.zeros((2, columns))
        self._early: list[Any] = []
        self._exact: list[Any] = []

    def add(self, outputs: Floats, exact: Floats) -> None:
        """Take in calibration rows: their outputs and their f(x)."""
        positive = exact > 0
        # L_k = min g_k over f > 0 and g_k < 0; H_k = max g_k over f <= 0 and g_k > 0; else 0.
        self.low = np.minimum(self.low, outputs[positive].min(axis=0, initial=0.0))
        self.high = np.maximum(self.high, outputs[~positive].max(axis=0, initial=0.0))
        errors = exact[:, None] - outputs
        self._sums += errors.sum(axis=0), (errors**2).sum(axis=0)
        self.n_rows += len(exact)
        self._early.append(outputs[:, : 1 + self.n_stages].astype(np.float32))
        self._exact.append(exact)

    def close(self) -> Envelope:
        """Finish: scatter, and the filter's own rule."""
        mean, square = self._sums / max(self.n_rows, 1)
        self.spread = np.sqrt(np.maximum(square - mean**2, 0.0))
        self.early = np.concatenate(self._early)
        exact, spread = np.concatenate(self._exact), float(self.spread[0])
        self.low[0], self.high[0] = filter_thresholds(self.early[:, 0], exact, spread)
        del self._sums, self._early, self._exact
        return self

    def insert_stages(
        self, outputs: Floats, exact: Floats, checked: list[tuple[Floats, Floats]], caution: float
    ) -> None:
        """Put stages between the filter and the others, of a closed envelope.

        Parameters
        ----------
        outputs, exact : arrays of shape (n, s) and (n,)
            Their outputs and f of the calibration rows, in the order these came.
        checked : list of pairs of such arrays
            Further rows that no threshold may put on the wrong side.
        caution : float
            How many scatters their thresholds are moved out by.
        """
        low, high = np.zeros(outputs.shape[1]), np.zeros(outputs.shape[1])
        for found, f in [(outputs, exact), *checked]:
            low = np.minimum(low, found[f > 0].min(axis=0, initial=0.0))
            high = np.maximum(high, found[f <= 0].max(axis=0, initial=0.0))
        spread = np.std(exact[:, None] - outputs, axis=0)
        self.low = np.insert(self.low, 1, low - caution * spread)
        self.high = np.insert(self.high, 1, high + caution * spread)
        self.spread = np.insert(self.spread, 1, spread)
        self.early = np.insert(self.early, [1], outputs.astype(np.float32), axis=1)
        self.n_stages += outputs.shape[1]

    def limits(self, window: int, margin: float, tests_start: bool, slack: float) -> Limits:
        """Smooth over neighbouring steps and widen.

        Parameters
        ----------
        window : int
            w of MaxSmoothed: the extreme threshold of steps k - w to k + w; 0 is Simple.
        margin : float
            a: thresholds move out by a times the scatter of their step.
        tests_start : bool
            Whether the stages may decide.
        slack : float
            A few rounding errors, so that a calibration row never passes its own threshold.
        """
        steps = 1 + self.n_stages
        low, high = self.low.copy(), self.high.copy()
        low[steps:] = minimum_filter1d(low[steps:], 2 * window + 1, mode="nearest")
        high[steps:] = maximum_filter1d(high[steps:], 2 * window + 1, mode="nearest")
        wider = np.full_like(low, np.inf) if np.isinf(margin) else margin * self.spread
        low, high = low - wider - slack, high + wider + slack
        if not tests_start:
            low[1:steps], high[1:steps] = -np.inf, np.inf
        last = steps - 1  # the last stage is g_0
        return Limits(
            float(low[0]), float(high[0]), low[1:steps], high[1:steps], low[last:], high[last:]
        )

    def patterns(self, limits: Limits) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
        """Return which stages would decide a calibration row that the filter leaves, and how often.

        Rows that the same stages would decide are counted once: there are few such patterns.
        """
        first, outputs = self.early[:, 0], self.early[:, 1:]
        left = (first >= limits.filter_low) & (first <= limits.filter_high)
        decides = (outputs < limits.stage_low) | (outputs > limits.stage_high)
        codes = decides @ (1 << np.arange(decides.shape[1]))  # few stages: a bit for each
        _, places, counts = np.unique(codes[left], return_index=True, return_counts=True)
        return decides[left][places], counts

    def reaching(self, patterns: Any, stages: NDArray[np.intp]) -> Floats:
        """Return the share of calibration rows that reach each of these stages, then the walk.

        `patterns` are those of the limits of all stages.
        """
        decides, counts = patterns
        left = np.logical_and.accumulate(~decides[:, stages], axis=1)
        reached = np.concatenate([[counts.sum()], counts @ left]) / len(self.early)
        return np.maximum(reached, 1.0 / len(self.early))
