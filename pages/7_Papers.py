"""Papers: the published tables, ours beside theirs."""

import streamlit as st

from kmviz import ui
from kmviz.figures.papers import coloured, summary
from kmviz.ui import papers

names = papers.names()
problem = ui.frame("Papers", own={"table": ui.Choice(*names)}, heading="Ours beside theirs")
st.markdown(
    "Every table comes with the command that makes it and is stored in the repository. Differences "
    "are relative: green within 5%, amber within 20%, red beyond, which may be better or worse. "
    "Misses stay in the table."
)
st.selectbox("Table", names, key="table", format_func=lambda name: papers.stored(name).title)
table = papers.stored(st.session_state["table"])
met, near, far = summary(table.frame)
ui.metrics(
    [
        ("Within 5%", met, "Figures that came out as published."),
        ("Within 20%", near, "Figures that came out near."),
        ("Beyond", far, "Figures that did not, better ones included."),
    ]
)
st.dataframe(coloured(table.frame), key="paper_table", hide_index=True, placeholder="")
st.markdown(table.about)
with st.expander("The paper, the data and the settings", icon=":material/menu_book:"):
    st.markdown(table.paper)
st.code(table.command, language="sh")
st.download_button(
    "Table (CSV)", table.frame.to_csv(index=False), f"{table.name}.csv", "text/csv",
    on_click="ignore", icon=":material/download:",
)  # fmt: skip
ui.finish()
