"""A trial of fast methods on the rows of `accelerate`: some rows calibrate, the others prove.

`Trial` promises labels, its subclass in `value_trial` numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.frozen import FrozenEstimator
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _num_samples

from kmviz.evaluation.cost import TIMED_ROWS, one_thread, seconds_per_query
from kmviz.evaluation.faithful import refuse_rows, rows_unlike
from kmviz.evaluation.reference import largest
from kmviz.evaluation.row_checks import doubt_about
from kmviz.kernels import Linear, is_known
from kmviz.methods import progress
from kmviz.methods.anytime.basis import NotMercerError
from kmviz.methods.anytime.spectral import quadratic
from kmviz.methods.exact import ExactClassifier
from kmviz.methods.nsv.layout import known_form
from kmviz.methods.promise import (
    NotProvedError,
    Promise,
    deal_groups,
    group_rows,
    rows_needed,
    warn_of_promise,
)
from kmviz.methods.register import METHODS, is_certified, method_of, offered

#: A candidate that takes longer for so few rows than a certified one for all is not looked at.
FEW_ROWS = 16


@dataclass(frozen=True)
class Request:
    """What `accelerate` was called with.

    Attributes
    ----------
    rate, confidence : float
        At most this share of the answers may differ, with this confidence.
    queries : {"batch", "single"}
    random_state : int or None
    tolerance : float or None
        How far a value may be off.
    """

    rate: float
    confidence: float
    queries: str
    random_state: int | None
    tolerance: float | None = None


@dataclass(frozen=True)
class Candidate:
    """A calibrated method, its CPU seconds a query, and its promise once rows have proved it."""

    name: str
    classifier: Any
    seconds: float
    promise: Promise | None


class Trial:
    """The rows of a trial, dealt once, and the model's own answers to them.

    Parameters
    ----------
    fitted : estimator
        The model as it was handed in.
    X : array or frame of shape (n, d)
    request : Request

    Attributes
    ----------
    exact : ExactClassifier or ExactRegressor
        The machine inside, as it was read; it answers all rows as the model does.
    doubt : str
        What looks wrong about the rows: no sample of them promises anything. Empty: nothing.
    """

    #: What a promise counts.
    what = "answers"

    def __init__(self, fitted: Any, X: Any, request: Request) -> None:
        self.fitted, self.X, self.request = fitted, X, request
        self.frozen = FrozenEstimator(fitted)
        self.exact = self._read()
        self.own = self.answers(fitted, X)
        answers = self.answers(self.exact, X)
        refuse_rows(fitted, answers, self.own, self._rounding())
        rows = self.exact.machine_rows(X)
        machines = [engine.machine for engine in self.exact.engines_]
        self.is_sparse, self.kernel = issparse(rows), machines[0].kernel
        group = group_rows(rows)
        self.doubt = doubt_about(rows, group, fitted, machines)
        self._deal(group)
        self._reading = self._describe_reading(group)
        self.own_seconds = self._seconds(fitted)

    def _deal(self, group: NDArray[np.intp]) -> None:
        request, self.distinct = self.request, len(np.unique(group))
        tries = len(self.offered(certified=False))
        need = rows_needed(request.rate, 1 - (1 - request.confidence) / tries)
        proof, calibration = deal_groups(
            group, _proof_rows(self.distinct, need), check_random_state(request.random_state)
        )
        self.proof_rows, self.proof_answers = _safe_indexing(self.X, proof), self.own[proof]
        self.proof_group = group[proof]
        self.calibration_rows = _safe_indexing(self.X, calibration)
        self.calibration_answers = self.own[calibration]

    def offered(self, certified: bool) -> list[str]:
        """Return what is tried unasked: kept by a proof, or as good as held-out rows prove it."""
        methods = [method for method in METHODS if method.certified == certified]
        return [one.name for method in methods for one in method.settings if one.is_tried]

    @classmethod
    def known(cls, fitted: Any) -> list[str]:
        """Return what may be asked for by name."""
        return [one.name for method in METHODS if method.keeps_machine for one in method.settings]

    def is_certified(self, name: str) -> bool:
        """Whether a proof, not a sample, keeps a method's answers."""
        return is_certified(name)

    def fits(self, name: str) -> bool:
        """Whether a method is made for the kernel and the rows at hand."""
        if name.startswith("exact"):
            return True
        if self.is_sparse or isinstance(self.kernel, Linear):
            return False  # the exact machine of a linear kernel is a single product
        if name in ("nsv_approximate", "nsv_reduced"):
            return known_form(self.kernel) is not None
        if name == "anytime_spectral":
            return is_known(self.kernel) and quadratic(self.kernel) is not None
        return True

    def answers(self, model: Any, X: Any) -> NDArray[Any]:
        """Return what a model, or what stands in for it, answers."""
        return np.asarray(model.predict(X))

    def differ(self, answers: NDArray[Any], own: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which answers count as different from the model's own."""
        return answers != own

    def best(self, method: str) -> Candidate:
        """Return the candidate that `accelerate` gives for a method by name, or "auto"."""
        if self.is_certified(method):
            return self.certify(method)
        names = self.offered(certified=False) if method == "auto" else [method]
        tested = [name for name in names if name == method or self.fits(name)]
        return self.fastest_promised([] if self.doubt else tested, self.fastest_certified())

    def certify(self, name: str) -> Candidate:
        """Return a method that a proof keeps; its answers are compared with the model's as well."""
        progress.report(0.1, name)
        classifier = self.exact if name == "exact" else self._fitted(name)
        if name != "exact":  # compared when it was read
            answers = self.answers(classifier, self.X)
            wrong = rows_unlike(answers, self.own, self._rounding())
            if len(wrong):
                raise NotProvedError(
                    f"{name} answers {len(wrong)} of {len(self.own)} rows otherwise than the "
                    "model: the machine is beyond what float64 can bound. Take method='exact'."
                )
        promise = Promise(0.0, 1.0, 0, **self._reading)
        return Candidate(name, classifier, self._seconds(classifier), promise)

    def fastest_certified(self) -> Candidate:
        """Return the fastest of the certified methods that this machine allows."""
        candidates = []
        for name in filter(self.fits, self.offered(certified=True)):
            try:
                candidates.append(self.certify(name))
            except (NotMercerError, NotProvedError):  # the exact machine remains
                continue
        return min(candidates, key=lambda candidate: candidate.seconds)

    def fastest_promised(self, names: list[str], fallback: Candidate) -> Candidate:
        """Return the fastest of `names` that held-out rows bear out, or else `fallback`.

        Each try costs confidence: c tries at 1 - (1 - confidence) / c each keep the whole at
        `confidence`, so c is what the rows can bear.
        """
        if not names:
            return fallback
        tries = self._tries(len(names))
        if not tries:
            warn_few_rows(self.request.rate, self.request.confidence, self.distinct, self.what)
            return fallback
        by_name = len(names) == 1  # returned if it keeps the promise, fast or not
        promising = []
        for done, name in enumerate(names):
            progress.report(0.2 + 0.5 * done / len(names), name)
            candidate = self._calibrated(name, None if by_name else fallback)
            if candidate is not None and (by_name or candidate.seconds < fallback.seconds):
                promising.append(candidate)
        level = 1 - (1 - self.request.confidence) / tries
        proved = [self._prove(candidate, level) for candidate in _fastest(promising, tries)]
        candidates = [candidate for candidate in proved if candidate is not None]
        if by_name and not candidates:
            self._warn_not_proved(names[0])
        return min(
            candidates if by_name and candidates else [*candidates, fallback],
            key=lambda candidate: candidate.seconds,
        )

    def _read(self) -> Any:
        return ExactClassifier(self.frozen).fit(self.X)

    def _rounding(self) -> float:
        """Return by how much answers may differ that count as the same."""
        return 0.0

    def _describe_reading(self, group: NDArray[np.intp]) -> dict[str, Any]:
        """Return what a promise says of the reading; it checks nothing where rounding decides."""
        near = self.exact.near_zero(self.X)
        return {
            "checked": len(self.own) - len(near),
            "distinct": len(np.unique(np.delete(group, near))),
            "near": len(near),
        }

    def _made(self, name: str) -> Any:
        made = offered(name)[1].make(largest(self.exact))
        return made.set_params(estimator=self.frozen)

    def _fitted(self, name: str) -> Any:
        with one_thread():
            return self._made(name).fit(self.calibration_rows)

    def _calibrated(self, name: str, fallback: Candidate | None) -> Candidate | None:
        """Return a candidate, unless its speed or its calibration rows already speak against it.

        NSV can widen its thresholds until it keeps a promise, so nothing speaks against it yet.
        """
        classifier = self._fitted(name)
        if fallback is not None and self._is_hopeless(classifier, fallback):
            return None
        answers = self.answers(classifier, self.calibration_rows)
        misses = np.count_nonzero(self.differ(answers, self.calibration_answers))
        if misses > self.request.rate * len(answers) and not _proves_rate(classifier):
            return None
        return Candidate(name, classifier, self._seconds(classifier), None)

    def _is_hopeless(self, classifier: Any, fallback: Candidate) -> bool:
        """Whether a few rows take longer than `fallback` takes for all.

        So it is with a kernel of one's own, asked for a value at a time, unless each is dear.
        """
        few = min(FEW_ROWS, self._timed_rows)
        return few * self._seconds(classifier, few) > self._timed_rows * fallback.seconds

    def _prove(self, candidate: Candidate, level: float) -> Candidate | None:
        """Return the candidate with its promise, if the other rows prove it at this confidence."""
        progress.report(0.8, f"held-out rows decide on {candidate.name}")
        classifier = candidate.classifier
        if _proves_rate(classifier):
            promise = self._widened(classifier, level)
        else:
            answers = self.answers(classifier, self.proof_rows)
            differ = self.differ(answers, self.proof_answers)
            promise = Promise.of(differ, self.proof_group, self.request.rate, level)
        if promise is None:
            return None
        promise = replace(promise, confidence=self.request.confidence, **self._reading)
        if _proves_rate(classifier):  # wider thresholds take longer
            candidate = replace(candidate, seconds=self._seconds(classifier))
        return replace(candidate, promise=promise)

    def _widened(self, classifier: Any, level: float) -> Promise | None:
        """Widen a method's thresholds until it keeps the rate, and return what it promises."""
        classifier.set_params(max_disagreement=self.request.rate, confidence=level)
        try:
            classifier.prove(self.proof_rows, self.proof_answers)
        except NotProvedError:
            return None
        return cast(Promise, classifier.promise_)

    @property
    def _timed_rows(self) -> int:
        return min(TIMED_ROWS[self.request.queries], _num_samples(self.calibration_rows))

    def _seconds(self, model: Any, n_rows: int | None = None) -> float:
        rows = _safe_indexing(self.calibration_rows, slice(n_rows or self._timed_rows))
        return seconds_per_query(lambda X: self.answers(model, X), rows, self.request.queries)

    def _tries(self, candidates: int) -> int:
        """Return how many candidates the rows that prove can bear."""
        rows = len(np.unique(self.proof_group))
        for tries in range(candidates, 0, -1):
            level = 1 - (1 - self.request.confidence) / tries
            if rows_needed(self.request.rate, level) <= rows:
                return tries
        return 0

    def _warn_not_proved(self, name: str) -> None:
        warn_of_promise(
            f"{name} changes more than {self.request.rate:.4g} of the {self.what} on these rows; a "
            "certified method or the exact machine is returned instead."
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


def _proves_rate(classifier: Any) -> bool:
    """Whether a method can widen its thresholds until it keeps a promise."""
    method = method_of(classifier)
    return method is not None and method.proves_rate


def _fastest(candidates: Iterable[Candidate], tries: int) -> list[Candidate]:
    """Return the fastest few, with at least one that can be widened until it keeps the promise."""
    by_speed = sorted(candidates, key=lambda candidate: candidate.seconds)
    first = by_speed[:tries]
    widening = [candidate for candidate in by_speed if _proves_rate(candidate.classifier)]
    if widening and not any(candidate in first for candidate in widening):
        first[-1] = widening[0]
    return first


def _proof_rows(rows: int, need: int) -> int:
    """Return how many rows prove: half, or what it takes, but never over three quarters."""
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
