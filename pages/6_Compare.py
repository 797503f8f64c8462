"""Compare: what each method costs and changes on this data, and which to deploy."""

import streamlit as st

from kmviz import ui
from kmviz.ui import compare, compare_views, lesson, pictures
from kmviz.ui.shell import words

problem = ui.frame("Compare", own=compare.OWN, heading="Which method suits this data?")
compare.follow(problem.n_vectors)
words.intro(
    "Each point is a method under one setting: what a query costs, and how often it is right.",
    "query",
    "exact machine",
    "kernel value",
    "disagreement",
    "certified",
)
known = compare.measurements(problem)
table = compare.measured(known, st.session_state["methods"])
compare.note(table)
is_open = not lesson.is_asking()
if is_open:
    st.success(compare.sentence(table), icon=":material/recommend:")
picture = compare.picture(table, advised=is_open)
pictures.plotted(picture, on_select=lambda: compare.open_clicked(table, ui.clicked("frontier")))
ui.draw("cost")
ui.look_for(compare.look_for(table, st.session_state["cost"]))
st.dataframe(
    compare.first_columns(table), key="compare_table", hide_index=True, height="content",
    column_config=compare.columns(),
)  # fmt: skip
st.caption(compare.conditions(table))
compare_views.efforts(problem, known, table)
with st.expander("All figures", icon=":material/table:"):
    st.dataframe(
        compare.all_columns(table), key="compare_all", hide_index=True,
        column_config=compare.columns(),
    )  # fmt: skip
    st.download_button(
        "Table (CSV)", table.to_csv, "compare.csv", "text/csv", on_click="ignore",
        icon=":material/download:",
    )  # fmt: skip
with st.form("compare_form"):
    ui.draw("methods")
    st.form_submit_button("Compare", icon=":material/balance:", type="primary")
ui.take_home(
    problem, estimator=compare.best_estimator(problem, known, table), picture=picture,
    code=compare.code(problem, table), name="compare",
)  # fmt: skip
ui.finish()
