"""What a sample without labels can prove about disagreement with the exact machine.

With d sign changes in n held-out queries, the one-sided Clopper-Pearson bound
B^-1(confidence; d + 1, n - d) is not exceeded by the true rate with that confidence. Rows that
shaped the method must not also prove the promise.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log

from scipy.stats import beta


@dataclass(frozen=True)
class Promise:
    """At most `rate` of the queries change sign, with `confidence`, shown by `rows` rows.

    Attributes
    ----------
    rate : float
        The upper bound on the share of queries answered differently from the exact machine.
    confidence : float
    rows : int
        Held-out rows it rests on; 0 where a proof, not a sample, gives the rate.
    misses : int
        How many of them were answered differently.
    """

    rate: float
    confidence: float
    rows: int
    misses: int = 0

    def __str__(self) -> str:
        if not self.rows:
            return f"certified: at most {self.rate:.3%} of the answers differ"
        return (
            f"{self.misses} of {self.rows} held-out answers differ: at most {self.rate:.3%} "
            f"with {self.confidence:.0%} confidence"
        )


def upper_bound(misses: int, rows: int, confidence: float = 0.95) -> float:
    """Return the one-sided Clopper-Pearson upper bound on a rate.

    Examples
    --------
    >>> from kmviz.methods.promise import upper_bound
    >>> round(upper_bound(0, 2995), 6)
    0.001
    """
    return 1.0 if misses >= rows else float(beta.ppf(confidence, misses + 1, rows - misses))


def interval(misses: int, rows: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the two-sided Clopper-Pearson interval of a rate."""
    tail = (1.0 - confidence) / 2.0
    low = float(beta.ppf(tail, misses, rows - misses + 1)) if misses else 0.0
    return low, upper_bound(misses, rows, 1.0 - tail)


def rows_needed(rate: float, confidence: float = 0.95) -> int:
    """Return how many rows without a miss prove `rate`: ceil(ln(1 - c) / ln(1 - e)).

    Examples
    --------
    >>> from kmviz.methods.promise import rows_needed
    >>> rows_needed(0.01), rows_needed(0.001), rows_needed(0.0001)
    (299, 2995, 29956)
    """
    return ceil(log(1.0 - confidence) / log(1.0 - rate))
