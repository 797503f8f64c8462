"""Every method on the same data, in one run: what a query costs, and what it changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import accuracy_score
from sklearn.pipeline import Pipeline, make_pipeline

from kmviz.evaluation.catalogue import Methods, resolve
from kmviz.evaluation.cost import (
    Decide,
    batch_seconds,
    disagreement,
    one_thread,
    run_timed,
    single_seconds,
    step_summary,
)
from kmviz.evaluation.peers import Peer
from kmviz.evaluation.reference import Reference, baseline, reference
from kmviz.io import storage
from kmviz.methods import progress
from kmviz.methods.register import Setting, method_of

COLUMNS = [
    "accuracy", "disagreements", "queries", "disagreement", "disagreement_low",
    "disagreement_high", "steps_mean", "steps_median", "speedup", "honest_speedup",
    "batch_ratio", "single_ratio", "batch_vs_blas", "single_vs_blas", "batch_us", "single_us",
    "fit_seconds", "size_bytes", "note", "error",
]  # fmt: skip

#: Columns that are empty without times, and numbers all the same.
TIMES = [
    "batch_ratio", "single_ratio", "batch_vs_blas", "single_vs_blas", "batch_us", "single_us",
]  # fmt: skip

#: CPU seconds that one timed batch of the slowest way should last.
BATCH_SECONDS = 0.5


def compare(
    estimator: Any,
    X_train: Any,
    y_train: Any,
    X_test: Any,
    y_test: Any,
    methods: Methods | None = None,
    time: bool = True,
    *,
    repeats: int = 3,
) -> pd.DataFrame:
    """Train, ask and time every method on the same data.

    Parameters
    ----------
    estimator : estimator or None
        What trains the exact machine (None is `SVC()`). One that is fitted, or frozen, is taken
        as it is: methods then calibrate on X_train.
    X_train, y_train, X_test, y_test : arrays
        Ratios and disagreements are taken on the test rows.
    methods : list, mapping or None
        Names (`kmviz.evaluation.catalogue.offered`), estimators, or a mapping of names to either.
        An estimator whose own `estimator` is None gets this one. None runs every method and
        every peer that is installed.
    time : bool
        False leaves the times out (and is much faster).
    repeats : int
        Each time is the minimum of as many.

    Returns
    -------
    DataFrame
        A row for each method, and `exact`. `disagreements` with the estimator's own `predict`
        among `queries` answers, their rate and its exact 95% interval; kernel values per query
        (`steps_mean`, `steps_median`; `speedup` is m / mean, `honest_speedup` prices everything
        that a query costs: by the time that one of the exact machine's kernel values takes in this
        run, or, without times, by the overhead as counted); `batch_ratio` and `single_ratio` are
        times faster than that `predict`, `batch_vs_blas` and `single_vs_blas` than the exact
        float32 machine, in this run, in CPU time on one thread; `size_bytes` of the stored file.
        `note` says what was cut down for a machine of many vectors (see
        `kmviz.methods.register.LARGE`). A method that fails has its `error` in its row; the others
        go on.

    Examples
    --------
    >>> from kmviz import compare, datasets
    >>> d = datasets.load("two_moons", n=100)
    >>> rows = (d.X_train, d.y_train, d.X_test, d.y_test)
    >>> table = compare(None, *rows, methods=["linear_svc"], time=False)
    >>> table.index.tolist(), int(table.loc["exact", "disagreements"])
    (['exact', 'linear_svc'], 0)
    """
    if isinstance(X_train, str | Mapping) or _holds_methods(X_train):
        raise TypeError("compare takes X_train second; name the methods with methods=[...].")
    rows = compare_rows(estimator, X_train, y_train, X_test, y_test, methods, time, repeats)
    return as_table(dict(rows))


def as_table(rows: dict[str, dict[str, Any]]) -> pd.DataFrame:
    """Return finished rows as a frame with every column."""
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=COLUMNS).rename_axis("method")
    texts = {"note": object, "error": object}
    types = texts | dict.fromkeys(TIMES, np.float64)
    return frame.astype(types).fillna(dict.fromkeys(texts, ""))


def _holds_methods(given: Any) -> bool:
    is_list = isinstance(given, list | tuple) and len(given) > 0
    return is_list and (isinstance(given[0], str) or hasattr(given[0], "get_params"))


def compare_rows(
    estimator: Any, X_train: Any, y_train: Any, X_test: Any, y_test: Any,
    methods: Methods | None = None, time: bool = True, repeats: int = 3,
) -> Iterator[tuple[str, dict[str, Any]]]:  # fmt: skip
    """Yield each row of `compare` as soon as it is known, the exact machine's first."""
    made = {name: method for name, method in resolve(methods).items() if name != "exact"}
    share = 1.0 / (len(made) + 1)
    progress.report(0.0, "training the machine")
    bench = Bench(reference(estimator, X_train, y_train), X_test, y_test, repeats if time else 0)
    progress.report(share / 2, "exact machine")
    yield "exact", bench.exact_row()
    for done, (name, method) in enumerate(made.items(), start=1):
        progress.report(done * share, name)
        with progress.part(done * share, (done + 1) * share, name):
            yield name, bench.measured(method)
    progress.report(1.0, "done")


