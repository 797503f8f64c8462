"""Local models: many small SVMs, each for its own neighbourhood."""

import streamlit as st

from kmviz import ui
from kmviz.ui import falk, falk_views, follow, two
from kmviz.ui.shell import url, words

problem = ui.frame("Local models", own=falk.OWN)
words.intro(
    "Many small SVMs, each on the k nearest points of a centre that answers for its k' nearest.",
    "query",
    "kernel value",
    "k, k'",
)
page = falk.chosen(problem)
at = falk.view(problem, url.PRESENT)
follow.line(at)
falk_views.slider(problem, page)
two.section(falk.view, falk.picture_of)
st.markdown(falk_views.sentence(problem, page))
ui.metrics(falk_views.metrics(problem, page))
st.caption(falk_views.locality(falk.gap_of(problem, page)))
ui.draw("removed")
ui.look_for(falk_views.look_at_map(problem, page))
ui.look_for(falk_views.look_at_sweep(problem, page, falk.sweep(problem, page)))
follow.section(at, problem.data.X_train)
ui.take_home(
    problem, estimator=lambda: page.shown.estimator(select=page.select), trace=page.trace.to_frame,
    picture=falk.picture(problem, page), code=page.shown.code(select=page.select),
    name="local_models",
)  # fmt: skip
ui.finish()
