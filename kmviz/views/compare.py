"""The Compare page's content: rows of the table, efforts, chart, sentences, code to take home."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from kmviz.charts import Chart
from kmviz.charts.compare import frontier
from kmviz.evaluation.advice import best_method
from kmviz.evaluation.catalogue import family_of, resolve, title_of
from kmviz.evaluation.compare import Bench, steps_of, trained
from kmviz.evaluation.reference import reference, trained_reference
from kmviz.methods.register import offered
from kmviz.views.controls import CONTROLS
from kmviz.views.problem import Problem

#: Cost -> the column of the table.
COSTS = {"batch": "batch_us", "single": "single_us", "values": "honest_values"}
#: Of the table's columns, those that are shown first.
FIRST = ("name", "accuracy", "disagreement", "batch_us", "batch_ratio", "honest_speedup")
_REPEATS, _SECONDS = 2, 0.1
_MOST_VECTORS = 48  # as many as the reduced set's page draws

LOOK_FOR = (
    "Up and to the left is better. The dashed line joins the most accurate method at each cost. "
    "Larger points disagree with the exact SVM on more queries, which is no fault where they are "
    "right."
)
BEATEN = "More accurate than the exact SVM, beyond chance: {}."
LEFT_OUT = "Not on this scale, as it computes no kernel values: {}."
CLICK = "Click a point to open that method with that setting."
CONDITIONS = (
    "On {queries:,} test rows. What is advised was chosen on these same rows, so that it may do a "
    "little worse on new ones; `kmviz.accelerate` decides on rows of their own. Times are CPU time "
    "on one thread, the minimum of repeats, in this run; the server shares its cores, so expect "
    "them to vary."
)
ON_PLANE = (
    "Kernel evaluations for a query at each spot, from 1 to all {m:,} on one colour scale. Above "
    "each map stands its mean over the plane; the mean over the test rows stands in All figures."
)
ON_IMAGES = (
    "The test images that take the fewest and the most kernel evaluations, of {m:,}, with their "
    "count; beside each name stands the mean over the test rows."
)
CODE = """{problem}
import kmviz

fast = {estimator}.fit(X, y)
kmviz.save(fast, "fast.skops")
"""
LINEAR = (
    "from sklearn.svm import LinearSVC\n",
    'LinearSVC(C=svc.C, dual="auto", max_iter=20_000, random_state=0)',
)


@dataclass(frozen=True, eq=False)
class Measurements:
    """What was measured on a problem, by setting.

    Attributes
    ----------
    key : tuple
        Stands for the problem in caches.
    bench : Bench
        Where settings are trained and timed.
    drawn : array or None
        Rows whose effort is drawn: the cells of a map, or images; None where neither can be.
    rows : dict
        The finished rows of the table.
    efforts : dict
        The kernel evaluations that each of the drawn rows takes.
    """

    key: tuple
    bench: Bench
    drawn: NDArray[Any] | None
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    efforts: dict[str, NDArray[Any]] = field(default_factory=dict)

    def measure(self, name: str) -> tuple[dict[str, Any], NDArray[Any] | None]:
        """Return a setting's row, and what it takes for the rows that are drawn."""
        if name == "exact":
            return self.bench.exact_row(), self._steps(self.bench.ref.exact)
        steps: list[NDArray[Any] | None] = []
        row = self.bench.measured(
            resolve([name])[name], lambda fitted: steps.append(self._steps(fitted))
        )
        return row, steps[0] if steps else None

    def _steps(self, fitted: Any) -> NDArray[Any] | None:
        return None if self.drawn is None else steps_of(fitted, self.drawn)


def make_bench(problem: Problem) -> Bench:
    """Return where settings are trained and timed for a problem."""
    data, svc = problem.data, problem.estimator
    if problem.yours is None:
        ref = trained_reference(clone(svc), svc, data.X_train, data.y_train, problem.fit_seconds)
    else:
        ref = reference(FrozenEstimator(svc), data.X_train, data.y_train)
    return Bench(ref, data.X_test, data.y_test, _REPEATS, _SECONDS)


def picture(table: pd.DataFrame, cost: str, advised: bool = True) -> Chart:
    """Return the chart of cost against accuracy.

    Parameters
    ----------
    cost : one of `COSTS`
    advised : whether to mark the advised setting: no chart beside a question does
    """
    drawn = points(table, cost)
    drawn = drawn if advised else drawn.assign(is_best=False)
    return frontier(drawn, CONTROLS["cost"].options[cost])


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


def look_for(table: pd.DataFrame, cost: str) -> str:
    """Return what to notice, for the figures on screen."""
    drawn = points(table, cost)
    named = {
        BEATEN: drawn["title"][_beats(drawn, table.loc["exact", "accuracy"])],
        LEFT_OUT: drawn["title"][drawn["cost"].isna()],
    }
    sentences = [text.format("; ".join(titles)) for text, titles in named.items() if len(titles)]
    return " ".join([LOOK_FOR, *sentences, CLICK])


def _beats(drawn: pd.DataFrame, exact: float) -> pd.Series:
    """Return True if a method is right more often than the machine, by more than chance would do.

    Only where the two answers differ is one right and the other wrong; were it by chance, as often
    the one as the other, two standard deviations of the gain would be twice the root of their
    number.
    """
    gain = (drawn["accuracy"] - exact) * drawn["queries"]
    return gain > 2.0 * drawn["disagreements"] ** 0.5


def conditions(table: pd.DataFrame) -> str:
    """Return how the figures were taken."""
    return CONDITIONS.format(queries=int(table.loc["exact", "queries"]))


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

    A download is made outside the visitor's session, and so reads nothing from it.
    """
    name, ref = best_method(table), known.bench.ref

    def make() -> bytes:
        fitted = ref.exact if name == "exact" else trained(resolve([name])[name], ref)[0]
        return problem.packed(fitted)

    return make


def code(problem: Problem, table: pd.DataFrame) -> str:
    """Return the lines that make the advised estimator again."""
    name = best_method(table)
    if name == "linear_svc":
        return LINEAR[0] + CODE.format(problem=problem.code, estimator=LINEAR[1])
    method, chosen = offered(name)
    parameters = chosen.parameters_for(int(table.loc["exact", "steps_mean"]))
    words = [f"{key}={value!r}" for key, value in parameters.items()]
    own = ["kernel=kmviz.KernelMachine.from_estimator(svc).kernel", "C=svc.C"]
    arguments = ", ".join(["svc", *words] if method.takes_frozen else [*words, *own])
    return CODE.format(problem=problem.code, estimator=f"kmviz.{method.cls.__name__}({arguments})")
