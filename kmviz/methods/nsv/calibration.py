"""Which rows set the envelope, and which machine answers them.

The paper takes the training rows (4.1). They are optimistic: a support vector is its own nearest
neighbour. Rows the machine has not seen are better, and where there are none, *cross-fitting*
makes them: machines trained without a tenth of the rows answer that tenth. Where ten machines take
too long, one tenth may do ("left_out").
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold

from kmviz.loops.threads import over_items
from kmviz.machines import KernelMachine
from kmviz.methods.base import BinaryProblem
from kmviz.methods.nsv.folds import Fold, Products, Trained, products_of, train_folds
from kmviz.methods.nsv.layout import known_form
from kmviz.methods.nsv.linear_filter import Filter, train_filter
from kmviz.methods.progress import report

FOLDS = 10
FOLDS_A_PAIR = 5  # where there are many pairs of classes to train for
CROSS_FITTED = ("cross_fit", "left_out")


@dataclass(frozen=True, eq=False)
class Part:
    """Calibration rows, with the machine and the filter that answer them.

    `values` are the kernel values of the rows and the machine's vectors, where they are known.
    """

    machine: KernelMachine
    linear: Filter | None
    rows: NDArray[Any]
    values: NDArray[Any] | None = None


@dataclass(frozen=True, eq=False)
class Calibrated:
    """A machine, its filter and its calibration rows, and what kind they are."""

    machine: KernelMachine
    linear: Filter | None
    parts: list[Part]
    calibration: str


@dataclass(frozen=True, eq=False)
class Calibrator:
    """Where calibration rows come from.

    Parameters
    ----------
    calibration : {"cross_fit", "left_out", "train"}
    linear_filter : bool
    random_state : int or RandomState
    n_folds : int
    """

    calibration: str
    linear_filter: bool
    random_state: Any
    n_folds: int = FOLDS

    def __call__(
        self, problem: BinaryProblem, given: NDArray[Any] | None = None
    ) -> tuple[Filter | None, list[Part]]:
        """Return the filter and the calibration rows.

        Parameters
        ----------
        problem : BinaryProblem
        given : array of shape (n, d), optional
            Rows the machine has not seen; they take the place of all others.
        """
        outputs = self._outputs(problem.machine, problem.X)
        if given is None and problem.y is not None and self.calibration in CROSS_FITTED:
            return self._cross_fitted(problem, outputs)
        linear = self._filter(problem.machine, problem.X, problem.y, outputs)
        if given is not None:
            return linear, [Part(problem.machine, linear, given)]
        if problem.y is None:
            return linear, self._unseen(problem, linear, outputs)
        return linear, [Part(problem.machine, linear, problem.X)]

    def _outputs(self, machine: KernelMachine, X: NDArray[Any]) -> NDArray[Any] | None:
        """The machine's outputs, which a filter is scaled to; float32 is exact enough."""
        return machine.decision_function(X, dtype=np.float32) if self.linear_filter else None

    def _filter(
        self,
        machine: KernelMachine,
        X: NDArray[Any],
        side: NDArray[Any] | None,
        outputs: NDArray[Any] | None,
    ) -> Filter | None:
        if outputs is None:
            return None
        if side is None:
            side = np.where(outputs > 0, 1, -1)
        own = side != 0
        form = known_form(machine.kernel)
        rows = X[own] if form is None else form.embed(X[own])
        return train_filter(rows, side[own], outputs[own])

    def _unseen(
        self, problem: BinaryProblem, linear: Filter | None, outputs: NDArray[Any] | None
    ) -> list[Part]:
        """Rows a frozen machine has not seen; the filter, which has, is cross-fitted.

        Rows come in the same order with and without a filter, so that sums over them agree.
        """
        X, machine = problem.X, problem.machine
        if len(X) < 2 * FOLDS_A_PAIR:
            return [Part(machine, linear, X)]
        folds = KFold(FOLDS_A_PAIR, shuffle=True, random_state=self.random_state)
        parts = []
        for learn, ask in folds.split(X):
            known = None if linear is None or outputs is None else outputs[learn]
            parts.append(Part(machine, self._filter(machine, X[learn], None, known), X[ask]))
        return parts

    def _cross_fitted(
        self, problem: BinaryProblem, outputs: NDArray[Any] | None
    ) -> tuple[Filter | None, list[Part]]:
        X, y = problem.X, problem.y
        assert y is not None
        own = np.flatnonzero(y)
        shared = products_of(problem.estimator, X[own], y[own])
        if shared is None or outputs is None:
            linear = self._filter(problem.machine, X, y, outputs)
        else:
            linear = shared.filter(np.arange(len(own)), outputs[own])
        n_folds = min(self.n_folds, int((y > 0).sum()), int((y < 0).sum()))
        if n_folds < 2:  # a class of one row cannot be left out
            return linear, [Part(problem.machine, linear, X)]
        parts = []
        if len(own) < len(y):  # no machine of this pair has seen the other classes
            parts.append(Part(problem.machine, linear, X[y == 0]))
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=self.random_state)
        wanted = 1 if self.calibration == "left_out" else n_folds
        dealt = list(islice(folds.split(own, y[own]), wanted))
        found = self._trained(problem, shared, own, dealt)
        report(0.0, f"cross-fitting: {wanted} machines")
        for done, (trained, (_, ask)) in enumerate(zip(found, dealt, strict=True)):
            report((done + 1) / wanted, f"cross-fitting: machine {done + 1} of {wanted}")
            parts.append(Part(trained.machine, trained.linear, X[own[ask]], trained.values))
        return linear, parts

    def _trained(
        self,
        problem: BinaryProblem,
        shared: Products | None,
        own: Fold,
        dealt: list[tuple[Fold, Fold]],
    ) -> Iterator[Trained]:
        """Yield the machine of each fold of the pair's own rows, with its filter."""
        if shared is not None:
            filtered = self.linear_filter
            yield from over_items(lambda two: shared.train(two[0], filtered, two[1]), dealt)
            return
        assert problem.y is not None
        X, y, folds = problem.X[own], problem.y[own], [learn for learn, _ in dealt]
        for machine, fold in zip(train_folds(problem.estimator, X, y, folds), folds, strict=True):
            outputs = self._outputs(machine, X[fold])
            yield Trained(machine, self._filter(machine, X[fold], y[fold], outputs))
