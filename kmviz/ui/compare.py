"""The readings of the Compare page: rows measured once, kept, and asked for again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any

import pandas as pd
import streamlit as st
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from kmviz.evaluation.advice import advice, best_method
from kmviz.evaluation.catalogue import family_of, resolve, settings, title_of, usual
from kmviz.evaluation.compare import Bench, as_table, trained
from kmviz.evaluation.peers import PEERS
from kmviz.evaluation.reference import reference, trained_reference
from kmviz.methods import progress
from kmviz.methods.register import method_offering, setting
from kmviz.ui import model, state
from kmviz.ui.problem import Problem

#: What the page offers, and what it runs unasked.
OFFERED = tuple(name for name in (*settings(), *PEERS) if name != "exact")
USUAL = (*usual(), *(name for name, peer in PEERS.items() if peer.is_usual))
COSTS = {
    "values": ("steps_honest", "kernel values a query, overhead included"),
    "batch": ("batch_us", "microseconds a query, many at once"),
    "single": ("single_us", "microseconds a query, one at a time"),
}
_REPEATS, _SECONDS, _KEPT_PROBLEMS = 2, 0.1, 6
_OPEN = "kmviz.open"
_MOST_VECTORS = 48  # as many as the reduced set's page draws
_lock = Lock()


@st.cache_resource(max_entries=1, show_spinner=False)
def _kept() -> OrderedDict:
    """Problem key -> its bench and its finished rows, for all sessions of this process."""
    return OrderedDict()


def measured(problem: Problem, names: list[str]) -> pd.DataFrame:
    """Return a row a setting, measuring what is not known yet; an interrupted run goes on."""
    own = model.current(problem)
    key = (problem.key, own.digest if own else "")
    with _lock:
        kept = _kept().setdefault(key, {"rows": {}})
        _kept().move_to_end(key)
        while len(_kept()) > _KEPT_PROBLEMS:
            _kept().popitem(last=False)
    missing = [name for name in names if name not in kept["rows"]]
    if missing or "exact" not in kept["rows"]:
        _measure(problem, own, kept, missing)
    return as_table({name: kept["rows"][name] for name in ["exact", *names]})


def _measure(problem: Problem, own: Any, kept: dict[str, Any], missing: list[str]) -> None:
    place = st.empty()
    bar = place.progress(0.0, "training the machine")

    def show(share: float, text: str) -> None:
        bar.progress(share, f"Measuring: {text}")

    with progress.listening(show):
        if "bench" not in kept:
            kept["bench"] = _bench(problem, own)
            kept["rows"]["exact"] = kept["bench"].exact_row()
        for done, name in enumerate(missing):
            with progress.part(done / len(missing), (done + 1) / len(missing)):
                progress.report(0.0, title_of(name))
                with progress.part(0.0, 1.0, f"{title_of(name)}: "):
                    kept["rows"][name] = kept["bench"].measured(resolve([name])[name])
    place.empty()


def _bench(problem: Problem, own: Any) -> Bench:
    data = problem.data
    if own is None:
        ref = trained_reference(
            clone(problem.estimator), problem.estimator, data.X_train, data.y_train,
            problem.fit_seconds,
        )  # fmt: skip
        return Bench(ref, data.X_test, data.y_test, _REPEATS, _SECONDS)
    classes = own.estimator.classes_
    y_train, y_test = (classes[(y > 0).astype(int)] for y in (data.y_train, data.y_test))
    ref = reference(FrozenEstimator(own.estimator), data.X_train, y_train)
    return Bench(ref, data.X_test, y_test, _REPEATS, _SECONDS)


def points(table: pd.DataFrame, cost: str) -> pd.DataFrame:
    """Return what the frontier chart draws: finished rows with title, family and cost."""
    overhead = table.loc["exact", "steps_mean"] / table["honest_speedup"]
    costs = overhead if cost == "values" else table[COSTS[cost][0]]
    frame = table.assign(
        cost=costs.astype(float),
        title=[title_of(name) for name in table.index],
        family=[family_of(name) for name in table.index],
    ).reset_index()
    return frame[frame["error"] == ""]


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table as the page shows it."""
    frame = table.drop(columns=["disagreement_low", "batch_us", "single_us"])
    frame.insert(0, "name", [title_of(name) for name in frame.index])
    return frame


