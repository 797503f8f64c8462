"""Rows held out, and what they prove about disagreement with the model.

With d sign changes in n held-out queries, the one-sided Clopper-Pearson bound
B^-1(confidence; d + 1, n - d) is not exceeded by the true rate with that confidence. Rows that
shaped the method must not also prove the promise. Equal rows count once: a row that was copied a
thousand times says no more about other rows than the row alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import blake2b
from inspect import currentframe
from math import ceil, log
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.stats import beta, binomtest
from sklearn.model_selection import train_test_split
from sklearn.utils import (
    _safe_indexing,
    check_consistent_length,
    check_random_state,
    indexable,
)
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite

#: Rows whose keys are made together.
BLOCK = 512


class PromiseWarning(UserWarning):
    """The promise asked for cannot be given, or rests on rows that look wrong.

    The message says why, and what to give or allow in its place.

    Examples
    --------
    >>> import warnings
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.svm import SVC
    >>> import kmviz
    >>> X, y = make_moons(100, noise=0.2, random_state=0)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     fast = kmviz.accelerate(SVC().fit(X, y), 0.0 * X, method="exact")
    >>> print(caught[0].category.__name__, str(caught[0].message).partition(",")[0])
    PromiseWarning All 100 rows of X are equal
    """


class NotProvedError(ValueError):
    """The rows do not bear a promise out, whatever the thresholds."""


def warn_of_promise(message: str) -> None:
    """Warn of a promise, in the line of the caller who is outside kmviz."""
    level, frame = 0, currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("kmviz."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, PromiseWarning, stacklevel=level + 1)


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
        Held-out rows it rests on, equal rows counted once; 0 where a proof, not a sample, gives
        the rate.
    misses : int
        How many of them were answered differently (`distinct_misses`).
    bound : float or None
        The Clopper-Pearson bound of these misses. It describes the rows: where they also chose
        how wide the method's thresholds are, only `rate` is covered by the confidence.
    checked : int
        Rows on which the machine, as it was read, answered as the model's own `predict`.
    distinct : int
        How many of these are distinct.
    near : int
        Further rows, so near to f(x) = 0 that rounding decides: they are no check of the reading.
        The exact machine and certified methods ask the model itself about such rows.
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
    distinct: int = 0
    faster: float | None = None
    note: str = ""
    tolerance: float | None = None
    near: int = 0

    @classmethod
    def of(
        cls,
        differ: NDArray[np.bool_],
        group: NDArray[np.intp],
        rate: float | None = None,
        confidence: float = 0.95,
        **more: Any,
    ) -> Promise | None:
        """Return what rows prove; None where they do not prove `rate`.

        Parameters
        ----------
        differ : array of shape (n,)
            Which rows are answered otherwise than by the model.
        group : array of shape (n,)
            The same number for equal rows, as `group_rows` gives.
        rate : float, optional
            What is to be promised; None promises the bound itself.
        **more
            Other attributes of the promise.

        Examples
        --------
        >>> import numpy as np
        >>> from kmviz.methods.promise import Promise
        >>> wrong = np.zeros(299, dtype=bool)
        >>> Promise.of(wrong, np.arange(299), 0.01).rows, Promise.of(wrong, np.arange(299), 0.009)
        (299, None)
        """
        misses, rows = distinct_misses(differ, group)
        bound = upper_bound(misses, rows, confidence)
        if rate is not None and bound > rate:
            return None
        return cls(bound if rate is None else rate, confidence, rows, misses, bound, **more)

    def __str__(self) -> str:
        said = [self.note] if self.note else []
        differ, did = "answers differ", "answers did"
        if self.tolerance is not None:
            differ, did = f"values are off by more than {self.tolerance:.3g}", "values were"
        if self.rows:
            said.append(
                f"at most {self.rate:.3%} of the {differ}, with {self.confidence:.0%} "
                f"confidence: {self.misses} of {self.rows} distinct held-out {did}"
            )
        elif not self.note:
            said.append(f"certified: at most {self.rate:.3%} of the {differ}")
        if self.checked and not self.note:
            said.append(
                f"the machine as read answers {self.checked} rows ({self.distinct} distinct) as "
                "its model does"
            )
        if self.near and not self.note:
            asks = "" if self.rows else ", and the model itself is asked about such rows"
            said.append(f"rounding decides the sign of f(x) for {self.near} further rows{asks}")
        if self.faster is not None:
            said.append(f"{self.faster:.3g}x faster than the model's own predict")
        return "; ".join(said)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return f"<p><b>Promise</b>: {self}</p>"


def group_rows(rows: Any) -> NDArray[np.intp]:
    """Return a number for each row, the same for equal rows, counted up in order of appearance.

    Parameters
    ----------
    rows : array, sparse matrix, frame or list of length n

    Examples
    --------
    >>> from kmviz.methods.promise import group_rows
    >>> group_rows([[1.0, 2.0], [0.0, 0.0], [1.0, 2.0]]).tolist()
    [0, 1, 0]
    """
    number: dict[Any, int] = {}
    table = rows if issparse(rows) else np.asarray(rows)
    blocks = (table[top : top + BLOCK] for top in range(0, table.shape[0], BLOCK))
    keys = (key for block in blocks for key in _keys(block))
    return np.array([number.setdefault(key, len(number)) for key in keys], dtype=np.intp)


def _keys(block: Any) -> list[Any]:
    rows = block.toarray() if issparse(block) else block
    if rows.dtype.kind == "O":
        return [repr(row) for row in rows.tolist()]
    if rows.dtype.kind == "f":
        rows = rows + 0.0  # -0.0 is 0.0
    return [blake2b(row.tobytes(), digest_size=16).digest() for row in rows]


def deal_groups(
    group: NDArray[np.intp], n_first: int, rng: np.random.RandomState
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows of `n_first` groups that are drawn at random, and the other rows.

    Examples
    --------
    >>> import numpy as np
    >>> from kmviz.methods.promise import deal_groups
    >>> [rows.tolist() for rows in deal_groups(np.array([0, 1, 1, 2]), 2, np.random.RandomState(0))]
    [[3, 1, 2], [0]]
    """
    drawn = rng.permutation(len(np.unique(group)))
    return _rows_of(group, drawn[:n_first]), _rows_of(group, drawn[n_first:])


