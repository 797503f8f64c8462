"""Compare: what each method costs and changes on this data, and which to deploy."""

import streamlit as st

from kmviz import ui
from kmviz.evaluation.catalogue import title_of
from kmviz.figures.compare import frontier
from kmviz.ui import compare, model

problem = ui.frame(
    "Compare",
    own={
        "methods": ui.Words(*compare.OFFERED, default=compare.USUAL),
        "cost": ui.Choice(*compare.COSTS),
    },
    heading="Which one on this data?",
)
compare.follow(problem.n_vectors)
with st.form("compare_form", border=False):
    st.multiselect("Methods and settings", compare.OFFERED, key="methods", format_func=title_of)
    st.form_submit_button("Compare", icon=":material/balance:", type="primary")

table = compare.measured(problem, st.session_state["methods"])
st.success(compare.sentence(table), icon=":material/recommend:")
st.radio(
    "Cost of a query",
    list(compare.COSTS),
    key="cost",
    horizontal=True,
    format_func=lambda cost: compare.COSTS[cost][1],
)
picture = frontier(
    compare.points(table, st.session_state["cost"]), compare.COSTS[st.session_state["cost"]][1]
)
ui.chart(
    picture,
    "frontier",
    "Cost of a query against the share of answers that differ from the exact machine's, a point "
    "a setting, on logarithmic axes, with the line of settings that none beats.",
    on_select=lambda: compare.open_clicked(table, ui.clicked("frontier")),
)
ui.look_for(compare.look_for(table))
st.dataframe(
    compare.shown(table), key="compare_table", hide_index=True, column_config=compare.columns()
)
st.caption(compare.conditions(table))
st.download_button(
    "Table (CSV)", table.to_csv, "compare.csv", "text/csv", on_click="ignore",
    icon=":material/download:",
)  # fmt: skip
model.section(problem)
ui.take_home(
    problem,
    estimator=compare.best_estimator(problem, table),
    figure=picture,
    code=compare.code(problem, table),
    name="compare",
)
ui.finish()
