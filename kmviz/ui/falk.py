"""What the Local models page reads: trained local models, their regions, and the sweep over k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from kmviz.figures.falk import LocalMap, zero_lines
from kmviz.methods.falk import FaLKClassifier, LocalNoiseReducer
from kmviz.methods.falk.models import answer
from kmviz.methods.falk.neighbors import search_rows
from kmviz.methods.falk.selection import risk_bound
from kmviz.traces import LocalTrace
from kmviz.ui import state
from kmviz.ui.params import Choice, Flag, Number
from kmviz.ui.plane import grid, plane
from kmviz.ui.problem import Problem

OWN = {
    "k": Number(60, 2, 2000),
    "kp": Number(30, 1, 2000),
    "select": Choice("point", "center"),
    "cover": Choice("random", "tree"),
    "width": Choice("machine", "local"),
    "removed": Flag(False),
}
SELECTS = {
    "point": "nearest point's centre (FaLK)",
    "center": "nearest centre (FaLKc)",
}
COVERS = {"random": "random order", "tree": "cover-tree order"}
WIDTHS = {"machine": "the machine's", "local": "each its own (median)"}

#: Boundaries and circles are drawn for at most this many models, those nearest to the query.
DRAWN = 50
SWEEP = (5, 10, 20, 40, 80, 160, 320, 640, 1280)


@dataclass(frozen=True, eq=False)
class Reading:
    """Trained local models and everything a click reads.

    Attributes
    ----------
    outputs, steps : arrays of shape (n_test,)
        Outputs and kernel values of the test rows.
    regions, composed : arrays of the grid's shape, or None where the data is no plane
    inner, outer : arrays of shape (M,)
        Radii of the k'- and k-neighbourhoods.
    """

    classifier: FaLKClassifier
    outputs: NDArray[np.float64]
    steps: NDArray[np.intp]
    regions: NDArray[np.int32] | None
    composed: NDArray[np.float32] | None
    inner: NDArray[np.float64]
    outer: NDArray[np.float64]
    accuracy: float


def limit(problem: Problem) -> int:
    """Keep k within the data and k' within k; return the largest k."""
    most = min(2000, len(problem.data.X_train))
    state.limit("k", 2, most)
    state.limit("kp", 1, st.session_state["k"])
    return most


def read(problem: Problem) -> Reading:
    """Return the local models that the session describes, trained or from the cache."""
    session = st.session_state
    return _read(
        problem.key, session["k"], session["kp"], session["select"], session["cover"],
        session["width"], problem,
    )  # fmt: skip


def trace(problem: Problem, reading: Reading) -> LocalTrace:
    """Return the record of the selected query."""
    return reading.classifier.trace(problem.x)


def map_of(problem: Problem, reading: Reading, record: LocalTrace) -> LocalMap:
    """Return what the map draws around the selected query."""
    clf, view = reading.classifier, plane(problem)
    drawn, answering = _drawn(clf, problem.x, record.model)
    lines = np.zeros((0, 2, 2), dtype=np.float32)
    if reading.regions is not None:
        lines = _local_lines(problem.key, _key_of(), tuple(drawn), problem, reading)
    members = view.points[clf.neighborhood(record.model)]
    removed = view.points[:0]
    if st.session_state["removed"]:
        removed = view.points[noise(problem)]
    return LocalMap(
        centers=view.points[clf.centers_[drawn]], inner=reading.inner[drawn],
        outer=reading.outer[drawn], regions=reading.regions, composed=reading.composed,
        lines=lines, answering=answering, nearest=view.points[record.nearest],
        members=members, vectors=view.points[record.index[1:]], n_cover=clf.n_cover_,
        removed=removed,
    )  # fmt: skip


def noise(problem: Problem) -> NDArray[np.bool_]:
    """Return which training rows noise reduction would remove."""
    return _noise(problem.key, st.session_state["k"], problem)


def sweep(problem: Problem) -> pd.DataFrame:
    """Return accuracy, cost and number of models for growing k, k' half of it."""
    session = st.session_state
    return _sweep(problem.key, session["select"], session["cover"], session["width"], problem)


