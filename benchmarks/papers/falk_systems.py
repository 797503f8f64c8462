"""Experiments 2 and 3 of Segata and Blanzieri (2010) with every system they measured, in one run.

The paper prints experiment 2 (tables 5 to 7: FkNN, LibSVM and the FaLK-SVMs at one size of each
set) and draws experiment 3 (figures 3 to 8), so that of the rivals nothing stands beside ours.

Every system chooses for itself, on the rows it is trained on, 300 of them at most (of a full run
3,000), by a walk from LibSVM's C and gamma that a third of them judges; FkNN its k, LIBLINEAR its
C. What is chosen on few rows serves all larger sizes, as in the paper. FkNN, FaLK-SVM and FaLK-SVMc
take up to ten times as many rows: what suits a neighbourhood changes as it shrinks. Both FaLK-SVMs
walk from k = 125 too; FaLK-SVMl chooses inside its fit, the only choice that is timed.
SVM-B has bags of a twentieth of the middle size, SVM-Bs of a twentieth of each. CPSP, SpSVM and
Nystroem have 100 vectors, where the paper lets CPSP have 1,000; the core set of CVM has 5,000 at
most, where the paper's has 50,000. Whatever keeps kernel values keeps 100 MB of them, as there.
The paper goes on to 100,000 rows and more; 50,000 are what nearly every system ends on in minutes.

Some train faster than FaLK-SVM because they do less: FkNN only builds an index, LIBLINEAR knows no
kernel, SVM-B sees 101 bags of the same few rows however many there are, the subsample a tenth of
them. Their accuracy is beside them.

Training sets are the beginnings of one another, and all answer the same test rows. They run
in a process of their own; a system that is not done when its time is up (FULL_SECONDS of CPU for
each size, its own choice of parameters with it) is ended, and its row says so; the larger sizes of
that set it is not given. Nor is one that would take longer if it went on growing as between the two
sizes before. A set with fewer rows than the largest size is taken whole.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from kmviz.papers.climb import climbed, held_out_score
from kmviz.papers.falk_data import (
    SIZES,
    SVC_PARAMETERS,
    TABLE_5,
    Rows,
    large_rows,
)  # fmt: skip
from kmviz.papers.limits import within
from kmviz.papers.parts import part
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import SVC, LinearSVC

from kmviz import loops
from kmviz.evaluation.cost import one_thread
from kmviz.methods.falk import FaLKClassifier
from kmviz.methods.rivals import (
    BaggedSVMClassifier,
    CoreVectorClassifier,
    CPSPClassifier,
    LaSVMClassifier,
    RampSVMClassifier,
    SparseSVMClassifier,
    SubsampledSVC,
)  # fmt: skip

Progress = Callable[[float, str], None] | None

#: Training rows, quick and full; test rows; CPU seconds that a system is given for each size.
ROWS, FULL_ROWS = (300, 1_200), (1_000, 10_000, 50_000)
QUERIES, FULL_QUERIES = 4_000, 10_000
SECONDS, FULL_SECONDS = 10.0, 600.0

#: CPU seconds from which on the clock is believed: what takes less is done again.
CLOCK = 0.02

#: Rows that parameters are chosen on, quick and full.
CHOOSING, FULL_CHOOSING = 300, 3_000

#: k that FaLK-SVM starts from, and the least that FaLK-SVMl tries.
K = 125

#: Those that choose on ten times the rows.
LOCAL = ("FkNN", "FaLK-SVM", "FaLK-SVMc")

#: Vectors of CPSP, SpSVM and Nystroem.
VECTORS = 100

COLUMNS = [
    "data", "rows", "method", "paper", "ours", "train", "test", "train_vs_libsvm",
    "test_vs_libsvm", "vectors", "C", "gamma", "note",
]  # fmt: skip


def systems(bag: int) -> dict[str, Any]:
    """Return the systems of the experiments by the paper's names, and three that it has not.

    Parameters
    ----------
    bag : int
        Rows of a bag of SVM-B, which stays the same as the training set grows.
    """
    seed: dict[str, Any] = {"random_state": 0}
    mapped = Nystroem(n_components=VECTORS, random_state=0)
    return {
        "LibSVM": SVC(cache_size=100),
        "FkNN": KNeighborsClassifier(algorithm="kd_tree"),
        "FaLK-SVM": FaLKClassifier(K, **seed),
        "FaLK-SVMc": FaLKClassifier(K, select="center", **seed),
        "FaLK-SVMl": FaLKClassifier(K, tune=True, **seed),
        "LASVM": LaSVMClassifier(epochs=1, **seed),
        "CVM": CoreVectorClassifier(**seed),
        "BVM": CoreVectorClassifier("enclosing", **seed),
        "USVM": RampSVMClassifier(),
        "CPSP": CPSPClassifier(VECTORS, **seed),
        "SVM-B": BaggedSVMClassifier(max_samples=bag, **seed),
        "SVM-Bs": BaggedSVMClassifier(max_samples=0.05, **seed),
        "SpSVM": SparseSVMClassifier(VECTORS, **seed),
        "LIBLINEAR": LinearSVC(random_state=0),
        "subsample, a tenth": SubsampledSVC(0.1, **seed),
        "Nystroem": make_pipeline(mapped, LinearSVC(random_state=0)),
    }


def chosen(method: str, clf: Any, C: float, gamma: float, X: Any, y: Any) -> dict[str, Any]:
    """Return the parameters that a system finds best on a third of the rows."""
    if method == "FaLK-SVMl":  # it chooses in its fit
        return {}
    score = held_out_score(clf, X, y)
    if method == "FkNN":
        return climbed(score, {"n_neighbors": 4}, {"n_neighbors": 2})
    if method == "LIBLINEAR":
        return climbed(score, {"C": 1.0}, {"C": 4})
    if method in LOCAL:
        start = {"gamma": gamma, "C": C, "n_neighbors": K}
        return climbed(score, start, {"gamma": 4, "C": 4, "n_neighbors": 2})
    width, cost = ("gamma", "C") if method != "Nystroem" else ("nystroem__gamma", "linearsvc__C")
    return climbed(score, {width: gamma, cost: C}, {width: 4, cost: 4})


def rivals(full: bool = False, progress: Progress = None) -> pd.DataFrame:
    """Experiments 2 and 3 with all rivals: accuracy and times of every system on the same rows.

    One thread, one run. `paper` is table 5 where the training set has its size; `train` and `test`
    are CPU seconds, `..._vs_libsvm` times faster than LibSVM; `vectors` are kernel values per
    query, `C` and `gamma` what the system chose; `note` says what did not come to its end. A quick
    run takes 300 and 1,200 rows, 4,000 queries and 10 CPU seconds for each system and size, `full`
    1,000, 10,000 and 50,000 rows (or all of them), 10,000 queries and 600 seconds: a system that
    takes longer is cut off, where the paper lets it run for hours.
    """
    sizes, seconds = (FULL_ROWS, FULL_SECONDS) if full else (ROWS, SECONDS)
    for module in loops.modules():
        loops.warm(module)  # or every process would compile what it uses
    frames, choosing = [], FULL_CHOOSING if full else CHOOSING
    for done, name in enumerate(SVC_PARAMETERS):
        rows = large_rows(name, sizes[-1], FULL_QUERIES if full else QUERIES)
        if rows is not None:
            make = partial(_set, name, rows, sizes, seconds, choosing)
            frames.append(part(f"rivals_{name}_{sizes[-1]}", make))
        if progress:
            progress((done + 1) / len(SVC_PARAMETERS), name)
    return pd.concat(frames, ignore_index=True)[COLUMNS]


def _set(
    name: str, rows: Rows, sizes: tuple[int, ...], seconds: float, choosing: int
) -> pd.DataFrame:
    """Measure every system on growing training sets of one kind."""
    sizes = tuple(sorted({min(n, len(rows[0])) for n in sizes}))
    made = systems(int(0.05 * sizes[len(sizes) // 2]))
    start = (*SVC_PARAMETERS[name], choosing, seconds)
    wanted, found = [(method, n) for method in made for n in sizes], []
    while wanted:
        done = within(seconds, measured_each, made, start, rows, wanted)
        found += done
        wanted = wanted[len(done) :]
        if wanted:  # the one that is next was cut off
            method, n = wanted[0]
            notes = {own: "on fewer rows" for own in sizes if own > n}
            notes = {n: f"after {seconds:.0f} CPU seconds"} | notes
            found += [
                {"method": method, "rows": own, "note": f"cut off {notes[own]}"} for own in notes
            ]
            wanted = [one for one in wanted if one[0] != method]
    frame = pd.DataFrame(found).reindex(columns=COLUMNS).sort_values("rows", kind="stable")
    for phase in ("train", "test"):
        own = frame[frame["method"] == "LibSVM"].set_index("rows")[phase]
        frame[f"{phase}_vs_libsvm"] = frame["rows"].map(own) / frame[phase]
    has_size = frame["rows"] == SIZES[name]
    return frame.assign(data=name, paper=frame["method"].map(TABLE_5[name]).where(has_size))


def measured_each(
    made: dict[str, Any], start: tuple[float, float, int, float], rows: Rows,
    wanted: list[tuple[str, int]],
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Yield what is measured of each wanted system and size.

    A system chooses when it begins, and again when there are more rows to choose on.

    Parameters
    ----------
    start : C and gamma that the choice begins with, the most rows that it rests on, and the
        CPU seconds: a size that is foreseen to take more is not tried
    """
    X, y, X_test, y_test = rows
    C, gamma, choosing, seconds = start
    clf, before = None, ("", 0)
    known: dict[str, list[tuple[int, float]]] = {}
    for method, n in wanted:
        expected = foreseen(known.setdefault(method, []), n)
        if expected > seconds:
            note = f"not tried: {expected:.0f} CPU seconds foreseen"
            yield {"method": method, "rows": n, "note": note}
            continue
        most = min(n, choosing * (10 if method in LOCAL else 1))
        if before != (method, most):
            best = chosen(method, made[method], C, gamma, X[:most], y[:most])
            clf, before = clone(made[method]).set_params(**best), (method, most)
        own = measured(clf, (X[:n], y[:n], X_test, y_test))
        known[method].append((n, own["train"] + own["test"]))
        yield {"method": method, "rows": n, **_parameters(clf), **own}


