"""Start: the data, the machine, and why the price of an answer matters."""

import streamlit as st

from kmviz import ui
from kmviz.figures.boundary import boundary
from kmviz.ui import sketch, start, start_views, upload, words

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
    picture = boundary(ui.plane(problem), problem.query, height=400, half=True)
    ui.chart(
        picture, "boundary",
        "Map of the training points by class with the support vectors ringed, the decision "
        "boundary and the selected query.",
        on_select=ui.pick("boundary"),
    )  # fmt: skip
with right:
    st.subheader("Every query pays the full price", anchor=False)
    ui.chart(
        start.effort_figure(problem), "effort",
        "Output f(x) of each test query against the kernel values computed for it: all queries "
        "cost as many as there are support vectors.",
        on_select=ui.pick("effort"),
    )  # fmt: skip
start.query_card(problem)
if is_drawn:
    start_views.payment(problem)
left, right = st.columns(2)
with left:
    start.data_card(problem)
with right:
    start.machine_card(problem)
start.balance(problem)
start.ways_on()
upload.section()
ui.take_home(problem, figure=picture, name="start")
ui.finish()
