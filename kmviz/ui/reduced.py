"""What the Reduced set page shows: the virtual machine, every size of the path, errors, times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import thread_time
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from kmviz.charts import reduced as charts
from kmviz.charts.geometry import contour
from kmviz.evaluation.cost import cpu_seconds, one_thread
from kmviz.machines import KernelMachine
from kmviz.methods.transforms import shifts
from kmviz.ui import pictures
from kmviz.ui.maps import CELLS
from kmviz.ui.plane import axes_of, grid, plane
from kmviz.ui.runtime.fitted import show, study_of
from kmviz.ui.runtime.jobs import Cache
from kmviz.ui.shell import url
from kmviz.ui.shell.controls import draw, row
from kmviz.views.controls import CONTROLS
from kmviz.views.fitted import MethodView, Shown
from kmviz.views.problem import Problem

OWN = ("vectors", "method", "tune", "shift", "a")

#: Vectors at most, rows that errors rest on at most, and rows that times are taken with.
MOST_VECTORS, MOST_ROWS, TIMED_ROWS = 48, 10_000, 500
#: Images shown at a size at most; queries drawn at most where there is no map.
MOST_IMAGES, DRAWN = 20, 2_000
#: Seconds that each timing lasts at least.
SHORT = 0.002
#: Vectors that are found before the page is drawn, where no more are asked for.
FIRST_VECTORS = 10

#: Sizes that stand on the slider where all of them would be too many images to send.
SIZES = (*range(1, 17), 18, 20, 24, 28, 32, 40, 48)

_pages, _curves = Cache("reduced pages"), Cache("reduced curves")
_read = Cache("reduced sizes")


@dataclass(frozen=True, eq=False)
class Page:
    """The reduced machine as the page shows it.

    Attributes
    ----------
    shown : Shown
        The reduced set; `shown.over` holds the virtual support vectors, where there are any.
    curves : frame
        For each size n: `rho`, `error` and `bayes_error` (in percent), `changed` answers, and
        `seconds`.
    before : frame
        Name, vectors, errors and seconds of the machines that come before the reduced one.
    """

    shown: Shown
    curves: pd.DataFrame
    before: pd.DataFrame

    @property
    def base(self) -> KernelMachine:
        """The machine that is reduced."""
        return self.shown.study.fitted.original_

    @property
    def n_vectors(self) -> int:
        """The largest size."""
        return len(self.curves)


def possible(kernel: str) -> list[str]:
    """The ways that a kernel allows."""
    return [name for name in CONTROLS["method"].options if kernel == "rbf" or name != "fixed_point"]


def chosen(problem: Problem) -> Page:
    """Draw the choices, of the shift where there are images, and return what they say."""
    places = row(1, 1, 1) if problem.image_shape else row(1, 1)
    method = draw("method", places[0], options=possible(st.session_state["kernel"]))
    tune = draw("tune", places[1])
    if problem.image_shape:
        draw("shift", places[2])
    found = page(problem, method, st.session_state["shift"], tune)
    url.limit("vectors", 1, found.n_vectors)
    return found


def view(problem: Problem, said: Mapping[str, Any]) -> MethodView:
    """Return what the page shows of the query under these choices."""
    names = possible(said["kernel"])
    method = said["method"] if said["method"] in names else names[0]
    found = page(problem, method, said["shift"], said["tune"], said["vectors"])
    choice = {"n_vectors": min(said["vectors"], found.n_vectors)}
    clf = found.shown.study.classifier(**choice)
    return MethodView(found.shown, choice, said, clf, clf.trace(problem.x), found)


def picture_of(at: MethodView) -> Any:
    """Return the one picture of a view."""
    return picture(at.now.problem, at.page, at.choice["n_vectors"])


def figures(at: MethodView) -> dict[str, str]:
    """Return the figures under the slider where it stands."""
    found = numbers(at.page, [at.choice["n_vectors"]])
    return {name: text if isinstance(text, str) else text[0] for name, text in found.items()}


def page(
    problem: Problem, method: str, shift: int, tune: str = "none", vectors: int | None = None
) -> Page:
    """Return what the page shows, from the cache where it is there.

    Parameters
    ----------
    vectors : so many at least; default: those chosen
    """
    vectors = st.session_state["vectors"] if vectors is None else vectors
    over, machine = None, problem.machine
    if problem.image_shape and shift:
        image = {"image_shape": problem.image_shape, "shift": shift}
        over = show(problem, "virtual", image, most=1)
        machine = over.study.fitted.machine_
    most = min(MOST_VECTORS, machine.n_vectors)
    parameters = {"method": method, "every_size": True}
    if tune != "none":
        parameters |= {"tune": tune, "random_state": 0}
    key = (problem.key, tuple(sorted(parameters.items())), over is not None and shift)
    find = partial(_page, problem, parameters, over, key)
    whole = _pages.later(key, partial(find, most), "All sizes:")
    # At each size the vectors are the same, however many more are found.
    return whole or find(min(most, max(FIRST_VECTORS, vectors)))


def _page(
    problem: Problem, parameters: dict[str, Any], over: Shown | None, key: tuple, most: int
) -> Page:
    """Find up to so many vectors, and measure what each number of them changes."""
    shown = show(problem, "reduced", parameters | {"n_vectors": most}, MOST_ROWS, over)
    text = "Counting errors and time"
    curves, before = _curves.get((*key, most), lambda: _measured(shown), text)
    return Page(shown, curves, before)


def _measured(shown: Shown) -> tuple[pd.DataFrame, pd.DataFrame]:
    problem, study = shown.problem, shown.study
    positive = problem.data.y_test[shown.rows] > 0
    sizes = study.readings["n_vectors"]
    frames = {name: study.frames("n_vectors", threshold=name) for name in ("machine", "bayes")}
    errors = {
        name: 100.0 * np.mean((read.outputs > 0) != positive, axis=1)
        for name, read in frames.items()
    }
    timed = sorted({sizes[0], sizes[len(sizes) // 2], sizes[-1]})
    seconds = [_seconds(problem, study.classifier(n_vectors=n).machine_) for n in timed]
    curves = pd.DataFrame(
        {
            "rho": frames["machine"].rho,
            "error": errors["machine"],
            "bayes_error": errors["bayes"],
            "changed": np.count_nonzero(~frames["machine"].agrees, axis=1),
            "seconds": np.interp(sizes, timed, seconds),
        },
        index=pd.Index(sizes, name="n"),
    )
    machines = {"ORIG: the machine": problem.machine}
    if shown.over is not None:
        machines["VSV: trained on virtual support vectors"] = study.fitted.original_
    outputs = [problem.exact[shown.rows], study.exact][: len(machines)]
    before = pd.DataFrame(
        {
            "machine": list(machines),
            "vectors": [machine.n_vectors for machine in machines.values()],
            "error %": [100.0 * np.mean((output > 0) != positive) for output in outputs],
            "seconds": [_seconds(problem, machine) for machine in machines.values()],
        }
    )
    return curves, before


def _seconds(problem: Problem, machine: KernelMachine) -> float:
    """Return the CPU seconds of one machine, in float32, for the same number of queries."""
    queries = problem.data.X_test[np.arange(TIMED_ROWS) % len(problem.data.X_test)]
    if queries.shape[1] != machine.n_features:  # it stands behind the first steps of a pipeline
        queries = problem.svc_rows(queries)
    queries = np.asarray(queries, dtype=np.float32)
    decide = partial(machine.decision_function, queries, np.float32)
    with one_thread():
        return cpu_seconds(decide, 3, SHORT, thread_time)


def table(page: Page, n: int) -> pd.DataFrame:
    """Return ORIG, VSV and RS: vectors, errors, times."""
    at = page.curves.loc[n]
    reduced = pd.DataFrame(
        {
            "machine": [f"RS: reduced to {n}", "RS: with the Bayes threshold"],
            "vectors": [n, n],
            "error %": [at["error"], at["bayes_error"]],
            "seconds": [at["seconds"]] * 2,
        }
    )
    frame = pd.concat([page.before, reduced], ignore_index=True)
    frame["times faster"] = frame["seconds"].iloc[0] / frame.pop("seconds")
    return frame.round({"error %": 2, "times faster": 1})


def columns() -> dict[str, Any]:
    """Return formats and explanations of that table's columns."""
    number = st.column_config.NumberColumn
    return {
        "vectors": number(format="localized", help="Kernel values of every answer."),
        "error %": number("test error", format="%.2f%%"),
        "times faster": number(format="%.1fx", help="Than the machine, many queries at once."),
    }


