"""The canvas and plotly draw the same arrays, for every chart of every page."""

from __future__ import annotations

import numpy as np
import pytest

from kmviz.charts import Axis, Band, Chart, Heat, Images, Line, Points, Regions, Rule, plotly
from kmviz.ui import pictures
from tests.charts.renderers import assert_alike
from tests.pages.helpers import open_page

P, N = 4, 30
RNG = np.random.default_rng(0)
PAGES = {
    "Start": "app.py",
    "nsv": "pages/1_Nearest_Support_Vectors.py",
    "anytime": "pages/2_Anytime_Bounds.py",
    "reduced": "pages/3_Reduced_Set.py",
    "falk": "pages/4_Local_Models.py",
    "svtree": "pages/5_Support_Vector_Tree.py",
}
DATA = {
    "a plane": {"data": "banana", "n": 150},
    "images": {"data": "digits", "pair": "3-8"},
    "a projection": {"data": "heart"},
}


def test_every_kind_of_layer_at_every_position():
    cells = np.arange(6)
    chart = Chart(
        key="all",
        alt="All kinds of layers.",
        title=[f"At {i}" for i in range(P)],
        x=Axis("x"),
        y=Axis("y", log=True),
        layers=[
            Heat(values=RNG.uniform(1, 9, (P, 6, 6)), x=cells, y=cells + 1, log=True, title="f"),
            Regions(owner=RNG.integers(-1, 3, (P, 6, 6)), x=cells, y=cells + 1,
                    text=["a", "b", "c"]),
            Band(x=np.arange(N), low=RNG.uniform(1, 2, (P, N)), high=RNG.uniform(2, 3, N)),
            Line(x=[np.arange(3 + i) for i in range(P)], y=[1 + np.arange(3 + i) for i in range(P)],
                 dim_after=[0, 1, 2, 3]),
            Line(x=[0, 1, np.nan, 2], y=[1, 2, 3, 4], name="broken"),
            Points(x=RNG.normal(size=N), y=RNG.uniform(1, 9, (P, N)), group=np.arange(N) % 3,
                   names=("a", "b"), id=np.arange(N) + 5, picked=[7, 8, -1, 99],
                   size=RNG.uniform(4, 9, N), labels=[str(k) for k in range(N)],
                   hover={"k": np.arange(N)}),
            Rule(x=[1.0, 2.0, np.nan, 3.0], text=[f"stops at {i}" for i in range(P)]),
            Rule(y=2.0),
        ],
    )  # fmt: skip
    assert_alike(chart, P)


def test_a_strip_of_images_at_every_position():
    strip = Images(
        key="strip", alt="Images.", bank=RNG.normal(size=(9, 4, 5)), scale="diverging",
        shown=[np.arange(1 + 2 * i) for i in range(P)],
        captions=[[f"{k}" for k in range(1 + 2 * i)] for i in range(P)],
    )  # fmt: skip
    assert_alike(strip, P)


@pytest.mark.parametrize("lost", ["data", "layout.shapes"])
def test_a_renderer_that_leaves_something_out_is_caught(lost, monkeypatch):
    whole = Chart(key="k", alt="a", layers=[Line(x=[0, 1], y=[0, 1]), Rule(y=0.5)])
    figure = plotly.figure(whole)
    figure[lost] = ()
    monkeypatch.setattr(plotly, "figure", lambda *_: figure)
    with pytest.raises((AssertionError, StopIteration)):
        assert_alike(whole, 1)


@pytest.fixture
def drawn(monkeypatch):
    """What pages send to the canvas, with how many positions."""
    found = []
    spec = pictures.spec
    monkeypatch.setattr(
        pictures, "spec", lambda view, count: found.append((view, count)) or spec(view, count)
    )
    return found


@pytest.mark.parametrize("data", DATA.values(), ids=list(DATA))
@pytest.mark.parametrize("page", PAGES.values(), ids=list(PAGES))
def test_both_renderers_carry_the_same_arrays_of_every_chart_of_a_page(page, data, drawn):
    open_page(page, **data)
    assert drawn
    for view, count in drawn:
        assert_alike(view, count, sorted({0, count // 2, count - 1}))
