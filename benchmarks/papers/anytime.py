"""DeCoste (2003), "Anytime Query-Tuned Kernel Machine Classifiers Via Cholesky Factorization".

Table 2: normalised polynomial kernels, queries are the training rows themselves, no switch to
the exact sum. Sonar and Haberman as they are, MNIST the 10,000 test digits over 255. The rows
"sgma" of Sonar and Haberman are DeCoste (2002) as quoted in section 5; "mean_lh_n" and "spectral"
have no row in the paper. All of it takes less than a minute, so `full` changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pandas as pd
from kmviz.papers.minimax import MinimaxProbabilityClassifier
from kmviz.papers.published import read_published
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC

from kmviz import datasets
from kmviz.evaluation.cost import cpu_seconds, one_thread
from kmviz.kernels import Normalized, Polynomial
from kmviz.loops.kernel import machine_outputs
from kmviz.machines import (
    KernelFisherClassifier,
    KernelMachine,
)
from kmviz.methods.anytime import AnytimeClassifier

Progress = Callable[[float, str], None] | None

#: Tolerances of the solver: scikit-learn's own, and looser ones.
TOLERANCES = (1e-3, 1e-2, 1e-1)


@dataclass(frozen=True)
class Case:
    """One column of table 2: data, degree, C, and what rows 5 and 6 say of the machine.

    `pair` are the digits, the positive class first: row 2 counts 1,135 positive rows of 0 against
    1, which are the ones.
    """

    degree: int
    C: float
    vectors: int
    at_bound: int
    positive: int
    pair: tuple[int, int] | None = None


CASES = {
    "sonar": Case(2, 1.0, 165, 153, 81),
    "haberman": Case(3, 1000.0, 180, 150, 79),
    "mnist 3v8": Case(2, 2.0, 262, 71, 132, (3, 8)),
    "mnist 0v1": Case(2, 2.0, 76, 1, 24, (1, 0)),
}

#: Rows 11 to 42 of table 2: k and m / k as printed. Haberman's 42.2 and 44.5 come of unrounded
#: means. The means of sgma are from section 5.
PUBLISHED = read_published("anytime_table_2").set_index("order", append=True)

#: The paper's orders, and two without a row in it.
ORDERS = ("given", "sgma", "min_wz", "min_wz_n", "mean_lh_n", "hybrid", "spectral")


def rows_of(name: str) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return the rows and labels of a column of table 2."""
    pair = CASES[name].pair
    if pair is None:
        data = datasets.load(name, whole=True)
        return data.X_train, data.y_train
    data = datasets.load("mnist", pair=(min(pair), max(pair)))
    return data.X_test / 255.0, np.where(data.y_test == pair[0], 1, -1)


def kernel_of(name: str) -> Normalized:
    """Return row 3: the normalised (u.v + 1)^p."""
    return Normalized(Polynomial(degree=CASES[name].degree, gamma=1.0, coef0=1.0))


@lru_cache(maxsize=8)
def trained(name: str, tol: float = 1e-3) -> SVC:
    """Return the SVM of a column of table 2."""
    return SVC(kernel=kernel_of(name), C=CASES[name].C, tol=tol).fit(*rows_of(name))


def measured(estimator: Any, order: str, X: NDArray[np.float64]) -> dict[str, float]:
    """Run one order on its own training rows: k, signs kept, and how well the bounds hold."""
    clf = AnytimeClassifier(FrozenEstimator(estimator), order=order, random_state=0).fit(X)
    exact, steps = clf.machine_.decision_function(X), clf.steps(X)
    lower, upper = clf.bounds(X)
    outside = np.maximum(lower - exact[:, None], exact[:, None] - upper)
    scale = np.maximum(np.abs(exact), 1e-12)[:, None]
    return {
        "min": float(steps.min()),
        "mean": float(steps.mean()),
        "median": float(np.median(steps)),
        "max": float(steps.max()),
        "speedup": clf.machine_.n_vectors / float(steps.mean()),
        "signs_changed": int(np.sum((clf.decision_function(X) > 0) != (exact > 0))),
        "worst_violation": max(float((outside / scale).max()), 0.0),
    }


def table2(full: bool = False, progress: Progress = None) -> pd.DataFrame:
    """Kernel values k until the sign is certain: table 2, rows 11 to 42 and three more orders.

    `paper` and `ours` are the mean k, `difference` ours over theirs; min, median, max and m / k
    (the paper's as printed) stand beside it. Means differ by more than a fifth where the machine
    does: 3 against 8 has 335 vectors here and 262 there, 0 against 1 has 83, of which 39 are
    positive, and 76, of which 24 are.
    `worst_violation` is how far f(x) ever lay outside its interval, as a share of |f(x)|.
    """
    rows = []
    for i, name in enumerate(CASES):
        X, _ = rows_of(name)
        for j, order in enumerate(ORDERS):
            if progress:
                progress((7 * i + j) / 28, f"{name}, {order}")
            if order == "spectral" and CASES[name].degree != 2:
                continue
            found = measured(trained(name), order, X)
            printed = PUBLISHED.reindex([(name, order)]).iloc[0]
            rows.append({
                "data": name, "order": order, "paper": printed["mean"], "ours": found["mean"],
                "min_paper": printed["min"], "min_ours": found["min"],
                "median_paper": printed["median"], "median_ours": found["median"],
                "max_paper": printed["max"], "max_ours": found["max"],
                "difference": found["mean"] / printed["mean"] - 1.0,
                "speedup_paper": printed["speedup"],
                "speedup_ours": found["speedup"],
                "signs_changed": found["signs_changed"],
                "worst_violation": found["worst_violation"],
            })  # fmt: skip
    return pd.DataFrame(rows)