def trained(method: Any, ref: Reference) -> tuple[Any, float]:
    """Return a method fitted for the machine at hand, and its CPU seconds in all."""
    estimator = _unfitted(method, ref)
    shared = 0.0
    if "estimator" in estimator.get_params(deep=False) and estimator.estimator is None:
        known = method_of(estimator)
        if known is not None and known.keeps_machine and not known.cross_fits:
            shared = ref.seconds
            estimator.set_params(estimator=FrozenEstimator(ref.fitted))
        else:
            estimator.set_params(estimator=clone(ref.given))
    elif isinstance(ref.fitted, Pipeline) and "estimator" not in estimator.get_params(deep=False):
        estimator = make_pipeline(clone(ref.fitted[:-1]), estimator)
    _, seconds = run_timed(lambda: estimator.fit(ref.X_train, ref.y_train))
    return estimator, shared + seconds


def _unfitted(method: Any, ref: Reference) -> Any:
    if isinstance(method, Peer):
        return method.build(ref)
    if not isinstance(method, Setting):
        return clone(method)
    made = method.make(ref.largest)
    known = method_of(made)
    if known is not None and not known.takes_frozen:
        # it trains machines of its own: with the kernel and the C of ours
        made.set_params(kernel=ref.kernel, C=ref.cost)
    return made


def steps_of(clf: Any, X: Any) -> NDArray[Any] | None:
    """Return the kernel values that each row takes; None where the estimator computes none."""
    last = clf[-1] if isinstance(clf, Pipeline) else clf
    if not hasattr(last, "steps"):
        return None
    return last.steps(clf[:-1].transform(X) if isinstance(clf, Pipeline) else X)


class Bench:
    """The test rows, and the two ways that every method is timed against.

    Parameters
    ----------
    ref : Reference
    X, y : arrays
        Test rows and their classes.
    repeats : int
        Of each timing; 0 times nothing.
    seconds : float
        CPU seconds that one timed batch of SVC should last, about.
    """

    def __init__(
        self, ref: Reference, X: Any, y: Any, repeats: int, seconds: float = BATCH_SECONDS
    ) -> None:
        self.ref, self.X, self.y, self.repeats = ref, X, y, repeats
        self.exact = ref.labels(X)
        if repeats:
            svc = baseline(ref)
            self.batch = X[: _batch_size(svc, X, seconds)]
            self.svc = self._times(svc)
            self.blas = self._times(ref.exact.predict)

    def exact_row(self) -> dict[str, Any]:
        """The figures of the exact float32 machine."""
        return self.row(self.ref.exact, self.ref.seconds)

    def measured(self, method: Any, show: Callable[[Any], None] | None = None) -> dict[str, Any]:
        """Train one method and measure it; whatever goes wrong with it is its own row's news.

        Parameters
        ----------
        show : called with the fitted estimator, for whatever else is to be known of it
        """
        try:
            fitted, seconds = trained(method, self.ref)
            if show is not None:
                show(fitted)
            if isinstance(method, Peer):
                # skops makes empty objects of compiled types, which may end the process
                return self.row(fitted, seconds, method.values(self.ref), not method.needs)
            note = method.note_for(self.ref.largest) if isinstance(method, Setting) else ""
            return self.row(fitted, seconds) | {"note": note}
        except progress.Cancelled:
            raise
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}".split("\n")[0]}

    def row(
        self, clf: Any, seconds: float, values: float | None = None, storable: bool = True
    ) -> dict[str, Any]:
        """Every figure of one fitted classifier."""
        with one_thread():
            answers = clf.predict(self.X)
            row: dict[str, Any] = {"accuracy": float(accuracy_score(self.y, answers))}
            row |= disagreement(answers, self.exact)
            row |= step_summary(*self._steps(clf, values))
        size = _stored_size(clf) if storable else float("nan")
        row |= {"fit_seconds": seconds, "size_bytes": size, "error": ""}
        if self.repeats:
            row |= self._ratios(clf)
            # m values of the exact machine, by what their time would pay for of the method's
            row["honest_speedup"] = row["batch_vs_blas"]
        return row

    def _steps(self, clf: Any, values: float | None) -> tuple[NDArray[Any], int, float]:
        steps = None if values is not None else steps_of(clf, self.X)
        if steps is not None:
            last = clf[-1] if isinstance(clf, Pipeline) else clf
            return steps, self.ref.n_vectors, float(getattr(last, "overhead_", 0.0))
        return np.array([np.nan if values is None else values]), self.ref.n_vectors, 0.0

    def _ratios(self, clf: Any) -> dict[str, float]:
        if clf is self.ref.exact:
            batch, single = self.blas
        else:
            batch, single = self._times(clf.predict)
        return {
            "batch_ratio": self.svc[0] / batch, "single_ratio": self.svc[1] / single,
            "batch_vs_blas": self.blas[0] / batch, "single_vs_blas": self.blas[1] / single,
            "batch_us": 1e6 * batch, "single_us": 1e6 * single,
        }  # fmt: skip

    def _times(self, decide: Decide) -> tuple[float, float]:
        with one_thread():
            return (
                batch_seconds(decide, self.batch, self.repeats),
                single_seconds(decide, self.X, self.repeats, n_queries=50),
            )


def _batch_size(svc: Decide, X: Any, seconds: float) -> int:
    """As many rows as keep one batch of the slowest way near `seconds`."""
    per_query = run_timed(lambda: svc(X[:50]))[1] / min(50, len(X))
    return int(np.clip(seconds / max(per_query, 1e-9), 100, 2_000))


def _stored_size(clf: Any) -> float:
    """Bytes of the stored file; NaN where it cannot be stored."""
    try:
        return float(len(storage.dumps(clf)))
    except (storage.StorageError, TypeError):
        return float("nan")
