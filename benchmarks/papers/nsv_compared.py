"""What stands beside nearest support vectors in the paper's text: measured, on a few pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from kmviz.papers.generated import challenging_rows
from kmviz.papers.nsv_machines import (
    ALL_DIGITS,
    APPROXIMATE,
    FULL_DIGITS,
    KERNEL,
    QUICK_DIGITS,
    QUICK_PAIRS,
    SETTINGS,
    Pair,
    Progress,
    Row,
    calibrated,
    machine_of,
    measured,
    name_of,
)
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.neighbors import KNeighborsClassifier

from kmviz.machines import KernelMachine
from kmviz.methods.nsv import NSVClassifier
from kmviz.methods.reduced import ReducedSetClassifier

#: The k of the footnote's fixed-k rule.
FIXED = (1, 3, 10, 30, 100, 300)

#: One in how many support vectors is left of the machine, where a reduced set is walked.
FEWER = (5, 20)


def fixed_k(full: bool = False, progress: Progress = None) -> pd.DataFrame:
    """Footnote 5: the same k for every query, beside a k of its own for each.

    "Fixed-k NN does not work nearly as well as SVMs for MNIST." Three ways: the vote of the k
    nearest training digits; the sum over the k nearest support vectors, which is what nearest
    support vectors would say if all stopped at k; and nearest support vectors as published, with
    their mean k. `ours` are test errors. Quick: machines of 1,500 digits.
    """
    n_train = FULL_DIGITS if full else QUICK_DIGITS
    found: list[Row] = []
    for done, pair in enumerate(QUICK_PAIRS):
        _tell(progress, done, pair)
        found += [{"pair": name_of(pair)} | row for row in _fixed_rows(pair, n_train)]
    return pd.DataFrame(found)


def _fixed_rows(pair: Pair, n_train: int) -> list[Row]:
    svc, rows = machine_of(pair, n_train)
    clf = calibrated(pair, n_train, SETTINGS[ALL_DIGITS])
    reading, m = clf.study(rows["test"]).read(), clf.machine_.n_vectors
    partial = clf.refitted(order="nearest").engines_[0].record(rows["test"]).partial
    exact, positive = reading.exact > 0, rows["y_test"] == svc.classes_[1]

    def row(way: str, k: float, says: NDArray[np.bool_]) -> Row:
        counts = {"disagreements": int((says != exact).sum()), "paper": np.nan}
        return {"way": way, "k": k, "m": m} | counts | {"ours": int((says != positive).sum())}

    found = [row("exact SVM", m, exact)]
    found.append(row("nearest support vectors", reading.steps.mean(), reading.outputs > 0))
    for k in FIXED:
        voted = KNeighborsClassifier(k).fit(rows["train"], rows["y_train"])
        says = voted.predict(rows["test"]) == svc.classes_[1]
        found.append(row("k nearest training digits", k, says))
        found.append(row("k nearest support vectors, summed", k, partial[:, k] > 0))
    return found


def reduced_set(full: bool = False, progress: Progress = None) -> pd.DataFrame:
    """Section 5.3: nearest support vectors over a reduced set in place of the machine's own.

    The paper's attempts "did not seem to speedup NSV much". `speedup` is m of the whole machine
    over the mean k; `honest_speedup` counts ordering and approximation; `ours` are answers that
    differ from the whole machine's. 3 against 8; quick: a machine of 1,500 digits.
    """
    n_train, pair = FULL_DIGITS if full else QUICK_DIGITS, QUICK_PAIRS[0]
    _tell(progress, 0, pair)
    svc, rows = machine_of(pair, n_train)
    found = _over_rows(pair, "all support vectors", svc, n_train)
    for fewer in FEWER:
        size = round(len(svc.support_) / fewer)
        reduced = ReducedSetClassifier(FrozenEstimator(svc), n_vectors=size, random_state=0)
        reduced.fit(rows["train"])
        found += _over_rows(pair, f"1 in {fewer}, reduced", reduced, n_train)
    return pd.DataFrame(found)


def _over_rows(pair: Pair, name: str, model: Any, n_train: int) -> list[Row]:
    """A model's answers as they are, and by its nearest vectors."""
    svc, rows = machine_of(pair, n_train)
    m, exact = len(svc.support_), svc.decision_function(rows["test"]) > 0
    positive = rows["y_test"] == svc.classes_[1]
    found: list[Row] = []
    for way, start in (("from an empty sum", "empty"), (APPROXIMATE, "approximate")):
        clf = NSVClassifier(FrozenEstimator(model), start=start, random_state=0)
        clf.fit(rows["train"], X_calibration=rows["rest"])
        reading = clf.study(rows["test"]).read()
        told = measured(reading, m, positive)
        n = clf.machine_.n_vectors
        about = {"pair": name_of(pair), "vectors": name, "n_vectors": n}
        if not found:
            cost = {"steps_mean": n, "speedup": m / n, "honest_speedup": m / n}
            whole = about | {"way": "all of them", "errors": told["machine_errors"]} | cost
            found.append(whole | _beside(reading.exact > 0, exact))
        kept = {key: told[key] for key in ("errors", "steps_mean", "speedup", "honest_speedup")}
        found.append(about | {"way": way} | kept | _beside(reading.outputs > 0, exact))
    return found


