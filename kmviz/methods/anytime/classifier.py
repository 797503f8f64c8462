"""AnytimeClassifier: stop as soon as the sign of f(x) is certain."""

from __future__ import annotations

from copy import copy
from math import sqrt
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from kmviz.machines import KernelMachine
from kmviz.machines.certified import Rounding
from kmviz.machines.votes import by_votes
from kmviz.methods.anytime.basis import OWN, WIDER, candidates, ordered
from kmviz.methods.anytime.bounds import Floats
from kmviz.methods.anytime.cholesky import CholeskyEngine
from kmviz.methods.anytime.spectral import SpectralEngine
from kmviz.methods.anytime.study import AnytimeStudy
from kmviz.methods.base import FLOATS, BinaryProblem, MachineClassifier
from kmviz.methods.promise import Promise, group_rows, hold_out

AnytimeEngine = CholeskyEngine | SpectralEngine

#: How sure the promise of a share below 1 is.
CONFIDENCE = 0.95

#: Rows on which the cost of solving the triangular system is estimated.
OVERHEAD_ROWS = 100


class AnytimeClassifier(MachineClassifier):
    """The exact machine's answer, from as few kernel values as prove it.

    Each kernel value narrows an interval that holds f(x); once it excludes 0 the sign is
    certain. Labels are those of the exact machine, always.

    Parameters
    ----------
    estimator : estimator, default=None
        What trains the machine; None is `SVC()`. Give `FrozenEstimator(svc)` to take a trained
        one as it is. `GridSearchCV` over `estimator__C` needs it given.
    order : str, default="min_wz"
        Which vectors make the basis, and in what order:

        - "min_wz": the support vector that leaves the least of the machine's weight vector W
        - "given": support vectors in file order
        - "sgma": support vectors by sparse greedy matrix approximation
        - "min_wz_n": as "min_wz", with 59 random training rows as further candidates a step
        - "mean_lh_n": the candidate that brings a sample of queries nearest to their sign
        - "hybrid": "min_wz_n", ties within 1% broken by "mean_lh_n"
        - "spectral": eigenvectors of the machine; polynomial kernels of degree 2 only
    query_sample : array of shape (n, d) or int, default=None
        Queries that "mean_lh_n" and "hybrid" are tuned on; None takes the rows given to `fit`
        (at most 2,000 at random), a number so many of them, spread evenly.
    max_steps : int or "auto", default=None
        After this many steps an undecided query gets the exact sum. None never gives up before
        the basis ends; "auto" is min(m, sqrt(d m)), where the exact sum becomes cheaper. It asks
        for those kernel values only that the steps have not.
    share : float, default=1.0
        Stop once abs(f_k(x)) exceeds this share of the certified gap. 1 is the paper's: no sign can
        be wrong. Below 1, beyond the paper, a sign may be: `promise_` says how often at most, as
        shown by rows that nothing was learned from (see `fit`).
    jitter : float, default=1e-8
        Added to the diagonal of the basis's kernel matrix, as a share of it.
    random_state : int, RandomState or None, default=None
        Draws the training rows of "min_wz_n", "mean_lh_n" and "hybrid", and the rows held out for
        `share`.

    Attributes
    ----------
    machine_ : KernelMachine
        The exact machine (two classes); `machines_` holds one for each pair.
    promise_ : Promise
        At most how many answers differ from the exact machine's: none where `share` is 1.
    basis_ : array of shape (K, d)
        The ordered basis (two classes; not with "spectral").
    w_coords_, w_y_, w_z_ : arrays of shape (K,), (K + 1,) and (K + 1,)
        W's coordinates and what eq. 11 makes of them.
    overhead_ : float
        What a query costs beside its kernel values, in kernel values: on average over rows of
        X, the triangular system.

    References
    ----------
    D. DeCoste (2003), "Anytime Query-Tuned Kernel Machine Classifiers Via Cholesky
    Factorization".

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kmviz import AnytimeClassifier
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> clf = AnytimeClassifier().fit(X[:100], y[:100])
    >>> lower, upper = clf.bounds(X[100:])
    >>> exact = clf.machine_.decision_function(X[100:])[:, None]
    >>> bool(((lower <= exact) & (exact <= upper)).all())
    True
    >>> bool((clf.steps(X[100:]) <= clf.machine_.n_vectors).all())
    True
    """

    study_class = AnytimeStudy

    _stops_early = True

    basis_: NDArray[np.float64]
    w_coords_: NDArray[np.float64]
    w_y_: NDArray[np.float64]
    w_z_: NDArray[np.float64]
    promise_: Promise

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [BaseEstimator, None],
        "order": [StrOptions({*OWN, *WIDER, "spectral"})],
        "query_sample": ["array-like", Interval(Integral, 1, None, closed="left"), None],
        "max_steps": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), None],
        "share": [Interval(Real, 0, 1, closed="right")],
        "jitter": [Interval(Real, 0, 1e-2, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self, estimator: Any = None, order: str = "min_wz", query_sample: ArrayLike | None = None,
        max_steps: int | str | None = None, share: float = 1.0, jitter: float = 1e-8,
        random_state: Any = None,
    ) -> None:  # fmt: skip
        self.estimator = estimator
        self.order = order
        self.query_sample = query_sample
        self.max_steps = max_steps
        self.share = share
        self.jitter = jitter
        self.random_state = random_state

    def fit(
        self, X: ArrayLike, y: ArrayLike | None = None, X_calibration: ArrayLike | None = None
    ) -> AnytimeClassifier:
        """Train the estimator (unless it is frozen) and order the basis.

        Parameters
        ----------
        X : array of shape (n, d)
            Training rows. With a `FrozenEstimator`, rows that stand for training rows and
            queries where an order wants some.
        y : array of shape (n,)
            Classes; not used with a `FrozenEstimator`.
        X_calibration : array of shape (n, d), default=None
            Queries that the machine has not seen: with `share` below 1 they show how often a sign
            is wrong. None holds a quarter of X back from training and ordering.
        """
        self._validate_params()
        if self.share < 1.0 and X_calibration is None:
            X, y, X_calibration = self._hold_out(X, y)
        self._prepare(self._train(X, y))
        promise = None
        if X_calibration is not None and self.share < 1.0:
            self._refuse_width("X_calibration", X_calibration)
            differs = self.predict(X_calibration) != self.estimator_labels(X_calibration)
            group = group_rows(self.machine_rows(X_calibration))
            promise = Promise.of(differs, group, confidence=CONFIDENCE)
        self.promise_ = promise or Promise(0.0, 1.0, 0)
        return self

    def cut(self, max_steps: int) -> AnytimeClassifier:
        """Return a copy that gives up after `max_steps`: nothing is trained or ordered.

        Examples
        --------
        >>> from sklearn.datasets import make_moons
        >>> from kmviz import AnytimeClassifier
        >>> X, y = make_moons(200, noise=0.2, random_state=0)
        >>> clf = AnytimeClassifier().fit(X, y)
        >>> clf.cut(5).basis_.shape
        (5, 2)
        """
        check_is_fitted(self, "engines_")
        if not isinstance(max_steps, Integral) or max_steps < 1:
            raise ValueError(f"max_steps must be a whole number, 1 or more; got {max_steps!r}.")
        shorter = copy(self)
        shorter.max_steps = int(max_steps)
        return shorter._adopt([engine.cut(int(max_steps)) for engine in self.engines_])

    def _adopt(self, engines: list[Any]) -> Any:
        super()._adopt(engines)
        engine = engines[0]
        if len(engines) == 1 and isinstance(engine, CholeskyEngine):
            self.basis_, self.w_coords_ = engine.basis, engine.w_coords
            self.w_y_, self.w_z_ = engine.w_y, engine.w_z
        self._rounding = Rounding(self.machines_, self._allowed)
        return self

    def _hold_out(self, X: Any, y: Any) -> tuple[Any, Any, Any]:
        """Return rows to learn from, their classes, and a quarter of the rows to prove on."""
        given = SVC() if self.estimator is None else self.estimator
        frozen = isinstance(given, FrozenEstimator)
        checked, y = self._validated(X, y, given.estimator if frozen else None, given)
        try:
            # names of columns are kept
            return hold_out(X if hasattr(X, "iloc") else checked, y, self.random_state)
        except ValueError as error:
            raise ValueError(
                f"share={self.share} holds a quarter of X back to prove itself on. {error} "
                "Or give X_calibration, or share=1."
            ) from error

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return f_k(x) at the step that made its sign certain, or the exact f(x).

        (n,) for two classes; for more, scikit-learn's one-against-one aggregation. Its sign is
        the exact machine's, its size is not: rank or calibrate by `exact_function(X)`.
        """
        return super().decision_function(X)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of each row; the model itself is asked where rounding decides it."""
        outputs = self._outputs(X)  # which says so where nothing is fitted
        near = self._rounding.near(X, outputs, self._rows, self.rule_.rest)
        return self._labels(X, outputs, near)

    def _outputs(self, X: Any) -> Floats:
        return super()._outputs(X) if self._is_pair() else self._answers(self._rows(X))[0]

    def steps(self, X: ArrayLike) -> NDArray[np.intp]:
        """Return how many kernel values each row takes, over all pairs of classes."""
        return self._runs(X)[0][1] if self._is_pair() else self._answers(self._rows(X))[1]

    def bounds(self, X: ArrayLike) -> tuple[Floats, Floats]:
        """Return the interval that holds f(x) after each step.

        Returns
        -------
        lower, upper : arrays of shape (n, K + 1), or (n, pairs, K + 1)
            Column k is what k kernel values prove. With several pairs K is the largest of
            theirs; a shorter basis repeats its last column.
        """
        rows = self._rows(X)
        found = [engine.bounds(rows) for engine in self.engines_]
        if len(found) == 1:
            return found[0]
        width = max(lower.shape[1] for lower, _ in found)
        lower, upper = (
            np.stack([np.pad(pair[side], ((0, 0), (0, width - pair[side].shape[1])), "edge")
                      for pair in found], axis=1)
            for side in (0, 1)
        )  # fmt: skip
        return lower, upper

    def decision_interval(self, X: ArrayLike, steps: int) -> tuple[Floats, Floats]:
        """Return what is known of f(x) after a number of kernel values: an answer in time.

        Parameters
        ----------
        X : array of shape (n, d)
        steps : int
            Kernel values a query (and a pair of classes). Past the basis the exact sum is
            taken once `steps` pays for it.

        Returns
        -------
        lower, upper : arrays of shape (n,), or (n, pairs)
        """
        if not isinstance(steps, Integral) or steps < 0:
            raise ValueError(f"steps must be a whole number from 0 up; got {steps!r}.")
        rows = self._rows(X)
        found = [engine.interval(rows, int(steps)) for engine in self.engines_]
        if len(found) == 1:
            return found[0]
        return np.stack([pair[0] for pair in found], 1), np.stack([pair[1] for pair in found], 1)

    def _is_pair(self) -> bool:
        if not hasattr(self, "engines_"):  # in far less time than check_is_fitted
            check_is_fitted(self, "engines_")
        return len(self.engines_) == 1

    def _answers(self, rows: NDArray[Any]) -> tuple[Floats, NDArray[np.intp]]:
        return self.settled([engine.run(rows) for engine in self.engines_], rows)

    def settled(
        self, found: list[tuple[Floats, NDArray[np.intp]]], rows: NDArray[Any]
    ) -> tuple[Floats, NDArray[np.intp]]:
        """Return the outputs of each pair, a column each, and the kernel values of `rows`.

        With several classes exact outputs break tied votes, where the model breaks ties.
        """
        found = self._compared(rows, found)
        outputs = np.column_stack([output for output, _ in found])
        steps = np.sum([count for _, count in found], axis=0)
        # Without ties to break, votes alone decide, and each is proved.
        if self.rule_.rest or len(found) == 1 or not self.rule_.breaks_ties:
            return outputs, steps
        votes = np.rint(by_votes(outputs, len(self.classes_)))
        tied = (votes == votes.max(axis=1, keepdims=True)).sum(axis=1) > 1
        if tied.any():
            for p, engine in enumerate(self.engines_):
                outputs[tied, p] = engine.machine.decision_function(rows[tied])
                steps[tied] += engine.machine.n_vectors
        return outputs, steps

    def _engine(self, problem: BinaryProblem) -> AnytimeEngine:
        machine = problem.machine
        if self.order == "spectral":
            return SpectralEngine(machine, self._last_step(machine), self.share)
        queries = self._queries(problem.X)
        rng = check_random_state(self.random_state)
        among = candidates(machine, self.order, self.jitter, problem.X, rng)
        n_steps = min(self._last_step(machine), machine.n_vectors)
        basis = ordered(machine, self.order, n_steps, among, queries, rng)
        engine = CholeskyEngine(machine, basis, self.jitter, self.share)
        return engine.usual(_spread(problem.X, OVERHEAD_ROWS))

    def _queries(self, X: NDArray[Any]) -> NDArray[Any]:
        """The rows that an order is tuned on, as the machine reads them."""
        if self.query_sample is None:
            return X
        if isinstance(self.query_sample, Integral):
            return _spread(X, int(self.query_sample))
        return self._checked_sample()

    def _checked_sample(self) -> NDArray[Any]:
        """The sample of queries as the machine reads it."""
        self._refuse_width("query_sample", self.query_sample)
        if self.preprocessing_ is None:
            return validate_data(self, self.query_sample, reset=False, dtype=FLOATS)
        validate_data(self, self.query_sample, reset=False, skip_check_array=True)
        return self._transformed(self.query_sample)

    def _last_step(self, machine: KernelMachine) -> int:
        """The step after which an undecided query gets the exact sum."""
        m, d = machine.n_vectors, machine.n_features
        if self.max_steps == "auto":
            return max(int(min(m, sqrt(d * m))), 1)
        return max(m, d + 1) if self.max_steps is None else int(self.max_steps)


def _spread(X: NDArray[Any], most: int) -> NDArray[Any]:
    """Rows of X, evenly from first to last."""
    return X[np.linspace(0, len(X) - 1, min(len(X), most)).astype(np.intp)]
