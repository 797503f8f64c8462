"""Anytime bounds: an interval that closes on f(x), and stops as soon as the sign is certain."""

import streamlit as st

from kmviz import ui
from kmviz.figures import anytime as figures
from kmviz.ui import anytime, anytime_views, follow, two, words

problem = ui.frame("Anytime bounds", own=anytime.OWN)
words.intro(
    "Each kernel value narrows an interval *proved* to hold f(x); once it excludes 0 the class is "
    "certain.",
    "query",
    "kernel value",
    "f(x)",
    "L_k, H_k",
    "basis",
    "W",
    "R_k",
)
now = anytime.chosen(problem)
trace, reading, clf = anytime.trace(now), now.study.read(), now.study.classifier()
anytime.open_step(now, trace)
follow.line(problem, trace, follow.cost(now, reading, clf, problem.query))
step = anytime_views.slider(now)
two.section(anytime.side)
ui.metrics(anytime.metrics(now, reading))
ui.look_for(anytime.look_times(now))
follow.section(now, reading, clf, problem.machine.vectors, anytime.band, "holds f(x)")

st.subheader("The charts large: zoom, hide, save", anchor=False)
picture = figures.bounds(trace, step)
ui.chart(
    picture, "bounds",
    "Lower and upper bound of f(x) of the query against the number of kernel values, closing on "
    "the exact value, with the step where the sign is certain; below, what is left of machine "
    "and query.",
)  # fmt: skip
ui.look_for(anytime.closing(trace))
ui.chart(
    anytime.steps_figure(now, reading, trace), "steps",
    "Output f(x) of each test query against the kernel values it took, and their distribution.",
    on_select=ui.pick("steps"),
)  # fmt: skip
ui.look_for(anytime.look(now, reading))

st.subheader("All orders of the basis", anchor=False)
ui.chart(
    figures.orderings(anytime.compared(problem), st.session_state["basis"]), "orderings",
    "Mean width of the interval and share of queries decided against the number of kernel "
    "values, one line for each order of the basis.",
)  # fmt: skip
ui.look_for(anytime.best(anytime.compared(problem)))
ui.take_home(
    problem, estimator=now.estimator, trace=trace.to_frame, figure=picture,
    code=anytime.code(now, step), name="anytime",
)  # fmt: skip
ui.finish()
