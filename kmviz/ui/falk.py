"""What the Local models page shows: trained local models, their regions, and the sweep over k."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from kmviz.charts import Chart, Images, falk as charts
from kmviz.charts.geometry import contour
from kmviz.methods.falk import FaLKClassifier
from kmviz.methods.falk.theory import LocalityGap, locality_gap
from kmviz.traces import LocalModel, LocalReading, LocalTrace
from kmviz.ui.maps import CELLS
from kmviz.ui.plane import grid, plane
from kmviz.ui.runtime.fitted import show
from kmviz.ui.runtime.jobs import Cache
from kmviz.ui.shell import url
from kmviz.ui.shell.controls import draw, row
from kmviz.ui.why import counted
from kmviz.views.fitted import MethodView, Shown
from kmviz.views.problem import Problem

OWN = ("k", "kp", "select", "cover", "width", "a", "removed")

#: Boundaries are drawn of at most this many models, those nearest to the query.
DRAWN = 8
#: Test rows that accuracies rest on, at most.
MOST_ROWS = 10_000
#: Sizes that are trained in advance; with many features, where each takes longer, fewer.
SWEEP = (5, 10, 15, 20, 30, 40, 60, 80, 120, 160, 320, 640, 1280)
SHORT_SWEEP = (5, 10, 20, 40, 80, 160, 320)
#: Where k' was chosen: how many times as many points k may be in the sweep.
MOST_TIMES = 8

#: Test rows that an SVM of their own is trained for.
LAZY_ROWS = 200

_regions, _sweeps = Cache("local regions"), Cache("local sweep")
_asked, _gaps = Cache("local answers"), Cache("local gap")


@dataclass(frozen=True, eq=False)
class Page:
    """The local models as the page shows them.

    Attributes
    ----------
    shown : Shown
    select : str
        Which model answers.
    classifier : FaLKClassifier
    reading : LocalReading
        What it makes of the test rows.
    trace : LocalTrace
        The query's record.
    model : LocalModel
        The model that answers it.
    accuracy : float
        On the test rows.
    is_marked : bool
        Whether rows are marked that the model of their own centre contradicts.
    sizes : list of Size
        Those of the sweep that were trained when this run first asked for them.
    """

    shown: Shown
    select: str
    classifier: FaLKClassifier
    reading: LocalReading
    trace: LocalTrace
    model: LocalModel
    accuracy: float
    is_marked: bool = False
    sizes: list[Size] = field(default_factory=list)


def chosen(problem: Problem) -> Page:
    """Draw the choices, k within the data and k' within k, and return what they say."""
    *numbers, select, cover, width = row(2, 2, 5, 3, 4)
    k = draw("k", numbers[0], high=min(2000, len(problem.data.X_train)))
    draw("kp", numbers[1], high=k)
    draw("select", select)
    draw("cover", cover)
    draw("width", width)
    return page(problem)


