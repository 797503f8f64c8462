"""Nearest support vectors: ask the nearest first, and stop once the answer is settled."""

import streamlit as st

from kmviz import ui
from kmviz.ui import nsv

problem = ui.frame("Nearest support vectors", own=nsv.OWN)
st.markdown(
    "The exact machine sums over *all* its support vectors. Here a query asks its nearest ones "
    "first and stops as soon as the sum leans further than any calibration query of the other "
    "class ever did at that step."
)
left, middle, right = st.columns(3)
left.slider("Window w", 0, 200, key="w", help="Each threshold is the widest of w steps around it.")
left.slider("Components q", 1, 64, key="q", help="Principal components (PCA) that order vectors.")
middle.selectbox("Order", list(nsv.ORDERS), key="order", format_func=nsv.ORDERS.get)
middle.selectbox("The sum starts from", list(nsv.STARTS), key="start", format_func=nsv.STARTS.get)
right.toggle("Linear filter first", key="filter", help="A linear SVM settles the easy queries.")
right.caption("Moving w or the filter reads the same partial outputs again; nothing is fitted.")

now, chosen = nsv.shown(problem), nsv.choice()
reading = now.study.read(**chosen)
ui.metrics(nsv.metrics(now, reading))

st.subheader("Every query's effort", anchor=False)
ui.chart(
    nsv.effort_figure(now, reading), "effort",
    "Sum g of each test query where it stopped against the steps it took, with the thresholds as "
    "lines and disagreements marked.",
    on_select=ui.pick("effort"),
)  # fmt: skip
ui.look_for(nsv.look_effort(now, reading))

record = nsv.trace(now, chosen)
st.subheader(f"Query {problem.query}: step by step", anchor=False)
walk = nsv.trajectory_figure(problem, record)
ui.chart(
    walk, "trajectory",
    "Partial output of the query after each support vector, the thresholds around it, where it "
    "stopped, where it would have gone, and the exact output.",
)  # fmt: skip
ui.look_for(nsv.look_trajectory(record))
ui.chart(
    nsv.neighbors_figure(problem, record), "neighbors",
    "The query and the first support vectors it asks, as images or as points on the map.",
)  # fmt: skip

st.subheader("Speed against disagreements", anchor=False)
ui.chart(
    nsv.tradeoff_figure(now, reading), "tradeoff",
    "Honest speedup against the share of answers that differ, for several settings, with the "
    "present one marked.",
)  # fmt: skip
ui.look_for(nsv.look_tradeoff(problem))
ui.take_home(
    problem, estimator=lambda: now.estimator(**chosen), trace=record.to_frame, figure=walk,
    code=now.code(**chosen), name="nsv",
)  # fmt: skip
ui.finish()
