"""A page with one live slider and every kind of view, for tests in a browser."""

import numpy as np
import pandas as pd
import streamlit as st

from kmviz import charts
from kmviz.charts import theme
from kmviz.charts.svtree import tree_path
from kmviz.ui import pictures
from kmviz.ui.shell import url
from tests.browser.live_demo.arrays import QUERIES, SIDE, WINDOWS, arrays

st.set_page_config(page_title="Live demo", layout="wide")
st.title("Live demo")
session = st.session_state
url.begin("Live demo", ("w",))
url.limit("w", 0, 60)
session["runs"] = session.get("runs", 0) + 1


def clicked(view, row):
    session["clicked"] = (view, row)
    if view == "effort":
        pictures.pick(view, row)


a = arrays(session["n"] or QUERIES)
m = a.low.shape[1] - 1
row = session["query"]
effort = charts.Chart(
    key="effort",
    alt="Steps of each query against its output.",
    title=[f"Every query's effort at w = {w}" for w in WINDOWS],
    x=charts.Axis("output f(x)", (-3.2, 3.2)),
    y=charts.Axis("steps k", log=True),
    layers=[
        charts.Points(
            x=a.exact, y=a.steps, group=a.agrees, names=("differs", "agrees"),
            colors=(theme.COLORS[1], theme.COLORS[0]), symbols=("diamond", "circle"),
            id=np.arange(len(a.exact)), picked=row,
            hover={"query": np.arange(len(a.exact)), "f(x)": a.exact, "steps": a.steps},
        ),
        charts.Rule(x=0.0, text="boundary"),
    ],
)  # fmt: skip
walk = charts.Chart(
    key="trajectory",
    alt="Partial output of the query within the thresholds.",
    title="One query, step by step",
    x=charts.Axis("support vectors asked k"),
    y=charts.Axis("partial output g", (-4.0, 4.0)),
    layers=[
        charts.Band(x=np.arange(m + 1), low=a.low, high=a.high, name="undecided", fits=False),
        charts.Line(x=np.arange(m + 1), y=a.low, name="low", color=theme.COLORS[0]),
        charts.Line(x=np.arange(m + 1), y=a.high, name="high", color=theme.COLORS[1]),
        charts.Line(x=np.arange(m + 1), y=a.walk, name="g", dim_after=a.stop),
        charts.Rule(x=a.stop, text=[f"stops at {k}" for k in a.stop]),
        charts.Rule(y=0.0, dashed=False),
    ],
)  # fmt: skip
cells = charts.Chart(
    key="effort_map",
    alt="Steps over the plane.",
    title="Steps over the plane",
    x=charts.Axis("first feature"),
    y=charts.Axis("second feature"),
    equal=True,
    layers=[
        charts.Heat(values=a.map, x=a.grid, y=a.grid, title="steps", log=True, range=(1, 200)),
        charts.Regions(
            owner=a.owner, x=a.grid, y=a.grid, at_x=a.spots[:, 0], at_y=a.spots[:, 1],
            radius=np.full(4, 0.8), text=[f"model {k} answers here" for k in range(4)],
        ),
        charts.Line(x=[p[:, 0] for p in a.rings], y=[p[:, 1] for p in a.rings], name="boundary"),
        charts.Points(x=[p[::9, 0] for p in a.rings], y=[p[::9, 1] for p in a.rings]),
        charts.Points(x=a.exact, y=-a.exact, id=np.arange(len(a.exact)), opacity=0.0, fits=False),
    ],
)  # fmt: skip
histogram = charts.Chart(
    key="histogram",
    alt="How many queries take so many steps.",
    x=charts.Axis("steps k"),
    y=charts.Axis("queries"),
    layers=[charts.Line(x=a.centres, y=a.counts)],
)
strip = charts.Images(
    key="neighbors",
    alt="The vectors asked, as images.",
    title="Vectors asked",
    bank=a.bank,
    shown=[np.arange(1 + k % len(a.bank)) for k in range(len(WINDOWS))],
    captions=[[f"no. {j}" for j in range(1 + k % len(a.bank))] for k in range(len(WINDOWS))],
    groups=[np.arange(1 + k % len(a.bank)) % 2 for k in range(len(WINDOWS))],
    id=np.arange(len(a.bank)) + 100,
)
depth = np.floor(np.log2(np.arange(15) + 1)).astype(int)
nodes = pd.DataFrame(
    {"depth": depth + 1, "parent": (np.arange(15) + 1) // 2 - 1, "n_rows": np.arange(15),
     "sv_index": np.arange(15), "threshold": np.nan}
)  # fmt: skip
tree = tree_path(nodes, np.array([0, 2, 5, 12]), [1 + k // 20 for k in WINDOWS])
value = None
if not session.get("hide"):
    value = pictures.show(
        "w", "Window w", WINDOWS, session["w"], [effort, walk, cells, histogram, strip, tree],
        numbers={
            "Mean k": [f"{k:.1f}" for k in a.steps.mean(axis=1)],
            "Differ": [f"{k} of {a.agrees.shape[1]:,}" for k in (~a.agrees).sum(axis=1)],
            "Cells": f"{SIDE} x {SIDE}",
            "Query": f"{row}",
        },
        note=[f"At w = {w} query 0 takes {k} steps." for w, k in zip(WINDOWS, a.steps[:, 0])],
        on_click=clicked,
    )  # fmt: skip
st.toggle("Hide", key="hide")
st.button("Back to three", on_click=url.put, kwargs={"w": 3})
st.text(f"Python heard {value} and {session.get('clicked')} in run {session['runs']}.")
url.end()
