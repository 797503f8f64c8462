"""Rows drawn more often the less they are like others, and what such a sample says of a rate."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

#: How much of the drawing is even: no row is then drawn less than half as often as in an even
#: sample, and no draw weighs more than 2.
EVEN = 0.5

#: Shares of the largest bet that are placed side by side (see `weighted_interval`): on rare events
#: small ones pay, on their absence large ones.
BETS_ABOVE = np.geomspace(1e-4, 0.5, 16)
BETS_BELOW = np.array([0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 0.99])


def dissimilarity(rows: NDArray[Any], known: NDArray[Any]) -> NDArray[np.float64]:
    """Return the mean squared distance of each row to all known rows, in scatters of each column.

    That is the squared distance to their mean and the number of columns, so it needs no pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from kmviz.evaluation.sampling import dissimilarity
    >>> dissimilarity(np.array([[0.0], [3.0]]), np.array([[-1.0], [1.0]]))
    array([ 1., 10.])
    """
    rows, known = (np.asarray(part, dtype=np.float64) for part in (rows, known))
    scatter = known.std(axis=0)
    scatter[scatter == 0] = 1.0  # a column that never varied counts as it is
    standard = (rows - known.mean(axis=0)) / scatter
    return np.einsum("ij,ij->i", standard, standard) + rows.shape[1]


def chances(scores: NDArray[Any]) -> NDArray[np.float64]:
    """Return the probability of each row at each draw: half of it even, half by its score.

    Examples
    --------
    >>> import numpy as np
    >>> from kmviz.evaluation.sampling import chances
    >>> chances(np.array([1.0, 3.0]))
    array([0.375, 0.625])
    """
    return EVEN / len(scores) + (1.0 - EVEN) * scores / scores.sum()


def weighted_interval(values: NDArray[Any], confidence: float) -> tuple[float, float]:
    """Return an interval for the mean of what independent draws from [0, 1] come from.

    It holds at every sample size and for every distribution: if the mean is mu, a gambler who
    stakes a fixed share of his fortune on each draw lying above mu (or below) gains nothing on
    average, and has multiplied it by 2 / (1 - confidence) with at most half that probability
    (Markov). A mean at which some of these gamblers together would have done so is ruled out.
    (The idea of confidence by betting: Waudby-Smith and Ramdas 2024.)

    Examples
    --------
    >>> import numpy as np
    >>> from kmviz.evaluation.sampling import weighted_interval
    >>> low, high = weighted_interval(np.zeros(1000), 0.95)
    >>> low, bool(high < 0.01)
    (0.0, True)
    """
    values = np.asarray(values, dtype=np.float64)
    limit = np.log(2.0 / (1.0 - confidence))
    least, most = 1e-12, 1.0 - 1e-12

    def above(mean: float) -> float:  # bets that draws exceed the mean; falls with it
        return _fortune(1.0 + BETS_ABOVE[:, None] * (values / mean - 1.0)) - limit

    def below(mean: float) -> float:  # bets that they stay under it; rises with it
        return _fortune(1.0 - BETS_BELOW[:, None] * (values - mean) / (1.0 - mean)) - limit

    low = brentq(above, least, most) if above(least) > 0 > above(most) else 0.0
    high = brentq(below, least, most) if below(most) > 0 > below(least) else 1.0
    return float(low), float(high)


def _fortune(factors: NDArray[np.float64]) -> float:
    """The log of the mean fortune of gamblers (rows) after all draws (columns)."""
    with np.errstate(divide="ignore"):
        logs = np.log(np.maximum(factors, 0.0)).sum(axis=1)
    return float(np.logaddexp.reduce(logs) - np.log(len(logs)))
