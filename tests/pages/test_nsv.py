"""The Nearest support vectors page without a browser."""

import numpy as np
import pytest

from kmviz.methods.nsv import NSVClassifier
from kmviz.methods.nsv.engine import NSVEngine
from tests.pages.helpers import array, figure, metric, open_page, run, trace

PAGE = "pages/1_Nearest_Support_Vectors.py"


@pytest.fixture
def page():
    return open_page(PAGE, data="banana")


def test_every_chart_is_there(page):
    for key in ("effort", "trajectory", "neighbors", "tradeoff"):
        assert figure(page, key)["data"]
    points = sum(len(array(t["x"])) for t in figure(page, "effort")["data"] if "customdata" in t)
    assert 500 < points <= 2000  # those under others are not drawn
    wrong = len(array(trace(page, "effort", "disagreement")["x"]))
    assert wrong == int(metric(page, "Disagreements"))


def test_moving_the_window_fits_nothing(page, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a moved window fitted something")

    monkeypatch.setattr(NSVClassifier, "fit", refuse)
    monkeypatch.setattr(NSVClassifier, "_assemble", refuse)
    monkeypatch.setattr(NSVEngine, "_calibrated", refuse)
    before = float(metric(page, "Mean k"))
    page.slider(key="w").set_value(150)
    run(page)
    assert float(metric(page, "Mean k")) >= before
    page.toggle(key="filter").set_value(False)
    run(page)
    assert metric(page, "By the filter") == "0%"
    assert page.query_params["w"] in ("150", ["150"])


def test_the_trajectory_is_the_estimators_own(page):
    solid = array(trace(page, "trajectory", "partial output")["y"])
    beyond = array(trace(page, "trajectory", "where it would")["y"])
    assert solid[-1] == beyond[0]
    assert np.isfinite(beyond).all()


def test_a_start_from_the_approximation():
    page = open_page(PAGE, data="banana", start="approximate", filter="false", q=3)
    assert float(metric(page, "Mean k")) == 1.0
    assert "approximation" in figure(page, "trajectory")["layout"]["title"]["text"]


def test_digits_show_images():
    page = open_page(PAGE, data="digits", pair="3-8", kernel="poly_normalized")
    tiles = figure(page, "neighbors")["data"][0]
    assert tiles["type"] == "heatmap"
    assert array(tiles["z"]).shape[0] == 8
    words = [a["text"] for a in figure(page, "neighbors")["layout"]["annotations"]]
    assert "the query" in words[0]
    assert "K " in words[1]


def test_nonsense_in_the_url_falls_back():
    page = open_page(PAGE, data="banana", w="many", q=-3, order="backwards", filter="maybe")
    assert page.slider(key="w").value == 10
    assert page.selectbox(key="order").value == "nearest"


def test_a_sample_behind_the_tradeoff_is_said():
    page = open_page(PAGE, data="banana", n=100)
    title = figure(page, "tradeoff")["layout"]["title"]["text"]
    assert "sample of 500" in title
    assert "2,000" in title


def test_queries_that_are_all_alike_have_words_too():
    page = open_page(PAGE, data="twonorm", n=21, seed=7, start="approximate")
    assert not [info.value for info in page.info if "nan" in info.value]
