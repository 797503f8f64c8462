"""What fitting costs: NSV beside the training of its machine, MNIST 3 against 8, 2,000 digits.

Cross-fitting trains ten machines more, and as many filters. `times_svc` is the CPU time of the
whole `fit`, training included, over that of `SVC.fit` with the same kernel, in one run.
"""

from __future__ import annotations

import pandas as pd
from sklearn.svm import SVC

from kmviz import NSVClassifier, datasets
from kmviz.evaluation.cost import cpu_seconds, one_thread
from kmviz.kernels import Normalized, Polynomial

#: Full and quick runs differ in repeats alone, and store the same table.
ONE_SIZE = True

MACHINES = {
    "RBF, C = 1": SVC(),
    "RBF, C = 10": SVC(C=10.0),
    "normalised (u.v + 1)^9, C = 10": SVC(kernel=Normalized(Polynomial(9)), C=10.0),
}


def tables(quick: bool = True) -> dict[str, pd.DataFrame]:
    """Return one row for each machine and start."""
    repeats = 1 if quick else 5
    data = datasets.load("mnist", pair=(3, 8), n=2_000).scaled()
    X, y = data.X_train, data.y_train
    found = []
    with one_thread():
        for name, svc in MACHINES.items():
            base = cpu_seconds(lambda svc=svc: svc.fit(X, y), repeats)
            for start in ("empty", "approximate", "reduced"):
                clf = NSVClassifier(svc, start=start, random_state=0)
                seconds = cpu_seconds(lambda clf=clf: clf.fit(X, y), repeats)
                found.append(
                    {"machine": name, "m": len(svc.support_), "start": start, "svc_seconds": base,
                     "seconds": seconds, "times_svc": seconds / base}
                )  # fmt: skip
    return {"fit": pd.DataFrame(found)}
