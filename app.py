"""Start: the data, the machine, and why the price of an answer matters."""

import streamlit as st

from kmviz import ui
from kmviz.ui import pictures, sketch, start, start_views, upload
from kmviz.ui.shell import words

problem = ui.frame(
    "Start", heading="What does one answer cost?", beside=start.lesson_list
)  # fmt: skip
words.intro(
    "A machine answers for a new point (★) by comparing it with the points that it kept.",
    "query",
    "support vector",
    "kernel value",
    "f(x)",
    "β",
)
is_drawn = st.session_state["data"] == "sketch"  # then the sheet to draw on comes first
if not is_drawn:
    start_views.payment(problem)
ui.metrics(start.metrics(problem))
left, right = sketch.columns()
with left:
    st.subheader(start.map_title(problem), anchor=False)
    pictures.still(start.map_chart(problem))
with right:
    st.subheader("Every query pays the full price", anchor=False)
    pictures.still(start.effort_chart(problem))
    st.caption("Far from zero the class is plain: a few values would settle it.")
start.query_card(problem)
if is_drawn:
    start_views.payment(problem)
left, right = st.columns(2)
with left:
    start.data_card(problem)
with right:
    start.machine_card(problem)
start.ways_on()
upload.section()
ui.take_home(problem, picture=start.map_chart(problem), name="start")
ui.finish()
