"""AnytimeClassifier: stop as soon as the sign of f(x) is certain."""

from __future__ import annotations

from math import sqrt
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from kmviz.machines import KernelMachine
from kmviz.methods.anytime.basis import OWN, WIDER, ordered
from kmviz.methods.anytime.bounds import Floats
from kmviz.methods.anytime.cholesky import CholeskyEngine
from kmviz.methods.anytime.spectral import SpectralEngine
from kmviz.methods.base import FLOATS, MachineClassifier, Problem

AnytimeEngine = CholeskyEngine | SpectralEngine

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
    query_sample : array of shape (n, d), default=None
        Queries that "mean_lh_n" and "hybrid" are tuned on; None takes the rows given to `fit`
        (at most 2,000 at random).
    max_steps : int or "auto", default=None
        After this many steps an undecided query gets the exact sum. None never gives up before
        the basis ends; "auto" is min(m, sqrt(d m)), where the exact sum becomes cheaper.
    jitter : float, default=1e-8
        Added to the diagonal of the basis's kernel matrix, as a share of it.
    random_state : int, RandomState or None, default=None
        Draws the training rows of "min_wz_n", "mean_lh_n" and "hybrid".

    Attributes
    ----------
    machine_ : KernelMachine
        The exact machine (two classes); `machines_` holds one a pair.
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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [BaseEstimator, None],
        "order": [StrOptions({*OWN, *WIDER, "spectral"})],
        "query_sample": ["array-like", None],
        "max_steps": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), None],
        "jitter": [Interval(Real, 0, 1e-2, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self, estimator: Any = None, order: str = "min_wz", query_sample: ArrayLike | None = None,
        max_steps: int | str | None = None, jitter: float = 1e-8, random_state: Any = None,
    ) -> None:  # fmt: skip
        self.estimator = estimator
        self.order = order
        self.query_sample = query_sample
        self.max_steps = max_steps
        self.jitter = jitter
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> AnytimeClassifier:
        """Train the estimator (unless it is frozen) and order the basis.

        Parameters
        ----------
        X : array of shape (n, d)
            Training rows. With a `FrozenEstimator`, rows that stand for training rows and
            queries where an order wants some.
        y : array of shape (n,)
            Classes; not used with a `FrozenEstimator`.
        """
        super().fit(X, y)
        engine = self.engines_[0]
        if len(self.engines_) == 1 and isinstance(engine, CholeskyEngine):
            self.basis_, self.w_coords_ = engine.basis, engine.w_coords
            self.w_y_, self.w_z_ = engine.w_y, engine.w_z
        return self

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return f_k(x) at the step that made its sign certain, or the exact f(x).

        (n,) for two classes; for more, scikit-learn's one-against-one aggregation.
        """
        if self._is_pair():
            return self._runs(X)[0][0]
        outputs, _ = self._answers(self._rows(X))
        return self._aggregate(outputs)

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
        """Outputs (n, pairs) and kernel values (n,) over pairs; exact outputs to break ties by."""
        found = [engine.run(rows) for engine in self.engines_]
        outputs = np.column_stack([output for output, _ in found])
        steps = np.sum([count for _, count in found], axis=0)
        if not self._breaks_ties:  # votes alone decide, and each is proved
            return outputs, steps
        votes = np.zeros((len(rows), len(self.classes_)), dtype=np.intp)
        for p, (i, j) in enumerate(zip(*np.triu_indices(len(self.classes_), 1))):
            votes[np.arange(len(rows)), np.where(outputs[:, p] < 0, j, i)] += 1
        tied = (votes == votes.max(axis=1, keepdims=True)).sum(axis=1) > 1
        if tied.any():
            for p, engine in enumerate(self.engines_):
                outputs[tied, p] = engine.machine.decision_function(rows[tied])
                steps[tied] += engine.machine.n_vectors
        return outputs, steps

    def _engine(self, problem: Problem) -> AnytimeEngine:
        machine = problem.machine
        engine: AnytimeEngine
        if self.order == "spectral":
            engine = SpectralEngine(machine, self._last_step(machine))
        else:
            n_steps = min(self._last_step(machine), machine.n_vectors)
            queries = problem.X if self.query_sample is None else self._checked_sample()
            basis = ordered(
                machine, self.order, n_steps, self.jitter, problem.X, queries,
                check_random_state(self.random_state),
            )  # fmt: skip
            engine = CholeskyEngine(machine, basis, self.jitter)
            engine.overhead = _triangular_cost(engine, problem.X)
        return engine

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


def _triangular_cost(engine: CholeskyEngine, X: NDArray[Any]) -> float:
    """Eq. 16 beside its kernel values: k (k - 1) / 2 products, d of them a kernel value."""
    rows = X[np.linspace(0, len(X) - 1, min(len(X), OVERHEAD_ROWS)).astype(np.intp)]
    stop = np.minimum(engine.run(rows)[1], engine.n_steps).astype(np.float64)
    return float(np.mean(stop * (stop - 1.0) / 2.0)) / max(engine.machine.n_features, 1)
