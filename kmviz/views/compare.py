"""The readings of the Compare page: rows measured once, kept, and asked for again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import pandas as pd
import streamlit as st
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from kmviz.charts import Chart
from kmviz.charts.compare import frontier
from kmviz.evaluation.advice import advice, best_method
from kmviz.evaluation.catalogue import family_of, resolve, title_of
from kmviz.evaluation.compare import Bench, as_table, steps_of, trained
from kmviz.evaluation.reference import reference, trained_reference
from kmviz.methods.register import COMPARE, method_offering, offered
from kmviz.ui import lesson, pictures
from kmviz.ui.maps import CELLS
from kmviz.ui.plane import grid
from kmviz.ui.runtime.jobs import Cache
from kmviz.ui.shell import url
from kmviz.views.controls import CONTROLS
from kmviz.views.problem import Problem

#: Cost -> the column of the table.
COSTS = {"batch": "batch_us", "single": "single_us", "values": "honest_values"}
OWN = ("methods", "cost")
#: Of the table's columns, those that are shown first.
FIRST = ("name", "accuracy", "disagreement", "batch_us", "batch_ratio", "honest_speedup")
_REPEATS, _SECONDS = 2, 0.1
_OPEN = "kmviz.open"
_MOST_VECTORS = 48  # as many as the reduced set's page draws
_measurements, _found = Cache("compare measurements"), Cache("measured")


@dataclass(frozen=True, eq=False)
class Measurements:
    """What is known of a problem: what was found of each setting, by name.

    Attributes
    ----------
    key : tuple
        Stands for the problem.
    make : callable
        Makes the bench, once somebody asks for it.
    asked : array or None
        Rows whose effort is drawn: the cells of a map, or images; None where neither can be.
    rows : dict
        The finished rows of the table.
    efforts : dict
        The kernel values that each of the rows asked takes.
    """

    key: tuple
    make: Callable[[], Bench]
    asked: NDArray[Any] | None
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    efforts: dict[str, NDArray[Any]] = field(default_factory=dict)

    @cached_property
    def bench(self) -> Bench:
        """Where settings are trained and timed."""
        return self.make()

    def measure(self, name: str) -> None:
        """Train and measure one setting, unless that was done before."""
        if name in self.rows:
            return
        text = f"Measuring: {title_of(name)}:"
        row, steps = _found.get((self.key, name), lambda: self._measured(name), text)
        if steps is not None:
            self.efforts[name] = steps
        self.rows[name] = row

    def _measured(self, name: str) -> tuple[dict[str, Any], NDArray[Any] | None]:
        """Return a setting's row, and what it takes for the rows that are drawn."""
        if name == "exact":
            return self.bench.exact_row(), self._steps(self.bench.ref.exact)
        steps: list[NDArray[Any] | None] = []
        row = self.bench.measured(
            resolve([name])[name], lambda fitted: steps.append(self._steps(fitted))
        )
        return row, steps[0] if steps else None

    def _steps(self, fitted: Any) -> NDArray[Any] | None:
        return None if self.asked is None else steps_of(fitted, self.asked)


def measurements(problem: Problem) -> Measurements:
    """Return what is known of the problem at hand, the exact machine measured at least."""
    text = "Measuring: exact machine"
    return _measurements.get(problem.key, lambda: _begun(problem), text)


def _begun(problem: Problem) -> Measurements:
    asked = None
    if problem.is_plane:
        asked = grid(problem, CELLS)[2]
    elif problem.image_shape:
        asked = problem.data.X_test
    known = Measurements(problem.key, partial(_bench, problem), asked)
    known.measure("exact")
    return known


def measured(
    known: Measurements, names: list[str], said: Mapping[str, Any] = url.PRESENT
) -> pd.DataFrame:
    """Return a row for each setting, measuring what is not known; an interrupted run goes on."""
    missing = [name for name in names if name not in known.rows]
    place = st.empty()
    for done, name in enumerate(missing):
        so_far = picture(as_table(known.rows), said)
        with place:
            pictures.plotted(so_far, f"so_far_{done}")
        known.measure(name)
    if missing:
        place.empty()
    return as_table({name: known.rows[name] for name in ["exact", *names]})


def picture(
    table: pd.DataFrame, said: Mapping[str, Any] = url.PRESENT, advised: bool = True
) -> Chart:
    """Return the chart of cost against accuracy, by the cost that is chosen.

    Parameters
    ----------
    advised : whether to mark what is advised: no chart beside a question does
    """
    cost = said["cost"]
    drawn = points(table, cost)
    drawn = drawn if advised else drawn.assign(is_best=False)
    return frontier(drawn, CONTROLS["cost"].options[cost])