def _beside(says: NDArray[np.bool_], exact: NDArray[np.bool_]) -> Row:
    return {"paper": np.nan, "ours": int((says != exact).sum())}


def generated(full: bool = False, progress: Progress = None) -> pd.DataFrame:
    """Section 5.2: thresholds from rows made to challenge them, beside digits that were drawn.

    Generated rows lie on the way from a cluster of support vectors of one class towards a training
    digit of the other, just across the border: as many as there are digits beside them. `ours` are
    disagreements. The paper had no need of them and gives no figure. Quick: machines of 1,500
    digits.
    """
    n_train = FULL_DIGITS if full else QUICK_DIGITS
    found = []
    for done, pair in enumerate(QUICK_PAIRS):
        _tell(progress, done, pair)
        svc, rows = machine_of(pair, n_train)
        positive, m = rows["y_test"] == svc.classes_[1], len(svc.support_)
        made = _made(pair, n_train)
        unseen = rows["rest"][:n_train]
        for name, digits in (
            ("the machine's own digits", rows["train"]),
            ("its own digits and generated rows", np.vstack([rows["train"], made])),
            ("digits it has not seen", unseen),
            ("unseen digits and generated rows", np.vstack([unseen, made])),
        ):
            for start in ("empty", "approximate"):
                clf = NSVClassifier(FrozenEstimator(svc), start=start, random_state=0)
                reading = clf.fit(rows["train"], X_calibration=digits).study(rows["test"]).read()
                told = measured(reading, m, positive)
                row = {"pair": name_of(pair), "calibrated on": name, "rows": len(digits)}
                row |= {"start": start, "speedup": told["speedup"]}
                row |= {"honest_speedup": told["honest_speedup"], "queries": len(positive)}
                found.append(row | {"paper": np.nan, "ours": told["disagreements"]})
    return pd.DataFrame(found)


def _made(pair: Pair, n_train: int) -> NDArray[Any]:
    """As many generated rows as training digits: means of pictures, which are then embedded."""
    svc, rows = machine_of(pair, n_train)
    machine = KernelMachine(
        _pictures(svc.support_vectors_), svc.dual_coef_.ravel(), -float(svc.intercept_[0]), KERNEL
    )
    return KERNEL.embed(challenging_rows(machine, _pictures(rows["train"]), n_train, 0))


def _pictures(embedded: NDArray[Any]) -> NDArray[Any]:
    """The pixels behind embedded rows, whose last column is 1 over their length."""
    return embedded[:, :-1] / embedded[:, -1:]


def _tell(progress: Progress, done: int, pair: Pair) -> None:
    if progress is not None:
        progress(done / len(QUICK_PAIRS), f"{pair[0]} against {pair[1]}")
