"""Experiment 3 of Segata and Blanzieri (2010) with every system it measured, in one run.

The paper draws this experiment (figures 3 to 8) and prints none of its figures, so nothing of it
stands beside ours. Every method takes C and gamma of LibSVM on that set, where the paper searches
for each on its own; for the L2-SVMs (CVM, BVM, SpSVM) the same C means another penalty. FaLK-SVM
has k = 500 beside them, FaLK-SVMl chooses for itself.

Each method is trained and asked in a process of its own; one that is not done when its time is up
is ended, and its row says so.
"""

from __future__ import annotations

import signal
import time
import warnings
from collections.abc import Callable
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import SVC, LinearSVC

from kmviz import loops
from kmviz.evaluation.cost import one_thread
from kmviz.evaluation.papers.falk_data import SVC_PARAMETERS, Rows, large_rows
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

try:
    import resource
except ImportError:  # a system without limits for processes
    resource = None  # type: ignore[assignment]

Progress = Callable[[float, str], None] | None

#: The signal of a process that is over its CPU seconds; seconds of the clock for each of those.
_OVER, PATIENCE = getattr(signal, "SIGXCPU", 0), 20.0

#: Training rows, quick and full; CPU seconds that a method is given.
ROWS, FULL_ROWS = (5_000,), (10_000, 30_000, 100_000)
SECONDS, FULL_SECONDS = 60.0, 600.0

#: Vectors of CPSP (the paper's maximum is 1,000), SpSVM and Nystroem.
VECTORS = 100

COLUMNS = [
    "data", "rows", "method", "paper", "ours", "train_vs_libsvm", "test_vs_libsvm", "vectors",
    "note",
]  # fmt: skip


def methods(C: float, gamma: float, bag: int) -> dict[str, Any]:
    """Return the systems of the experiment by the paper's names, and three that it has not.

    Parameters
    ----------
    C, gamma : float
        Of LibSVM on the set at hand.
    bag : int
        Rows of a bag of SVM-B, which stays the same as the training set grows.
    """
    own: dict[str, Any] = {"C": C, "gamma": gamma}
    seeded = {**own, "random_state": 0}
    mapped = Nystroem(gamma=gamma, n_components=VECTORS, random_state=0)
    return {
        "LibSVM": SVC(**own, cache_size=100),
        "FaLK-SVM": FaLKClassifier(500, **seeded),
        "FaLK-SVMl": FaLKClassifier(250, tune=True, random_state=0),
        "LASVM": LaSVMClassifier(epochs=1, **seeded),
        "CVM": CoreVectorClassifier(**seeded),
        "BVM": CoreVectorClassifier("enclosing", **seeded),
        "USVM": RampSVMClassifier(**own),
        "CPSP": CPSPClassifier(VECTORS, **seeded),
        "CPSP(tr)": CPSPClassifier(VECTORS, "train", **seeded),
        "SVM-B": BaggedSVMClassifier(max_samples=bag, **seeded),
        "SVM-Bs": BaggedSVMClassifier(max_samples=0.05, **seeded),
        "SpSVM": SparseSVMClassifier(VECTORS, **seeded),
        "LIBLINEAR": LinearSVC(random_state=0),
        "subsample, a tenth": SubsampledSVC(0.1, **seeded),
        "Nystroem": make_pipeline(mapped, LinearSVC(C=C, random_state=0)),
    }


def rivals(full: bool = False, progress: Progress = None) -> pd.DataFrame:
    """Experiment 3: accuracy, and times faster than LibSVM, of every system on the same rows.

    On one thread, in one run, every method with C and gamma of LibSVM. `vectors` are kernel values
    per query; `note` says what did not come to its end.
    """
    sizes, seconds = (FULL_ROWS, FULL_SECONDS) if full else (ROWS, SECONDS)
    for module in loops.modules():
        loops.warm(module)  # or every process would compile what it uses
    frames = []
    cases = [(name, n) for name in SVC_PARAMETERS for n in sizes]
    for done, (name, n) in enumerate(cases):
        rows = large_rows(name, n)
        if rows is not None and len(rows[0]) == n:
            frames.append(_case(name, rows, int(0.05 * sizes[0]), seconds))
        if progress:
            progress((done + 1) / len(cases), f"{name}, {n:,} rows")
    return pd.concat(frames, ignore_index=True)[COLUMNS]


def _case(name: str, rows: Rows, bag: int, seconds: float) -> pd.DataFrame:
    """Measure every method on one training set."""
    made = methods(*SVC_PARAMETERS[name], bag)
    found = {method: within(seconds, measured, clf, rows) for method, clf in made.items()}
    cut = {"note": f"cut off after {seconds:.0f} CPU seconds"}
    frame = pd.DataFrame([cut if one is None else one for one in found.values()])
    frame = frame.reindex(columns=["ours", "train", "test", "vectors", "note"])
    for phase in ("train", "test"):
        frame[f"{phase}_vs_libsvm"] = frame.loc[0, phase] / frame[phase]
    return frame.assign(data=name, rows=len(rows[0]), method=list(found), paper=np.nan)


def measured(clf: Any, rows: Rows) -> dict[str, Any]:
    """Return accuracy in percent, CPU seconds of training and of testing, vectors and a note."""
    X, y, X_test, y_test = rows
    with one_thread(), warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        clf.fit(X[:500], y[:500]).predict(X_test[:10])  # loads the compiled loops
        heard.clear()
        start = time.process_time()
        clf.fit(X, y)
        trained = time.process_time()
        said = clf.predict(X_test)
        tested = time.process_time()
        vectors = _vectors(clf, X_test[:1000])
    return {
        "ours": 100.0 * float(np.mean(said == y_test)), "train": trained - start,
        "test": tested - trained, "vectors": vectors,
        "note": str(heard[0].message) if heard else "",
    }  # fmt: skip


def _vectors(clf: Any, X: NDArray[Any]) -> float:
    """Return kernel values per query; NaN where none are computed."""
    if isinstance(clf, Pipeline):
        return float(clf[0].n_components)
    if isinstance(clf, SVC):
        return float(len(clf.support_))
    return float(clf.steps(X).mean()) if hasattr(clf, "steps") else np.nan


def within(seconds: float, function: Callable[..., Any], *args: Any) -> Any:
    """Return what a function returns in a process of its own; None if it takes longer.

    CPU seconds, so that a busy machine cuts nothing off; where a system cannot limit those, it is
    the clock's, as it is everywhere at PATIENCE times as many.
    """
    context = _context()
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(there, seconds, function, args))
    process.start()
    there.close()
    try:
        done, found = here.recv() if here.poll(_clock(seconds)) else (True, None)
    except EOFError:
        process.join()
        done, found = process.exitcode == -_OVER, None
    finally:
        if process.is_alive():
            process.terminate()
        process.join()
    if not done:
        raise RuntimeError(found or f"A process ended with code {process.exitcode}.")
    return found


def _context() -> Any:
    """Processes that start from one in which everything is imported, where the system has that."""
    if "forkserver" not in get_all_start_methods():
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context


def _clock(seconds: float) -> float:
    return seconds if resource is None else PATIENCE * seconds


def _send(
    there: Connection, seconds: float, function: Callable[..., Any], args: tuple[Any, ...]
) -> None:
    if resource is not None:
        used = time.process_time()
        resource.setrlimit(resource.RLIMIT_CPU, (int(used + seconds) + 1, resource.RLIM_INFINITY))
    try:
        there.send((True, function(*args)))
    except Exception as error:
        there.send((False, f"{type(error).__name__}: {error}"))
