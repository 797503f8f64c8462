"""The Papers page: the published tables, our results beside them."""

from __future__ import annotations

import inspect
import io
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from itertools import cycle
from typing import Any

import pandas as pd
import streamlit as st

from kmviz import papers
from kmviz.charts import Chart, papers as charts
from kmviz.charts.verdicts import coloured, summary
from kmviz.io.places import tables_folder
from kmviz.methods.register import METHODS
from kmviz.ui import pictures
from kmviz.ui.shell import controls, parts
from kmviz.ui.shell.frame import finish, frame_without_data
from kmviz.views import papers as views

FOLDER = tables_folder()
ON_THE_LINE = (
    "On the dashed line our figure equals the paper's, above it ours is larger. Point at a mark to "
    "see which figure it is."
)

#: Charts of a table that stand beside one another.
SIDE_BY_SIDE = 4

WORDS = {
    "as published": "Within 5% of the paper's figure.",
    "better": "More than 5% off, to the good.",
    "near": "Worse, or of no known direction, by 5% to 20%.",
    "worse": "Worse by more than 20%. It stays in the table.",
    "different": "More than 20% off, where neither more nor less is better.",
}
SHADES = (
    "Differences are relative. Green: as published; blue: better; amber: near; orange: worse; "
    "grey: different. Every table comes with the command that makes it; misses stay in it."
)


@dataclass(frozen=True, eq=False)
class Stored:
    """One table: its figures, what it is, and the command that made it."""

    name: str
    frame: pd.DataFrame
    command: str
    about: str
    paper: str

    @property
    def title(self) -> str:
        """The first sentence of what the table is."""
        return self.about.split("\n\n")[0].replace("\n", " ").rstrip(".")

    @property
    def entry(self) -> str:
        """What the list of tables says: the method that the paper is of, and the title."""
        name = self.name.partition("_")[0]
        page = next((one.page_title for one in METHODS if one.name == name), name)
        return f"{page}: {self.title}"


def draw() -> None:
    """Draw the page."""
    frame_without_data("Papers", own=("table",), heading="Our results and the published ones")
    st.markdown("The papers' tables, made again: each of our figures beside the published one.")
    table = choose()
    parts.metrics(metrics(summary(table.frame, table.title)))
    draw_charts(table)
    st.dataframe(
        coloured(table.frame, table.title), key="paper_table", hide_index=True, placeholder="",
        height=430,
    )  # fmt: skip
    st.caption(SHADES)
    st.markdown(table.about)
    with st.expander("The paper, the data and the settings", icon=":material/menu_book:"):
        st.markdown(table.paper)
    st.code(table.command, language="sh")
    st.download_button(
        "Table (CSV)", table.frame.to_csv(index=False), f"{table.name}.csv", "text/csv",
        on_click="ignore", icon=":material/download:",
    )  # fmt: skip
    finish()


def choose() -> Stored:
    """Draw the choice of the table, and return the one chosen."""
    titles = entries()
    return stored(controls.draw("table", options=list(titles), words=titles))


def entries() -> dict[str, str]:
    """Return what the list of tables says of each, by name."""
    return {name: stored(name).entry for name in names()}


def metrics(counts: dict[str, int]) -> list[tuple[str, str, str]]:
    """Return how many figures came out how."""
    said = [word for word in WORDS if counts[word] or word != "different"]
    return [(word.capitalize(), f"{counts[word]}", WORDS[word]) for word in said]


def draw_charts(table: Stored) -> None:
    """Draw the charts of a table side by side (many: one at a time), and say what they come to."""
    found = charts.charts(table.frame)
    points = charts.diagonal(table.frame, table.title)
    if points is not None and len(found) < 2:
        found = {"points": [points], **found}
    if len(found) > SIDE_BY_SIDE:
        places: Any = st.tabs([name.capitalize() for name in found], on_change="rerun")
    else:
        places = st.columns(max(len(found), 1))
    for place, (name, panels) in zip(places, found.items()):
        if getattr(place, "open", True) is not False:  # nothing is drawn behind a tab
            with place:
                _side_by_side(table, name, panels)
    if said := views.reached(table.frame):
        parts.look_for(said)
    elif "points" in found:
        parts.look_for(ON_THE_LINE)


def _side_by_side(table: Stored, name: str, panels: list[Chart]) -> None:
    for i, (place, chart) in enumerate(zip(cycle(st.columns(min(2, len(panels)))), panels)):
        with place:
            number = f"_{i + 1}" if len(panels) > 1 else ""
            pictures.plotted(chart, f"{table.name}_{name}{number}")


def names() -> tuple[str, ...]:
    """Return the tables that are stored, in the papers' order."""
    order = {name: place for place, name in enumerate(papers.names())}
    stems = sorted(path.stem for path in FOLDER.glob("*.csv"))
    found = tuple(sorted(stems, key=lambda stem: order.get(stem, len(order))))
    if not found:
        raise FileNotFoundError(f"No tables in {FOLDER}: make them with `make papers`.")
    return found


@lru_cache(maxsize=64)
def stored(name: str) -> Stored:
    """Return a stored table."""
    text = (FOLDER / f"{name}.csv").read_text("utf-8")
    head = [line[1:].strip() for line in text.splitlines() if line.startswith("#")]
    frame = pd.read_csv(io.StringIO(text), comment="#")
    command = next((line for line in head if "kmviz" in line), "python -m kmviz.papers.run")
    return Stored(name, frame, command, about(name), paper_of(name))


def about(name: str) -> str:
    """Return what a table is, from the function that makes it."""
    for tables in papers.by_paper().values():
        if name in tables:
            return inspect.getdoc(tables[name]) or name
    return name.replace("_", " ")


def paper_of(name: str) -> str:
    """Return the paper, its reference and settings, from the module that makes its tables."""
    for paper, tables in papers.by_paper().items():
        if name in tables or name.startswith(f"{paper}_"):
            return inspect.getdoc(import_module(f"{papers.__name__}.{paper}")) or paper
    return ""