def _bench(problem: Problem) -> Bench:
    data, svc = problem.data, problem.estimator
    if problem.yours is None:
        ref = trained_reference(clone(svc), svc, data.X_train, data.y_train, problem.fit_seconds)
    else:
        ref = reference(FrozenEstimator(svc), data.X_train, data.y_train)
    return Bench(ref, data.X_test, data.y_test, _REPEATS, _SECONDS)


def points(table: pd.DataFrame, cost: str) -> pd.DataFrame:
    """Return what the chart draws: finished rows with title, family, cost, and the best marked."""
    values = table.loc["exact", "steps_mean"] / table["honest_speedup"]
    counted = values.where(table["steps_mean"].notna())  # boosting and the like take none
    frame = table.assign(honest_values=counted).reset_index()
    frame = frame.assign(
        cost=frame[COSTS[cost]].astype(float),
        title=[title_of(name) for name in table.index],
        family=[family_of(name) for name in table.index],
        is_best=frame["method"] == best_method(table),
    )
    return frame[frame["error"] == ""]


def note(table: pd.DataFrame) -> None:
    """Let a lesson quote the table."""
    for name, value in figures(table).items():
        lesson.note(name, value)


def figures(table: pd.DataFrame) -> dict[str, str]:
    """Return what a lesson may quote: a figure is called as its row and column, "exact: µs"."""
    found: dict[str, str] = {}
    for method, row in table.iterrows():
        name = title_of(str(method))
        found[f"{name}: µs"] = f"{row['batch_us']:.2f}"
        found[f"{name}: differ"] = f"{row['disagreement']:.2%}"
        found[f"{name}: at most"] = f"{row['disagreement_high']:.2%}"
        found[f"{name}: queries"] = f"{row['queries']:,.0f}"
    return found


