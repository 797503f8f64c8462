"""Support vector tree: every query follows one path and asks only the vectors on it."""

import streamlit as st

from kmviz import ui
from kmviz.ui import follow, svtree, svtree_views, two
from kmviz.ui.shell import words

problem = ui.frame("Support vector tree", own=svtree.OWN)
words.intro(
    "Each node asks one support vector: its score says where to go next, and adds to the sum.",
    "query",
    "support vector",
    "β",
    "f(x)",
    "height",
)
controls = ("split", "refit", "stem", "mean", "candidates")
for name, place in zip(controls, ui.row(1, 1, 1, 1, 1)):
    ui.draw(name, place)
now = svtree.shown(problem)
svtree.limit(now)
height = st.session_state["height"]
trace, reading = svtree.trace(now, height), now.study.read(max_height=height)
follow.line(problem, trace, min(trace.stop, height))
svtree_views.slider(now)
two.section(svtree.side)
clf = now.study.classifier(max_height=height)
follow.section(now, reading, clf, svtree.vectors(now))
ui.metrics(svtree.metrics(now, reading))
ui.look_for(svtree.look_at_map(now, height))
svtree_views.path(now, trace)
svtree_views.how_high(now, height)
ui.take_home(
    problem, estimator=lambda: now.estimator(max_height=height), trace=trace.to_frame,
    picture=svtree.map_chart(now, trace, [height], st.session_state["node"]),
    code=svtree.code(now, height), name="svtree",
)  # fmt: skip
ui.finish()