def read_sizes(problem: Problem, page: Page, sizes: Sequence[int]) -> charts.Sizes:
    """Read every size once, over the cells of a map or for test rows."""
    if problem.is_plane:
        x, y, rows = grid(problem, CELLS)
        study, taken = study_of(page.shown, rows, "map"), np.arange(len(rows))
    else:
        study, n = page.shown.study, len(page.shown.rows)
        taken = np.unique(np.linspace(0, n - 1, min(n, DRAWN)).astype(np.intp))
        rows = page.shown.rows[taken]
    read = [study.read(n_vectors=n) for n in sizes]
    outputs = np.array([reading.outputs[taken] for reading in read], dtype=np.float32)
    lines = []
    if problem.is_plane:
        lines = [contour(row.reshape(len(y), len(x)), x, y) for row in outputs]
    order = [np.argsort(-np.abs(reading.weights), kind="stable") for reading in read]
    if problem.image_shape:
        order = [heaviest[:MOST_IMAGES] for heaviest in order]
    spots = [places(problem, reading.vectors[first]) for reading, first in zip(read, order)]
    weights = [reading.weights[first] for reading, first in zip(read, order)]
    return charts.Sizes(rows, read[0].exact[taken], outputs, lines, spots, weights)


def charts_of(problem: Problem, page: Page, read: charts.Sizes, sizes: Sequence[int]) -> list[Any]:
    """Return the vectors by size, and what they answer: on the map, or query by query."""
    view, query = plane(problem), problem.query
    if problem.image_shape:
        first: Any = charts.vectors_as_images(read, sizes, problem.image_shape)
    else:
        first = charts.vectors_on_map(view, read, query, page.base.n_vectors)
    answers = charts.boundary(view, read, query) if problem.is_plane else None
    return [first, answers or charts.outputs(read, query)]