def foreseen(known: list[tuple[int, float]], n: int) -> float:
    """Return the seconds that n rows take if they grow as between the last two sizes known.

    Parameters
    ----------
    known : rows and seconds of smaller sizes; of fewer than two nothing is foreseen: 0.
    """
    if len(known) < 2:
        return 0.0
    (small, quick), (large, slow) = known[-2:]
    return float(slow * (n / large) ** (np.log(slow / quick) / np.log(large / small)))


def measured(clf: Any, rows: Rows) -> dict[str, Any]:
    """Return accuracy in percent, CPU seconds of training and of testing, vectors and a note."""
    X, y, X_test, y_test = rows
    with one_thread(), warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        clf.fit(X[:500], y[:500]).predict(X_test[:10])  # loads the compiled loops
        heard.clear()
        train = _seconds(lambda: clf.fit(X, y))[0]
        test, said = _seconds(lambda: clf.predict(X_test))
        vectors = _vectors(clf, X_test[:1000])
    return {
        "ours": 100.0 * float(np.mean(said == y_test)), "train": train, "test": test,
        "vectors": vectors, "note": str(heard[0].message) if heard else "",
    }  # fmt: skip


def _seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU seconds of one call, a mean over those that CLOCK needs, and its result."""
    start, times = time.process_time(), 0
    while not times or time.process_time() - start < CLOCK:
        result = call()
        times += 1
    return (time.process_time() - start) / times, result


def _vectors(clf: Any, X: NDArray[Any]) -> float:
    """Return kernel values per query; NaN where none are computed."""
    if isinstance(clf, Pipeline):
        return float(clf[0].n_components)
    if isinstance(clf, SVC):
        return float(len(clf.support_))
    return float(clf.steps(X).mean()) if hasattr(clf, "steps") else np.nan


def _parameters(clf: Any) -> dict[str, float]:
    """Return C and gamma as numbers; NaN where a system has none, or chooses in its fit."""
    given = clf.get_params()
    if given.get("tune"):
        given = {}
    cost, width = given.get("linearsvc__C", given.get("C")), given.get("nystroem__gamma")
    width = given.get("gamma") if width is None else width
    return {"C": float(cost or np.nan), "gamma": float(width or np.nan)}
