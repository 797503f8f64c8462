"""Local models: many small SVMs, each for its own neighbourhood."""

import streamlit as st

from kmviz import ui
from kmviz.figures import falk as figures
from kmviz.ui import falk, falk_words

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
    "Mark noise", key="removed",
    help="Training rows that the model of their own centre puts into the other class.",
)  # fmt: skip

page = falk.page(problem)
ui.metrics(falk_words.metrics(problem, page))
st.markdown(falk_words.sentence(problem, page))
picture = figures.local_map(ui.plane(problem), falk.map_of(problem, page), problem.query)
ui.chart(
    picture, "local_map",
    "Training points, the neighbourhoods of the centres, the regions they answer for, local and "
    "composed boundaries, and the global SVM's.",
    on_select=ui.pick("local_map"),
)  # fmt: skip
ui.look_for(falk_words.look_at_map(problem, page))

st.subheader("How local should it be?", anchor=False)
table = falk.sweep(problem, page)
ui.chart(
    figures.local_sweep(table, falk.whole(problem), st.session_state["k"]), "local_sweep",
    "Accuracy, kernel values per query and training time against k, the global SVM as lines.",
)  # fmt: skip
ui.look_for(falk_words.look_at_sweep(problem, page, table))
ui.take_home(
    problem, estimator=lambda: page.shown.estimator(select=page.select), trace=page.trace.to_frame,
    figure=picture, code=page.shown.code(select=page.select), name="local_models",
)  # fmt: skip
ui.finish()
