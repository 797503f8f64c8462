"""Which rows set the thresholds of nearest support vectors, how wide, and what is promised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st
from scipy.spatial import cKDTree

from kmviz.machines import KernelMachine
from kmviz.methods.promise import rows_needed
from kmviz.ui.shell import url
from kmviz.ui.shell.controls import draw
from kmviz.views.controls import CONTROLS, NONE, parameters
from kmviz.views.fitted import Shown
from kmviz.views.problem import Problem

OWN = ("calibration", "margin", "promise", "confidence")

#: What `NSVClassifier` holds out to prove a promise.
HELD_OUT = 0.25


def draw_all(problem: Problem, place: Any) -> None:
    """Draw the controls behind a button; a promise that the rows cannot bear is taken back."""
    with place.popover("Calibration", icon=":material/tune:", width="stretch"):
        too_few = _refused(problem)
        if too_few:
            url.replace("promise", NONE)
        draw("calibration", st)
        promise, confidence = st.columns(2)
        promised = draw("promise", promise)
        draw("confidence", confidence, disabled=promised == NONE)
        draw("margin", st, disabled=promised != NONE)
        if too_few:
            st.caption(too_few)


def _refused(problem: Problem) -> str:
    rate, confidence = st.session_state["promise"], st.session_state["confidence"]
    if rate == NONE:
        return ""
    needed, held = rows_needed(rate, confidence), int(HELD_OUT * len(problem.data.X_train))
    if needed <= held:
        return ""
    return (
        f"A promise of {rate:.1%} takes {needed:,} rows that set nothing, and a quarter of these "
        f"training rows is {held:,}: nothing is promised. Take more rows or a larger share."
    )


def chosen(said: Mapping[str, Any] = url.PRESENT) -> dict[str, Any]:
    """Return what differs from the estimator's defaults, as its parameters."""
    given = parameters("nsv", said, "calibration", "margin", "max_disagreement", "confidence")
    if given["max_disagreement"] == NONE:
        del given["max_disagreement"], given["confidence"]
    else:
        del given["margin"]  # which the promise chooses
    usual = {"calibration": "cross_fit", "margin": NONE, "confidence": 0.95}
    return {name: value for name, value in given.items() if usual.get(name) != value}


def with_its_machine(now: Shown) -> Shown:
    """Return what is shown over the machine that was trained without the rows held out."""
    fitted, problem = now.study.fitted, now.problem
    machine, X = fitted.machine_, problem.data.X_train
    if fitted.preprocessing_ is not None:  # its vectors are rows past the first steps
        rows = fitted.preprocessing_.transform(X)
        _, at = cKDTree(rows).query(machine.vectors)
        machine = KernelMachine(X[at], machine.beta, machine.bias, problem.machine.kernel)
    exact = machine.decision_function(problem.data.X_test)
    own = replace(problem, key=now.key, machine=machine, exact=exact)
    return replace(now, problem=own)


def say_promise(now: Shown) -> None:
    """Say what the classifier on the page promises, where it does, and what it was spared."""
    fitted = now.study.fitted
    if now.problem.is_long and st.session_state["calibration"] == "cross_fit":
        usual = CONTROLS["calibration"].spoken("left_out")
        st.info(
            "This machine took long to train, and cross-fitting would train ten more: thresholds "
            f"come from {usual}. NSVClassifier itself has no such limit.",
            icon=":material/timer:",
        )
    if fitted.promise_ is not None:
        st.success(
            f"Promised: {fitted.promise_}. The margin is {fitted.margin_:g}. It holds for the "
            "window and the filter chosen here; each other choice is proved anew.",
            icon=":material/verified:",
        )
