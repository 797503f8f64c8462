"""Parameters chosen on held-out training rows, by a walk from where LibSVM's own stand."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from kmviz.evaluation.cost import one_thread

Values = dict[str, Any]


def climbed(score: Callable[[Values], float], start: Values, factors: dict[str, int]) -> Values:
    """Return the best values of a walk: each in turn times its factor, or divided by it.

    A value is followed as long as that pays, however far; the first that is no better ends it.

    Parameters
    ----------
    score : function of all values, more is better
    start : where the walk begins
    factors : of the values that move, in the order in which they do
    """
    best, top = dict(start), score(start)
    for name, factor in factors.items():
        for ratio in (factor, 1 / factor):
            before = best
            while (found := score(further := best | {name: _times(best[name], ratio)})) > top:
                best, top = further, found
            if best is not before:
                break
    return best


def _times(value: float, ratio: float) -> float:
    return max(1, int(value * ratio)) if isinstance(value, int) else value * ratio


def held_out_score(clf: Any, X: NDArray[Any], y: NDArray[Any]) -> Callable[[Values], float]:
    """Return the accuracy that a classifier has, as a function of its values, on a third of X."""
    learn, judge = train_test_split(np.arange(len(X)), test_size=1 / 3, random_state=0, stratify=y)

    def score(values: Values) -> float:
        with one_thread(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of those that are not taken
            made = clone(clf).set_params(**values).fit(X[learn], y[learn])
        return float(made.score(X[judge], y[judge]))

    return score