def _rows_of(group: NDArray[np.intp], drawn: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the rows of some groups, in the order of the groups."""
    place = np.full(group.max(initial=-1) + 1, len(group))
    place[drawn] = np.arange(len(drawn))
    order = np.argsort(place[group], kind="stable")
    return order[: np.count_nonzero(place[group] < len(group))]


def check_classes(X: Any, y: Any) -> None:
    """Refuse classes that no rows could be held out of (ValueError)."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    check_consistent_length(X, y)
    if 0 in (shape := getattr(X, "shape", ())):
        raise ValueError(f"X has 0 feature(s) (shape={shape}) while a minimum of 1 is required.")
    if np.asarray(y).dtype.kind == "f":
        assert_all_finite(y, input_name="y")
    check_classification_targets(y)


def hold_out(X: Any, y: Any, random_state: Any, share: float = 0.25) -> tuple[Any, Any, Any]:
    """Split rows at random; return those to learn from, their classes, and those held out.

    Equal rows stay together. With classes `y` every class is held out in its share.

    Parameters
    ----------
    X : array, sparse matrix, frame or list of length n
    y : array of shape (n,) or None
    random_state : int, RandomState or None
    share : float
        Of the distinct rows, held out.

    Examples
    --------
    >>> import numpy as np
    >>> from kmviz.methods.promise import hold_out
    >>> rows = np.arange(8.0)[:, None]
    >>> kept, y, held = hold_out(rows, [0, 1] * 4, random_state=0)
    >>> len(kept), sorted(y), len(held)
    (6, [0, 0, 0, 1, 1, 1], 2)
    """
    X, y = indexable(X, y)
    group, random = group_rows(X), check_random_state(random_state)
    n = len(np.unique(group))
    if n < 2:
        raise ValueError(
            f"X has {n} distinct row(s), n_samples={len(group)}: some calibrate, others prove the "
            "promise. Give more rows."
        )
    n_kept = n - ceil(share * n)
    if y is None:
        kept, held = deal_groups(group, n_kept, random)
        return _safe_indexing(X, kept), None, _safe_indexing(X, held)
    classes = np.asarray(y)[np.unique(group, return_index=True)[1]]
    try:
        drawn = train_test_split(
            np.arange(n), train_size=n_kept, stratify=classes, random_state=random
        )
    except ValueError as error:
        raise ValueError(f"Of every class rows are held out: {error} Give more rows.") from error
    kept, held = (_rows_of(group, part) for part in drawn)
    return _safe_indexing(X, kept), _safe_indexing(y, kept), _safe_indexing(X, held)


def smallest_margin(
    margins: Iterable[float],
    differ_at: Callable[[float], NDArray[np.bool_]],
    group: NDArray[np.intp],
    rate: float,
    confidence: float,
) -> tuple[float, Promise] | None:
    """Return the last of the margins that is proved before one fails, and its promise.

    Testing in a fixed order, from the widest on, spends the confidence once, however many margins
    are tried. None: not even the first is proved.

    Parameters
    ----------
    margins : iterable of float
    differ_at : callable
        Which rows are answered otherwise at a margin.
    group : array of shape (n,)
        The same number for equal rows.
    """
    proved = None
    for margin in margins:
        promise = Promise.of(differ_at(margin), group, rate, confidence)
        if promise is None:
            break
        proved = margin, promise
    return proved


def distinct_misses(differ: NDArray[np.bool_], group: NDArray[np.intp]) -> tuple[int, int]:
    """Return how many distinct rows differ, and how many there are.

    Where rows that differ come more often than others, their share of all rows counts: equal rows
    can make a promise weaker, never stronger.

    Parameters
    ----------
    differ : array of shape (n,)
    group : array of shape (n,)
        The same number for equal rows, as `group_rows` gives.

    Examples
    --------
    >>> import numpy as np
    >>> from kmviz.methods.promise import distinct_misses
    >>> distinct_misses(np.array([True, False, False, False]), np.array([0, 1, 1, 1]))
    (1, 2)
    >>> distinct_misses(np.array([False, True, True, True]), np.array([0, 1, 1, 1]))
    (2, 2)
    """
    rows = len(np.unique(group))
    by_share = -(-int(differ.sum()) * rows // len(differ)) if len(differ) else 0
    return max(len(np.unique(group[differ])), by_share), rows


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
    found = binomtest(misses, rows).proportion_ci(confidence, method="exact")
    return float(found.low), float(found.high)


def rows_needed(rate: float, confidence: float = 0.95) -> int:
    """Return how many rows without a miss prove `rate`: ceil(ln(1 - c) / ln(1 - e)).

    Examples
    --------
    >>> from kmviz.methods.promise import rows_needed
    >>> rows_needed(0.01), rows_needed(0.001), rows_needed(0.0001)
    (299, 2995, 29956)
    """
    return ceil(log(1.0 - confidence) / log(1.0 - rate))