def machines(full: bool = False, progress: Progress = None) -> pd.DataFrame:
    """The trained machines: table 2, rows 5 and 6."""
    rows = []
    for name, case in CASES.items():
        machine = KernelMachine.from_estimator(trained(name))
        bound = int(np.sum(np.abs(machine.beta) >= case.C * (1 - 1e-6)))
        for quantity, paper, ours in (
            ("support vectors", case.vectors, machine.n_vectors),
            ("of these at C", case.at_bound, bound),
            ("of these positive", case.positive, int(np.sum(machine.beta > 0))),
        ):
            rows.append({"data": name, "quantity": quantity, "paper": paper, "ours": ours})
    return pd.DataFrame(rows)


def fisher(full: bool = False, progress: Progress = None) -> pd.DataFrame:
    """Footnote 6: machines with all weights non-zero "often" gain more than SVMs.

    The paper names kernel Fisher discriminants and gives no figure. `ours` says whether m / k of
    the Fisher machine is the greater; a minimax probability machine stands beside it.
    """
    rows = []
    names = list(CASES) if full else ["sonar", "haberman", "mnist 0v1"]
    for i, name in enumerate(names):
        if progress:
            progress(i / len(names), name)
        X, y = rows_of(name)
        machine = KernelFisherClassifier(kernel_of(name)).fit(X, y)
        minimax = MinimaxProbabilityClassifier(kernel_of(name)).fit(X, y)
        svm, found, other = (
            measured(fitted, "min_wz", X) for fitted in (trained(name), machine, minimax)
        )
        rows.append({
            "data": name, "paper": "often greater",
            "ours": "greater" if found["speedup"] > svm["speedup"] else "smaller",
            "svm_speedup": svm["speedup"], "fisher_speedup": found["speedup"],
            "minimax_speedup": other["speedup"], "svm_k": svm["mean"], "fisher_k": found["mean"],
            "minimax_k": other["mean"], "fisher_m": len(X),
            "signs_changed": found["signs_changed"] + other["signs_changed"],
            "worst_violation": max(found["worst_violation"], other["worst_violation"]),
        })  # fmt: skip
    return pd.DataFrame(rows)


def tolerance(full: bool = False, progress: Progress = None) -> pd.DataFrame:
    """Whether a loose solver explains Haberman: its machine and mean k by the solver's tolerance.

    The paper has 180 vectors where a solver that is run to its end (tolerance .001) leaves fewer.
    No other table takes a tolerance that is chosen for what it gives here.
    """
    case, (X, _) = CASES["haberman"], rows_of("haberman")
    rows: list[dict[str, Any]] = []
    for tol in TOLERANCES:
        svc = trained("haberman", tol)
        machine = KernelMachine.from_estimator(svc)
        bound = int(np.sum(np.abs(machine.beta) >= case.C * (1 - 1e-6)))
        figures: list[tuple[str, float | None, float]] = [
            ("support vectors", case.vectors, machine.n_vectors), ("at C", case.at_bound, bound),
        ]  # fmt: skip
        for order in ("given", "min_wz", "min_wz_n", "hybrid"):
            if progress:
                progress(len(rows) / (6 * len(TOLERANCES)), f"tolerance {tol:g}, {order}")
            paper = PUBLISHED.loc[("haberman", order), "mean"]
            figures.append((f"mean k, {order}", paper, measured(svc, order, X)["mean"]))
        rows += [
            {"tolerance": tol, "quantity": quantity, "paper": paper, "ours": ours}
            for quantity, paper, ours in figures
        ]
    return pd.DataFrame(rows).assign(data="haberman")


def overhead(full: bool = False, progress: Progress = None) -> pd.DataFrame:
    """What a step costs beyond its kernel value, as a share of one: "typically under 25%".

    CPU time on one thread in one run: of the bounds per step, over that of the same compiled
    kernel summed over all support vectors, per vector. A step k also sums over k - 1 coordinates,
    so that the share rises with k / d.
    """
    rows: list[dict[str, Any]] = []
    for name in CASES:
        if progress:
            progress(len(rows) / (2 * len(CASES)), name)
        X, machine = rows_of(name)[0], KernelMachine.from_estimator(trained(name))
        with one_thread():
            value = _seconds_of_a_value(machine, X)
            for order in ("given", "min_wz"):
                clf = AnytimeClassifier(FrozenEstimator(trained(name)), order=order).fit(X)
                steps = float(clf.steps(X).mean())
                step = cpu_seconds(partial(clf.decision_function, X)) / (len(X) * steps)
                rows.append({
                    "data": name, "order": order, "columns": X.shape[1], "mean_k": steps,
                    "paper": 0.25, "ours": step / value - 1.0,
                })  # fmt: skip
    return pd.DataFrame(rows)


def _seconds_of_a_value(machine: KernelMachine, X: NDArray[np.float64]) -> float:
    """Return the CPU seconds of one kernel value in a compiled sum over all vectors."""
    rows, (vectors, _) = machine.kernel.embed(X), machine.embedded(np.dtype(np.float64))
    out = np.empty(len(X))
    ask = partial(
        machine_outputs, *machine.kernel.code, rows, vectors, machine.beta, machine.bias, out
    )
    return cpu_seconds(ask) / (len(X) * machine.n_vectors)


TABLES: dict[str, Callable[..., pd.DataFrame]] = {
    "table2": table2,
    "machines": machines,
    "fisher": fisher,
    "tolerance": tolerance,
    "overhead": overhead,
}
