"""What a sample without labels can prove about disagreement with the model.

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
    """At most `rate` of the queries are answered otherwise than the model, with `confidence`.

    Attributes
    ----------
    rate : float
        What is promised: the largest share of queries answered differently from the `predict` of
        the model that was handed in.
    confidence : float
    rows : int
        Held-out rows it rests on; 0 where a proof, not a sample, gives the rate.
    misses : int
        How many of them were answered differently.
    bound : float or None
        The Clopper-Pearson bound of these misses. It describes the rows: where they also chose
        how wide the method's thresholds are, only `rate` is covered by the confidence.
    checked : int
        Rows on which the machine, as it was read, answered as the model's own `predict`.
    faster : float or None
        Times faster than that `predict`, where both were timed in one run.
    note : str
        What else there is to say.
    tolerance : float or None
        Where values are promised, not labels: a value counts as different only where it is
        further off than this.
    """

    rate: float
    confidence: float
    rows: int
    misses: int = 0
    bound: float | None = None
    checked: int = 0
    faster: float | None = None
    note: str = ""
    tolerance: float | None = None

    def __str__(self) -> str:
        said = [self.note] if self.note else []
        differ, did = "answers differ", "answers did"
        if self.tolerance is not None:
            differ, did = f"values are off by more than {self.tolerance:.3g}", "values were"
        if self.rows:
            said.append(
                f"at most {self.rate:.3%} of the {differ}, with {self.confidence:.0%} "
                f"confidence: {self.misses} of {self.rows} held-out {did}"
            )
        elif not self.note:
            said.append(f"certified: at most {self.rate:.3%} of the {differ}")
        if self.checked and not self.note:
            said.append(f"the machine as read answers {self.checked} rows as its model does")
        if self.faster is not None:
            said.append(f"{self.faster:.3g}x faster than the model's own predict")
        return "; ".join(said)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return f"<p><b>Promise</b>: {self}</p>"


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
