"""Reduced set and virtual support vectors: more accurate, then fifty times smaller."""

import streamlit as st

from kmviz import ui
from kmviz.ui import follow, reduced, reduced_views, reduced_words, two
from kmviz.ui.shell import words

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
ui.look_for(reduced_words.look_at_boundary(page, n))
st.dataframe(reduced.table(page, n), hide_index=True, column_config=reduced.columns())
reduced.strip(problem, st.session_state["shift"])
ui.take_home(
    problem, estimator=lambda: page.shown.estimator(n_vectors=n),
    picture=reduced.picture(problem, page, n),
    trace=trace.to_frame,
    code=page.shown.code(n_vectors=n), name="reduced",
)  # fmt: skip
ui.finish()
