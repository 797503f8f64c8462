"""Machines for cross-fitting: the same training without a tenth of the rows, ten times.

Most of the time goes into kernel values that the folds have in common. Where rows are long, the
dot products of all of them are computed once, in one matrix product, and each fold trains on its
part: an SVC by a compiled solver that reads the kernel values of all rows in place, in float32,
anything else (or what that solver does not get to the end of) by libsvm on a copy of its part
(`kernel="precomputed"`). Either finds the same machine, up to the solver's tolerance. The same
matrix gives the machine's outputs for its own rows, and the linear filter.
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
from kmviz.loops.nsv_folds import train_part
from kmviz.loops.threads import n_threads, over_items
from kmviz.machines import KernelMachine
from kmviz.machines.named import gamma_for, named_kernel
from kmviz.machines.reading import read_binary
from kmviz.methods.nsv.linear import Filter, filter_of_products

#: From so many columns on a matrix product saves more than the matrix costs.
MANY_COLUMNS = 50

#: What the matrices may take: that of all rows, and one for each thread.
MOST_BYTES = 512 * 2**20

#: Kernel values up to this are computed in float32, and the steps for each row after which libsvm
#: takes over.
LARGEST, STEPS = 1e4, 100

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
    n, d = X.shape
    if type(estimator) not in (SVC, NuSVC) or getattr(estimator, "probability", False) is True:
        return False
    known = estimator.kernel in ("linear", "poly", "rbf") or kernels.is_known(estimator.kernel)
    return known and d >= MANY_COLUMNS and 8 * n * n * (1 + n_threads()) <= MOST_BYTES


@dataclass(frozen=True, eq=False)
class Trained:
    """A machine of some rows, and the linear filter that was trained on them with it, if any."""

    machine: KernelMachine
    linear: Filter | None


#: Places of the support vectors, their weights, the bias, and the outputs for all rows.
Solution = tuple[Fold, NDArray[np.float64], float, NDArray[np.float64]]


class Products:
    """The dot products of all rows, and what is trained on parts of them.

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
        self.rows = np.asarray(X if isinstance(given, str) else given.embed(X), dtype=np.float64)
        rows = self.rows
        if _is_radial(given):  # distances stay, and less of them cancels
            rows = rows - rows.mean(axis=0)
        self.products = rows @ rows.T
        self.weights: NDArray[Any] | None = None  # of the rows in the filter of them all
        self.known: tuple[Any, NDArray[np.float32]] | None = None

    def train(self, fold: Fold, linear_filter: bool = False) -> Trained:
        """Return the machine of some of the rows, with its filter if one is wanted."""
        estimator, kernel = self.estimator, self.estimator.kernel
        if isinstance(kernel, str):
            gamma = gamma_for(estimator.gamma, self.X[fold])
            kernel = named_kernel(kernel, gamma, estimator.degree, estimator.coef0)
        support, beta, bias, outputs = self._solved(fold, kernel) or self._by_libsvm(fold, kernel)
        machine = KernelMachine(self.X[fold[support]], beta, bias, kernel)
        return Trained(machine, self.filter(fold, outputs) if linear_filter else None)

    def _solved(self, fold: Fold, kernel: Any) -> Solution | None:
        """Train by the compiled solver; None where it is not for this estimator, or did not end."""
        given = self.estimator
        if type(given) is not SVC or given.class_weight is not None or given.max_iter != -1:
            return None
        K = self._values(kernel)
        diagonal = np.ascontiguousarray(np.diag(K))
        if not float(np.abs(diagonal).max()) < LARGEST:
            return None
        taken, side = np.zeros(len(self.y), dtype=bool), self.y.astype(np.float64)
        taken[fold] = True
        exact, beta = np.empty(len(K)), np.empty(len(K))
        intercept, is_solved = train_part(
            K, diagonal, side, taken, float(given.C), float(given.tol), STEPS * len(side), exact,
            beta,
        )  # fmt: skip
        own = beta[fold]
        support = np.flatnonzero(own)
        if not (is_solved and len(support)):
            return None
        return support, own[support], -intercept, (side - exact[: len(side)])[fold] + intercept

    def _values(self, kernel: Any) -> NDArray[np.float32]:
        """Kernel values of all rows in float32, filled up with zeros; the last ones are kept."""
        if self.known is not None and self.known[0] == kernel:
            return self.known[1]
        n = len(self.products)
        K = np.zeros((-(-n // PAD) * PAD,) * 2, dtype=np.float32)
        K[:n, :n] = _of_products(kernel.plain, self.products.copy(), np.float32)
        self.known = (kernel, K)
        return K

    def _by_libsvm(self, fold: Fold, kernel: Any) -> Solution:
        K = _of_products(kernel.plain, self.products[np.ix_(fold, fold)])
        svc = clone(self.estimator).set_params(kernel="precomputed").fit(K, self.y[fold])
        order = np.argsort(svc.support_, kind="stable")  # file order
        support, beta = svc.support_[order], svc.dual_coef_.ravel()[order]
        bias = -float(svc.intercept_[0])
        return support, beta, bias, beta @ K[support] - bias

    def filter(self, fold: Fold, outputs: NDArray[Any]) -> Filter | None:
        """Return the filter of some of the rows, given the machine's output for each."""
        side, exact = np.zeros(len(self.y)), np.zeros(len(self.y))
        side[fold], exact[fold] = self.y[fold], outputs
        found, weights = filter_of_products(self.centred, self.rows, side, exact, self.weights)
        if len(fold) == len(self.y):
            self.weights = weights
        return found

    @cached_property
    def centred(self) -> NDArray[np.float32]:
        """Products of the rows about their mean: a filter needs no more digits."""
        mean = self.products.mean(axis=0)
        found = self.products - mean
        found -= (mean - mean.mean())[:, None]
        return found.astype(np.float32)


def _is_radial(kernel: Any) -> bool:
    return kernel == "rbf" if isinstance(kernel, str) else kernel.plain.code[0] == RADIAL


def _of_products(plain: Any, products: NDArray[np.float64], dtype: Any = float) -> NDArray[Any]:
    """Turn dot products of rows into values of a plain kernel."""
    kind, gamma, coef0, degree = plain.code
    if kind == RADIAL:
        squares = np.diag(products).copy()
        products *= -2.0
        products += squares[:, None]
        products += squares
        np.maximum(products, 0.0, out=products)
        products *= -gamma
        return np.exp(products.astype(dtype, copy=False))
    if kind == POLYNOMIAL:
        return kernels.power((gamma * products + coef0).astype(dtype, copy=False), degree)
    return products
