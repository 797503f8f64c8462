"""Nearest support vectors on MNIST pairs: time against SVC and float32 BLAS.

Machines as in the paper (first 4,000 digits, normalised (u.v + 1)^9, C = 10),
calibrated on digits they have not seen. SVC is timed with its own `poly` kernel on embedded
rows, which is its fastest form.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from kmviz.papers.nsv import machine_of
from sklearn.frozen import FrozenEstimator

from kmviz.evaluation.cost import step_summary, timing_table
from kmviz.machines import KernelMachine
from kmviz.methods.nsv import NSVClassifier

#: Full and quick runs differ in repeats alone, and store the same tables.
ONE_SIZE = True

WAYS: dict[str, dict[str, Any]] = {
    "NSV, tug of war": {"order": "tug_of_war"},
    "NSV, nearest": {},
    "NSV, from the approximation": {"start": "approximate"},
    "NSV, from reduced vectors": {"start": "reduced"},
}

#: Digits that the machine has not seen, which set the thresholds.
CALIBRATING = 4_000


def speed(pair: tuple[int, int], quick: bool) -> pd.DataFrame:
    """Time every way of answering a pair's test digits, in one run."""
    svc, rows = machine_of(pair, 4_000)
    queries = np.ascontiguousarray(rows["test"], dtype=np.float32)
    machine = KernelMachine.from_estimator(svc)
    exact = machine.decision_function(queries) > 0
    fitted = {
        name: NSVClassifier(FrozenEstimator(svc), random_state=0, **options).fit(
            rows["train"], X_calibration=rows["rest"][:CALIBRATING]
        )
        for name, options in WAYS.items()
    }
    ways = {
        "SVC": svc.decision_function,
        "float32 BLAS": partial(machine.decision_function, dtype=np.float32),
        **{name: clf.decision_function for name, clf in fitted.items()},
    }
    table = timing_table(ways, queries, repeats=3 if quick else 7)
    for kind in ("batch", "single"):
        blas = table.loc["float32 BLAS", f"{kind}_us"]
        table[f"{kind}_vs_blas"] = blas / table[f"{kind}_us"]
    for name, clf in fitted.items():
        counted = step_summary(clf.steps(queries), machine.n_vectors, clf.overhead_)
        for column, value in counted.items():
            table.loc[name, column] = value
        table.loc[name, "disagreements"] = np.sum((clf.decision_function(queries) > 0) != exact)
    table["m"], table["queries"] = machine.n_vectors, len(queries)
    return table


def tables(quick: bool = True) -> dict[str, pd.DataFrame]:
    """Return the speed tables."""
    pairs = ((3, 8), (4, 9), (2, 7), (0, 1))
    return {f"nsv_{a}v{b}": speed((a, b), quick) for a, b in pairs}
