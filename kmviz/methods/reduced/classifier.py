"""Reduced sets: a machine's normal vector approached by far fewer vectors.

Burges and Schoelkopf (1997), "Improving the accuracy and speed of support vector machines",
after Burges (1996), "Simplified support vector decision rules". The vectors z_k are no training
rows and need not lie on the margin; they and their weights minimise
rho = ||Psi - sum_k g_k Phi(z_k)||.

Departures
----------
- The defaults are not the paper's: it takes a fiftieth of the vectors and the threshold that errs
  least on the training rows, `n_vectors=0.02, threshold="bayes"`; here a tenth, and the machine's
  own threshold, which needs no labels.
- All vectors are moved together by L-BFGS instead of conjugate gradient
  (`path.move_together` takes both), with exact weights at every step. Before, where time allows,
  support vectors are tried as a start, and the vectors that matter least are sought anew a few
  times (`path.renew`).
- Vectors of radial kernels are sought about the mean, in units of the kernel's width.
- Vectors of polynomial kernels are sought as directions of augmented rows (see `space`), so the
  flat scale of a homogeneous kernel does not matter, and quadratic kernels with a constant have
  the closed solution of homogeneous ones.
- `rho_` is relative: ||Psi - Psi'|| / ||Psi||.
- `every_size=True` prepares all smaller sets as well; see `path`.
- `sequential=True` stops early, after Romdhani et al. (2001); see `engine`.
- `shared=True` lets the machines of several classes use each other's vectors; see `shared`.
- `tune="margin"` moves vectors and weights once more, towards the machine's answers; see `tune`.
"""

from __future__ import annotations

from copy import copy
from itertools import combinations
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_is_fitted

from kmviz.machines import KernelMachine
from kmviz.machines.as_svc import as_svc
from kmviz.machines.shared import union_of
from kmviz.methods.base import BinaryProblem, MachineClassifier
from kmviz.methods.promise import check_classes, hold_out
from kmviz.methods.reduced.engine import ReducedEngine
from kmviz.methods.reduced.fitting import (
    HeldProblem,
    build_engine,
    resize_engine,
    search_method,
    with_threshold,
)
from kmviz.methods.reduced.study import ReducedStudy
from kmviz.methods.reduction.shared import outputs, share
from kmviz.methods.reduction.space import space_of

METHODS = ("auto", "joint", "incremental", "fixed_point", "selection", "eigen")


