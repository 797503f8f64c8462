"""Local models: many small SVMs, each for its own neighbourhood."""

import streamlit as st

from kmviz import ui
from kmviz.figures import falk as figures
from kmviz.ui import falk

problem = ui.frame("Local models", own=falk.OWN)
st.markdown(
    "Instead of one large SVM, a small one on the k nearest points of each of some centres, chosen "
    "so that every training point is among the k' nearest of a centre. A query goes to one of them."
)
most = falk.limit(problem)
left, right = st.columns(2)
left.slider(
    "k: points each local SVM is trained on", 2, max(most, 3), key="k", disabled=most < 3
)  # fmt: skip
right.slider("k': points a centre answers for", 1, st.session_state["k"], key="kp")
one, two, three, four = st.columns(4)
one.selectbox("Who answers", list(falk.SELECTS), key="select", format_func=falk.SELECTS.get)
two.selectbox("Centres in", list(falk.COVERS), key="cover", format_func=falk.COVERS.get)
three.selectbox("Kernel width", list(falk.WIDTHS), key="width", format_func=falk.WIDTHS.get)
four.toggle(
    "Mark noise", key="removed", help="Training rows that their own local model contradicts."
)  # fmt: skip

reading = falk.read(problem)
trace = falk.trace(problem, reading)
ui.metrics(falk.metrics(problem, reading, trace))
st.markdown(falk.sentence(problem, reading, trace))
picture = figures.local_map(
    ui.plane(problem), falk.map_of(problem, reading, trace), problem.query
)  # fmt: skip
ui.chart(
    picture, "local_map",
    "Training points, the neighbourhoods of the centres, the regions they answer for, local and "
    "composed boundaries, and the global SVM's.",
    on_select=ui.pick("local_map"),
)  # fmt: skip
ui.look_for(falk.look_at_map(problem, reading))

st.subheader("How local should it be?", anchor=False)
table = falk.sweep(problem)
ui.chart(
    figures.local_sweep(table, 1 - problem.test_error, problem.n_vectors, st.session_state["k"]),
    "local_sweep",
    "Accuracy, kernel values a query and number of models against k, the global SVM as lines.",
)  # fmt: skip
ui.look_for(falk.look_at_sweep(problem, table))
ui.take_home(
    problem, estimator=lambda: falk.estimator(problem, reading), trace=trace.to_frame,
    figure=picture, code=falk.code(problem), name="local_models",
)  # fmt: skip
ui.finish()