def metrics(problem: Problem, reading: Reading, record: LocalTrace) -> list[tuple[str, str, str]]:
    """The page's figures."""
    clf = reading.classifier
    mean, svm = reading.steps.mean(), 1 - problem.test_error
    members = clf.neighborhood(record.model)
    wrong = clf.predict(clf.rows_[members]) != problem.data.y_train[members]
    n, d = clf.rows_.shape
    bound = risk_bound(n, clf.n_neighbors_, float(wrong.mean()), d + 1)
    return [
        ("Accuracy", f"{reading.accuracy:.1%}", f"On the test rows. Global SVM: {svm:.1%}."),
        ("Local models", f"{len(clf.models_):,}", f"SVMs of {clf.n_neighbors_} points each."),
        (
            "Kernel values a query", f"{mean:.1f}",
            f"Support vectors of the model that answers, on average; the global SVM takes "
            f"{problem.n_vectors:,}. The neighbour search adds about {clf.overhead_:.0f}.",
        ),
        (
            "Bound of eq. 13", f"{bound:.2f}",
            "On the risk of the model that answers, taking hyperplanes (h = d + 1); over 1 it "
            "says nothing. What counts is where it is least as k moves.",
        ),
    ]  # fmt: skip


def sentence(problem: Problem, reading: Reading, record: LocalTrace) -> str:
    """Say what happened to the query."""
    names, clf = problem.names, reading.classifier
    answered, exact = names[int(record.output > 0)], names[int(problem.exact[problem.query] > 0)]
    agrees = "as the global SVM does" if answered == exact else f"the global SVM says {exact}"
    how = (
        f"its nearest training point is row {record.nearest}, which belongs to the centre at row "
        f"{record.center}"
        if clf.select == "point"
        else f"the nearest centre is row {record.center}"
    )
    model = (
        f"whose SVM has {record.stop} support vectors and says {record.output:.3g}"
        if record.stop
        else "whose neighbourhood holds one class only"
    )
    return (
        f"**Query {problem.query}** (★): {how}, {model}: **{answered}**, {agrees}."
    )  # fmt: skip


def look_at_map(problem: Problem, reading: Reading) -> str:
    clf = reading.classifier
    empty = float(np.mean(clf.models_.sizes() == 0))
    told = f"{empty:.0%} of the neighbourhoods hold one class and need no SVM"
    many = len(clf.models_) > DRAWN
    cut = f" Circles of the {DRAWN} centres nearest to the query are drawn." if many else ""
    if reading.regions is None:
        return (
            f"The centre that answers is linked to the {clf.n_cover_} points that are its; {told}."
            " With many features, finding the nearest point can take longer than the answer of "
            "its SVM; the option `projection` shortens the search."
        )
    return (
        f"Each colour is answered by one centre; {told}. Where the dashed composed boundary jumps, "
        f"two neighbouring models disagree: a smaller k' makes the jumps smaller.{cut} Click a "
        "place to make the test row there the query."
    )


def look_at_sweep(problem: Problem, table: pd.DataFrame) -> str:
    best = table.loc[table["accuracy"].idxmax()]
    gap = best["accuracy"] - (1 - problem.test_error)
    side = "as accurate as" if abs(gap) < 0.002 else "above" if gap > 0 else "below"
    return (
        f"Best at k = {int(best['n_neighbors'])}: {best['accuracy']:.1%}, {side} the global SVM, "
        f"with {best['steps']:.0f} kernel values a query instead of {problem.n_vectors:,}. A "
        "larger k takes fewer models and more kernel values each."
    )


def estimator(problem: Problem, reading: Reading) -> bytes:
    return problem.packed(reading.classifier)


def code(problem: Problem) -> str:
    """The lines that rebuild the page's models."""
    session = st.session_state
    kernel, gamma = _kernel(problem, session["width"])
    written = f"gamma={gamma!r}" if kernel == "rbf" and gamma == "local" else f"kernel={kernel!r}"
    imported = "" if gamma == "local" else "from kmviz.kernels import *\n"
    return (
        f"{problem.code}\n{imported}from kmviz import FaLKClassifier\n"
        f"local = FaLKClassifier(n_neighbors={session['k']}, n_cover={session['kp']}, {written},\n"
        f"    C={problem.svc.C:g}, select={session['select']!r}, cover={session['cover']!r},\n"
        "    random_state=0).fit(X, y)\n"
        f"print(local.trace(X_test[{problem.query}]).to_frame())"
    )


def _kernel(problem: Problem, width: str) -> tuple[Any, Any]:
    if width == "local" and st.session_state["kernel"] == "rbf":
        return "rbf", "local"
    return problem.machine.kernel, "scale"


def _key_of() -> tuple:
    session = st.session_state
    return tuple(session[name] for name in ("k", "kp", "cover", "width"))


