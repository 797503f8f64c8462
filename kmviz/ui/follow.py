"""One query followed: its line above the picture, and its steps played beside two others.

The two others are picked from the reading: the query that took fewest kernel values, and the one
that took most. Everything drawn stands in the records; nothing is computed of a method here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from kmviz.charts import Chart, walk as charts
from kmviz.charts.walk import EACH
from kmviz.traces import Reading, Trace
from kmviz.ui import lesson, pictures
from kmviz.ui.plane import plane
from kmviz.ui.runtime.jobs import Cache
from kmviz.ui.why import counted, pulls, why
from kmviz.views.fitted import MethodView, Shown
from kmviz.views.problem import Problem

#: Places on the slider for all steps after those that have one each.
AFTER = 20
_AT = "kmviz.followed"
_MARKS = ("●", "◆")

_views = Cache("follow views")

#: The lower and the upper end around a query's partial sums, from its trace.
Ends = Callable[[Any], tuple[NDArray[Any], NDArray[Any]]]


@dataclass(frozen=True, eq=False)
class Walk:
    """What is played of one query: its place ("query", "easy", "hard"), test row and trace."""

    key: str
    row: int
    record: Trace


def line(at: MethodView, of: int | None = None) -> None:
    """Draw the query's line: its true class, the answer, the cost, and why it stopped there.

    A lesson may quote the cost; while it asks, nothing is said of the reason.

    Parameters
    ----------
    of : kernel values of an exact answer; default: the machine's
    """
    problem, record, steps = at.now.problem, at.trace, at.cost()
    truth, answer = int(problem.label > 0), int(record.output > 0)
    names = [f"{mark} {name}" for mark, name in zip(_MARKS, problem.names)]
    verdict = ":green[✓]" if truth == answer else ":red[✗]"
    differs = (record.output > 0) != (record.exact > 0)
    end = " The exact machine says the opposite." if differs else ""
    reason = "" if lesson.is_asking() else f" {_plain(why(record))}"
    lesson.note("This query", f"{steps:,}")
    m = of or problem.n_vectors
    share = f"of {m:,}" if steps <= m else f"({m:,} and {steps - m} before)"
    st.markdown(
        f":small[★ **Query {problem.query}**: truly {names[truth]}, answered {names[answer]} "
        f"{verdict} for **{steps:,}** {share} kernel values.{reason}{end}]"
    )


def _plain(text: str) -> str:
    """Return a text so that its square brackets end no small print."""
    return text.replace("[", r"\[").replace("]", r"\]")


def easy_and_hard(now: Shown, reading: Reading) -> tuple[int, int]:
    """Return the test rows that took fewest and most kernel values, the plainest on a tie."""
    size = np.abs(reading.exact)
    cheap = np.lexsort((-size, reading.steps))[0]
    dear = np.lexsort((size, -reading.steps))[0]
    return int(now.rows[cheap]), int(now.rows[dear])


def section(
    at: MethodView, vectors: NDArray[Any], ends: Ends | None = None, name: str = ""
) -> None:
    """Draw the query beside an easy and a hard one, step by step, with a slider that plays.

    Parameters
    ----------
    vectors : what `index` of a trace counts: rows of features
    ends : gives the lower and the upper end around the sum, from a trace
    name : what lies between them
    """
    st.subheader("Follow a query, beside an easy and a hard one", anchor=False)
    key = (at.now.key, repr(at.classifier.get_params(deep=False)), at.now.problem.query)
    steps, views, note = _views.get(key, lambda: _made(at, vectors, ends, name))
    here = min(st.session_state.get(_AT, steps[-1]), steps[-1])
    pictures.show(
        "follow", "Vectors asked k", steps, here, views, note=note,
        columns=min(3, len(views)), on_release=_keep,
        help="Play: each step asks one vector more.",
    )  # fmt: skip


def _keep(step: int) -> None:
    st.session_state[_AT] = step


def _made(at: MethodView, vectors: NDArray[Any], band: Ends | None, name: str) -> Any:
    now = at.now
    easy, hard = easy_and_hard(now, at.reading)
    rows = {"query": now.problem.query, "easy": easy, "hard": hard}
    walks = [
        Walk(key, row, at.classifier.trace(now.problem.data.X_test[row]))
        for key, row in rows.items()
        if key == "query" or row != now.problem.query
    ]
    steps = positions(max(walk.record.stop for walk in walks))
    views: list[Any] = [_walk(now.problem, walk, steps, band, name) for walk in walks]
    asked = [_asked(now.problem, walk, steps, vectors) for walk in walks]
    note = [_note(walks, step) for step in steps]
    return steps, views + [view for view in asked if view is not None], note


def positions(last: int) -> tuple[int, ...]:
    """Return the steps at which the slider may stand, from none to the last."""
    first = range(min(EACH, last) + 1)
    after = np.geomspace(max(min(EACH, last), 1), max(last, 1), AFTER + 1).round().astype(int)
    return tuple(sorted({*first, *after.tolist(), 1}))


def _title(walk: Walk) -> str:
    word = {"query": "Your query", "easy": "An easy one", "hard": "A hard one"}[walk.key]
    return f"{word}: {walk.row}"


def _note(walks: list[Walk], step: int) -> str:
    """Say where the walks are; once for all, where all end alike."""
    stops = {walk.record.stop for walk in walks}
    if len(stops) == 1 and step >= max(stops) > 0:
        return f"Each was answered after {counted(step, '')}: here no query is cheaper than others."
    return "  ".join(_now(walk, step) for walk in walks)


def _now(walk: Walk, step: int) -> str:
    """Say where a walk is."""
    word = {"query": "Your query", "easy": "The easy one", "hard": "The hard one"}[walk.key]
    if not walk.record.stop:
        return f"{word} was answered before the first vector."
    if step >= walk.record.stop:
        return f"{word} was answered after {counted(walk.record.stop, '')}."
    return f"{word}: {walk.record.arrays()['partial'][step]:.3g} so far."


def _walk(problem: Problem, walk: Walk, steps: tuple[int, ...], band: Any, name: str) -> Chart:
    return charts.trajectory(
        walk.record, steps, problem.data.class_names,
        None if band is None else band(walk.record), name,
        key=f"walk_{walk.key}", title=_title(walk),
    )  # fmt: skip


def _asked(problem: Problem, walk: Walk, steps: tuple[int, ...], vectors: NDArray[Any]) -> Any:
    """Return the vectors used: points on the map, or images one after the other."""
    index = np.asarray(walk.record.arrays()["index"])[1 : walk.record.stop + 1]
    known = (index >= 0) & (index < len(vectors))
    shown = [np.flatnonzero(known[: min(step, walk.record.stop)]) for step in steps]
    toward = (pulls(walk.record)[1:] > 0).astype(int)
    rows, key = vectors[np.where(known, index, 0)], f"asked_{walk.key}"
    if problem.is_plane:
        return charts.used_on_map(plane(problem), walk.row, rows, shown, toward, key)
    if problem.image_shape:
        query, shape = problem.data.X_test[walk.row], problem.image_shape
        images = rows.reshape(-1, *shape)
        names = problem.data.class_names
        return charts.used_images(query.reshape(shape), images, walk.row, shown, toward, names, key)
    return None