class ReducedSetClassifier(MachineClassifier):
    """A kernel machine replaced by one with far fewer vectors.

    Parameters
    ----------
    estimator : estimator, default=None
        What trains the machine; None is `SVC()`. Give `FrozenEstimator(svc)` to reduce a
        trained one. `GridSearchCV` over `estimator__C` needs it given.
    n_vectors : float or int, default=0.1
        A share of the machine's vectors (at least two, one for each side), or a number of
        vectors. The paper's is 0.02.
    method : {"auto", "joint", "incremental", "fixed_point", "selection", "eigen"}
        "joint" adds vectors one at a time, then moves all together; "incremental" leaves out
        the last part; "fixed_point" is Schoelkopf's iteration (radial kernels only);
        "selection" takes support vectors as they are; "eigen" is the exact solution for
        quadratic kernels. "auto" is the closed solution where the kernel has one, else "joint",
        and "selection" for kernels without a known formula.
    threshold : {"machine", "bayes"}
        "machine" keeps the machine's own; "bayes", the paper's, takes the one that errs least on
        the training rows (on the machine's own answers when it came frozen).
    sequential : bool, default=False
        Ask vector after vector and stop where the sign is safe: at most `max_disagreement` of
        the answers differ from those of the whole reduced machine, proved on held-out rows. It
        saves kernel values; a plain sum over all vectors is usually done sooner.
    random_state : int, RandomState or None
        For the rows held out by `sequential` and by `tune`.
    max_disagreement : float, default=0.01
        What `sequential` allows on held-out rows: a quarter of X, or all of X when the estimator
        came frozen. Half of them choose, the others prove.
    shared : bool, default=False
        With more than two classes, every pair's machine puts a weight on every pair's vectors,
        and (where the method is "joint") all of them are moved together once more. As many
        kernel values per query, smaller `rho_`. Beyond the paper; not with `sequential`.
    every_size : bool, default=False
        Whether the sets of 1, 2, ... vectors on the way are worth as much as the last: all
        vectors are then moved together, briefly, at each of many sizes, and none longer at the
        end. `study` reads them all. `rho_` is a little larger than without, and several times as
        large where next to nothing is left of it.

    tune : {None, "margin"}
        "margin" moves vectors and weights once more, towards the machine's output clipped at +-1,
        with no loss beyond the margin on the right side. It takes no labels. Three quarters of
        the rows tune first; where fewer of the others change sides than without, it is kept, and
        done again with all rows. With several classes each pair is tuned on the rows that its
        two classes win. Beyond the paper; not with `shared`. Most is gained where `rho_` is
        large: few vectors, large C.

    Attributes
    ----------
    machine_ : KernelMachine
        The reduced machine; `machines_`, one for each pair of classes.
    tuned_ : bool, or array with more than two classes
        Whether the tuned machine was kept. Its `rho_` is larger: distance is not what it minimises.
    vectors_ : array of shape (n, d) or None
        The vectors that all machines have in common, with `shared=True` and more than two classes.
    original_ : KernelMachine, or a list of them, one for each pair, with more than two classes
        What it replaces.
    rho_ : float, or array with more than two classes
        ||Psi - Psi'|| / ||Psi||.
    early_stop_ : Promise or None, or a list of them with more than two classes
        With `sequential` only: what was proved, against the whole reduced machine. None: the rows
        were too few to prove it (1% takes 299 of them), and nothing stops early.

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

    rho_: float | NDArray[np.float64]
    vectors_: NDArray[np.floating] | None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [BaseEstimator, None],
        "n_vectors": [
            Interval(RealNotInt, 0, 1, closed="right"),
            Interval(Integral, 1, None, closed="left"),
        ],
        "method": [StrOptions(set(METHODS))],
        "threshold": [StrOptions({"machine", "bayes"})],
        "sequential": ["boolean"],
        "random_state": ["random_state"],
        "max_disagreement": [Interval(Real, 0, 1, closed="left")],
        "shared": ["boolean"],
        "every_size": ["boolean"],
        "tune": [StrOptions({"margin"}), None],
    }
    study_class = ReducedStudy

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
        every_size: bool = False,
        tune: str | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_vectors = n_vectors
        self.method = method
        self.threshold = threshold
        self.sequential = sequential
        self.random_state = random_state
        self.max_disagreement = max_disagreement
        self.shared = shared
        self.every_size = every_size
        self.tune = tune

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
        self._refuse_contradictions()
        if not self.sequential:
            return self._prepare(self._train(X, y))
        X, y, choosing, proving = self._hold_out(X, y)
        problems = self._train(X, y)
        held, proof = self._transformed(choosing), self._transformed(proving)
        return self._prepare([HeldProblem(**vars(one), held=held, proof=proof) for one in problems])

    def _hold_out(self, X: Any, y: Any) -> tuple[Any, Any, Any, Any]:
        """Return rows to learn from, their classes, rows that choose and rows that prove.

        A frozen machine has nothing to learn but what the rows that choose may say.
        """
        random = check_random_state(self.random_state)
        frozen = isinstance(self.estimator, FrozenEstimator)
        if not frozen:
            check_classes(X, y)
        try:
            X, y, held = (X, None, X) if frozen else hold_out(X, y, random)
            choosing, _, proving = hold_out(held, None, random, share=0.5)
        except ValueError as error:
            raise ValueError(f"sequential=True holds out rows. {error}") from error
        return (choosing if frozen else X), y, choosing, proving

    def resized(self, n_vectors: Any, threshold: str) -> ReducedSetClassifier:
        """Return this classifier with another size of its path and another threshold.

        Nothing is searched or trained; see `study`.
        """
        other = copy(self).set_params(n_vectors=n_vectors, threshold=threshold)
        return other._describe([resize_engine(other, engine) for engine in self.engines_])

    def _refuse_contradictions(self) -> None:
        if self.shared and self.sequential:
            raise ValueError(
                "shared=True asks all vectors at once, sequential=True one by one. Set one of "
                "them to False."
            )
        if self.shared and self.tune is not None:
            raise ValueError(
                "shared=True fits the weights of all machines to vectors in common, tune='margin' "
                "moves the vectors of each machine for itself. Set shared=False or tune=None."
            )

    def _prepare(self, problems: list[BinaryProblem]) -> ReducedSetClassifier:
        largest = max(problem.machine.n_vectors for problem in problems)
        if isinstance(self.n_vectors, Integral) and int(self.n_vectors) > largest:
            raise ValueError(
                f"n_vectors={self.n_vectors} is more than the {largest} support vectors that the "
                "machine has. Give a smaller number, or a share such as 0.1."
            )
        seed = check_random_state(self.random_state).randint(2**31 - 1) if self.tune else 0
        engines = [
            build_engine(self, problem, rows, seed)
            for problem, rows in zip(problems, self._tuning_rows(problems), strict=True)
        ]
        if self.shared and len(problems) > 1:
            engines = self._share_vectors(problems, [engine.machine for engine in engines])
        return self._describe(engines)

    def _share_vectors(
        self, problems: list[BinaryProblem], reduced: list[KernelMachine]
    ) -> list[ReducedEngine]:
        """Return engines that give each machine the vectors of all."""
        originals = [problem.machine for problem in problems]
        space = space_of(originals[0].kernel, originals[0].vectors)
        is_solved = space.is_homogeneous and space.degree <= 2
        moves = search_method(self.method, space) == "joint" and not is_solved
        machines, rho = share(originals, union_of(reduced)[0], space, None if moves else 0)
        return [
            ReducedEngine(
                with_threshold(self.threshold, machine, problem), problem.machine, float(left), None
            )
            for machine, left, problem in zip(machines, rho, problems, strict=True)
        ]

    def _describe(self, engines: list[ReducedEngine]) -> ReducedSetClassifier:
        """Take the engines and say what they are."""
        self._adopt(engines)
        self._stops_early = self.sequential
        is_pair = len(self.classes_) == 2
        rho = [engine.rho for engine in engines]
        self.rho_ = rho[0] if is_pair else np.array(rho)
        originals = self._exact_machines()
        self.original_ = originals[0] if is_pair else originals
        kept = [engine.is_tuned for engine in engines]
        self.tuned_ = kept[0] if is_pair else np.array(kept)
        self.vectors_: Any = None
        if self.shared and len(engines) > 1:
            self.vectors_ = self.machines_[0].vectors
            # a kernel value takes one product a column; every machine but one sums beside
            self.overhead_ = len(self.vectors_) * (len(engines) - 1) / self.vectors_.shape[1]
        if self.sequential:
            proofs = [engine.proof for engine in engines]
            self.early_stop_ = proofs[0] if is_pair else proofs
        return self

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the output of each row, (n,) for two classes and (n, n_classes) for more.

        With more than two classes it is scikit-learn's one-against-one aggregation.

        A score of the method's own: it has the exact machine's sign (for most queries)
        but not its size. Rank or calibrate by `exact_function(X)`.
        """
        return super().decision_function(X)

    def _outputs(self, X: Any) -> NDArray[np.float64]:
        if getattr(self, "vectors_", None) is None:
            return super()._outputs(X)
        return outputs(self.machines_, self._rows(X))

    def _answers(self, X: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Return `decision_function(X)` and `steps(X)`, the kernel values computed once."""
        if self.vectors_ is not None or len(self.engines_) > 1:
            return self.decision_function(X), self.steps(X)
        return self._runs(X)[0]

    def to_svc(self) -> Any:
        """Return the reduced machine as a plain fitted `SVC`, for where kmviz is not installed.

        Behind the fitted steps of a pipeline it is the last step of a `Pipeline`. A kernel that
        libsvm does not know stays the callable that it is. With several classes libsvm asks each
        class's vectors apart, so that vectors in common are there once for each class but one.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.datasets import make_moons
        >>> from kmviz import ReducedSetClassifier
        >>> X, y = make_moons(200, noise=0.2, random_state=0)
        >>> clf = ReducedSetClassifier(n_vectors=8).fit(X, y)
        >>> svc = clf.to_svc()
        >>> type(svc).__name__, len(svc.support_vectors_)
        ('SVC', 8)
        >>> bool(np.allclose(svc.decision_function(X), clf.decision_function(X), atol=1e-9))
        True
        """
        check_is_fitted(self, "engines_")
        shape = "ovo" if self.rule_.keeps_pairs else "ovr"
        svc = as_svc(
            self.machines_, self.classes_, self.rule_.rest, break_ties=self.rule_.breaks_ties,
            decision_function_shape=shape,
        )  # fmt: skip
        if self.preprocessing_ is not None:
            return Pipeline([*self.preprocessing_.steps, ("svc", svc)])
        if hasattr(self, "feature_names_in_"):
            svc.feature_names_in_ = self.feature_names_in_
        return svc

    def steps(self, X: ArrayLike) -> NDArray[np.intp]:
        """Return how many kernel values each row takes, over all pairs of classes."""
        vectors = getattr(self, "vectors_", None)
        if vectors is None:
            return super().steps(X)
        return np.full(len(self._rows(X)), len(vectors), dtype=np.intp)

    def _exact_machines(self) -> list[KernelMachine]:
        return [engine.original for engine in self.engines_]

    def _tuning_rows(self, problems: list[BinaryProblem]) -> list[Any]:
        """Return the rows that tune each machine: those that one of its classes wins."""
        if self.tune is None:
            return [None] * len(problems)
        X = problems[0].X
        if len(problems) == 1 or self.rule_.rest:
            return [X] * len(problems)
        outputs = np.column_stack([problem.machine.decision_function(X) for problem in problems])
        winner = self.rule_.winners(outputs)
        pairs = combinations(range(len(self.classes_)), 2)
        return [X[(winner == first) | (winner == second)] for first, second in pairs]
