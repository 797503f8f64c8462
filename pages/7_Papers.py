"""Papers: the published tables, ours beside theirs."""

import streamlit as st

from kmviz import ui
from kmviz.charts.verdicts import coloured, summary
from kmviz.ui import papers

ui.frame_without_data("Papers", own=("table",), heading="Ours beside theirs")
st.markdown("The papers' tables, made again: each figure of ours beside the published one.")
table = papers.choose()
ui.metrics(papers.metrics(summary(table.frame, table.title)))
papers.draw(table)
st.dataframe(
    coloured(table.frame, table.title), key="paper_table", hide_index=True, placeholder="",
    height=430,
)  # fmt: skip
st.caption(papers.SHADES)
st.markdown(table.about)
with st.expander("The paper, the data and the settings", icon=":material/menu_book:"):
    st.markdown(table.paper)
st.code(table.command, language="sh")
st.download_button(
    "Table (CSV)", table.frame.to_csv(index=False), f"{table.name}.csv", "text/csv",
    on_click="ignore", icon=":material/download:",
)  # fmt: skip
ui.finish()
