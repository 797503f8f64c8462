"""Reduced set and virtual support vectors: more accurate, then fifty times smaller."""

import streamlit as st

from kmviz import ui
from kmviz.figures import reduced as figures
from kmviz.ui import follow, reduced, reduced_views, reduced_words, two, words

problem = ui.frame("Reduced set", own=reduced.OWN)
words.intro(
    "A few vectors that are *no* training rows add up to nearly the same machine; every query then "
    "costs n kernel values.",
    "query",
    "kernel value",
    "β",
    "Ψ",
    "ρ",
    "Bayes threshold",
)
page = reduced.chosen(problem)
clf = page.shown.study.classifier(n_vectors=st.session_state["vectors"])
trace = clf.trace(problem.x)
follow.line(problem, trace, trace.stop, page.base.n_vectors)
n = reduced_views.slider(problem, page)
two.section(reduced.side)
ui.look_for(reduced_words.look_at_vectors(problem, page, n))
ui.look_for(reduced_words.look_at_error(page) + reduced_words.tuning(page, n))

follow.section(page.shown, page.reading(n), clf, problem.data_rows(clf.machine_.vectors))
ui.metrics(reduced_words.metrics(page, n))
st.subheader("The charts large: zoom, hide, save", anchor=False)
vectors, errors = st.columns(2)
with vectors:
    picture = reduced.vectors_figure(problem, page, n)
    ui.chart(
        picture, "reduced_vectors",
        "The reduced vectors with their weights: as images in diverging colours, or as points "
        "beside the support vectors that they replace.", on_select=ui.pick("reduced_vectors"),
    )  # fmt: skip
with errors:
    ui.chart(
        figures.reduced_error(page.curves, page.before["error %"].iloc[-1], n), "reduced_error",
        "Distance rho and test error against the number of vectors, with and without the Bayes "
        "threshold, and the machine's own error as a line.",
    )  # fmt: skip
ui.chart(
    reduced.boundary_figure(problem, page, n), "boundary",
    "Decision functions of the machine and of the reduced machine on one colour scale, or their "
    "outputs query by query.", on_select=ui.pick("boundary"),
)  # fmt: skip
ui.look_for(reduced_words.look_at_boundary(page, n))
st.dataframe(reduced.table(page, n), hide_index=True, column_config=reduced.columns())
reduced.strip(problem, st.session_state["shift"])
ui.take_home(
    problem, estimator=lambda: page.shown.estimator(n_vectors=n), figure=picture,
    trace=trace.to_frame,
    code=page.shown.code(n_vectors=n), name="reduced",
)  # fmt: skip
ui.finish()