def is_linked(said: Mapping[str, Any] = url.PRESENT) -> bool:
    """Return True if k' is half of k, and stays so when k moves."""
    return said["kp"] in (None, max(1, said["k"] // 2))


def cover_of(k: int, said: Mapping[str, Any] = url.PRESENT) -> int:
    """Return the k' that goes with a k."""
    return max(1, k // 2) if is_linked(said) else min(said["kp"], k)


def put_k(k: int) -> None:
    """Choose a k, and a k' that stays half of it; from a callback."""
    url.put(k=k, **({"kp": None} if is_linked() else {}))


def parameters(
    problem: Problem, k: int, n_cover: int, said: Mapping[str, Any] = url.PRESENT
) -> dict[str, Any]:
    """Return what the controls say of the estimator."""
    is_local = said["width"] == "local" and said["kernel"] == "rbf"
    kernel = {"gamma": "local"} if is_local else {"kernel": problem.machine.kernel}
    return {
        "n_neighbors": k,
        "n_cover": n_cover,
        **kernel,
        "C": float(problem.svc.C),
        "cover": said["cover"],
        "random_state": 0,
    }


def view(problem: Problem, said: Mapping[str, Any]) -> MethodView:
    """Return what the page shows of the query under these choices."""
    found = page(problem, said)
    choice = {"select": found.select}
    return MethodView(found.shown, choice, said, found.classifier, found.trace, found)


def picture_of(at: MethodView) -> Chart | Images:
    """Return the one picture of a view."""
    return picture(at.now.problem, at.page)


def page(problem: Problem, said: Mapping[str, Any] = url.PRESENT) -> Page:
    """Return the local models that the choices describe, trained or from the cache."""
    _compiled()
    k, select = min(said["k"], len(problem.data.X_train)), said["select"]
    chosen = parameters(problem, k, cover_of(k, said), said)
    shown = show(problem, "falk", chosen, MOST_ROWS)
    clf, reading = shown.study.classifier(select=select), _read(problem, shown.study, select)
    record = clf.trace(problem.x)
    return Page(
        shown, select, clf, reading, record, clf.local_model(record.model),
        shown.figures(reading)["accuracy"], said["removed"],
    )  # fmt: skip


@st.cache_resource(show_spinner=False)
def _compiled() -> bool:
    """Load the compiled loops, so that the training time shown is training's."""
    FaLKClassifier(2, gamma=1.0).fit(np.arange(8.0).reshape(4, 2), [0, 1, 0, 1])
    return True


def gap_of(problem: Problem, page: Page) -> LocalityGap:
    """Return what answering with a centre's model costs against one around each query."""
    key = (problem.key, tuple(sorted(page.shown.parameters.items())), page.select)
    rows = page.shown.rows[:LAZY_ROWS]
    data = problem.data
    return _gaps.get(
        key, lambda: locality_gap(page.classifier, data.X_test[rows], data.y_test[rows])
    )


def picture(problem: Problem, page: Page, sizes: Sequence[Size] | None = None) -> Chart | Images:
    """Return the neighbourhood that answers: on the map, in a projection, or as images.

    Parameters
    ----------
    sizes : of the local models; default: those shown
    """
    sizes = [Size(page.classifier.n_neighbors_, page.shown.study, 0.0)] if sizes is None else sizes
    homes = [home_of(problem, page, size) for size in sizes]
    if problem.image_shape:
        shape = (-1, *problem.image_shape)
        rows, labels = problem.data.X_train.reshape(shape), problem.data.y_train
        return charts.local_images(problem.x.reshape(problem.image_shape), rows, labels, homes)
    if not problem.is_plane:
        return charts.local_points(plane(problem), homes, problem.query)
    x, y, _ = grid(problem, CELLS)
    models = [models_of(problem, page, size) for size in sizes]
    k = [size.k for size in sizes]
    return charts.local_map(plane(problem), (x, y), models, homes, k, problem.query)


def home_of(problem: Problem, page: Page, size: Size) -> charts.Home:
    """Return the model of a size that answers the query, and what is drawn around it."""
    clf = size.study.classifier(select=page.select)
    model = clf.local_model(int(clf.apply(problem.x[None])[0]))
    lines = np.zeros((0, 2), dtype=np.float32)
    if problem.is_plane:
        near = _near(clf, problem.x, model.model)
        lines = _local_lines(clf, near, clf.radii(near)[:, 1])
    removed = np.zeros(0, dtype=np.intp)
    if page.is_marked:
        removed = np.flatnonzero(clf.contradicted())
    return charts.Home(model, page.trace.nearest, lines, removed)


def models_of(problem: Problem, page: Page, size: Size) -> charts.Models:
    """Return what the models of one size say over the plane."""
    clf = size.study.classifier(select=page.select)
    key = (problem.key, tuple(sorted(clf.get_params(deep=False).items())))
    return _regions.get(key, lambda: _over_plane(problem, clf), "Asking the plane")


def _over_plane(problem: Problem, clf: FaLKClassifier) -> charts.Models:
    x, y, rows = grid(problem, CELLS)
    shape = (len(y), len(x))
    owner, counts = clf.apply(rows), clf.models_.sizes()
    return charts.Models(
        owner=owner.reshape(shape),
        steps=counts[owner].reshape(shape),
        line=contour(clf.decision_function(rows).reshape(shape), x, y),
        centers=clf.rows_[clf.centers_].astype(np.float32),
        radii=clf.radii()[:, 1].astype(np.float32),
        words=[_said(count, clf.n_neighbors_) for count in counts.tolist()],
    )


def _said(count: int, k: int) -> str:
    """What the pointer says of a model."""
    return f"{counted(count)} of {k} points" if count else f"{k} points, all of one class"


def _near(clf: FaLKClassifier, x: NDArray[Any], model: int) -> NDArray[Any]:
    """Return the models whose boundaries are drawn: those nearest to the query, and its own."""
    gaps = np.linalg.norm(clf.rows_[clf.centers_] - x, axis=1)
    gaps[model] = -1.0
    return np.sort(np.argsort(gaps, kind="stable")[:DRAWN])


def _local_lines(
    clf: FaLKClassifier, drawn: NDArray[Any], reach: NDArray[Any], size: int = 20
) -> NDArray[np.float32]:
    """Each local boundary inside its k-neighbourhood."""
    lines = [np.zeros((0, 2))]
    side = np.linspace(-1, 1, size)
    square = np.column_stack([a.ravel() for a in np.meshgrid(side, side)])
    inside = (square**2).sum(axis=1) <= 1.02
    has_boundary = clf.models_.sizes()[drawn] > 0
    models, reach = drawn[has_boundary], reach[has_boundary]
    centers = clf.rows_[clf.centers_[models]].astype(np.float64)
    rows = (centers[:, None] + square * reach[:, None, None]).reshape(-1, 2)
    values = clf.model_outputs(np.repeat(models, len(square)), rows) if len(rows) else np.zeros(0)
    values = np.where(np.tile(inside, len(models)), values, np.nan).reshape(-1, size, size)
    for center, radius, levels in zip(centers, reach, values, strict=True):
        line = contour(levels, center[0] + radius * side, center[1] + radius * side)
        lines += [line, np.full((1, 2), np.nan)]
    return np.concatenate(lines).astype(np.float32)


@dataclass(frozen=True, eq=False)
class Size:
    """Local models of one size, and what they make of the test rows.

    Attributes
    ----------
    k : int
    study : FaLKStudy
    seconds : float
        Time that training took.
    """

    k: int
    study: Any
    seconds: float


def sizes(problem: Problem, page: Page) -> list[Size]:
    """Return the local models shown and those of the sweep that are trained by now.

    The others are trained once the page is drawn, and by other sessions at any time: one run sees
    the same ones throughout.
    """
    if page.sizes:
        return page.sizes
    here = Size(st.session_state["k"], page.shown.study, page.shown.fit_seconds)
    found = [here]
    for k in _wanted(problem):
        train = partial(_trained, problem, parameters(problem, k, cover_of(k)), page.shown.rows)
        size = None
        if k != here.k:
            size = _sweeps.later((_key(problem), k), train, f"Training for k = {k}:")
        if size is not None:
            found.append(size)
    page.sizes.extend(sorted(found, key=lambda size: size.k))
    return page.sizes


def _key(problem: Problem) -> tuple:
    n_cover = 0 if is_linked() else st.session_state["kp"]
    return (problem.key, tuple(sorted(parameters(problem, 0, n_cover).items())))


def _wanted(problem: Problem) -> list[int]:
    """Return the sizes of the sweep."""
    n, d = problem.data.X_train.shape
    wanted = [k for k in (SWEEP if d <= 60 else SHORT_SWEEP) if k <= n] or [n]
    if is_linked():
        return wanted
    least = st.session_state["kp"]
    return [k for k in wanted if least <= k <= MOST_TIMES * least]


def _trained(problem: Problem, chosen: dict[str, Any], asked: NDArray[Any]) -> Size:
    data = problem.data
    start = time.perf_counter()
    clf = FaLKClassifier(**chosen).fit(data.X_train, data.y_train)
    seconds = time.perf_counter() - start
    return Size(chosen["n_neighbors"], clf.study(data.X_test[asked]), seconds)


def read(problem: Problem, page: Page, size: Size) -> LocalReading:
    """Return what the models of one size make of the test rows, asked once."""
    return _read(problem, size.study, page.select)


def _read(problem: Problem, study: Any, select: str) -> LocalReading:
    parameters = sorted(study.fitted.get_params(deep=False).items())
    key = (problem.key, tuple(parameters), select)
    return _asked.get(key, lambda: study.read(select=select))


def sweep(problem: Problem, page: Page) -> pd.DataFrame:
    """Return accuracy, cost, training time and number of models for growing k."""
    rows = []
    for size in sizes(problem, page):
        reading = read(problem, page, size)
        steps = max(float(reading.steps.mean()), 0.1)  # drawn on a log scale
        accuracy = page.shown.figures(reading)["accuracy"]
        rows.append((size.k, accuracy, steps, size.seconds, len(size.study.fitted.models_)))
    return pd.DataFrame(rows, columns=["n_neighbors", "accuracy", "steps", "seconds", "models"])


def whole(problem: Problem) -> dict[str, float]:
    """Return what the sweep is compared with: the global SVM."""
    return {
        "accuracy": 1.0 - problem.test_error,
        "steps": float(problem.n_vectors),
        "seconds": problem.fit_seconds,
    }
