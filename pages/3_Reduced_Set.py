"""Reduced set and virtual support vectors: more accurate, then fifty times smaller."""

import streamlit as st

from kmviz import ui
from kmviz.ui import follow, reduced, two
from kmviz.ui.shell import url, words

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
at = reduced.view(problem, url.PRESENT)
follow.line(at, page.base.n_vectors)
n = reduced.slider(problem, page)
two.section(reduced.view, reduced.picture_of)
ui.look_for(reduced.look_at_vectors(problem, page, n))
ui.look_for(reduced.look_at_error(page) + reduced.tuning(page, n))

follow.section(at, problem.data_rows(at.classifier.machine_.vectors))
st.dataframe(reduced.table(page, n), hide_index=True, column_config=reduced.columns())
reduced.strip(problem, st.session_state["shift"])
ui.take_home(
    problem, estimator=lambda: page.shown.estimator(n_vectors=n),
    picture=reduced.picture(problem, page, n),
    trace=at.trace.to_frame,
    code=page.shown.code(n_vectors=n), name="reduced",
)  # fmt: skip
ui.finish()
