"""How far a partial output can mislead: thresholds for each step (4.1).

A *ladder* is all that a query hears on its way, as a row: the filter's output, that of each
stage of the approximation, then g_1 .. g_m. An envelope holds, for each rung, the worst lean of
calibration rows that belong to the other side, and how far the rung scatters around f.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter1d, minimum_filter1d

from kmviz.loops.nsv import Limits
from kmviz.methods.nsv.linear import filter_thresholds

Floats = NDArray[np.float64]


def of_stages(limits: Limits, stages: NDArray[np.intp]) -> Limits:
    """Return the limits of a walk that takes these stages and no others."""
    return limits._replace(stage_low=limits.stage_low[stages], stage_high=limits.stage_high[stages])


class Envelope:
    """Simple thresholds of every rung, from calibration rows added bit by bit.

    Parameters
    ----------
    n_stages : int
        Rungs between the filter and the first vector.
    n_vectors : int
        m.
    """

    low: Floats
    high: Floats
    spread: Floats
    starts: NDArray[np.float32]
    n_stages: int
    n_rows: int

    def __init__(self, n_stages: int, n_vectors: int) -> None:
        self.n_stages = n_stages
        rungs = 1 + n_stages + n_vectors
        self.low, self.high = np.zeros(rungs), np.zeros(rungs)
        self.spread = np.zeros(rungs)
        self.n_rows = 0
        self._sums = np.zeros((2, rungs))
        self._starts: list[Any] = []
        self._exact: list[Any] = []

    def add(self, ladders: Floats, exact: Floats) -> None:
        """Take in calibration rows: their ladders and their f(x)."""
        positive = exact > 0
        # L_k = min g_k over f > 0 and g_k < 0; H_k = max g_k over f <= 0 and g_k > 0; else 0.
        self.low = np.minimum(self.low, ladders[positive].min(axis=0, initial=0.0))
        self.high = np.maximum(self.high, ladders[~positive].max(axis=0, initial=0.0))
        errors = exact[:, None] - ladders
        self._sums += errors.sum(axis=0), (errors**2).sum(axis=0)
        self.n_rows += len(exact)
        self._starts.append(ladders[:, : 1 + self.n_stages].astype(np.float32))
        self._exact.append(exact)

    def close(self) -> Envelope:
        """Finish: scatter, and the filter's own rule."""
        mean, square = self._sums / max(self.n_rows, 1)
        self.spread = np.sqrt(np.maximum(square - mean**2, 0.0))
        self.starts = np.concatenate(self._starts)
        exact = np.concatenate(self._exact)
        said = self.starts[:, 0]
        self.low[0], self.high[0] = filter_thresholds(said, exact, float(self.spread[0]))
        del self._sums, self._starts, self._exact
        return self

    def begin_with(
        self, outputs: Floats, exact: Floats, sure: list[tuple[Floats, Floats]], caution: float
    ) -> None:
        """Put stages between the filter and the others, of a closed envelope.

        Parameters
        ----------
        outputs, exact : arrays of shape (n, s) and (n,)
            Their outputs and f of the calibration rows, in the order these came.
        sure : list of pairs of such arrays
            Further rows that no threshold may put on the wrong side.
        caution : float
            How many scatters their thresholds are moved out by.
        """
        low, high = np.zeros(outputs.shape[1]), np.zeros(outputs.shape[1])
        for said, f in [(outputs, exact), *sure]:
            low = np.minimum(low, said[f > 0].min(axis=0, initial=0.0))
            high = np.maximum(high, said[f <= 0].max(axis=0, initial=0.0))
        spread = np.std(exact[:, None] - outputs, axis=0)
        self.low = np.insert(self.low, 1, low - caution * spread)
        self.high = np.insert(self.high, 1, high + caution * spread)
        self.spread = np.insert(self.spread, 1, spread)
        self.starts = np.insert(self.starts, [1], outputs.astype(np.float32), axis=1)
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

    def reaching(self, limits: Limits, filtered: bool, stages: NDArray[np.intp]) -> Floats:
        """Return the share of calibration rows that reach each of these stages, then the walk."""
        return self.reaching_any(limits, filtered)(stages)

    def reaching_any(self, limits: Limits, filtered: bool) -> Callable[[NDArray[np.intp]], Floats]:
        """Return `reaching` as a function of the stages.

        Rows that would pass the same stages go together: there are far fewer such kinds than rows.
        """
        heard = self.starts[:, 1:]
        passed = (heard < limits.stage_low) | (heard > limits.stage_high)
        said = self.starts[:, 0]
        on = np.ones(len(said), dtype=bool)
        if filtered:
            on = (said >= limits.filter_low) & (said <= limits.filter_high)
        codes = passed @ (1 << np.arange(passed.shape[1]))  # few stages: a bit for each
        _, places, counts = np.unique(codes[on], return_index=True, return_counts=True)
        kinds = passed[on][places]
        least = 1.0 / len(on)

        def shares(stages: NDArray[np.intp]) -> Floats:
            left = np.logical_and.accumulate(~kinds[:, stages], axis=1)
            reached = np.concatenate([[counts.sum()], counts @ left]) / len(on)
            return np.maximum(reached, least)

        return shares