def columns() -> dict[str, Any]:
    """Return titles, formats and explanations of the table's columns."""
    number = st.column_config.NumberColumn
    return {
        "method": None,
        "name": st.column_config.TextColumn("method", pinned=True),
        "accuracy": number(format="%.3f", help="Share of test rows answered rightly."),
        "disagreements": number("differ", help="Answers that differ from the exact machine."),
        "queries": number("of", help="Test rows asked about."),
        "disagreement": number("rate", format="percent", help="Their share."),
        "disagreement_high": number(
            "at most", format="percent", help="Upper end of the exact 95% interval of that share."
        ),
        "steps_mean": number("values", format="%.1f", help="Kernel values a query, mean."),
        "steps_median": number("median", format="%.0f", help="Kernel values a query, median."),
        "speedup": number("m / k", format="%.1f", help="Fewer kernel values than the exact sum."),
        "honest_speedup": number(
            "honest", format="%.1f", help="The same with ordering, projection and search counted."
        ),
        "batch_ratio": number("batch, x SVC", format="%.1f", help="Times faster than SVC."),
        "single_ratio": number("single, x SVC", format="%.1f", help="One query at a time."),
        "batch_vs_blas": number(
            "batch, x BLAS", format="%.2f", help="Times faster than the exact float32 machine."
        ),
        "single_vs_blas": number("single, x BLAS", format="%.2f", help="One query at a time."),
        "fit_seconds": number("fit, s", format="%.2f", help="CPU seconds, training included."),
        "size_bytes": number("file", format="bytes", help="Size of the stored estimator."),
        "error": st.column_config.TextColumn("error", help="Why a method has no figures."),
    }


def sentence(table: pd.DataFrame) -> str:
    """Return the advice."""
    return advice(table)


def look_for(table: pd.DataFrame) -> str:
    """Return what to notice, for the figures on screen."""
    good = table[table["error"] == ""]
    same = [title_of(name) for name in good.index[1:] if good.loc[name, "disagreements"] == 0]
    spoken = f" No answer differs for {', '.join(same)}." if same else ""
    return (
        "The dotted line joins the settings that none beats: everything to its upper right costs "
        f"more and changes more.{spoken} Click a point to open that method with that setting."
    )


def conditions(table: pd.DataFrame) -> str:
    """Return how the figures were taken."""
    queries = int(table.loc["exact", "queries"])
    return (
        f"On {queries:,} test rows. Times are CPU time on one thread, the minimum of repeats, as "
        "ratios to SVC.decision_function and to the exact machine's float32 BLAS evaluation in "
        "this run; the server shares its cores, so expect them to vary."
    )


def open_clicked(table: pd.DataFrame, row: int | None) -> None:
    """Callback: remember which setting was clicked; `follow` goes there."""
    if row is not None and setting(table.index[row]) is not None:
        st.session_state[_OPEN] = str(table.index[row])


def follow(n_vectors: int) -> None:
    """Go to the page of the clicked setting, with that setting in the URL."""
    name = st.session_state.pop(_OPEN, None)
    if name is None:
        return
    page, texts = method_offering(name).page_title, link_to(name, n_vectors)
    st.switch_page(method_offering(name).page, query_params=state.link(page) | texts)


def link_to(name: str, n_vectors: int) -> dict[str, str]:
    """Return the URL parameters with which a method's page shows a setting.

    Parameters
    ----------
    n_vectors : of the machine: a setting may be a share of them
    """
    method, made = method_offering(name), setting(name).make()
    values = {url: getattr(made, parameter) for url, parameter in method.url.items()}
    texts = {url: str(value).lower() for url, value in values.items() if value is not None}
    if isinstance(values.get("vectors"), float):  # a share of the machine's vectors
        texts["vectors"] = str(min(max(2, round(made.n_vectors * n_vectors)), _MOST_VECTORS))
    if "kp" in values and values["kp"] is None:
        texts["kp"] = str(made.n_neighbors // 2)  # as it covers unless told otherwise
    return texts | method.link


def best_estimator(problem: Problem, table: pd.DataFrame) -> Callable[[], bytes]:
    """Return what makes the advised estimator, fitted, as a .skops file.

    A download is made outside the visitor's session: whose machine it is, is looked up now.
    """
    own = model.current(problem)
    bench = _kept()[(problem.key, own.digest if own else "")]["bench"]
    name = best_method(table)

    def make() -> bytes:
        known = resolve([name])[name]
        fitted = bench.ref.exact if name == "exact" else trained(known, bench.ref)[0]
        return problem.packed(fitted)

    return make


def code(problem: Problem, table: pd.DataFrame) -> str:
    """Return the lines that make the advised estimator again."""
    name, mine = best_method(table), model.current(problem)
    method, cls = method_offering(name), setting(name).cls.__name__
    parameters = setting(name).parameters_for(int(table.loc["exact", "steps_mean"]))
    given = [f"{key}={value!r}" for key, value in parameters.items()]
    own = ["kernel=kmviz.KernelMachine.from_estimator(svc).kernel", "C=svc.C"]
    machine, loaded = "svc", ""
    if mine is not None:
        loaded = f"from sklearn.frozen import FrozenEstimator\n\nsvc = kmviz.load({mine.name!r})\n"
        machine = "FrozenEstimator(svc)"
    arguments = ", ".join([machine, *given] if method.takes_frozen else [*given, *own])
    return (
        f"{problem.code}\nimport kmviz\n{loaded}\nfast = kmviz.{cls}({arguments}).fit(X, y)\n"
        f'kmviz.save(fast, "fast.skops")\n'
    )
