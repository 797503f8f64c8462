"""Bounds over a kd-tree of the support vectors: certified answers for one-class machines.

T. N. Chan, M. L. Yiu and L. H. U (2019), "KARL: Fast Kernel Aggregation Queries", ICDE.

All weights of a one-class machine have one sign, so that its sum can be bounded tightly: every
node of a kd-tree gives linear bounds on exp (`kmviz.loops.kernel_tree`), and the widest node is
opened until the interval around f(x) leaves 0 behind. Where weights of both signs cancel, as in
an SVC, the interval is as wide as what cancels, and most of the tree is opened: correct, but
slower than the plain sum. So `fit` counts on rows of X what both ways would take, and the sum
answers where it is less.

Departures
----------
- Vectors of each sign have a tree of their own, and the widest node of all is opened next.
- A sign that rounding could change is that of the exact machine.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval

from kmviz.kernels import RBF, is_known
from kmviz.loops.kernel_tree import close_tree
from kmviz.loops.threads import over_chunks
from kmviz.machines import KernelMachine
from kmviz.machines.shared import SharedMachines
from kmviz.machines.soundness import shaped, within
from kmviz.methods.base import BinaryProblem, MachineClassifier
from kmviz.methods.sums import ExactEngine
from kmviz.traces import KernelTreeTrace, Trace

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

#: What bounding a node costs, in kernel values: two distances more, and two exponentials more.
NODE_COST = 3.0

#: What a query took on one computer, in nanoseconds, and then for each column: by the tree at all,
#: for a node and for a kernel value; by the sum at all, for a vector, and for one asked again in
#: float64. The way that answers is chosen by these and not by the clock: the same rows make the
#: same classifier, however busy a computer is.
TREE, NODE, VALUE = (49.0, 0.0), (101.0, 2.15), (7.8, 0.21)
SUM, VECTOR, AGAIN = (61.0, 3.8), (1.44, 0.019), (4.5, 0.05)

#: Rows on which that is counted.
COUNTED = 100

NONE = np.empty((0, 0))


class KernelTreeClassifier(MachineClassifier):
    """The exact machine's answer from bounds over groups of vectors.

    For a fitted `OneClassSVM` with a radial kernel. Where rows of X open so many nodes that the
    plain sum takes less, as under most two-class machines, or under another kernel, the sum
    answers: in float32, with the signs of float64.

    Parameters
    ----------
    estimator : estimator, default=None
        What trains the machine; None is `SVC()`. A `OneClassSVM` needs no classes: `fit(X)`. Give
        `FrozenEstimator(model)` to take a trained one as it is.
    leaf_size : int, default=32
        Up to so many vectors are summed rather than bounded.

    Attributes
    ----------
    machine_ : KernelMachine
        The exact machine.
    overhead_ : float
        What bounding the nodes costs a query beside its kernel values, on average over rows of X.
    uses_tree_ : bool
        Whether the tree answers, and not the sum (a list for more than two classes).

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from sklearn.svm import OneClassSVM
    >>> from kmviz import KernelTreeClassifier
    >>> X, _ = make_blobs(4_000, centers=3, random_state=0)
    >>> clf = KernelTreeClassifier(OneClassSVM(nu=0.5, gamma=0.01)).fit(X)
    >>> bool((clf.predict(X) == clf.estimator_.predict(X)).all())
    True
    >>> clf.uses_tree_, bool(clf.steps(X).mean() < 0.5 * clf.machine_.n_vectors)
    (True, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [BaseEstimator, None],
        "leaf_size": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, estimator: Any = None, leaf_size: int = 32) -> None:
        self.estimator = estimator
        self.leaf_size = leaf_size

    def _engine(self, problem: BinaryProblem) -> Any:
        machine = problem.machine
        summed = ExactEngine(SharedMachines([machine]))
        is_radial = is_known(machine.kernel) and isinstance(machine.kernel.plain, RBF)
        if not is_radial or not np.any(machine.beta):
            return summed
        rows = problem.X[:: -(-len(problem.X) // COUNTED)]
        tree = KernelTreeEngine(machine, self.leaf_size).usual(rows)
        return tree if tree.price < price_of_sum(summed, rows) else summed

    @property
    def uses_tree_(self) -> Any:
        """Whether the tree answers, and not the sum."""
        found = [isinstance(engine, KernelTreeEngine) for engine in self.engines_]
        return found[0] if len(found) == 1 else found


def price_of_sum(engine: ExactEngine, X: NDArray[Any]) -> float:
    """Return what summing every vector takes a row, by the prices above.

    A row whose sign float32 does not tell is summed again: it then has float64's own output.
    """
    m, d = engine.machine.n_vectors, X.shape[1]
    wide = ExactEngine(engine.shared, engine.place, wide=True)
    again = float(np.mean(engine.run(X)[0] == wide.run(X)[0]))
    return _price(SUM, d) + m * (_price(VECTOR, d) + again * _price(AGAIN, d))


def _price(price: tuple[float, float], d: int) -> float:
    return price[0] + price[1] * d


@dataclass(frozen=True, eq=False)
class KernelTree:
    """The nodes of the trees, roots first; vectors in the order of the leaves.

    Attributes
    ----------
    order : array of shape (m,)
        Which vector of the machine stands at each place.
    ends, children : arrays of shape (nodes, 2)
    low, high, mean : arrays of shape (nodes, d)
    spread, weight : arrays of shape (nodes,)
    n_roots : int
    """

    order: Ints
    ends: Ints
    children: Ints
    low: Floats
    high: Floats
    mean: Floats
    spread: Floats
    weight: Floats
    n_roots: int


def grown(vectors: Floats, beta: Floats, leaf_size: int) -> KernelTree:
    """Cut the vectors of each sign at the median of their widest column, down to the leaves."""
    sides = [side for side in (np.flatnonzero(beta > 0), np.flatnonzero(beta < 0)) if len(side)]
    order = np.concatenate(sides)
    starts = np.cumsum([0, *map(len, sides)]).tolist()
    ends = [[a, b] for a, b in pairwise(starts)]
    children: list[list[int]] = []
    while len(children) < len(ends):
        start, stop = ends[len(children)]
        rows = vectors[order[start:stop]]
        widest = int(np.argmax(np.ptp(rows, axis=0)))
        if stop - start <= leaf_size or np.ptp(rows[:, widest]) == 0.0:
            children.append([-1, -1])
            continue
        middle = (stop - start) // 2
        cut = np.argpartition(rows[:, widest], middle)
        order[start:stop] = order[start:stop][cut]
        children.append([len(ends), len(ends) + 1])
        ends += [[start, start + middle], [start + middle, stop]]
    described = [_described(vectors[order[a:b]], beta[order[a:b]]) for a, b in ends]
    low, high, mean, spread, weight = map(np.array, zip(*described, strict=True))
    places = (np.array(ends, dtype=np.intp), np.array(children, dtype=np.intp))
    return KernelTree(order, *places, low, high, mean, spread, weight, len(sides))


def _described(rows: Floats, beta: Floats) -> tuple[Any, ...]:
    """The box, the weighted mean, the mean square distance to it, and the summed weight."""
    weight = float(beta.sum())
    mean = beta @ rows / weight
    gaps = rows - mean
    spread = float(beta @ np.einsum("ij,ij->i", gaps, gaps)) / weight
    return rows.min(axis=0), rows.max(axis=0), mean, spread, weight


class KernelTreeEngine:
    """One radial machine and the trees over its vectors."""

    machine: KernelMachine
    tree: KernelTree
    center: Floats
    vectors: Floats
    beta: Floats
    radius: float
    overhead: float = 0.0
    price: float = 0.0

    def __init__(self, machine: KernelMachine, leaf_size: int) -> None:
        self.machine = machine
        rows = np.ascontiguousarray(machine.kernel.embed(machine.vectors.astype(np.float64)))
        self.center = rows.mean(axis=0)
        moved = rows - self.center
        self.tree = grown(moved, machine.beta, leaf_size)
        self.vectors, self.beta = moved[self.tree.order], machine.beta[self.tree.order]
        self.radius = float(np.sqrt(np.einsum("ij,ij->i", moved, moved).max()))

    def check(self) -> None:
        """Refuse arrays that do not fit together (ValueError)."""
        tree, m = self.tree, len(self.beta)
        n, d = len(tree.weight), len(self.center)
        shaped("vectors", self.vectors, m, d)
        shaped("ends", tree.ends, n, 2)
        within("ends", tree.ends, 0, m + 1)
        shaped("children", tree.children, n, 2)
        within("children", tree.children, -1, n)
        if np.any((tree.children >= 0) & (tree.children <= np.arange(n)[:, None])):
            raise ValueError("children stand before their node, and a walk would not end.")
        for name in ("low", "high", "mean"):
            shaped(name, getattr(tree, name), n, d)
        for name in ("spread", "weight"):
            shaped(name, getattr(tree, name), n)
        within("n_roots", tree.n_roots, 1, n + 1)

    def usual(self, X: NDArray[Any]) -> KernelTreeEngine:
        """Return a copy that knows what rows take that stand for queries.

        How many nodes they open (`overhead`), and what a row takes by the prices above (`price`).
        """
        known, d, (_, steps, looked) = copy(self), self.vectors.shape[1], self._closed(X)
        nodes, values = float(looked.mean()), float(steps.mean())
        known.overhead = NODE_COST * nodes
        known.price = _price(TREE, d) + nodes * _price(NODE, d) + values * _price(VALUE, d)
        return known

    def run(self, X: NDArray[Any]) -> tuple[Floats, Ints]:
        output, steps, _ = self._closed(X)
        return output, steps

    def _closed(
        self, X: NDArray[Any], lower: Floats = NONE, upper: Floats = NONE
    ) -> tuple[Floats, Ints, Ints]:
        machine, tree = self.machine, self.tree
        wide = X.astype(np.float64, copy=False)
        rows = np.ascontiguousarray(machine.kernel.embed(wide)) - self.center
        output = np.empty(len(rows))
        steps, looked = np.empty((2, len(rows)), dtype=np.intp)

        def work(a: int, b: int) -> None:
            close_tree(
                machine.kernel.plain.gamma, rows[a:b], self.vectors, self.beta, machine.bias,
                tree.ends, tree.children, tree.low, tree.high, tree.mean, tree.spread,
                tree.weight, tree.n_roots, self.radius, output[a:b], steps[a:b], looked[a:b],
                lower[a:b], upper[a:b],
            )  # fmt: skip

        over_chunks(work, len(rows))
        unsure = np.isnan(output)
        if unsure.any():
            output[unsure] = machine.decision_function(wide[unsure])
            steps[unsure] += machine.n_vectors
        return output, steps, looked

    def trace(self, x: NDArray[Any]) -> Trace:
        lower, upper = np.empty((2, 1, len(self.tree.weight) + 1))
        self._closed(x[None], lower, upper)
        output, _, looked = self._closed(x[None])
        return KernelTreeTrace(
            exact=float(self.machine.decision_function(x[None])[0]),
            output=float(output[0]),
            stop=int(looked[0]),
            lower=lower[0],
            upper=upper[0],
        )
