"""A trial of fast methods on the rows of `accelerate`: some calibrate, the others decide."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _num_samples

from kmviz.evaluation.cost import TIMED_ROWS, one_thread, seconds_per_query
from kmviz.evaluation.reference import largest
from kmviz.kernels import Linear, is_known
from kmviz.methods import progress
from kmviz.methods.anytime.basis import NotMercerError
from kmviz.methods.anytime.spectral import quadratic
from kmviz.methods.exact import ExactClassifier
from kmviz.methods.nsv import NSVClassifier
from kmviz.methods.nsv.tables import known_form
from kmviz.methods.promise import (
    NotProvedError,
    Promise,
    deal_groups,
    distinct_misses,
    rows_needed,
    upper_bound,
    warn_of_promise,
)
from kmviz.methods.register import METHODS, method_of, offered

#: A candidate that takes longer for so few rows than a certified one for all is not looked at.
FEW_ROWS = 16


def tried(certified: bool) -> tuple[str, ...]:
    """Return what is tried unasked: kept by a proof, or as good as held-out rows show it to be."""
    methods = [method for method in METHODS if method.certified == certified]
    return tuple(one.name for method in methods for one in method.settings if one.is_tried)


@dataclass(frozen=True)
class Candidate:
    """A calibrated method, its CPU seconds a query, and its promise once rows have decided."""

    name: str
    classifier: Any
    seconds: float
    promise: Promise | None


class Trial:
    """The rows of a trial, split once: some calibrate, the others decide."""

    def __init__(
        self, frozen: Any, exact: ExactClassifier, X: Any, labels: Any, rate: float,
        confidence: float, queries: str, random_state: int | None, group: NDArray[np.intp],
    ) -> None:  # fmt: skip
        self.frozen, self.exact, self.X, self.labels = frozen, exact, X, labels
        self.rate, self.confidence, self.queries = rate, confidence, queries
        self.is_sparse = issparse(exact.machine_rows(_safe_indexing(X, slice(1))))
        self.distinct = len(np.unique(group))
        for_all = rows_needed(rate, 1 - (1 - confidence) / len(tried(certified=False)))
        held = _held_out(self.distinct, for_all)
        decide, calibrate = deal_groups(group, held, check_random_state(random_state))
        self.deciding, self.decided = _safe_indexing(X, decide), labels[decide]
        self.deciding_group = group[decide]
        self.calibrating, self.known = _safe_indexing(X, calibrate), labels[calibrate]
        self.given_seconds = self._seconds(frozen.estimator)
        near = exact.near_zero(X)  # there the model itself answers, which checks no reading
        self._reading: dict[str, Any] = {
            "checked": len(labels) - len(near),
            "distinct": len(np.unique(np.delete(group, near))),
            "near": len(near),
        }

    def fits(self, name: str) -> bool:
        """Whether a method is made for the kernel and the rows at hand."""
        if self.is_sparse and name != "exact":
            return False
        kernel = self.exact.machines_[0].kernel
        if isinstance(kernel, Linear) and name != "exact":
            return False  # the exact machine is a single product, and certain
        if name in ("nsv_approximate", "nsv_reduced"):
            return known_form(kernel) is not None
        if name == "anytime_spectral":
            return is_known(kernel) and quadratic(kernel) is not None
        return True

    def certify(self, name: str) -> Candidate:
        """A method whose answers a proof keeps; they are compared with the model's all the same."""
        progress.report(0.1, name)
        classifier = self.exact if name == "exact" else self._fitted(name)
        wrong = np.flatnonzero(classifier.predict(self.X) != self.labels)
        if len(wrong):
            raise NotProvedError(
                f"{name} answers {len(wrong)} of {len(self.labels)} rows otherwise than the model: "
                "the machine is beyond what float64 can bound. Take method='exact'."
            )
        promise = Promise(0.0, 1.0, 0, **self._reading)
        return Candidate(name, classifier, self._seconds(classifier), promise)

    def fastest_certified(self) -> Candidate:
        """The fastest of the certified methods that this machine allows."""
        found = []
        for name in tried(certified=True):
            if self.fits(name):
                try:
                    found.append(self.certify(name))
                except (NotMercerError, NotProvedError):  # the exact machine remains
                    continue
        return min(found, key=lambda candidate: candidate.seconds)

    def fastest_kept(self, names: list[str], safe: Candidate) -> Candidate:
        """The fastest of `names` that keeps the promise on held-out rows, or else `safe`.

        Each try costs confidence: c tries at 1 - (1 - confidence) / c each keep the whole at
        `confidence`, so c is what the rows can bear.
        """
        if not names:
            return safe
        tries = self._tries(len(names))
        if not tries:
            warn_few_rows(self.rate, self.confidence, self.distinct)
            return safe
        asked = len(names) == 1  # by name: returned if it keeps the promise, fast or not
        promising = []
        for done, name in enumerate(names):
            progress.report(0.2 + 0.5 * done / len(names), name)
            classifier = self._fitted(name)
            if not asked and self._is_hopeless(classifier, safe):
                continue
            candidate = self._promising(name, classifier)
            if candidate is not None and (asked or candidate.seconds < safe.seconds):
                promising.append(candidate)
        level = 1 - (1 - self.confidence) / tries
        decided = [self._decided(candidate, level) for candidate in _first(promising, tries)]
        kept = [candidate for candidate in decided if candidate is not None]
        if asked and not kept:
            self._warn_not_kept(names[0])
        return min(kept if asked and kept else [*kept, safe], key=lambda c: c.seconds)

    def _fitted(self, name: str) -> Any:
        made = offered(name)[1].make(largest(self.exact))
        classifier = made.set_params(estimator=self.frozen)
        with one_thread():
            return classifier.fit(self.calibrating)

    def _is_hopeless(self, classifier: Any, safe: Candidate) -> bool:
        """Whether a few rows take longer than `safe` takes for all.

        So it is with a kernel of one's own, asked for a value at a time, unless each is dear.
        """
        few = min(FEW_ROWS, self._timed_rows)
        return few * self._seconds(classifier, few) > self._timed_rows * safe.seconds

    def _promising(self, name: str, classifier: Any) -> Candidate | None:
        """A calibrated candidate, unless its own calibration rows already speak against it.

        NSV can widen its thresholds until it keeps a promise, so nothing speaks against it yet.
        """
        rows = self.calibrating
        misses = int(np.sum(classifier.predict(rows) != self.known))
        if misses > self.rate * _num_samples(rows) and not _widens(classifier):
            return None
        return Candidate(name, classifier, self._seconds(classifier), None)

    def _decided(self, candidate: Candidate, level: float) -> Candidate | None:
        """The candidate with its promise, if the deciding rows bear it out at this confidence."""
        progress.report(0.8, f"held-out rows decide on {candidate.name}")
        classifier, rows = candidate.classifier, self.deciding
        if isinstance(classifier, NSVClassifier):
            classifier.set_params(max_disagreement=self.rate, confidence=level)
            try:
                classifier.prove(rows, self.decided)
            except NotProvedError:
                return None
            proved = cast(Promise, classifier.promise_)
            promise = replace(proved, confidence=self.confidence, **self._reading)
            return Candidate(candidate.name, classifier, self._seconds(classifier), promise)
        differ = classifier.predict(rows) != self.decided
        misses, n_rows = distinct_misses(differ, self.deciding_group)
        bound = upper_bound(misses, n_rows, level)
        if bound > self.rate:
            return None
        promise = Promise(self.rate, self.confidence, n_rows, misses, bound, **self._reading)
        return replace(candidate, promise=promise)

    @property
    def _timed_rows(self) -> int:
        return min(TIMED_ROWS[self.queries], _num_samples(self.calibrating))

    def _seconds(self, classifier: Any, n_rows: int | None = None) -> float:
        rows = _safe_indexing(self.calibrating, slice(n_rows or self._timed_rows))
        return seconds_per_query(classifier.predict, rows, self.queries)

    def _tries(self, candidates: int) -> int:
        """How many candidates the deciding rows can bear."""
        rows = len(np.unique(self.deciding_group))
        for tries in range(candidates, 0, -1):
            if rows_needed(self.rate, 1 - (1 - self.confidence) / tries) <= rows:
                return tries
        return 0

    def _warn_not_kept(self, name: str) -> None:
        warn_of_promise(
            f"{name} changes more than {self.rate:.4g} of the answers on these rows; a certified "
            "method or the exact machine is returned instead."
        )


