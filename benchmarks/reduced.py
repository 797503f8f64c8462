"""Virtual support vectors and reduced sets: speed, optimisation.

`tables(quick)` returns a frame a table. Times are CPU time on one thread, as ratios in one run.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from sklearn.frozen import FrozenEstimator
from sklearn.preprocessing import Normalizer
from sklearn.svm import SVC

from kmviz import NSVClassifier, ReducedSetClassifier, VirtualSVClassifier, datasets
from kmviz.evaluation.cost import one_thread, timing_table
from kmviz.kernels import Polynomial
from kmviz.machines import KernelMachine
from kmviz.methods.reduction.basis import Basis
from kmviz.methods.reduction.objective import Distance
from kmviz.methods.reduction.path import move_together, target_of
from kmviz.methods.reduction.search import best_start
from kmviz.methods.reduction.space import space_of

KERNEL = Polynomial(degree=5, gamma=1.0, coef0=0.0)


def tables(quick: bool) -> dict[str, pd.DataFrame]:
    """Return every table of this method."""
    return {
        "reduced_speed": speed(quick),
        "reduced_optimisation": optimisation(quick),
        "reduced_shared": shared(quick),
    }


def speed(quick: bool) -> pd.DataFrame:
    """MNIST 3 against 8: ORIG, VSV, RS at 50 times fewer vectors, and NSV over RS.

    The first row is `SVC.decision_function` of VSV with the string kernel, the second the same
    machine in float32 BLAS: what a user has, and what any claim should be measured against.
    """
    data = datasets.load("mnist", pair=(3, 8), n=3000 if quick else None)
    unit = Normalizer().fit_transform
    X, X_test = (unit(rows.astype(np.float32)) for rows in (data.X_train, data.X_test))
    vsv = VirtualSVClassifier(
        SVC(kernel=KERNEL, C=10.0), image_shape=(28, 28), keep_original=False
    ).fit(X, data.y_train)
    machine = vsv.machine_
    by_string = SVC(kernel="poly", degree=5, gamma=1.0, coef0=0.0, C=10.0, cache_size=1000)
    svc = by_string.fit(machine.vectors, np.where(machine.beta > 0, 8, 3))
    frozen = FrozenEstimator(vsv)
    rs = ReducedSetClassifier(frozen, n_vectors=1 / 50, threshold="bayes").fit(X)
    sequential = ReducedSetClassifier(frozen, n_vectors=1 / 50, sequential=True).fit(X)
    nsv = NSVClassifier(FrozenEstimator(rs), random_state=0).fit(X)
    ways: dict[str, Any] = {
        "VSV by SVC": svc.decision_function,
        "VSV, float32 BLAS": lambda rows: machine.decision_function(rows, np.float32),
        "ORIG, float32 BLAS": lambda rows: vsv.original_.decision_function(rows, np.float32),
        "RS": rs.decision_function,
        "RS, sequential": sequential.decision_function,
        "NSV over RS": nsv.decision_function,
    }
    frame = timing_table(ways, X_test)
    for kind in ("batch", "single"):
        column = frame[f"{kind}_us"]
        frame[f"{kind}_vs_blas"] = column["VSV, float32 BLAS"] / column
    frame["errors"] = [
        int(np.sum((np.asarray(decide(X_test)) > 0) != (data.y_test == 8)))
        for decide in ways.values()
    ]
    m, orig = machine.n_vectors, vsv.original_.n_vectors
    few = rs.machine_.n_vectors
    means = [sequential.steps(X_test).mean(), nsv.steps(X_test).mean()]
    frame["vectors"] = [m, m, orig, few, *means]
    return frame.assign(rho=[np.nan] * 3 + [rs.rho_, sequential.rho_, np.nan])


def optimisation(quick: bool) -> pd.DataFrame:
    """Moving all vectors together on banana: analytic gradients, CG, and SciPy without any."""
    data = datasets.load("banana")
    svc = SVC(gamma=0.5, C=10.0).fit(data.X_train, data.y_train)
    machine = KernelMachine.from_estimator(svc)
    target = target_of(machine, space_of(machine.kernel, machine.vectors))
    n, steps, rows = 8 if quick else 20, 100, []
    for name in ("L-BFGS, analytic gradient", "CG, analytic gradient", "L-BFGS, no gradient given"):
        basis = Basis(target, n)
        while basis.n < n:
            basis.append(best_start(basis))
        with one_thread():
            start = time.process_time()
            if "no gradient" in name:
                distance = Distance(target)
                found = minimize(
                    lambda z, f=distance: f(z)[0], basis.vectors.ravel(), method="L-BFGS-B",
                    options={"maxiter": steps, "maxcor": 20, "maxfun": 10**6},
                )  # fmt: skip
            else:
                found = move_together(basis, "CG" if name[0] == "C" else "L-BFGS-B", steps)
            seconds = time.process_time() - start
        rho = float(np.sqrt(max(found.fun, 0.0)))
        rows.append((name, n, 2 * n, found.nit, found.nfev, rho, seconds))
    columns = ["optimiser", "vectors", "variables", "iterations", "evaluations", "rho", "seconds"]
    frame = pd.DataFrame(rows, columns=columns)
    frame["times_slower"] = frame["seconds"] / frame["seconds"].iloc[0]
    return frame.drop(columns="seconds").set_index("optimiser")


def shared(quick: bool) -> pd.DataFrame:
    """Ten classes, 45 pairs: vectors of each pair's own, and vectors that all pairs share.

    `vectors` are kernel values a query, `overhead` what all the weighted sums cost beside, in
    kernel values. SVC computes each of its support vectors once, for all pairs.
    """
    data = datasets.load("digits")
    X, X_test = data.X_train.astype(np.float64), data.X_test.astype(np.float64)
    svc = SVC(gamma=0.001, C=10.0).fit(X, data.y_train)
    ways, fitted = {"SVC": svc.decision_function}, {}
    for n in (1, 2) if quick else (1, 2, 4, 8):
        for is_shared in (False, True):
            name = f"{n} a pair, {'shared' if is_shared else 'their own'}"
            reduced = ReducedSetClassifier(FrozenEstimator(svc), n_vectors=n, shared=is_shared)
            fitted[name] = reduced.fit(X)
            ways[name] = fitted[name].decision_function
    frame = timing_table(ways, X_test)
    exact = svc.predict(X_test)
    few = fitted.values()
    frame["vectors"] = [len(svc.support_), *(clf.steps(X_test[:1])[0] for clf in few)]
    frame["overhead"] = [np.nan, *(clf.overhead_ for clf in few)]
    frame["rho"] = [np.nan, *(clf.rho_.mean() for clf in few)]
    answers = [exact, *(clf.predict(X_test) for clf in few)]
    frame["disagreement"] = [float(np.mean(given != exact)) for given in answers]
    frame["error"] = [float(np.mean(given != data.y_test)) for given in answers]
    return frame
