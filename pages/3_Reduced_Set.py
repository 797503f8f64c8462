"""Reduced set and virtual support vectors: more accurate, then fifty times smaller."""

import streamlit as st

from kmviz import ui
from kmviz.figures import reduced as figures
from kmviz.ui import reduced, reduced_words

problem = ui.frame("Reduced set", own=reduced.OWN)
st.markdown(
    "The machine is one vector Ψ in feature space, a sum over all support vectors. A few vectors "
    "that are *no* training rows can add up to nearly the same Ψ, and answer as it does."
)
left, middle, right = st.columns(3)
method = left.selectbox(
    "How vectors are found", reduced.choices(), key="method", format_func=reduced.METHODS.get
)  # fmt: skip
shift = middle.slider(
    "Virtual support vectors: shift by pixels", 0, 3, key="shift",
    disabled=problem.image_shape is None, help=reduced_words.SHIFT,
)  # fmt: skip
page = reduced.page(problem, method, shift)
ui.limit("vectors", 1, page.n_vectors)
n = right.slider(
    "Vectors n", 1, max(page.n_vectors, 2), key="vectors", disabled=page.n_vectors < 2,
    help="Reads the path again; nothing is searched anew.",
)  # fmt: skip
ui.metrics(reduced_words.metrics(page, n))

vectors, errors = st.columns(2)
with vectors:
    picture = reduced.vectors_figure(problem, page, n)
    ui.chart(
        picture, "reduced_vectors",
        "The reduced vectors with their weights: as images in diverging colours, or as points "
        "beside the support vectors that they replace.", on_select=ui.pick("reduced_vectors"),
    )  # fmt: skip
    ui.look_for(reduced_words.look_at_vectors(problem, page, n))
with errors:
    ui.chart(
        figures.reduced_error(page.curves, page.before["error %"].iloc[-1], n), "reduced_error",
        "Distance rho and test error against the number of vectors, with and without the Bayes "
        "threshold, and the machine's own error as a line.",
    )  # fmt: skip
    ui.look_for(reduced_words.look_at_error(page))

st.subheader("Exact and reduced, side by side", anchor=False)
ui.chart(
    reduced.boundary_figure(problem, page, n), "boundary",
    "Decision functions of the machine and of the reduced machine on one colour scale, or their "
    "outputs query by query.", on_select=ui.pick("boundary"),
)  # fmt: skip
ui.look_for(reduced_words.look_at_boundary(page, n))
st.dataframe(reduced.table(page, n), hide_index=True)
reduced.strip(problem, shift)
ui.take_home(
    problem, estimator=lambda: page.shown.estimator(n_vectors=n), figure=picture,
    trace=page.shown.study.classifier(n_vectors=n).trace(problem.x).to_frame,
    code=page.shown.code(n_vectors=n), name="reduced",
)  # fmt: skip
ui.finish()
