"""The machines of Burges and Schoelkopf's tables: ORIG, VSV and RS of each digit of MNIST."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC

from kmviz import datasets
from kmviz.kernels import Polynomial
from kmviz.machines import KernelMachine
from kmviz.machines.shared import union_of
from kmviz.methods.progress import part, report
from kmviz.methods.reduced.threshold import bayes_threshold
from kmviz.methods.reduction.path import grow
from kmviz.methods.reduction.shared import outputs, share
from kmviz.methods.reduction.space import space_of
from kmviz.methods.transforms import Straighten
from kmviz.methods.virtual import VirtualSVClassifier

KERNEL = Polynomial(degree=5, gamma=1.0, coef0=0.0)
COST = 10.0
FEWER = 50
QUICK_DIGITS = 10_000

#: Steps of the descent that moves all vectors of a machine together: of one digit against the
#: rest, and of 3 against 8. Moving the shared vectors of ten machines once more lowers rho, but
#: not the errors on training digits that were held out; so they stay.
STEPS, PAIR_STEPS = 150, 500

#: Above this many rows training goes in chunks, so that no whole kernel matrix is held.
CHUNKS_FROM = 15_000


@dataclass(frozen=True, eq=False)
class System:
    """The three machines of one binary problem, and their outputs of the test rows."""

    orig: KernelMachine
    vsv: KernelMachine
    rs: KernelMachine
    rho: float
    bayes: float
    f_test: dict[str, NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class TenClasses:
    """Ten systems, and ten machines on the vectors of all."""

    systems: tuple[System, ...]
    shared: list[KernelMachine]
    shared_rho: NDArray[np.float64]
    f_shared: NDArray[np.float64]


def unit_length(X: NDArray[Any]) -> NDArray[np.float32]:
    """Return images as float32 rows of length 1."""
    rows = X.astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def build(
    X: NDArray[Any], y: NDArray[np.bool_], X_test: NDArray[Any], steps: int = STEPS,
    size: int | None = None,
) -> System:  # fmt: skip
    """Train ORIG and VSV and reduce to RS, as the paper does; y is True for the digit.

    RS has `size` vectors, or fifty times fewer than VSV.
    """
    with part(0.0, 0.3, "ORIG"):
        orig = _trained(X, y)
    with part(0.3, 0.6):
        virtual = VirtualSVClassifier(
            FrozenEstimator(orig), image_shape=(28, 28), keep_original=False
        ).fit(X[:2])
    first, vsv = cast(KernelMachine, virtual.original_), virtual.machine_
    known = {
        name: machine.decision_function(X_test, dtype=np.float32).astype(np.float64)
        for name, machine in (("orig", first), ("vsv", vsv))
    }
    found = System(first, vsv, vsv, 0.0, vsv.bias, known)
    with part(0.6, 1.0):
        return resized(found, size or max(1, vsv.n_vectors // FEWER), X, y, X_test, steps)


def resized(
    system: System, n: int, X: NDArray[Any], y: NDArray[np.bool_], X_test: Any, steps: int = STEPS
) -> System:
    """Return a system with its VSV reduced to n vectors."""
    vsv = system.vsv
    path = grow(vsv, space_of(KERNEL, vsv.vectors), [min(n, vsv.n_vectors)], max_iter=steps)
    rs = path.machine(path.n_vectors)
    sums = rs.decision_function(X, dtype=np.float32).astype(np.float64) + rs.bias
    f_rs = rs.decision_function(X_test, dtype=np.float32).astype(np.float64)
    return replace(
        system,
        rs=rs,
        rho=float(path.rho[-1]),
        bayes=bayes_threshold(sums, y, rs.bias),
        f_test=system.f_test | {"rs": f_rs},
    )


def _trained(X: NDArray[Any], y: NDArray[np.bool_]) -> SVC:
    """Train an SVM; on many rows in chunks (Vapnik): on those that violate the margin so far."""
    svc = SVC(kernel=KERNEL, C=COST)
    if len(X) <= CHUNKS_FROM:
        return svc.fit(X, y)
    side = np.where(y, 1.0, -1.0)
    taken = np.arange(QUICK_DIGITS)
    for turn in range(10):
        report(turn / 10, f"turn {turn + 1}, {len(taken):,} of {len(X):,} rows")
        svc.fit(X[taken], y[taken])
        machine = KernelMachine.from_estimator(svc)
        margin = side * machine.decision_function(X, dtype=np.float32)
        violating = np.setdiff1d(np.flatnonzero(margin < 1.0 - 2e-3), taken)
        if len(violating) == 0:
            break
        worst = violating[np.argsort(margin[violating], kind="stable")[:6000]]
        taken = np.sort(np.concatenate([taken[svc.support_], worst]))
    return svc


def prepared(X: NDArray[Any], upright: bool) -> NDArray[np.float32]:
    """Return images at unit length, straightened before if `upright`."""
    return unit_length(Straighten((28, 28))(X) if upright else X)


@lru_cache(maxsize=2)
def ten_classes(n_train: int, upright: bool = False, size: int | None = None) -> TenClasses:
    """Build the ten systems of the first training digits once; the tables read them."""
    data = datasets.load("mnist")
    X, X_test = prepared(data.X_train[:n_train], upright), prepared(data.X_test, upright)
    y = data.y_train[:n_train]
    systems = []
    for digit in range(10):
        with part(digit / 10, (digit + 1) / 10, f"digit {digit}"):
            systems.append(build(X, y == digit, X_test, size=size))
    return together(tuple(systems), X_test)


def together(systems: tuple[System, ...], X_test: NDArray[Any]) -> TenClasses:
    """Let the systems share their reduced vectors."""
    Z = union_of([system.rs for system in systems])[0]
    virtual = [system.vsv for system in systems]
    shared, rho = share(virtual, Z, space_of(KERNEL, Z))
    return TenClasses(systems, shared, rho, outputs(shared, X_test).T)
