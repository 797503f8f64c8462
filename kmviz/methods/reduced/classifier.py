"""Reduced sets: a machine's normal vector approached by far fewer vectors.

Burges and Schoelkopf (1997), "Improving the accuracy and speed of support vector machines",
after Burges (1996), "Simplified support vector decision rules". The vectors z_k are no training
rows and need not lie on the margin; they and their weights minimise
rho = ||Psi - sum_k g_k Phi(z_k)||.

Departures
----------
- All vectors are moved together by L-BFGS instead of conjugate gradient
  (`path.move_together` takes both), with exact weights at every step. Before, where time allows,
  support vectors are tried as a start, and the vectors that matter least are sought anew a few
  times (`path.renew`).
- Vectors of radial kernels are sought about the mean, in units of the kernel's width.
- Vectors of polynomial kernels are sought as directions of augmented rows (see `space`), so the
  flat scale of a homogeneous kernel does not matter, and quadratic kernels with a constant have
  the closed solution of homogeneous ones.
- `rho_` is relative: ||Psi - Psi'|| / ||Psi||.
- `n_vectors="auto"` finds the size, by bisection on one path, from rows without labels.
- `sequential=True` stops early, after Romdhani et al. (2001); see `engine`.
- `shared=True` lets the machines of several classes use each other's vectors; see `common`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions

from kmviz.kernels import RBF
from kmviz.machines import KernelMachine
from kmviz.methods.base import MachineClassifier, Problem
from kmviz.methods.promise import Promise, upper_bound
from kmviz.methods.reduced.common import outputs, share, union
from kmviz.methods.reduced.engine import ReducedEngine
from kmviz.methods.reduced.path import Path, grow
from kmviz.methods.reduced.space import OpaqueSpace, Space, space_of
from kmviz.methods.reduced.threshold import bayes_threshold

METHODS = ("auto", "joint", "incremental", "fixed_point", "selection", "eigen")
CONFIDENCE = 0.95


class ReducedSetClassifier(MachineClassifier):
    """A kernel machine replaced by one with far fewer vectors.

    Parameters
    ----------
    estimator : estimator, default=None
        What trains the machine; None is `SVC()`. Give `FrozenEstimator(svc)` to reduce a
        trained one. `GridSearchCV` over `estimator__C` needs it given.
    n_vectors : float, int or "auto", default=0.1
        A share of the machine's vectors (at least two, one a side), a number of vectors, or
        "auto": the fewest whose answers differ from the machine's on at most
        `max_disagreement` of held-out rows.
    method : {"auto", "joint", "incremental", "fixed_point", "selection", "eigen"}
        "joint" adds vectors one at a time, then moves all together; "incremental" leaves out
        the last part; "fixed_point" is Schoelkopf's iteration (radial kernels only);
        "selection" takes support vectors as they are; "eigen" is the exact solution for
        quadratic kernels. "auto" is the closed solution where the kernel has one, else "joint",
        and "selection" for kernels without a known formula.
    threshold : {"machine", "bayes"}
        "machine" keeps the machine's own; "bayes" takes the one that errs least on the training
        rows (on the machine's own answers when it came frozen).
    sequential : bool, default=False
        Ask vector after vector and stop once the sign is safe.
    random_state : int, RandomState or None
        For the rows held out by `n_vectors="auto"`.
    max_disagreement : float, default=0.01
        What `n_vectors="auto"` allows on held-out rows: a quarter of X, or all of X when the
        estimator came frozen. Half of them choose the size, the others prove `promise_`.
    shared : bool, default=False
        With more than two classes, every pair's machine puts a weight on every pair's vectors,
        and (where the method is "joint") all of them are moved together once more. As many
        kernel values a query, smaller `rho_`. Beyond the paper; not with `sequential`.

    Attributes
    ----------
    machine_ : KernelMachine
        The reduced machine; `machines_`, one a pair of classes.
    vectors_ : array of shape (n, d) or None
        The vectors that all machines have in common, with `shared=True` and more than two classes.
    original_ : KernelMachine, or a list of them, one a pair, with more than two classes
        What it replaces.
    rho_ : float, or array with more than two classes
        ||Psi - Psi'|| / ||Psi||.
    promise_ : Promise
        With `n_vectors="auto"` only: what the proving rows showed.

    Notes
    -----
    A polynomial kernel with a negative `coef0` is none of Mercer's: where it gives Psi no length,
    the machine stays as it is.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.svm import SVC
    >>> from kmviz import ReducedSetClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> clf = ReducedSetClassifier(SVC(gamma=1.0), n_vectors=8).fit(X, y)
    >>> clf.machine_.n_vectors, clf.original_.n_vectors > 40, bool(clf.rho_ < 0.1)
    (8, True, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [BaseEstimator, None],
        "n_vectors": [
            Interval(RealNotInt, 0, 1, closed="right"),
            Interval(Integral, 1, None, closed="left"),
            StrOptions({"auto"}),
        ],
        "method": [StrOptions(set(METHODS))],
        "threshold": [StrOptions({"machine", "bayes"})],
        "sequential": ["boolean"],
        "random_state": ["random_state"],
        "max_disagreement": [Interval(Real, 0, 1, closed="left")],
        "shared": ["boolean"],
    }

    def __init__(
        self,
        estimator: Any = None,
        n_vectors: Any = 0.1,
        method: str = "auto",
        threshold: str = "machine",
        sequential: bool = False,
        random_state: Any = None,
        max_disagreement: float = 0.01,
        shared: bool = False,
    ) -> None:
        self.estimator = estimator
        self.n_vectors = n_vectors
        self.method = method
        self.threshold = threshold
        self.sequential = sequential
        self.random_state = random_state
        self.max_disagreement = max_disagreement
        self.shared = shared

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> ReducedSetClassifier:
        """Train the estimator (unless it is frozen) and reduce it.

        Parameters
        ----------
        X : array of shape (n, d)
            Training rows. With a `FrozenEstimator`, rows to calibrate on.
        y : array of shape (n,)
            Classes; not used with a `FrozenEstimator`.
        """
        self._validate_params()
        if self.shared and self.sequential:
            raise ValueError(
                "shared=True asks all vectors at once, sequential=True one by one. Set one of "
                "them to False."
            )
        if not isinstance(self.n_vectors, str):
            return self._prepare(self._train(X, y))
        X, y, choosing, proving = self._hold_out(X, y)
        problems = self._train(X, y)
        held = self._transformed(choosing)
        self._prepare([HeldProblem(**vars(problem), held=held) for problem in problems])
        differ = int(np.sum(self.predict(proving) != self.estimator_labels(proving)))
        rate = upper_bound(differ, len(proving), CONFIDENCE)
        self.promise_ = Promise(rate, CONFIDENCE, len(proving), differ)
        return self

    def _prepare(self, problems: list[Problem]) -> ReducedSetClassifier:
        largest = max(problem.machine.n_vectors for problem in problems)
        if isinstance(self.n_vectors, Integral) and int(self.n_vectors) > largest:
            raise ValueError(
                f"n_vectors={self.n_vectors} is more than the {largest} support vectors that the "
                "machine has. Give a smaller number, a share such as 0.1, or 'auto'."
            )
        super()._prepare(problems)
        self.vectors_: Any = None
        if self.shared and len(problems) > 1:
            self._share(problems)
        rho = [engine.rho for engine in self.engines_]
        originals = [engine.original for engine in self.engines_]
        is_pair = len(self.classes_) == 2
        self.rho_ = rho[0] if is_pair else np.array(rho)
        self.original_ = originals[0] if is_pair else originals
        return self

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the output of each row, (n,) for two classes and (n, n_classes) for more.

        With more than two classes it is scikit-learn's one-against-one aggregation.
        """
        if getattr(self, "vectors_", None) is None:
            return super().decision_function(X)
        return self._aggregate(outputs(self.machines_, self._rows(X)))

    def steps(self, X: ArrayLike) -> NDArray[np.intp]:
        """Return how many kernel values each row takes, over all pairs of classes."""
        if getattr(self, "vectors_", None) is None:
            return super().steps(X)
        return np.full(len(self._rows(X)), len(self.vectors_), dtype=np.intp)

    def _exact_machines(self) -> list[KernelMachine]:
        return [engine.original for engine in self.engines_]

    def _share(self, problems: list[Problem]) -> None:
        """Give all machines the vectors of all."""
        originals = [problem.machine for problem in problems]
        space = space_of(originals[0].kernel, originals[0].vectors)
        is_solved = space.is_homogeneous and space.degree <= 2
        moves = self._method(space) == "joint" and not is_solved
        found = share(originals, union(self.machines_), space, None if moves else 0)
        engines = [
            ReducedEngine(self._thresholded(machine, problem), problem.machine, float(rho), None)
            for machine, rho, problem in zip(*found, problems, strict=True)
        ]
        self._adopt(engines)
        self.vectors_ = self.machines_[0].vectors
        # a kernel value takes one product a column; every machine but one sums beside
        self.overhead_ = len(self.vectors_) * (len(engines) - 1) / self.vectors_.shape[1]

    def _hold_out(self, X: Any, y: Any) -> tuple[Any, Any, Any, Any]:
        """Split off rows that choose the size and rows that prove it."""
        random = check_random_state(self.random_state)
        held, frozen = X, isinstance(self.estimator, FrozenEstimator)
        if not frozen:
            if y is None:
                raise ValueError("This estimator requires y to be passed, but y is None.")
            check_consistent_length(X, y)
        try:
            if not frozen:
                X, held, y, _ = train_test_split(X, y, stratify=y, random_state=random)
            choosing, proving = train_test_split(held, test_size=0.5, random_state=random)
        except ValueError as error:
            raise ValueError(
                f"n_vectors='auto' holds out rows, of every class: {error} Give more rows, or "
                "n_vectors as a number or a share."
            ) from error
        return X, y, choosing, proving

    def _engine(self, problem: Problem) -> ReducedEngine:
        machine = problem.machine
        if machine.n_vectors == 0 or not np.any(machine.beta):
            return ReducedEngine(machine, machine, 0.0, None)
        space = space_of(machine.kernel, machine.vectors)
        method = self._method(space)
        if isinstance(problem, HeldProblem):
            path, n = self._smallest(problem, space, method)
        else:
            path = grow(machine, space, [self._count(machine.n_vectors)], method)
            n = path.n_vectors or None
        if n is None:  # no smaller machine is good enough, or the kernel is none of Mercer's
            engine, stage = ReducedEngine(machine, machine, 0.0, None), None
        else:
            stage = path.stage(n)
            engine = ReducedEngine(
                self._thresholded(path.machine(n), problem), machine, float(path.rho[n]), stage
            )
        if self.sequential:
            engine.stop_early(stage, problem.X)
        return engine

    def _method(self, space: Space) -> str:
        """Return how to grow, after checking that the kernel allows it."""
        is_quadratic = space.is_homogeneous and space.degree <= 2
        is_opaque = isinstance(space, OpaqueSpace)
        needs = {
            "fixed_point": ("a radial kernel", isinstance(space.plain, RBF)),
            "eigen": ("a linear kernel or a polynomial one of degree 2", is_quadratic),
            "joint": ("a kernel of kmviz.kernels", not is_opaque),
            "incremental": ("a kernel of kmviz.kernels", not is_opaque),
        }
        what, given = needs.get(self.method, ("", True))
        if not given:
            raise ValueError(
                f"method={self.method!r} needs {what}; this machine has {space.kernel!r}. "
                "Use method='auto'."
            )
        if self.method == "auto":
            return "selection" if is_opaque else "joint"
        return "joint" if self.method == "eigen" else self.method

    def _count(self, m: int) -> int:
        if isinstance(self.n_vectors, Integral):
            return min(int(self.n_vectors), m)
        return min(m, max(2, round(float(self.n_vectors) * m)))

    def _thresholded(self, machine: KernelMachine, problem: Problem) -> KernelMachine:
        if self.threshold == "machine":
            return machine
        X, y = problem.X, problem.y
        if y is None:
            y = np.where(problem.machine.decision_function(X) > 0, 1, -1)
        rows = y != 0
        sums = machine.decision_function(X[rows]) + machine.bias
        return replace(machine, bias=bayes_threshold(sums, y[rows] > 0, machine.bias))

    def _smallest(self, problem: HeldProblem, space: Space, method: str) -> tuple[Path, int | None]:
        """Return the fewest vectors that agree well enough on the held rows, None if none do."""
        machine, held = problem.machine, problem.held
        wanted = machine.decision_function(held) > 0

        def is_good(path: Path, n: int) -> bool:
            reduced = self._thresholded(path.machine(n), problem)
            given = reduced.decision_function(held) > 0
            return bool(np.mean(given != wanted) <= self.max_disagreement)

        most = max(1, machine.n_vectors // 2)
        sizes = sorted({min(2**k, most) for k in range(most.bit_length() + 1)})
        path = grow(
            machine, space, sizes, method, enough=lambda path: is_good(path, path.n_vectors)
        )
        low, high = 0, path.n_vectors
        if not high or not is_good(path, high):
            return path, None
        while high - low > 1:  # bisection: `high` is good, `low` is not
            middle = (low + high) // 2
            low, high = (low, middle) if is_good(path, middle) else (middle, high)
        return path, high


@dataclass(frozen=True, eq=False)
class HeldProblem(Problem):
    """A problem with rows, unseen by the machine, on which answers are compared."""

    held: NDArray[Any]
