"""Support vector tree: every query follows one path and asks only the vectors on it."""

import streamlit as st

from kmviz import ui
from kmviz.figures import svtree as figures
from kmviz.ui import follow, svtree, svtree_views, two, words

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
node, nodes = svtree.chosen(trace), svtree.nodes(now)
clf = now.study.classifier(max_height=height)
follow.section(now, reading, clf, svtree.vectors(now))
ui.metrics(svtree.metrics(now, reading))

st.subheader("The charts large: zoom, hide, save", anchor=False)
picture = figures.tree_map(
    ui.plane(problem), svtree.partition(now, trace, height), nodes, problem.query
)
ui.chart(
    picture, "tree_map",
    "The tree's answer by colour, the borders of its leaves, the exact boundary, and the support "
    "vectors on the query's path, numbered.",
    on_select=svtree.choose_query,
)  # fmt: skip
ui.look_for(svtree.look_at_map(now, height))

tree, sums = st.columns(2)
with tree:
    ui.chart(
        figures.tree_path(nodes, trace, height, node), "tree_path",
        "The tree, root at the top, with the query's path lit.", on_select=svtree.choose_node,
    )  # fmt: skip
with sums:
    ui.chart(
        figures.tree_sum(trace, height, svtree.images(now, trace)), "tree_sum",
        "The running sum along the path against the exact output, step by step.",
    )  # fmt: skip
ui.look_for(svtree.look_at_path(trace, now.parameters["refit"]))
svtree.show_path(trace)
svtree.node_card(now, node)

st.subheader("How high should it be?", anchor=False)
curves, linear, full = svtree.curves(now), svtree.linear(problem), 1 - problem.test_error
ui.chart(
    figures.tree_heights(curves, linear, full, height), "tree_heights",
    "Test accuracy and mean path length against height, with a reduced set of as many vectors, "
    "linear and full SVM as lines.",
)  # fmt: skip
ui.look_for(svtree.look_at_heights(curves, linear, full))
ui.take_home(
    problem, estimator=lambda: now.estimator(max_height=height), trace=trace.to_frame,
    figure=picture, code=svtree.code(now, height), name="svtree",
)  # fmt: skip
ui.finish()
