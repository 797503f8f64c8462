"""Support vector tree: every query follows one path and asks only the vectors on it."""

import streamlit as st

from kmviz import ui
from kmviz.figures import svtree as figures
from kmviz.ui import svtree

problem = ui.frame("Support vector tree", own=svtree.OWN)
st.markdown(
    "A tree whose nodes each hold one support vector. A query asks the kernel about the vectors "
    "on its path alone; each score decides where to go next and adds to the sum."
)
left, middle, right = st.columns(3)
split = left.selectbox("Split", list(svtree.SPLITS), key="split", format_func=svtree.SPLITS.get)
refit = middle.selectbox("Fit", list(svtree.FITS), key="refit", format_func=svtree.FITS.get)
reading = svtree.read(problem, split, refit)
svtree.limit(reading)
height = right.slider(
    "Height: most kernel values on a path", 1, max(reading.height, 2), key="height",
    help="Cuts the same tree; nothing is grown again.",
)  # fmt: skip
ui.metrics(svtree.metrics(problem, reading, height))

trace = svtree.trace(problem, reading)
node = svtree.chosen(trace, height)
st.markdown(svtree.sentence(problem, trace, height))
picture = figures.tree_map(
    ui.plane(problem), svtree.partition(problem, reading, trace, height), reading.nodes,
    problem.query,
)  # fmt: skip
ui.chart(
    picture, "tree_map",
    "The regions of the tree's leaves, the exact boundary over them, and the support vectors on "
    "the query's path, numbered.",
    on_select=svtree.choose_query,
)  # fmt: skip
ui.look_for(svtree.look_at_map(problem, reading, height))

tree, sums = st.columns(2)
with tree:
    ui.chart(
        figures.tree_path(reading.nodes, trace, height, node), "tree_path",
        "The tree, root at the top, with the query's path lit.", on_select=svtree.choose_node,
    )  # fmt: skip
with sums:
    ui.chart(
        figures.tree_sum(trace, height, svtree.images(problem, trace)), "tree_sum",
        "The running sum along the path against the exact output, step by step.",
    )  # fmt: skip
ui.look_for(svtree.look_at_path(trace, height, refit))
svtree.show_path(trace, height)
svtree.node_card(problem, reading, node)

st.subheader("How high should it be?", anchor=False)
ui.chart(
    figures.tree_heights(reading.curves, reading.linear, 1 - problem.test_error, height),
    "tree_heights",
    "Test accuracy and mean path length against height, with linear and full SVM as lines.",
)  # fmt: skip
ui.look_for(svtree.look_at_heights(problem, reading))
ui.take_home(
    problem, estimator=lambda: svtree.estimator(problem, reading, height),
    trace=lambda: trace.to_frame().head(height + 1), figure=picture,
    code=svtree.code(problem, split, refit, height), name="svtree",
)  # fmt: skip
svtree.highlight_regions()
ui.finish()
