"""Support vector trees.

A. Ukkonen, "The support vector tree". A binary tree whose nodes each hold one support vector: a
query asks the kernel about the vectors on its path alone, about ten, and adds up their scores.
Algorithm 2 grows the tree; Algorithms 3 to 5 (`split="alternating"`) or an exact sweep
(`split="exact"`) find its splits; Algorithm 1 (`split="balanced"`) tries every tree that halves its
rows, for small inputs: the cheapest is found where columns are not scaled.

Departures
----------
- The paper leaves the root's column open: it is the one that best explains all rows alone.
- Thresholds stand midway between neighbouring scores. At a training score itself, as in
  Algorithm 5, the same row may go the other way when its kernel value is rounded differently.
- An empty side is not allowed, or Algorithm 2 would not end. Where a node's scores are all equal,
  it asks one more column without splitting, as long as that explains more.
- The sum leaves out the bias; the answer is its sign after -b is added.
- No output is larger than the exact machine's largest on the rows that the tree was grown on.
- `split="exact"`, `refit="path"`, `stem`, `candidates`, `fading` and `max_mean` are not in the
  paper.
- Problem 1 asks for a subset of the vectors for each query, whatever picks it; the paper mentions
  the subset of the nearest training row, found by a neighbour search, and sets it aside for what
  that search costs. It is left out here too: trees alone (Problem 2) are built.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import partial
from math import ceil, log2
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from kmviz.machines import KernelMachine
from kmviz.methods.base import BinaryProblem, MachineClassifier
from kmviz.methods.reduction.path import grow
from kmviz.methods.reduction.space import OpaqueSpace, space_of
from kmviz.methods.svtree.balanced import grow_balanced
from kmviz.methods.svtree.growth import ColumnFit, Growth, PathFit, assemble
from kmviz.methods.svtree.split import alternating_split, exact_split
from kmviz.methods.svtree.study import TreeStudy
from kmviz.methods.svtree.tree import SVTree, last_nodes
from kmviz.methods.svtree.trim import trim
from kmviz.traces import TreeTrace

#: Kernel values held while a tree grows (512 MB); a sample of the rows beyond that.
MAX_VALUES = 2**26


class SVTreeClassifier(MachineClassifier):
    """A kernel machine that answers along one path of a tree.

    Parameters
    ----------
    estimator : estimator, default=None
        What trains the machine; None is `SVC()`. Give `FrozenEstimator(svc)` to take a trained
        one as it is. `GridSearchCV` over `estimator__C` needs it given.
    split : {"alternating", "exact", "balanced"}, default="alternating"
        How a node's threshold and its children's columns are found: the paper's Algorithm 3 from
        a random start, the best of all by a sorted sweep, or Algorithm 1 (small inputs only; the
        cheapest balanced tree with `scale_columns=False`, else with scales chosen node by node).
    refit : {"column", "path"}, default="column"
        "column" adds each node's own column to the sum, as in the paper. "path" fits all
        coefficients of the path again at each node.
    stem : float, default=0.0
        Share of the path, from the root, that all queries have in common: nodes that ask but do
        not split. It is a share of `max_mean`, else of `max_height`, or without either of the
        height expected of the whole tree.
    min_rows : int, default=5
        A node of at most this many training rows is not split; with `refit="path"`, which wants
        three rows a side, nor is one of five.
    max_height : int, default=None
        Most kernel values on a path. None leaves it to `min_rows`.
    scale_columns : bool, default=True
        Section 4.3: scale each column to fit best. `refit="path"` always does.
    candidates : int, default=None
        A reduced set of so many vectors, which nodes may evaluate beside the machine's own; a stem
        takes these first.
    fading : float, default=0.1
        With `refit="path"`: how much a row that left the path one split ago still counts in its
        fit; two splits ago, the square of it. More steadies nodes of few rows.
    max_mean : float, default=None
        Most kernel values on a path, on average over the training rows: of the grown tree, the
        splits that help least a kernel value are taken back. None takes none back.
    random_state : int, RandomState or None, default=None
        Start of each alternating search.

    Attributes
    ----------
    tree_ : SVTree
        The tree, with two classes.
    trees_ : list of SVTree
        One for each pair of classes.
    machine_ : KernelMachine
        The exact machine.

    Notes
    -----
    Growing takes the n x m matrix of kernel values: more than 2^26 of them are kept to a random
    sample of the rows.

    References
    ----------
    A. Ukkonen, "The support vector tree", in Algorithms and Applications, Essays Dedicated to
    Esko Ukkonen, LNCS 6060, 2010.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kmviz import SVTreeClassifier
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> clf = SVTreeClassifier(split="exact", refit="path", max_height=6).fit(X, y)
    >>> clf.score(X, y) > 0.95
    True
    >>> bool((clf.steps(X) <= 6).all()), clf.machine_.n_vectors > 30
    (True, True)
    """

    study_class = TreeStudy

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [BaseEstimator, None],
        "split": [StrOptions({"alternating", "exact", "balanced"})],
        "refit": [StrOptions({"column", "path"})],
        "stem": [Interval(Real, 0, 1, closed="left")],
        "min_rows": [Interval(Integral, 0, None, closed="left")],
        "max_height": [Interval(Integral, 1, None, closed="left"), None],
        "scale_columns": ["boolean"],
        "candidates": [Interval(Integral, 1, None, closed="left"), None],
        "fading": [Interval(Real, 0, 1, closed="both")],
        "max_mean": [Interval(Real, 1, None, closed="left"), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any = None,
        split: str = "alternating",
        refit: str = "column",
        stem: float = 0.0,
        min_rows: int = 5,
        max_height: int | None = None,
        scale_columns: bool = True,
        candidates: int | None = None,
        fading: float = 0.1,
        max_mean: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.split = split
        self.refit = refit
        self.stem = stem
        self.min_rows = min_rows
        self.max_height = max_height
        self.scale_columns = scale_columns
        self.candidates = candidates
        self.fading = fading
        self.max_mean = max_mean
        self.random_state = random_state

    @property
    def trees_(self) -> list[SVTree]:
        return [engine.tree for engine in self.engines_]

    @property
    def tree_(self) -> SVTree:
        if len(self.engines_) > 1:
            raise AttributeError(
                "With more than two classes there is a tree for each pair: trees_."
            )
        return self.engines_[0].tree

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SVTreeClassifier:
        """Train the estimator (unless it is frozen) and grow a tree for each pair of classes.

        Parameters
        ----------
        X : array of shape (n, d)
            Training rows. With a `FrozenEstimator`, rows to grow on.
        y : array of shape (n,)
            Classes; not used with a `FrozenEstimator`.
        sample_weight : array of shape (n,), optional
            For the estimator, as its last step takes it.
        """
        self._validate_params()
        self._refuse_combinations()
        return self._prepare(self._train(X, y, sample_weight))

    def cut(self, height: int) -> SVTreeClassifier:
        """Return a copy that asks at most `height` vectors a query.

        The same tree, its paths ended earlier, with `max_height` set: every node can be the last,
        so nothing is trained. See `TreeStudy` for where a fit would grow another tree.

        Examples
        --------
        >>> from sklearn.datasets import make_moons
        >>> from kmviz import SVTreeClassifier
        >>> X, y = make_moons(200, noise=0.2, random_state=0)
        >>> clf = SVTreeClassifier(split="exact", refit="path").fit(X, y)
        >>> int(clf.cut(2).steps(X).max())
        2
        """
        check_is_fitted(self, "engines_")
        if not isinstance(height, Integral) or height < 1:
            raise ValueError(f"height must be a whole number, 1 or more; got {height!r}.")
        shorter = copy(self)
        shorter.max_height = int(height)
        trees = [engine.tree.cut(int(height)) for engine in self.engines_]
        machines = [engine.machine for engine in self.engines_]
        return shorter._adopt([TreeEngine(*parts) for parts in zip(machines, trees, strict=True)])

    def apply(self, X: Any) -> NDArray[np.intp]:
        """Return the node where each row's path ends: (n,), or (n, pairs) for more classes.

        Parameters
        ----------
        X : array of shape (n, d)
        """
        ends = [last_nodes(*_nodes_and_steps(tree, self._rows(X))) for tree in self.trees_]
        return ends[0] if len(ends) == 1 else np.column_stack(ends)

    def decision_path(self, X: Any) -> Any:
        """Return which nodes each row asks, as scikit-learn's trees do.

        Parameters
        ----------
        X : array of shape (n, d)

        Returns
        -------
        asked : sparse matrix of shape (n, n_nodes)
            1 where the row's path asks the node.
        ends : array of shape (pairs + 1,)
            For more than two classes only, as scikit-learn's forests do: columns `ends[i]` to
            `ends[i + 1]` are the tree of pair i.

        Examples
        --------
        >>> from sklearn.datasets import make_moons
        >>> from kmviz import SVTreeClassifier
        >>> X, y = make_moons(200, noise=0.2, random_state=0)
        >>> clf = SVTreeClassifier(random_state=0).fit(X, y)
        >>> asked = clf.decision_path(X)
        >>> bool((asked.sum(axis=1) == clf.steps(X)).all())
        True
        """
        rows, trees = self._rows(X), self.trees_
        asked = [_indicator(*_nodes_and_steps(tree, rows), tree.n_nodes) for tree in trees]
        if len(asked) == 1:
            return asked[0]
        return hstack(asked, format="csr"), np.cumsum([0, *(tree.n_nodes for tree in trees)])

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the output of each row, (n,) for two classes and (n, n_classes) for more.

        With more than two classes it is scikit-learn's one-against-one aggregation. A query that
        comes alone is answered fastest as a (1, d) array of floats, without column names: it is
        then checked by the compiled walk, two microseconds in all.

        A score of the tree's own, no larger than the exact machine's on the rows it was grown on:
        rank or calibrate by `exact_function(X)`.
        """
        output = self._alone(X)
        return super().decision_function(X) if output is None else output

    def _outputs(self, X: Any) -> NDArray[np.float64]:
        output = self._alone(X)
        return super()._outputs(X) if output is None else output[:, None]

    def _alone(self, X: Any) -> NDArray[np.float64] | None:
        """Return the output of a row that reaches the one tree as it comes, or None."""
        if self._direct and type(X) is np.ndarray:
            return self.engines_[0].tree.alone(X)
        return None

    #: Whether rows reach the one tree as they come.
    _direct = False

    def _adopt(self, engines: list[Any]) -> Any:
        super()._adopt(engines)
        named = hasattr(self, "feature_names_in_")
        plain = self.preprocessing_ is None and not self._double
        self._direct = len(engines) == 1 and plain and not named
        return self

    def _refuse_combinations(self) -> None:
        if self.split != "balanced":
            return
        for name, paper in (("refit", "column"), ("stem", 0.0), ("max_mean", None)):
            if getattr(self, name) != paper:
                raise ValueError(
                    f"split='balanced' is the paper's Algorithm 1, which knows no {name}: leave "
                    f"{name}={paper!r}, or take split='exact'."
                )

    def _engine(self, problem: BinaryProblem) -> TreeEngine:
        rng = check_random_state(self.random_state)
        machine, rows = problem.machine, problem.X
        vectors, beta = self._with_candidates(machine)
        if len(vectors) == 0:
            return TreeEngine(machine, assemble([], machine.kernel, vectors, machine.bias))
        if len(rows) * len(vectors) > MAX_VALUES:
            rows = rows[rng.permutation(len(rows))[: max(2, MAX_VALUES // len(vectors))]]
        values = np.asarray(machine.kernel(rows, vectors), dtype=np.float64)
        exact = values[:, : machine.n_vectors] @ machine.beta - machine.bias
        column_fit = partial(ColumnFit, values, beta, exact, machine.bias, self.scale_columns)
        if self.split == "balanced":
            grown = grow_balanced(column_fit(), values, self.min_rows, self.max_height)
        else:
            is_path = self.refit == "path"
            fit = PathFit(values, exact, machine.bias, self.fading) if is_path else column_fit()
            growth = self._growth(len(rows), len(vectors) - machine.n_vectors, rng)
            grown = growth.grow(fit, values, exact)
        if self.max_mean is not None:
            grown = trim(grown, exact, self.max_mean)
        tree = assemble(grown, machine.kernel, vectors, machine.bias)
        limit = float(max(np.abs(exact).max(), abs(machine.bias)))
        return TreeEngine(machine, replace(tree, limit=limit))

    def _growth(self, n: int, shared: int, rng: Any) -> Growth:
        search = exact_split if self.split == "exact" else partial(alternating_split, rng=rng)
        height = self.max_height if self.max_mean is None else ceil(self.max_mean)
        if height is None:  # splitting in halves takes log2(n / min_rows) nodes, the stem its share
            height = ceil((log2(max(n / max(self.min_rows, 1), 1)) + 1) / (1.0 - self.stem))
        stem = round(self.stem * height)
        return Growth(search, self.min_rows, self.max_height, stem, shared)

    def _with_candidates(self, machine: KernelMachine) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return the vectors that nodes may evaluate, with their weights."""
        if self.candidates is None:
            return machine.vectors, machine.beta
        added = _reduced(machine, self.candidates)
        vectors = np.vstack([machine.vectors, added.vectors])
        return vectors, np.concatenate([machine.beta, added.beta])


def _reduced(machine: KernelMachine, n: int) -> KernelMachine:
    """Return the machine of a reduced set of n vectors, the machine itself if it has no more."""
    if n >= machine.n_vectors:
        return machine
    space = space_of(machine.kernel, machine.vectors)
    path = grow(machine, space, [n], "selection" if isinstance(space, OpaqueSpace) else "joint")
    return path.machine(path.n_vectors) if path.n_vectors else machine


def _nodes_and_steps(tree: SVTree, X: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    nodes, _, steps = tree.paths(X)
    return nodes, steps


def _indicator(nodes: NDArray[Any], steps: NDArray[Any], n_nodes: int) -> csr_array:
    """Return the nodes of each path as a row of ones."""
    ends = np.concatenate([[0], np.cumsum(steps)])
    return csr_array((np.ones(ends[-1]), nodes[nodes >= 0], ends), shape=(len(nodes), n_nodes))


class TreeEngine:
    """Every query asks the vectors on its path."""

    machine: KernelMachine
    tree: SVTree
    overhead: float = 0.0

    def __init__(self, machine: KernelMachine, tree: SVTree) -> None:
        self.machine = machine
        self.tree = tree

    def run(self, X: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        return self.tree.run(X)

    def trace(self, x: NDArray[Any]) -> TreeTrace:
        tree = self.tree
        nodes, values, steps = tree.paths(x[None])
        k = int(steps[0])
        path, value = nodes[0, :k], values[0, :k]
        partial_sums = tree.running(nodes[:, :k], values[:, :k])[0]
        score = tree.weight[path] * value
        return TreeTrace(
            exact=float(self.machine.decision_function(x[None])[0]),
            output=float(self.run(x[None])[0][0]),
            stop=k,
            partial=partial_sums,
            node=np.concatenate([[-1], path]),
            index=np.concatenate([[-1], tree.sv_index[path]]),
            value=np.concatenate([[0.0], value]),
            score=np.concatenate([[0.0], score]),
            threshold=np.concatenate([[np.inf], tree.threshold[path]]),
        )