def picture(problem: Problem, page: Page, n: int) -> Any:
    """Return the one picture of a size: what it answers on a map, else its vectors."""
    found = charts_of(problem, page, read_sizes(problem, page, [n]), [n])
    return found[1] if problem.is_plane else found[0]


def places(problem: Problem, vectors: NDArray[Any]) -> NDArray[Any]:
    """Return reduced vectors as they are drawn: pixels of images, else places on the plane."""
    if problem.image_shape:  # embedded rows have a constant column at the end
        return vectors[:, : problem.data.X_train.shape[1]]
    rows = problem.data_rows(vectors)
    if problem.is_plane:
        return rows
    centre, directions, _ = axes_of(problem)
    return (rows - centre) @ directions


def strip(problem: Problem, shift: int) -> None:
    """Draw the heaviest support vector and its virtual copies, where there are any."""
    if problem.image_shape and shift:
        machine = problem.machine
        row = machine.vectors[[int(np.argmax(np.abs(machine.beta)))]]
        copies = [row, *(move(row) for move in shifts(problem.image_shape, shift))]
        captions = ("the support vector", "up", "down", "left", "right")
        images = np.array(copies).reshape(-1, *problem.image_shape)
        pictures.still(charts.virtual_strip(images, captions), on_click=None)


def slider(problem: Problem, page: Page) -> int:
    """Draw the slider over sizes with all that follows it; return the size chosen."""
    here, sizes = st.session_state["vectors"], list(range(1, page.n_vectors + 1))
    if problem.image_shape:
        sizes = sorted({*(n for n in SIZES if n in sizes), here, page.n_vectors})
    key = (page.shown.key, tuple(sizes))
    text = "Reduced set: every size"
    read = _read.get(key, lambda: read_sizes(problem, page, sizes), text)
    error = float(page.before["error %"].iloc[-1])
    views = [
        *charts_of(problem, page, read, sizes),
        charts.error(page.curves, error, sizes, len(page.shown.rows)),
        charts.rho(page.curves, sizes),
    ]
    return pictures.show(
        "vectors", "Vectors n", sizes, here, views,
        numbers=numbers(page, sizes),
        columns=2,
        front="boundary" if problem.is_plane else "",
        help="Reads the path again; nothing is searched anew.",
        on_click=pictures.pick,
    )  # fmt: skip


