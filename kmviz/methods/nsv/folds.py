"""Machines for cross-fitting: the same training without a tenth of the rows, ten times.

Most of the time goes into kernel values that the folds have in common. They are computed once for
all rows, and each fold trains on its part: an SVC by a compiled solver that reads them in place, in
float32, anything else (or what that solver does not get to the end of) by libsvm: where rows are
long on a copy of its part (`kernel="precomputed"`), else on the rows. Either finds the same
machine, up to the solver's tolerance. The same values give the machine's outputs for its own rows
and what the rows that were left out need; dot products of long rows, taken in one matrix product,
also give the linear filter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.svm import SVC, NuSVC

from kmviz import kernels
from kmviz.loops.falk_smo import PAD
from kmviz.loops.kernel import POLYNOMIAL, RADIAL
from kmviz.loops.nsv_folds import kernels_of_products, kernels_of_rows, train_part
from kmviz.loops.threads import n_threads, over_items
from kmviz.machines import KernelMachine
from kmviz.machines.named import gamma_for, named_kernel
from kmviz.machines.reading import read_binary
from kmviz.methods.nsv.linear_filter import Filter, filter_of_products, train_filter

#: From so many columns on a row is long: distances then come from a matrix product, and filters and
#: what is left to libsvm from the matrix. Shorter rows are compared number by number.
MANY_COLUMNS = 50

#: What the matrices may take: that of all rows, and one for each thread.
MOST_BYTES = 512 * 2**20

#: Kernel values up to which float32 computes them, exponents of radial ones (from products, and
#: from differences, which lose less), squares that it can add up, and the steps for each row after
#: which libsvm takes over.
LARGEST, WIDEST, WIDEST_BY_ROWS, LEAST, STEPS = 1e4, 1e2, 1e4, 1e-30, 100

Fold = NDArray[np.intp]


def train_folds(
    estimator: Any, X: NDArray[Any], y: NDArray[Any], folds: list[Fold]
) -> Iterator[KernelMachine]:
    """Yield the machine that the estimator makes of each fold of the rows.

    Parameters
    ----------
    estimator : estimator
        Untrained.
    X : array of shape (n, d)
    y : array of shape (n,)
        +1 and -1.
    folds : list of arrays
        The rows to train on.
    """
    used = np.unique(np.concatenate(folds))  # of several classes a pair uses two
    if shares_products(estimator, X[used]):
        shared = Products(estimator, X[used], y[used])
        parts = [np.searchsorted(used, fold) for fold in folds]
        return over_items(lambda fold: shared.train(fold).machine, parts)
    return over_items(lambda fold: read_binary(clone(estimator).fit(X[fold], y[fold])), folds)


def products_of(estimator: Any, X: NDArray[Any], y: NDArray[Any]) -> Products | None:
    """Return the products of all rows where folds should be trained on parts of them."""
    return Products(estimator, X, y) if shares_products(estimator, X) else None


def shares_products(estimator: Any, X: NDArray[Any]) -> bool:
    """Tell whether folds should be trained on parts of one matrix."""
    n = len(X)
    if type(estimator) not in (SVC, NuSVC) or getattr(estimator, "probability", False) is True:
        return False
    known = estimator.kernel in ("linear", "poly", "rbf") or kernels.is_known(estimator.kernel)
    return known and 8 * n * n * (1 + n_threads()) <= MOST_BYTES


@dataclass(frozen=True, eq=False)
class Trained:
    """A machine of some rows, and what was found with it, if anything.

    Attributes
    ----------
    linear : Filter or None
        Trained on the same rows.
    values : array of shape (n, m) or None
        Kernel values of the rows left out and the machine's vectors, in float32.
    """

    machine: KernelMachine
    linear: Filter | None = None
    values: NDArray[np.float32] | None = None


#: Places of the support vectors, their weights, the bias, and the outputs for all rows.
Solution = tuple[Fold, NDArray[np.float64], float, NDArray[np.float64]]


class Products:
    """The dot products or distances of all rows, and what is trained on parts of them.

    Parameters
    ----------
    estimator : SVC or NuSVC
        Untrained.
    X, y : arrays
        Rows of two classes, +1 and -1.
    """

    def __init__(self, estimator: Any, X: NDArray[Any], y: NDArray[Any]) -> None:
        given = estimator.kernel
        self.estimator, self.X, self.y = estimator, X, y
        self.rows = X if isinstance(given, str) else given.embed(X)
        self.center = self.rows.mean(axis=0, dtype=np.float64)
        self.is_long = self.rows.shape[1] >= MANY_COLUMNS
        self.by_rows = _is_radial(given) and not self.is_long
        with np.errstate(over="ignore", invalid="ignore"):  # which is asked about later
            away = self.rows - self.center
            self.away = away if self.by_rows else away.astype(np.float32)
            self.squares = np.einsum("ij,ij->i", self.away, self.away)
            self.products = None if self.by_rows else self.away @ self.away.T
        self.weights: NDArray[Any] | None = None  # of the rows in the filter of them all
        self.known: tuple[Any, NDArray[np.float32]] | None = None

    def train(
        self, fold: Fold, linear_filter: bool = False, left_out: Fold | None = None
    ) -> Trained:
        """Return the machine of some of the rows.

        With its filter, if one is wanted, and its kernel values for rows that were left out.
        """
        kernel = self._kernel(fold)
        solved = self._solved(fold, kernel)
        support, beta, bias, outputs = solved or self._by_libsvm(fold, kernel)
        machine = KernelMachine(self.X[fold[support]], beta, bias, kernel)
        linear = self.filter(fold, outputs) if linear_filter else None
        values = None
        if solved is not None and left_out is not None:
            values = self._values(kernel)[np.ix_(left_out, fold[support])]
        return Trained(machine, linear, values)

    def _kernel(self, fold: Fold) -> Any:
        """The kernel, where gamma follows from the rows of the fold."""
        given = self.estimator
        if not isinstance(given.kernel, str):
            return given.kernel
        gamma = given.gamma
        if gamma == "scale":
            mean, square = self.moments[:, fold].mean(axis=1)
            variance = float(square - mean**2)
            gamma = 1.0 / (self.X.shape[1] * variance) if variance > 0 else 1.0
        return named_kernel(given.kernel, gamma_for(gamma, self.X), given.degree, given.coef0)

    @cached_property
    def moments(self) -> NDArray[np.float64]:
        """Mean and mean square of the numbers of each row, about the mean of all."""
        moved = self.X - self.X.mean(dtype=np.float64)
        return np.array([moved.mean(axis=1), np.einsum("ij,ij->i", moved, moved) / moved.shape[1]])

    @cached_property
    def lengths(self) -> NDArray[np.float64]:
        """Squared lengths of the rows."""
        return np.einsum("ij,ij->i", self.rows, self.rows, dtype=np.float64)

    def _is_narrow(self, plain: Any) -> bool:
        """Tell whether float32 is enough for the kernel values."""
        kind, gamma, coef0, degree = plain.code
        largest = float(self.squares.max())
        if self.by_rows:
            return gamma * largest < WIDEST_BY_ROWS
        if not largest > LEAST:
            return False
        if kind == RADIAL:
            return gamma * largest < WIDEST
        with np.errstate(over="ignore"):
            return bool(kernels.power(gamma * self.lengths + coef0, degree).max() < LARGEST)

    def _solved(self, fold: Fold, kernel: Any) -> Solution | None:
        """Train by the compiled solver; None where it is not for this estimator, or did not end."""
        given = self.estimator
        if type(given) is not SVC or given.class_weight is not None:
            return None
        if not self._is_narrow(kernel.plain):
            return None
        K = self._values(kernel)
        taken, side = np.zeros(len(self.y), dtype=bool), self.y.astype(np.float64)
        taken[fold] = True
        exact, beta = np.empty(len(K)), np.empty(len(K))
        most = STEPS * len(side)
        intercept, is_solved = train_part(
            K, K.diagonal().copy(), side, taken, float(given.C), float(given.tol),
            most if given.max_iter == -1 else min(given.max_iter, most), exact, beta,
        )  # fmt: skip
        own = beta[fold]
        support = np.flatnonzero(own)
        if not (is_solved and len(support)):
            return None
        return support, own[support], -intercept, (side - exact[: len(side)])[fold] + intercept

    def _values(self, kernel: Any) -> NDArray[np.float32]:
        """Kernel values of all rows in float32, filled up with zeros; the last ones are kept."""
        known = self.known
        if known is not None and known[0] == kernel:
            return known[1]
        n = len(self.rows)
        K = np.zeros((-(-n // PAD) * PAD,) * 2, dtype=np.float32)
        if self.products is None:
            narrow = self.away.T * np.sqrt(kernel.plain.gamma)
            kernels_of_rows(np.ascontiguousarray(narrow, dtype=np.float32), K)
        elif kernel.plain.code[0] == RADIAL:
            kernels_of_products(*kernel.plain.code, self.products, self.squares, K)
        else:  # x.y = (x - c).(y - c) + x.c + y.c - c.c
            beside = (self.rows @ self.center - self.center @ self.center / 2).astype(np.float32)
            kernels_of_products(*kernel.plain.code, self.products, beside, K)
        self.known = (kernel, K)
        return K

    def _by_libsvm(self, fold: Fold, kernel: Any) -> Solution:
        svc, rows = clone(self.estimator), self.X[fold]
        if self.is_long:
            rows = _of_products(kernel.plain, self.wide[np.ix_(fold, fold)])
            svc.set_params(kernel="precomputed")
        svc.fit(rows, self.y[fold])
        order = np.argsort(svc.support_, kind="stable")  # file order
        support, beta = svc.support_[order], svc.dual_coef_.ravel()[order]
        return support, beta, -float(svc.intercept_[0]), svc.decision_function(rows)

    def filter(self, fold: Fold, outputs: NDArray[Any]) -> Filter | None:
        """Return the filter of some of the rows, given the machine's output for each."""
        if not self.is_long:
            return train_filter(self.rows[fold], self.y[fold], outputs)
        assert self.products is not None
        side, exact = np.zeros(len(self.y)), np.zeros(len(self.y))
        side[fold], exact[fold] = self.y[fold], outputs
        found, weights = filter_of_products(self.products, self.away, side, exact, self.weights)
        if len(fold) == len(self.y):
            self.weights = weights
        return found and (found[0], found[1] + float(found[0] @ self.center))

    @cached_property
    def wide(self) -> NDArray[np.float64]:
        """The products of the rows in float64, for libsvm."""
        rows = self.rows.astype(np.float64, copy=False)
        if _is_radial(self.estimator.kernel):  # distances stay, and less of them cancels
            rows = rows - self.center
        return rows @ rows.T


def _is_radial(kernel: Any) -> bool:
    return kernel == "rbf" if isinstance(kernel, str) else kernel.plain.code[0] == RADIAL


def _of_products(plain: Any, products: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn dot products of rows into values of a plain kernel."""
    kind, gamma, coef0, degree = plain.code
    if kind == RADIAL:
        squares = np.diag(products).copy()
        products *= -2.0
        products += squares[:, None]
        products += squares
        np.maximum(products, 0.0, out=products)
        products *= -gamma
        return np.exp(products)
    if kind == POLYNOMIAL:
        return kernels.power(gamma * products + coef0, degree)
    return products
