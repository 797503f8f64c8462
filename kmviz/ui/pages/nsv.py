"""The page of nearest support vectors: what it says, and the order of its pictures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from kmviz.charts import Chart, Images
from kmviz.ui import pictures
from kmviz.ui.maps import effort_view
from kmviz.ui.pages import Live, MethodPage
from kmviz.ui.plane import plane
from kmviz.ui.runtime.fitted import frames, show, view_of
from kmviz.ui.runtime.jobs import Cache
from kmviz.ui.shell import url
from kmviz.ui.shell.controls import draw, row
from kmviz.ui.shell.parts import look_for
from kmviz.views import nsv
from kmviz.views.controls import CONTROLS, NONE
from kmviz.views.fitted import MethodView, Shown
from kmviz.views.problem import Problem

SENTENCE = (
    "Add up the nearest support vectors first. Stop when the partial sum is larger than it ever "
    "was, at that step, for a training point of the other class."
)
USED = "Query {query}: the support vectors it used"
TRADEOFF = "Speed against disagreements"
LONG = (
    "This SVM took long to train, and cross-fitting would train ten more: thresholds come from "
    "{usual}. NSVClassifier itself has no such limit."
)
PROMISED = (
    "Promised: {promise}. The margin is {margin:g}; the promise holds for this window and this "
    "filter."
)

_ROW = ("filter", "q", "order", "start")
_CALIBRATION = ("calibration", "margin", "promise", "confidence")
_tables = Cache("nsv trade-off")


def draw_controls(problem: Problem) -> None:
    """Draw the page's choices; those of the calibration stand behind a button."""
    *places, last = row(8, 8, 11, 11, 9)
    for name, place in zip(_ROW, places):
        draw(name, place)
    with last.popover("Calibration", icon=":material/tune:", width="stretch"):
        _draw_calibration(problem)


def _draw_calibration(problem: Problem) -> None:
    """Draw what sets the thresholds; a promise that the rows cannot bear is taken back."""
    session = st.session_state
    refused = nsv.refused(problem, session["promise"], session["confidence"])
    if refused:
        url.replace("promise", NONE)
    draw("calibration")
    left, right = st.columns(2)
    promise = draw("promise", left)
    draw("confidence", right, disabled=promise == NONE)
    draw("margin", disabled=promise != NONE)
    if refused:
        st.caption(refused)


def view(problem: Problem, values: Mapping[str, Any]) -> MethodView:
    """Return the fitted method; one that promises a rate stands over an SVM of its own."""
    given = nsv.fitted_by(problem, nsv.given_by(values))
    now = show(problem, "nsv", given, nsv.most_rows(problem))
    if "max_disagreement" in given:
        now = nsv.over_its_svm(now)
    return view_of(now, nsv.read_by(values), values)


def notice(at: MethodView) -> None:
    """Say what the classifier promises, and what a slow SVM was spared."""
    fitted = at.now.study.fitted
    if at.now.problem.is_long and at.values["calibration"] == "cross_fit":
        usual = CONTROLS["calibration"].spoken("left_out")
        st.info(LONG.format(usual=usual), icon=":material/timer:")
    if fitted.promise_ is not None:
        text = PROMISED.format(promise=fitted.promise_, margin=fitted.margin_)
        st.success(text, icon=":material/verified:")


def live(at: MethodView) -> Live:
    """Return what follows the window."""
    here, others = at.values["w"], {"linear_filter": at.values["filter"]}
    windows = tuple(sorted({*nsv.WINDOWS, here}))
    readings = frames(at.now, "window", windows, **others)

    def charts() -> list[Chart | Images]:
        effort = effort_view(at.now, "window", windows, **others)
        return [*nsv.live_charts(at, readings), *effort]

    return Live(windows, here, charts, nsv.numbers(at.now, readings))


def own_part(at: MethodView) -> None:
    """Draw the support vectors that the query used, and what other settings would cost."""
    problem = at.now.problem
    st.subheader(USED.format(query=problem.query), anchor=False)
    pictures.still(nsv.neighbors(at, plane(problem)))
    st.subheader(TRADEOFF, anchor=False)
    table = _tables.later(problem.key, lambda: _traded(problem), "Comparing settings")
    table = nsv.traded(()) if table is None else table  # measured once the page is drawn
    pictures.plotted(nsv.tradeoff(at, table))
    look_for(nsv.hint_tradeoff(table, problem.n_vectors))


def _traded(problem: Problem) -> pd.DataFrame:
    def fitted(given: Mapping[str, Any]) -> Shown:
        most = min(nsv.most_rows(problem), nsv.FEW)
        return show(problem, "nsv", nsv.fitted_by(problem, given), most, is_kept=False)

    return nsv.traded((name, fitted(given)) for name, given in nsv.COMPARED.items())


PAGE = MethodPage(
    title="Nearest support vectors",
    own=(*_ROW, "w", *_CALIBRATION, "a"),
    sentence=SENTENCE,
    terms=(
        "query",
        "support vector",
        "f(x)",
        "g_k",
        "L_k, H_k",
        "k",
        "window w",
        "linear filter",
    ),
    slider="w",
    label="Window w",
    help="Each threshold is the widest of w steps before and after it.",
    draw_controls=draw_controls,
    view=view,
    notice=notice,
    live=live,
    picture=nsv.trajectory,
    hint=nsv.hint,
    ends=lambda trace: (trace.low, trace.high),
    ends_name="undecided region",
    own_part=own_part,
)