def warn_few_rows(rate: float, confidence: float, rows: int, what: str = "answers") -> None:
    """Say how many rows a promise takes, where `rows` distinct ones are too few."""
    need = rows_needed(rate, confidence)
    warn_of_promise(
        f"At most {rate:.4g} of the {what} different, with {confidence:.0%} confidence, takes "
        f"{need:,} held-out rows without a miss, beside those that calibrate: give "
        f"{least_rows(rate, confidence):,} rows or more, or allow a larger max_disagreement. X has "
        f"{rows:,} distinct rows, so the choice is among certified methods and the exact machine."
    )


def warn_of_rows(doubt: str) -> None:
    """Say what looks wrong about the rows, and that no sample of them promises anything."""
    warn_of_promise(
        f"{doubt}, so X says little about the queries to come, and the choice is among certified "
        "methods and the exact machine. Give rows like those queries, with the columns in the "
        "units that the model was fitted on."
    )


def _widens(classifier: Any) -> bool:
    """Whether a method can widen its thresholds until it keeps a promise."""
    known = method_of(classifier)
    return known is not None and known.proves_rate


def _first(candidates: list[Candidate], tries: int) -> list[Candidate]:
    """The fastest few, with at least one that can be widened until it keeps the promise."""
    by_speed = sorted(candidates, key=lambda candidate: candidate.seconds)
    chosen = by_speed[:tries]
    widening = [candidate for candidate in by_speed if _widens(candidate.classifier)]
    if widening and not any(candidate in chosen for candidate in widening):
        chosen[-1] = widening[0]
    return chosen


def _held_out(rows: int, need: int) -> int:
    """How many rows decide: half, or what the promise needs, but never over three quarters."""
    return int(np.clip(need, rows // 2, rows - max(rows // 4, 1)))


def least_rows(rate: float, confidence: float = 0.95) -> int:
    """Return how many rows `accelerate` takes at least to promise `rate`.

    Examples
    --------
    >>> from kmviz.evaluation.trial import least_rows
    >>> least_rows(0.001)
    3993
    """
    need = rows_needed(rate, confidence)
    return next(rows for rows in count(need) if rows - rows // 4 >= need)
