"""Nearest support vectors: ask the nearest first, and stop once the answer is settled."""

import streamlit as st

from kmviz import ui
from kmviz.ui import follow, nsv, nsv_calibration, nsv_views, two, words

problem = ui.frame("Nearest support vectors", own=nsv.OWN)
words.intro(
    "A query asks its nearest support vectors first, and stops once the sum leans further than any "
    "of the other class did.",
    "query",
    "support vector",
    "f(x)",
    "g_k",
    "L_k, H_k",
    "k",
    "window w",
    "linear filter",
)
nsv.draw_controls(problem)
now, chosen = nsv.shown(problem), nsv.choice()
problem = now.problem  # a promise holds rows out, and has a machine of its own
nsv_calibration.say_promise(now)
reading, record = now.study.read(**chosen), nsv.trace(now, chosen)
clf = now.study.classifier(**chosen)
follow.line(problem, record, follow.cost(now, reading, clf, problem.query))
nsv_views.slider(now, record)
two.section(nsv.side)
ui.look_for(nsv.look_effort(now, reading))
follow.section(now, reading, clf, problem.machine.vectors, nsv.band, "not safe yet")

st.subheader(f"Query {problem.query}: whom it asks", anchor=False)
ui.chart(
    nsv.neighbors_figure(problem, record), "neighbors",
    "The query and the first support vectors it asks, as images or as points on the map.",
)  # fmt: skip
ui.metrics(nsv.metrics(now, reading))
walk = nsv.trajectory_figure(problem, record)
st.subheader("Both charts large: zoom, hide, save", anchor=False)
ui.chart(
    nsv.effort_figure(now, reading), "effort",
    "Sum g of each test query where it stopped against the steps it took, with the thresholds as "
    "lines and disagreements marked.",
    on_select=ui.pick("effort"),
)  # fmt: skip
ui.chart(
    walk, "trajectory",
    "Partial output of the query after each support vector, the thresholds around it, where it "
    "stopped, where it would have gone, and the exact output.",
)  # fmt: skip
nsv_views.tradeoff(now, reading)
ui.take_home(
    problem, estimator=lambda: now.estimator(**chosen), trace=record.to_frame, figure=walk,
    code=now.code(**chosen), name="nsv",
)  # fmt: skip
ui.finish()
