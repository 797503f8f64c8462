"""Start: the data, the machine, and why the price of an answer matters."""

import streamlit as st

from kmviz import ui
from kmviz.figures.boundary import boundary
from kmviz.figures.effort import effort
from kmviz.ui import start, upload

problem = ui.frame("Start", heading="What does one answer cost?")
st.markdown(
    "A kernel machine compares every query with *all* its support vectors. Pick a lesson, or "
    "choose data and machine on the left."
)
start.lessons()

left, right = st.columns(2)
with left:
    start.data_card(problem)
with right:
    start.machine_card(problem)

left, right = st.columns(2)
with left:
    st.subheader("Where the machine draws the line", anchor=False)
    picture = boundary(ui.plane(problem), problem.query, half=True)
    ui.chart(
        picture,
        "boundary",
        "Map of the training points by class with the support vectors ringed, the decision "
        "boundary and the selected query.",
        on_select=ui.pick("boundary"),
    )
with right:
    st.subheader("Every query pays the full price", anchor=False)
    ui.chart(
        effort(
            problem.exact,
            start.full_price(problem),
            problem.data.y_test,
            problem.data.class_names,
            problem.query,
            problem.n_vectors,
            note="Far from zero the class is plain,<br>and a few values would settle it.",
            height=520,
            most=600,
            half=True,
        ),
        "effort",
        "Output f(x) of each test query against the kernel values computed for it: all queries "
        "cost as many as there are support vectors.",
        on_select=ui.pick("effort"),
    )
start.query_card(problem)
start.ways_on()
upload.section()
ui.take_home(problem, figure=picture, name="start")
ui.finish()