def first_columns(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table as the page shows it at first: what a choice turns on."""
    failed = ["error"] if (table["error"] != "").any() else []
    return all_columns(table)[[*FIRST, *failed]]


def all_columns(table: pd.DataFrame) -> pd.DataFrame:
    """Return every figure, methods named as a reader would."""
    frame = table.drop(columns=["disagreement_low"])
    frame.insert(0, "name", [title_of(name) for name in frame.index])
    return frame


def columns() -> dict[str, Any]:
    """Return titles, formats and explanations of the table's columns."""
    number = st.column_config.NumberColumn
    return {
        "method": None,
        "name": st.column_config.TextColumn("method", pinned=True, width=256),
        "accuracy": number(format="percent", help="Share of test rows answered rightly."),
        "disagreements": number(
            "differ, count", format="localized", help="Answers that differ from the exact machine."
        ),
        "queries": number("of", format="localized", help="Test rows asked about."),
        "disagreement": number(
            "differ", format="percent", help="Share of answers that differ from the exact machine."
        ),
        "disagreement_high": number(
            "at most", format="percent", help="Upper end of the exact 95% interval of that share."
        ),
        "steps_mean": number("values", format="%.1f", help="Kernel values per query, mean."),
        "steps_median": number("median", format="%.0f", help="Kernel values per query, median."),
        "speedup": number("m / k", format="%.1f", help="Fewer kernel values than the exact sum."),
        "honest_speedup": number(
            "honest speedup", format="%.2fx",
            help="Times fewer kernel values than the exact sum, where ordering, projection and "
            "search count as so many kernel values as their time would pay for.",
        ),
        "batch_ratio": number(
            "than SVC", format="%.1fx", help="Times faster than SVC, many at once."
        ),
        "single_ratio": number("single, x SVC", format="%.1f", help="One query at a time."),
        "batch_vs_blas": number(
            "x exact", format="%.2f", help="Times faster than the exact float32 machine."
        ),
        "single_vs_blas": number("single, x exact", format="%.2f", help="One query at a time."),
        "batch_us": number("µs a query", format="%.2f", help="CPU time, many at once."),
        "single_us": number("single, µs", format="%.1f", help="The same, one at a time."),
        "fit_seconds": number("fit, s", format="%.2f", help="CPU seconds, training included."),
        "size_bytes": number("file", format="bytes", help="Size of the stored estimator."),
        "note": st.column_config.TextColumn("note", help="What was cut down for a large machine."),
        "error": st.column_config.TextColumn("error", help="Why a method has no figures."),
    }  # fmt: skip


def sentence(table: pd.DataFrame) -> str:
    """Return the advice."""
    return advice(table)


def look_for(table: pd.DataFrame, cost: str) -> str:
    """Return what to notice, for the figures on screen."""
    drawn = points(table, cost)
    left_out = drawn["title"][drawn["cost"].isna()].tolist()
    beaten = drawn[_beats(drawn, table.loc["exact", "accuracy"])]["title"].tolist()
    said = [
        "Up and to the left is better; the dotted line joins what nothing cheaper beats. The "
        "larger a point, the more answers differ from the exact machine's, which is no fault "
        "where they are right."
    ]
    if beaten:
        said.append(f"More accurate than the machine, beyond chance: {'; '.join(beaten)}.")
    if left_out:
        said.append(f"Not on this scale, as it computes no kernel values: {'; '.join(left_out)}.")
    return " ".join([*said, "Click a point to open that method with that setting."])


def _beats(drawn: pd.DataFrame, exact: float) -> pd.Series:
    """Whether a method is right more often than the machine, by more than chance would do.

    Only where the two answers differ is one right and the other wrong; were it by chance, as often
    the one as the other, two standard deviations of the gain would be twice the root of their
    number.
    """
    gain = (drawn["accuracy"] - exact) * drawn["queries"]
    return gain > 2.0 * drawn["disagreements"] ** 0.5


def conditions(table: pd.DataFrame) -> str:
    """Return how the figures were taken."""
    queries = int(table.loc["exact", "queries"])
    return (
        f"On {queries:,} test rows. What is advised was chosen on these same rows, so that it may "
        "do a little worse on new ones; `kmviz.accelerate` decides on rows of their own. Times "
        "are CPU time on one thread, the minimum of repeats, in this run; the server shares its "
        "cores, so expect them to vary."
    )


def open_clicked(table: pd.DataFrame, row: int | None) -> None:
    """Callback: remember which setting was clicked; `follow` goes there if it has a page."""
    method = None if row is None else method_offering(str(table.index[row]))
    if method is not None and method.page != COMPARE:
        st.session_state[_OPEN] = str(table.index[row])


def follow(n_vectors: int) -> None:
    """Go to the page of the clicked setting, with that setting in the URL."""
    name = st.session_state.pop(_OPEN, None)
    if name is None:
        return
    method, texts = offered(name)[0], link_to(name, n_vectors)
    st.switch_page(method.page, query_params=url.link(method.page_title) | texts)


def link_to(name: str, n_vectors: int) -> dict[str, str]:
    """Return the URL parameters with which a method's page shows a setting.

    Parameters
    ----------
    n_vectors : of the machine: a setting may be a share of them
    """
    method, chosen = offered(name)
    made = chosen.make()
    values = {name: getattr(made, parameter) for name, parameter in method.url.items()}
    texts = {name: _text(value) for name, value in values.items()}
    if isinstance(values.get("vectors"), float):  # a share of the machine's vectors
        texts["vectors"] = str(min(max(2, round(made.n_vectors * n_vectors)), _MOST_VECTORS))
    if "kp" in values and values["kp"] is None:
        texts["kp"] = str(made.n_neighbors // 2)  # as it covers unless told otherwise
    return texts | dict(method.link)


def _text(value: Any) -> str:
    """Return a parameter as a URL says it."""
    return f"{value:g}" if isinstance(value, float) else str(value).lower()


def best_estimator(
    problem: Problem, known: Measurements, table: pd.DataFrame
) -> Callable[[], bytes]:
    """Return what makes the advised estimator, fitted, as a .skops file.

    A download is made outside the visitor's session: whose machine it is, is known by now.
    """
    name = best_method(table)

    def make() -> bytes:
        ref = known.bench.ref
        fitted = ref.exact if name == "exact" else trained(resolve([name])[name], ref)[0]
        return problem.packed(fitted)

    return make


def code(problem: Problem, table: pd.DataFrame) -> str:
    """Return the lines that make the advised estimator again."""
    method, chosen = offered(best_method(table))
    parameters = chosen.parameters_for(int(table.loc["exact", "steps_mean"]))
    given = [f"{key}={value!r}" for key, value in parameters.items()]
    own = ["kernel=kmviz.KernelMachine.from_estimator(svc).kernel", "C=svc.C"]
    arguments = ", ".join(["svc", *given] if method.takes_frozen else [*given, *own])
    return (
        f"{problem.code}\nimport kmviz\n\n"
        f"fast = kmviz.{method.cls.__name__}({arguments}).fit(X, y)\n"
        f'kmviz.save(fast, "fast.skops")\n'
    )