def numbers(page: Page, sizes: Any) -> dict[str, Any]:
    """Return the figures in a line, by size."""
    m, at, asked = page.base.n_vectors, page.curves.loc[list(sizes)], len(page.shown.rows)
    return {
        "Fewer kernel evaluations": [f"{m / n:,.0f}x" for n in sizes],
        "Disagreements": [f"{count:,} of {asked:,}" for count in at["changed"]],
        "Vectors": [f"{n}" for n in sizes],
        "Vectors m": f"{m:,}",
        "ρ": [f"{rho:.3f}" for rho in at["rho"]],
        "Test error": [f"{error:.2f}%" for error in at["error"]],
        "With Bayes threshold": [f"{error:.2f}%" for error in at["bayes_error"]],
    }


def look_at_vectors(problem: Problem, page: Page, n: int) -> str:
    """Say what to notice about the vectors."""
    many = f"{page.base.n_vectors:,}"
    if problem.image_shape:
        return (
            "These are no digits of the data: they are made up, and may have negative ink. Strokes "
            f"that speak for one class stand against those of the other; {n} such pictures replace "
            f"{many} support vectors."
        )
    return (
        f"The {n} reduced vectors (large marks) need not lie near the boundary, nor be training "
        f"rows: together they weigh as the {many} support vectors (small marks) do. Where "
        "two of opposite sign share nearly one spot, they stand for a slope there."
    )


def look_at_error(page: Page) -> str:
    """Say where the error settles."""
    curves, machine = page.curves, page.before["error %"].iloc[-1]
    good = np.flatnonzero(curves["error"] <= machine + 0.25)
    if len(good) == 0:
        return (
            "ρ falls with every vector, but the error has not yet reached the machine's own: "
            "this boundary takes more vectors."
        )
    n = int(curves.index[good[0]])
    is_better = curves["error"][n] <= machine
    how = "to err no more often" if is_better else "to come within a quarter of a point"
    who, they = ("vectors are", "they err") if n > 1 else ("vector is", "it errs")
    return (
        f"{n} {who} enough {how}: {they} on {curves['error'][n]:.1f}% of the test rows, the "
        f"machine on {machine:.1f}%, while a share of ρ = {curves['rho'][n]:.2f} of it is still "
        "missing: a right sign needs much less than the right value."
    )


def tuning(page: Page, n: int) -> str:
    """Say at which sizes the fine-tuning was kept; nothing where none was asked for."""
    study = page.shown.study
    if study.fitted.tune is None:
        return ""
    kept = [size for size in page.curves.index if study.classifier(n_vectors=int(size)).tuned_]
    return (
        f" Fine-tuning was kept at {len(kept)} of {len(page.curves)} sizes, where fewer of the "
        f"training rows that did not tune change sides; with {n} it was "
        f"{'kept' if n in kept else 'not'}. A tuned set lies further away (ρ) and answers more "
        "queries alike: distance is not what it minimises."
    )