@st.cache_resource(max_entries=8, show_spinner="Training the local models …", show_time=True)
def _fitted(key: tuple, k: int, kp: int, cover: str, width: str, _problem: Problem) -> Any:
    kernel, gamma = _kernel(_problem, width)
    return FaLKClassifier(
        k, min(kp, k), kernel=kernel, gamma=gamma, C=_problem.svc.C, cover=cover, random_state=0,
        n_jobs=-1,
    ).fit(_problem.data.X_train, _problem.data.y_train)  # fmt: skip


@st.cache_resource(max_entries=16, show_spinner=False)
def _read(
    key: tuple, k: int, kp: int, select: str, cover: str, width: str, _problem: Problem
) -> Reading:
    clf = _fitted(key, k, kp, cover, width, _problem).selecting(select)
    data = _problem.data
    outputs = clf.decision_function(data.X_test)
    regions = composed = None
    if _problem.is_plane:
        x, y, rows = grid(_problem)
        models, which, _ = clf._local(rows)
        regions = which.reshape(len(y), len(x))
        composed = clf._evaluate(models, which, rows)[:, 0].reshape(len(y), len(x))
    radii = np.zeros((len(clf.models_), 2))
    if _problem.is_plane:
        centers = data.X_train[clf.centers_]
        found = clf.index_.query(search_rows(clf.kernel_, centers), clf.n_neighbors_)
        ends = data.X_train[found[:, [clf.n_cover_ - 1, -1]]]
        radii = np.linalg.norm(ends - centers[:, None], axis=2)
    return Reading(
        classifier=clf, outputs=outputs, steps=clf.steps(data.X_test), regions=regions,
        composed=None if composed is None else composed.astype(np.float32), inner=radii[:, 0],
        outer=radii[:, 1], accuracy=float(np.mean((outputs > 0) == (data.y_test > 0))),
    )  # fmt: skip


def _drawn(clf: FaLKClassifier, x: NDArray[Any], model: int) -> tuple[NDArray[Any], int]:
    """Return the models to draw, nearest to the query first kept, and where `model` is in them."""
    gaps = np.linalg.norm(clf.rows_[clf.centers_] - x, axis=1)
    gaps[model] = -1.0
    drawn = np.sort(np.argsort(gaps, kind="stable")[:DRAWN])
    return drawn, int(np.searchsorted(drawn, model))


@st.cache_data(max_entries=32, show_spinner=False)
def _local_lines(
    key: tuple, own: tuple, drawn: tuple, _problem: Problem, _reading: Reading, size: int = 20
) -> NDArray[np.float32]:
    """Each local boundary inside its k-neighbourhood."""
    clf, pieces = _reading.classifier, [np.zeros((0, 2, 2))]
    side = np.linspace(-1, 1, size)
    square = np.column_stack([a.ravel() for a in np.meshgrid(side, side)])
    inside = (square**2).sum(axis=1) <= 1.02
    models = np.array([m for m in drawn if clf.models_.sizes()[m]], dtype=np.intp)
    centers = clf.rows_[clf.centers_[models]].astype(np.float64)
    reach = _reading.outer[models]
    rows = (centers[:, None] + square * reach[:, None, None]).reshape(-1, 2)
    which = np.repeat(models, len(square))
    values = answer(clf.models_, which, rows, clf.embedded_, clf.kernel_, -1)[:, 0]
    values = np.where(np.tile(inside, len(models)), values, np.nan).reshape(-1, size, size)
    for center, radius, field in zip(centers, reach, values, strict=True):
        pieces.append(zero_lines(center[0] + radius * side, center[1] + radius * side, field))
    return np.concatenate(pieces).astype(np.float32)


@st.cache_data(max_entries=16, show_spinner="Looking for noise …", show_time=True)
def _noise(key: tuple, k: int, _problem: Problem) -> NDArray[np.bool_]:
    reducer = LocalNoiseReducer(
        n_neighbors=k, kernel=_problem.machine.kernel, C=_problem.svc.C, random_state=0, n_jobs=-1
    )
    reducer.fit_resample(_problem.data.X_train, _problem.data.y_train)
    return reducer.noise_


@st.cache_data(max_entries=16, show_spinner="Training for every k …", show_time=True)
def _sweep(key: tuple, select: str, cover: str, width: str, _problem: Problem) -> pd.DataFrame:
    n, d = _problem.data.X_train.shape
    most = min(n, 1280 if d <= 60 else 320)
    rows = []
    for k in [k for k in SWEEP if k <= most] or [n]:
        reading = _read(key, k, max(1, k // 2), select, cover, width, _problem)
        mean = max(float(reading.steps.mean()), 0.1)
        rows.append((k, reading.accuracy, mean, len(reading.classifier.models_)))
    return pd.DataFrame(rows, columns=["n_neighbors", "accuracy", "steps", "models"])
